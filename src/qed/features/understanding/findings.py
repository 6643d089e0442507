"""What rules say about columns: a finding for each thing that was noticed, and all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from qed.base.visible import Lines, Shown

LEFT_OUT, SUSPICIOUS, READ = "left out", "suspicious", "read as"


@dataclass(frozen=True)
class Finding:
    """One thing that a rule has noticed about a column."""

    column: str
    # What was done about it: the column is left out, only pointed at, or read as something else than it looks like.
    action: str
    says: str  # why, in a few words
    kind: str = ""  # what it is read as: "number", "category", "ordered", "date" or "text"
    order: tuple[str, ...] = ()  # the values of an ordered one, from the least to the greatest

    def words(self) -> str:
        """Write it for people."""
        return f"{self.column} ({self.says})"


@dataclass(frozen=True, repr=False)
class Understanding(Shown):
    """The columns of a table: which are used and how, which are left out and why, and which look suspicious.

    >>> seen = Understanding(("age",), (Finding("rownames", LEFT_OUT, "a row number"),))
    >>> seen.left_out[0].words()
    'rownames (a row number)'
    """

    names: tuple[str, ...]  # the columns that the encoder is given
    findings: tuple[Finding, ...] = ()
    decisions: dict[str, str] = field(default_factory=dict)  # what the encoder makes of each of them, in words
    notes: tuple[str, ...] = ()  # what concerns several columns, or the whole table

    def _table(self) -> Lines:
        found = {name: ["used", self.decisions.get(name, "")] for name in self.used}
        found |= {one.column: ["left out", one.says] for one in self.left_out}
        found |= {one.column: ["used", f"read as {one.says}"] for one in self.read}
        found |= {one.column: ["used, suspicious", one.says] for one in self.suspicious}
        return ["column", "", "how, or why"], [[name, *words] for name, words in found.items()]

    def _said(self) -> str:
        return "\n".join(self.notes)

    @property
    def dropped(self) -> list[str]:
        """The columns that are not even given to the encoder."""
        return [one.column for one in self.findings if one.action == LEFT_OUT]

    @property
    def treated(self) -> dict[str, str]:
        """What columns are read as, where that differs from what they look like."""
        return {one.column: one.kind for one in self.findings if one.kind}

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The values of ordered columns, from the least to the greatest."""
        return {one.column: one.order for one in self.findings if one.order}

    @property
    def left_out(self) -> list[Finding]:
        """All that is not learned from, by a rule or by the encoder."""
        return [one for one in self.findings if one.action == LEFT_OUT] + [
            Finding(name, LEFT_OUT, says.removeprefix("left out, "))
            for name, says in self.decisions.items()
            if says.startswith("left out, ")
        ]

    @property
    def suspicious(self) -> list[Finding]:
        """What is learned from, and perhaps should not be."""
        return [one for one in self.findings if one.action == SUSPICIOUS]

    @property
    def read(self) -> list[Finding]:
        """What is read as something else than it looks like."""
        known = {one.column for one in self.findings if one.action == READ}
        written = [
            Finding(name, READ, says.split(";")[0])
            for name, says in self.decisions.items()
            if (", written " in says or says.startswith("free text")) and name not in known
        ]
        return [*(one for one in self.findings if one.action == READ), *written]

    @property
    def used(self) -> list[str]:
        """The columns that are learned from."""
        gone = {one.column for one in self.left_out}
        return [name for name in self.names if name not in gone]

    def with_decisions(self, lines: Sequence[str]) -> Understanding:
        """Add what the encoder decided, a line for each of its columns."""
        says = [
            line.partition(": ")[2] if line.startswith(repr(name)) else line for name, line in zip(self.names, lines)
        ]
        return replace(self, decisions=dict(zip(self.names, says)))

    def to_dict(self) -> dict[str, object]:
        """Give everything as lists, numbers and strings."""
        return {
            "used": self.used,
            "left_out": {one.column: one.says for one in self.left_out},
            "suspicious": {one.column: one.says for one in self.suspicious},
            "read_as": {one.column: one.says for one in self.read},
            "notes": list(self.notes),
        }
