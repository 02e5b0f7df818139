//! Classes of answers, each from one description of its fields with their documentation, also used for the
//! stub file.
//!
//! Responsible for: attributes, aligned `repr`, HTML, dictionaries, and cells for tables. Excludes conversion
//! of answers.

use crate::arrow::Cell;
use pyo3::prelude::*;
use railwright_spec::human::{self, markup};
use railwright_spec::quantity::{Bytes, Seconds};
use std::fmt::Write as _;
use std::sync::Arc;

/// Complete answer of a class, as in the program's JSON.
pub(crate) trait Tree: Send + Sync {
    /// Answer as dictionaries and lists.
    fn tree(&self, py: Python<'_>) -> PyResult<Py<PyAny>>;
}

impl<T: serde::Serialize + Send + Sync> Tree for T {
    fn tree(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(pythonize::pythonize(py, self)?.unbind())
    }
}

/// Complete answer; `None` if the class is only a part of one.
pub(crate) type Source = Option<Arc<dyn Tree>>;

/// A field of a class for the stub file.
pub(crate) struct Described {
    pub(crate) name: &'static str,
    pub(crate) kind: String,
    pub(crate) doc: &'static str,
}

/// A class with a description.
pub(crate) trait Class {
    /// Name.
    const NAME: &'static str;
    /// Documentation.
    const DOC: &'static str;
    /// Fields.
    fn fields() -> Vec<Described>;
    /// Values as cells of a table, in the order of the fields.
    fn cells(&self) -> Vec<Cell>;
}

/// A type of a field: annotation, text for display, cell of a table.
pub(crate) trait Kind {
    /// Python annotation.
    fn annotation() -> String;
    /// Cell of a table; [`Cell::None`] unless the value is a scalar.
    fn cell(&self) -> Cell;
    /// Text for display, with the unit from the end of the field's name.
    fn shown(&self, name: &str) -> String {
        match self.cell() {
            Cell::None => "-".to_owned(),
            Cell::Truth(truth) => if truth { "yes" } else { "no" }.to_owned(),
            Cell::Integer(number) => u64::try_from(number).map_or_else(|_| number.to_string(), human::whole),
            Cell::Number(number) => in_unit(name, number),
            Cell::Text(text) => text,
        }
    }
}

/// Number with the unit from the end of its name.
fn in_unit(name: &str, number: f64) -> String {
    if name.ends_with("_s") {
        human::seconds(Seconds::new(number))
    } else if name.ends_with("_bytes") {
        human::bytes(Bytes::new(number))
    } else if name.ends_with("_dollars") {
        human::dollars(railwright_spec::quantity::Dollars::new(number))
    } else if name == "probability_of_fitting" && number > 0.995 {
        // The error distribution is unknown above 99%.
        "over 99%".to_owned()
    } else if ["mfu", "share", "probability_of_fitting", "efficiency"].iter().any(|end| name.ends_with(end)) {
        human::percent(number)
    } else {
        human::count(number)
    }
}

macro_rules! scalar {
    ($($type:ty => $name:literal, $cell:expr;)*) => {$(
        impl Kind for $type {
            fn annotation() -> String {
                $name.to_owned()
            }

            fn cell(&self) -> Cell {
                let make: fn(&$type) -> Cell = $cell;
                make(self)
            }
        }
    )*};
}

scalar! {
    f64 => "float", |value| Cell::Number(*value);
    u64 => "int", |value| i64::try_from(*value).map_or(Cell::None, Cell::Integer);
    bool => "bool", |value| Cell::Truth(*value);
    String => "str", |value| Cell::Text(value.clone());
}

impl<T: Kind> Kind for Option<T> {
    fn annotation() -> String {
        format!("{} | None", T::annotation())
    }

    fn cell(&self) -> Cell {
        self.as_ref().map_or(Cell::None, Kind::cell)
    }

    fn shown(&self, name: &str) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), |value| value.shown(name))
    }
}

impl<T: Kind> Kind for Vec<T> {
    fn annotation() -> String {
        format!("list[{}]", T::annotation())
    }

    fn cell(&self) -> Cell {
        Cell::None
    }

    fn shown(&self, name: &str) -> String {
        match self.as_slice() {
            [] => "none".to_owned(),
            [first] => first.shown(name),
            [first, rest @ ..] => format!("{} (and {} more)", first.shown(name), rest.len()),
        }
    }
}

/// Names and values in aligned lines.
pub(crate) fn aligned(class: &str, lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = class.to_owned();
    for (name, word) in lines {
        // Writing to a String cannot fail.
        let _ = write!(out, "\n  {name:width$}  {word}");
    }
    out
}

/// Names and values as an HTML table.
pub(crate) fn html(class: &str, lines: &[(&str, String)]) -> String {
    let mut rows = String::new();
    for (name, word) in lines {
        // Writing to a String cannot fail.
        let _ = write!(rows, "<tr><th style=\"text-align:left\">{name}</th><td>{}</td></tr>", markup(word));
    }
    format!("<table><caption>{class}</caption>{rows}</table>")
}

/// Declares a Python class: documentation, then fields with theirs.
macro_rules! record {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])+
        #[allow(clippy::struct_field_names, reason = "fields are named for Python, with their unit")]
        #[pyo3::pyclass(frozen, skip_from_py_object, module = "railwright")]
        #[derive(Clone)]
        pub(crate) struct $name {
            $($(#[doc = $field_doc])+ #[pyo3(get)] pub(crate) $field: $type,)*
            /// Complete answer; see [`Source`](crate::record::Source).
            pub(crate) source: $crate::record::Source,
        }

        impl $crate::record::Class for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($doc,)+);

            fn fields() -> Vec<$crate::record::Described> {
                vec![$($crate::record::Described {
                    name: stringify!($field),
                    kind: <$type as $crate::record::Kind>::annotation(),
                    doc: concat!($($field_doc,)+),
                },)*]
            }

            fn cells(&self) -> Vec<$crate::arrow::Cell> {
                vec![$($crate::record::Kind::cell(&self.$field),)*]
            }
        }

        impl $crate::record::Kind for $name {
            fn annotation() -> String {
                stringify!($name).to_owned()
            }

            fn cell(&self) -> $crate::arrow::Cell {
                $crate::arrow::Cell::None
            }

            fn shown(&self, _: &str) -> String {
                stringify!($name).to_owned()
            }
        }

        impl $name {
            fn lines(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), $crate::record::Kind::shown(&self.$field, stringify!($field))),)*]
            }
        }

        #[pyo3::pymethods]
        impl $name {
            fn __repr__(&self) -> String {
                $crate::record::aligned(stringify!($name), &self.lines())
            }

            fn _repr_html_(&self) -> String {
                $crate::record::html(stringify!($name), &self.lines())
            }

            /// Everything as dictionaries and lists. A complete answer equals `railwright --json` without `schema_version`, `kind` and
            /// `railwright`.
            fn to_dict(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> {
                if let Some(source) = &self.source {
                    return source.tree(py);
                }
                let fields = pyo3::types::PyDict::new(py);
                $(pyo3::types::PyDictMethods::set_item(&fields, stringify!($field), self.$field.clone())?;)*
                Ok(fields.into_any().unbind())
            }
        }
    };
}
pub(crate) use record;
