"""The program beside the package, and the bundled examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = sorted((ROOT / "examples" / "runs").glob("*.toml"))


def program() -> str:
    named = os.environ.get("RAILWRIGHT")
    beside = Path(sys.executable).parent / "railwright"
    found = named or (str(beside) if beside.exists() else shutil.which("railwright"))
    assert found, "the program is not installed"
    return found


def ask(*words: str) -> dict:
    """The program's answer as JSON, without what the envelope adds."""
    done = subprocess.run([program(), *words, "--json"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=RUNS, ids=lambda path: path.stem)
def run(request: pytest.FixtureRequest) -> str:
    return str(request.param)
