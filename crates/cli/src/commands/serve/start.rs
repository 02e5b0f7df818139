//! The paths passed at the start of the server, for the web UI.
//!
//! Responsible for: the run and the recordings to open first, and the examples. Does not read files.

use crate::commands::examples;
use crate::input::given::Given;
use crate::input::jobs_found;
use railwright_answers::spelled;
use railwright_spec::run::parse;
use serde_json::{Map, Value, json};

/// JSON for the web UI.
pub(super) fn json(given: &Given) -> Value {
    let examples: Vec<Value> = examples::list()
        .map(|(name, about, text)| {
            let settings = parse(text, name).ok().and_then(|spec| spelled(&spec));
            let run: Map<String, Value> =
                settings.into_iter().flatten().map(|(name, value)| (name, json!(value))).collect();
            json!({ "name": name, "about": about, "run": run })
        })
        .collect();
    let jobs_found = jobs_found::list(&given.traces);
    json!({
        "railwright": env!("CARGO_PKG_VERSION"),
        "api": railwright_server::VERSION,
        "run": given.run,
        "traces": given.traces,
        "folder_of_traces": given.folder,
        "jobs": jobs_found.jobs,
        "more_jobs": jobs_found.more,
        "examples": examples,
    })
}
