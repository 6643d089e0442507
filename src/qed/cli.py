"""The command line: reads arguments, calls what :mod:`qed.commands` has for each command, and prints the result.

Everything heavy is loaded by the commands, when they are called, so that ``qed --help`` answers at once.
"""

from __future__ import annotations

import shlex
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import qed
import qed.commands as commands
from qed.commands.boundary import boundary, run


class Doors(TyperGroup):
    """The commands, with one place where errors end."""

    def invoke(self, ctx: Any) -> Any:
        with boundary(), warnings.catch_warnings():
            # What models warn of is part of the results, and printed as notes.
            warnings.simplefilter("ignore")
            return super().invoke(ctx)


app = typer.Typer(
    cls=Doors,
    help="Machine learning that shows its proof.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on the standard output.")]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, such as best.qed.")]
DataName = Annotated[
    str, typer.Argument(metavar="DATA", help="A .csv, .tsv, .parquet or .feather file, or a bundled data set.")
]


def main() -> None:
    """Run the command line."""
    run(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"qed {qed.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Machine learning that shows its proof."""


@app.command()
def compare(
    data: DataName,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict; without it, rows are clustered.")
    ] = None,
    no_target: Annotated[
        bool, typer.Option("--no-target", help="Group the rows into clusters, as without --target, and say no more.")
    ] = False,
    report: Annotated[str, typer.Option(help="Where to write the report.")] = "report.html",
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    model: Annotated[str, typer.Option(help="Where to save the best model.")] = "best.qed",
    task: Annotated[str | None, typer.Option(help="regression or classification; decided from the target.")] = None,
    scoring: Annotated[str | None, typer.Option(help="The score, such as r2, accuracy or neg_log_loss.")] = None,
    positive: Annotated[str | None, typer.Option(help="The positive class, for f1, precision, recall ...")] = None,
    cv: Annotated[int, typer.Option(min=2, help="The number of folds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The seed of folds and models.")] = 0,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; can be given again.")] = None,
    out_of_bag: Annotated[
        bool,
        typer.Option(
            "--out-of-bag", help="Judge forests by the trees that have not seen a row, in the place of folds."
        ),
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")] = False,
) -> None:
    """Find the best model for a table.

    Cross-validates every model for the task, prints a leaderboard, writes a report and saves the best model. Without a target the rows
    are grouped into clusters, and what makes each different is described.
    """
    with commands.progress.progress_bar("comparing models", hidden=quiet or json) as progress:
        found = commands.compare.compare(
            data,
            target,
            no_target=no_target,
            drop=drop or (),
            task=task,
            cv=cv,
            seed=seed,
            scoring=scoring,
            positive=positive,
            out_of_bag=out_of_bag,
            report=None if no_report else report,
            model=model,
            command=_again(
                data,
                drop or [],
                *["--no-target"] * no_target,
                *["--out-of-bag"] * out_of_bag,
                target=target,
                task=task,
                scoring=scoring,
                positive=positive,
                cv=cv,
                seed=seed,
            ),
            progress=progress,
        )
    commands.results.write_comparison(found, json=json, quiet=quiet)


def _again(data: str, drop: list[str], *flags: str, **options: str | int | None) -> str:
    """Write the command that makes the same comparison again."""
    words = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    return shlex.join(["qed", "compare", data, *words, *flags, *(word for name in drop for word in ("--drop", name))])


@app.command()
def predict(
    model: ModelFile,
    data: DataName,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="Where to write (.csv, .tsv, .parquet, .feather); without it, csv is printed."
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Write the probability of each class as well.")] = False,
    keep: Annotated[list[str] | None, typer.Option(help="A column to copy to the output; can be given again.")] = None,
    json: Json = False,
) -> None:
    """Predict the rows of a file with a saved model."""
    if json and output is None:
        raise typer.BadParameter("--json needs --output: the standard output can not hold both.")
    found = commands.predict.predict(model, data, output, proba=proba, keep=keep or (), stream=sys.stdout.buffer)
    commands.results.write_predicted(found, output, json=json)


@app.command()
def certify(
    model: ModelFile,
    data: DataName,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that the model predicts, if it does not say.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a model's proof against the data.

    Recomputes the certificate from the data, and says whether these are the data of the fit. Exit code 1 when it does not hold.
    """
    found = commands.certify.certify(model, data, target)
    commands.results.write_checked(found, json=json)
    if not found.certificate:
        raise typer.Exit(1)


@app.command()
def explain(
    model: ModelFile,
    most: Annotated[int, typer.Option(min=1, help="How many coefficients to print.")] = 20,
    json: Json = False,
) -> None:
    """Say what a model file holds.

    Prints parameters, coefficients (the largest first), inference, encoding and certificate.
    """
    commands.results.write_explanation(commands.explain.explain(model), most=most, json=json)


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="One of them, to say more about it.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file to write it to.")] = None,
    json: Json = False,
) -> None:
    """List the bundled data sets, or write one to a file."""
    if name is None and output is not None:
        raise typer.BadParameter("--output needs the name of a data set.")
    if name is None:
        commands.results.write_datasets(commands.datasets.datasets(), json=json)
    elif output is None:
        commands.results.write_about(commands.datasets.about(name), json=json)
    else:
        commands.results.write_export(name, output, commands.datasets.export(name, output), json=json)


@app.command()
def catalogue(
    name: Annotated[
        str | None, typer.Argument(help="A method, a task or a kind of learning, to see that alone.")
    ] = None,
    json: Json = False,
) -> None:
    """List every method: kind of learning, task, how it reads its data, what it solves; of one, what it proves too."""
    commands.results.write_methods(commands.catalogue.methods(name), json=json)


@app.command()
def warmup(json: Json = False) -> None:
    """Compile all kernels ahead.

    The first fit is then as fast as the next.
    """
    with commands.progress.status_line(hidden=json) as tell:
        found = commands.warmup.warmup(tell)
    commands.results.write_warmed(found, json=json)


if __name__ == "__main__":
    main()
