//! The kind of a side of a comparison.
//!
//! Responsible for: detection of a predicted run, a log or traces by content. Does not read them.

use crate::{LOG_LIMIT, access, launch_files};
use railwright_launch::Format;
use std::path::Path;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A run file or a launch file: the calculator's prediction.
    Run,
    /// A training log.
    Log,
    /// Anything else: traces, whose reader rejects other files.
    Traces,
}

/// The kind of a path.
pub fn of(path: &str) -> Kind {
    if Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Kind::Run;
    }
    let is_address = crate::remote::is_address(path);
    if !is_address && !access::is_file(Path::new(path)) {
        return Kind::Traces;
    }
    let records = crate::jobs_found::format(path);
    let is_log = records == Some("training log");
    // Run files and launch files are local.
    if is_address {
        return if is_log { Kind::Log } else { Kind::Traces };
    }
    if records.is_some() && !is_log {
        return Kind::Traces;
    }
    // A log may be compressed, and then it is not text.
    let Ok(text) = crate::read(path, LOG_LIMIT) else {
        return if is_log { Kind::Log } else { Kind::Traces };
    };
    match launch_files::format(&text) {
        Some(Format::MegatronLog) => Kind::Log,
        Some(Format::Trace | Format::NcclTests | Format::Topology) => Kind::Traces,
        Some(_) if !is_log => Kind::Run,
        // Logs print configurations, and scripts contain words of logs: steps decide.
        Some(_) => {
            if railwright_profiler::log::TrainingLog::read(&text).reports.is_empty() {
                Kind::Run
            } else {
                Kind::Log
            }
        }
        None if is_log => Kind::Log,
        None => Kind::Traces,
    }
}
