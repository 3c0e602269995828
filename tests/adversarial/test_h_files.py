"""H. Model and checkpoint files: opening one cannot run code, exhaust memory, or give something half right."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import dcopt
from dcopt import BadInput, BadModel, BadSettings, load_model, peek, save_model
from dcopt.store import components
from dcopt.store.checked import MOST_HEADER, START

ROOT = Path(__file__).parents[2]
HEADER = {"loss": "logistic", "tol": 1e-3, "classes": 2, "odd": [float("inf"), -0.0, None, True]}
ARRAYS: dict[str, Any] = {
    "coef": np.array([[1.5, -0.0, 3e-310], [2.0, 1 / 3, -7.0]]),
    "intercept": np.float32(0.1),
    "classes": np.array(["ä", "b\n", ""]),
    "iterations": np.array([1, 2, 3]),
    "mask": np.array([True, False]),
    "none": np.zeros((0, 3)),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.safetensors", HEADER, ARRAYS)
    return tmp_path / "model.safetensors"


def forged(text: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    """A file with a right digest around any header, as an attacker would write it; `text` follows the digest."""
    head = START + b"0" * 64 + b'",' + text
    size = len(head) if length is None else length
    whole = size.to_bytes(8, "little") + head + data
    at = 8 + len(START)
    return whole[:at] + hashlib.sha256(whole).hexdigest().encode() + whole[at + 64 :]


def meta(**more: Any) -> dict[str, Any]:
    return {"format": "1", "kind": "model", "dcopt": "0", "header": "{}"} | more


def around(entries: dict[str, Any], **more: Any) -> bytes:
    """The text after the digest."""
    return json.dumps(meta(**more)).encode()[1:] + (b"," + json.dumps(entries).encode()[1:] if entries else b"}")


def entry(dtype: str = "F64", shape: Any = (2,), offsets: Any = (0, 16), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)} | more


def refused(tmp_path: Path, data: bytes, match: str | None = None) -> BadModel:
    bad = tmp_path / "bad"
    bad.write_bytes(data)
    for use in (load_model, peek):
        with pytest.raises(BadModel, match=match) as caught:
            use(bad)
        assert caught.value.path == str(bad) and caught.value.reason
    return caught.value


def test_forged_files_are_what_the_reader_takes(tmp_path: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    (tmp_path / "good").write_bytes(forged(around({"a": entry()}), bytes(16)))
    np.testing.assert_array_equal(load_model(tmp_path / "good").arrays["a"], np.zeros(2))


def test_the_reader_gives_back_what_was_written(path: Path) -> None:
    model = load_model(path)
    assert model.header == HEADER and np.signbit(model.header["odd"][1])
    assert model.arrays.keys() == ARRAYS.keys()
    for name, want in ARRAYS.items():
        got, want = model.arrays[name], np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
    assert peek(path).arrays["coef"] == ("F64", (2, 3)) and peek(path).kind == "model"


def test_the_safetensors_library_reads_it(path: Path) -> None:
    found = safetensors.numpy.load_file(path)
    for name in ("coef", "intercept", "iterations", "mask", "none"):
        np.testing.assert_array_equal(found[name], ARRAYS[name])
    with safetensors.safe_open(path, "np") as file:
        assert json.loads(file.metadata()["header"])["loss"] == "logistic"


# ---- H1


def test_h1_other_files_are_refused(tmp_path: Path) -> None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as z:
        z.writestr("x", "y" * 500)
    npy = io.BytesIO()
    np.save(npy, np.zeros(100))
    for data in (
        pickle.dumps({"a": np.zeros(100)}), zipped.getvalue(), npy.getvalue(), b"", b"\0" * 500, b"1 1:2\n" * 100,
        safetensors.numpy.save({"a": np.zeros(9)}, {"digest": "0" * 64}), os.urandom(1000),
    ):  # fmt: skip
        refused(tmp_path, data)
    for gone in (tmp_path / "nothing", tmp_path, "a\0b"):
        with pytest.raises(BadModel):
            load_model(gone)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BadModel, match="regular"):
        load_model(tmp_path / "fifo")


def test_h1_a_pickle_inside_does_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "exploded"),)

    refused(tmp_path, pickle.dumps(Bomb()) * 20)
    assert not (tmp_path / "exploded").exists()


def test_h1_no_code_in_the_package() -> None:
    """No pickle, eval, exec, marshal, joblib, and in store/ no import that a file could choose."""
    for file in Path(dcopt.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            used = {a.name for a in node.names} if isinstance(node, ast.Import) else set()
            used |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
            assert not {u.split(".")[0] for u in used} & {"pickle", "marshal", "joblib", "shelve", "dill"}, file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, file
            if file.parent.name == "store":
                assert not {u.split(".")[0] for u in used} & {"importlib", "pydoc", "runpy"}, file
                assert not (isinstance(node, ast.Name) and node.id in {"__import__", "globals", "compile"}), file


def test_h1_names_are_looked_up_never_imported(tmp_path: Path) -> None:
    for name in ("os.system", "antigravity", "__class__", "SCAD", "", None, 3, ["scad"], {}):
        with pytest.raises(ValueError):
            components.rebuild({"kind": "regularizer", "name": name, "settings": {}}, "regularizer", {})
    assert "antigravity" not in sys.modules
    good = {"kind": "regularizer", "name": "scad", "settings": {"lam": 0.1}}
    for bad in ({"__class__": 1}, {"lam": -1.0}, {"lam": "x"}, {"lam": {"array": "gone"}}, {"lam": {"x": 1}}, [], None):
        with pytest.raises(ValueError):
            components.rebuild(good | {"settings": bad}, "regularizer", {})
    with pytest.raises(ValueError):
        components.rebuild(good, "loss", {})


# ---- H2


@pytest.mark.parametrize("length", [0, 1, 90, 2**63, 2**64 - 1, MOST_HEADER, MOST_HEADER + 1])
def test_h2_header_lengths(tmp_path: Path, path: Path, length: int) -> None:
    data = path.read_bytes()
    refused(tmp_path, length.to_bytes(8, "little") + data[8:])
    refused(tmp_path, forged(around({"a": entry()}), bytes(16), length))


def test_h2_a_header_above_the_cap_is_refused_also_when_it_is_there(tmp_path: Path) -> None:
    big = around({}, header=json.dumps({"x": "y" * MOST_HEADER}))
    refused(tmp_path, forged(big), "header of")
    with pytest.raises(BadSettings, match="arrays"):
        save_model(tmp_path / "x", {"x": "y" * MOST_HEADER}, {})
    assert not (tmp_path / "x").exists()


# ---- H3


@pytest.mark.parametrize(
    "header",
    [
        '{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', '{"a": NaN}', '{"a": Infinity}', '{"a": -Infinity}',
        '{"a": 1e999}', '{"a": -1e999}', "[1]", "1", "", "{", '{"a": 1} x', '{"$float": "inf"}',
        '{"a": {"$float": "1"}}',
        '{"a": {"$float": "inf", "b": 1}}', '{"a": {"$float": ["inf"]}}', "[" * 10**5 + "]" * 10**5,
        '{"a":' * 10**5 + "1" + "}" * 10**5, '{"a": ' + "9" * 10**5 + "}", "\ud800",
    ],
    ids=range(20),
)  # fmt: skip
def test_h3_inner_headers(tmp_path: Path, header: str) -> None:
    refused(tmp_path, forged(around({}, header=header)))


def test_h3_outer_headers(tmp_path: Path) -> None:
    good = json.dumps(meta()).encode()[1:]
    one = json.dumps(entry()).encode()
    texts = [
        good + b',"a":' + one + b',"a":' + one + b"}",  # a name twice
        good[:-1] + b',"kind":"model"},"a":' + one + b"}",  # a key twice
        good + b',"a":' + b"[" * 10**5 + b"]" * 10**5 + b"}",
        good + b',"a":NaN}',
        good + b',"a":{"dtype":"F64","shape":[1e999],"data_offsets":[0,16]}}',
        good + b"} trailing",
        good,
        b"}",
        b"\xff\xfe}",
        around({}, header=3),
        around({}, more="x"),
        around({}, format=1),
        around({}, format="01x"),
        around({}, format="0"),
        around({}, format="-1"),
        around({}, kind="estimator"),
        around({"a": entry(more=1)}),
        around({"a": {"dtype": "F64", "shape": [2]}}),
        around({"a": []}),
        around({"a": None}),
        around({str(k): entry(shape=[0], offsets=[0, 0]) for k in range(10_000)}),
    ]
    for text in texts:
        refused(tmp_path, forged(text, bytes(16)))
    for text in (around({}, kind="estimator"), around({}, more="x"), around({}, format="0"), around({}, header=3)):
        refused(tmp_path, forged(text))  # with nothing else that is wrong
    (tmp_path / "other").write_bytes(forged(around({}, kind="checkpoint")))
    with pytest.raises(BadModel, match="is a checkpoint"):
        load_model(tmp_path / "other")


# ---- H4


@pytest.mark.parametrize(
    "entries",
    [
        {"a": entry(shape=[2**32, 2**32])}, {"a": entry(shape=[2**61])}, {"a": entry(shape=[2**64 + 2])},
        {"a": entry(shape=[-2])}, {"a": entry(shape=[-1, -2])}, {"a": entry(shape=[2.0])},
        {"a": entry(shape=[True, 2])}, {"a": entry(shape=["2"])}, {"a": entry(shape=[[2]])},
        {"a": entry() | {"shape": 2}}, {"a": entry() | {"shape": None}},
        {"a": entry(shape=[2, 1, 1, 1, 1])}, {"a": entry("F16", [8])}, {"a": entry("U64")}, {"a": entry("I8", [16])},
        {"a": entry("f8")}, {"a": entry("O")}, {"a": entry(None)}, {"a": entry(["F64"])}, {"a": entry("F32")},
        {"a": entry(offsets=[0, 8])}, {"a": entry(offsets=[8, 16])}, {"a": entry(offsets=[16, 32])},
        {"a": entry(offsets=[16, 0])}, {"a": entry(offsets=[-16, 0])}, {"a": entry(offsets=[0])},
        {"a": entry(offsets=[0, 16, 16])}, {"a": entry(offsets=["0", "16"])}, {"a": entry() | {"data_offsets": 16}},
        {"a": entry(), "b": entry()}, {"a": entry(shape=[1], offsets=[0, 8]), "b": entry(shape=[1], offsets=[4, 12])},
        {"a": entry(shape=[1], offsets=[0, 8])}, {"a": entry("F32", [1], [0, 4]), "b": entry("F32", [2], [8, 16])}, {},
    ],
    ids=range(34),
)  # fmt: skip
def test_h4_arrays_that_do_not_fit(tmp_path: Path, entries: Any) -> None:
    refused(tmp_path, forged(around(entries), bytes(16)))


def test_h4_bytes_that_are_no_values(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    for dtype, data in (("BOOL", b"\1\2"), ("U8", b"[1"), ("U8", b"{}"), ("U8", b"[1]"), ("U8", b'["\xff"]')):
        bad.write_bytes(forged(around({"a": entry(dtype, [len(data)], [0, len(data)])}), data))
        with pytest.raises(BadModel):
            load_model(bad)


# ---- H5

HUGE = """
import resource, sys
from dcopt import BadModel, load_model, peek
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for use in (peek, load_model):
    for path in sys.argv[1:]:
        try:
            use(path)
        except BadModel:
            continue
        raise SystemExit("accepted " + path)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_h5_a_small_file_that_declares_32_gib(tmp_path: Path) -> None:
    huge = 2**35
    texts = [around({"a": entry(shape=[huge // 8], offsets=[0, huge])}), around({"a": entry(shape=[huge // 8])})]
    files = [forged(t) for t in texts] + [
        (huge).to_bytes(8, "little") + bytes(72),
        (MOST_HEADER).to_bytes(8, "little") + START + bytes(80 - 8 - len(START)),
        (80).to_bytes(8, "little") + b'{"a":{"dtype":"F64","shape":[4294967296],"data_offsets":[0,34359738368]}}',
    ]
    for k, data in enumerate(files):
        (tmp_path / str(k)).write_bytes(data)
    where = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HUGE, *(str(tmp_path / str(k)) for k in range(len(files)))]
    done = subprocess.run(command, capture_output=True, text=True, env=where, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 10 * 1024  # KiB


# ---- H6


@pytest.fixture
def small(tmp_path: Path) -> Path:
    save_model(tmp_path / "small", {"a": 1}, {"w": np.array([1.0, -2.0]), "names": ["p", "q"]})
    return tmp_path / "small"


def test_h6_every_truncation(small: Path, tmp_path: Path) -> None:
    data, bad = small.read_bytes(), tmp_path / "bad"
    for size in range(len(data)):
        bad.write_bytes(data[:size])
        with pytest.raises(BadModel):
            load_model(bad)
    bad.write_bytes(data + b" ")
    with pytest.raises(BadModel):
        load_model(bad)


def test_h6_every_flipped_bit(small: Path, tmp_path: Path) -> None:
    data, bad = bytearray(small.read_bytes()), tmp_path / "bad"
    for at in range(8 * len(data)):
        data[at // 8] ^= 1 << at % 8
        bad.write_bytes(data)
        with pytest.raises(BadModel):
            load_model(bad)
        data[at // 8] ^= 1 << at % 8
    assert bytes(data) == small.read_bytes()


# ---- H7


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_h7_numbers_that_are_not_finite(tmp_path: Path, value: float, dtype: Any) -> None:
    path, w = tmp_path / "x", np.array([1.0, value], dtype)
    with pytest.raises(BadInput, match="coef"):
        save_model(path, {}, {"coef": w})
    assert not path.exists()
    save_model(path, {}, {"coef": w}, allow_nonfinite=True)
    with pytest.raises(BadModel, match="coef"):
        load_model(path)
    assert load_model(path, allow_nonfinite=True).arrays["coef"].tobytes() == w.tobytes()


# ---- H8


def test_h8_save_load_save(path: Path, tmp_path: Path) -> None:
    model = load_model(path)
    save_model(tmp_path / "again", model.header, model.arrays)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_h8_the_script_of_the_format_page(path: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    (script,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if "hashlib" in block]
    assert len(script.splitlines()) <= 40 and "dcopt" not in re.findall(r"^(?:import|from) (\w+)", script, re.M)
    space: dict[str, Any] = {}
    exec(compile(script, "docs/files.md", "exec"), space)
    said, arrays = space["read"](path)
    assert said["loss"] == "logistic" and arrays["classes"] == ARRAYS["classes"].tolist()
    np.testing.assert_array_equal(arrays["coef"], ARRAYS["coef"])
    np.testing.assert_array_equal(arrays["mask"], ARRAYS["mask"])
    bad = bytearray(path.read_bytes())
    bad[-1] ^= 1
    (tmp_path / "bad").write_bytes(bad)
    with pytest.raises(ValueError):
        space["read"](tmp_path / "bad")


# ---- H9


def test_h9_a_newer_version(tmp_path: Path) -> None:
    why = refused(tmp_path, forged(around({}, format="2", dcopt="9.1", extra="x")), "newer")
    assert "9.1" in why.reason


# ---- what does not go into a file


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"a": object()}, {}), ({"a": {1}}, {}), ({"a": np.zeros(2)}, {}), ({1: 2}, {}), ({"a": {"$float": 1}}, {}),
        ({}, {"a": np.zeros(2, complex)}), ({}, {"a": np.zeros(2, np.float16)}), ({}, {"a": [object()]}),
        ({}, {"a": np.zeros((1,) * 5)}), ({}, {"a": [["x"]]}), ({}, {"": [1.0]}), ({}, {"__metadata__": [1.0]}),
        ({}, {1: [1.0]}), ({}, {"a": np.array([2**63], np.uint64)}), ({}, {"a": ["x\0"]}),
        ({}, {"a": ["x", 1.0, None]}),
    ],
    ids=range(16),
)  # fmt: skip
def test_what_cannot_be_saved_is_said(tmp_path: Path, header: Any, arrays: Any) -> None:
    with pytest.raises((BadSettings, BadInput)):
        save_model(tmp_path / "x", header, arrays)
    assert not list(tmp_path.iterdir())
