//! The classes of answers: the one description of their fields, from which attributes, tables and the stub file are made.

use crate::record::{Class as _, Described, record};
use crate::rows::RowsOf;
use pyo3::prelude::*;

record! {
    /// Something doubtful about a run; `railwright explain ID` has more.
    Warning {
        /// Stable identifier.
        id: String,
        /// One sentence.
        message: String,
    }
}

record! {
    /// A part of a step on the critical stage.
    Part {
        /// Stable identifier, such as `compute.mlp.forward`; `railwright explain` has more.
        id: String,
        /// Depth below the step, from 0.
        depth: u64,
        /// Title.
        title: String,
        /// Time, in seconds.
        time_s: f64,
        /// Share of the step.
        share: f64,
    }
}

record! {
    /// A pipeline stage of an estimate.
    Stage {
        /// Number, from 0.
        stage: u64,
        /// Layers on it.
        layers: u64,
        /// Forward pass of one micro-batch, in seconds.
        forward_s: f64,
        /// Backward pass of one micro-batch, recompute included, in seconds.
        backward_s: f64,
        /// Recompute of one micro-batch, in seconds.
        recompute_s: f64,
        /// Passes of a step, in seconds.
        busy_s: f64,
        /// Exposed communication in passes, in seconds.
        exposed_s: f64,
        /// Idle time of the pipeline, in seconds.
        bubble_s: f64,
        /// Peak memory, in bytes.
        memory_bytes: f64,
        /// Whether the breakdown describes this stage.
        critical: bool,
    }
}

record! {
    /// A kind of collective of the critical stage.
    Collective {
        /// Parallel dimension: `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`.
        dimension: String,
        /// Purpose.
        title: String,
        /// Operation, such as `all_reduce`.
        operation: String,
        /// Size of one, by the convention of nccl-tests, in bytes.
        size_bytes: f64,
        /// Ranks of the group.
        ranks: u64,
        /// Scale-up domains that the group spans.
        domains: u64,
        /// Number per step.
        count: f64,
        /// Time of one, in seconds.
        time_each_s: f64,
        /// Time of all in a step, in seconds.
        time_s: f64,
        /// Exposed part, in seconds; none where the bubble contains it.
        exposed_s: Option<f64>,
        /// Bus bandwidth, in bytes per second.
        bus_bandwidth_bytes_per_s: f64,
    }
}

record! {
    /// Step time, memory and cost of a run.
    Estimate {
        /// Model.
        model: String,
        /// Accelerator.
        accelerator: String,
        /// Number of devices.
        devices: u64,
        /// Plan in one line.
        plan: String,
        /// Software generation.
        software: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Lower end of the interval of the step time, in seconds.
        step_time_low_s: f64,
        /// Upper end of the interval of the step time, in seconds.
        step_time_high_s: f64,
        /// Share of measurements inside the interval.
        interval_share: f64,
        /// Tokens per second.
        tokens_per_second: f64,
        /// Tokens per second and device.
        tokens_per_second_per_device: f64,
        /// Model FLOP utilisation, attention counted in full, of the compute format's peak.
        mfu: Option<f64>,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: f64,
        /// Memory of a device, in bytes.
        device_memory_bytes: f64,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits.
        probability_of_fitting: f64,
        /// Time of the training on the calendar, in seconds; none without a number of tokens.
        training_time_s: Option<f64>,
        /// Rent of the training, in dollars; none without a number of tokens or a price.
        cost_dollars: Option<f64>,
        /// Pipeline stages.
        stages: RowsOf<Stage>,
        /// Collectives of the critical stage.
        communication: RowsOf<Collective>,
        /// Parts of the step, in order of depth first.
        time: RowsOf<Part>,
        /// Doubtful points.
        warnings: RowsOf<Warning>,
        /// Settings that were not specified.
        chosen: Vec<String>,
    }
}

record! {
    /// Step time and memory of one plan, without a report.
    Evaluation {
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: f64,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits.
        probability_of_fitting: f64,
    }
}

record! {
    /// One item in a stage's memory at its peak.
    MemoryItem {
        /// Pipeline stage, from 0.
        stage: u64,
        /// Kind, such as `parameters` or `activations`.
        kind: String,
        /// Module; none where it is of no module.
        module: Option<String>,
        /// Layer; none where it is of no layer.
        layer: Option<u64>,
        /// Size, in bytes.
        size_bytes: f64,
    }
}

record! {
    /// Memory of one pipeline stage at its peak.
    MemoryStage {
        /// Number, from 0.
        stage: u64,
        /// Memory of tensors, in bytes.
        allocated_bytes: f64,
        /// Memory of the allocator, in bytes.
        reserved_bytes: f64,
        /// Memory of the device, in bytes.
        device_bytes: f64,
        /// Time of the peak.
        moment: String,
    }
}

record! {
    /// Peak memory per pipeline stage.
    Memory {
        /// The run in one line.
        title: String,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: f64,
        /// Memory of a device, in bytes.
        device_memory_bytes: f64,
        /// Verdict: `fits`, `at_risk` or `does_not_fit`.
        fit: String,
        /// Probability that the peak fits.
        probability_of_fitting: f64,
        /// The fullest stage, from 0.
        worst_stage: u64,
        /// Pipeline stages.
        stages: RowsOf<MemoryStage>,
        /// Items of all stages.
        items: RowsOf<MemoryItem>,
        /// Doubtful points.
        warnings: RowsOf<Warning>,
    }
}

record! {
    /// A layout that a search found.
    Layout {
        /// Rank, from 1.
        rank: u64,
        /// Cluster as it was named.
        cluster: String,
        /// Number of devices.
        devices: u64,
        /// Settings of the layout as flags.
        layout: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Lower end of its interval, in seconds.
        step_time_low_s: f64,
        /// Upper end of its interval, in seconds.
        step_time_high_s: f64,
        /// Model FLOP utilisation.
        mfu: Option<f64>,
        /// Tokens per second.
        tokens_per_second: f64,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: f64,
        /// Probability that the peak fits.
        probability_of_fitting: f64,
        /// Time per token over that of the first, less 1.
        behind: f64,
        /// Whether the lead of the first is within the error of the model.
        tied_with_best: bool,
        /// Rent for a trillion tokens, in dollars.
        trillion_tokens_dollars: Option<f64>,
        /// Text of a run file.
        run_file: String,
    }
}

record! {
    /// The best layouts of a space.
    SearchResult {
        /// The question in one line.
        title: String,
        /// Whether everything was searched.
        complete: bool,
        /// Strategies in the space.
        strategies: u64,
        /// Layouts, best first.
        layouts: RowsOf<Layout>,
        /// Settings that were not specified.
        chosen: Vec<String>,
        /// Doubtful points.
        doubts: Vec<String>,
    }
}

record! {
    /// A change of a run and its effect.
    Change {
        /// The change.
        name: String,
        /// Whether the changed run is possible.
        possible: bool,
        /// Time of one step, in seconds.
        step_time_s: Option<f64>,
        /// Change of the time for as many tokens, as a share of the step before.
        step_time_share: Option<f64>,
        /// Tokens per second over those before.
        speedup: Option<f64>,
        /// Model FLOP utilisation.
        mfu: Option<f64>,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: Option<f64>,
        /// Verdict on memory: `fits`, `at_risk` or `does_not_fit`.
        fit: Option<String>,
        /// The first reason, where the changed run is impossible.
        reason: Option<String>,
    }
}

record! {
    /// Effects of changes, each alone and all together.
    WhatIf {
        /// Model.
        model: String,
        /// Plan before, in one line.
        plan: String,
        /// Time of one step before, in seconds.
        step_time_s: f64,
        /// Peak memory of the fullest stage before, in bytes.
        memory_bytes: f64,
        /// Changes, each alone; with several, all together last.
        changes: RowsOf<Change>,
        /// Settings that were not specified.
        chosen: Vec<String>,
    }
}

record! {
    /// A number of devices with its best layout.
    SizeRow {
        /// Cluster.
        cluster: String,
        /// Accelerator.
        accelerator: String,
        /// Number of devices.
        devices: u64,
        /// Settings of the layout as flags.
        layout: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Tokens per second.
        tokens_per_second: f64,
        /// Model FLOP utilisation.
        mfu: Option<f64>,
        /// Time of the training on the calendar, in seconds.
        training_time_s: f64,
        /// Rent of the training, in dollars; none without a price.
        cost_dollars: Option<f64>,
        /// Tokens per second and device over those of the smallest number.
        scaling_efficiency: f64,
        /// Whether it meets the deadline.
        in_time: bool,
        /// Whether it meets the budget.
        in_budget: bool,
    }
}

record! {
    /// Numbers of devices for a deadline or a budget.
    SizeResult {
        /// The question in one line.
        title: String,
        /// Whether everything was searched.
        complete: bool,
        /// Row of the recommended number of devices; none where no number meets the goal.
        recommended: Option<u64>,
        /// Numbers of devices.
        rows: RowsOf<SizeRow>,
        /// Settings that were not specified.
        chosen: Vec<String>,
    }
}

record! {
    /// A plan of a solver, priced.
    Variant {
        /// Kind.
        name: String,
        /// Recomputed modules, or layers of each stage.
        choice: String,
        /// Time of one step, in seconds.
        step_time_s: f64,
        /// Peak memory of the fullest stage, in bytes.
        memory_bytes: f64,
        /// Probability that every stage fits.
        probability_of_fitting: f64,
        /// Whether that is enough.
        fits: bool,
    }
}

record! {
    /// The answer of `recompute` or `balance`.
    Solution {
        /// The run in one line.
        title: String,
        /// Whether a plan fits.
        found: bool,
        /// Plans that were compared, the best first where one fits.
        variants: RowsOf<Variant>,
        /// Flags of the frameworks for the best, each as `framework: flag`.
        flags: Vec<String>,
        /// Text of a run file with the best; none where nothing fits.
        run_file: Option<String>,
        /// Settings that were not specified.
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

        /// Every class for the stub file.
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
