"""F9, H9: the files of every release, written once by `python test_golden.py VERSION`.

Models are read for ever. Checkpoints are continued by the releases of one format, or refused with the name of the
version that continues them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt

GOLDEN = Path(__file__).parent / "golden"
CHECKPOINTS = {"page": "dca-page", "sdca": "sdca", "svrg": "dca-svrg"}


def problem() -> dcopt.Problem:
    """Numbers that are exact in binary, so that they are the same everywhere."""
    X = (np.arange(120) * 7 % 11 - 5).reshape(24, 5) / 8 * (np.arange(120).reshape(24, 5) % 3 > 0)
    return dcopt.erm(sp.csr_array(X), np.arange(24) * 5 % 7 % 2, "squared-sigmoid", dcopt.regularizers.SCAD(lam=0.01))


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("model-*.safetensors")), ids=lambda p: p.stem)
def test_h9_golden_models(file: Path) -> None:
    model = dcopt.load_model(file)
    assert model.header["regularizer"]["name"] == "scad" and model.header["tol"] == float("inf")
    np.testing.assert_array_equal(model.arrays["coef"], [0.5, -0.25, 0.0])
    assert model.arrays["classes"].tolist() == ["no", "yes"] and model.arrays["coef"].dtype == np.float32
    assert dcopt.peek(file).format == 1


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_f9_golden_checkpoints(name: str, tmp_path: Path) -> None:
    files = sorted(set(GOLDEN.glob(f"{name}-*.safetensors")) - set(GOLDEN.glob("*-0.1.0.safetensors")))
    assert files
    for file in files:
        assert dcopt.peek(file).header["state"]["t"] == 9
        shutil.copy(file, tmp_path / file.name)
        got = dcopt.resume(tmp_path / file.name, problem(), CHECKPOINTS[name], seed=4, steps=30)
        want = dcopt.solve(problem(), CHECKPOINTS[name], seed=4, steps=30)
        np.testing.assert_allclose(got.x, want.x, rtol=0, atol=1e-13)  # other machines may round exp differently
        assert got.spent == want.spent and len(got.trace) == len(want.trace)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_f9_checkpoints_of_dcopt_0_1_say_which_version_continues_them(name: str, tmp_path: Path) -> None:
    file = GOLDEN / f"{name}-0.1.0.safetensors"
    shutil.copy(file, tmp_path / file.name)
    with pytest.raises(dcopt.BadModel, match=r"format 1, not 2.* continue it with .*pip install 'dcopt<0\.2'"):
        dcopt.resume(tmp_path / file.name, problem(), CHECKPOINTS[name], seed=4, steps=30)
    assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def write(version: str) -> None:
    for name, method in CHECKPOINTS.items():
        path = GOLDEN / f"{name}-{version}.safetensors"
        dcopt.solve(problem(), method, seed=4, steps=9, checkpoint=path)
        path.with_name(path.name + ".prev").unlink()
    arrays: dict[str, object] = {"coef": np.array([0.5, -0.25, 0.0], np.float32), "classes": ["no", "yes"]}
    from dcopt.store.components import describe

    header = {"regularizer": describe("regularizer", dcopt.regularizers.SCAD(lam=0.5), {}), "tol": float("inf")}
    dcopt.save_model(GOLDEN / f"model-{version}.safetensors", header, arrays)


if __name__ == "__main__":
    write(sys.argv[1])
