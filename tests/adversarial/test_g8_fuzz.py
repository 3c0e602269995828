"""G8. Mutated files against the reference parser of `fuzz_libsvm`."""

from __future__ import annotations

import pytest
from fuzz_libsvm import Refused, campaign, reference


def test_the_reference_parser_reads_and_refuses() -> None:
    assert reference(b"1 1:2 # x\r\n\r-1e1 +2:.5", None) == ([1.0, -10.0], [[(1, 2.0)], [(2, 0.5)]])
    bad = b"", b"1", b"x", b"1 0:1", b"1 2:1 1:1", b"1 1:inf", b"1 1:1e400", b"1 1:1 \0", b"1 qid:1", b"1 100000001:1"
    for text in bad:
        with pytest.raises(Refused):
            reference(text, None)


def test_g8_two_thousand_cases() -> None:
    report = campaign(2000, seed=0)
    assert not report.wrong, "\n".join(report.wrong)
    assert 400 < report.accepted < 1600  # both decisions are tested


@pytest.mark.slow
def test_g8_a_hundred_thousand_cases() -> None:
    report = campaign(100_000, seed=1)
    assert not report.wrong, "\n".join(report.wrong)


def test_g8_a_crash_would_be_seen(monkeypatch) -> None:
    """The fuzzer itself: a reader that forgets to refuse is found out."""
    from dcopt.datasets import libsvm_strict

    monkeypatch.setattr(libsvm_strict._Lines, "refuse", lambda *_: None)
    assert campaign(200, seed=0, limit=1).wrong
