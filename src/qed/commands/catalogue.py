"""``qed catalogue``: every method of the house, or all that is known of one."""

from dataclasses import asdict

from qed.selection.catalogue import catalogue


def methods(name: str | None = None) -> list[dict[str, object]]:
    """List methods: all, those of a task or a kind of learning, or one, with what it claims."""
    found = catalogue(name)
    if len(found) == 1:
        return [{**asdict(found[0]), "claims": list(found[0].claims)}]
    return [asdict(method) for method in found]
