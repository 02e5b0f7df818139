//! Exchanges of a step as classes of flows: for each dimension and stage one class per kind of groups, and
//! one per route between stages.
//!
//! Responsible for: ranks of exchanges, and the latency part of a closed-form time. Excludes their order.

use crate::exchanges::convert;
use railwright_calculator::collectives::{Collective, TORUS_SHARE};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{Evaluation, local_chunks};
use railwright_calculator::exchanges::{ProcessGroup, StageExchange, of_chunk, of_step};
use railwright_network::simulate::{Class, Doing, Edge};
use railwright_network::topology::Design;
use railwright_network::traffic::RankPlacement;
use railwright_network::traffic::{Algorithm, Numbering};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::BTreeMap;

/// Dimensions with exchanges over the network.
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

    /// Communication of the dimension on a stage, for waits.
    pub(super) const fn doing(self, stage: u32) -> Doing {
        Doing::Communication(self.name(), stage)
    }

    pub(super) fn of(dimension: Dimension, phase: Phase) -> Option<Self> {
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

/// Groups of one kind in a dimension, and their part of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// The class of flows.
    pub(super) class: u32,
    /// Share of the dimension's closed-form time in these groups.
    pub(super) share: f64,
    /// Share of their own time that is independent of bytes.
    pub(super) latency: f64,
}

/// Part of a step with exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    /// One phase of a chunk's passes.
    Pass(u32, Phase),
    /// Gradients after passes.
    Gradients,
    /// Parameters after the optimizer.
    Parameters,
}

/// A representative of the kinds with equal shares of bytes between equal pairs of ranks.
const fn family(kind: CollectiveKind) -> CollectiveKind {
    match kind {
        CollectiveKind::AllReduce | CollectiveKind::ReduceScatter => CollectiveKind::AllGather,
        other => other,
    }
}

/// Key of exchanges that are one class: their ranks and algorithm.
type Key = (Dim, u32, Option<(u64, u64)>, CollectiveKind, Algorithm);

/// Time of some groups' exchanges, and its latency part.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    time: Seconds,
    latency: Seconds,
}

/// All classes of a step.
pub(super) struct Classes {
    pub(super) list: Vec<Class>,
    parts: BTreeMap<(Dim, u32, When), Vec<Part>>,
    between: BTreeMap<(u32, u32), u32>,
}

impl Classes {
    pub(super) fn new(
        costing: &Costing<'_>,
        evaluation: &Evaluation,
        numbering: &Numbering,
        (design, seats): (&Design, Option<&RankPlacement>),
        is_torus: bool,
    ) -> Self {
        let mut classes = Self { list: Vec::new(), parts: BTreeMap::new(), between: BTreeMap::new() };
        let mut known: BTreeMap<Key, u32> = BTreeMap::new();
        let mut sums: BTreeMap<(Dim, u32, When), BTreeMap<u32, Sum>> = BTreeMap::new();
        let mut add = |when: When, stage: u32, exchange: StageExchange| {
            let Some(dim) = Dim::of(exchange.dimension, exchange.phase) else { return };
            if matches!(exchange.process_group, ProcessGroup::Stages(_)) {
                return;
            }
            let group = exchange.process_group.group(&costing.layout);
            let cost = costing.machine.fabric.time(exchange.operation, exchange.bytes, &group, 1.0);
            let (count, axis) = (exchange.count, exchange.process_group.axis(costing.plan, &costing.layout));
            if cost.time * count <= Seconds::ZERO {
                return;
            }
            let exchange = convert(costing, numbering, exchange);
            let key = (dim, stage, axis, family(exchange.kind), exchange.algorithm);
            let class = *known.entry(key).or_insert_with(|| {
                let mut class = Class::seated(&exchange, numbering, Some(stage), design, seats);
                if is_torus {
                    class.ideal = (cost.time - cost.latency).get() * TORUS_SHARE;
                }
                classes.push(Class { name: dim.name().to_owned(), ..class })
            });
            let sum = sums.entry((dim, stage, when)).or_default().entry(class).or_default();
            sum.time += cost.time * count;
            sum.latency += cost.latency * count;
        };
        for stage in 0..costing.plan.pipeline_parallel as usize {
            for chunk in local_chunks(costing.plan, stage) {
                for exchange in of_chunk(costing, evaluation, stage, chunk) {
                    add(When::Pass(chunk as u32, exchange.phase), stage as u32, exchange);
                }
            }
        }
        for exchange in of_step(costing, evaluation) {
            if (exchange.dimension, exchange.phase) != (Dimension::Data, Phase::Optimizer) {
                continue;
            }
            let is_gathered = exchange.operation == Collective::AllGather;
            let when = if is_gathered { When::Parameters } else { When::Gradients };
            for stage in exchange.stages.clone() {
                add(when, stage, StageExchange { stages: vec![stage], ..exchange.clone() });
            }
        }
        for (at, of_classes) in sums {
            let whole: Seconds = of_classes.values().map(|sum| sum.time).sum();
            let parts = of_classes.into_iter().map(|(class, sum)| Part {
                class,
                share: sum.time / whole,
                latency: sum.latency / sum.time,
            });
            classes.parts.insert(at, parts.collect());
        }
        classes.link_paths(costing, numbering, design, seats);
        if is_torus {
            // An isolated message uses one of a device's links.
            let cost = costing.machine.fabric.send(Bytes::new(1e9), &costing.layout.pipeline, 1.0);
            for class in classes.between.values() {
                classes.list[*class as usize].ideal = (cost.time - cost.latency).get() / 1e9 * TORUS_SHARE;
            }
        }
        classes
    }

    fn push(&mut self, class: Class) -> u32 {
        self.list.push(class);
        self.list.len() as u32 - 1
    }

    /// Messages between neighbouring stages, and between the last and the first if chunks are interleaved.
    fn link_paths(
        &mut self,
        costing: &Costing<'_>,
        numbering: &Numbering,
        design: &Design,
        seats: Option<&RankPlacement>,
    ) {
        let stages = costing.plan.pipeline_parallel as u32;
        for from in 0..stages {
            for to in [(from + 1) % stages, (from + stages - 1) % stages] {
                if from == to || self.between.contains_key(&(from, to)) {
                    continue;
                }
                let place = |stage: u32, n: u64| numbering.rank(u64::from(stage) * numbering.stage_ranks + n);
                let messages = |seat: &dyn Fn(u32) -> u32| -> Class {
                    let edge = |n| Edge { from: seat(place(from, n)), to: seat(place(to, n)), bytes: 1.0 };
                    let members = (0..numbering.stage_ranks).map(|n| vec![edge(n)]).collect();
                    Class::new(Dim::Pipeline.name(), members, 1.0, design)
                };
                let first = messages(&|rank| rank);
                // Priced as on the first devices, like every class.
                let class = match seats {
                    Some(seats) => Class { ideal: first.ideal, ..messages(&|rank| seats.device(rank)) },
                    None => first,
                };
                let class = self.push(class);
                self.between.insert((from, to), class);
            }
        }
    }

    /// Exchanges of a stage for a dimension in a part of the step.
    pub(super) fn of(&self, dim: Dim, stage: u32, when: When) -> &[Part] {
        self.parts.get(&(dim, stage, when)).map_or(&[], Vec::as_slice)
    }

    /// Exchanges of several phases together, each with its time.
    pub(super) fn of_works(
        &self,
        dim: Dim,
        stage: u32,
        works: impl IntoIterator<Item = (When, Seconds)>,
    ) -> Vec<Part> {
        let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
        for (when, time) in works {
            for part in self.of(dim, stage, when) {
                let sum = sums.entry(part.class).or_default();
                sum.time += time * part.share;
                sum.latency += time * (part.share * part.latency);
            }
        }
        let whole: Seconds = sums.values().map(|sum| sum.time).sum();
        sums.into_iter()
            .filter(|(_, sum)| sum.time > Seconds::ZERO)
            .map(|(class, sum)| Part { class, share: sum.time / whole, latency: sum.latency / sum.time })
            .collect()
    }

    /// The class of messages from one stage to another.
    pub(super) fn link_path(&self, from: u32, to: u32) -> Option<u32> {
        self.between.get(&(from, to)).copied()
    }
}
