//! Questions to the commands of the program, in this process: values in, values out.
//!
//! Responsible for: converting Python arguments to a question of [`railwright::door`], its answer to
//! dictionaries, and Ctrl-C. Independent of the commands.

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

/// Interval between two checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs a command with its words, its arguments by name, and the format of the answer. Returns a dictionary
/// with `kind`, `fields`, `text`, `html`, `outcome`, `notes` and `command`.
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
    // A separate thread: the interpreter's thread checks for Ctrl-C, and may have a small stack.
    let working = thread::Builder::new().name("railwright".to_owned()).spawn(move || {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        // The receiver waits until this is sent, or the thread ends.
        let _ = send.send(door::ask(&words, &passed, form.as_deref(), &seen));
    });
    working.map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
    let answered = loop {
        let got;
        // A receiver is `Send`, but not `Sync`.
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

/// All commands with their arguments and kinds of answers, as OpenAPI: the source of the package's generated
/// functions.
#[pyfunction]
pub(crate) fn description() -> String {
    door::description()
}

/// Records as a table. `items` are its rows; `fields` are the dictionaries of the rows, whose scalars become
/// columns. Names of nested fields have dots.
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
