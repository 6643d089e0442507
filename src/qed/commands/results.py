"""The results of commands, printed: for people by default, as JSON for machines. Notes for people go to the standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.text import Text

from qed.base.visible import visible
from qed.commands.terminal import (
    Screen,
    Words,
    certificate_table,
    class_table,
    failures,
    leaderboard,
    print_json,
    table,
)
from qed.report.classes import MOST_CLASSES
from qed.report.clusters import choice_words, describe_clusters, path_words, verdict_words
from qed.report.headline import headline, more_words
from qed.report.reading import coverage_words
from qed.report.words import NOT_PROVEN, PROVEN, counted, number, score_words, seconds_words, setting_words

if TYPE_CHECKING:
    from qed.base.certificate import Certificate
    from qed.commands.certify import Checked
    from qed.commands.compare import Compared
    from qed.commands.predict import Predicted
    from qed.commands.using.calibrate import Calibrated
    from qed.commands.using.export import Exported
    from qed.commands.warmup import Warmed
    from qed.report.explanation import Explanation
    from qed.selection.comparing.leaderboard import Comparison
    from qed.selection.diagnosis.importance import PermutationImportance

MOST_NOTES = 3
MOST_NAMES, MOST_FINDINGS = 12, 8
MOST_OUTPUTS = 6
# How models say that columns depend on each other.
DEPENDENT = ("depend on each other", "follow from the others", "collinear", "linearly dependent", "do not vary")


def note(words: str) -> None:
    """Print a note for people."""
    print(f"note: {visible(words)}", file=sys.stderr)


def write_comparison(found: Compared, *, json: bool, quiet: bool) -> None:
    """Print what ``qed compare`` found: the columns, the leaderboard, the answer in words."""
    if json:
        print_json(found.to_dict())
        return
    screen, data, comparison = Screen(), found.data, found.comparison
    shape = f"{counted(data.table.num_rows, 'row')}, {counted(data.table.num_columns, 'column')}"
    aim = f"{comparison.task} of {data.target!r}" if data.target else "clustering"
    words, sign = score_words(comparison.scoring)
    better = "" if sign == 1 else ", lower is better"
    tie = "; ≈ no worse than the best by more than that" if len(comparison.ties) > 1 else ""
    screen.show(Text.assemble((visible(data.name), "bold"), visible(f": {shape}; {aim} ({comparison.why})")))
    if not quiet:
        write_columns(screen, found)
    if comparison.task == "clustering":
        screen.show("columns are encoded as numbers and scaled to mean zero and variance one, so that all count alike")
    screen.show(f"{comparison.n_folds} folds, seed {comparison.seed}; {words} ± standard error{better}{tie}\n")
    screen.show(leaderboard(comparison), "", *failures(comparison))
    if comparison.task == "clustering":
        _write_clusters(screen, comparison)
    else:
        held = coverage_words(found.coverage, data.target)
        more = [*more_words(data, comparison), *([held] if held else [])]
        screen.show(Text(visible(headline(data, comparison)), style="bold"), *more, "")
    if found.classes and len(found.classes) <= MOST_CLASSES:
        screen.show(class_table(found.classes), "")
    for place, what in ((found.report, "report"), (found.model, "best model")):
        if place is not None:
            screen.show(f"{what:<12}{place}")
    screen.show(f"{'time':<12}{seconds_words(found.seconds)}")
    if not quiet:
        _notes_on(found)


def write_columns(screen: Screen, found: Compared) -> None:
    """Print which columns are used, which are left out and why, and what looks suspicious."""
    seen = found.comparison.columns
    for words in (*found.data.says, *found.comparison.says, *found.unseen):
        screen.show(f"{'note':<12}{words}")
    if seen is None:
        return
    used = ", ".join(seen.used[:MOST_NAMES]) + (
        f" and {len(seen.used) - MOST_NAMES} more" if len(seen.used) > MOST_NAMES else ""
    )
    screen.show(f"{'columns':<12}{len(seen.used)} used: {' '.join(used.split())}")
    for title, findings in (("left out", seen.left_out), ("read as", seen.read), ("suspicious", seen.suspicious)):
        for place, one in enumerate(findings[:MOST_FINDINGS]):
            screen.show(f"{title if place == 0 else '':<12}{one.column}: {one.says}")
        if len(findings) > MOST_FINDINGS:
            screen.show(f"{'':<12}and {len(findings) - MOST_FINDINGS} more, which the report and --json tell")
    for words in seen.notes[:MOST_FINDINGS]:
        screen.show(f"{'note':<12}{words}")


def _write_clusters(screen: Screen, comparison: Comparison) -> None:
    """Print how many clusters there are and why, whether they are worth the name, and what makes each different."""
    screen.show(path_words(comparison.best), *choice_words(comparison.best), verdict_words(comparison), "")
    for one in describe_clusters(comparison):
        screen.show(
            f"cluster {one.number}, {counted(one.size, 'row')} ({100 * one.share:.0f} %): {', '.join(one.words())}"
        )
    screen.show("")


def _notes_on(found: Compared) -> None:
    data = found.data
    if data.n_lost:
        note(f"{counted(data.n_lost, 'row')} without a target left out.")
    if data.target is None and not found.asked:
        what = data.known_target or "COLUMN"
        note(f"no target was given, so rows were grouped by likeness; to predict a column, add --target {what}.")
    if data.target is None and data.known_target in data.table.column_names:
        note(
            f"{data.known_target!r}, which is meant to be predicted, was grouped by too; --drop {data.known_target} leaves it out."
        )
    for path in found.moved:
        note(f"{path} was there already and is left as it is; --force overwrites it.")
    for words in told_once(found.comparison)[:MOST_NOTES]:
        note(words)


def told_once(comparison: Comparison) -> list[str]:
    """Give what models had to say, each thing once, whoever said it first; that columns depend on each other is one thing."""
    found: list[str] = []
    said, dependent = set(), []
    for entry in comparison.entries:
        for words in entry.notes:
            if any(mark in words for mark in DEPENDENT):
                dependent.append(entry.name)
            elif words not in said:
                said.add(words)
                found.append(words if words.startswith(entry.name.split()[0]) else f"{entry.name}: {words}")
    if dependent:
        names = ", ".join(dict.fromkeys(dependent))
        found.append(f"encoded columns follow from one another, which these models settle by themselves: {names}.")
    return found


def write_predicted(found: Predicted, output: str | None, *, json: bool) -> None:
    """Say what ``qed predict`` wrote; nothing, if it wrote to the standard output itself."""
    if json:
        strange = {"strange": found.strange.to_dict()} if found.strange is not None and found.strange.notes() else {}
        print_json({"rows": found.rows, "columns": found.columns, "output": found.output, **strange})
    elif output is not None:
        Screen().show(f"{counted(found.rows, 'row')} written to {found.output}: {', '.join(found.columns)}")
        if found.output != output:
            note(f"{output} was there already and is left as it is; --force overwrites it.")
    if not json and found.strange is not None:
        for words in found.strange.notes():
            note(words)


def write_calibrated(found: Calibrated, *, json: bool) -> None:
    """Say what ``qed calibrate`` did."""
    if json:
        print_json(found.to_dict())
        return
    screen = Screen()
    screen.show(f"{found.kind}, calibrated: {found.how}")
    screen.show(
        f"at level {found.level:g} the truth is held with a probability of at least {found.guarantee:.4g}, for rows drawn alike"
    )
    screen.show(f"{'model':<12}{found.output}")


def write_exported(found: Exported, *, json: bool) -> None:
    """Say what ``qed export`` wrote."""
    if json:
        print_json(found._asdict())
    else:
        Screen().show(f"{found.kind} written to {found.output}: gives {', '.join(found.outputs)}")


def write_served(address: str) -> None:
    """Say where ``qed serve`` is reached."""
    Screen().show(f"serving at {address}: GET /schema, GET /certificate, POST /predict; Ctrl-C ends it")
    sys.stdout.flush()


def write_checked(found: Checked, *, json: bool) -> None:
    """Print what ``qed certify`` found."""
    if json:
        print_json(found.to_dict())
        return
    screen = Screen()
    same = "the data it was fitted on" if not found.difference else f"not the data it was fitted on: {found.difference}"
    screen.show(f"{found.kind}, checked on {counted(found.rows, 'row')}: {same}\n")
    _write_proof(screen, found.certificate)
    if found.n_lost:
        note(f"{counted(found.n_lost, 'row')} without a target left out.")


def write_explanation(
    found: Explanation, needed: PermutationImportance | None = None, *, most: int, json: bool
) -> None:
    """Print what ``qed explain`` found."""
    if json:
        print_json(found.to_dict() | ({} if needed is None else {"importances": needed.to_dict()}))
        return
    screen = Screen()
    goal = f" for {found.target!r}" if found.target else ""
    fitted = f", fitted on {counted(found.rows, 'row')}" if found.rows is not None else ", not fitted"
    screen.show(Text.assemble((visible(found.kind), "bold"), visible(f"{goal}{fitted}")))
    if found.parameters:
        screen.show(f"parameters  {setting_words(found.parameters)}")
    if found.ending:
        screen.show(f"ending      {found.ending}")
    _write_needed(screen, needed, most)
    _write_effects(screen, found, most)
    _write_tree(screen, found, most)
    if found.inference:
        screen.show(f"\n{found.inference}")
        if found.scaled and "\n" in found.inference:
            screen.show("These are the coefficients of columns scaled to mean zero and variance one.")
    if found.decisions:
        screen.show("")
        lines = table("column", "encoded as")
        for one in found.decisions:
            lines.add_row(Words(one["column"]), Words(one["how"]))
        screen.show(lines)
    if found.certificate is not None:
        screen.show("")
        _write_proof(screen, found.certificate)


def _write_proof(screen: Screen, certificate: Certificate) -> None:
    screen.show(certificate_table(certificate))
    screen.show(Words(PROVEN, style="green") if certificate else Words(NOT_PROVEN, style="bold red"))
    if certificate.verdict:
        screen.show(certificate.verdict)


def _write_needed(screen: Screen, needed: PermutationImportance | None, most: int) -> None:
    if needed is None:
        return
    lines = table("column", "score lost", "spread", numbers=("score lost", "spread"))
    for j in needed.order[:most]:
        lines.add_row(Words(needed.names[j]), number(needed.importances_mean[j]), number(needed.importances_std[j]))
    screen.show(f"\nits score on these rows is {number(needed.score)}; what is lost when a column is shuffled:", lines)


def _write_effects(screen: Screen, found: Explanation, most: int) -> None:
    if not found.effects:
        return
    outputs = found.outputs[:MOST_OUTPUTS]
    per_unit = len(found.outputs) == 1 and bool(found.effects[0].per_unit) and found.measure != "centre"
    one = len(found.outputs) == 1 and found.measure == "coefficient"
    heads = [*(f"per deviation: {name}" if one else name for name in outputs)]
    centres = found.measure == "centre"
    lines = table(found.measure, *heads, *(["per unit"] if per_unit else []), numbers=(*heads, "per unit"))
    for effect in found.effects[:most]:
        values = [number(value) for value in (effect.per_unit if centres else effect.standardised)[:MOST_OUTPUTS]]
        units = [number(effect.per_unit[0])] if per_unit else []
        lines.add_row(Words(effect.name), *values, *units)
    screen.show("")
    screen.show(lines)
    left = len(found.effects) - most
    if left > 0:
        screen.show(f"and {left} more, smaller (--most {len(found.effects)} shows all)")


def _write_tree(screen: Screen, found: Explanation, most: int) -> None:
    if not found.rules:
        return
    screen.show("", found.questions, "")
    for rule in found.rules[:most]:
        screen.show(rule)
    left = len(found.rules) - most
    if left > 0:
        screen.show(f"and {left} more, for fewer rows (--most {len(found.rules)} shows all)")


def write_datasets(found: list[dict[str, Any]], *, json: bool) -> None:
    """Print the bundled data sets."""
    if json:
        print_json(found)
        return
    lines = table("name", "task", "target", "rows", "columns", "what it is", numbers=("rows", "columns"))
    for one in found:
        target = ", ".join(one["target"])
        lines.add_row(one["name"], one["task"], target, str(one["rows"]), str(one["columns"]), Words(one["title"]))
    Screen().show(lines)


def write_methods(found: list[dict[str, Any]], *, json: bool) -> None:
    """Print methods of the catalogue; all that is known, where it is one."""
    if json:
        print_json(found)
        return
    if len(found) == 1:
        screen, one = Screen(), found[0]
        screen.show(Text(one["name"], "bold"), one["objective"], "")
        for what in ("task", "learning", "passes", "path"):
            screen.show(f"{what:<12}{one[what]}")
        screen.show(*(f"{'proves' if not place else '':<12}{says}" for place, says in enumerate(one["claims"])))
        return
    lines = table("name", "learning", "task", "reads its data", "what it solves")
    for one in found:
        lines.add_row(one["name"], one["learning"], one["task"], one["passes"], Words(one["objective"]))
    Screen().show(lines)


def write_about(found: dict[str, Any], *, json: bool) -> None:
    """Print what is known about one data set."""
    if json:
        print_json(found)
        return
    screen, target = Screen(), ", ".join(found["target"])
    shape = f"{counted(found['rows'], 'row')}, {counted(found['columns'], 'column')}"
    screen.show(Text.assemble((found["name"], "bold"), f": {found['title']}"), found["description"], "")
    for what, says in (("shape", shape), ("task", f"{found['task']} of {target}")):
        screen.show(f"{what:<12}{says}")
    screen.show(f"{'source':<12}{found['source']}", f"{'licence':<12}{found['licence']}")


def write_export(name: str, output: str, rows: int, *, json: bool) -> None:
    """Say that a data set was written."""
    if json:
        print_json({"name": name, "rows": rows, "output": output})
    else:
        Screen().show(f"{name}, {counted(rows, 'row')}, written to {output}")


def write_warmed(found: list[Warmed], *, json: bool) -> None:
    """Print what ``qed warmup`` compiled."""
    total = sum(one.seconds for one in found)
    if json:
        models = [{"model": one.name, "seconds": one.seconds, "kernels": list(one.kernels)} for one in found]
        print_json({"seconds": total, "models": models})
        return
    lines = table("model", "time", "kernels made ready", numbers=("time",))
    for one in found:
        lines.add_row(one.name, seconds_words(one.seconds), Words(", ".join(one.kernels)))
    screen = Screen()
    screen.show(lines)
    kernels = sum(len(one.kernels) for one in found)
    screen.show(
        f"\n{counted(kernels, 'kernel')} ready, {counted(len(found), 'model')} fitted in {seconds_words(total)}"
    )
