"""Count false proofs, false alarms and changes that nobody notices: the table of docs/proof.md.

Run it from the root of the repository, ``python -m tools.proof_table [attempts of each kind]``.
"""

import sys
import warnings

from tests.conformance.specimens import estimators
from tests.proof.attempts import KINDS, MODELS, attempt
from tests.proof.test_mutations import fitted, unnoticed


def attempts_row(name: str, each: int) -> tuple[int, int, int, int, int]:
    """Give the attempts, false proofs and false alarms of a model, and the attempts and false alarms on plain data alone."""
    found = {kind: [attempt(name, kind, seed) for seed in range(each)] for kind in KINDS}
    judged = {kind: [one for one in tried if one is not None] for kind, tried in found.items()}
    whole = [one for tried in judged.values() for one in tried]
    return (
        len(whole),
        sum(one.is_false_proof for one in whole),
        sum(one.is_false_alarm for one in whole),
        len(judged["plain"]),
        sum(one.is_false_alarm for one in judged["plain"]),
    )


def main() -> None:
    """Print the table in Markdown, and a line about changes."""
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print("| model | attempts | false proofs | false alarms | of them on plain data |\n|---|---|---|---|---|")
    total = [0, 0, 0, 0, 0]
    for name in MODELS:
        row = attempts_row(name, each)
        total = [a + b for a, b in zip(total, row)]
        print(f"| {name} | {row[0]} | {row[1]} | {row[2]} | {row[4]} of {row[3]} |", flush=True)
    print(f"| **all** | {total[0]} | {total[1]} | {total[2]} | {total[4]} of {total[3]} |")
    changes = missed = 0
    for name in estimators():
        tried, lost = unnoticed(fitted(name), lambda changes, turn: changes)
        changes, missed = changes + tried, missed + len(lost)
    print(f"\n{changes} changes of {len(estimators())} models: {missed} unnoticed.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
