"""The estimators' examples run, show what they say, and draw; without LIBSVM's data they fall back, and say so."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcopt

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same on every machine: no data but scikit-learn's."""
    monkeypatch.delenv("DCOPT_DATA", raising=False)
    monkeypatch.setenv("DCOPT_CACHE", "")
    monkeypatch.setenv("DCOPT_MIRROR", "http://127.0.0.1:9")


def test_scad_needs_fewer_features_than_the_lasso(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("select_genes")
    module["main"](str(tmp_path / "figure.png"))
    out = capsys.readouterr().out
    assert "breast_cancer instead" in out and "for a loss of" in out
    needs = {word.split(" needs ")[0].strip(): int(word.split(" needs ")[1]) for word in out.split(": ")[-1].split(",")}
    assert needs["scad"] <= needs["l1"]
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_a_bounded_loss_lets_lies_go() -> None:
    module = example("label_noise")
    assert module["accuracy"]("squared-sigmoid", 0.2) > module["accuracy"]("logistic", 0.2) + 0.03
    assert abs(module["accuracy"]("squared-sigmoid", 0.0) - module["accuracy"]("logistic", 0.0)) < 0.01


def test_drift_shows_when_the_source_changes() -> None:
    model, drift, coefs = example("drift")["watch"](40, 25)
    assert drift[10:25].max() < 1.1 < drift[25:28].max()
    assert np.abs(coefs[24, :3]).min() > 0.8 and np.abs(coefs[-1, :3]).max() < 0.6
    assert np.abs(coefs[-1, 5:8]).min() > 0.8 and "samples seen" in str(model.certificate_)


def test_a_feature_is_in_for_all_classes(capsys: pytest.CaptureFixture[str]) -> None:
    module = example("row_sparsity")
    X, y, X_test, y_test, name = module["data"]()
    assert name == "digits" and "digits instead" in capsys.readouterr().out
    model = module["fit"](X[:300], y[:300], 0.3)
    rows = (model.coef_ != 0).any(axis=0)
    assert 3 <= rows.sum() < 40 and (model.coef_ != 0).all(axis=0).sum() == rows.sum()
    assert model.score(X_test, y_test) > 0.5


def test_a_nearer_g_is_lower_after_as_many_passes(capsys: pytest.CaptureFixture[str]) -> None:
    module = example("decompositions")
    X, y, name = module["data"]()
    assert name == "made-up rows"
    module["main"]()
    lines = capsys.readouterr().out.splitlines()[1:]
    F = {line.rsplit(None, 1)[0].strip(): float(line.split()[-1]) for line in lines}
    for method in module["METHODS"]:
        scalar, diagonal, local = (F[f"{method}, {kind}"] for kind in module["KINDS"])
        assert F["auto"] < local < diagonal < scalar


def test_ones_own_penalty_keeps_the_laws_and_fits() -> None:
    module = example("own_penalty")
    penalty = module["Arctan"](lam=0.1, theta=0.5)
    assert len(dcopt.check(penalty)) >= 10
    X, y = dcopt.load_dataset("breast_cancer")
    model = module["fit"](penalty, (X - X.mean(axis=0)) / X.std(axis=0), y)
    assert model.status_ == "CONVERGED" and np.count_nonzero(model.coef_) < 10 and model.lam_ == 0.05


@pytest.mark.parametrize("name", ["decompositions", "drift", "label_noise", "own_penalty", "row_sparsity"])
@pytest.mark.slow
def test_figures_are_drawn(name: str, tmp_path: Path) -> None:
    example(name)["main"](str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_the_criteria_keep_fewer_features_the_more_they_charge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = example("choose_lam")
    module["main"](str(tmp_path / "figure.png"))
    kept = {
        line.split()[0]: int(line.split(" features")[0].split()[-1]) for line in capsys.readouterr().out.splitlines()
    }
    assert kept["aic"] >= kept["bic"] >= kept["ebic"] > 0 and kept["best"] >= kept["1se"] > 0
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_stability_selection_leaves_the_noise_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("stability")
    module["main"](str(tmp_path / "figure.png"))
    out = capsys.readouterr().out.splitlines()
    assert int(out[0].split(", ")[1].split()[0]) > 0  # the noise that cross-validation keeps
    assert "noise" not in out[1] and "bmi" in out[1] and "at most 5²" in out[2]
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_the_peaks_of_a_mixture_are_found_with_their_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("peaks")
    module["main"](str(tmp_path / "figure.png"))
    lines = {line.split(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    kept = {name: int(line.split()[-6]) for name, line in lines.items()}
    assert kept["MCP, positive"] <= kept["lasso, positive"] < kept["lasso"]
    assert "0 of them negative" in lines["MCP, positive"] and "0 of them negative" not in lines["lasso"]
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_exchanges_find_the_pair_that_looks_worse_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("best_subset")
    module["main"](str(tmp_path / "figure.png"))
    greedy, best = capsys.readouterr().out.splitlines()[:2]
    assert "greedy: features [1, 5]" in greedy and "l0: features [0, 1]" in best
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_sparse_groups_are_nearer_than_features_or_groups_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = example("sparse_groups")
    module["main"](str(tmp_path / "figure.png"))
    away = {line.split(":")[0]: float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()}
    assert away["sparse group"] < min(away["lasso"], away["group lasso"])
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_refits_and_weights_are_nearer_than_the_lasso(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("relaxed")
    module["main"](str(tmp_path / "figure.png"))
    lines = {line.split(":")[0]: line.split(":")[1].split() for line in capsys.readouterr().out.splitlines()}
    away, kept = ({name: float(words[i]) for name, words in lines.items()} for i in (-1, 0))
    for other in ("relaxed lasso", "adaptive lasso", "MCP"):
        assert away[other] < away["lasso"] and kept[other] < kept["lasso"]
    assert (tmp_path / "figure.png").stat().st_size > 5_000
