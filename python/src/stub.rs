//! The stub file `_railwright.pyi`, from the description of the classes and the table of keys.

use crate::types::described;
use pyo3::prelude::*;
use railwright_answers::{aliases_of, flag_of};
use railwright_spec::run::{Kind, keys};
use std::fmt::Write as _;

const HEAD: &str = "\
# Generated from the description of the classes: `python -m railwright.stub > railwright/_railwright.pyi`.
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, TypedDict, TypeVar, overload

from typing_extensions import Unpack

__version__: str
_T = TypeVar(\"_T\")
_Model = str | PathLike[str] | Mapping[str, Any] | object
_Word = str | float | bool | Sequence[int] | Sequence[str]

class Rows(Sequence[_T], Generic[_T]):
    \"\"\"A sequence of records, and a table for pandas, polars and DuckDB through `__arrow_c_stream__`.\"\"\"

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_T]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = ...) -> object: ...
    def _repr_html_(self) -> str: ...

class SearchProgress(TypedDict):
    \"\"\"Progress of a search.\"\"\"

    stage: str
    done: int
    total: int
    evaluated: int
    best_step_time_s: float | None

class Search:
    \"\"\"A running search: iterate over its progress, or call `result`.\"\"\"

    done: bool
    def __iter__(self) -> Iterator[SearchProgress]: ...
    def __next__(self) -> SearchProgress: ...
    def cancel(self) -> None: ...
    def result(self) -> SearchResult: ...

class Prepared:
    \"\"\"A prepared run for many evaluations.\"\"\"

    def evaluate(self, **settings: Unpack[Settings]) -> Evaluation: ...
";

/// Functions with the arguments between the cluster and the settings, and their results.
const FUNCTIONS: &[(&str, &str, &str, &str)] = &[
    ("estimate", "", "Estimate", "Estimates step time, memory and cost of a training run."),
    ("memory", "", "Memory", "Breaks down peak memory per pipeline stage."),
    ("prepare", "", "Prepared", "Prepares a run for many evaluations."),
    (
        "whatif",
        "changes: Sequence[str], ",
        "WhatIf",
        "Applies changes to a run, each alone and all together.",
    ),
    (
        "recompute",
        "fit_probability: float = ..., uniform: bool = ..., allow_offload: bool = ..., modules: Sequence[str] | None = ..., ",
        "Solution",
        "Chooses the cheapest recompute that fits.",
    ),
    (
        "balance",
        "fit_probability: float = ..., with_recompute: bool = ..., ",
        "Solution",
        "Balances layers across pipeline stages.",
    ),
];

const TAIL: &str = "
def evaluate(prepared: Prepared, **settings: Unpack[Settings]) -> Evaluation:
    \"\"\"Evaluates a prepared run, with other settings of its plan where some are given.\"\"\"

def search(model: _Model | None = ..., cluster: str | Sequence[str] | None = ..., *, run: str | None = ..., \
objective: Literal[\"time\", \"cost\", \"gpus\", \"memory\"] = ..., top: int = ..., all: bool = ..., \
space: Sequence[str] | None = ..., why_not: Sequence[str] | None = ..., fit_probability: float | None = ..., \
unlimited: bool = ..., threads: int | None = ..., **settings: Unpack[Settings]) -> Search:
    \"\"\"Starts a search for the best layouts.\"\"\"

def size(model: _Model | None = ..., cluster: str | Sequence[str] | None = ..., *, deadline: str | None = ..., \
budget: str | None = ..., growing_batch: bool = ..., worth: float | None = ..., run: str | None = ..., \
**settings: Unpack[Settings]) -> SizeResult:
    \"\"\"Sizes a cluster for a deadline or a budget; `tokens` is required.\"\"\"

def ask(command: Sequence[str], arguments: Mapping[str, Any], form: str | None = ...) -> dict[str, Any]:
    \"\"\"Runs a command with its words, its arguments by name, and the format of the answer.\"\"\"

def description() -> str:
    \"\"\"All commands with their arguments and kinds of answers, as OpenAPI.\"\"\"

def table(name: str, items: list[_T], fields: list[dict[str, Any]]) -> Rows[_T]:
    \"\"\"Records as a table, from the dictionary of each.\"\"\"

def stub() -> str:
    \"\"\"Returns the text of this file.\"\"\"
";

/// Text of the stub file.
#[pyfunction]
pub(crate) fn stub() -> String {
    let mut out = HEAD.to_owned();
    // Writing to a String is infallible.
    let _ = writeln!(out, "\nclass Settings(TypedDict, total=False):");
    let _ = writeln!(
        out,
        "    \"\"\"Settings of a run: flags of `railwright estimate`, with underscores.\"\"\"\n"
    );
    for key in keys() {
        let Some(flag) = flag_of(&key) else { continue };
        let kind = match key.kind {
            Kind::Flag => "bool",
            Kind::Count => "int",
            Kind::Number => "float",
            Kind::Text => "str",
            Kind::Counts => "Sequence[int]",
            Kind::Texts => "Sequence[str]",
            Kind::Choice(_) | Kind::Form(_) | Kind::Quantity(_) | Kind::Amount(_) => "_Word",
        };
        let kind = if key.path() == "cluster.devices" { "int | Sequence[int]" } else { kind };
        for name in std::iter::once(flag.as_str()).chain(aliases_of(&key).iter().copied()) {
            let _ = writeln!(out, "    {}: {kind}", name.replace('-', "_"));
        }
        let _ = writeln!(out, "    \"\"\"{}\"\"\"", key.doc.trim().replace('\\', "\\\\"));
    }
    for (name, doc, fields) in described() {
        let _ = writeln!(out, "\nclass {name}:\n    \"\"\"{}\"\"\"\n", doc.trim());
        for field in fields {
            let _ = writeln!(out, "    @property\n    def {}(self) -> {}:", field.name, field.kind);
            let _ = writeln!(out, "        \"\"\"{}\"\"\"", field.doc.trim());
        }
        let _ = writeln!(
            out,
            "    def to_dict(self) -> dict[str, Any]: ...\n    def _repr_html_(self) -> str: ..."
        );
    }
    for (name, own, result, doc) in FUNCTIONS {
        let _ = writeln!(
            out,
            "\ndef {name}(model: _Model | None = ..., cluster: str | None = ..., *, {own}run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> {result}:\n    \"\"\"{doc}\"\"\""
        );
    }
    out.push_str(TAIL);
    out
}
