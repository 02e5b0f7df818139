//! Problems of a question as the exception `railwright.Problem`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use railwright_answers::{Refused, key_of_keyword};
use railwright_spec::problem::Problem;
use railwright_spec::run::Key;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    CLASS.import(py, "railwright._problem", "Problem")
}

fn instance<'py>(
    py: Python<'py>,
    problem: &Problem,
    others: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("hint", problem.hint.as_deref())?;
    // A flag of the command line is a keyword argument here.
    let place = problem.place.as_deref().cloned().map(|mut place| {
        if let Some(flag) = place.file.strip_prefix("--") {
            place.file = flag.replace('-', "_");
        }
        place
    });
    let place = place.as_ref();
    fields.set_item("place", place.map(ToString::to_string))?;
    fields.set_item("file", place.map(|place| place.file.as_str()).filter(|file| !file.is_empty()))?;
    fields.set_item("line", place.and_then(|place| place.line))?;
    // A keyword argument corresponds to a key of a run file.
    let key =
        place.and_then(|place| place.key.clone().or_else(|| key_of_keyword(&place.file).ok().map(Key::path)));
    fields.set_item("key", key)?;
    fields.set_item("others", others)?;
    class(py)?.call((problem.message.as_str(),), Some(&fields))
}

/// Exception for all problems of a question: the first problem, which contains the others.
pub(crate) fn raised(py: Python<'_>, refused: &Refused) -> PyErr {
    let made = (|| {
        let mut all = refused.0.iter();
        let first = all.next().cloned().unwrap_or_else(|| Problem::new("the question has no answer"));
        let others = all.map(|problem| instance(py, problem, Vec::new())).collect::<PyResult<Vec<_>>>()?;
        instance(py, &first, others)
    })();
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Exception for one problem.
pub(crate) fn raise(py: Python<'_>, problem: Problem) -> PyErr {
    raised(py, &Refused(vec![problem]))
}
