"""Problems of a question, and values of frameworks as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BAD_INPUT = 2
"""The program's exit code for invalid input."""


class Problem(ValueError):
    """Problem of a question: message, place and hint.

    ``str(problem)`` is the text that the program prints after ``error:``, with the hint on a separate line.
    """

    code: int = BAD_INPUT
    """The program's exit code for this problem."""
    message: str
    """Problem and cause."""
    place: str | None
    """Place: a keyword argument, or file, line, column and key; ``None`` if unknown."""
    file: str | None
    """File or keyword argument; ``None`` if unknown."""
    line: int | None
    """Line, from 1; ``None`` if unknown."""
    key: str | None
    """Dotted key of a run file; ``None`` if unknown."""
    hint: str | None
    """Action or nearest valid name; ``None`` without one."""
    others: list[Problem]
    """Further problems of the same question."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        place: str | None = None,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        others: list[Problem] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place
        self.file = file
        self.line = line
        self.key = key
        self.others = others or []

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text


# Tracebacks show the name that users import.
Problem.__module__ = "railwright"


def plain(value: object) -> Any:
    """Converts a value of a framework to JSON types. Values other than numbers, texts, lists and mappings become texts."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    fields = getattr(value, "__dict__", None)
    if fields and not isinstance(value, type) and not callable(value):
        return plain({name: item for name, item in fields.items() if not name.startswith("_")})
    return str(value)
