"""The members of an ensemble: how they are made, fitted, asked and proven, whoever wrote them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.models.composed import Member, refuse_weights, takes_missing, takes_sparse, takes_weights
from qed.base.models.estimator import Estimator
from qed.base.models.proof import FOLLOWING, SAME_DATA, certify
from qed.base.random import generator
from qed.selection.searching.candidates import fresh

Proofs = Sequence[tuple[str, Certificate | None]]


class Copies(Estimator):
    """An ensemble of copies of one model, the parameter `estimator`."""

    estimator: Member

    @abstractmethod
    def _usual(self) -> Member:
        """Give the member that is taken where none is given."""

    @property
    def estimator_(self) -> Member:
        """The model that was copied for each member."""
        return self._usual() if self.estimator is None else self.estimator

    @property
    def missing(self) -> bool:  # type: ignore[override]
        """Whether missing values are let through: where members take them."""
        return takes_missing(self.estimator_)

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether sparse matrices are taken: where members take them."""
        return takes_sparse(self.estimator_)


def seeded(member: Member, seed: int, *key: str | int, anew: bool = True) -> Member:
    """Give an unfitted model like a member, with draws of its own: each `random_state` in it is set, or those alone that were no number."""
    made = fresh(member)
    lots = generator(seed, *key)
    states = {}
    for name, value in sorted(made.get_params(deep=True).items()):
        if name == "random_state" or name.endswith("__random_state"):
            own = int(lots.integers(2**31 - 1))
            if anew or not isinstance(value, (int, np.integer)):
                states[name] = own
    return made.set_params(**states) if states else made


def fitted(member: Member, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Member:
    """Fit a member to rows that weigh so much; None stands for ones."""
    if weight is None or (weight == 1).all():
        return member.fit(X, y)
    if takes_weights(member):
        return member.fit(X, y, sample_weight=weight)
    raise refuse_weights(member)


def times_of(member: Member, times: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Give the numbers of rows that were drawn, and weights that say how often; rows again and again for a member that takes no weights."""
    if takes_weights(member):
        rows = np.flatnonzero(times)
        return rows, times[rows]
    return np.repeat(np.arange(len(times)), times.astype(np.intp)), None


def members_disagree(members: Iterable[Member], columns: int) -> str:
    """Say whether members take another number of columns than they are given."""
    others = [found for one in members if (found := getattr(one, "n_features_in_", columns)) != columns]
    return f"members take {others[0]} columns, and are given {columns}" if others else ""


def has_proof(member: Member) -> bool:
    """Say whether a fitted member makes claims."""
    return hasattr(member, "_prove")


def proof_of(
    member: Member, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, *, again: bool
) -> Certificate | None:
    """Give the proof of a member: that of its fit, or worked out `again` from its rows; None where it makes no claims."""
    if not has_proof(member):
        return None
    if not again:
        own: Certificate = member.certificate_
        return own
    used = None if weight is None or (weight == 1).all() else weight
    return certify(member, X, y) if used is None else certify(member, X, y, used)


def all_claims(proofs: Proofs) -> list[Claim]:
    """Put the claims of some members together, each with the name of its member."""
    found = []
    for name, proof in proofs:
        found += [
            Claim(f"{name}: {claim.says}", claim.value, claim.bound)
            for claim in (() if proof is None else proof)
            if claim.says not in (SAME_DATA, FOLLOWING)
        ]
    others = sum(bool(proof is not None and proof.difference) for _, proof in proofs)
    return [*found, Claim(f"members that have seen other data{_silent(proofs)}", float(others), 0.0)]


def failing_claims(proofs: Proofs, of: int) -> list[Claim]:
    """Count the members of many whose own proof does not hold, and name what fails."""
    lost = [(name, proof) for name, proof in proofs if proof is not None and not proof]
    seen = "" if len(proofs) == of else f" ({len(proofs)} of {of} looked at)"
    return [
        Claim(f"members whose own proof does not hold{seen}{_silent(proofs)}", float(len(lost)), 0.0),
        *(Claim(f"{name}: {one.says}", one.value, one.bound) for name, proof in lost for one in proof.failures[:1]),
    ]


def _silent(proofs: Proofs) -> str:
    silent = sum(proof is None for _, proof in proofs)
    return f" ({silent} make no claims)" if silent else ""


def names_of(members: Iterable[Member]) -> list[str]:
    """Name members by their class and number."""
    return [f"{type(one).__name__} {number}" for number, one in enumerate(members)]
