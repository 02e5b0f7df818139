//! Paths passed at the start of the server: runs, traces, and readable files.
//!
//! Responsible for: detection of runs and traces by content. Reads only the header of a trace.

use crate::{CONFIG_LIMIT, LOG_LIMIT, Refused, cannot, launch_files, read, run, tabular};
use railwright_answers::spelled;
use railwright_launch::Format;
use railwright_profiler::readers;
use railwright_spec::problem::Problem;
use railwright_spec::run::RunSpec;
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Paths passed at the start of a server.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Readable paths.
    pub roots: Vec<PathBuf>,
    /// Arguments of `estimate` for the first run that was given.
    pub run: Option<Map<String, Value>>,
    /// Folders and files with traces or other records.
    pub traces: Vec<String>,
    /// The first folder with traces.
    pub folder: Option<String>,
}

impl Given {
    /// Initial state of the web UI, as the fragment of its address.
    pub fn fragment(&self) -> &'static str {
        match (&self.run, self.traces.is_empty()) {
            (None, false) => "#/traces",
            (Some(_), _) => "#/calculator",
            (None, true) => "",
        }
    }
}

/// Reads the given paths.
pub fn given(paths: &[String]) -> Result<Given, Refused> {
    let mut given = Given::default();
    for path in paths {
        let real = Path::new(path).canonicalize().map_err(|error| cannot(&error, path))?;
        let name = real.display().to_string();
        match kind(&real, &name)? {
            Kind::Run(flag) => {
                let spec = if flag == "run" { Some(run::from_file(&name)?) } else { None };
                // Files named by a run file may be read with it.
                let named = spec.iter().flat_map(|spec| [&spec.model.config, &spec.cluster.calibration]);
                let named_files = named.flatten().filter_map(|path| Path::new(path).canonicalize().ok());
                given.roots.extend(named_files);
                if given.run.is_none() {
                    given.run = Some(settings(flag, &name, spec)?);
                }
            }
            Kind::Records => {
                if real.is_dir() {
                    given.folder.get_or_insert_with(|| name.clone());
                }
                given.traces.push(name);
            }
        }
        given.roots.push(real);
    }
    Ok(given)
}

/// Purpose of a path.
enum Kind {
    /// A run, by this argument of `estimate`.
    Run(&'static str),
    /// Traces, logs, dumps.
    Records,
}

fn kind(path: &Path, name: &str) -> Result<Kind, Problem> {
    if path.is_dir() {
        return Ok(if path.join("config.json").is_file() { Kind::Run("model") } else { Kind::Records });
    }
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut head));
    opened.map_err(|error| cannot(&error, name))?;
    let is_record = tabular::detect(&head).is_some() || readers::detect(&head).is_some();
    if is_record || std::str::from_utf8(&head).is_err_and(|error| error.error_len().is_some()) {
        return Ok(Kind::Records);
    }
    let text = read(name, CONFIG_LIMIT)?;
    Ok(match launch_files::format(&text) {
        Some(Format::RunFile) => Kind::Run("run"),
        Some(Format::HuggingFace) => Kind::Run("model"),
        Some(_) => Kind::Run("launch"),
        None if path.extension().is_some_and(|e| e == "toml") => Kind::Run("run"),
        None => Kind::Records,
    })
}

/// The arguments of a run: as separate values, so that the web UI can change one of them, or the file.
fn settings(flag: &str, name: &str, spec: Option<RunSpec>) -> Result<Map<String, Value>, Refused> {
    let spec = match spec {
        None if flag == "launch" => {
            let text = read(name, LOG_LIMIT)?;
            let launch = railwright_launch::read(&text, name).transpose()?;
            launch.filter(|launch| launch.model_config.is_none()).map(|launch| launch.spec)
        }
        spec => spec,
    };
    let spelled = spec.and_then(|spec| spelled(&spec));
    Ok(match spelled {
        Some(settings) => settings.into_iter().map(|(name, value)| (name, json!(value))).collect(),
        None => Map::from_iter([(flag.to_owned(), json!(name))]),
    })
}
