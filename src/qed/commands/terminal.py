"""Results as people read them in a terminal: tables with few lines, in colour where the terminal has it."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qed.base.visible import visible
from qed.features.understanding.findings import LEFT_OUT
from qed.report.words import (
    PROVEN,
    TIE,
    decimals_for,
    number,
    plus_minus,
    proof_words,
    score_words,
    seconds_words,
    setting_words,
)

if TYPE_CHECKING:
    from qed.base.certificate import Certificate
    from qed.report.classes import ClassLine
    from qed.selection.comparing.leaderboard import Comparison

WIDTH = 120


class Words(Text):
    """Text that may come from data: what a terminal would obey is written out."""

    def __init__(self, text: str = "", style: str = "") -> None:
        super().__init__(visible(text), style)


class Screen(Console):
    """A console on the standard output; what is not a terminal gets lines wide enough for tables, without blanks at their ends."""

    def __init__(self) -> None:
        self._plain = not sys.stdout.isatty()
        super().__init__(width=WIDTH if self._plain else None, highlight=False)

    def show(self, *parts: object) -> None:
        """Print tables and texts; strings are taken as they are, never as markup."""
        for part in parts:
            with self.capture() as seen:
                self.print(Words(part) if isinstance(part, str) else part, soft_wrap=isinstance(part, str | Text))
            lines = seen.get().split("\n")
            sys.stdout.write("\n".join(line.rstrip() for line in lines) if self._plain else seen.get())


def print_json(content: object) -> None:
    """Print one JSON value and nothing else; numbers that are not finite become null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, default=_plain)
    # JSON itself writes out the commands of ASCII, but not those beyond it.
    print("".join(letter if letter.isprintable() or letter in "\n " else f"\\u{ord(letter):04x}" for letter in text))


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Make an empty table; columns named in `numbers` are aligned to the right."""
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        found.add_column(Words(name), justify="right" if name in numbers else "left", overflow="fold")
    return found


def leaderboard(comparison: Comparison) -> Table:
    """Make the leaderboard of the models that were fitted; those no worse than the best by more than its standard error have a mark."""
    words, sign = score_words(comparison.scoring)
    decimals = decimals_for(comparison.best.standard_error)
    # Clusters are also judged by how far fits to other rows agree about them.
    stability = ["stability"] if comparison.task == "clustering" else []
    others = [score_words(name)[0] for name in comparison.others]
    heads = ["#", "model", words, *stability, *others, "settings", "fit", "proof"]
    found = table(*heads, numbers=("#", words, "stability", *others, "fit"))
    ties = comparison.ties if len(comparison.ties) > 1 else []
    for rank, entry in enumerate(comparison.entries, start=1):
        if entry.failure:
            continue
        proof = proof_words(entry.model.certificate_)
        found.add_row(
            str(rank),
            Words(entry.name),
            plus_minus(sign * entry.score, entry.standard_error, decimals)
            + (TIE if entry in ties else "  " if ties else ""),
            *([f"{entry.path.stability[entry.chosen]:.2f}"] if entry.path is not None else []),
            *(number(score_words(name)[1] * entry.other(name)) for name in comparison.others),
            Words(setting_words(entry.choice)),
            seconds_words(entry.seconds),
            Text(proof, style="green" if proof == PROVEN else "red"),
            style="bold" if rank == 1 else "",
        )
    return found


def failures(comparison: Comparison) -> list[str | Text]:
    """Say which models were left out, and which failed, and why."""
    found: list[str | Text] = []
    for entry in comparison.entries:
        if entry.is_left_out:
            found.append(f"{LEFT_OUT:<12}{entry.name}: {entry.failure.removeprefix(LEFT_OUT).lstrip(': ')}")
        elif entry.failure:
            found.append(Words(f"{'failed: ':<12}{entry.name}: {entry.failure}", style="red"))
    return [*found, ""] if found else []


def class_table(lines: list[ClassLine]) -> Table:
    """Make the table of classes."""
    found = table("class", "rows", "found", "recall", "precision", numbers=("rows", "found", "recall", "precision"))
    for one in lines:
        precision = "–" if one.said == 0 else f"{one.precision:.3f}"
        found.add_row(Words(one.label), f"{one.rows:,}", f"{one.found:,}", f"{one.recall:.3f}", precision)
    return found


def certificate_table(certificate: Certificate) -> Table:
    """Make the table of claims."""
    found = table("claim", "value", "bound", "holds", numbers=("value", "bound"))
    for claim in certificate:
        answer = Text("yes", style="green") if claim.holds else Text("NO", style="bold red")
        found.add_row(Words(claim.says), f"{claim.value:.1e}", f"{claim.bound:.1e}", answer)
    return found
