//! Questions to the commands of the program, in this process: values in, values out.
//!
//! Responsible for: arguments of Python to a question of [`railwright::door`], its answer to dictionaries, and Ctrl-C. Refuses to know any command.

use crate::arrow;
use crate::problem::raised;
use crate::rows::Rows;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyList};
use railwright::door::{self, Watch};
use railwright_answers::Refused;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Between two looks at Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks a command: its words, its arguments by name, and the form of the answer. Returns a dictionary with `kind`, `fields`, `text`, `html`,
/// `outcome`, `notes` and `command`.
#[pyfunction]
#[pyo3(signature = (command, arguments, form=None))]
pub(crate) fn ask<'py>(
    py: Python<'py>,
    command: Vec<String>,
    arguments: &Bound<'py, PyDict>,
    form: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let passed: Map<String, Value> = pythonize::depythonize(arguments.as_any())?;
    let watch = Arc::new(Watch::default());
    let (send, mut receive) = sync_channel(1);
    let seen = Arc::clone(&watch);
    // A thread of its own: the interpreter's looks at Ctrl-C, and may have a small stack.
    let working = thread::Builder::new().name("railwright".to_owned()).spawn(move || {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        // The receiver waits until this is sent, or the thread ends.
        let _ = send.send(door::ask(&words, &passed, form.as_deref(), &seen));
    });
    working.map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
    let answered = loop {
        let got;
        // A receiver may go to another thread, but not be lent to one.
        (receive, got) = py.detach(move || {
            let got = receive.recv_timeout(PAUSE);
            (receive, got)
        });
        match got {
            Ok(answered) => break answered,
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| watch.stop())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the command ended without an answer; please report this",
                ));
            }
        }
    };
    let answer = answered.map_err(|problems| raised(py, &Refused(problems)))?;
    let out = PyDict::new(py);
    out.set_item("kind", answer.kind)?;
    out.set_item("fields", pythonize::pythonize(py, &answer.fields)?)?;
    out.set_item("text", answer.text)?;
    out.set_item("data", answer.data)?;
    out.set_item("html", answer.html)?;
    out.set_item("outcome", answer.outcome)?;
    out.set_item("notes", answer.notes)?;
    out.set_item("command", answer.command)?;
    Ok(out)
}

/// Every command with its arguments and kinds of answers, as OpenAPI: what the functions of the package are generated from.
#[pyfunction]
pub(crate) fn description() -> String {
    door::description()
}

/// Records as a table: `items` are its rows, `fields` the dictionary of each, from whose scalars columns are made. Fields within fields have names
/// with dots.
#[pyfunction]
pub(crate) fn table<'py>(
    py: Python<'py>,
    class: String,
    items: Py<PyList>,
    fields: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Rows>> {
    let rows: Vec<Map<String, Value>> = pythonize::depythonize(fields)?;
    let columns = arrow::columns_of(&rows);
    Bound::new(py, Rows { class: class.into(), items, columns })
}
