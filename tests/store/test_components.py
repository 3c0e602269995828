"""Components as names and settings: what goes in comes out, and what has no name is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt import BadSettings, load_model, save_model
from dcopt.estimators import ESTIMATORS, PAGE, SAGA
from dcopt.losses import LOSSES, Huber
from dcopt.methods import METHODS
from dcopt.regularizers import L1, REGULARIZERS, SCAD, Box, ElasticNet, Except
from dcopt.store.components import REGISTRIES, describe, rebuild
from dcopt.subproblems import SUBPROBLEMS, InnerSVRG

RICH = [
    ("loss", Huber(c=0.1 + 0.2)),
    ("regularizer", SCAD(lam=1 / 3, a=2.5, weights=[0.0, 1 / 3, 2.0])),
    ("regularizer", SCAD(lam=0.1, groups="rows")),
    ("regularizer", L1(0.1, groups=[[0, 2], [1], [3, 4, 5]], weights=np.array([1.0, 0.0, 2.5]))),
    ("regularizer", L1(0.1, groups=[[0, 1], [2, 3]])),
    ("regularizer", ElasticNet(0.1, 0.2, weights=np.arange(3))),
    ("regularizer", Box(low=-math.inf, high=[1.0, 2.0])),
    ("regularizer", Box(low=[[0.0, 1.0], [2.0, 3.0]], high=math.inf)),
    ("regularizer", L1(0.1, weights=np.ones(200_000))),  # more than a header could hold
    ("estimator", PAGE(p=0.3, b_small=np.int64(7), b=9, sampling="distinct")),
    ("estimator", PAGE(p=(0.5, 1 / 3, 0.1), b_small=7)),
    ("estimator", SAGA(b=3, quadratic="inside")),
    ("subsolver", InnerSVRG(b=3, seed=2**60)),
]
ALL = [(kind, component) for kind, registry in REGISTRIES.items() for component in registry.values()]


@pytest.mark.parametrize(("kind", "component"), [*ALL, *RICH])
def test_there_and_back_through_a_file(kind: str, component: Any, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {}
    said = describe(kind, component, arrays, at="model")
    save_model(tmp_path / "x", {"it": said}, arrays)
    header, read = load_model(tmp_path / "x")
    again = rebuild(header["it"], kind, read)
    assert type(again) is type(component) and again == component


def test_every_registry_is_there() -> None:
    assert list(REGISTRIES.values()) == [LOSSES, REGULARIZERS, ESTIMATORS, METHODS, SUBPROBLEMS]


@pytest.mark.parametrize(
    ("kind", "component"),
    [
        ("loss", type("Mine", (LOSSES["logistic"].__class__,), {})()), ("regularizer", Except(L1(0.1))),
        ("method", dcopt.Method("dca", METHODS["dca"].estimator)), ("estimator", "page"), ("loss", "logistic"),
        ("subsolver", lambda: None), ("kernel", 1),
    ],
    ids=range(7),
)  # fmt: skip
def test_what_is_not_registered_is_refused_when_saving(kind: str, component: Any) -> None:
    with pytest.raises(BadSettings):
        describe(kind, component, {})
