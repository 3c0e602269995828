"""Components in every framework keep the laws, and those that are written wrongly break the law in question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from functions import FRAMEWORKS, TORCH, each_gradient, in_numpy, in_torch, mean_gradient, rows, squared_sigmoid

import dcopt
from dcopt.laws import LawBroken
from dcopt.laws.components import LAWS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_law(framework: str, dtype: Any, law: str) -> None:
    constants = {"L_H": 2.0, "L": 4.0, "L_v": 4.0}
    LAWS[law](squared_sigmoid(framework, rows(dtype=dtype), **constants))
    LAWS[law](squared_sigmoid(framework, rows(dtype=dtype), grad=_grad(framework), weights=np.arange(60.0)))


def _grad(framework: str) -> Any:
    return each_gradient if framework == "numpy" else None


def test_check_runs_the_laws_on_components_and_on_the_held_out_sample_of_a_stream() -> None:
    assert dcopt.check(squared_sigmoid("numpy", rows())) == list(LAWS)
    A, y = rows(400)
    stream = dcopt.components(in_numpy, [(A, y)], shape=5, grad=mean_gradient, holdout=64)
    assert dcopt.check(stream) == list(LAWS)


def broken(law: str, fn: Callable[..., Any], said: str, **settings: Any) -> None:
    """The law is broken with this sentence, and `check` finds it too."""
    f = dcopt.components(fn, rows(), **({"shape": 5} | settings))
    with pytest.raises(LawBroken, match=said):
        LAWS[law](f)
    with pytest.raises(LawBroken, match=law):
        dcopt.check(f)


def test_nan_away_from_the_start_is_found() -> None:
    def fn(x: Any, batch: Any) -> Any:
        out = in_numpy(x, batch)
        return out * np.nan if np.linalg.norm(x) > 1.0 else out

    broken("one-number-each", fn, "fn returned .nan. for a component", grad=mean_gradient)


def test_another_type_away_from_the_start_is_found() -> None:
    def fn(x: Any, batch: Any) -> Any:
        return in_numpy(x, batch).astype(np.float32 if x.any() else np.float64)

    broken("one-number-each", fn, "returned float32 numbers for x in float64", grad=mean_gradient)


def test_a_number_that_depends_on_the_batch_is_found() -> None:
    def fn(x: Any, batch: Any) -> Any:
        out = in_numpy(x, batch)
        return out - out.mean()  # as batch normalisation does

    broken("additive", fn, "when it is cut at", grad=mean_gradient)


def test_a_sum_given_as_the_mean_gradient_is_found() -> None:
    def total(x: Any, batch: Any) -> Any:
        return each_gradient(x, batch).sum(axis=0)

    broken("additive", in_numpy, "the gradient of a batch is off by", grad=total)
    broken("gradient-is-derivative", in_numpy, "the slope along x is", grad=total)


@TORCH
def test_a_part_of_the_parameters_that_is_detached_is_found() -> None:
    import torch

    def fn(p: Any, batch: Any) -> Any:
        A, y = batch
        return torch.sigmoid(-y * (A @ p["w"] + p["b"].detach())) ** 2

    like = {"w": np.zeros(5), "b": np.zeros(1)}
    broken("gradient-is-derivative", fn, "f changes with the parameter b, but has no gradient", shape=None, like=like)


@TORCH
def test_dropout_is_found() -> None:
    import torch

    def fn(x: Any, batch: Any) -> Any:
        A, y = batch
        return in_torch(x, (torch.nn.functional.dropout(A, 0.5), y))

    broken("same-numbers-twice", fn, "fn is random .dropout")


def test_a_function_that_counts_its_calls_is_found() -> None:
    calls: list[int] = []

    def fn(x: Any, batch: Any) -> Any:
        calls.append(1)
        return in_numpy(x, batch) + 0.01 * len(calls)

    broken("same-numbers-twice", fn, "depends on earlier calls", grad=mean_gradient)


@pytest.mark.parametrize("which", ["x", "the batch"])
def test_a_function_that_writes_into_its_arguments_is_found(which: str) -> None:
    def fn(x: Any, batch: Any) -> Any:
        out = in_numpy(x, batch)
        target = x if which == "x" else batch[0]
        target *= 0.5
        return out

    A, y = rows()
    f = dcopt.components(fn, (A, y), shape=5, grad=mean_gradient)
    with pytest.raises(LawBroken, match=f"fn writes into {which}"):
        LAWS["nothing-is-changed"](f)


@TORCH
def test_a_function_in_pytorch_that_writes_into_the_batch_is_found() -> None:
    def fn(x: Any, batch: Any) -> Any:
        A, y = batch
        A.clamp_(-1.0, 1.0)
        return in_torch(x, batch)

    broken("nothing-is-changed", fn, "fn writes into the batch")


def test_components_that_are_not_convex_are_found() -> None:
    said = "claimed to be convex, and is above its chord"
    broken("convex-where-claimed", in_numpy, said, grad=mean_gradient, convex=True)


@pytest.mark.parametrize("claim", [{"lower": 0.3}, {"L_H": 0.01}, {"L": 0.05}, {"L_v": 0.05}])
def test_constants_that_do_not_hold_are_found(claim: dict[str, float]) -> None:
    name, value = next(iter(claim.items()))
    said = f"below lower = {value:g}" if name == "lower" else f"{name} = {value}: "
    broken("claimed-constants-hold", in_numpy, said, grad=mean_gradient, **claim)
