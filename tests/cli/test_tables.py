"""Tables as people have them: words, yes and no, missing cells, commas, indices, comments; the same at predict time."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.datasets
from cli.shell import Here

import dcopt
from dcopt.datasets.coding import Coded, Coding, from_plain
from dcopt.datasets.tables import Columns, Data, read
from dcopt.learn.files import load_estimator


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def heard(source: str, wanted: Columns) -> tuple[Data, list[str]]:
    notes: list[str] = []
    return read(source, wanted, notes.append), notes


MESSY = """\
,age,colour,member,note,sold
0,31,red,yes,same,1
1,,blue,No,same,0
2,45,red,YES,same,1
3,52,,no,same,0
4,28,green,yes,same,1
5,39,red,no,same,0
6,40,blue,no,same,0
"""


def test_words_become_features_and_notes_say_which(tmp_path: Path) -> None:
    data, notes = heard(write(tmp_path / "t.csv", MESSY), Columns("sold", missing="drop"))
    assert data.names == ("age", "colour=blue", "colour=green", "member")
    assert data.X.tolist() == [[31, 0, 0, 1], [45, 0, 0, 1], [28, 0, 1, 1], [39, 0, 0, 0], [40, 1, 0, 0]]
    assert data.y is not None and data.y.tolist() == [1, 1, 1, 0, 0]
    assert notes == [
        "column 1 has no name and is left out: it is taken for an index",
        "2 of 7 rows have a missing cell and are left out",
        "colour: 3 levels, reference red",
        "member: yes/no as 1/0",
        "note: 'same' in every row, so not a feature",
    ]


def test_missing_cells_are_refused_left_out_or_filled_in(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", MESSY)
    with pytest.raises(dcopt.BadFile) as caught:
        read(path, Columns("sold"))
    assert (caught.value.line, caught.value.column) == (3, 2)
    said = "age: the cell is missing, one of 2 in 2 columns; --missing drop leaves their rows out, --missing mean fills"
    assert said in caught.value.reason
    data, _ = heard(path, Columns("sold", missing="mean"))
    assert data.X[1, 0] == (31 + 45 + 52 + 28 + 39 + 40) / 6  # of the cells that are there
    assert data.X[3, 1:3].tolist() == [2 / 6, 1 / 6]  # the shares of the levels
    with pytest.raises(dcopt.BadSettings, match="did you mean 'mean'"):
        read(path, Columns("sold", missing="means"))
    gone = write(tmp_path / "gone.csv", "a,b,y\n1,,0\n2,NA,1\n")
    for how in ("refuse", "drop", "mean"):
        with pytest.raises(dcopt.BadFile, match="column 2: b: every cell is missing; --drop b leaves"):
            read(gone, Columns("y", missing=how))
    target = write(tmp_path / "target.csv", "a,y\n1,0\n2,\n3,1\n")
    with pytest.raises(dcopt.BadFile, match="line 3, column 2: the target is missing: it cannot be filled in"):
        read(target, Columns("y", missing="mean"))
    assert read(target, Columns("y", missing="drop")).X.tolist() == [[1], [3]]


@pytest.mark.parametrize("cell", ["", " ", "NA", "n/a", "NaN", "nan", "NULL", "<NA>", "#N/A", r"\N", "?"])
def test_what_is_a_missing_cell(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "t.csv", f"a,w,y\n1,u,0\n{cell},{cell},1\n3,v,1\n5,u,1\n")
    assert read(path, Columns("y", missing="mean")).X.tolist() == [[1, 0], [3, 1 / 3], [3, 1], [5, 0]]


REFUSED = {
    "a word among numbers": ("a,y\n1,0\nx,1\n3,0\n", "line 3, column 1: a: 'x' is not a number; --drop a leaves"),
    "two of them": ("a,y\n1,0\nx,1\nz,0\n", "'x' is not a number, nor is 1 more cell; --drop a leaves"),
    "a number among words": ("a,y\nx,0\n1,1\nx,0\n", "line 2, column 1: a: 'x' is not a number, nor is 1 more"),
    "a percentage": ("a,y\n5 %,0\n6 %,1\n5 %,1\n", "line 2, column 1: a: '5 %' is not a number"),
    "dates": ("a,y\n2024-01-01,0\n2024-01-01,1\n2024-01-02,1\n", "--categorical a takes its values for levels"),
    "thousands": ('a,y\n"1,000",0\n"2,000",1\n', "'1,000' is not a number"),
    "infinite": ("a,y\n1,0\ninf,1\n2,1\n", "line 3, column 1: a: 'inf' is not a number"),
    "too large": ("a,y\n1,0\n1e999,1\n2,1\n", "'1e999' is not a number"),
    "names": ("a,y\nAnn,0\nBob,1\nCid,1\n", "column 1: a: 3 different words in 3 cells identify rows"),
    "full-width digits": ("a,y\n１２,0\n２,1\n", "'１２' is not a number"),
    "Arabic digits": ("a,y\n٣,0\n٤,1\n", "'٣' is not a number"),
    "a no-break space": ("a,y\n1\u00a0000,0\n\u00a02,1\n", r"'1\xa0000' is not a number"),
    "an underscore": ("a,y\n1_0,0\n2,1\n", "'1_0' is not a number"),
    "one name for two features": ("c,c=b,y\na,1,0\nb,2,1\na,3,0\n", "two features would be called 'c=b'"),
    "a column without a name": ("a,,y\n1,2,0\n", "line 1, column 2: a column without a name; --drop 2 leaves it out"),
    "nothing left": ("a,y\nx,0\nx,1\n", "no column with more than one value beside the target"),
    "latin-1": ("", "is not UTF-8 text (byte 0xe9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_feature_is_refused_by_its_place(case: str, tmp_path: Path) -> None:
    text, said = REFUSED[case]
    path = write(tmp_path / "t.csv", text)
    if case == "latin-1":
        (tmp_path / "t.csv").write_bytes("a,y\ncafé,0\n".encode("latin-1"))
    with pytest.raises(dcopt.BadFile) as caught:
        read(path, Columns("y"))
    assert said in str(caught.value)


def test_many_levels_are_coded_if_each_has_rows(tmp_path: Path) -> None:
    rows = "".join(f"w{i % 25},{i},{i % 2}\n" for i in range(60))
    data = read(write(tmp_path / "t.csv", "w,a,y\n" + rows), Columns("y"))
    assert data.X.shape == (60, 25)
    with pytest.raises(dcopt.BadFile, match="25 different words in 40 cells identify rows"):
        read(write(tmp_path / "t.csv", "w,a,y\n" + "".join(rows.splitlines(True)[:40])), Columns("y"))
    many = "".join(f"w{i % 1001},{i},{i % 2}\n" for i in range(3003))
    with pytest.raises(dcopt.BadFile, match="1001 different words, of which at most 1000 are coded"):
        read(write(tmp_path / "t.csv", "w,a,y\n" + many), Columns("y"))


def test_numbers_may_be_levels(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "zip,rooms,y\n100,3+,0\n20,1,1\n100,1,1\n3,3+,0\n")
    data, notes = heard(path, Columns("y", categorical=("zip", "2")))
    assert data.names == ("zip=20", "zip=3", "rooms=3+") and notes[0] == "zip: 3 levels, reference 100"
    assert data.X.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 1]]
    with pytest.raises(dcopt.BadSettings, match="categorical = 'zipp'.*did you mean 'zip'"):
        read(path, Columns("y", categorical=("zipp",)))


def test_decimal_commas_are_seen_where_commas_do_not_part_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a;b;y\n1,5;2;0,5\n-,25e1;3;1,5\n")
    data, notes = heard(path, Columns("y"))
    assert data.X.tolist() == [[1.5, 2], [-2.5, 3]] and data.y is not None and data.y.tolist() == [0.5, 1.5]
    assert notes == ["decimals are written with a comma"]
    quoted = write(tmp_path / "q.csv", 'a,b,y\n"1,5",2,0\n"2,5",3,1\n')
    assert read(quoted, Columns("y", decimal=",")).X.tolist() == [[1.5, 2], [2.5, 3]]
    for text, decimal in (("a;y\n1,5;0\n2.5;1\n", None), ("a;y\n1.5;0\n2.5;1\n", ",")):
        with pytest.raises(dcopt.BadFile, match="is not a number"):
            read(write(tmp_path / "both.csv", text), Columns("y", decimal=decimal))
    with pytest.raises(dcopt.BadSettings, match="decimal"):
        read(path, Columns("y", decimal=";"))


HEADS: dict[str, tuple[str, Columns, Any, str]] = {  # the text, how it is read, the names, what is said
    "a comment": ("# made by me, today\na,b,y\n1,2,0\n3,4,1\n", Columns("y"), ("a", "b"), ""),
    "names in a comment": ("# 1\n#a,b,y\n1,2,0\n3,4,1\n", Columns("y"), ("a", "b"), "those of the comment in line 2"),
    "an index called #": ("#,a,b,y\n7,1,2,0\n8,3,4,1\n", Columns("y"), ("a", "b"), "column 1 has no name"),
    "years": ("2019,2020,2021\n1,2,0\n3,4,1\n", Columns("2021"), ("2019", "2020"), "--no-header reads it as a row"),
    "years by option": ("2019,2020,2021\n1,2,0\n3,4,1\n", Columns("-1", header=True), ("2019", "2020"), ""),
    "no names": ("1,2,0\n3,4,1\n", Columns("3"), None, ""),
    "no names, and words": ("1.5,x,0\n3,z,1\n4,x,1\n", Columns("3"), ("column 1", "column 2=z"), "read as a row"),
    "words by option": ("w,x,0\nw,z,1\nv,x,1\n", Columns("3", header=False), ("column 1=v", "column 2=z"), ""),
    "an empty last column": ("a,b,y,\n1,2,0,\n3,4,1,\n", Columns("y"), ("a", "b"), "neither a name nor a value"),
    "a frame without names": (",0,1,2\n0,1,2,0\n1,3,4,1\n", Columns("2"), ("0", "1"), "column 1 has no name"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEADS)
def test_where_the_names_are(case: str, tmp_path: Path) -> None:
    text, wanted, names, said = HEADS[case]
    data, notes = heard(write(tmp_path / "t.csv", text), wanted)
    assert data.names == names and said in " | ".join(notes)
    if "words" not in case:
        assert data.X.tolist() == [[1, 2], [3, 4]] and data.y is not None and data.y.tolist() == [0, 1]
    else:
        assert len(data.X) == 3


# ---- from fit to predict


def fitted(tmp_path: Path, here: Here, *words: str, text: str | None = None, target: str = "sold") -> str:
    rng = np.random.default_rng(0)
    if text is None:
        colours, answers = ["red", "blue", "green", "red"], ["yes", "no"]
        rows = [f"{i},{rng.normal():.3f},{colours[i % 4]},{answers[i % 3 == 0]},{int(i % 4 == 1)}" for i in range(40)]
        rows[5] = rows[5].replace("blue", "")
        text = ",age,colour,member,sold\n" + "\n".join(rows) + "\n"
    train, model = write(tmp_path / "train.csv", text), str(tmp_path / "m.dcm")
    code, out, err = here.run("fit", train, "--target", target, "--lam", "0.01", "--out", model, "--force", *words)
    assert code == 0, err
    return model


def test_predict_codes_as_the_fit_did(tmp_path: Path, here: Here) -> None:
    model = fitted(tmp_path, here, "--missing", "mean")
    assert load_estimator(model).feature_names_in_.tolist() == ["age", "colour=blue", "colour=green", "member"]
    test = write(tmp_path / "test.csv", "colour,member,extra,age\ngreen,FALSE,x,1.5\n,yes,y,NA\nblue,no,z,0\n")
    code, out, err = here.run("predict", model, test)
    assert code == 0, err
    loaded = load_estimator(model)
    header = dcopt.load_model(model, allow_nonfinite=True)[0]
    means = header["extra"]["table"]["means"]
    del loaded.feature_names_in_
    rows = [[1.5, 0, 1, 0], [means[0], means[1], means[2], 1], [0, 1, 0, 0]]
    assert out.split()[1:] == [str(v) for v in loaded.predict(np.array(rows))]
    for text, said in (
        ("age,colour,member\n1,mauve,yes\n", "line 2, column 2: colour: 'mauve' is not one of the levels"),
        ("age,colour,member\n1,Red,yes\n", "did you mean 'red'?"),
        ("age,colour,member\n1,red,maybe\n", "line 2, column 3: member: 'maybe' is none of true, false, yes and no"),
        ("age,colour,member\n1,red,1\n", "member: 1 is a number, and the column is one of words"),
        ("age,colour,member\n1,3,yes\n", "colour: '3' is not one of the levels"),
        ("age,colour,member\nold,red,yes\n", "age: 'old' is not a number"),
        ("age,color,member\n1,red,yes\n", "no column 'colour', which the model was fitted to; did you mean 'color'?"),
        ("age,colour,member,age\n1,red,yes,2\n", "two columns are called 'age', which the model was fitted to"),
    ):
        code, out, err = here.run("predict", model, write(tmp_path / "test.csv", text))
        assert code == 1 and out == "" and said in err and "--drop" not in err, err
    part = write(tmp_path / "part.csv", "age,colour,member,sold\n1,red,no,\n2,red,no,1\n")
    code, _, err = here.run("predict", model, part)
    assert code == 0 and "the target is missing in 1 of 2 rows: no score" in err


def test_a_model_without_means_refuses_missing_cells(tmp_path: Path, here: Here) -> None:
    test = write(tmp_path / "test.csv", "age,colour,member\n1,red,yes\n2,,no\n")
    code, _, err = here.run("predict", fitted(tmp_path, here, "--missing", "drop"), test)
    said = "colour: the cell is missing; the model was fitted with --missing drop; one fitted with --missing mean fills"
    assert code == 1 and f"line 3, column 2: {said}" in err
    numbers = fitted(tmp_path, here, text="a,sold\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    assert dcopt.load_model(numbers, allow_nonfinite=True)[0]["extra"]["table"] is None  # as files of older versions
    assert here.run("predict", numbers, write(tmp_path / "test.csv", "a\n1\n"))[0] == 0
    code, _, err = here.run("predict", numbers, write(tmp_path / "test.csv", "a,b\nNA,2\n"))
    assert code == 1 and "--missing mean fills them in" in err


def test_a_table_without_names_is_predicted_without_names(tmp_path: Path, here: Here) -> None:
    text = "".join(f"{'uvw'[i % 3]},{i},{i % 2}\n" for i in range(30))
    model = fitted(tmp_path, here, "--no-header", text=text, target="-1")
    test = write(tmp_path / "test.csv", "v,3\nw,4\n")
    code, out, err = here.run("predict", model, test)
    assert code == 0 and len(out.split()) == 3, err
    code, _, err = here.run("predict", model, write(tmp_path / "test.csv", "x,3\n"))
    assert code == 1 and "column 1: 'x' is not one of the levels" in err


def test_the_test_rows_of_a_fit_are_read_alike(tmp_path: Path, here: Here) -> None:
    test = write(tmp_path / "test.csv", "sold,colour,member,age\n1,green,no,1\n0,,no,1\n0,red,no,3\n")
    for how in ("mean", "drop"):
        fitted(tmp_path, here, "--missing", how, "--test", test)


def test_labels_are_no_formulas_in_a_spreadsheet(tmp_path: Path, here: Here) -> None:
    """The JSON has the labels as they are; a sign alone is a label that people use, and no formula."""
    for yes, shown in (("=1+1", "'=1+1"), ("@cmd", "'@cmd"), ("-x", "'-x"), ("+", "+"), ("ok", "ok"), ("a=b", "a=b")):
        model = fitted(tmp_path, here, text="a,sold\n" + "".join(f"{i % 2},{['-', yes][i % 2]}\n" for i in range(20)))
        test = write(tmp_path / "test.csv", "a\n1\n0\n")
        code, out, err = here.run("predict", model, test)
        assert code == 0 and out.splitlines()[1:] == [shown, "-"] and ("spreadsheet" in err) == (shown != yes)
        assert json.loads(here.run("predict", model, test, "--json")[1])["values"] == [[yes], ["-"]]


def test_a_spoilt_coding_is_refused(tmp_path: Path, here: Here) -> None:
    model = fitted(tmp_path, here, "--missing", "mean")
    test = write(tmp_path / "test.csv", "age,colour,member\n1,red,yes\n")
    header, arrays = dcopt.load_model(model, allow_nonfinite=True)
    table = header["extra"]["table"]
    for spoil in (
        {"table": 5}, {"table": {}}, {"table": table | {"columns": []}}, {"table": table | {"means": [1.0]}},
        {"table": table | {"columns": [["a", "b", []]]}}, {"table": table | {"missing": "no"}},
        {"table": table | {"columns": [5]}}, {"table": table | {"columns": [[1, "levels", ["a"]]]}},
        {"target": 5}, {"zero_based": "x"},
    ):  # fmt: skip
        changed = header | {"extra": header["extra"] | spoil}
        dcopt.save_model(tmp_path / "bad.dcm", changed, arrays, allow_nonfinite=True)
        code, _, err = here.run("predict", str(tmp_path / "bad.dcm"), test)
        assert code == 1 and "does not say how its data were read" in err, (spoil, err)
    dcopt.save_model(tmp_path / "bad.dcm", header | {"extra": None}, arrays, allow_nonfinite=True)
    assert here.run("predict", str(tmp_path / "bad.dcm"), test)[0] == 1


def test_a_coding_comes_back_from_plain_settings() -> None:
    columns = (Coded("a", "numbers"), Coded("$b", "levels", ("x", "y", "z")), Coded("c", "yes/no"))
    for coding in (Coding(columns), Coding(columns, "mean", (1.0, 0.5, 0.1, 0.2), False)):
        assert from_plain(json.loads(json.dumps(coding.plain()))) == coding
    assert Coding(columns).features == ("a", "$b=y", "$b=z", "c")


# ---- other forms


def test_indices_from_0_are_read_with_a_note(tmp_path: Path, here: Here) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    X[:, 0] += 2.0 * y
    file, model = str(tmp_path / "zero.svm"), str(tmp_path / "m.dcm")
    sklearn.datasets.dump_svmlight_file(X, y, file)
    data, notes = heard(file, Columns())
    assert notes == ["indices start at 0, as one of them is 0: feature 1 is index 0"]
    assert np.allclose(data.X.toarray(), X)
    assert here.run("fit", file, "--lam", "0.01", "--out", model)[0] == 0
    sparse = write(tmp_path / "sparse.svm", "1 1:1 3:2\n")  # no index 0: the model knows
    fitted = load_estimator(model)
    code, out, err = here.run("predict", model, sparse, "--json")
    assert code == 0 and json.loads(out)["values"] == [fitted.predict([[0, 1, 0, 2]]).tolist()], err
    sklearn.datasets.dump_svmlight_file(X, y, str(tmp_path / "one.svm"), zero_based=False)
    assert here.run("fit", str(tmp_path / "one.svm"), "--lam", "0.01", "--out", model, "--force")[0] == 0
    code, _, err = here.run("predict", model, file)
    assert code == 1 and "the index is 0: indices start at 1" in err
    assert read(sparse, Columns(zero_based=True)).X.shape == (1, 4) and read(sparse).X.shape == (1, 3)


def test_data_come_from_stdin(tmp_path: Path, here: Here) -> None:
    class Stdin:
        def __init__(self, data: bytes) -> None:
            self.buffer = io.BytesIO(data)

    def run(data: bytes, *words: str) -> tuple[int, str, str]:
        here.patch.setattr(sys, "stdin", Stdin(data))
        return here.run(*words)

    text = MESSY.encode()
    for data in (text, gzip.compress(text)):
        code, out, err = run(data, "fit", "-", "--target", "sold", "--missing", "mean", "--lam", "0.1")
        assert code == 0 and "-: 7 rows, 4 features" in err
    code, out, err = run(b"1 1:2 3:1\n-1 2:1\n", "inspect", "-", "--json")
    said = json.loads(out)
    assert (said["what"], said["rows"], said["columns"]) == ("data: LIBSVM text", 2, 3)
    code, _, err = run(text, "fit", "-", "--target", "sold")
    assert code == 1 and "dcopt: standard input, line 3, column 2: age: the cell is missing" in err
    here.patch.setenv("DCOPT_MAX_BYTES", "100")
    code, _, err = run(text, "fit", "-", "--target", "sold")
    assert code == 1 and "standard input: it has more than 100 bytes" in err


FOREIGN = {
    "fit.html": "<!doctype html>\n<p>a, b</p>\n",
    "a.json": '{"a": 1, "b": 2}\n',
    "text": "once upon a time\nthere was\n",
    "spaces": "1.0 2.0 3.0\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_data_is_not_taken_for_data(name: str, tmp_path: Path, here: Here) -> None:
    path = write(tmp_path / name, FOREIGN[name])
    for words in (("inspect", path), ("fit", path)):
        code, _, err = here.run(*words)
        assert code == 1 and "is not LIBSVM text (lines of label index:value …), and its lines are no table" in err, err


def test_a_table_without_an_ending_is_one(tmp_path: Path) -> None:
    assert read(write(tmp_path / "iris.data", "5.1;2;u\n4.9;3;v\n"), Columns("3")).form == "CSV"
    assert read(write(tmp_path / "plain", "1\t1:2\t2:3\n-1\t1:4\t2:5\n")).form == "LIBSVM text"
    with pytest.raises(dcopt.BadFile, match="line 1, column 1: the label 'yes' is not a number"):
        read(write(tmp_path / "bad", "yes 1:2\n"))


def test_parquet_gets_the_same_treatment(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "age": pyarrow.array([31.0, None, 45.0, 52.0, 28.0, 39.0, float("nan")]),
        "colour": pyarrow.array(["red", "blue", "red", None, "green", "red", "blue"]).dictionary_encode(),
        "member": pyarrow.array([True, False, True, False, True, False, None]),
        "text.number": pyarrow.array(["1", "2", "3", "4", "5", "6", "7"]),
        "sold": pyarrow.array([1, 0, 1, 0, 1, 0, 0], pyarrow.int8()),
    }
    path = str(tmp_path / "t.parquet")
    parquet.write_table(pyarrow.table(columns), path)
    data, notes = heard(path, Columns("sold", missing="mean"))
    assert data.names == ("age", "colour=blue", "colour=green", "member", "text.number")
    assert data.X[:, 4].tolist() == [1, 2, 3, 4, 5, 6, 7] and data.X[1, 0] == data.X[6, 0] == 39.0
    assert data.X[:6, 3].tolist() == [1, 0, 1, 0, 1, 0] and data.X[6, 3] == 0.5
    assert notes == ["colour: 3 levels, reference red", "member: true/false as 1/0"]
    with pytest.raises(dcopt.BadFile, match=r"row 2, column 1: age: the cell is missing, one of 4 in 3 columns; --mis"):
        read(path, Columns("sold"))
    for values, said in (
        (pyarrow.array([[1], [2]]), "column 1: a: values of type list<.*> are neither numbers nor words"),
        (pyarrow.array([b"x", b"y"]), "column 1: a: values of type binary are neither"),
        (pyarrow.array([1, 2], pyarrow.date32()), "row 1, column 1: a: '1970-01-02' is not a number; --drop a leaves"),
        (pyarrow.array([1.0, float("inf")]), "row 2, column 1: a: 'inf' is not a number"),
    ):
        parquet.write_table(pyarrow.table({"a": values, "y": pyarrow.array([0, 1])}), path)
        with pytest.raises(dcopt.BadFile, match=said):
            read(path, Columns("y"))


def test_small_files_do_not_become_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "t.parquet")
    zeros = pyarrow.array(np.zeros(10**6))
    parquet.write_table(pyarrow.table({f"c{j}": zeros for j in range(20)} | {"y": zeros}), path, compression="zstd")
    monkeypatch.setenv("DCOPT_MAX_BYTES", "1e8")
    assert Path(path).stat().st_size < 10**5
    with pytest.raises(dcopt.BadFile, match="21 columns of 1,000,000 rows or more take more than 100,000,000 bytes"):
        read(path, Columns("y"))
    monkeypatch.delenv("DCOPT_MAX_BYTES")
    wide = tmp_path / "wide.csv.gz"
    wide.write_bytes(gzip.compress(b"," * (3 * 10**6) + b"\n1\n"))
    with pytest.raises(dcopt.BadFile, match="has a line of more than 1,000,000 cells"):
        read(str(wide), Columns("y"))
    monkeypatch.setenv("DCOPT_MAX_BYTES", "1e5")
    long = write(tmp_path / "long.csv", "a,b,c,d,y\n" + "1,2,3,4,5\n" * 9000)
    with pytest.raises(dcopt.BadFile, match="4 columns of .* rows or more take more than 100,000 bytes: set DCOPT_MAX"):
        read(long, Columns("y"))


def bomb(path: Path, column: str, words: list[str], rows: int, **options: Any) -> str:
    """A Parquet file that says each of these words once and has them in many rows; in the column a or the target y."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    codes = np.arange(rows) % len(words)
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes.astype(np.int32)), pyarrow.array(words))
    if options:
        texts = texts.dictionary_decode()
    table = {"a": pyarrow.array(np.arange(rows) % 7.0), "y": pyarrow.array(codes)} | {column: texts}
    parquet.write_table(pyarrow.table(table), path, compression="zstd", **options)
    return str(path)


@pytest.mark.parametrize("column", ["a", "y"])
def test_long_words_are_not_multiplied_by_the_rows(
    column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two words of a megabyte in 20,000 rows, a kilobyte of Parquet, took more than 4 GB."""
    words = ["x" * 10**6, "x" * 10**6 + "y"]
    path = bomb(tmp_path / "t.parquet", column, words, 20_000)
    assert Path(path).stat().st_size < 2000
    tracemalloc.start()
    try:
        with pytest.raises(dcopt.BadFile, match=r"its text has more than 67,108,864 bytes: set DCOPT_MAX_BYTES"):
            read(path, Columns("y"))
        assert tracemalloc.get_traced_memory()[1] < 3e7
    finally:
        tracemalloc.stop()
    if column == "a":
        return
    monkeypatch.setenv("DCOPT_MAX_BYTES", "1e9")
    few = read(bomb(tmp_path / "few.parquet", "y", words, 100), Columns("y"))
    assert few.y is not None and len(set(few.y.tolist())) == 2
    monkeypatch.setenv("DCOPT_MAX_BYTES", "2e8")  # an array of them takes four bytes a character
    with pytest.raises(dcopt.BadFile, match="100 targets, the longest of 1,000,001 characters, take more than 200,"):
        read(str(tmp_path / "few.parquet"), Columns("y"))


def test_a_parquet_file_does_not_unpack_to_two_hundred_times_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that are written out in every row, and compressed: the file declares how many bytes they are."""
    path = bomb(tmp_path / "t.parquet", "a", ["x" * 10**6], 100, use_dictionary=False)
    assert Path(path).stat().st_size < 50_000
    monkeypatch.setattr(pytest.importorskip("pyarrow.parquet").ParquetFile, "iter_batches", None)  # nothing is read
    with pytest.raises(dcopt.BadFile, match=r"its columns unpack to more than 67,108,864 bytes: set DCOPT_MAX_BYTES"):
        read(path, Columns("y"))


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    """Single bytes changed, in the data and in the sizes that the file declares of them."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = pyarrow.array(["x", "y", "x", None] * 5).dictionary_encode()
    days = pyarrow.array([2**31 - 1, 1] * 10, pyarrow.date32())
    table = {"a": [1.0, None, 3.0, 4.0] * 5, "c": words, "b": [True, False] * 10, "y": [0, 1] * 10, "day": days}
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table(table), path)
    with pytest.raises(dcopt.BadFile, match="cannot be read as Parquet|is not a number"):
        read(str(path), Columns("y", missing="drop"))
    whole, draw = path.read_bytes(), np.random.default_rng(0)
    read_again = 0
    for _ in range(300):
        part = bytearray(whole)
        part[draw.integers(len(part))] = draw.integers(256)
        path.write_bytes(part)
        try:
            read(str(path), Columns("y", drop=("day",), missing="mean"))
            read_again += 1
        except (dcopt.BadFile, dcopt.BadSettings):
            pass
    assert 0 < read_again < 300


def test_a_long_reading_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcopt.datasets.tables._SILENCE", 0.0)
    for name, text in (("t.csv", "a,y\n" + "1,0\n2,1\n" * 300_000), ("t.svm", "1 1:1\n" * 300_000)):
        path = write(tmp_path / name, text)
        _, notes = heard(path, Columns("y") if name == "t.csv" else Columns())
        assert len(notes) > 1 and notes[-1] == f"{path}: 100 % read"


def test_many_names_take_no_time(tmp_path: Path) -> None:
    """Twenty thousand columns: every look at the names is linear, or this takes minutes."""
    d = 20_000
    names, row = ",".join(f"c{j}" for j in range(d)), ",".join("1" * d)
    data = read(write(tmp_path / "t.csv", f"{names},y\n{row},0\n{row},1\n"), Columns("y"))
    assert data.X.shape == (2, d)
    again = read(write(tmp_path / "u.csv", f"{names}\n{row}\n"), Columns(must=False, fitted=data.fitted))
    assert again.X.shape == (1, d)


# ---- inspect

DIRTY = """\
id;name;size;share;when;x;x;member;colour
a1;Ann;1,5;5 %;2024-01-01;1;2;yes;red
a2;Bob;2,5;NA;2024-01-02;1;2;no;blue
a3;Cid;many;7 %;2024-01-02;1;2;no;red
a3;Cid
a4;Dot;3500,5;8 %;;1;2;yes;red
"""


def test_inspect_describes_dirty_tables(tmp_path: Path, here: Here) -> None:
    path = write(tmp_path / "t.csv", DIRTY)
    code, out, err = here.run("inspect", path, "--json")
    assert code == 0, err
    said = json.loads(out)
    assert (said["rows"], said["columns"], said["missing"]) == (4, 9, "2 cells in 2 of 4 rows")
    assert said["written with"] == "semicolon, decimal comma"
    kinds = [(c["name"], c["kind"], c["missing"]) for c in said["each column"]]
    assert kinds == [
        ("id", "identifiers", 0), ("name", "identifiers", 0), ("size", "mixed", 0), ("share", "odd numbers", 1),
        ("when", "odd numbers", 1), ("x", "numbers", 0), ("x", "numbers", 0), ("member", "yes/no", 0),
        ("colour", "levels", 0),
    ]  # fmt: skip
    size = said["each column"][2]
    assert size["range"] == [1.5, 3500.5] and size["values"] == "'many' is not a number (line 4)"
    assert said["each column"][8]["most frequent"] == {"red": 3, "blue": 1}
    needs = said["a fit needs"]
    assert needs[:3] == ["--target", "--missing drop or --missing mean", "--drop id"]
    assert "--drop size or --categorical size" in needs and "lines with another number of cells mended (1): 5" in needs
    code, out, err = here.run("inspect", path, "--target", "member")
    assert code == 0 and "2 classes (no: 2, yes: 2)" in out and "2: red 3, blue 1" in out
    wide = "y," + ",".join(f"c{j}" for j in range(60)) + "\n" + ",".join("1" * 61) + "\n"
    code, out, _ = here.run("inspect", write(tmp_path / "w.csv", wide))
    assert code == 0 and "21 more" in out and "c38" in out and "c39" not in out
