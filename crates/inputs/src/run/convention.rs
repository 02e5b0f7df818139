//! Settings by convention: `railwright.toml` and environment variables.
//!
//! Responsible for: the run file of the working directory or its nearest parent, `RAILWRIGHT_RUN` in its
//! place, and `RAILWRIGHT_CLUSTER`. The command line alone enables them: the server and linked programs read
//! only given files.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the run file.
pub const FILE: &str = "railwright.toml";
/// Path of the run file; empty to disable it.
const RUN: &str = "RAILWRIGHT_RUN";
/// Name or file of the cluster.
const CLUSTER: &str = "RAILWRIGHT_CLUSTER";

#[derive(Debug, Default)]
struct Found {
    run: Option<String>,
    cluster: Option<String>,
}

static FOUND: OnceLock<Found> = OnceLock::new();
static HAS_READ_RUN: AtomicBool = AtomicBool::new(false);
static HAS_READ_CLUSTER: AtomicBool = AtomicBool::new(false);

/// Enables the conventions for this process.
pub fn enable() {
    let run = match std::env::var(RUN) {
        Ok(path) => Some(path).filter(|path| !path.is_empty()),
        Err(_) => std::env::current_dir().ok().and_then(|folder| nearest(&folder)),
    };
    let cluster = std::env::var(CLUSTER).ok().filter(|word| !word.is_empty());
    // A second call changes nothing: the conventions of a process are fixed at its start.
    let _ = FOUND.set(Found { run, cluster });
}

/// The run file of a folder or of its nearest parent.
fn nearest(folder: &Path) -> Option<String> {
    let path = folder.ancestors().map(|parent| parent.join(FILE)).find(|path| crate::disk::is_file(path))?;
    let is_here = path.parent() == Some(folder);
    Some(if is_here { FILE.to_owned() } else { path.to_string_lossy().into_owned() })
}

/// The run file that applies without `--run`.
pub fn run_file() -> Option<&'static str> {
    let path = FOUND.get()?.run.as_deref()?;
    HAS_READ_RUN.store(true, Ordering::Relaxed);
    Some(path)
}

/// The cluster that applies without `--cluster`.
pub fn cluster() -> Option<&'static str> {
    let word = FOUND.get()?.cluster.as_deref()?;
    HAS_READ_CLUSTER.store(true, Ordering::Relaxed);
    Some(word)
}

/// Tests whether a run without a cluster takes one by convention.
pub fn has_cluster() -> bool {
    FOUND.get().is_some_and(|found| found.run.is_some() || found.cluster.is_some())
}

/// The conventions that a command used, for a note.
pub fn used() -> Option<String> {
    let found = FOUND.get()?;
    let run = found.run.as_ref().filter(|_| HAS_READ_RUN.load(Ordering::Relaxed));
    let cluster = found.cluster.as_ref().filter(|_| HAS_READ_CLUSTER.load(Ordering::Relaxed));
    let parts = [
        run.map(|path| format!("settings from `{path}`")),
        cluster.map(|word| format!("cluster `{word}` from {CLUSTER}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
