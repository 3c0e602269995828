"""Q: functions of the user's as components. What cannot be used is refused in one sentence that says what came."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from functions import (
    FRAMEWORKS,
    JAX,
    TORCH,
    each_gradient,
    in_jax,
    in_numpy,
    in_torch,
    mean_gradient,
    rows,
    squared_sigmoid,
)

import dcopt
from dcopt import BadInput, BadSettings
from dcopt.convex import ComponentMean, ScaledIdentity


def refused(said: str, fn: Any = in_numpy, data: Any = None, **settings: Any) -> None:
    with pytest.raises((BadInput, BadSettings), match=said) as error:
        dcopt.components(fn, rows() if data is None else data, **({"shape": 5, "grad": mean_gradient} | settings))
    assert "\n" not in str(error.value)


def _as(framework: str, out: Any) -> Any:
    """A function in this framework whose numbers are changed by `out`"""
    own = {"numpy": in_numpy, "torch": in_torch, "jax": in_jax}[framework]
    return lambda x, batch: out(own(x, batch))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_q1_wrong_numbers_are_refused(framework: str) -> None:
    grad = mean_gradient if framework == "numpy" else None
    refused("returned one number, such as a sum or a mean: expected one", _as(framework, lambda v: v.mean()), grad=grad)
    refused(r"shape \(2,\): expected one number for each of the 3", _as(framework, lambda v: v[:2]), grad=grad)
    refused(r"shape \(3, 1\): expected one number", _as(framework, lambda v: v[:, None]), grad=grad)
    refused("returned NaN at x = 0: give like=", _as(framework, lambda v: v * float("nan")), grad=grad)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_q2_another_type_is_refused(framework: str) -> None:
    def narrow(v: Any) -> Any:
        return v.float() if framework == "torch" else v.astype("float32")

    grad = mean_gradient if framework == "numpy" else None
    refused("returned float32 numbers for x in float64: expected the type of x", _as(framework, narrow), grad=grad)


def test_q2_what_is_no_array_is_refused() -> None:
    refused("returned a list: expected one number", lambda x, batch: list(in_numpy(x, batch)))
    refused("returned a NoneType", lambda x, batch: None)
    refused("fn = 'squared': expected a function", "squared")


@TORCH
def test_q3_detached_tensors_are_refused() -> None:
    import torch

    cannot = "PyTorch cannot differentiate in x: x went through NumPy, detach"
    refused(cannot, _as("torch", lambda v: v.detach()), grad=None)
    refused(cannot, lambda x, b: torch.zeros(len(b[1]), dtype=torch.float64), grad=None)

    def through_numpy(x: Any, batch: Any) -> Any:
        A, y = (np.asarray(a) for a in batch)
        return torch.from_numpy(in_numpy(np.asarray(x.detach() if hasattr(x, "detach") else x), (A, y)))

    refused(cannot, through_numpy, grad=None)


@TORCH
def test_q3_a_run_within_no_grad_works() -> None:
    import torch

    f = squared_sigmoid("torch", rows())
    with torch.no_grad():
        assert np.isfinite(f.all().grad(np.ones(5))).all()


def test_q4_errors_of_fn_are_told_in_one_sentence() -> None:
    def fn(x: Any, batch: Any) -> Any:
        raise KeyError("no such\nthing")

    refused(r"raised KeyError in NumPy, for x of shape \(5,\) and 3 components: 'no such", fn)
    refused(r"raised ValueError in NumPy, for x of shape \(4,\) and 3 components: ", shape=4)


def test_q5_a_function_in_numpy_needs_its_gradient() -> None:
    refused("grad = None: expected a function here: fn is in NumPy, which has no autodiff", grad=None)
    refused(r"grad: returned an array of shape \(4,\) for 3 components", grad=lambda x, b: np.zeros(4))
    refused("grad: returned int64 numbers", grad=lambda x, b: np.zeros(5, int))


@TORCH
def test_q5_arithmetic_that_every_array_has_is_differentiated() -> None:
    f = dcopt.components(lambda x, batch: (batch[0] @ x - batch[1]) ** 2, rows(), shape=5)
    assert f.engine.name == "PyTorch"
    A, y = rows()
    np.testing.assert_allclose(f.all().grad(np.ones(5)), 2 * A.T @ (A @ np.ones(5) - y) / 60, rtol=1e-12)


def test_q6_data_that_have_no_components_are_refused() -> None:
    A, y = rows()
    refused("data: has parts of different lengths: 60, 59", data=(A, y[:-1]))
    refused("data: has parts of different lengths: 60, 59", data={"A": A, "b": (y[:-1], y)})
    refused("data: is empty", data=(A[:0], y[:0]))
    refused("expected arrays of real numbers, got dtype object", data=np.array(["a", None], object))
    refused("expected arrays of real numbers, got dtype <U1", data=np.array(["a", "b"]))
    refused(r"shape \(\)", data=np.array(1.0))
    refused("data: is or holds a float: give an array", data=(A, 1.0))
    refused("data: is or holds a set", data=(A, {1.0}))


def test_q7_settings_are_refused_by_name() -> None:
    refused("shape, like = 'neither': expected one of them", shape=None)
    refused("shape, like = 'both'", like=np.zeros(5))
    refused("shape = .0,.: expected that of x", shape=(0,))
    refused("chunk = 0: expected an integer >= 1", chunk=0)
    refused("L_H = -1.0: expected a finite number >= 0", L_H=-1.0)
    refused("lower = nan: expected a finite number", lower=float("nan"))
    refused("convex = 1: expected True or False", convex=1)
    refused("weights = .*: expected None, or a grad= that gives one gradient for each component", weights=np.ones(60))
    refused("sample_weight, row 2: -1.0 is negative", weights=np.r_[1.0, 1.0, -1.0, np.ones(57)], grad=each_gradient)
    refused("holdout = 8: expected None: data is not a stream", holdout=8)
    with pytest.raises(TypeError, match="say grad="):
        dcopt.components(in_numpy, rows(), shape=5, gradient=mean_gradient)  # type: ignore[call-arg]


def test_q8_parameters_that_are_no_real_numbers_are_refused() -> None:
    refused("like: count holds int64, not float32 or float64: give the parameters only", shape=None, like={
        "w": np.zeros(5), "count": np.zeros(1, int)})  # fmt: skip
    refused("like: holds both float32 and float64", shape=None, like=(np.zeros(3), np.zeros(2, np.float32)))
    refused("like: holds no parameters", shape=None, like={})
    refused("like: w is a float: give an array", shape=None, like={"w": 1.0})
    f = dcopt.components(lambda p, b: in_numpy(p["w"], b), rows(), like={"w": np.zeros(5)}, grad=lambda p, b: {
        "w": mean_gradient(p["w"], b)})  # fmt: skip
    with pytest.raises(BadInput, match="expected leaves of shapes"):
        f.ravel({"w": np.zeros(4)})


def test_q9_streams_are_refused_by_name() -> None:
    A, y = rows()
    refused("data: ended after 60 samples, and the held-out sample takes 1024", data=[(A, y)])
    refused("weights = .*: expected None: the samples of a stream", data=[(A, y)], weights=np.ones(60))
    f = dcopt.components(in_numpy, [(A, y), (A[:, :4], y)], shape=5, grad=mean_gradient, holdout=50)
    P = dcopt.Problem(ScaledIdentity(1.0), f=f, r="zero")
    with pytest.raises(BadInput, match=r"block 1: has samples of the form .*\(4,\).*, those of the first block have"):
        f.sample(20, None)  # type: ignore[arg-type]
    for method in ("dca", "dca-svrg", "dca-saga"):
        with pytest.raises(dcopt.NeedsFiniteSum):
            dcopt.solve(P, method, samples=10)
    with pytest.raises(BadInput, match="is a stream: G must be a mean"):
        dcopt.problems.difference([(A, y)], g=in_numpy, h=in_numpy, shape=5)


def test_q9_a_source_that_reuses_its_buffer_and_one_that_fails() -> None:
    A, y = rows(300)
    buffer = np.empty((100, 5)), np.empty(100)

    def blocks() -> Any:
        for k in range(3):
            buffer[0][:], buffer[1][:] = A[100 * k :][:100], y[100 * k :][:100]
            yield buffer
        raise OSError("the line is dead")

    f = dcopt.components(in_numpy, blocks(), shape=5, grad=mean_gradient, holdout=150)
    np.testing.assert_array_equal(np.concatenate([f.holdout.data[1], f.sample(150, None).sum.data[1]]), y)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="the line is dead"):
        f.sample(1, None)  # type: ignore[arg-type]
    assert isinstance(f.broken, OSError)


def test_q10_a_mean_as_G_must_be_declared_convex() -> None:
    f = dcopt.components(in_numpy, rows(), shape=5, grad=mean_gradient)
    with pytest.raises(BadSettings, match="components that are declared convex=True: G must be convex"):
        ComponentMean(f)
    with pytest.raises(BadSettings, match="a finite sum made by dcopt.components"):
        ComponentMean(rows())  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match="None: products with the Hessian need autodiff"):
        f.hess_dot(np.ones(5), np.ones(5))


def test_q11_what_fn_does_to_x_does_not_reach_the_run() -> None:
    def fn(x: Any, batch: Any) -> Any:
        out = in_numpy(x, batch)
        x[:] = np.nan
        return out

    P, Q = (
        dcopt.Problem(ScaledIdentity(2.0), f=dcopt.components(f, rows(), shape=5, grad=mean_gradient), r="zero")
        for f in (in_numpy, fn)
    )
    one, two = (dcopt.solve(p, "dca-page", steps=20, seed=0).x for p in (P, Q))
    np.testing.assert_array_equal(one, two)


@JAX
def test_q12_the_users_jax_stays_in_32_bits() -> None:
    import jax
    import jax.numpy as jnp

    f = squared_sigmoid("jax", rows())
    assert f.all().grad(np.ones(5)).dtype == np.float64
    assert not jax.config.jax_enable_x64 and jnp.ones(1).dtype == np.float32


@JAX
def test_q12_few_shapes_are_compiled() -> None:
    from dcopt.sums.autodiff.with_jax import padded

    sizes = {padded(b) for b in range(1, 4097)}
    assert len(sizes) <= 8 * 12 and all(b <= padded(b) <= max(b + 1, 1.125 * b) for b in range(1, 4097))
    traced: list[int] = []

    def fn(x: Any, batch: Any) -> Any:
        traced.append(len(batch[1]))
        return in_jax(x, batch)

    f = dcopt.components(fn, rows(1000), shape=5)
    before = len(traced)
    for b in range(260, 300):
        f.take(np.arange(b)).all().grad(np.ones(5))
    assert len(set(traced[before:])) <= 3


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Missing())
import numpy as np, dcopt
def fn(x, batch):
    import {package}
    return {package}.exp(batch @ x)
try:
    dcopt.components(fn, np.eye(4), shape=4)
except dcopt.BadInput as error:
    print(error)
"""


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_q13_a_framework_that_is_missing_is_named(package: str) -> None:
    code = WITHOUT.format(names={"torch", "jax"}, package=package)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == f"fn: needs {package}, which is not installed: pip install 'dcopt[{package}]'"


def test_q14_neither_framework_is_imported_unless_it_is_used() -> None:
    code = """
import sys, numpy as np, dcopt
def fn(x, batch): return (batch @ x) ** 2
def grad(x, batch): return 2 * batch * (batch @ x)[:, None]
f = dcopt.components(fn, np.eye(4), shape=4, grad=grad)
dcopt.solve(dcopt.Problem(dcopt.convex.ScaledIdentity(2.0), f=f, r="l1"), "dca-page", steps=5)
dcopt.check(f)
print([name for name in ("torch", "jax") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
