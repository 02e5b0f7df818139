"""What is wrong with a question, and values of frameworks as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BAD_INPUT = 2
"""The program's exit code for the same mistake."""


class Problem(ValueError):
    """Something wrong with a question: what, where, and what to do.

    ``str(problem)`` is what the program prints behind ``error:``, with the hint on a line of its own.
    """

    code: int = BAD_INPUT
    """The program's exit code for the same mistake."""
    message: str
    """What is wrong, and why."""
    place: str | None
    """The place: a keyword argument, or file, line, column and key."""
    file: str | None
    """The file, or the keyword argument."""
    line: int | None
    """The line, from 1."""
    key: str | None
    """The dotted key of a run file."""
    hint: str | None
    """What to do about it, or the nearest valid name."""
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


# Tracebacks name it as users import it.
Problem.__module__ = "railwright"


def plain(value: object) -> Any:
    """A value of a framework as JSON has it: what is no number, text, list or mapping becomes its text."""
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
