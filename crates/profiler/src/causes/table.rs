//! Names of frames to causes of idle time.
//!
//! Responsible for: reading the table and its order. Ignores durations, except the minimum of a row.

use super::Cause;
use crate::kernels::Pattern;
use crate::trace::HostKind;
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Deserialize;
use std::sync::OnceLock;

/// The table that ships with the program.
const SHIPPED: &str = include_str!("../../data/causes.toml");

/// Causes that a table may contain: others are derived from missing data.
const NAMED: [(&str, Cause); 10] = [
    ("allocation", Cause::Allocation),
    ("data_loading", Cause::DataLoading),
    ("blocking_copy", Cause::BlockingCopy),
    ("synchronisation", Cause::Synchronisation),
    ("compilation", Cause::Compilation),
    ("garbage_collection", Cause::GarbageCollection),
    ("checkpoint", Cause::Checkpoint),
    ("evaluation", Cause::Evaluation),
    ("profiler", Cause::Profiler),
    ("communication", Cause::Communication),
];

/// Kinds of frames as a table writes them.
const KINDS: [(&str, HostKind); 6] = [
    ("runtime", HostKind::Runtime),
    ("operator", HostKind::Operator),
    ("annotation", HostKind::Annotation),
    ("python", HostKind::Python),
    ("collective", HostKind::Collective),
    ("overhead", HostKind::Overhead),
];

/// Causes of idle time by the names of frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CauseTable {
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    cause: Cause,
    kinds: Vec<HostKind>,
    /// Minimum duration of a frame, in nanoseconds.
    least: i64,
    patterns: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    row: Vec<WrittenRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRow {
    cause: String,
    kinds: Vec<String>,
    #[serde(default)]
    least_us: u32,
    patterns: Vec<String>,
}

/// Value of a word in a list.
fn known<T: Copy>(word: &str, list: &[(&str, T)], what: &str) -> Result<T, Problem> {
    list.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = list.iter().map(|(name, _)| *name).collect();
        let all = format!("known are {}", names.join(", "));
        Problem::new(format!("`{word}` is not a {what}")).hint(did_you_mean(word, names, &all))
    })
}

impl CauseTable {
    /// The shipped table; a test checks that it can be read.
    pub fn shipped() -> Self {
        Self::parse(SHIPPED).unwrap_or_default()
    }

    /// The shipped table, read once for all ranks.
    pub(super) fn shared() -> &'static Self {
        static TABLE: OnceLock<CauseTable> = OnceLock::new();
        TABLE.get_or_init(Self::shipped)
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let written: Written =
            toml::from_str(text).map_err(|error| Problem::new(error.message().trim().to_owned()))?;
        let row = |row: WrittenRow| {
            let kinds = row.kinds.iter().map(|kind| known(kind, &KINDS, "kind of frame"));
            let patterns = row.patterns.iter().map(|text| {
                Pattern::parse(text)
                    .ok_or_else(|| Problem::new(format!("the pattern `{text}` matches every name")))
            });
            Ok(Row {
                cause: known(&row.cause, &NAMED, "cause of idle time")?,
                kinds: kinds.collect::<Result<_, Problem>>()?,
                least: i64::from(row.least_us) * 1_000,
                patterns: patterns.collect::<Result<_, Problem>>()?,
            })
        };
        Ok(Self { rows: written.row.into_iter().map(row).collect::<Result<_, Problem>>()? })
    }

    /// The indices of the rows that match a frame name, for any duration.
    pub(super) fn places(&self, kind: HostKind, name: &str) -> Vec<u8> {
        let name = name.to_ascii_lowercase();
        let fits = |row: &Row| row.kinds.contains(&kind) && row.patterns.iter().any(|p| p.fits(&name));
        (0u8..).zip(&self.rows).filter(|(_, row)| fits(row)).map(|(place, _)| place).collect()
    }

    /// Cause of the row at an index, and minimum duration of its frames in nanoseconds.
    pub(super) fn row(&self, place: u8) -> Option<(Cause, i64)> {
        self.rows.get(usize::from(place)).map(|row| (row.cause, row.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cause of a frame of 5 ms.
    fn cause(kind: HostKind, name: &str) -> Option<Cause> {
        let table = CauseTable::shipped();
        table.places(kind, name).first().and_then(|&place| table.row(place)).map(|row| row.0)
    }

    #[test]
    fn frames_of_real_traces_find_their_cause() {
        use HostKind::{Annotation, Operator, Overhead, Python, Runtime};
        for (kind, name, expected) in [
            (Runtime, "cudaMalloc", Some(Cause::Allocation)),
            (Runtime, "hipFree", Some(Cause::Allocation)),
            (Runtime, "cuMemCreate", Some(Cause::Allocation)),
            (Runtime, "cudaStreamSynchronize", Some(Cause::Synchronisation)),
            (Runtime, "hipMemcpyWithStream", Some(Cause::BlockingCopy)),
            (Runtime, "cudaMemcpyAsync", Some(Cause::BlockingCopy)),
            // From a millisecond on, see the test below.
            (Runtime, "cudaLaunchKernel", Some(Cause::Compilation)),
            (Runtime, "cuModuleLoadData", Some(Cause::Compilation)),
            (
                Operator,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                Some(Cause::DataLoading),
            ),
            (
                Annotation,
                "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                Some(Cause::DataLoading),
            ),
            (Python, "torch/utils/data/dataloader.py(630): __next__", Some(Cause::DataLoading)),
            (Python, "torch/_inductor/compile_fx.py(1350): compile_fx_inner", Some(Cause::Compilation)),
            (Runtime, "hipGraphInstantiateWithFlags", Some(Cause::Compilation)),
            (Runtime, "cudaGraphExecDestroy", Some(Cause::Compilation)),
            (Runtime, "cudaGraphLaunch", None),
            (Python, "torch/_inductor/cudagraph_trees.py(1012): _record", Some(Cause::Compilation)),
            (Python, "torch/_inductor/cudagraph_trees.py(880): run", None),
            // Functions that run compiled code or read its launch data do not compile.
            (Python, "torch/_inductor/compile_fx.py(1767): run", None),
            (Python, "triton/compiler/compiler.py(465): __getattribute__", None),
            // A function with the word in its file name is not a loader.
            (Python, "train_with_dataloader.py(63): train_step", None),
            (Annotation, "TSL:XlaCompile", Some(Cause::Compilation)),
            // Running compiled code is not compilation.
            (Annotation, "Torch-Compiled Region: 0/0", None),
            (Operator, "c10d::allreduce_", Some(Cause::Communication)),
            (Operator, "aten::_local_scalar_dense", Some(Cause::Synchronisation)),
            (Python, "<built-in function collect>", Some(Cause::GarbageCollection)),
            (Annotation, "save_checkpoint", Some(Cause::Checkpoint)),
            // Activation checkpointing writes no checkpoint to disk.
            (Operator, "CheckpointFunction", None),
            (Python, "torch/utils/checkpoint.py(451): checkpoint", None),
            (Annotation, "evaluate", Some(Cause::Evaluation)),
            (Overhead, "Lazy Function Loading", Some(Cause::Compilation)),
            (Overhead, "Command Buffer Full", None),
        ] {
            assert_eq!(cause(kind, name), expected, "{name}");
        }
    }

    #[test]
    fn short_launches_and_short_copies_are_no_cause_by_themselves() {
        let table = CauseTable::shipped();
        for (name, least) in [
            ("cudaLaunchKernel", 1_000_000),
            ("cudaMemcpyAsync", 100_000),
            ("cuMemcpyHtoDAsync_v2", 100_000),
            ("cuMemcpyDtoHAsync_v2", 100_000),
            ("cuMemcpyHtoD_v2", 0),
        ] {
            let places = table.places(HostKind::Runtime, name);
            let all: Vec<i64> =
                places.iter().filter_map(|&place| table.row(place)).map(|row| row.1).collect();
            assert_eq!(all, [least], "{name}");
        }
    }

    #[test]
    fn mistakes_in_a_table_are_reported() {
        let problem = |text: &str| CauseTable::parse(text).unwrap_err().message;
        assert_eq!(
            problem("[[row]]\ncause = \"alocation\"\nkinds = []\npatterns = []"),
            "`alocation` is not a cause of idle time"
        );
        assert_eq!(
            problem("[[row]]\ncause = \"profiler\"\nkinds = [\"kernel\"]\npatterns = []"),
            "`kernel` is not a kind of frame"
        );
        assert!(CauseTable::parse("[[row]]\ncause = \"profiler\"\nkinds = []\npatterns = [\"*\"]").is_err());
    }
}
