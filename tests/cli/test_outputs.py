"""The command line writes the files that its words name, and no others."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.shell import Here

import dcopt
from dcopt.cli import fit_output, journal
from dcopt.experiments import export
from dcopt.fit.steps import Fit
from dcopt.learn.files import load_estimator
from dcopt.report.html_page import write
from dcopt.report.panels import Report
from dcopt.store import keeper

KEY = "ssh-ed25519 AAAA stranger"


@pytest.fixture
def data(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
    lines = ["a,b,c,y", *(",".join([*map(str, x), t]) for x, t in zip(X.tolist(), y, strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(tmp_path / "data.csv")


def fitted(here: Here, data: str, folder: Path, *words: str) -> str:
    """The checkpoint of a finished fit."""
    ckpt = str(folder / "run.ckpt")
    code, _, err = here.run("fit", data, "--target", "y", "--folds", "2", "--lams", "4", "--checkpoint", ckpt, *words)
    assert code == 0, err
    return ckpt


# ---- the paths in a journal


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("option", ["out", "report"])
def test_a_checkpoint_names_no_file_that_is_written(
    option: str, there: bool, data: str, tmp_path: Path, here: Here
) -> None:
    ckpt, precious = fitted(here, data, tmp_path), tmp_path / "home" / "precious.html"
    precious.parent.mkdir()
    if there:
        precious.write_text("mine\n", encoding="utf-8")
    header, arrays = dcopt.load_model(ckpt + ".fit", allow_nonfinite=True)
    header["fit"][option] = str(precious)
    header["along"]["what"] = f"EBIC\n{KEY}\n"
    dcopt.save_model(ckpt + ".fit", header, arrays, allow_nonfinite=True)
    for words in ((), ("--force",)):
        code, out, err = here.run("resume", ckpt, data, *words)
        assert code == 0, err
        assert precious.read_text(encoding="utf-8") == "mine\n" if there else not precious.exists()
        assert f"--{option} {precious}" in out  # what to type for those who do want it
    assert (here.run("resume", ckpt, data, f"--{option}", str(precious))[0] == 1) == there


def test_a_resumed_fit_writes_the_files_that_are_named_again(data: str, tmp_path: Path, here: Here) -> None:
    model, page = tmp_path / "model.dcm", tmp_path / "fit.html"
    ckpt = fitted(here, data, tmp_path, "--out", str(model), "--report", str(page))
    whole = load_estimator(model)
    model.unlink()
    code, out, err = here.run("resume", ckpt, data)
    assert code == 0 and not model.exists(), err
    command = next(line for line in out.splitlines() if "dcopt resume" in line).split("dcopt ", 1)[1].split()
    page.unlink()
    code, out, _ = here.run(*command, "--json")
    said = json.loads(out)
    assert code == 0 and said["files"]["model"] == str(model) and said["not_written"] == {}
    assert page.exists() and np.array_equal(load_estimator(model).x_, whole.x_)
    said = json.loads(here.run("resume", ckpt, data, "--json")[1])  # the journal still knows them
    assert said["not_written"] == {"model": str(model), "report": str(page)}
    assert said["files"] == {"model": None, "report": None, "checkpoint": ckpt}


# ---- --force


@pytest.mark.parametrize("typo", [("typo.csv",), ("--penalty", "scadd"), ("--target", "yy"), ("--loss", "squared")])
def test_a_mistyped_fit_leaves_the_old_checkpoint(typo: tuple[str, ...], data: str, tmp_path: Path, here: Here) -> None:
    ckpt = fitted(here, data, tmp_path)
    before = {name: Path(name).read_bytes() for name in (ckpt, ckpt + ".fit")}
    words = ("fit", data, "--target", "y", "--checkpoint", ckpt, "--force")
    words = ("fit", *typo, *words[2:]) if len(typo) == 1 else (*words, *typo)
    assert here.run(*words)[0] == 1
    assert {name: Path(name).read_bytes() for name in before} == before


def test_a_forced_fit_sets_the_old_checkpoint_aside(data: str, tmp_path: Path, here: Here) -> None:
    ckpt = fitted(here, data, tmp_path)
    before = Path(ckpt).read_bytes()
    code, _, err = here.run("fit", data, "--target", "y", "--lam", "0.1", "--checkpoint", ckpt, "--force")
    assert code == 0 and f"{ckpt}.old" in err, err
    assert Path(ckpt + ".old").read_bytes() == before != Path(ckpt).read_bytes()
    code, out, err = here.run("resume", ckpt + ".old", data, "--json")  # it can still go on
    assert code == 0 and "cross-validation" in json.loads(out)["lam_by"], err


# ---- symbolic links


@pytest.mark.parametrize("name", ["fit.html", "fit.html.part"])
def test_a_report_is_not_written_through_a_link(name: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    (tmp_path / name).symlink_to(precious)
    with suppress(OSError):
        write(Report("t", "s", (), (), (), {}), tmp_path / "fit.html")
    assert precious.read_text(encoding="utf-8") == "mine" and (tmp_path / name).is_symlink()
    assert (tmp_path / "fit.html").is_symlink() or "<html" in (tmp_path / "fit.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["traces.csv", "traces.parquet"])
def test_traces_are_not_written_through_a_link(name: str, tmp_path: Path) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    (tmp_path / name).symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        export.save(("a", "b"), [(1, 2.0), (3, None)], tmp_path / "traces")
    assert precious.read_text(encoding="utf-8") == "mine"


def test_figures_are_not_written_through_a_link(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.figure")
    from dcopt.report.figures import _save

    assert [path.stat().st_size > 100 for path in _save(pyplot.Figure(), tmp_path / "other", 50)] == [True] * 3
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    (tmp_path / "f.svg").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic link"):
        _save(pyplot.Figure(), tmp_path / "f", 50)
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"


# ---- a full disk


@pytest.mark.parametrize("at", [2, 4])  # a fold of the cross-validation, the beginning of the run
def test_a_journal_that_cannot_be_saved_does_not_end_the_fit(
    at: int, data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = journal.save_model, iter(range(1, 100))

    def full(path: Path, *rest: Any, **how: Any) -> None:
        if next(calls) == at:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        real(path, *rest, **how)

    monkeypatch.setattr(journal, "save_model", full)
    ckpt = str(tmp_path / "run.ckpt")
    code, out, err = here.run("fit", data, "--target", "y", "--folds", "2", "--lams", "4", "--checkpoint", ckpt)
    assert code == 0 and "accuracy" in out and f"{ckpt}.fit could not be saved" in err and "No space left" in err, err


def test_a_checkpoint_that_cannot_be_saved_is_said(
    data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = keeper.save, iter(range(100))

    def full(*rest: Any) -> None:
        if next(calls):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*rest)

    monkeypatch.setattr(keeper, "save", full)
    words = ("fit", data, "--target", "y", "--lam", "0.1", "--checkpoint", str(tmp_path / "run.ckpt"))
    code, out, err = here.run(*words)
    assert code == 0 and "accuracy" in out and "the last save of the checkpoint failed" in err, err


def test_a_journal_that_cannot_be_begun_is_refused(
    data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *rest: Any, **how: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(journal, "save_model", full)
    code, out, err = here.run("fit", data, "--target", "y", "--checkpoint", str(tmp_path / "run.ckpt"))
    assert code == 1 and out == "" and "No space left" in err and "run.ckpt.fit" in err


# ---- one file, one purpose


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--out", "x.html", "--report", "x.html"), "--report and --out"),
        (("--out", "x.html", "--report", "./x.html"), "--report and --out"),
        (("--out", "z", "--checkpoint", "z"), "--checkpoint and --out"),
        (("--out", "z.fit", "--checkpoint", "z"), "the journal and --out"),
        (("--out", "z.prev", "--checkpoint", "z"), "and --out"),
        (("--out", "data.csv"), "--out and the data"),
        (("--out", "link.csv"), "--out and the data"),
        (("--out", "hard.csv"), "--out and the data"),
        (("--report", "here/data.csv"), "--report and the data"),
        (("--checkpoint", "data.csv"), "--checkpoint and the data"),
        (("--test", "test.csv", "--out", "test.csv"), "--out and --test"),
    ],
)
def test_two_names_of_one_file_are_refused(
    words: tuple[str, ...], says: str, data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Path(data).read_bytes()
    Path("test.csv").write_bytes(before)
    Path("link.csv").symlink_to("data.csv")
    Path("hard.csv").hardlink_to("data.csv")
    Path("here").symlink_to(".")
    code, out, err = here.run("fit", "data.csv", "--target", "y", "--lam", "0.1", *words, "--force")
    assert code == 1 and says in err and out == "" and err.count("\n") == 1, err
    assert Path("data.csv").read_bytes() == before == Path("test.csv").read_bytes()


def test_resume_and_predict_do_not_replace_what_they_read(data: str, tmp_path: Path, here: Here) -> None:
    model = str(tmp_path / "m.dcm")
    ckpt = fitted(here, data, tmp_path, "--out", model)
    for words in (
        ("resume", ckpt, data, "--out", data),
        ("resume", ckpt, data, "--out", ckpt),
        ("resume", ckpt, data, "--report", ckpt + ".fit"),
        ("predict", model, data, "--out", data),
        ("predict", model, data, "--out", model),
    ):
        code, out, err = here.run(*words, "--force")
        assert code == 1 and "the same file" in err and out == "", (words, err)
    assert load_estimator(model) and here.run("resume", ckpt, data)[0] == 0


# ---- refused at once


def bad_test_files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "target.csv": "a,b,c,z\n1,2,3,yes\n",
        "column.csv": "a,b,d,y\n1,2,3,yes\n",
        "cell.csv": "a,b,c,y\n1,2,x,yes\n",
        "classes.csv": "a,b,c,y\n1,2,3,maybe\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return texts


@pytest.mark.parametrize("name", ["target.csv", "column.csv", "cell.csv", "classes.csv", "nowhere.csv"])
def test_a_bad_test_file_is_refused_before_the_fit(
    name: str, data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_test_files(tmp_path)
    monkeypatch.setattr(Fit, "tune", lambda *rest: pytest.fail("the cross-validation has begun"))
    code, out, err = here.run("fit", data, "--target", "y", "--test", str(tmp_path / name))
    assert code == 1 and out == "" and name in err.splitlines()[-1], err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--folds", "1"), "folds = 1"),
        (("--folds", "61"), "60 rows are too few for 61 folds"),
        (("--lams", "0"), "lams = 0"),
        (("--select", "aic2"), "select"),
        (("--report", "r.pdf"), "a name that ends in .html"),
        (("--report", "r"), "a name that ends in .html"),
        (("--tol", "-1"), "tol"),
        (("--max-passes", "-1"), "max_passes"),
    ],
)
def test_bad_options_are_refused_before_the_old_checkpoint_is_touched(
    words: tuple[str, ...], says: str, data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    ckpt = fitted(here, data, tmp_path)
    before = Path(ckpt).read_bytes()
    monkeypatch.setattr(Fit, "tune", lambda *rest: pytest.fail("the cross-validation has begun"))
    monkeypatch.chdir(tmp_path)
    code, out, err = here.run("fit", data, "--target", "y", "--checkpoint", ckpt, "--force", *words)
    assert code == 1 and says in err and out == "" and "over" not in err, err
    assert Path(ckpt).read_bytes() == before and not Path("r.pdf").exists()
    if words[0] == "--report":
        code, out, err = here.run("resume", ckpt, data, *words)
        assert code == 1 and says in err


# ---- files that cannot be written or read


def test_a_full_disk_does_not_lose_the_result(
    data: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *rest: Any, **how: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fit_output, "save_estimator", full)
    model, page = str(tmp_path / "m.dcm"), str(tmp_path / "p.html")
    code, out, err = here.run("fit", data, "--target", "y", "--lam", "0.1", "--out", model, "--report", page)
    assert code == 1 and "accuracy: " in out and f"report: {page}" in out and "model: " not in out and model in err, err


def test_a_folder_as_checkpoint_is_refused(data: str, here: Here) -> None:
    for name in (".", "..", "/"):
        code, _, err = here.run("fit", data, "--target", "y", "--checkpoint", name, "--force")
        assert code == 1 and "is a folder" in err, err


WRONG = {
    "data": 1, "target": ["y"], "drop": "ab", "settings": [1], "penalty": None, "lam": 0.1, "folds": "5", "lams": 2.5,
    "tol": "x", "standardize": "no", "intercept": 1, "seed": None, "test": 7, "out": 3, "report": [1],
    "max_seconds": "1", "rule": 4, "solver": {}, "max_passes": None,
}  # fmt: skip


def test_a_journal_of_wrong_types_is_refused_by_name(data: str, tmp_path: Path, here: Here) -> None:
    ckpt = fitted(here, data, tmp_path)
    header, arrays = dcopt.load_model(ckpt + ".fit", allow_nonfinite=True)

    def resumed(changes: dict[str, Any], **other: Any) -> tuple[int, str, str]:
        kept = {k: v for k, v in (arrays | other.pop("arrays", {})).items() if v is not None}
        dcopt.save_model(ckpt + ".fit", header | changes, kept, allow_nonfinite=True)
        return here.run("resume", ckpt, data)

    for name, value in WRONG.items():
        code, _, err = resumed({"fit": header["fit"] | {name: value}})
        assert code == 1 and ("run.ckpt.fit" in err or name == "data") or code == 0 and name == "data", (name, err)
    along = header["along"]
    spoiled: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fit": []}, {}), ({"fit": {}}, {}), ({"lam": "x"}, {}), ({"at": [7, 0.0, 0, 0.0]}, {}), ({"ended": 3}, {}),
        ({"at": [-1, 0.0, 0, 0.0]}, {}), ({"at": 5}, {}), ({"along": 3}, {}), ({"along": along | {"names": 5}}, {}),
        ({"along": along | {"rule": "no"}}, {}), ({"along": along | {"lam": "x"}}, {}), ({}, {"lams": np.array(1.0)}),
        ({}, {"losses": np.zeros(3)}), ({}, {"nulls": np.zeros(3)}), ({}, {"hits": None}), ({}, {"seen": np.zeros(3)}),
        ({}, {"along.effects": np.array(0.0)}), ({}, {"along.nnz": None}), ({}, {"along.low": np.zeros(1)}),
    ]  # fmt: skip
    for changes, others in spoiled:
        code, _, err = resumed(changes, arrays=others)
        assert code == 1 and "run.ckpt.fit" in err.splitlines()[-1], (changes, others, err)
    Path(ckpt).unlink()  # without it, the run begins at x0
    code, _, err = resumed({}, arrays={"x0": np.zeros((2, 2))})
    assert code == 1 and "x0" in err.splitlines()[-1], err
