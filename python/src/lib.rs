//! The Python module `railwright._railwright`: questions and typed answers in the same process.
//!
//! Responsible for: converting Python values to questions of [`railwright_answers`] and of the program's
//! commands, and their answers to classes. Excludes all computation.

mod arrow;
mod asking;
mod problem;
mod question;
mod record;
mod report;
mod rows;
mod running;
mod solvers;
mod stub;
mod texts;
mod types;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _railwright(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    types::add(module)?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<report::Prepared>()?;
    module.add_class::<running::Search>()?;
    module.add_function(wrap_pyfunction!(report::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(report::memory, module)?)?;
    module.add_function(wrap_pyfunction!(report::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(report::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(report::whatif, module)?)?;
    module.add_function(wrap_pyfunction!(running::search, module)?)?;
    module.add_function(wrap_pyfunction!(solvers::size, module)?)?;
    module.add_function(wrap_pyfunction!(solvers::recompute, module)?)?;
    module.add_function(wrap_pyfunction!(solvers::balance, module)?)?;
    module.add_function(wrap_pyfunction!(stub::stub, module)?)?;
    module.add_function(wrap_pyfunction!(asking::ask, module)?)?;
    module.add_function(wrap_pyfunction!(asking::description, module)?)?;
    module.add_function(wrap_pyfunction!(asking::table, module)?)?;
    Ok(())
}
