//! Layouts of an answer, and layouts that are impossible.

use railwright_tuner::ranking::Ranked;
use serde::Serialize;

/// A ranked candidate with the ways to use it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Candidate with its rank.
    pub ranked: Ranked,
    /// Index of its setting.
    pub setting: usize,
    /// Cluster as named by the user.
    pub cluster: String,
    /// Layout as flags.
    pub layout: String,
    /// Layout as flags without common settings, and with shortened lists.
    #[serde(skip)]
    pub short_layout: String,
    /// Command that estimates the layout.
    pub command: String,
    /// Run file of the layout.
    pub run_file: String,
}

/// A combination of cluster and devices that cannot be searched.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impossible {
    /// Cluster as named by the user.
    pub cluster: String,
    /// Number of devices.
    pub devices: u64,
    /// Reason.
    pub reason: String,
}
