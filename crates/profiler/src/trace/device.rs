//! Identity and recorder of a trace.
//!
//! Responsible for: the facts at the head of a trace. Does not guess a rank: [`crate::job`] assigns ranks to
//! traces without one.

use serde::{Deserialize, Serialize};

/// Recorder of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// PyTorch's profiler (Kineto), any year.
    #[default]
    Kineto,
    /// Nsight Systems (SQLite export).
    NsightSystems,
    /// Another writer of Chrome's trace format.
    ChromeTrace,
    /// Profiler of XLA (JAX, TensorFlow, PyTorch/XLA; XPlane files).
    #[serde(rename = "xplane")]
    XPlane,
    /// AMD's rocprofv3 (SQLite database).
    Rocpd,
    /// An execution trace in the schema of MLCommons Chakra.
    Chakra,
}

/// Identity of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Identity {
    /// Label: the path of the file, with the member of an archive.
    pub label: String,
    /// Recorder of the trace.
    pub source: Source,
    /// The recorded rank.
    pub rank: Option<u32>,
    /// The recorded world size.
    pub world_size: Option<u32>,
    /// The communication backend: `nccl`, `gloo`, ...
    pub backend: Option<String>,
    /// The host, if recorded.
    pub host: Option<String>,
    /// Devices listed in the trace.
    pub devices: Vec<Device>,
    /// The device of this rank's activities among [`Self::devices`], by [`Device::id`].
    pub device: Option<u32>,
    /// Base of the file's times in nanoseconds, if it has one; [`super::GpuActivity::start`] and all other
    /// times include it.
    pub base: Option<i64>,
    /// Version of the communication library, as written.
    pub communication_library: Option<String>,
    /// True for a digest ([`crate::digest`]), which contains less than its trace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub digest: bool,
}

/// An accelerator as a trace describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Device {
    /// Its number on its host.
    pub id: u32,
    /// Name, as written.
    pub name: String,
    /// Its memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Its number of streaming multiprocessors or compute units.
    pub multiprocessors: Option<u32>,
}
