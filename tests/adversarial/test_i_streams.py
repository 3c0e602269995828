"""I. Streams: memory, ends, bad blocks, sources that misbehave; and D11, what is said about a noisy run."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import tracemalloc
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from cuts import cut, function, samples

import dcopt
from dcopt import BadInput, BadSettings, NeedsFiniteSum, Status, iterate, solve, stream
from dcopt.estimators import ESTIMATORS, PAGE, SARAH, Fresh
from dcopt.losses import LOSSES
from dcopt.losses.base import Loss
from dcopt.measures import criticality, sample_bound
from dcopt.regularizers import Exponential
from dcopt.runs.stop import Passes, Samples, Steps

EXP = Exponential(lam=0.002, alpha=5.0)
SMALL = PAGE(p=0.2, b=16, b_small=4)
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])


# ---- I1: memory


def _grows(batches: int, warm_up: int, form: Any) -> tuple[float, set[int]]:
    """Bytes allocated after the warm-up and still held at the end, and the sizes of the states on the way."""
    X, y = samples(5000, 5)
    blocks = list(cut(X, y, 1000, form))
    sizes, start = set(), 0

    def watch(state: dcopt.State) -> None:
        nonlocal start
        if state.t == warm_up // 10:  # and then all blocks of draws, which are kept for 4096 steps, are replaced
            tracemalloc.start()
        if state.t == warm_up:
            start = tracemalloc.get_traced_memory()[0]
        if state.t % (batches // 5) == 0:
            sizes.add(sum(a.nbytes for a in (state.x, state.prev, *state.memory)))

    P = stream(cycle(blocks), "squared-sigmoid", "l1", holdout=64)
    try:
        result = solve(P, SMALL, steps=batches, seed=0, trace=None, callbacks=[watch])
        assert result.status is Status.BUDGET and result.steps == batches
        return tracemalloc.get_traced_memory()[0] - start, sizes
    finally:
        tracemalloc.stop()


@FORMS
def test_i1_memory_is_flat(form: Any) -> None:
    growth, sizes = _grows(20_000 if form is np.asarray else 8000, 5000, form)
    assert growth < 2**17 and len(sizes) == 1


@pytest.mark.slow
def test_i1_memory_is_flat_over_a_million_batches() -> None:
    growth, sizes = _grows(10**6, 5000, np.asarray)
    assert growth < 2**16 and len(sizes) == 1


def test_i1_one_large_block_is_let_go_when_used() -> None:
    import weakref

    alive = []

    def source() -> Iterator[Any]:
        for seed in range(30):
            X, y = samples(100, seed=seed)
            alive.append(weakref.ref(X))
            yield X, y

    solve(stream(source(), holdout=64), SMALL, samples=2500, seed=0)
    assert sum(ref() is not None for ref in alive) <= 2


# ---- I3: the end


@pytest.mark.parametrize("source", [lambda X, y: cut(X, y, 9), function, lambda X, y: [(X, y)]])
def test_i3_a_stream_may_end_anywhere(source: Any) -> None:
    X, y = samples(400)

    def first(n: int) -> dcopt.Problem:
        return stream(source(X[:n], y[:n]), regularizer=EXP, holdout=20)

    whole = list(islice(iterate(stream([(X, y)], regularizer=EXP, holdout=20), SMALL, seed=2), 30))
    ends = set()
    for extra in range(120):
        result = solve(first(20 + extra), SMALL, samples=10**6, seed=2)
        assert result.status is Status.OUT_OF_DATA and f"after {20 + extra} samples" in result.message
        fits = [s for s in whole if s.spent.paper <= extra]  # what is left of a batch is dropped
        assert result.steps == len(fits) and result.spent.paper <= extra
        np.testing.assert_array_equal(result.x, fits[-1].x if fits else np.zeros(5))
        assert np.isfinite(result.certificate.value) and result.certificate.at == "20" and not result.success
        ends.add(whole[len(fits)].spent.paper - extra)
        if extra % 40 == 0:
            assert len(list(iterate(first(20 + extra), SMALL, seed=2))) == len(fits)  # the researcher's loop just ends
    assert {1, 2, 3, 4, 16} <= ends  # in the middle of batches of both sizes, and between them


def test_i3_what_is_left_stays_in_the_stream() -> None:
    X, y = samples(120)
    P = stream([(X, y)], regularizer=EXP, holdout=20)
    assert solve(P, Fresh(30), samples=10**6, seed=0).spent.paper == 90
    after = solve(P, Fresh(4), samples=10**6, seed=0)
    assert after.status is Status.OUT_OF_DATA and after.spent.paper == 8 and P.f.stream.drawn == 118
    assert solve(P, Fresh(4), samples=10**6, seed=0).steps == 0


def test_i3_too_short_for_the_held_out_sample() -> None:
    X, y = samples(50)
    for source in ([(X, y)], function(X, y), [], iter(()), lambda b: None):
        with pytest.raises(BadInput, match="holdout") as caught:
            stream(source, holdout=51)
        assert caught.value.argument == "source"
    assert stream([(X, y)], holdout=50).n is None


def test_i3_a_tolerance_met_when_the_data_ends_is_said() -> None:
    X, y = samples(400)
    result = solve(stream([(X, y)], holdout=200), SMALL, samples=10**6, seed=0, loose_tol=10.0)
    assert result.status is Status.ACCEPTABLE and "ended" in result.message


# ---- I4: bad rows


def _spoil(X: np.ndarray, y: np.ndarray, how: str, row: int) -> tuple[Any, Any, int | None]:
    X, y = X.copy(), y.copy()
    if how == "width":
        return np.hstack([X, X[:, :1]]), y, None
    if how == "label":
        y[row] = 7.0
        return X, y, None
    X[row, 2] = {"nan": np.nan, "inf": -np.inf, "huge": 1e200}[how]
    return X, y, 2


@FORMS
@pytest.mark.parametrize("how", ["nan", "inf", "huge", "width", "label"])
@pytest.mark.parametrize("way", ["blocks", "function"])
def test_i4_a_bad_block_is_named_and_leaves_all_as_it_was(form: Any, how: str, way: str) -> None:
    k = 1000 if form is np.asarray else 200
    X, y = samples(2 * k + 100, 4)
    blocks = [(X[i : i + 2], y[i : i + 2]) for i in range(0, len(y), 2)]
    A, b, column = _spoil(*blocks[k], how, 1)
    bad = [(form(X), y) for X, y in [*blocks[:k], (A, b), *blocks[k + 1 :]]]
    good = [(form(X), y) for X, y in blocks[:k] + blocks[k + 1 :]]
    options = {"regularizer": EXP, "holdout": 20, "classes": [-1, 1]}

    def source(blocks: list[Any]) -> Any:
        left = iter(blocks)
        return left if way == "blocks" else lambda b: next(left)

    P = stream(source(bad), **options)
    result = solve(P, SMALL, samples=10**6, seed=0)
    error = result.error
    assert result.status is Status.INTERRUPTED and isinstance(error, BadInput) and f"block {k}" in result.message
    assert error.argument.startswith(f"block {k}: ") and error.column == column
    assert error.row == (None if how == "width" else 1)
    whole = list(iterate(stream(source(good), **options), SMALL, seed=0))
    np.testing.assert_array_equal(result.x, whole[result.steps - 1].x)
    assert result.spent.paper <= 2 * k - 20 < whole[result.steps].spent.paper
    # the same stream goes on after the bad block, as if that had not been there
    rest = list(iterate(P, SMALL, seed=0, state=result.state))
    assert len(rest) == len(whole) - result.steps > 3
    np.testing.assert_array_equal(rest[-1].x, whole[-1].x)
    with pytest.raises(BadInput, match=f"block {k}"):
        list(iterate(stream(source(bad), **options), SMALL, seed=0))


@FORMS
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [1, 7, 100, 700])
def test_i4_bad_rows_are_skipped_and_counted(form: Any, known: bool, sizes: int) -> None:
    X, y = samples(700, 4)
    rng = np.random.default_rng(5)
    bad = rng.random(700) < 0.2
    A, b = X.copy(), y.copy()
    for i in np.flatnonzero(bad):
        if i % 3 == 0 and i >= 200:  # in the held-out sample an unknown label would be a class
            b[i] = 5.0
        else:
            A[i, i % 4] = [np.nan, np.inf, 1e300][i % 3]
    options = {"regularizer": EXP, "holdout": 100, "classes": [-1, 1] if known else None}
    P, Q = stream(cut(A, b, sizes, form), on_bad="skip", **options), stream(cut(X[~bad], y[~bad], 50, form), **options)
    one, two = (solve(Z, SMALL, samples=10**6, seed=0) for Z in (P, Q))
    assert one.status is two.status is Status.OUT_OF_DATA and one.steps == two.steps > 20
    np.testing.assert_array_equal(one.x, two.x)
    assert P.f.stream.skipped == bad.sum() and f"{bad.sum()} bad rows were skipped" in str(one)
    assert not two.notes or "skipped" not in str(two)


def test_i4_whole_blocks_are_skipped_too() -> None:
    X, y = samples(300, 4)
    wrong: list[Any] = [
        (np.zeros((5, 3)), y[:5]), (X[:5], y[:4]), (X[:5, 0], y[:5]), ([[1.0, 2.0], [3.0]], [1, -1]), (X[:2], None), 7,
        (np.full((3, 4), "a"), y[:3]), (np.zeros((2, 4), complex), y[:2]),
    ]  # fmt: skip
    pieces = list(cut(X, y, 50))
    mixed = [*pieces[:3], *wrong[:5], *wrong[6:], *pieces[3:]]
    P = stream(mixed, "logistic", holdout=100, on_bad="skip", classes=[-1, 1])
    result = solve(P, SMALL, samples=10**6, seed=0)
    want = solve(stream(pieces, "logistic", holdout=100), SMALL, samples=10**6, seed=0)
    np.testing.assert_array_equal(result.x, want.x)
    assert P.f.stream.skipped == 5 + 5 + 5 + 2 + 2 + 3 + 2
    for k, block in enumerate(wrong):
        P = stream([*pieces[:3], block, *pieces[3:]], "logistic", holdout=100, classes=[-1, 1])
        end = solve(P, SMALL, samples=10**6, seed=0)
        assert isinstance(end.error, BadInput) and "block 3" in end.message, k


def test_i4_in_the_first_block() -> None:
    X, y = samples(60, 4)
    A = X.copy()
    A[3, 1] = np.nan
    with pytest.raises(BadInput) as caught:
        stream([(A, y)], holdout=20)
    assert (caught.value.argument, caught.value.row, caught.value.column) == ("block 0: X", 3, 1)
    assert stream([(A, y)], holdout=59, on_bad="skip").shape == (4,)
    with pytest.raises(BadInput, match="has 4 columns, the stream has 5"):
        stream([(X, y)], holdout=20, n_features=5)
    assert stream([(np.zeros((9, 3)), y[:9]), (X, y)], holdout=20, n_features=4, on_bad="skip").f.stream.skipped == 9


# ---- labels and classes


@pytest.mark.parametrize("names", [("no", "yes"), (0, 1), (False, True), (b"a", b"b"), (3, 10)])
def test_labels_come_from_the_held_out_sample_or_are_declared(names: tuple[Any, Any]) -> None:
    X, y = samples(200)
    said = np.where(y > 0, np.array(names[1]), np.array(names[0]))
    found, given = stream(cut(X, said, 30), holdout=50), stream(cut(X, said, 30), holdout=50, classes=names)
    plain = stream(cut(X, y, 30), holdout=50)
    assert found.classes.tolist() == given.classes.tolist() == list(names)
    for P in (given, plain):
        np.testing.assert_array_equal(solve(found, steps=0).x, solve(P, steps=0).x)
    a, b, c = (solve(P, SMALL, samples=120, seed=0).x for P in (found, given, plain))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)


def test_one_class_in_the_held_out_sample_needs_the_others_declared() -> None:
    X, y = samples(200)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    with pytest.raises(BadInput, match="1 class"):
        stream(cut(X, y, 30), holdout=20)
    assert stream(cut(X, y, 30), holdout=20, classes=[1, -1]).classes.tolist() == [-1, 1]
    for bad in ([1], [1, 2, 3], [1, 1]):
        with pytest.raises(BadInput, match="classes"):
            stream(cut(X, y, 30), holdout=20, classes=bad)
    assert stream(cut(X, y, 30), "softmax", holdout=20, classes=[-1, 1, 5]).shape == (5, 3)


def test_an_unknown_label_waiting_in_the_first_block_is_found() -> None:
    X, y = samples(200)
    y[150] = 4.0
    with pytest.raises(BadInput, match="4.0 is not one of the classes") as caught:
        stream([(X, y)], holdout=20)
    assert caught.value.row == 150
    assert stream([(X, y)], holdout=20, on_bad="skip").f.stream.skipped == 1


@pytest.mark.parametrize("labels", [["a", "b"], [None, 1], [np.nan, 1.0], [[1], [2]], [1.5, 1.0], [{}, 1]])
def test_labels_of_another_kind_are_refused_by_row(labels: list[Any]) -> None:
    X, y = samples(100)
    bad = np.empty(2, object)
    bad[:] = labels
    for y_bad in (bad, labels):
        P = stream([(X, y), (X[:2], y_bad)], holdout=50, classes=[-1, 1])
        error = solve(P, Fresh(40), samples=10**4, seed=0).error
        assert isinstance(error, BadInput) and "block 1: y" in str(error)


# ---- I5, I6: sources that misbehave


@FORMS
def test_i5_a_source_may_use_one_buffer_for_all_blocks(form: Any) -> None:
    X, y = samples(700, 4)

    def reusing() -> Iterator[Any]:
        A, b = np.empty((10, 4)), np.empty(10)
        for i in range(0, 700, 10):
            A[:], b[:] = X[i : i + 10], y[i : i + 10]
            yield form(A) if form is np.asarray else _view(form(A)), b
            A[:], b[:] = np.nan, 0.0

    def _view(a: Any) -> Any:
        last.append(a)
        if len(last) > 1:
            last[-2].data[:], last[-2].indices[:] = np.nan, 0
        return a

    last: list[Any] = []
    sources = reusing(), cut(X, y, 10, form)
    one, two = (solve(stream(s, regularizer=EXP, holdout=64), SMALL, samples=600, seed=0) for s in sources)
    np.testing.assert_array_equal(one.x, two.x)
    assert one.steps == two.steps > 50


def test_i5_and_may_change_it_between_two_steps() -> None:
    X, y = samples(700, 4)
    A, b = X.copy(), y.copy()

    def wipe(state: dcopt.State) -> None:
        A[:], b[:] = np.nan, 0.0

    one = solve(stream([(A, b)], regularizer=EXP, holdout=64), SMALL, samples=600, seed=0, callbacks=[wipe])
    two = solve(stream([(X, y)], regularizer=EXP, holdout=64), SMALL, samples=600, seed=0)
    np.testing.assert_array_equal(one.x, two.x)


def test_i6_a_source_that_raises() -> None:
    X, y = samples(300)

    def failing() -> Iterator[Any]:
        yield from cut(X[:200], y[:200], 20)
        raise OSError("the wire is cut")

    result = solve(stream(failing(), regularizer=EXP, holdout=20), SMALL, samples=10**6, seed=0)
    assert result.status is Status.INTERRUPTED and isinstance(result.error, OSError) and "wire" in result.message
    whole = list(islice(iterate(stream(cut(X, y, 20), regularizer=EXP, holdout=20), SMALL, seed=0), result.steps))
    np.testing.assert_array_equal(result.x, whole[-1].x)
    assert result.state.t == result.steps == len(whole) > 5
    with pytest.raises(OSError, match="wire"):
        list(iterate(stream(failing(), regularizer=EXP, holdout=20), SMALL, seed=0))
    with pytest.raises(OSError, match="wire"):
        stream(failing(), holdout=250)


def test_i6_a_function_that_fails_now_and_then_can_be_asked_again() -> None:
    X, y = samples(300)
    inner, calls = function(X, y), 0

    def flaky(b: int) -> Any:
        nonlocal calls
        calls += 1
        if calls % 7 == 0:
            raise TimeoutError
        return inner(b)

    P = stream(flaky, regularizer=EXP, holdout=20)
    result = solve(P, SMALL, samples=10**6, seed=0)
    assert isinstance(result.error, TimeoutError) and result.steps > 0
    state, failures, ended = result.state, 1, False
    while not ended:
        try:
            for new in iterate(P, SMALL, seed=0, state=state):
                state = new
            ended = True
        except TimeoutError:
            failures += 1
    whole = list(iterate(stream([(X, y)], regularizer=EXP, holdout=20), SMALL, seed=0))
    assert state.t == len(whole) and failures == calls // 7 > 3
    np.testing.assert_array_equal(state.x, whole[-1].x)


def test_i6_an_error_that_is_not_the_sources_is_not_swallowed() -> None:
    class Mine(Exception):
        pass

    def broken(G: Any, r: Any, y: Any, warm: Any, tol: float) -> Any:
        raise Mine

    with pytest.raises(Mine):
        solve(stream([samples(300)], holdout=20), SMALL, samples=100, seed=0, subsolver=broken)


def test_i6_a_slow_source_and_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    X, y = samples(3000)

    def slow() -> Iterator[Any]:
        nonlocal now
        for block in cut(X, y, 16):
            now += 1.0
            yield block

    for module in ("driver", "run"):
        monkeypatch.setattr(f"dcopt.runs.{module}.clock", lambda: now)
    result = solve(stream(slow(), holdout=16), Fresh(16), seconds=20.0, seed=0)
    assert result.status is Status.TIME and result.steps == 20 and result.seconds == 20.0


def test_i6_ctrl_c_while_the_source_blocks() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = samples(300)

    def blocking() -> Iterator[Any]:
        yield from cut(X[:200], y[:200], 20)
        signal.raise_signal(signal.SIGINT)  # as a user would who waits for the next block
        yield X, y

    try:
        result = solve(stream(blocking(), regularizer=EXP, holdout=20), SMALL, samples=10**6, seed=0)
        assert result.status is Status.INTERRUPTED and "Ctrl-C" in result.message and result.error is None
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and result.steps > 5
    finally:
        signal.signal(signal.SIGINT, before)


def _blocking(X: Any, y: Any) -> Iterator[Any]:
    yield X, y
    time.sleep(60.0)
    yield X, y


def _empty(X: Any, y: Any) -> Iterator[Any]:
    yield X, y
    while True:
        yield X[:0], y[:0]


def _spoilt(X: Any, y: Any) -> Iterator[Any]:
    yield X, y
    while True:
        yield np.full((100, X.shape[1]), np.nan), y[:100]


ENDLESS = pytest.mark.parametrize("source", [_blocking, _empty, _spoilt])


@ENDLESS
def test_m5_a_time_limit_acts_while_a_stream_gives_nothing(source: Any) -> None:
    X, y = samples(300)
    P, began = stream(source(X, y), "logistic", holdout=64, classes=[-1.0, 1.0], on_bad="skip"), time.monotonic()
    result = solve(P, SMALL, samples=10**6, seconds=0.3, seed=0)
    assert result.status is Status.TIME and "waiting for the stream" in result.message and result.steps > 5
    assert 0.3 <= time.monotonic() - began < 20.0 and np.isfinite(result.x).all()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@pytest.mark.parametrize("source", [_empty, _spoilt])
def test_m5_between_two_blocks_in_any_thread(source: Any) -> None:
    X, y = samples(300)
    P = stream(source(X, y), "logistic", holdout=64, classes=[-1.0, 1.0], on_bad="skip")
    ended: list[dcopt.Result] = []
    thread = threading.Thread(target=lambda: ended.append(solve(P, SMALL, samples=10**6, seconds=0.2, seed=0)))
    thread.start()
    thread.join(30.0)
    assert ended and ended[0].status is Status.TIME


def test_m5_the_callers_own_alarm_is_left_alone() -> None:
    heard: list[int] = []
    X, y = samples(300)
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        P = stream(_empty(X, y), "logistic", holdout=64, classes=[-1.0, 1.0])
        assert solve(P, SMALL, samples=10**6, seconds=0.3, seed=0).status is Status.TIME and heard == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)


@ENDLESS
def test_m5_the_first_ctrl_c_ends_a_run_that_waits(source: Any) -> None:
    """Blocks that hold nothing to use were asked for without end: the first Ctrl-C was noted, and never read."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = samples(300)
    P = stream(source(X, y), "logistic", holdout=64, classes=[-1.0, 1.0], on_bad="skip")
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        result = solve(P, SMALL, samples=10**6, seed=0)
        assert result.status is Status.INTERRUPTED and "Ctrl-C" in result.message and result.steps > 5
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_i6_sizes_and_types_may_change() -> None:
    X, y = samples(900, 4)
    X = np.round(X * 8)  # exact in every type
    kinds = [np.float64, np.float32, np.int8, np.float16, ">f8", np.longdouble, object]
    forms = [np.asarray, sp.csr_array, sp.coo_array, np.asfortranarray, sp.bsr_array, lambda a: a.tolist()]

    def changing() -> Iterator[Any]:
        at, k = 0, 0
        while at < 900:
            size = 1 + (7 * k) % 50
            kind = kinds[k % len(kinds)]
            form = forms[k % len(forms)] if kind in (np.float64, np.float32, np.int8) else np.asarray
            yield form(X[at : at + size].astype(kind)), y[at : at + size].astype(kinds[(k + 2) % 2])
            at, k = at + size, k + 1

    sources = changing(), [(X, y)]
    one, two = (solve(stream(s, regularizer=EXP, holdout=64), SMALL, samples=800, seed=0) for s in sources)
    np.testing.assert_array_equal(one.x, two.x)
    assert one.steps == two.steps > 50


def test_i6_float64_that_float32_cannot_hold_is_refused() -> None:
    X, y = samples(100, 3)
    wide = X.copy()
    wide[1, 2] = 1e60
    for form in (np.asarray, sp.csr_array):
        P = stream([(form(X.astype(np.float32)), y), (form(wide), y)], holdout=50)
        error = solve(P, Fresh(30), samples=10**4, seed=0).error
        assert isinstance(error, BadInput) and (error.row, error.column) == (1, 2)


@pytest.mark.parametrize("bad", [(np.zeros((2, 2)), np.zeros(2)), 3, None, object()])
def test_i6_what_is_no_source(bad: Any) -> None:
    with pytest.raises(BadInput, match="source"):
        stream(bad)


@pytest.mark.parametrize(
    ("setting", "bad"), [("holdout", 1), ("holdout", 2.5), ("n_features", 0), ("on_bad", "ignore"), ("kappa", -1)]
)
def test_i6_settings_are_checked(setting: str, bad: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        stream([samples(2000)], **{setting: bad})
    assert caught.value.setting == setting


# ---- I7: what needs a finite sum


@pytest.mark.parametrize("method", [m for m in dcopt.METHODS if m not in ("dca-page", "online-dca")])
def test_i7_methods_that_need_a_finite_sum_say_which_do_not(method: str) -> None:
    P = stream([samples(300)], holdout=20)
    for call in (lambda: solve(P, method, samples=100), lambda: iterate(P, method)):
        with pytest.raises(NeedsFiniteSum, match="online-dca") as caught:
            call()
        assert caught.value.instead in dcopt.METHODS
    assert P.f.stream.drawn == 20  # nothing was drawn


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n != "fresh"])
def test_i7_estimators_too(name: str) -> None:
    P = stream([samples(300)], holdout=20)
    with pytest.raises(NeedsFiniteSum, match="online-dca"):
        solve(P, ESTIMATORS[name], samples=100)
    with pytest.raises(NeedsFiniteSum):
        P.f.all()


@pytest.mark.parametrize("method", ["dca-page", "online-dca", SMALL, SARAH(b=16, b_small=4, period=5), Fresh(8)])
def test_i7_what_works_on_a_stream(method: Any) -> None:
    result = solve(stream([samples(4000)], regularizer=EXP, holdout=200), method, samples=3000, seed=0)
    assert result.status is Status.BUDGET and 3000 <= result.spent.paper <= result.spent.gradients
    assert result.certificate.F < result.trace["F"][0] - 0.005


@pytest.mark.parametrize(
    "options",
    [{"passes": 3}, {"passes": 3, "samples": 100}, {"stop": Passes(3)}, {"stop": Steps(3) | Passes(3)}, {}],
)
def test_i7_a_stream_has_no_passes(options: dict[str, Any]) -> None:
    with pytest.raises(BadSettings, match="samples=") as caught:
        solve(stream([samples(300)], holdout=20), SMALL, **options)
    assert caught.value.setting == ("passes" if options else "samples")


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "many"])
def test_i7_budgets_of_samples_are_checked(bad: Any) -> None:
    for call in (lambda: Samples(bad), lambda: solve(stream([samples(300)], holdout=20), SMALL, samples=bad)):
        with pytest.raises(BadSettings, match="samples"):
            call()


def test_i7_the_trace_doubles_and_a_budget_is_kept_to_one_batch() -> None:
    P = stream(function(*samples(30_000)), regularizer=EXP, holdout=64)
    result = solve(P, SMALL, samples=20_000, seed=0)
    counts = result.trace["paper"]
    assert counts[:2] == [0, 16] and all(b >= 2 * a for a, b in zip(counts[1:-2], counts[2:-1], strict=True))
    assert len(counts) <= 14 and 20_000 <= result.spent.paper < 20_016 and result.trace["passes"] == counts
    Q = stream(function(*samples(3000)), regularizer=EXP, holdout=64)
    even = solve(Q, SMALL, samples=2000, seed=0, trace=500)
    assert len(even.trace) in (5, 6)
    assert solve(P, SMALL, samples=0, seed=0).steps == 0


# ---- I8: both gradients of a correction


class Noting(Loss):
    """Labels are numbers of samples: notes which were asked for, and at how many points."""

    labels = "real"

    def __init__(self) -> None:
        self.of, self.seen = LOSSES["cauchy"], []

    curvature = property(lambda self: self.of.curvature)

    def value(self, z: Any, labels: Any) -> Any:
        return self.of.value(z, labels * 0.0)

    def slope(self, z: Any, labels: Any) -> Any:
        self.seen.append((tuple(int(v) for v in labels), 1 if z.ndim == 1 else len(z)))
        return self.of.slope(z, labels * 0.0)

    def bend(self, z: Any, labels: Any) -> Any:
        return self.of.bend(z, labels * 0.0)


@FORMS
@pytest.mark.parametrize("sizes", [1, 7, 1000])
def test_i8_a_correction_sees_the_same_samples_twice_and_no_sample_is_seen_later(form: Any, sizes: int) -> None:
    X, _ = samples(3000, 4)
    loss = Noting()
    P = stream(cut(X, np.arange(3000.0), sizes, form), loss, holdout=20)
    loss.seen.clear()
    states = list(islice(iterate(P, SMALL, seed=0), 200))
    assert len(loss.seen) == 200
    at = 20
    for rows, points in loss.seen:
        assert rows == tuple(range(at, at + len(rows)))  # fresh, in order, none left out
        assert (len(rows), points) in {(16, 1), (4, 2)}
        at += len(rows)
    assert {len(rows) for rows, _ in loss.seen} == {4, 16} and states[-1].spent.paper == at - 20


# ---- kappa from a sample


def test_a_kappa_that_was_too_small_is_said() -> None:
    X, y = samples(2000, 4)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    X[0] = [1.0, 0.0, 0.0, 0.0]
    big = X.copy()
    big[500:510] *= 3.0 / np.linalg.norm(big[500:510], axis=1, keepdims=True)
    for intercept, more in ((False, 9.0), (True, 5.0)):
        P = stream([(big, y)], "logistic", holdout=100, intercept=intercept)
        assert P.G.L == pytest.approx(0.25 * (1.0 + intercept)) and "estimated from 100 samples" in P.constants.how
        result = solve(P, SMALL, samples=1500, seed=0)
        assert f"too small for 10 later ones: the largest needs {more:.3g} times" in str(result)
    assert solve(stream([(X, y)], "logistic", holdout=100), SMALL, samples=1500, seed=0).notes == ()
    given = solve(stream([(big, y)], "logistic", holdout=100, kappa=1.0), SMALL, samples=1500, seed=0)
    assert given.notes == ()


# ---- D11: what is said about a noisy run


def test_d11_never_converged_and_acceptable_is_true() -> None:
    """σ is large, b is small. f = ½ E(⟨a, x⟩ − y)², a normal: ∇f(x) = x − x*, so the truth is known."""
    best, tol = np.array([1.0, -1.0, 0.5]), 4.0
    ends: list[Status] = []
    wrong = over = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)

        def draw(b: int, rng: Any = rng) -> Any:
            X = rng.standard_normal((b, 3))
            return X, X @ best + 4.0 * rng.standard_normal(b)

        P = stream(draw, "squared", holdout=64)
        start = best + [6.0, 0.0, 0.0]
        result = solve(P, Fresh(16), atol=tol, measure="criticality", samples=8000, seed=seed, x0=start, trace=None)
        ends.append(result.status)
        truth, said = np.linalg.norm(result.x - best), result.certificate
        assert said.at == "64" and said.confidence == 0.95 and said.spread is not None and said.spread > 1.0
        assert said.bound == pytest.approx(said.value + said.spread / math.sqrt(64 * 0.05))
        assert said.value == pytest.approx(criticality(P, result.x))
        assert "a sample of 64, spread" in str(result) and "95% confidence" in str(result)
        assert (result.status is Status.ACCEPTABLE) == (said.bound <= tol)
        wrong += result.status is Status.ACCEPTABLE and truth > tol
        over += truth > said.bound
    assert set(ends) <= {Status.ACCEPTABLE, Status.STALLED, Status.BUDGET}
    assert 10 <= ends.count(Status.ACCEPTABLE) and ends.count(Status.STALLED) + ends.count(Status.BUDGET) >= 10
    assert wrong <= 5 and over <= 5


def test_d11_not_even_at_the_exact_solution() -> None:
    """No noise at all: d̂ = 0 and σ̂ = 0, and still a sample is only a sample."""
    X = np.random.default_rng(0).standard_normal((3000, 3))
    P = stream([(X, X @ np.ones(3))], "squared", holdout=64)
    result = solve(P, SMALL, tol=1e-9, samples=2900, seed=0, x0=np.ones(3))
    assert result.status is Status.ACCEPTABLE and result.steps == 0 and result.certificate.bound <= 1e-9
    assert sample_bound(P, "gap", P.examine(np.zeros(3)), 1.0).bound > 1.0
