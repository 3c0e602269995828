"""Which method runs on which problem: a refusal follows from the method's attributes, and all else runs."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest
from principles.shared import AUTO, CASES, KINDS, NAMES, PAIRS, SEED, make, refusal

import dcopt

REFUSED = [pair for pair in PAIRS if pair not in CASES]


@pytest.mark.parametrize(("method", "kind"), REFUSED)
def test_a_method_refuses_by_name_what_it_cannot_solve(method: str, kind: str) -> None:
    why = refusal(method, kind)
    with pytest.raises(dcopt.CannotSolve, match=f"{method} .*({why})"):
        dcopt.solve(make(kind), method, steps=1, seed=SEED)
    with pytest.raises(dcopt.CannotSolve, match=f"{method} .*({why})"):
        dcopt.iterate(make(kind), method, seed=SEED)


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_method_runs_on_all_other_problems(method: str, kind: str) -> None:
    result = dcopt.solve(make(kind), method, steps=1, seed=SEED)
    assert result.steps == 1 and result.method == (method if method != AUTO else result.method)


@pytest.mark.parametrize("method", NAMES)
def test_every_method_is_under_these_tests(method: str) -> None:
    assert any(name == method for name, _ in CASES)


def test_every_kind_of_refusal_occurs() -> None:
    """Otherwise the table of refusals would not be tested itself."""
    assert {refusal(*pair) for pair in REFUSED} == {
        "r2 is not smooth", "not known to be convex", "does not fall apart|is not separable",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("growing")])
def test_samples_grow_where_the_problem_is_made_for_that(kind: str) -> None:
    """ "auto" takes them there, and the nine steps of other tests begin on few rows and end on all of them."""
    P = make(kind)
    assert P.n is not None and dcopt.solve(P, AUTO, steps=1, seed=SEED).method == "dca-nested"
    spent = [0, *(state.spent.gradients for state in islice(dcopt.iterate(P, "dca-nested", seed=SEED), 9))]
    steps = [after - before for before, after in pairwise(spent)]
    assert max(steps[:2]) < P.n // 4 and min(steps[-2:]) >= P.n
