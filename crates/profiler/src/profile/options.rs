//! Options of a profile.

use crate::origins::By;
use crate::view::Tables;
use crate::windows::StepRange;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Flop;

/// Options, and values that traces do not record.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Tables of names.
    pub tables: Tables,
    /// A single step, by its number.
    pub step: Option<u64>,
    /// The steps that are read, all others are left out; otherwise those after the warm-up.
    pub steps: Option<StepRange>,
    /// A single rank. Other ranks are still used for steps and waits.
    pub rank: Option<u32>,
    /// The model's operations per step, over all ranks.
    pub flop_per_step: Option<Flop>,
    /// Number of ranks that share these FLOPs, if set by the run; otherwise the recorded world size.
    pub sharers: Option<u32>,
    /// The accelerator, if different from the traces or not recorded.
    pub accelerator: Option<String>,
    /// Also sum time by module or by line of Python.
    pub by: Option<By>,
    /// Format of the peak; by default that of the GEMM kernels.
    pub data_type: Option<DataType>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tables: Tables::shipped(),
            step: None,
            steps: None,
            rank: None,
            flop_per_step: None,
            sharers: None,
            accelerator: None,
            by: None,
            data_type: None,
        }
    }
}
