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
from qed.base.lazy import later
from qed.commands.boundary import boundary, run

dialects = later("qed.base.sources.formats.dialect")


class Doors(TyperGroup):
    """The commands, with one place where errors end."""

    def invoke(self, ctx: Any) -> Any:
        with boundary(), warnings.catch_warnings():
            # What models warn of is part of the results, and printed as notes.
            warnings.simplefilter("ignore")
            return super().invoke(ctx)


EXAMPLES = """\b
Examples:
  qed compare houses.csv --target price
  qed compare 'sales-*.csv' -t churn --scoring auc --positive Yes --drop customer_id
  qed compare orders.csv.gz -t total --time date --as zip=category
"""
CODES = """\b
Exit codes: 0 done, 1 a proof does not hold, 2 something is wrong with what was given,
130 interrupted, 141 nobody reads the output, 70 a fault of qed itself.
"""
app = typer.Typer(
    cls=Doors,
    help="Machine learning that shows its proof.",
    epilog=CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, such as best.qed.")]
DataName = Annotated[
    str, typer.Argument(metavar="DATA", help="A file (.csv, .parquet, .xlsx ...), a bundled data set, or -.")
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


@app.command(epilog=EXAMPLES)
def compare(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Files, a pattern, a bundled data set, or - for the standard input."),
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict; without it, rows are clustered.")
    ] = None,
    no_target: Annotated[bool, typer.Option("--no-target", help="Cluster the rows, and say no more about it.")] = False,
    use: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Use it, whatever it looks like. Repeatable.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave it out. Repeatable.")] = None,
    treat: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="COLUMN=KIND", help="Read it as number, category, ordered, date or text."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="regression or classification; else decided.")
    ] = None,
    scoring: Annotated[
        str | None, typer.Option(metavar="SCORE", help="rmse, mae, r2, auc, f1, logloss, accuracy ...")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The positive class, for f1, recall ...")
    ] = None,
    cv: Annotated[int, typer.Option(min=2, metavar="K", help="The number of folds.")] = 5,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Judge later rows by models of earlier ones.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Hold out all rows of one value together.")
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--models", metavar="MODEL", help="Compare these only, such as Ridge. Repeatable."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="About how long it may take, else 60; 0: no limit.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of folds and models.")] = 0,
    out_of_bag: Annotated[bool, typer.Option("--out-of-bag", help="Judge forests without folds.")] = False,
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Letters of a .csv, such as latin-1.")] = None,
    sep: Annotated[str | None, typer.Option(metavar="MARK", help="What separates its columns.")] = None,
    decimal: Annotated[str | None, typer.Option(metavar="MARK", help="Its decimal mark, point or comma.")] = None,
    report: Annotated[str, typer.Option(metavar="FILE", help="Where to write the report.")] = "report.html",
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    model: Annotated[str, typer.Option(metavar="FILE", help="Where to save the best model.")] = "best.qed",
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite them, instead of report-2.html.")] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, columns and notes.")] = False,
) -> None:
    """Find the best model for a table: leaderboard, report, saved model."""
    named = {"target": target, "task": task, "scoring": scoring, "positive": positive, "time": time, "group": group}
    written = {"encoding": encoding, "sep": sep, "decimal": decimal}
    lists = {"use": use or [], "drop": drop or [], "as": treat or [], "models": models or []}
    flags = [*["--no-target"] * no_target, *["--out-of-bag"] * out_of_bag]
    again = _again(
        data, flags, lists, **named, cv=cv, budget=None if budget is None else f"{budget:g}", seed=seed, **written
    )
    with commands.progress.progress_bar("comparing models", hidden=quiet or json) as progress:
        found = commands.compare.compare(
            data,
            **named,
            no_target=no_target,
            use=use or (),
            drop=drop or (),
            treat=treat or (),
            cv=cv,
            seed=seed,
            out_of_bag=out_of_bag,
            models=models or (),
            budget=budget,
            dialect=dialects.Dialect.of(**written),
            report=None if no_report else report,
            model=model,
            force=force,
            command=again,
            progress=progress,
        )
    commands.results.write_comparison(found, json=json, quiet=quiet)


def _again(data: list[str], flags: list[str], lists: dict[str, list[str]], **options: str | int | None) -> str:
    """Write the command that makes the same comparison again."""
    words = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    several = [word for name, values in lists.items() for value in values for word in (f"--{name}", value)]
    return shlex.join(["qed", "compare", *data, *words, *flags, *several])


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
    interval: Annotated[
        float | None, typer.Option(min=0.01, max=0.999, help="Write intervals (or sets) that hold the truth so often.")
    ] = None,
    fill: Annotated[bool, typer.Option("--fill", help="Take columns that the file lacks as missing.")] = False,
    keep: Annotated[list[str] | None, typer.Option(help="A column to copy to the output; can be given again.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output, instead of out-2.csv.")] = False,
    json: Json = False,
) -> None:
    """Predict the rows of a file with a saved model.

    Levels that the model has not seen, and values far outside of what it has learned, are counted and said.
    """
    if json and output is None:
        raise typer.BadParameter("--json needs --output: the standard output can not hold both.")
    given = {"proba": proba, "interval": interval, "fill": fill, "keep": keep or (), "force": force}
    found = commands.predict.predict(model, data, output, **given, stream=sys.stdout.buffer)
    commands.results.write_predicted(found, output, json=json)


@app.command()
def calibrate(
    model: ModelFile,
    data: DataName,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to save the calibrated model.")],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that the model predicts, if it does not say.")
    ] = None,
    level: Annotated[float, typer.Option(min=0.01, max=0.999, help="How often intervals are to hold the truth.")] = 0.9,
    json: Json = False,
) -> None:
    """Give a saved model intervals with guaranteed coverage.

    With the data of its fit the model is fitted again without each fold; with other data it is calibrated by these. Then
    qed predict --interval 0.9 writes the interval (or the set of classes) of each row.
    """
    found = commands.calibrate(model, data, output, target=target, level=level)
    commands.results.write_calibrated(found, json=json)


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
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATA]", help="Rows with their target: which columns matter to the model?"),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that the model predicts, if it does not say.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many coefficients to print.")] = 20,
    json: Json = False,
) -> None:
    """Say what a model file holds.

    Prints parameters, coefficients (the largest first), inference, encoding and certificate. With data, also how much of its score the
    model loses when each column is shuffled; rows that it has not seen tell most.
    """
    needed = commands.explain.needed(model, data, target) if data else None
    commands.results.write_explanation(commands.explain.explain(model), needed, most=most, json=json)


@app.command()
def export(
    model: ModelFile,
    output: Annotated[str, typer.Option("--onnx", help="The .onnx file to write.")],
    json: Json = False,
) -> None:
    """Write a model in the format ONNX.

    Linear models, trees, forests, boosting and networks; needs the extra qed-learn[onnx]. A mixed table has an input for each column.
    """
    commands.results.write_exported(commands.export(model, output), json=json)


@app.command()
def serve(
    model: ModelFile,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Where to listen; others than this machine only if you say so.")
    ] = "127.0.0.1",
) -> None:
    """Answer rows with predictions, as JSON over HTTP.

    GET /schema and /certificate, POST /predict. On this machine only, unless --host says otherwise. Ctrl-C ends it.
    """
    with commands.serve(model, host=host, port=port) as server:
        commands.results.write_served(server.address)
        server.serve_forever()


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
