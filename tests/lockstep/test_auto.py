"""method="auto": every rule takes a problem that none before it takes, and the order of the rules matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt import auto
from dcopt.convex import ScaledIdentity
from dcopt.local import costs
from dcopt.regularizers import L1, MCP, SCAD, Simplex, Zero
from dcopt.sums import Facts, SumBase

MANY = 4096
CONCAVE = MCP(lam=0.05)
PAIRS = SCAD(lam=0.05, groups=[[0, 1], [2, 3]])


@dataclass(frozen=True)
class Components(SumBase):
    """h_i, of which nothing but their number and L_v is known, at x ∈ ℝ⁴."""

    n: int | None
    L_v: float | None = 1.0
    shape = (4,)
    dtype = np.dtype(np.float64)

    def facts(self) -> Facts:
        return Facts(rho=1.0, L_H=1.0, L=1.0, L_v=self.L_v)


def general(n: int | None, L_v: float | None = 1.0) -> dcopt.Problem:
    H: Any = Components(n, L_v)
    return dcopt.Problem(ScaledIdentity(2.0), H, Zero())


def data(n: int, d: int = 4) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    return X, np.where(X[:, 0] + draw.logistic(size=n) > 0.0, 1.0, -1.0)


def erm(n: int, loss: str = "logistic", r: Any = CONCAVE, d: int = 4, **options: Any) -> dcopt.Problem:
    return dcopt.erm(*data(n, d), loss, r, **options)


def streamed(r: Any = CONCAVE) -> dcopt.Problem:
    return dcopt.stream(iter([data(64)]), "logistic", r, holdout=32, classes=(-1.0, 1.0))


def wide(n: int, groups: Any, d: int = costs.GROUP_GRAM + 2) -> dcopt.Problem:
    X = csr_array((np.ones(n), (np.arange(n), np.arange(n) % d)), shape=(n, d))
    r = Simplex() if groups is None else SCAD(lam=0.05, groups=groups(d))
    return dcopt.erm(X, np.where(np.arange(n) % 3, 1.0, -1.0), "logistic", r)


def pairs(d: int) -> list[list[int]]:
    return [[j, j + 1] for j in range(0, d, 2)]


def one_large(d: int) -> list[Any]:
    """Groups as wide as the first one would be laid out: too many numbers."""
    return [range(d // 10), *([j] for j in range(d // 10, d))]


# the rule that takes it, the method, and the problem (with `near` where it starts near a solution)
PROBLEMS: dict[str, tuple[str, str, Callable[[], dcopt.Problem], bool]] = {
    "a stream": ("stream", "dca-page", streamed, False),
    "a stream of general components": ("stream", "dca-page", lambda: general(None), False),
    "a hundred components": ("few components", "dca", lambda: general(100), False),
    "a hundred components with kinks": ("few components", "dca", lambda: general(100, np.inf), False),
    "one component less than many": ("few components", "dca", lambda: general(MANY - 1), False),
    "many components with kinks": ("kinks", "dca", lambda: general(MANY, np.inf), False),
    "many components": ("many components", "dca-page", lambda: general(MANY), False),
    "many components, L_v unknown": ("many components", "dca-page", lambda: general(MANY, None), False),
    "least squares": ("constant curvature", "dca-local", lambda: erm(100, "squared"), False),
    "many least squares": ("constant curvature", "dca-local", lambda: erm(MANY, "squared"), False),
    "many rows": ("growing samples", "dca-nested", lambda: erm(MANY), False),
    "many rows, near the end": ("curvature", "dca-local", lambda: erm(MANY), True),
    "one row less than many": ("curvature", "dca-local", lambda: erm(MANY - 1), False),
    "many rows for too many unknowns": ("curvature", "dca-local", lambda: erm(MANY, d=MANY // 4 + 1), False),
    "few rows": ("curvature", "dca-local", lambda: erm(100), False),
    "few rows, local": ("curvature", "dca-local", lambda: erm(100, decomposition="local"), False),
    "groups of a convex loss": ("groups", "pdcae", lambda: erm(100, r=PAIRS), False),
    "groups of a loss that is not convex": ("groups", "dca", lambda: erm(100, "squared-sigmoid", PAIRS), False),
    "groups of least squares": ("groups", "dca", lambda: erm(100, "squared", PAIRS), False),
    "many rows in groups": ("groups", "pdcae", lambda: erm(MANY, r=PAIRS), False),
    "many rows in groups of many features": ("batches", "dca-page", lambda: wide(MANY, pairs), False),
    "a simplex of many features": ("batches", "dca-page", lambda: wide(MANY, None), False),
    "a simplex": ("groups", "pdcae", lambda: wide(MANY, None, costs.GROUP_GRAM), False),
    "groups of widths too different": ("batches", "dca-page", lambda: wide(MANY, one_large, 1000), False),
    "as many features as a Gram matrix has": ("groups", "pdcae", lambda: wide(MANY, pairs, costs.GROUP_GRAM), False),
    "few rows in groups of many features": ("full gradients", "pdcae", lambda: wide(100, pairs), False),
    "a decomposition of the user's": ("full gradients", "pdcae", lambda: erm(MANY, decomposition="gram"), False),
    "a kappa of the user's": ("full gradients", "dca", lambda: erm(MANY, "squared-sigmoid", kappa=9.0), False),
}


@cache
def problem(name: str) -> dcopt.Problem:
    return PROBLEMS[name][2]()


def chosen() -> dict[str, str]:
    """The rule that takes each problem."""
    return {name: auto.rule_for(problem(name), near).name for name, (_, _, _, near) in PROBLEMS.items()}


EXPECTED = {name: rule for name, (rule, _, _, _) in PROBLEMS.items()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_rule_and_its_method(name: str) -> None:
    wanted, method, _, near = PROBLEMS[name]
    P = problem(name)
    took = [rule.name for rule in auto.RULES if rule.takes(P, near)]
    assert took[0] == wanted and auto.rule_for(P, near).name == wanted
    rule = auto.rule_for(P, near)
    assert rule.method_for(P) == method in dcopt.METHODS
    assert rule.why(P) and (rule.decomposition == "gram") == (wanted == "groups")


def test_every_rule_has_a_problem() -> None:
    assert set(EXPECTED.values()) == {rule.name for rule in auto.RULES}
    assert chosen() == EXPECTED
    assert len({rule.name for rule in auto.RULES}) == len(auto.RULES)


def overlaps() -> list[tuple[int, int]]:
    """Rules of which a problem here meets both conditions, the first one being the one that takes it."""
    found = set()
    for name, (_, _, _, near) in PROBLEMS.items():
        took = [k for k, rule in enumerate(auto.RULES) if rule.takes(problem(name), near)]
        found |= {(took[0], later) for later in took[1:]}
    return sorted(found)


def test_a_spoilt_order_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any two rules that can meet, changed for each other; nearly every rule meets the next one."""
    rules, pairs = auto.RULES, overlaps()
    names = [rule.name for rule in rules]
    for i, j in pairs:
        spoilt = list(rules)
        spoilt[i], spoilt[j] = spoilt[j], spoilt[i]
        monkeypatch.setattr(auto, "RULES", tuple(spoilt))
        assert chosen() != EXPECTED, (names[i], names[j])
    meet = {(names[i], names[j]) for i, j in pairs}
    assert meet >= {
        ("stream", "few components"), ("few components", "kinks"), ("kinks", "many components"),
        ("constant curvature", "growing samples"), ("constant curvature", "curvature"),
        ("growing samples", "curvature"), ("groups", "batches"), ("batches", "full gradients"),
    }  # fmt: skip


@pytest.mark.parametrize("k", range(len(auto.RULES)))
def test_a_rule_that_is_left_out_is_missed(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = auto.RULES[:k] + auto.RULES[k + 1 :]
    if k == len(auto.RULES) - 1:
        monkeypatch.setattr(auto, "RULES", rest)
        with pytest.raises(StopIteration):
            chosen()
        return
    monkeypatch.setattr(auto, "RULES", rest)
    assert chosen() != EXPECTED


@pytest.mark.parametrize(
    ("number", "spoilt"), [("MANY_ROWS", MANY + 1), ("MANY_ROWS", MANY - 1), ("GROUP_GRAM", 2047), ("GROUP_GRAM", 2050)]
)
def test_the_numbers_of_the_table_are_seen(number: str, spoilt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, number, spoilt)
    assert chosen() != EXPECTED


def test_a_condition_that_is_spoilt_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for k, rule in enumerate(auto.RULES):
        for answer in (True, False):
            if answer and k == len(auto.RULES) - 1:
                continue  # It takes everything.
            spoilt = rule._replace(takes=lambda P, near, answer=answer: answer)
            monkeypatch.setattr(auto, "RULES", (*auto.RULES[:k], spoilt, *auto.RULES[k + 1 :]))
            try:
                seen = chosen() != EXPECTED
            except StopIteration:
                seen = True
            monkeypatch.undo()
            assert seen, (rule.name, answer)


def test_what_auto_took_is_what_solve_does_and_says() -> None:
    for name in ("least squares", "few rows", "groups of a convex loss", "a decomposition of the user's"):
        P, (_, method, _, _) = problem(name), PROBLEMS[name]
        res = dcopt.solve(P, "auto", steps=2, seed=0)
        assert res.method == method and res.notes[0] == f"auto took {method}: {auto.rule_for(P).why(P)}"


def test_rules_behind_one_are_those_of_the_estimators() -> None:
    P = problem("many rows in groups")
    assert auto.rule_for(P).name == "groups" and auto.rule_for(P, after="groups").name == "batches"
    assert replace(P, tunable=False).r is P.r and auto.rule_for(replace(P, tunable=False)).name == "full gradients"
    assert isinstance(P.r, SCAD) and not isinstance(P.r, L1)


def test_a_checkpoint_of_auto_goes_on_in_the_decomposition_that_it_took(tmp_path: Any) -> None:
    P = erm(200, "squared-sigmoid", SCAD(lam=0.02, groups=[[0, 1], [2, 3]]))
    whole = dcopt.solve(P, "auto", steps=8, seed=0)
    dcopt.solve(P, "auto", steps=3, seed=0, checkpoint=tmp_path / "run")
    assert dcopt.resume(tmp_path / "run", P, steps=8).x.tobytes() == whole.x.tobytes()
