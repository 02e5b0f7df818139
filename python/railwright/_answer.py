"""Answers of commands: records with their fields as attributes, lists of records as tables, and diagrams.

The classes of :mod:`railwright.answers` derive from these; the stub file lists their fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _railwright


def wrapped(value: Any, classes: Any = None) -> Any:
    """Wraps a value of an answer: dictionaries as records, lists of them as tables.

    ``classes`` are the names of the possible classes of the value.
    """
    if isinstance(value, dict):
        return _class(classes, value)(value)
    if isinstance(value, list):
        if value and all(isinstance(one, dict) for one in value):
            records = [_class(classes, one)(one) for one in value]
            return _railwright.table(type(records[0]).__name__, records, value)
        return [wrapped(one, classes) for one in value]
    return value


def _class(classes: Any, fields: dict[str, Any]) -> type[Record]:
    """Class of a record: the first of the possible ones whose required fields are present."""
    from . import answers

    for name in classes or ():
        if all(field in fields for field in answers.required(name)):
            found: type[Record] = getattr(answers, name)
            return found
    return Record


class Record:
    """A part of an answer: its fields as attributes and as items."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getitem__(self, name: str) -> Any:
        from . import answers

        return wrapped(self._fields[name], answers.inner(type(self).__name__, name))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(name, self._fields, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise AttributeError(f"{type(self).__name__} has no field `{name}`{hint}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"fields of {type(self).__name__} cannot be set")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as dictionaries and lists, with the names of ``railwright --json``."""
        import copy

        return copy.deepcopy(self._fields)

    def _lines(self) -> list[tuple[str, str]]:
        def shown(value: Any) -> str:
            if isinstance(value, list):
                return f"{len(value)} x {'record' if value and isinstance(value[0], dict) else 'value'}"
            if isinstance(value, dict):
                return "{" + ", ".join(value) + "}"
            if isinstance(value, float):
                return f"{value:.6g}"
            return "-" if value is None else str(value)

        return [(name, shown(value)) for name, value in self._fields.items()]

    def __repr__(self) -> str:
        lines = self._lines()
        width = max((len(name) for name, _ in lines), default=0)
        return "\n".join([type(self).__name__, *(f"  {name:{width}}  {value}" for name, value in lines)])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td>{escape(value)}</td></tr>'
            for name, value in self._lines()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"


class Answer(Record):
    """Answer of a command: its fields, and the report that the program prints with ``-v``."""

    __slots__ = ("_beside",)
    _beside: dict[str, Any]

    def __init__(self, fields: dict[str, Any], beside: dict[str, Any] | None = None) -> None:
        super().__init__(fields)
        object.__setattr__(self, "_beside", beside or {})

    @property
    def outcome(self) -> str:
        """Outcome of the command: ``yes``, ``no``, ``at-risk``, ``cannot-tell`` or ``interrupted``."""
        return str(self._beside.get("outcome", ""))

    @property
    def notes(self) -> list[str]:
        """Notes of the command, such as files that could not be read."""
        return list(self._beside.get("notes", ()))

    @property
    def command_line(self) -> str:
        """Equivalent command line."""
        return str(self._beside.get("command", ""))

    @property
    def picture(self) -> Picture | None:
        """Diagram requested with ``svg="-"``; ``None`` if not requested."""
        data = self._beside.get("data", "")
        return Picture(data) if data.startswith("<svg") else None

    def __str__(self) -> str:
        return str(self._beside.get("text") or super().__repr__())

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        return str(self._beside.get("html") or super()._repr_html_())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields, self._beside)


class Picture(str):
    """Diagram in SVG, displayed in notebooks."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"Picture(<svg> of {len(self)} characters)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the diagram to a file."""
        Path(path).write_text(self, encoding="utf-8")


def _plain(value: Any) -> Any:
    """Converts an argument for the program: paths to text, sequences to lists."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        raise TypeError("expected a string, a number, a Boolean, a path, or a sequence of these, got a mapping")
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(one) for one in value]
    return value


def ask(command: Sequence[str], arguments: Mapping[str, Any], form: str | None = None) -> Any:
    """Runs a command. Returns an :class:`Answer`, or a text if the command has no other format. ``None`` omits an argument."""
    plain = {
        name.rstrip("_").replace("_", "-"): _plain(value) for name, value in arguments.items() if value is not None
    }
    beside = _railwright.ask(list(command), plain, form)
    fields = beside.pop("fields")
    if beside["kind"] is None:
        text = beside["text"]
        return Picture(text) if text.startswith("<svg") else text
    from . import answers

    return getattr(answers, answers.class_of(beside["kind"]))(fields, beside)
