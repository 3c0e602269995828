"""Sets by name: from the folder, the cache or a server, and only with the checksum of the catalogue."""

from __future__ import annotations

import bz2
import hashlib
import http.server
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dcopt
from dcopt import BadFile, BadSettings, CannotFetch
from dcopt.datasets import download
from dcopt.datasets.catalogue import CATALOGUE, SITE, Entry
from dcopt.datasets.named import BUNDLED, LIBSVM, available, load_dataset, where

TEXT = b"+1 1:1 3:0.5\n-1\n+1 2:2\n"
TINY = Entry("tiny", "binary", 3, 4, 2, 3, len(TEXT), "binary/tiny.bz2", hashlib.sha256(TEXT).hexdigest(), "ours")
LOCAL = Entry("local", "binary", 3, 4, 2, 3, len(TEXT), None, "0" * 64, "ours")
WHOLE = [[1, 0, 0.5, 0], [0, 0, 0, 0], [0, 2, 0, 0]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """DCOPT_DATA, with a cache beside it and an address where nobody answers."""
    for entry in (TINY, LOCAL):
        monkeypatch.setitem(CATALOGUE, entry.name, entry)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("DCOPT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DCOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DCOPT_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    return tmp_path / "data"


def whole(got: dcopt.datasets.libsvm.Loaded) -> None:
    np.testing.assert_array_equal(got[0].toarray(), WHOLE)
    assert got[1].tolist() == [1, -1, 1] and got.sha256 == TINY.sha256


def test_the_catalogue_is_consistent() -> None:
    assert len(LIBSVM) == 25 and not set(LIBSVM) & set(BUNDLED)
    for name, entry in LIBSVM.items():
        assert entry.name == name and len(entry.sha256) == 64 and entry.credit
        assert entry.nnz <= entry.rows * entry.features
        assert entry.kind == {0: "regression", 2: "binary"}.get(entry.classes, "multiclass")
        assert entry.page is None or entry.page.startswith(entry.kind + "/")
    assert len({entry.sha256 for entry in LIBSVM.values()}) == 25
    assert {name for name, entry in LIBSVM.items() if entry.page is None} == {"colon-cancer", "cadata"}
    assert download.address(LIBSVM["news20"]) in (f"{SITE}/multiclass/news20.bz2", os.environ.get("DCOPT_MIRROR"))


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("DCOPT_DATA"), reason="DCOPT_DATA is not set")
@pytest.mark.parametrize("name", LIBSVM)
def test_every_set_is_what_the_catalogue_says(name: str, tmp_path: Path, monkeypatch) -> None:
    if where(name) != "DCOPT_DATA":
        pytest.skip(f"{name} is not in DCOPT_DATA")
    monkeypatch.setenv("DCOPT_CACHE", str(tmp_path))
    entry = LIBSVM[name]
    for got in (load_dataset(name), load_dataset(name)):  # from the text, and from the cache
        X, y = got
        assert X.shape == (entry.rows, entry.features) and X.nnz == entry.nnz and got.sha256 == entry.sha256
        assert entry.kind == "regression" or len(np.unique(y)) == entry.classes
        assert X.dtype == y.dtype == np.float64 and X.indices.dtype == X.indptr.dtype == np.int32
        assert X.has_canonical_format
        y[0] = y[0]  # may be written to


# ------------------------------------------------------------------------------------------------ DCOPT_DATA


@pytest.mark.parametrize("name", ["tiny", "tiny.bz2", "tiny.gz"])
def test_a_set_comes_from_the_folder(folder: Path, name: str) -> None:
    assert where("tiny") == "download" and not available("tiny")
    (folder / name).write_bytes(bz2.compress(TEXT) if name == "tiny.bz2" else TEXT)
    assert where("tiny") == "DCOPT_DATA" and available("tiny")
    whole(load_dataset("tiny"))


def test_another_text_under_the_name_is_refused(folder: Path) -> None:
    (folder / "tiny").write_bytes(TEXT.replace(b"0.5", b"0.6"))
    for _ in range(2):
        with pytest.raises(BadFile, match=f"is not LIBSVM's tiny: .* [0-9a-f]{{64}}, expected {TINY.sha256}"):
            load_dataset("tiny")


def test_a_set_without_a_published_text_is_known_by_its_numbers(folder: Path) -> None:
    assert where("local") is None
    with pytest.raises(CannotFetch, match="local is not here .* no copy of its text has a published checksum; put its"):
        load_dataset("local")
    (folder / "local").write_bytes(TEXT.replace(b" ", b"  "))
    assert load_dataset("local")[0].shape == (3, 4)
    (folder / "local").write_bytes(TEXT + TEXT)
    with pytest.raises(BadFile, match="6 rows with 6 values, expected 3 with 3"):
        load_dataset("local")


def test_rows_are_normalized(folder: Path) -> None:
    (folder / "tiny").write_bytes(TEXT)
    for _ in range(2):
        X, _ = load_dataset("tiny", normalize=True)
        np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)).ravel(), [[1, 0, 1]])
    whole(load_dataset("tiny"))  # what is kept was not changed


def test_bundled_sets_and_unknown_names(folder: Path) -> None:
    for name in BUNDLED:
        assert where(name) == "scikit-learn" and available(name)
    X, y = load_dataset("wine", normalize=True)
    assert X.shape == (178, 13) and np.allclose((X**2).sum(axis=1), 1) and len(y) == 178
    for unknown in (load_dataset, where):
        with pytest.raises(BadSettings, match="did you mean 'a9a'"):
            unknown("a9")


# ---------------------------------------------------------------------------------------------------- a server


def settle() -> None:
    """A download is as fresh as the clock when it is read first; the arrays are kept the next time."""
    time.sleep(0.03)
    whole(load_dataset("tiny"))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder; what is called /cut announces more than it sends."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path.startswith("/cut"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(bz2.compress(TEXT))
        elif self.path.startswith("/slow"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            while not self.server.done.wait(0.05):  # type: ignore[attr-defined]
                self.wfile.write(b"1")
        elif self.path.startswith("/silent"):
            self.server.done.wait(30)  # type: ignore[attr-defined]
        else:
            super().do_GET()


@pytest.fixture
def server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[http.server.ThreadingHTTPServer]:
    site = folder.parent / "site"
    (site / "binary").mkdir(parents=True)
    (site / "binary" / "tiny.bz2").write_bytes(bz2.compress(TEXT))
    handler = lambda *a, **k: Handler(*a, directory=str(site), **k)  # noqa: E731
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is no news
        running.asked, running.done, running.site = [], threading.Event(), site  # type: ignore[attr-defined]
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setenv("DCOPT_MIRROR", f"http://127.0.0.1:{running.server_port}/")
        yield running
        running.done.set()  # type: ignore[attr-defined]
        running.shutdown()


def test_a_set_is_downloaded_once(folder: Path, server, capfd) -> None:
    assert where("tiny") == "download"
    whole(load_dataset("tiny"))
    assert where("tiny") == "cache" and available("tiny")
    whole(load_dataset("tiny"))
    whole(load_dataset("tiny", normalize=False))
    assert server.asked == ["/binary/tiny.bz2"] and capfd.readouterr() == ("", "")


def test_the_arrays_alone_or_the_download_alone_are_enough(folder: Path, server) -> None:
    cache = folder.parent / "cache"
    whole(load_dataset("tiny"))
    settle()
    (cache / "files" / "tiny.bz2").unlink()
    assert where("tiny") == "cache"
    whole(load_dataset("tiny"))
    assert len(server.asked) == 1
    for entry in cache.glob("tiny-*"):
        (entry / "data.npy").write_bytes(b"spoilt")
    assert where("tiny") == "download"
    whole(load_dataset("tiny"))
    assert len(server.asked) == 2
    settle()
    for entry in cache.glob("tiny-*"):
        (entry / "entry.json").unlink()
    whole(load_dataset("tiny"))
    assert len(server.asked) == 2


def test_a_spoilt_download_in_the_cache_is_fetched_again(folder: Path, server) -> None:
    files = folder.parent / "cache" / "files"
    files.mkdir(parents=True)
    for spoilt in (b"", b"not a number", bz2.compress(TEXT + b"1 1:1\n"), bz2.compress(TEXT)[:-3]):
        (files / "tiny.bz2").write_bytes(spoilt)
        whole(load_dataset("tiny"))
        assert (files / "tiny.bz2.refused").read_bytes() == spoilt
        for entry in files.parent.glob("tiny-*"):
            (entry / "entry.json").unlink()
    assert len(server.asked) == 4


def test_a_text_with_another_checksum_is_refused_and_kept_aside(folder: Path, server) -> None:
    other = TEXT.replace(b"0.5", b"0.6")
    (server.site / "binary" / "tiny.bz2").write_bytes(bz2.compress(other))
    for _ in range(2):
        with pytest.raises(BadFile) as caught:
            load_dataset("tiny")
        assert TINY.sha256 in caught.value.reason and hashlib.sha256(other).hexdigest() in caught.value.reason
        assert caught.value.path == os.environ["DCOPT_MIRROR"] + "binary/tiny.bz2"
    files = folder.parent / "cache" / "files"
    assert [path.name for path in files.iterdir()] == ["tiny.bz2.refused"]
    assert where("tiny") == "download" and not list(files.parent.glob("tiny-*"))
    (server.site / "binary" / "tiny.bz2").write_bytes(bz2.compress(TEXT))
    whole(load_dataset("tiny"))


def test_a_page_or_a_flood_in_place_of_the_file_is_refused(folder: Path, server) -> None:
    (server.site / "binary" / "tiny.bz2").write_bytes(b"<html>moved</html>")
    with pytest.raises(BadFile, match=f"is refused as tiny: the sha256 of its text is .*, expected {TINY.sha256}"):
        load_dataset("tiny")
    (server.site / "binary" / "tiny.bz2").write_bytes(b"1 1:1\n" * 2**20)
    with pytest.raises(CannotFetch, match="the answer is longer than the data set"):
        load_dataset("tiny")
    (server.site / "binary" / "tiny.bz2").unlink()
    with pytest.raises(CannotFetch, match="404"):
        load_dataset("tiny")
    assert not list((folder.parent / "cache" / "files").glob(".new-*"))


def test_a_download_that_never_ends_is_given_up(folder: Path, server, monkeypatch) -> None:
    monkeypatch.setattr(download, "_PATIENCE", 0.5)
    monkeypatch.setenv("DCOPT_MIRROR", f"http://127.0.0.1:{server.server_port}/slow")
    with pytest.raises(CannotFetch, match="the answer was not complete after"):
        load_dataset("tiny")
    server.done.set()
    for thread in threading.enumerate():
        if thread.name == "dcopt-download":
            thread.join(5)
    assert not list((folder.parent / "cache").rglob(".new-*"))


def test_what_a_killed_download_left_is_swept_away(folder: Path, server) -> None:
    files = folder.parent / "cache" / "files"
    files.mkdir(parents=True)
    for name, age in ((".new-old", 7200), (".new-young", 10)):
        (files / name).write_bytes(b"half")
        os.utime(files / name, (time.time() - age, time.time() - age))
    whole(load_dataset("tiny"))
    assert sorted(path.name for path in files.iterdir()) == [".new-young", "tiny.bz2"]


@pytest.mark.parametrize("how", ["cut", "silent", "nobody", "nowhere", "no scheme"])
def test_without_a_network_there_is_one_clear_error(folder: Path, server, how: str, monkeypatch) -> None:
    monkeypatch.setattr(download, "_TIMEOUT", (2.0, 0.5))
    base = f"http://127.0.0.1:{server.server_port}"
    mirrors = {"cut": base + "/cut", "silent": base + "/silent", "nobody": "http://127.0.0.1:9"}
    mirrors |= {"nowhere": "http://dcopt.invalid", "no scheme": "somewhere"}
    monkeypatch.setenv("DCOPT_MIRROR", mirrors[how])
    with pytest.raises(CannotFetch) as caught:
        load_dataset("tiny")
    error = caught.value
    assert error.name == "tiny" and error.url == mirrors[how] + "/binary/tiny.bz2" and isinstance(error, OSError)
    text = str(error)
    assert all(word in text for word in ("tiny", str(error.url), "DCOPT_DATA", str(folder), *BUNDLED))
    assert "\n" not in text
    assert all(text.count(a) == text.count(b) for a, b in ("()", "[]")) and text.count('"') % 2 == 0  # cut nowhere
    assert "Max retries" not in text  # the cause, not what was made of it
    assert where("tiny") == "download"


@pytest.mark.parametrize("cache", ["", "/dev/null/cache"])
def test_without_a_cache_a_set_is_fetched_and_forgotten(folder: Path, server, cache: str, monkeypatch) -> None:
    monkeypatch.setenv("DCOPT_CACHE", cache)
    for k in (1, 2):
        whole(load_dataset("tiny"))
        assert len(server.asked) == k
    assert where("tiny") == "download"
