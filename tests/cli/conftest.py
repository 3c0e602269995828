"""The program in the process of the tests."""

from __future__ import annotations

import pytest
from cli.shell import Here


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys)
