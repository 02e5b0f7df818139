"""Classes of the answers of commands, such as :class:`Profile` and :class:`Stragglers`; the stub file has their fields.

A class is created on first use, from the generated table ``_classes``.
"""

from __future__ import annotations

from typing import Any

from . import _classes
from ._answer import Answer, Picture, Record

_KINDS = {name: kind for kind, name in _classes.KINDS.items()}


def class_of(kind: str) -> str:
    """Name of the class of a kind of answer."""
    return _classes.KINDS.get(kind, "Answer")


def required(name: str) -> tuple[str, ...]:
    """Required fields of a class."""
    return _classes.REQUIRED.get(name, ())


def inner(name: str, field: str) -> tuple[str, ...]:
    """Names of the possible classes of a field."""
    return _classes.INNER.get(name, {}).get(field, ())


def __getattr__(name: str) -> Any:
    if name not in _KINDS and name not in _classes.REQUIRED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base: type[Record] = Answer if name in _KINDS else Record
    made = type(name, (base,), {"__slots__": (), "__module__": __name__, "__doc__": _classes.DOCS.get(name)})
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({"Answer", "Picture", "Record", *_classes.REQUIRED})
