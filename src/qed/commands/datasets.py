"""``qed datasets``: the bundled data sets, and a way to write one to a file."""

from dataclasses import asdict

from qed.commands.files import write_table
from qed.data.bundled import catalogue, load


def datasets() -> list[dict[str, object]]:
    """List what is known about the bundled data sets."""
    return [{**asdict(one), "target": list(one.targets)} for one in catalogue()]


def about(name: str) -> dict[str, object]:
    """Say what is known about one bundled data set."""
    found = load(name).about
    return {**asdict(found), "target": list(found.targets)}


def export(name: str, path: str) -> int:
    """Write a bundled data set to a file, and say how many rows it has."""
    table = load(name).table
    write_table(table, path)
    return int(table.num_rows)
