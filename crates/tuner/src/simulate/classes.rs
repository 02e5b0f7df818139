//! The exchanges of a step as classes of flows: one class for each dimension and stage, one for each way between stages.
//!
//! Responsible for: which ranks exchange, and which part of a closed-form time is latency. Refuses to order anything.

use super::Background;
use railwright_calculator::collectives::CollectiveCost;
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::Evaluation;
use railwright_calculator::exchanges::of_step;
use railwright_network::simulate::{Class, Edge, Wiring};
use railwright_network::topology::Design;
use railwright_network::traffic::Numbering;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_step::{Dimension, Phase};
use std::collections::BTreeMap;

/// Dimensions that exchange over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dim {
    Tensor,
    Context,
    Expert,
    /// Sharded parameters inside passes.
    Shard,
    Pipeline,
    /// Gradients and parameters around the optimizer.
    Data,
}

impl Dim {
    pub(super) const ALL: [Self; 6] =
        [Self::Tensor, Self::Context, Self::Expert, Self::Shard, Self::Pipeline, Self::Data];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Context => "context",
            Self::Expert => "expert",
            Self::Shard => "shard",
            Self::Pipeline => "pipeline",
            Self::Data => "data",
        }
    }

    fn of(dimension: Dimension, phase: Phase) -> Option<Self> {
        Some(match (dimension, phase) {
            (Dimension::Tensor, _) => Self::Tensor,
            (Dimension::Context, _) => Self::Context,
            (Dimension::Expert, _) => Self::Expert,
            (Dimension::Data, Phase::Optimizer) => Self::Data,
            (Dimension::Data, _) => Self::Shard,
            (Dimension::Pipeline | Dimension::Other, _) => return None,
        })
    }
}

/// What one stage's exchanges of a dimension are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfStage {
    /// The class, if there is anything to exchange.
    pub(super) class: Option<u32>,
    /// Share of the closed-form time that does not grow with bytes.
    pub(super) latency: f64,
}

/// All of a stage's exchanges of a dimension, and the one that weighs most.
struct Sum {
    time: Seconds,
    latency: Seconds,
    most: Seconds,
    best: usize,
    /// Any of them, for its groups.
    first: usize,
}

/// All classes of a step.
pub(super) struct Classes {
    pub(super) list: Vec<Class>,
    of_stage: BTreeMap<(Dim, u32), OfStage>,
    between: BTreeMap<(u32, u32), u32>,
    /// Whether exchanges of one dimension run in different groups, for all of which the one that weighs most stands.
    pub(super) is_mixed: bool,
}

impl Classes {
    pub(super) fn new(
        costing: &Costing<'_>,
        evaluation: &Evaluation,
        numbering: &Numbering,
        design: &Design,
    ) -> Self {
        let traffic = crate::exchanges::traffic(costing, evaluation);
        let mut classes =
            Self { list: Vec::new(), of_stage: BTreeMap::new(), between: BTreeMap::new(), is_mixed: false };
        // Beside each other: the calculator's exchange has the operation, the network's has the groups.
        let own = of_step(costing, evaluation);
        let mut sums: BTreeMap<(Dim, u32), Sum> = BTreeMap::new();
        for (index, exchange) in own.iter().enumerate() {
            let Some(dim) = Dim::of(exchange.dimension, exchange.phase) else { continue };
            let group = exchange.among.group(&costing.layout);
            let cost: CollectiveCost =
                costing.machine.fabric.time(exchange.operation, exchange.bytes, &group, 1.0);
            for &stage in &exchange.stages {
                let sum = sums.entry((dim, stage)).or_insert(Sum {
                    time: Seconds::ZERO,
                    latency: Seconds::ZERO,
                    most: Seconds::ZERO,
                    best: index,
                    first: index,
                });
                let time = cost.time * exchange.count;
                let first = own[sum.first].among.axis(costing.plan, &costing.layout);
                classes.is_mixed |= first != exchange.among.axis(costing.plan, &costing.layout);
                sum.time += time;
                sum.latency += cost.latency * exchange.count;
                if time > sum.most {
                    (sum.most, sum.best) = (time, index);
                }
            }
        }
        for ((dim, stage), sum) in sums {
            let class = traffic.exchanges.get(sum.best).map(|exchange| {
                let class = Class::of(exchange, numbering, Some(stage), design);
                classes.push(Class { name: dim.name().to_owned(), ..class })
            });
            let latency = if sum.time > Seconds::ZERO { sum.latency / sum.time } else { 0.0 };
            classes.of_stage.insert((dim, stage), OfStage { class, latency });
        }
        classes.ways(costing, numbering, design);
        classes
    }

    fn push(&mut self, class: Class) -> u32 {
        self.list.push(class);
        self.list.len() as u32 - 1
    }

    /// Messages between neighbouring stages, and between the last and the first where chunks go around.
    fn ways(&mut self, costing: &Costing<'_>, numbering: &Numbering, design: &Design) {
        let stages = costing.plan.pipeline_parallel as u32;
        for from in 0..stages {
            for to in [(from + 1) % stages, (from + stages - 1) % stages] {
                if from == to || self.between.contains_key(&(from, to)) {
                    continue;
                }
                let place = |stage: u32, n: u64| numbering.rank(u64::from(stage) * numbering.stage_ranks + n);
                let members = (0..numbering.stage_ranks)
                    .map(|n| vec![Edge { from: place(from, n), to: place(to, n), bytes: 1.0 }])
                    .collect();
                let class = self.push(Class::new(Dim::Pipeline.name(), members, 1.0, design));
                self.between.insert((from, to), class);
            }
        }
    }

    /// What a stage exchanges for a dimension.
    pub(super) fn of(&self, dim: Dim, stage: u32) -> OfStage {
        self.of_stage.get(&(dim, stage)).copied().unwrap_or_default()
    }

    /// The class of messages from a stage to another.
    pub(super) fn way(&self, from: u32, to: u32) -> Option<u32> {
        self.between.get(&(from, to)).copied()
    }

    /// Adds what other jobs send: the class, and how much of its bandwidth each of their devices uses.
    pub(super) fn add_background(
        &mut self,
        background: Background,
        wiring: &Wiring,
        ranks: u64,
    ) -> Result<(u32, f64), Problem> {
        let pairs = background.pairs(wiring.devices(), u32::try_from(ranks).unwrap_or(u32::MAX))?;
        let design = &wiring.topology.design;
        let across = |&(from, to): &(u32, u32)| {
            u64::from(from) / design.domain.size != u64::from(to) / design.domain.size
        };
        let members: Vec<Vec<Edge>> =
            pairs.into_iter().filter(across).map(|(from, to)| vec![Edge { from, to, bytes: 1.0 }]).collect();
        if members.is_empty() {
            return Err(Problem::new(
                "other jobs have no traffic: the devices that the run leaves lie in one scale-up domain",
            )
            .hint("let the network have more with `design.gpus`, or load all devices"));
        }
        // Nobody waits for the slowest of them.
        let class = Class { apart: true, ..Class::new("other jobs", members, 1.0, design) };
        Ok((self.push(class), background.load))
    }
}
