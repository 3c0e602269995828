"""J: parts on the workers of a real cluster, in processes of their own. Bits do not depend on how many there are."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.data.check import as_rows
from dcopt.regularizers import SCAD
from dcopt.sums import Given, Here, PartData, Parted

distributed = pytest.importorskip("distributed", reason="distributed is not installed (make extras)")
da = pytest.importorskip("dask.array", reason="dask.array is not installed (make extras)")

from dcopt.sums.dask_parts import DaskHomes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, about ports and the time that workers take to begin
SIZES = (130, 0, 1, 200, 69, 100, 100)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Four workers with a process each, which come back when they are killed"""
    import dask

    patient = {"distributed.scheduler.allowed-failures": 1000, "distributed.deploy.lost-worker-timeout": "1h"}
    with dask.config.set(patient):
        with workers_of(4) as made, distributed.Client(made, set_as_default=False) as client:
            yield client


def workers_of(count: int) -> Any:
    return distributed.LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None)


def data(kind: str = "sparse") -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((sum(SIZES), 30)) * (rng.random((sum(SIZES), 30)) < (0.2 if kind == "sparse" else 1.0))
    score = X @ np.where(np.arange(30) % 5 == 0, 1.5, 0.0) + 0.5 * rng.standard_normal(len(X))
    y = np.sort(np.digitize(score, [-0.5, 0.5])) if kind == "softmax" else np.where(score > 0.0, 1, 0)
    return csr_array(X) if kind == "sparse" else X, y


def loads(kind: str = "sparse") -> list[Given]:
    """Parts of very different sizes: one is empty, and with softmax most lack a class."""
    X, y = data(kind)
    rows, ends = as_rows(X), np.cumsum((0, *SIZES))
    cuts = [np.arange(low, high) for low, high in zip(ends, ends[1:], strict=False)]
    return [Given(PartData(rows.take(cut), y[cut])) for cut in cuts]


def problem(homes: Any, kind: str = "sparse") -> dcopt.Problem:
    loss = "softmax" if kind == "softmax" else "logistic"
    return dcopt.erm(Parted(homes), None, loss, SCAD(lam=0.01), intercept=True)


def there(client: Any, count: int | None = None, kind: str = "sparse", patience: float = 60.0) -> DaskHomes:
    client.wait_for_workers(2 if count is None else count, timeout=120)  # Those that were killed come back.
    some = None if count is None else sorted(client.scheduler_info(n_workers=-1)["workers"])[:count]
    return DaskHomes(client, loads(kind), None, patience, workers=some)


def alike(got: dcopt.Result, want: dcopt.Result) -> bool:
    same = [np.array_equal(got.x, want.x), got.status is want.status, got.steps == want.steps]
    mine, theirs = (repr([line._replace(seconds=0.0) for line in result.trace]) for result in (got, want))  # NaN is NaN
    return all(same) and vars(got.spent) == vars(want.spent) and mine == theirs


@pytest.mark.parametrize("workers", (1, 2, 4))
@pytest.mark.parametrize("kind", ("sparse", "dense", "softmax"))
def test_j6_bits_do_not_depend_on_the_number_of_workers(cluster: Any, workers: int, kind: str) -> None:
    here = problem(Here.of(loads(kind)), kind)
    for method in ("auto", "dca", "dca-page"):
        options = {"passes": 8, "seed": 2, "tol": 1e-6}
        want = dcopt.solve(here, method, **options)
        homes = there(cluster, workers, kind)
        assert alike(dcopt.solve(problem(homes, kind), method, **options), want)
        assert len(set(homes.owners.values())) == workers


@pytest.mark.parametrize("workers", (1, 2, 4))
def test_j6_a_classifier_has_the_same_bits_too(cluster: Any, workers: int) -> None:
    def fitted(homes: Any) -> dcopt.DCClassifier:
        return dcopt.DCClassifier(penalty="scad", random_state=0, tol=1e-4).fit(Parted(homes))

    want, got = fitted(Here.of(loads())), fitted(there(cluster, workers))
    assert np.array_equal(got.coef_, want.coef_) and np.array_equal(got.intercept_, want.intercept_)
    assert got.n_iter_ == want.n_iter_ and np.array_equal(got.classes_, want.classes_)


def test_shards_are_read_by_the_workers(cluster: Any, tmp_path: Path) -> None:
    X, y = data()
    dcopt.pack([(X[k : k + 200], y[k : k + 200]) for k in (0, 200, 400)], tmp_path / "set", shard_mb=0.01)
    here, far = (dcopt.open(tmp_path / "set", client=client) for client in (None, cluster))
    assert len(here.shards) > 3
    for method in ("auto", "dca-page"):
        want, got = (
            dcopt.solve(dcopt.erm(S, loss="logistic", regularizer=SCAD(lam=0.01)), method, passes=5, seed=1, tol=0.0)
            for S in (here, far)
        )
        assert alike(got, want)


@pytest.mark.parametrize("method", ("dca-page", "sdca", "dca-saga"))
def test_j7_rows_fetched_ahead_give_the_bits_of_a_round_trip_a_step(cluster: Any, method: str) -> None:
    homes = there(cluster, 2)
    plain = there(cluster, 2)
    plain.ahead = 1
    many, one = (dcopt.solve(problem(h), method, passes=5, seed=4, tol=0.0) for h in (homes, plain))
    assert alike(many, one)
    assert homes.rounds < (0.5 if method == "dca-page" else 1.0) * plain.rounds


def test_j7_importance_sampling_is_fetched_ahead_too(cluster: Any) -> None:
    from dcopt.estimators import PAGE

    page = PAGE(p=0.1, b_small=20, sampling="importance")
    want = dcopt.solve(problem(Here.of(loads())), page, passes=4, seed=4, tol=0.0)
    assert alike(dcopt.solve(problem(there(cluster, 3)), page, passes=4, seed=4, tol=0.0), want)


def victims(client: Any) -> dict[str, int]:
    return dict(client.run(os.getpid))


class Killer:
    """Kills the process of a worker that owns parts, in the k-th round, when its calls are under way."""

    def __init__(self, client: Any, homes: DaskHomes, rounds: tuple[int, ...], how: Any = None) -> None:
        self.client, self.homes, self.rounds, self.seen, self.killed = client, homes, set(rounds), 0, 0
        self.how = how or (lambda pid: os.kill(pid, signal.SIGKILL))
        begin = homes._begin

        def watched(*args: Any) -> Any:
            finish = begin(*args)
            self.seen += 1
            if self.seen in self.rounds:
                self.strike()
            return finish

        homes._begin = watched  # type: ignore[method-assign]

    def strike(self) -> None:
        owners = sorted(set(self.homes.owners.values()))
        address = owners[self.seen % len(owners)]
        pid = victims(self.client).get(address)
        if pid is not None:
            self.how(pid)
            self.killed += 1


SLOW = pytest.mark.slow
KILLS = (("dca-page", (3, 8, 12)), pytest.param("auto", (3, 9), marks=SLOW), pytest.param("dca", (2, 5, 7), marks=SLOW))


@pytest.mark.parametrize(("method", "rounds"), KILLS)
def test_j1_a_killed_worker_leaves_the_bits(cluster: Any, method: str, rounds: tuple[int, ...]) -> None:
    options = {"passes": 8, "seed": 2, "tol": 0.0}
    want = dcopt.solve(problem(Here.of(loads())), method, **options)
    homes = there(cluster)
    P = problem(homes)
    killer = Killer(cluster, homes, rounds)
    assert alike(dcopt.solve(P, method, **options), want)
    assert killer.killed >= 2


def test_j6_a_stopped_worker_costs_seconds_and_no_bits(cluster: Any) -> None:
    want = dcopt.solve(problem(Here.of(loads())), "dca", passes=6, seed=2, tol=0.0)

    def pause(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(2.0, os.kill, (pid, signal.SIGCONT)).start()

    homes = there(cluster, 2)
    P = problem(homes)
    killer = Killer(cluster, homes, (4,), pause)
    assert alike(dcopt.solve(P, "dca", passes=6, seed=2, tol=0.0), want) and killer.killed == 1


def test_a_worker_that_joins_late_takes_the_parts_of_a_lost_one(cluster: Any) -> None:
    homes = there(cluster)
    homes._allowed = frozenset(sorted(cluster.scheduler_info(n_workers=-1)["workers"])[:1])
    P = problem(homes)
    first = set(homes.owners.values())
    want = P.f.look(np.ones(P.shape)).grad
    homes._allowed = None
    os.kill(victims(cluster)[first.pop()], signal.SIGKILL)
    assert np.array_equal(P.f.look(np.ones(P.shape)).grad, want)
    assert len(set(homes.owners.values())) > 1


@pytest.mark.parametrize("method", ("dca", pytest.param("dca-page", marks=SLOW), pytest.param("dca-local", marks=SLOW)))
def test_j2_all_workers_and_the_scheduler_lost(method: str, tmp_path: Path) -> None:
    """The checkpoint is one of this machine: the run goes on without Dask, to the same bits."""
    options = {"passes": 40, "seed": 2, "tol": 0.0}
    want = dcopt.solve(problem(Here.of(loads())), method, **options)
    with workers_of(2) as made, distributed.Client(made, set_as_default=False) as client:
        P = problem(there(client, patience=0.5))

        def end(state: Any) -> None:
            if state.t == 4:
                made.close()

        with pytest.raises((dcopt.LostWorkers, dcopt.BadSettings), match="resumed"):
            dcopt.solve(P, method, checkpoint=tmp_path / "run", every=0.0, callbacks=[end], **options)
    assert alike(dcopt.resume(tmp_path / "run", problem(Here.of(loads()))), want)


def test_a_run_begun_here_goes_on_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    want = dcopt.solve(problem(Here.of(loads())), "dca-page", passes=12, seed=2, tol=0.0)
    dcopt.solve(problem(Here.of(loads())), "dca-page", passes=5, seed=2, tol=0.0, checkpoint=tmp_path / "run")
    assert np.array_equal(dcopt.resume(tmp_path / "run", problem(there(cluster, 2)), passes=12).x, want.x)


def test_ctrl_c_leaves_the_cluster_usable(cluster: Any) -> None:
    homes = there(cluster, 2)
    P = problem(homes)

    def stop(state: Any) -> None:
        if state.t == 3:
            signal.raise_signal(signal.SIGINT)

    result = dcopt.solve(P, "dca", passes=50, seed=2, tol=0.0, callbacks=[stop])
    assert result.status is dcopt.Status.INTERRUPTED
    again = dcopt.solve(P, "dca", passes=6, seed=2, tol=0.0)
    assert alike(again, dcopt.solve(problem(Here.of(loads())), "dca", passes=6, seed=2, tol=0.0))
    assert cluster.submit(sum, [1, 2]).result() == 3


def raising() -> Any:
    raise FileNotFoundError("part.bin is gone")


def wrong_label() -> Any:
    return np.ones((4, 30)), np.array([0.0, 1.0, np.nan, 1.0])


def test_j8_an_error_in_a_part_names_it(cluster: Any) -> None:
    for load, kind, words in ((raising, FileNotFoundError, "is gone"), (wrong_label, dcopt.BadInput, "part 1: is nan")):
        with pytest.raises(kind, match=words) as caught:
            dcopt.erm(dcopt.from_dask([Ones(), load], client=cluster), loss="logistic")
        assert "in part 1" in caught.value.__notes__[0] and "on the worker tcp" in caught.value.__notes__[0]


class Ones:
    """A part that its worker makes: nothing of it is sent."""

    def __call__(self) -> Any:
        return np.eye(6, 30), np.array([0, 1, 0, 1, 0, 1])


def test_bad_input_is_a_sentence(cluster: Any) -> None:
    X, y = data("dense")
    A, b = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    with distributed.Client(cluster.scheduler.address, set_as_default=False) as own:
        parts = dcopt.from_dask(A, b, client=own)
        P = dcopt.erm(parts, loss="logistic")
    with pytest.raises(dcopt.BadSettings, match="client that is closed.*resumed from its checkpoint"):
        dcopt.solve(P, "dca", passes=2)
    with pytest.raises(dcopt.BadSettings, match="client"):
        dcopt.from_dask(A, b, client=own)
    for X_, y_, words in (
        (A[A[:, 0] > 0.0], b, "X: has chunks of unknown sizes: call compute_chunk_sizes"),
        (A.rechunk((100, 7)), b, "is cut into 5 blocks of columns: call X.rechunk"),
        (A, b.rechunk(50), "y: has blocks of 50, 50, 50, … rows, X of 100, 100, 100, …"),
        (A, None, "y: is None"),
        (A, y, "y: is an ndarray: expected an array of Dask's"),
        (X, b, "X: is an ndarray: expected a Dask array"),
        (cluster.persist(A), b, "X: is persisted on the cluster"),
        ([], None, "X: has no parts"),
        ([Ones(), 3], None, "X: part 1 is"),
        ([Ones()], y, "y: was given beside blocks"),
    ):
        with pytest.raises(dcopt.BadInput, match=words):
            dcopt.from_dask(X_, y_, client=cluster)


def test_j4_collections_of_dask(cluster: Any) -> None:
    """Arrays dense and sparse, frames, bags, delayed values and functions: the same bits as their blocks here."""
    import dask
    import dask.bag as db

    X, y = data("dense")
    w = np.linspace(0.5, 1.5, len(y))
    cuts = [slice(k, k + 150) for k in range(0, 600, 150)]
    want = dcopt.erm(
        Parted(Here.of([Given(PartData(as_rows(X[cut]), y[cut], w[cut])) for cut in cuts])), loss="logistic"
    )
    A, b, v = (da.from_array(a, chunks=(150, -1)[: a.ndim]) for a in (X, y, w))
    blocks = [(X[cut], y[cut], w[cut]) for cut in cuts]
    given = [
        dcopt.from_dask(A, b, v, client=cluster),
        dcopt.from_dask([dask.delayed(block) for block in blocks], client=cluster),
        dcopt.from_dask(db.from_sequence(blocks, npartitions=4), client=cluster),
    ]
    x = np.ones(30)
    for parts in given:
        f = dcopt.erm(parts, loss="logistic").f
        assert np.array_equal(f.look(x).grad, want.f.look(x).grad)
    sparse = dcopt.erm(dcopt.from_dask(A.map_blocks(csr_array), b, v, client=cluster), loss="logistic").f
    assert np.allclose(sparse.look(x).grad, want.f.look(x).grad, rtol=1e-12, atol=1e-15)


def test_j5_parts_with_wide_indices_beside_narrow_ones(cluster: Any) -> None:
    """int64 in some parts and int32 in others, also where a batch brings rows of both together"""
    X, y = data()
    blocks = []
    for k in range(0, 600, 200):
        a, kind = csr_array(X[k : k + 200]), np.int32 if k else np.int64
        a.indices, a.indptr = a.indices.astype(kind), a.indptr.astype(kind)
        blocks.append((a, y[k : k + 200]))
    parts = dcopt.from_dask([Block(*block) for block in blocks], client=cluster)
    far = dcopt.erm(parts, loss="logistic", regularizer=SCAD(lam=0.01))
    whole = dcopt.erm(X, y, "logistic", SCAD(lam=0.01), kappa=far.G.kappa)
    for method in ("dca", "dca-page"):
        got, want = (dcopt.solve(P.fixed(), method, passes=4, seed=1, tol=0.0).x for P in (far, whole))
        assert np.allclose(got, want, rtol=1e-10, atol=1e-12)


class Block:
    """A part that travels with its loader"""

    def __init__(self, rows: Any, labels: Any) -> None:
        self.rows, self.labels = rows, labels

    def __call__(self) -> Any:
        return self.rows, self.labels


def test_j4_a_data_frame(cluster: Any) -> None:
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = data("dense")
    frame = dd.from_pandas(pd.DataFrame(X).assign(y=y), npartitions=3)
    f = dcopt.erm(dcopt.from_dask(frame.drop(columns="y"), frame["y"], client=cluster), loss="logistic").f
    plain = dcopt.erm(X, y, "logistic").f
    assert f.n == plain.n and np.allclose(f.look(np.ones(30)).grad, plain.look(np.ones(30)).grad, rtol=1e-12)


def test_nothing_is_sent_where_few_numbers_say_all() -> None:
    from dcopt.sums.keeper import Few, packed, unpacked

    a = np.zeros(10_000)
    a[[3, 77]] = 1.5, -0.0
    short = packed((a, 2.0))
    assert isinstance(short[0], Few) and len(short[0].places) == 2
    back = unpacked(short)[0]
    assert back.tobytes() == a.tobytes() and packed(np.ones(10_000)) is not None
    for value in (np.ones(10_000), np.zeros(10), np.arange(10_000)):
        assert packed(value) is value


def test_the_tree_is_the_same_whoever_adds() -> None:
    from dcopt.sums.homes import added
    from dcopt.sums.keeper import Keeper, top

    rng = np.random.default_rng(0)
    for parts in (1, 2, 3, 5, 8, 13, 31):
        sizes = 10.0 ** rng.integers(-8, 8, parts)
        values = [None if rng.random() < 0.2 else size * rng.standard_normal(3) for size in sizes]
        for workers in (1, 2, 3, 7):
            owner, nodes = rng.integers(0, workers, parts), {}
            for worker in range(workers):
                mine = [k for k in range(parts) if owner[k] == worker]
                keeper = Keeper(False)
                keeper.hold({k: Given(values[k]) for k in mine})
                own = {k: () for k in mine if values[k] is not None}
                nodes |= dict(keeper.total(None, itself, (), own, mine))
            want, got = added(values), top(nodes, parts)
            assert (want is None) == (got is None) and (want is None or np.array_equal(want, got))


def itself(value: Any) -> Any:
    return value

