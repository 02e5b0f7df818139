//! Sources of a run's settings, as typed.

/// Sources of a run's settings, as typed.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A name of the catalogue or a file.
    pub model: Option<String>,
    /// A launch file.
    pub launch: Option<String>,
    /// Variables and arguments of the launch file.
    pub launch_args: Option<String>,
    /// A run file.
    pub run: Option<String>,
    /// A name of the catalogue or a file.
    pub cluster: Option<String>,
    /// Settings as `key=value`.
    pub set: Vec<String>,
    /// Flag and value of a shorthand of the sharding.
    pub sharding: Option<(&'static str, String)>,
    /// Settings of flags: the flag, the key, the value.
    pub settings: Vec<(String, String, String)>,
}

impl From<&Self> for Sources {
    fn from(sources: &Self) -> Self {
        sources.clone()
    }
}
