//! Search as an iterator over its progress, on threads of its own without the interpreter lock.
//!
//! Responsible for: progress, cancellation and the result. Excludes ranking.

use crate::problem::raised;
use crate::question::{Arguments, Asked};
use crate::rows::RowsOf;
use crate::types::{Layout, SearchResult};
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};
use railwright_answers::{
    self as answers, ClosedForm, Effort, Named, Progress, Refused, SearchOptions, Searched, Settings, Stage,
    Watch,
};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_spec::run::RunSpec;
use railwright_tuner::search::Objective;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two checks of progress and Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// State shared by the threads of the search and the iterator.
#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    stage: Mutex<&'static str>,
    done: AtomicU64,
    total: AtomicU64,
    evaluated: AtomicU64,
    /// Shortest step time found, as bits of a float.
    best: AtomicU64,
}

impl Watch for Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn begin(&self, stage: Stage, units: u64) -> Box<dyn Progress + '_> {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = match stage {
            Stage::Ordering => "ordering",
            Stage::Searching => "searching",
            Stage::Simulating => "simulating",
        };
        self.done.store(0, Ordering::Relaxed);
        self.total.store(units, Ordering::Relaxed);
        Box::new(Part(self))
    }
}

/// Progress of one part.
struct Part<'a>(&'a Shared);

impl Progress for Part<'_> {
    fn advance(&self, units: u64, evaluated: Option<u64>) {
        self.0.done.fetch_add(units, Ordering::Relaxed);
        if let Some(evaluated) = evaluated {
            self.0.evaluated.fetch_max(evaluated, Ordering::Relaxed);
        }
    }

    fn found(&self, step_time: Seconds) {
        // Bits of positive floats have the order of their values.
        self.0.best.fetch_min(step_time.get().to_bits(), Ordering::Relaxed);
    }
}

type Running = JoinHandle<Result<Searched, Refused>>;

/// A running search: iterate over its progress, or call `result`.
#[pyclass(frozen, module = "railwright")]
pub(crate) struct Search {
    shared: Arc<Shared>,
    running: Mutex<Option<Running>>,
    result: Mutex<Option<Result<SearchResult, Refused>>>,
}

#[pymethods]
impl Search {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Next progress: `stage`, `done`, `total`, `evaluated`, `best_step_time_s`.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.look(py)?;
        if self.is_done() {
            return Err(PyStopIteration::new_err(()));
        }
        py.detach(|| thread::sleep(PAUSE));
        self.progress(py)
    }

    /// Stops the search. The result then has the best layouts so far.
    fn cancel(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// True if the search has ended.
    #[getter]
    fn done(&self) -> bool {
        self.is_done()
    }

    /// Waits for the end. Ctrl-C stops the search and raises `KeyboardInterrupt`.
    fn result(&self, py: Python<'_>) -> PyResult<SearchResult> {
        while !self.is_done() {
            self.look(py)?;
            py.detach(|| thread::sleep(PAUSE));
        }
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        if result.is_none() {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
            let ended = running.map(JoinHandle::join);
            let Some(Ok(ended)) = ended else {
                return Err(PyRuntimeError::new_err("the search ended without a result; please report this"));
            };
            *result = Some(ended.map(searched));
        }
        match result.as_ref() {
            Some(Ok(found)) => Ok(found.clone()),
            Some(Err(refused)) => Err(raised(py, refused)),
            None => Err(PyRuntimeError::new_err("the search has no result")),
        }
    }
}

impl Search {
    /// Stops the search at Ctrl-C.
    fn look(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals().inspect_err(|_| self.cancel())
    }

    fn is_done(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let shared = &self.shared;
        let best = f64::from_bits(shared.best.load(Ordering::Relaxed));
        let out = PyDict::new(py);
        out.set_item("stage", *shared.stage.lock().unwrap_or_else(PoisonError::into_inner))?;
        out.set_item("done", shared.done.load(Ordering::Relaxed))?;
        out.set_item("total", shared.total.load(Ordering::Relaxed))?;
        out.set_item("evaluated", shared.evaluated.load(Ordering::Relaxed))?;
        out.set_item("best_step_time_s", best.is_finite().then_some(best))?;
        Ok(out)
    }
}

impl Drop for Search {
    /// Stops a search without an owner.
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

/// Starts a search for the best layouts.
#[pyfunction]
#[pyo3(signature = (
    model=None, cluster=None, *, run=None, objective="time", top=10, all=false, space=None, why_not=None,
    fit_probability=None, unlimited=false, threads=None, **settings
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn search(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<Clusters>,
    run: Option<&str>,
    objective: &str,
    top: usize,
    all: bool,
    space: Option<Vec<String>>,
    why_not: Option<Vec<String>>,
    fit_probability: Option<f64>,
    unlimited: bool,
    threads: Option<usize>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Search> {
    let failed = |problem: Problem| raised(py, &problem.into());
    let (specs, devices, texts) = open(py, model, cluster, run, settings)?;
    let objective = match objective {
        "time" => Objective::Time,
        "cost" => Objective::Dollars,
        "gpus" => Objective::Devices,
        "memory" => Objective::Headroom,
        other => {
            let shown = railwright_spec::human::shorten(other);
            return Err(failed(
                Problem::new(format!("`{shown}` is no objective"))
                    .in_file("objective")
                    .hint("use `time`, `cost`, `gpus` or `memory`"),
            ));
        }
    };
    let why_not: Result<Vec<Named>, Problem> =
        why_not.unwrap_or_default().iter().map(|text| Named::parse(text)).collect();
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = Some(threads.unwrap_or_else(cores));
    let effort = Effort { space: space.unwrap_or_default(), fit_probability, unlimited, threads };
    let wanted = SearchOptions {
        objective,
        pareto: None,
        top,
        all,
        map: false,
        why_not: why_not.map_err(failed)?,
        effort,
    };
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        stage: Mutex::new("starting"),
        done: AtomicU64::new(0),
        total: AtomicU64::new(0),
        evaluated: AtomicU64::new(0),
        best: AtomicU64::new(f64::INFINITY.to_bits()),
    });
    let watch = Arc::clone(&shared);
    let running = thread::spawn(move || {
        let asked = Settings::new(&specs, &devices, &texts)?;
        answers::search(&asked, &wanted, &ClosedForm, &*watch)
    });
    Ok(Search { shared, running: Mutex::new(Some(running)), result: Mutex::new(None) })
}

/// One cluster or several.
#[derive(FromPyObject)]
pub(crate) enum Clusters {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// Specifications, one per cluster, and the numbers of devices.
pub(crate) type Open = (Vec<RunSpec>, Vec<u64>, crate::texts::Given);

/// Specifications of a question with open settings.
pub(crate) fn open(
    py: Python<'_>,
    model: Option<&Bound<'_, PyAny>>,
    cluster: Option<Clusters>,
    run: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Open> {
    let settings = settings.map(PyDictMethods::copy).transpose()?.unwrap_or_else(|| PyDict::new(py));
    let mut devices: Vec<u64> = Vec::new();
    for name in ["gpus", "devices"] {
        let Some(list) = settings.get_item(name)?.and_then(|value| value.extract::<Vec<u64>>().ok()) else {
            continue;
        };
        devices = list;
        settings.del_item(name)?;
    }
    let clusters: Vec<Option<String>> = match cluster {
        None => vec![None],
        Some(Clusters::One(word)) => vec![Some(word)],
        Some(Clusters::Several(words)) => words.into_iter().map(Some).collect(),
    };
    let mut specs = Vec::new();
    let mut texts = crate::texts::Given::default();
    for word in &clusters {
        let arguments =
            Arguments { model, cluster: word.as_deref(), run, plan: None, settings: Some(&settings) };
        let asked = Asked::new(py, &arguments)?;
        texts = asked.texts;
        specs.push(asked.spec);
    }
    Ok((specs, devices, texts))
}

fn searched(answer: Searched) -> SearchResult {
    let layouts = answer.shown.iter().map(|shown| {
        let (ranked, candidate) = (&shown.ranked, &shown.ranked.candidate);
        Layout {
            rank: ranked.rank as u64,
            cluster: shown.cluster.clone(),
            devices: candidate.devices,
            layout: shown.layout.clone(),
            step_time_s: candidate.step_time.get(),
            step_time_low_s: ranked.step_time_interval.low.get(),
            step_time_high_s: ranked.step_time_interval.high.get(),
            mfu: ranked.mfu,
            tokens_per_second: candidate.tokens_per_second,
            memory_bytes: candidate.memory.device.get(),
            probability_of_fitting: candidate.probability_of_fitting,
            behind: ranked.behind,
            tied_with_best: candidate.tied_with_best,
            trillion_tokens_dollars: ranked.dollars_per_trillion_tokens.map(Dollars::get),
            run_file: shown.run_file.clone(),
            source: None,
        }
    });
    SearchResult {
        title: answer.title.clone(),
        complete: answer.is_complete,
        strategies: answer.counters.enumerated,
        layouts: RowsOf::new(layouts),
        chosen: answer.chosen.clone(),
        doubts: answer.doubts.clone(),
        source: Some(Arc::new(answer)),
    }
}
