//! Prices of divisions: from layers per virtual stage to a plan and its step, cached.
//!
//! Responsible for: the step of a division by the calculator, its fit, and, if requested, the best recompute
//! of every stage under it. Does not propose divisions.

use super::options::Options;
use crate::recompute;
use crate::recompute::policies;
use railwright_calculator::choices::{Choices, Part, Treatment};
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{Evaluation, evaluate_with, local_chunks};
use railwright_calculator::memory::{
    MemoryInput, MemorySoftware, SoftwareCatalogue, layers_per_chunk, peak, probability_of_fitting,
};
use railwright_calculator::schedule::Workspace;
use railwright_calculator::stage::stages_of_chunks;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, StageRecompute};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::collections::BTreeMap;

/// Recompute of a stage, by virtual stage. `None` if it does not fit.
type Chosen = Option<Vec<(usize, StageRecompute)>>;

/// Prices divisions of one run.
pub(super) struct Pricer<'a> {
    pub(super) model: &'a Model,
    cluster: &'a Cluster,
    plan: &'a Plan,
    machine: &'a Machine,
    options: &'a Options,
    software: &'a MemorySoftware,
    workspace: Workspace,
    known: BTreeMap<Vec<u64>, Option<(Seconds, Plan)>>,
    /// Selected recompute by stage and the layers of its virtual stages (first layer and number).
    chosen: BTreeMap<(usize, Vec<(usize, u64)>), Chosen>,
    priced: u64,
}

impl<'a> Pricer<'a> {
    pub(super) fn new(
        model: &'a Model,
        cluster: &'a Cluster,
        plan: &'a Plan,
        machine: &'a Machine,
        options: &'a Options,
    ) -> Result<Self, Problem> {
        Ok(Self {
            model,
            cluster,
            plan,
            machine,
            options,
            software: SoftwareCatalogue::shared()?.get(&plan.software),
            workspace: Workspace::default(),
            known: BTreeMap::new(),
            chosen: BTreeMap::new(),
            priced: 0,
        })
    }

    /// Number of divisions priced by the calculator.
    pub(super) fn priced(&self) -> u64 {
        self.priced
    }

    /// True if devices are of several kinds.
    pub(super) fn is_mixed(&self) -> bool {
        !self.cluster.pools.is_empty()
    }

    pub(super) fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The step of a layer assignment and its plan; `None` if it does not fit.
    pub(super) fn price(&mut self, layers: &[u64]) -> Result<Option<(Seconds, Plan)>, Problem> {
        if let Some(known) = self.known.get(layers) {
            return Ok(known.clone());
        }
        let found = self.price_anew(layers)?;
        self.known.insert(layers.to_vec(), found.clone());
        Ok(found)
    }

    fn price_anew(&mut self, layers: &[u64]) -> Result<Option<(Seconds, Plan)>, Problem> {
        self.priced += 1;
        let mut plan = Plan { layers_per_stage: Some(layers.to_vec()), ..self.plan.clone() };
        if self.options.recompute {
            let Some(chosen) = self.choose(&plan, layers)? else { return Ok(None) };
            plan = chosen;
        }
        let evaluation = self.evaluate(&plan)?;
        let input = MemoryInput {
            model: self.model,
            cluster: self.cluster,
            plan: &plan,
            software: self.software,
            in_flight: None,
        };
        let peak = peak(&input);
        let probability = probability_of_fitting(peak.least(), peak.available, self.software.sigma);
        let fits = probability >= self.options.probability - 1e-9;
        Ok(fits.then_some((evaluation.time.total, plan)))
    }

    pub(super) fn evaluate(&mut self, plan: &Plan) -> Result<Evaluation, Problem> {
        let costing = Costing::new(self.model, self.cluster, plan, self.machine)?;
        evaluate_with(&costing, &mut self.workspace)
    }

    /// The best recompute of every stage under a division. `None` if some stage does not fit.
    fn choose(&mut self, plan: &Plan, layers: &[u64]) -> Result<Option<Plan>, Problem> {
        let bare = without_recompute(plan);
        let costing = Costing::new(self.model, self.cluster, &bare, self.machine)?;
        let split = layers_per_chunk(self.model, &bare, costing.stage_split);
        let mut choices: Option<Choices<'_>> = None;
        let mut entries = vec![StageRecompute::default(); layers.len()];
        let stages = plan.pipeline_parallel as usize;
        let stages = if recompute::is_bidirectional(plan) { stages.div_ceil(2) } else { stages };
        for stage in 0..stages {
            let start = |chunk: usize| split[..chunk].iter().sum::<u64>() as usize;
            let local = local_chunks(&bare, stage);
            // Equal if all layers are equal; otherwise their first layer matters.
            let place = |c: usize| if self.model.layer_kinds.len() > 1 { start(c) } else { 0 };
            let key = (stage, local.iter().map(|&c| (place(c), split[c])).collect::<Vec<_>>());
            if !self.chosen.contains_key(&key) {
                if choices.is_none() {
                    let modules = policies::modules(self.model, &bare.software);
                    let list = policies::policies(self.model, &modules);
                    choices = Some(Choices::new(&costing, recompute::treatments(&list, false))?);
                }
                let Some(choices) = &mut choices else { continue };
                let limit = choices.limit(self.options.probability);
                let rooms = choices.rooms(&split);
                let found = rooms
                    .get(stage)
                    .and_then(|room| recompute::best_of_group(choices, self.model, room, split.len(), limit));
                self.chosen.insert(key.clone(), found.map(|found| found.entries));
            }
            let Some(Some(own)) = self.chosen.get(&key) else { return Ok(None) };
            for (chunk, entry) in own {
                entries[*chunk] = entry.clone();
            }
        }
        Ok(Some(recompute::laid(&bare, entries)))
    }

    /// Lower bounds on each virtual stage's forward and backward time, linear in its layers: value without
    /// layers, and slope. The layers are recomputed as in the plan, or not at all if recompute is
    /// selected or limited to some layers.
    pub(super) fn lines(&self, chunks: usize) -> Result<Vec<Line>, Problem> {
        let specified = &self.plan.recompute;
        let recompute = if self.options.recompute || specified.layers().is_some() {
            Recompute::None
        } else {
            specified.clone()
        };
        let offload = self.plan.offload.activations;
        let mut bare = without_recompute(self.plan);
        bare.offload.activations = 0.0;
        let costing = Costing::new(self.model, self.cluster, &bare, self.machine)?;
        let treatment = Treatment { recompute, offload };
        if !costing.is_mixed() {
            return self.lines_of_kind(&costing, &treatment, chunks);
        }
        // A stage takes at least as long as any of its kinds of device: the line of the one with the slowest
        // layers is a bound.
        let stages = stages_of_chunks(&bare, chunks);
        let mut slowest: Vec<Option<Line>> = vec![None; chunks];
        for kind in costing.kinds() {
            let lines = self.lines_of_kind(&kind.costing, &treatment, chunks)?;
            for (chunk, line) in lines.into_iter().enumerate() {
                let each = |line: &Line| line.1.0 + line.1.1;
                if kind.is_on_any(&bare, &stages[chunk])
                    && slowest[chunk].as_ref().is_none_or(|known| each(&line) > each(known))
                {
                    slowest[chunk] = Some(line);
                }
            }
        }
        Ok(slowest.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn lines_of_kind(
        &self,
        costing: &Costing<'_>,
        treatment: &Treatment,
        chunks: usize,
    ) -> Result<Vec<Line>, Problem> {
        let choices = Choices::new(costing, vec![treatment.clone()])?;
        // Layers of several kinds on one virtual stage are additive, except for the soft corner between
        // device and host.
        let kinds: Vec<usize> =
            (0..self.model.layer_kinds.len()).filter(|kind| self.model.layers.contains(kind)).collect();
        let shrink = if kinds.len() > 1 { 1.0 - 1e-3 } else { 1.0 - 1e-9 };
        let line = |chunk: usize| {
            let time = |kind: usize, count: u64| {
                let cost = choices.time(chunk, chunks, &[Part { kind, treatment: 0, count }], 0);
                let backward = cost.backward_input + cost.backward_weight + cost.recompute;
                (cost.forward.get(), backward.get())
            };
            let mut line = ((f64::INFINITY, f64::INFINITY), (f64::INFINITY, f64::INFINITY));
            for &kind in &kinds {
                let (one, two) = (time(kind, 1), time(kind, 2));
                let each = (two.0 - one.0, two.1 - one.1);
                line.0 = (line.0.0.min(one.0 - each.0), line.0.1.min(one.1 - each.1));
                line.1 = (line.1.0.min(each.0), line.1.1.min(each.1));
            }
            let safe =
                |(forward, backward): (f64, f64)| (forward.max(0.0) * shrink, backward.max(0.0) * shrink);
            (safe(line.0), safe(line.1))
        };
        let (first, inner, last) = (line(0), line(1.min(chunks - 1)), line(chunks - 1));
        Ok((0..chunks)
            .map(|c| {
                if c == 0 {
                    first
                } else if c + 1 == chunks {
                    last
                } else {
                    inner
                }
            })
            .collect())
    }
}

/// Forward and backward time without layers, and per layer.
pub(super) type Line = ((f64, f64), (f64, f64));

/// The plan without any recompute, for a solver that selects it.
pub(crate) fn without_recompute(plan: &Plan) -> Plan {
    Plan { recompute: Recompute::None, stage_recompute: None, ..plan.clone() }
}
