//! The paths passed at the start of the server, for the web UI.
//!
//! Responsible for: the run and the recordings to open first, and the examples. Does not read files: see
//! [`paths`].

#[cfg(not(target_family = "wasm"))]
mod paths;

#[cfg(not(target_family = "wasm"))]
pub(super) use paths::given;

use crate::commands::examples;
use crate::input::jobs_found;
use railwright_answers::spelled;
use railwright_spec::run::parse;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Given paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// Readable paths.
    pub(super) roots: Vec<PathBuf>,
    /// Arguments of `estimate` for the first run that was given.
    pub(super) run: Option<Map<String, Value>>,
    /// Folders and files with traces or other records.
    pub(super) traces: Vec<String>,
    folder: Option<String>,
}

impl Given {
    /// Initial state of the web UI, as the fragment of its address.
    pub(super) fn fragment(&self) -> &'static str {
        match (&self.run, self.traces.is_empty()) {
            (None, false) => "#/traces",
            (Some(_), _) => "#/calculator",
            (None, true) => "",
        }
    }

    /// JSON for the web UI.
    pub(super) fn json(&self) -> Value {
        let examples: Vec<Value> = examples::list()
            .map(|(name, about, text)| {
                let settings = parse(text, name).ok().and_then(|spec| spelled(&spec));
                let run: Map<String, Value> =
                    settings.into_iter().flatten().map(|(name, value)| (name, json!(value))).collect();
                json!({ "name": name, "about": about, "run": run })
            })
            .collect();
        let jobs_found = jobs_found::list(&self.traces);
        json!({
            "railwright": env!("CARGO_PKG_VERSION"),
            "api": super::openapi::VERSION,
            "run": self.run,
            "traces": self.traces,
            "folder_of_traces": self.folder,
            "jobs": jobs_found.jobs,
            "more_jobs": jobs_found.more,
            "examples": examples,
        })
    }
}
