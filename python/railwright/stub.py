"""Prints the stub file: ``python -m railwright.stub > railwright/_railwright.pyi``."""

from __future__ import annotations

from . import _railwright

if __name__ == "__main__":
    print(_railwright.stub(), end="")
