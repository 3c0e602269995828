"""G. LIBSVM text: every line is read right, or refused with its file, line, column and reason."""

from __future__ import annotations

import copy
import pickle
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dcopt
from dcopt import BadFile, BadSettings

BEYOND = "d would be {}; pass n_features (at most 100,000,000 are taken without)"
ZERO = "the index is 0: indices start at 1, unless zero_based (--zero-based) says otherwise"
LONG = b"1" + b"0" * 30

# ---------------------------------------------------------------------------------------------- G1: bad lines

BAD: list[tuple[bytes, int, str]] = [  # the line, the column, the reason
    # pairs
    (b"1 3", 3, "expected index:value, got '3'"),
    (b"1 1:2 3", 7, "expected index:value, got '3'"),
    (b"1 1:2 word", 7, "expected index:value, got 'word'"),
    (b"1 2 1:3", 3, "expected index:value, got '2'"),
    (b"1 1 :2", 3, "expected index:value, got '1'"),
    (b"1 1:2 // note", 7, "expected index:value, got '//'"),
    (b"1 1=2", 3, "expected index:value, got '1=2'"),
    (b"1;1:2", 1, "the label is missing: the line begins with '1;1:2'"),
    (b"1 :3", 3, "the index is missing in ':3'"),
    (b"1 :", 3, "the index is missing in ':'"),
    (b"1 3:", 5, "the value is missing after the colon"),
    (b"1 3: 4", 5, "the value is missing after the colon"),
    (b"1 1:2:3", 5, "the value '2:3' is not a number"),
    (b"1 1::3", 5, "the value ':3' is not a number"),
    # labels
    (b"3:1 4:2", 1, "the label is missing: the line begins with '3:1'"),
    (b"  3:1", 3, "the label is missing: the line begins with '3:1'"),
    (b"qid:3 1:1", 1, "the label is missing: the line begins with 'qid:3'"),
    (b"yes 1:1", 1, "the label 'yes' is not a number"),
    (b"1,2 1:1", 1, "the label '1,2' is not a number: decimals have a point, and there is one label"),
    (b"nan 1:1", 1, "the label 'nan' is not finite"),
    (b"-Inf 1:1", 1, "the label '-Inf' is not finite"),
    (b"1e999 1:1", 1, "the label '1e999' is too large for float64"),
    (b"+ 1:1", 1, "the label '+' is not a number"),
    (b"+-1 1:1", 1, "the label '+-1' is not a number"),
    (b"0x1 1:1", 1, "the label '0x1' is not a number"),
    (b"1_0 1:1", 1, "the label '1_0' is not a number"),
    (b'"1" 1:1', 1, "the label '\"1\"' is not a number"),
    # indices
    (b"1 0:2", 3, ZERO),
    (b"1 00:2", 3, ZERO),
    (b"1 -1:2", 3, "the index '-1' is negative"),
    (b"1 -0:2", 3, "the index '-0' is negative"),
    (b"1 3:1 2:1", 7, "the index 2 comes after 3: indices must increase"),
    (b"1 3:1 3:2", 7, "the index 3 is repeated"),
    (b"1 3:1 03:2", 7, "the index 3 is repeated"),
    (b"1 1.5:2", 3, "the index '1.5' is not a whole number"),
    (b"1 1.:2", 3, "the index '1.' is not a whole number"),
    (b"1 1e2:2", 3, "the index '1e2' is not a whole number"),
    (b"1 1_0:2", 3, "the index '1_0' is not a whole number"),
    (b"1 0x1:2", 3, "the index '0x1' is not a whole number"),
    (b"1 +-1:2", 3, "the index '+-1' is not a whole number"),
    (b"1 name:2", 3, "the index 'name' is not a whole number"),
    (b"1 \xd9\xa1:2", 3, r"the index '\xd9\xa1' is not a whole number"),  # an Arabic one
    (b"1 1:1 100000001:1", 7, BEYOND.format("100,000,001")),
    (b"1 2147483648:1", 3, BEYOND.format("2,147,483,648")),
    (b"1 4000000000:1", 3, BEYOND.format("4,000,000,000")),
    (b"1 9223372036854775808:1", 3, "the index '9223372036854775808' is not below 10^18"),
    (b"1 " + LONG + b":1", 3, "the index '100000000000000000000000...' is not below 10^18"),
    (b"1 " + b"9" * 5000 + b":1", 3, "the index '999999999999999999999999...' is not below 10^18"),
    # values
    (b"1 1:nan", 5, "the value 'nan' is not finite"),
    (b"1 1:NaN", 5, "the value 'NaN' is not finite"),
    (b"1 1:inf", 5, "the value 'inf' is not finite"),
    (b"1 1:-infinity", 5, "the value '-infinity' is not finite"),
    (b"1 1:1e400", 5, "the value '1e400' is too large for float64"),
    (b"1 1:-1e400", 5, "the value '-1e400' is too large for float64"),
    (b"1 1:--1", 5, "the value '--1' is not a number"),
    (b"1 1:1e", 5, "the value '1e' is not a number"),
    (b"1 1:e5", 5, "the value 'e5' is not a number"),
    (b"1 1:.", 5, "the value '.' is not a number"),
    (b"1 1:1.2.3", 5, "the value '1.2.3' is not a number"),
    (b"1 1:1,5", 5, "the value '1,5' is not a number: decimals have a point, and there is one label"),
    (b"1 1:1_0", 5, "the value '1_0' is not a number"),
    (b"1 1:0x1p3", 5, "the value '0x1p3' is not a number"),
    (b"1 1:1d5", 5, "the value '1d5' is not a number"),
    (b"1 1:true", 5, "the value 'true' is not a number"),
    # bytes
    (b"1 1:1\0", 6, "a NUL byte: this is not text"),
    (b"1 1:1 # \0", 9, "a NUL byte: this is not text"),
    (b"1 1:\xff", 5, r"the value '\xff' is not a number"),
    (b"1 1:1\x0b2:2", 5, r"the value '1\x0b2:2' is not a number"),
    (b"1 1:1\xa02:2", 5, r"the value '1\xa02:2' is not a number"),
    (b"1 qid:7 1:1", 3, "'qid:7': query numbers are read if asked for, with query_id=True"),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DCOPT_CACHE", "")
    return tmp_path / "file"


def refused(path: Path, **options: object) -> BadFile:
    with pytest.raises(BadFile) as caught:
        dcopt.load_libsvm(path, cache=False, **options)
    assert type(caught.value) is BadFile and str(path) in str(caught.value)
    return caught.value


@pytest.mark.parametrize(("line", "column", "reason"), BAD)
def test_g1_a_bad_line_is_refused_by_place_and_reason(file: Path, line: bytes, column: int, reason: str) -> None:
    heads = ((b"", 1), (b"1 1:1\n\n# note\n-1 1:2\n", 5), (b"\xef\xbb\xbf1 1:1\r\n\r\n", 3), (b"1\r1\r", 3))
    for before, number in heads:
        file.write_bytes(before + line + b"\n1 1:1\n")
        error = refused(file)
        assert (error.line, error.column, error.reason) == (number, column, reason)
        assert str(error) == f"{file}, line {number}, column {column}: {reason}"


def test_g1_the_error_keeps_its_fields_in_copies(file: Path) -> None:
    file.write_text("1 1:x\n")
    error = refused(file)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (other.path, other.line, other.column, other.reason) == (str(file), 1, 5, error.reason)
        assert str(other) == str(error) and isinstance(other, dcopt.DcoptError) and isinstance(other, ValueError)


# ------------------------------------------------------------------------------------------- G2: odd but right

WHOLE = np.array([[0.5, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), np.array([1.0, -1.0, 3.0])
RIGHT = {
    "plain": b"1 1:0.5 3:2\n-1\n3 2:-1\n",
    "no final newline": b"1 1:0.5 3:2\n-1\n3 2:-1",
    "tabs": b"1\t1:0.5\t\t3:2\n-1\t\n3 \t 2:-1\n",
    "CR LF": b"1 1:0.5 3:2\r\n-1\r\n3 2:-1\r\n",
    "CR": b"1 1:0.5 3:2\r-1\r3 2:-1\r",
    "mixed ends": b"1 1:0.5 3:2\r-1\n\r3 2:-1\r\r\n",
    "byte-order mark": b"\xef\xbb\xbf1 1:0.5 3:2\n-1\n3 2:-1\n",
    "blanks around": b"  1 1:0.5 3:2   \n -1 \n\t3 2:-1\t\n",
    "blank lines": b"\n\n1 1:0.5 3:2\n   \n-1\n\t\n3 2:-1\n\n\n",
    "comment lines": b"# a head\n1 1:0.5 3:2\n#1 1:7\n-1\n  # inside\n3 2:-1\n#",
    "comments behind": b"1 1:0.5 3:2 # first\n-1#second\n3 2:-1 # caf\xe9, \xc3\xa9 and 4:4\n",
    "forms of numbers": b"+1.0e0 +1:5E-1 003:.2e+1\n-1.\n3. 2:-1.000000000000000000000000\n",
}


@pytest.mark.parametrize("kind", RIGHT)
def test_g2_odd_files_are_read_right(file: Path, kind: str) -> None:
    file.write_bytes(RIGHT[kind])
    X, y = dcopt.load_libsvm(file, cache=False)
    assert X.shape == (3, 3) and X.nnz == 3 and X.dtype == y.dtype == np.float64
    assert X.indices.dtype == X.indptr.dtype == np.int32 and X.has_canonical_format
    np.testing.assert_array_equal(X.toarray(), WHOLE[0])
    np.testing.assert_array_equal(y, WHOLE[1])
    broken = RIGHT[kind] + b"\n3 2:x"
    file.write_bytes(broken)
    assert refused(file).line == 1 + broken.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")


def test_g2_query_numbers_only_if_asked(file: Path) -> None:
    file.write_text("1 qid:7 1:0.5\n2 qid:7\n0 qid:12 2:1 # doc\n")
    got = dcopt.load_libsvm(file, query_id=True)
    X, y = got
    assert got.qid.tolist() == [7, 7, 12] and y.tolist() == [1, 2, 0] and X.shape == (3, 2)
    assert "query_id=True" in refused(file).reason
    for text, column, reason in (
        ("1 qid:7 1:1\n1 1:1\n", 1, "no qid after the label, and query_id was asked for"),
        ("1 qid:7 1:1\n1 qid:x 1:1\n", 3, "'qid:x' is not qid:number"),
        ("1 qid:7 1:1\n1 qid 1:1\n", 3, "'qid' is not qid:number"),
        ("1 qid:7 1:1\n1 qid:1 qid:2\n", 9, "the index 'qid' is not a whole number"),
    ):
        file.write_text(text)
        error = refused(file, query_id=True)
        assert (error.line, error.column, error.reason) == (2, column, reason)


# ----------------------------------------------------------------------------- G5, G10: the number of features


def test_g5_many_features_have_to_be_asked_for(file: Path) -> None:
    file.write_text("1 4000000000:1\n")
    assert "d would be 4,000,000,000; pass n_features" in refused(file).reason
    X, _ = dcopt.load_libsvm(file, n_features=4_000_000_000, cache=False)
    assert X.shape == (1, 4_000_000_000) and X.indices.tolist() == [3_999_999_999]
    file.write_text("1 1:1 100000000:1\n")
    assert dcopt.load_libsvm(file, cache=False)[0].shape == (1, 10**8)


def test_g5_no_feature_at_all_has_to_be_asked_for(file: Path) -> None:
    file.write_text("1\n-1\n")
    assert refused(file).reason == "no row has a feature: pass n_features"
    X, y = dcopt.load_libsvm(file, n_features=3, cache=False)
    assert X.shape == (2, 3) and X.nnz == 0 and y.tolist() == [1, -1]


def test_g10_features_beyond_are_counted_and_never_cut_in_silence(file: Path) -> None:
    file.write_text("1 1:1 3:1\n\n-1 2:1\n1 1:1 4:1 9:1\n")
    error = refused(file, n_features=2)
    assert (error.line, error.column) == (1, 7)
    assert error.reason.startswith("3 values have an index beyond n_features = 2 (the largest is 9)")
    assert "extra='drop'" in error.reason
    got = dcopt.load_libsvm(file, n_features=2, extra="drop", cache=False)
    assert got.dropped == 3
    np.testing.assert_array_equal(got[0].toarray(), [[1, 0], [0, 1], [1, 0]])
    assert dcopt.load_libsvm(file, n_features=9, extra="drop").dropped == 0
    assert dcopt.load_libsvm(file, n_features=20)[0].shape == (3, 20)
    assert refused(file, n_features=8).line == 4


@pytest.mark.parametrize(
    "options",
    [{"extra": "drop"}, {"extra": "cut", "n_features": 3}, {"n_features": 0}, {"n_features": 2.5}]
    + [{"byte_range": (0, 5)}, {"byte_range": (-1, 5), "n_features": 3}, {"byte_range": (1,), "n_features": 3}],
)
def test_options_are_refused_by_name(file: Path, options: dict) -> None:
    file.write_text("1 1:1\n")
    with pytest.raises(BadSettings):
        dcopt.load_libsvm(file, **options)


# ------------------------------------------------------------------------------------ indices from 0


@pytest.mark.parametrize("head", [b"", b"# odd\n"])  # the compiled reader and the careful one
def test_indices_from_0_are_never_taken_for_indices_from_1(file: Path, head: bytes, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("DCOPT_CACHE", str(tmp_path / "cache"))
    zero, one = head + b"1 0:5 2:7\n-1 1:1\n", head + b"1 1:5 3:7\n-1 2:1\n"
    file.write_bytes(zero)
    time.sleep(0.03)
    assert refused(file).reason == ZERO
    for how in (True, "auto", True):
        got = dcopt.load_libsvm(file, zero_based=how)
        assert got.zero_based and got[0].toarray().tolist() == [[5, 0, 7], [0, 1, 0]]
    assert copy.copy(got).zero_based
    error = pytest.raises(BadFile, dcopt.load_libsvm, file, n_features=2, zero_based=True).value
    assert (error.line, error.column) == (1 + bool(head), 7) and "(the largest is 2)" in error.reason
    file.write_bytes(one)
    time.sleep(0.03)
    for _ in range(2):
        got = dcopt.load_libsvm(file, zero_based="auto")
        assert not got.zero_based and got[0].toarray().tolist() == [[5, 0, 7], [0, 1, 0]]
        assert dcopt.load_libsvm(file, zero_based=True)[0].toarray().tolist() == [[0, 5, 0, 7], [0, 0, 1, 0]]
        assert dcopt.load_libsvm(file)[0].toarray().tolist() == [[5, 0, 7], [0, 1, 0]]
    with pytest.raises(BadSettings, match="zero_based"):
        dcopt.load_libsvm(file, zero_based="maybe")


# ------------------------------------------------------------------------------------ G6: write, then read

REAL = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 5e-324, -1.7976931348623157e308])
ROW = st.tuples(REAL, st.dictionaries(st.integers(0, 40), REAL, max_size=8))


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=6))
def test_g6_what_is_written_reads_back_to_the_same_bits(tmp_path_factory, rows: list) -> None:
    path = tmp_path_factory.mktemp("g6") / "file"
    pairs = [(i, j, row[j]) for i, (_, row) in enumerate(rows) for j in sorted(row)]
    indptr = np.cumsum([0, *(len(row) for _, row in rows)])
    values, columns = np.array([v for *_, v in pairs], float), np.array([j for _, j, _ in pairs], int)
    X = sp.csr_array((values, columns, indptr), (len(rows), 41))
    labels = np.array([label for label, _ in rows])
    dcopt.save_libsvm(path, X, labels)
    A, y = dcopt.load_libsvm(path, n_features=41, cache=False)
    assert y.tobytes() == labels.tobytes() and A.data.tobytes() == values.tobytes()
    assert A.indices.tolist() == X.indices.tolist() and A.indptr.tolist() == X.indptr.tolist()


def test_g6_an_old_file_stays_and_bad_numbers_are_not_written(file: Path) -> None:
    dcopt.save_libsvm(file, [[1.0, 0.0], [0.0, 2.5]], [1, -1])
    assert file.read_text() == "1 1:1\n-1 2:2.5\n"
    with pytest.raises(BadFile, match="exists already: force=True"):
        dcopt.save_libsvm(file, [[7.0]], [1])
    assert file.read_text() == "1 1:1\n-1 2:2.5\n"
    dcopt.save_libsvm(file, [[7.0]], [1], force=True)
    assert file.read_text() == "1 1:7\n"
    for X, y in (([[np.nan]], [1]), ([[1.0]], [np.inf]), ([[1.0]], [1, 2]), (np.empty((0, 2)), [])):
        with pytest.raises(dcopt.BadInput):
            dcopt.save_libsvm(file, X, y, force=True)
    assert file.read_text() == "1 1:7\n" and [p.name for p in file.parent.iterdir()] == ["file"]


MASKED = np.ma.masked_array([[1.0, 2.0]], [[False, True]])
COO = sp.coo_array((np.array([1.0]), (np.array([0]), np.array([0]))), (1, 2))
COO.coords[1][0] = -(10**8)
CSR = sp.csr_array((np.array([1.0]), np.array([0]), np.array([0, 1])), (1, 2))
CSR.indices[0] = -(10**8)
NOT_ROWS = {
    "complex": ([[1 + 2j]], "real numbers, got dtype complex128"),
    "sparse complex": (sp.csr_array([[1 + 2j, 0]]), "real numbers, got dtype complex128"),
    "dates": (np.array([["2024-01-01"]], "M8[D]"), "real numbers, got dtype datetime64"),
    "masked": (MASKED, "masked entries"),
    "no column": (np.empty((1, 0)), r"at least one row and one column, got shape \(1, 0\)"),
    "no sparse column": (sp.csr_array((1, 0)), r"at least one row and one column, got shape \(1, 0\)"),
    "three axes": (np.ones((1, 1, 1)), "expected 2 dimensions"),
    "ragged": ([[1.0, 2.0], [3.0]], "not a rectangular array"),
    "words": ([["a"]], "real numbers, got dtype"),
    "a malformed COO": (COO, r"index of axis 1 -100000000 is not in \[0, 2\)"),
    "a malformed CSR": (CSR, r"index -100000000 is not in \[0, 2\)"),
}


@pytest.mark.parametrize("kind", NOT_ROWS)
def test_g6_what_the_door_refuses_is_not_written(file: Path, kind: str) -> None:
    X, reason = NOT_ROWS[kind]
    with pytest.raises(dcopt.BadInput, match=reason):
        dcopt.save_libsvm(file, X, [1.0] * (2 if kind == "ragged" else 1))
    assert not list(file.parent.iterdir())


# ------------------------------------------------------------------------------------------ G7: byte ranges


@pytest.mark.parametrize("kind", RIGHT)
def test_g7_two_ranges_are_the_whole_wherever_they_are_cut(file: Path, kind: str) -> None:
    file.write_bytes(RIGHT[kind])
    size = len(RIGHT[kind])
    for cut in range(size + 2):
        parts = [dcopt.load_libsvm(file, n_features=3, byte_range=r) for r in ((0, cut), (cut, size))]
        np.testing.assert_array_equal(sp.vstack([X for X, _ in parts]).toarray(), WHOLE[0])
        np.testing.assert_array_equal(np.concatenate([y for _, y in parts]), WHOLE[1])
    lines = [dcopt.load_libsvm(file, n_features=3, byte_range=(k, k + 1)) for k in range(size)]
    assert np.concatenate([y for _, y in lines]).tolist() == WHOLE[1].tolist()


def test_g7_lines_of_a_range_keep_their_numbers(file: Path) -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        file.write_bytes(end.join([b"1 1:1", b"", b"1 2:1", b"1 1:x"]))
        for start in range(1, len(b"1 1:1" + end + end + b"1 2:1") + 1):
            error = refused(file, n_features=2, byte_range=(start, 100))
            assert (error.line, error.column) == (4, 5)
        assert refused(file, n_features=1, byte_range=(1, 100)).line == 4
    file.write_bytes(b"1 1:1\n1 2:1\n1 3:1\n")
    assert refused(file, n_features=2, byte_range=(3, 100)).line == 3
