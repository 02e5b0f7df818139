//! The fast path: one run prepared once, and its step time for many plans.
//!
//! Responsible for: plans that differ in a few settings from a prepared one. Excludes reports, see
//! [`crate::estimate`].

use crate::{Refused, Resolved};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::defaults;
use railwright_calculator::evaluate::evaluate;
use railwright_calculator::memory::{Fit, MemoryInput, SoftwareCatalogue, peak, probability_of_fitting};
use railwright_spec::plan::{Plan, validate};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::{Run, RunSpec};

/// A prepared model and cluster with their cost laws, and a plan to change.
#[derive(Debug)]
pub struct Prepared {
    run: Run,
    spec: RunSpec,
    machine: Machine,
}

/// Step time and memory, without a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated {
    /// Time of one step.
    pub step_time: Seconds,
    /// Peak memory of the device with the most.
    pub memory: Bytes,
    /// Probability that the plan fits into device memory, 0 to 1.
    pub probability_of_fitting: f64,
    /// Verdict on the fit.
    pub fit: Fit,
}

impl Prepared {
    /// Prepares a run.
    pub fn new(resolved: Resolved) -> Self {
        let machine = Machine::new(&resolved.run.cluster);
        Self { run: resolved.run, spec: resolved.spec, machine }
    }

    /// Specified settings.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Prepared run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Plan of a changed specification, on the same model and cluster.
    pub fn plan(&self, spec: &RunSpec) -> Result<Plan, Refused> {
        let placed = |problem| spec.placed(problem);
        let plan =
            defaults::resolve_layout(&spec.plan, &self.run.model, &self.run.cluster).map_err(placed)?;
        let problems = validate(&self.run.model, &self.run.cluster, &plan);
        if problems.is_empty() { Ok(plan) } else { Err(Refused(problems.into_iter().map(placed).collect())) }
    }

    /// Evaluates a valid plan.
    pub fn evaluate(&self, plan: &Plan) -> Result<Evaluated, Refused> {
        let (model, cluster) = (&self.run.model, &self.run.cluster);
        let costing = Costing::new(model, cluster, plan, &self.machine)?;
        let step_time = evaluate(&costing)?.time.total;
        let software = SoftwareCatalogue::shared()?.get(&plan.software);
        let memory = peak(&MemoryInput { model, cluster, plan, software, in_flight: None });
        let probability = probability_of_fitting(memory.least(), memory.available, software.sigma);
        Ok(Evaluated {
            step_time,
            memory: memory.device,
            probability_of_fitting: probability,
            fit: Fit::of(probability),
        })
    }
}
