//! From a function's arguments to the specification of a run, in the same layers as on the command line.
//!
//! Responsible for: models by name, path, text or value; clusters by name or path; plans of frameworks;
//! settings by keyword. Excludes resolution.

use crate::problem::{raise, raised};
use crate::texts::{GIVEN, Given};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use railwright_answers::{Refused, Resolved, Texts as _, cluster, key_of_keyword, resolve, run_file};
use railwright_launch::Open;
use railwright_spec::problem::{Place, Problem};
use railwright_spec::run::{ModelSpec, RunSpec, Value};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::path::Path;

/// A specification and its texts.
pub(crate) struct Asked {
    pub(crate) spec: RunSpec,
    pub(crate) texts: Given,
}

/// Arguments common to all functions.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) model: Option<&'a Bound<'py, PyAny>>,
    pub(crate) cluster: Option<&'a str>,
    pub(crate) run: Option<&'a str>,
    pub(crate) plan: Option<&'a Bound<'py, PyAny>>,
    pub(crate) settings: Option<&'a Bound<'py, PyDict>>,
}

impl Asked {
    /// Reads the arguments.
    pub(crate) fn new(py: Python<'_>, arguments: &Arguments<'_, '_>) -> PyResult<Self> {
        let failed = |problem: Problem| raise(py, problem);
        let mut texts = Given::default();
        let mut spec = match arguments.run {
            Some(path) => run_file(path, &texts).map_err(failed)?,
            None => RunSpec::default(),
        };
        let open = match arguments.plan {
            Some(plan) => Some(launched(py, plan, &mut spec, &mut texts)?),
            None => None,
        };
        if let Some(model) = arguments.model {
            set_model(py, model, &mut spec, &mut texts)?;
        }
        if let Some(word) = arguments.cluster {
            let devices = spec.cluster.devices;
            spec.use_cluster(cluster(word, &texts).map_err(failed)?);
            spec.cluster.devices = spec.cluster.devices.or(devices);
        }
        if let Some(settings) = arguments.settings {
            set(py, settings, &mut spec)?;
        }
        if spec.model == ModelSpec::default() {
            let problem = Problem::new("no model is set");
            return Err(failed(problem.hint("name one, as in `railwright.estimate(\"llama-3.1-8b\", ...)`")));
        }
        if spec.cluster.preset.is_none() && spec.cluster.accelerator.is_none() {
            let problem = Problem::new("no cluster is set");
            return Err(failed(problem.hint("name one, as in `cluster=\"dgx-h100\"`, with `gpus=64`")));
        }
        if let Some(open) = open {
            closed(&spec, &open).map_err(|refused| raised(py, &refused))?;
        }
        Ok(Self { spec, texts })
    }

    /// Resolves the run.
    pub(crate) fn resolved(&self, py: Python<'_>) -> PyResult<Resolved> {
        resolve(self.spec.clone(), &self.texts).map_err(|refused| raised(py, &refused))
    }
}

/// Sets keyword arguments. A batch among them replaces the batch of earlier layers.
pub(crate) fn set(py: Python<'_>, settings: &Bound<'_, PyDict>, spec: &mut RunSpec) -> PyResult<()> {
    let mut all = Vec::with_capacity(settings.len());
    for (word, value) in settings.iter() {
        let word: String = word.extract()?;
        let key = key_of_keyword(&word).map_err(|problem| raise(py, problem))?;
        all.push((word, key.path(), value));
    }
    let later: Vec<&str> =
        all.iter().filter(|(_, _, value)| !value.is_none()).map(|(_, path, _)| path.as_str()).collect();
    spec.clear_replaced(&later);
    for (word, path, value) in all {
        if value.is_none() {
            continue;
        }
        let done = if let Ok(text) = value.cast::<PyString>() {
            spec.set_flag(&word, &path, &text.to_cow()?)
        } else {
            let place = Place { file: word.clone(), ..Place::default() };
            spec.set_at(&path, &value_of(&value)?, place)
        };
        done.map_err(|problem| raise(py, problem))?;
    }
    Ok(())
}

fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Flag(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        // A number out of range is passed as its digits, so that it is rejected as a number.
        return Ok(match value.extract() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(value.str()?.to_string()),
        });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Number(value.extract()?));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Value::Text(text));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(Value::List(value.try_iter()?.map(|item| value_of(&item?)).collect::<PyResult<_>>()?));
    }
    // Accepts integers and floats of numpy and torch.
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::Number(number));
    }
    let kind = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!("a setting is a number, a string, a Boolean or a list, not `{kind}`")))
}

fn set_model(
    py: Python<'_>,
    model: &Bound<'_, PyAny>,
    spec: &mut RunSpec,
    texts: &mut Given,
) -> PyResult<()> {
    spec.model = ModelSpec::default();
    let word = match model.extract::<String>() {
        Ok(word) => Some(word),
        // A path of `pathlib`.
        Err(_) if model.hasattr("__fspath__")? => Some(model.call_method0("__fspath__")?.extract()?),
        Err(_) => None,
    };
    let Some(word) = word else {
        let config = plain(py, model)?;
        texts.config = Some(config.to_string());
        spec.model.config = Some(GIVEN.to_owned());
        let name = ["_name_or_path", "model_type"].into_iter().find_map(|key| {
            config.get(key).and_then(Json::as_str).filter(|name| !name.is_empty()).map(str::to_owned)
        });
        spec.model.name = Some(name.unwrap_or_else(|| "custom".to_owned()));
        return Ok(());
    };
    if word.trim_start().starts_with('{') {
        texts.config = Some(word);
        spec.model.config = Some(GIVEN.to_owned());
        spec.model.name = Some("custom".to_owned());
        return Ok(());
    }
    let is_known = railwright_spec::model::by_name(&word).is_ok();
    let inside = format!("{}/config.json", word.trim_end_matches('/'));
    if !is_known && texts.is_file(&inside) {
        spec.model.config = Some(inside);
    } else if !is_known
        && (texts.is_file(&word)
            || Path::new(&word).extension().is_some_and(|e| e.eq_ignore_ascii_case("json")))
    {
        spec.model.config = Some(word);
    } else {
        spec.set_flag("model", "model.name", &word).map_err(|problem| raise(py, problem))?;
    }
    Ok(())
}

/// A mapping, or an object with `to_dict()` or fields, as plain data.
fn plain(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Json> {
    let mapping = if value.is_instance_of::<PyDict>() {
        value.clone()
    } else if value.hasattr("to_dict")? {
        value.call_method0("to_dict")?
    } else if value.hasattr("__dict__")? {
        value.getattr("__dict__")?
    } else {
        let kind = value.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!(
            "expected a mapping or an object with fields, not `{kind}`"
        )));
    };
    let prepared = py.import("railwright._problem")?.call_method1("plain", (mapping,))?;
    pythonize::depythonize(&prepared).map_err(PyErr::from)
}

/// Rejects runs with settings that the framework's arguments decide but do not reveal, and runs without a
/// number of devices.
fn closed(spec: &RunSpec, open: &[Open]) -> Result<(), Refused> {
    let is_open = |open: &&Open| {
        let key = open.key.as_str();
        spec.get(key).is_none()
            && !open.source.is_empty()
            && (!key.starts_with("model.") || spec.model == ModelSpec::default())
    };
    let mut problems: Vec<Problem> = open
        .iter()
        .filter(is_open)
        .map(|open| Problem::new(format!("`{}` is open: {}", open.key, open.why)).in_file("plan"))
        .collect();
    if spec.cluster.devices.is_none() && spec.plan.data_parallel.is_none() {
        let problem = Problem::new("the number of devices is not set").in_file("plan");
        problems.push(problem.hint("add the number, as in `gpus=64`"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refused(problems)) }
}

/// Converts Megatron-LM's arguments as a namespace, or a torchtitan job configuration, to a layer of the run.
/// Returns the settings that they leave open.
fn launched(
    py: Python<'_>,
    plan: &Bound<'_, PyAny>,
    spec: &mut RunSpec,
    texts: &mut Given,
) -> PyResult<Vec<Open>> {
    let source = plain(py, plan)?;
    let (text, file) = match source.get("tensor_model_parallel_size") {
        Some(_) => (dump(&source), "args"),
        None => (source.to_string(), "job config"),
    };
    let launch = railwright_launch::read(&text, file).ok_or_else(|| {
        let problem =
            Problem::new("`plan` is neither a Megatron-LM namespace nor a torchtitan job configuration");
        raise(py, problem.hint("pass `args` of Megatron-LM, or `job_config.to_dict()` of torchtitan"))
    })?;
    let launch = launch.map_err(|problems| raised(py, &problems.into()))?;
    spec.overlay(&launch.spec);
    if let Some(config) = launch.model_config {
        texts.config = Some(config);
        spec.model.config = Some(GIVEN.to_owned());
    }
    if spec.model.layers.is_some() || spec.model.config.is_some() {
        spec.model.name.get_or_insert_with(|| "custom".to_owned());
    }
    Ok(launch.open)
}

/// A namespace in the format of Megatron-LM's printed arguments, for the reader of logs.
fn dump(source: &Json) -> String {
    let mut out = "------------------------ arguments ------------------------\n".to_owned();
    for (name, value) in source.as_object().into_iter().flatten() {
        let word = match value {
            Json::Null => "None".to_owned(),
            Json::Bool(true) => "True".to_owned(),
            Json::Bool(false) => "False".to_owned(),
            Json::String(text) => text.replace('\n', " "),
            other => other.to_string(),
        };
        // Writing to a String is infallible.
        let _ = writeln!(out, "  {name} {} {word}", ".".repeat(48_usize.saturating_sub(name.len()).max(3)));
    }
    out.push_str("-------------------- end of arguments ---------------------\n");
    out
}
