//! Rows of an answer: a sequence of records that is also an Arrow table.

use crate::arrow::{self, Cell};
use crate::record::{Class, Kind};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use railwright_spec::human::markup;
use std::borrow::Cow;
use std::sync::Arc;

/// Rows of one class, as a field of a record.
#[derive(Clone)]
pub(crate) struct RowsOf<T>(pub(crate) Arc<Vec<T>>);

impl<T> RowsOf<T> {
    pub(crate) fn new(rows: impl IntoIterator<Item = T>) -> Self {
        Self(Arc::new(rows.into_iter().collect()))
    }
}

impl<T: Class> Kind for RowsOf<T> {
    fn annotation() -> String {
        format!("Rows[{}]", T::NAME)
    }

    fn cell(&self) -> Cell {
        Cell::None
    }

    fn shown(&self, _: &str) -> String {
        match self.0.len() {
            0 => "none".to_owned(),
            count => format!("{count} x {}", T::NAME),
        }
    }
}

impl<'py, T> IntoPyObject<'py> for RowsOf<T>
where
    T: Class + Clone + IntoPyObject<'py>,
    PyErr: From<<T as IntoPyObject<'py>>::Error>,
{
    type Target = Rows;
    type Output = Bound<'py, Rows>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let cells: Vec<Vec<Cell>> = self.0.iter().map(Class::cells).collect();
        let kinds: Vec<(&'static str, String)> =
            T::fields().into_iter().map(|field| (field.name, field.kind)).collect();
        let items = PyList::new(py, self.0.iter().cloned())?.unbind();
        Bound::new(py, Rows { class: T::NAME.into(), items, columns: arrow::columns(&kinds, &cells) })
    }
}

/// A sequence of records, and a table for pandas, polars and DuckDB through `__arrow_c_stream__`.
#[pyclass(frozen, sequence, module = "railwright", generic)]
pub(crate) struct Rows {
    pub(crate) class: Cow<'static, str>,
    pub(crate) items: Py<PyList>,
    pub(crate) columns: Vec<arrow::Column>,
}

#[pymethods]
impl Rows {
    fn __len__(&self, py: Python<'_>) -> usize {
        self.items.bind(py).len()
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<PyAny>> {
        let items = self.items.bind(py);
        let at = if index < 0 { items.len().checked_add_signed(index) } else { usize::try_from(index).ok() };
        match at.filter(|at| *at < items.len()) {
            Some(at) => Ok(items.get_item(at)?.unbind()),
            None => Err(PyIndexError::new_err("no such row")),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let header: Vec<String> = self.columns.iter().map(|column| column.name.to_string()).collect();
        let mut rows = vec![header];
        rows.extend((0..self.items.bind(py).len()).map(|row| self.row(row)));
        let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let lines: Vec<String> = rows
            .iter()
            .map(|row| {
                let cells: Vec<String> =
                    row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
                cells.join("  ")
            })
            .collect();
        format!("Rows[{}]\n{}", self.class, lines.join("\n"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        let line = |tag: &str, cells: Vec<String>| {
            let cells: Vec<String> =
                cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", markup(cell))).collect();
            let cells = cells.concat();
            format!("<tr>{cells}</tr>")
        };
        let head = line("th", self.columns.iter().map(|column| column.name.to_string()).collect());
        let body: String = (0..self.items.bind(py).len()).map(|row| line("td", self.row(row))).collect();
        format!("<table>{head}{body}</table>")
    }

    /// Table as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore a requested schema.
        drop(requested_schema);
        arrow::stream(py, &self.columns, self.items.bind(py).len())
    }
}

impl Rows {
    /// Row as texts for display.
    fn row(&self, row: usize) -> Vec<String> {
        self.columns.iter().map(|column| column.shown(row)).collect()
    }
}
