//! Classes of answers: the only description of their fields, for attributes, tables and the stub file.

use crate::record::{Class as _, Described, record};
use crate::rows::RowsOf;
use pyo3::prelude::*;

record! {
    /// A warning about a run; see `railwright explain ID`.
    Warning {
        /// Stable identifier.
        id: String,
        /// Warning in one sentence.
        message: String,
    }
}

record! {
    /// A part of the step time on the critical stage.
    Part {
        /// Stable identifier, such as `compute.mlp.forward`; see `railwright explain`.
        id: String,
        /// Depth below the step, from 0.
        depth: u64,
        /// Title for display.
        title: String,
        /// Time, in seconds.
        time_s: f64,
        /// Share of the step time, 0 to 1.
        share: f64,
    }
}

record! {
    /// A pipeline stage of an estimate.
    Stage {
        /// Index of the stage, from 0.
        stage: u64,
        /// Number of layers.
        layers: u64,
        /// Forward pass of one micro-batch, in seconds.
        forward_s: f64,
        /// Backward pass of one micro-batch, recompute included, in seconds.
        backward_s: f64,
        /// Recompute of one micro-batch, in seconds.
        recompute_s: f64,
        /// Time of all passes in a step, in seconds.
        busy_s: f64,
        /// Exposed communication in passes, in seconds.
        exposed_s: f64,
        /// Idle time of the pipeline, in seconds.
        bubble_s: f64,
        /// Peak memory, in bytes.
        memory_bytes: f64,
        /// True if the breakdown is of this stage, the critical one.
        critical: bool,
    }
}

record! {
    /// A kind of collective of the critical stage.
    Collective {
        /// Parallel dimension: `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`.
        dimension: String,
        /// Purpose, for display.
        title: String,
        /// Operation, such as `all_reduce`.
        operation: String,
        /// Bytes of one collective, by the convention of nccl-tests.
        size_bytes: f64,
        /// Ranks in the process group.
        ranks: u64,
        /// Scale-up domains that the group spans.
        domains: u64,
        /// Number of collectives per step.
        count: f64,
        /// Time of one collective, in seconds.
        time_each_s: f64,
        /// Time of all of them in a step, in seconds.
        time_s: f64,
        /// Exposed time in a step, in seconds; `None` if it is part of the bubble.
        exposed_s: Option<f64>,
        /// Bus bandwidth, in bytes per second.
        bus_bandwidth_bytes_per_s: f64,
    }
}

record! {
    /// Devices of a different kind in a job.
    Pool {
        /// Name of the accelerator.
        accelerator: String,
        /// First rank on these devices.
        first_rank: u64,
        /// Number of devices.
        devices: u64,
    }
}

record! {
    /// Step time, memory and cost of a run.
    Estimate {
        /// Name of the model.
        model: String,
        /// Name of the accelerator.
        accelerator: String,
        /// Number of devices.
        devices: u64,
        /// Devices of other kinds among them.
        pools: RowsOf<Pool>,
        /// Plan in one line.
        plan: String,
        /// Identifier of the software generation.
        software: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Lower end of the step-time interval, in seconds.
        step_time_low_s: f64,
        /// Upper end of the step-time interval, in seconds.
        step_time_high_s: f64,
        /// Lower end of the range that is expected to contain at least half of the measurements, in seconds.
        step_time_half_low_s: f64,
        /// Upper end of that range, in seconds.
        step_time_half_high_s: f64,
        /// Coverage of the interval: share of measurements inside it.
        interval_share: f64,
        /// Throughput in tokens per second.
        tokens_per_second: f64,
        /// Throughput in tokens per second and device.
        tokens_per_second_per_device: f64,
        /// Model FLOP utilization relative to the peak of the compute format, with full attention FLOPs; `None` without a known peak.
        mfu: Option<f64>,
        /// Largest peak memory of any stage, in bytes.
        memory_bytes: f64,
        /// Device memory, in bytes.
        device_memory_bytes: f64,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits, 0 to 1.
        probability_of_fitting: f64,
        /// Training time (wall clock), in seconds; `None` without a number of tokens.
        training_time_s: Option<f64>,
        /// Rental cost of the training, in dollars; `None` without a number of tokens or a price.
        cost_dollars: Option<f64>,
        /// Pipeline stages.
        stages: RowsOf<Stage>,
        /// Collectives of the critical stage.
        communication: RowsOf<Collective>,
        /// Parts of the step time, depth first.
        time: RowsOf<Part>,
        /// Warnings.
        warnings: RowsOf<Warning>,
        /// Defaults of unspecified settings.
        chosen: Vec<String>,
    }
}

record! {
    /// Step time and memory of one plan, without a report.
    Evaluation {
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Largest peak memory of any stage, in bytes.
        memory_bytes: f64,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits, 0 to 1.
        probability_of_fitting: f64,
    }
}

record! {
    /// One item of a stage's memory at its peak.
    MemoryItem {
        /// Pipeline stage, from 0.
        stage: u64,
        /// Kind, such as `parameters` or `activations`.
        kind: String,
        /// Module; `None` if it belongs to none.
        module: Option<String>,
        /// Layer; `None` if it belongs to none.
        layer: Option<u64>,
        /// Size, in bytes.
        size_bytes: f64,
    }
}

record! {
    /// Memory of one pipeline stage at its peak.
    MemoryStage {
        /// Index of the stage, from 0.
        stage: u64,
        /// Memory allocated for tensors, in bytes.
        allocated_bytes: f64,
        /// Memory reserved by the allocator, in bytes.
        reserved_bytes: f64,
        /// Device memory, in bytes.
        device_bytes: f64,
        /// Moment of the peak, as text.
        moment: String,
    }
}

record! {
    /// Peak memory per pipeline stage.
    Memory {
        /// The run in one line.
        title: String,
        /// Largest peak memory of any stage, in bytes.
        memory_bytes: f64,
        /// Device memory, in bytes.
        device_memory_bytes: f64,
        /// Verdict: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits, 0 to 1.
        probability_of_fitting: f64,
        /// Index of the stage with the least free memory, from 0.
        worst_stage: u64,
        /// Pipeline stages.
        stages: RowsOf<MemoryStage>,
        /// Items of all stages.
        items: RowsOf<MemoryItem>,
        /// Warnings.
        warnings: RowsOf<Warning>,
    }
}

record! {
    /// A layout from a search.
    Layout {
        /// Rank, from 1.
        rank: u64,
        /// Cluster as named by the user.
        cluster: String,
        /// Number of devices.
        devices: u64,
        /// Settings of the layout as flags.
        layout: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Lower end of the step-time interval, in seconds.
        step_time_low_s: f64,
        /// Upper end of the step-time interval, in seconds.
        step_time_high_s: f64,
        /// Model FLOP utilization, 0 to 1; `None` without a known peak.
        mfu: Option<f64>,
        /// Throughput in tokens per second.
        tokens_per_second: f64,
        /// Largest peak memory of any stage, in bytes.
        memory_bytes: f64,
        /// Probability that the peak fits, 0 to 1.
        probability_of_fitting: f64,
        /// Time per token relative to the first layout, less 1.
        behind: f64,
        /// True if the difference to the first layout is within the model error.
        tied_with_best: bool,
        /// Rental cost of a trillion tokens, in dollars; `None` without a price.
        trillion_tokens_dollars: Option<f64>,
        /// Text of the run file.
        run_file: String,
    }
}

record! {
    /// The best layouts of a search space.
    SearchResult {
        /// The question in one line.
        title: String,
        /// True if the whole space was searched.
        complete: bool,
        /// Number of strategies in the space.
        strategies: u64,
        /// Layouts, best first.
        layouts: RowsOf<Layout>,
        /// Defaults of unspecified settings.
        chosen: Vec<String>,
        /// Warnings about the question.
        doubts: Vec<String>,
    }
}

record! {
    /// A change of a run and its effect.
    Change {
        /// Change of the run.
        name: String,
        /// True if the changed run is possible.
        possible: bool,
        /// Time of one step, in seconds; `None` if impossible.
        step_time_s: Option<f64>,
        /// Relative change of the time for the same tokens, as a share of the step before; `None` if impossible.
        step_time_share: Option<f64>,
        /// Throughput relative to the run before; `None` if impossible.
        speedup: Option<f64>,
        /// Model FLOP utilization, 0 to 1; `None` if impossible or without a known peak.
        mfu: Option<f64>,
        /// Largest peak memory of any stage, in bytes; `None` if impossible.
        memory_bytes: Option<f64>,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`; `None` if impossible.
        fit: Option<String>,
        /// First reason why the changed run is impossible; `None` if it is possible.
        reason: Option<String>,
    }
}

record! {
    /// Effects of changes, one at a time and combined.
    WhatIf {
        /// Name of the model.
        model: String,
        /// Plan before the changes, in one line.
        plan: String,
        /// Time of one step before the changes, in seconds.
        step_time_s: f64,
        /// Largest peak memory of any stage before the changes, in bytes.
        memory_bytes: f64,
        /// Changes, one at a time; if there are several, all combined as the last row.
        changes: RowsOf<Change>,
        /// Defaults of unspecified settings.
        chosen: Vec<String>,
    }
}

record! {
    /// A cluster size with its best layout.
    SizeRow {
        /// Name of the cluster.
        cluster: String,
        /// Name of the accelerator.
        accelerator: String,
        /// Number of devices.
        devices: u64,
        /// Settings of the layout as flags.
        layout: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Throughput in tokens per second.
        tokens_per_second: f64,
        /// Model FLOP utilization, 0 to 1; `None` without a known peak.
        mfu: Option<f64>,
        /// Training time (wall clock), in seconds.
        training_time_s: f64,
        /// Rental cost of the training, in dollars; `None` without a price.
        cost_dollars: Option<f64>,
        /// Throughput per device relative to the smallest cluster size.
        scaling_efficiency: f64,
        /// True if it meets the deadline.
        in_time: bool,
        /// True if it meets the budget.
        in_budget: bool,
    }
}

record! {
    /// Cluster sizes for a deadline or a budget.
    SizeResult {
        /// The question in one line.
        title: String,
        /// True if the whole space was searched.
        complete: bool,
        /// Index of the recommended row; `None` if no size meets the goal.
        recommended: Option<u64>,
        /// Cluster sizes.
        rows: RowsOf<SizeRow>,
        /// Defaults of unspecified settings.
        chosen: Vec<String>,
    }
}

record! {
    /// A plan of a solver with its estimate.
    Variant {
        /// Name of the variant.
        name: String,
        /// Recomputed modules, or layers per stage.
        choice: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Largest peak memory of any stage, in bytes.
        memory_bytes: f64,
        /// Probability that every stage fits, 0 to 1.
        probability_of_fitting: f64,
        /// True if the probability is at least the required one.
        fits: bool,
    }
}

record! {
    /// Result of `recompute` or `balance`.
    Solution {
        /// The run in one line.
        title: String,
        /// True if a plan fits.
        found: bool,
        /// Compared plans; the best is first if one fits.
        variants: RowsOf<Variant>,
        /// Framework flags of the best plan, each as `framework: flag`.
        flags: Vec<String>,
        /// Text of the run file of the best plan; `None` if nothing fits.
        run_file: Option<String>,
        /// Defaults of unspecified settings.
        chosen: Vec<String>,
    }
}

/// A class for the stub file: name, documentation, fields.
pub(crate) type Drawn = (&'static str, &'static str, Vec<Described>);

macro_rules! classes {
    ($($class:ident),* $(,)?) => {
        /// Adds the classes to the module.
        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_class::<$class>()?;)*
            Ok(())
        }

        /// All classes, for the stub file.
        pub(crate) fn described() -> Vec<Drawn> {
            vec![$(($class::NAME, $class::DOC, $class::fields()),)*]
        }
    };
}

classes!(
    Warning,
    Part,
    Stage,
    Collective,
    Pool,
    Estimate,
    Evaluation,
    MemoryItem,
    MemoryStage,
    Memory,
    Layout,
    SearchResult,
    Change,
    WhatIf,
    SizeRow,
    SizeResult,
    Variant,
    Solution,
);
