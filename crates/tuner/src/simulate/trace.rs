//! A step of every rank as Chakra execution traces: the passes, exchanges and messages of
//! [`super::simulate`], with bytes instead of times.
//!
//! Responsible for: nodes of each stage from its schedule, and the process groups and peers of each rank.
//! Bytes are those of [`crate::exchanges`]; a test compares the sums. Does not write files.
//!
//! Compute of a pass is one node. The collectives of a pass are one node per kind and process group, with the
//! bytes of all calls. The part that the calculator hides runs concurrently with the compute, the rest after
//! it. Waiting for the host, the optimizer and fixed costs are compute.

#[cfg(test)]
mod tests;

use super::classes::Dim;
use super::passes::{Pass, joined, split, works};
use crate::exchanges::{convert, numbering};
use railwright_calculator::collectives::Collective;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{Evaluation, evaluate, pipeline};
use railwright_calculator::exchanges::{ProcessGroup, StageExchange, of_chunk, of_step};
use railwright_calculator::schedule::{ChunkCost, OperationKind, simulate};
use railwright_calculator::transfer::{Gather, Transfer};
use railwright_network::chakra::{Node, Trace, Work};
use railwright_network::traffic::{Exchange, Numbering};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::Run;
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of nodes of all ranks together.
const MOST_NODES: u64 = 8_000_000;

/// Nodes of a stage, the same for all of its ranks except for groups and peers.
#[derive(Default)]
struct Template {
    nodes: Vec<Planned>,
}

struct Planned {
    name: String,
    after: Vec<usize>,
    work: Piece,
}

enum Piece {
    Compute(Seconds),
    /// An exchange with its bytes, by nccl-tests' convention.
    Exchange(Box<Exchange>, Bytes),
    Send {
        stage: u32,
        bytes: Bytes,
        tag: u32,
    },
    Receive {
        stage: u32,
        bytes: Bytes,
        tag: u32,
    },
}

/// Traces of a run.
pub struct Traced {
    stages: Vec<Template>,
    numbering: Numbering,
    /// Process groups by their name: numbers from 1.
    groups: BTreeMap<Vec<u32>, u32>,
}

impl Traced {
    /// Prepares the traces of a run.
    pub fn new(run: &Run) -> Result<Self, Problem> {
        if let Some(problem) =
            railwright_spec::plan::validate(&run.model, &run.cluster, &run.plan).into_iter().next()
        {
            return Err(problem);
        }
        let machine = Machine::new(&run.cluster);
        let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine)?;
        let evaluation = evaluate(&costing)?;
        let times: Vec<ChunkCost> = evaluation.chunks.iter().map(|chunk| chunk.time).collect();
        let timeline = simulate(&pipeline(&run.plan, &times, evaluation.transfer))?;
        let numbering = numbering(&run.plan);
        let mut stages = Vec::with_capacity(timeline.stages.len());
        let step = of_step(&costing, &evaluation);
        for (stage, operations) in timeline.stages.iter().enumerate() {
            let passes = joined(operations);
            let mut building = Stage::new(&costing, &evaluation, numbering, stage as u32, &passes);
            building.parameters(&step, true);
            for (number, pass) in passes.iter().enumerate() {
                building.pass(number, pass, &step);
            }
            building.update(&step);
            stages.push(building.template);
        }
        let nodes: u64 = stages.iter().map(|stage| stage.nodes.len() as u64 * numbering.stage_ranks).sum();
        if nodes > MOST_NODES {
            return Err(Problem::new(format!(
                "the traces have {} nodes, more than {}",
                human::whole(nodes),
                human::whole(MOST_NODES)
            ))
            .at_key("plan.global_batch")
            .hint("export a step with fewer micro-batches or devices"));
        }
        let mut traced = Self { stages, numbering, groups: BTreeMap::new() };
        traced.name_groups();
        Ok(traced)
    }

    /// Number of ranks.
    pub const fn ranks(&self) -> u32 {
        self.numbering.ranks() as u32
    }

    /// Process groups in the order of their names, which are numbers from 1.
    pub fn groups(&self) -> BTreeMap<u32, &[u32]> {
        self.groups.iter().map(|(members, name)| (*name, members.as_slice())).collect()
    }

    /// Names of the groups with an all-to-all.
    pub fn all_to_alls(&self) -> BTreeSet<u32> {
        let mut names = BTreeSet::new();
        for rank in 0..self.ranks() {
            let stage = self.numbering.stage(rank) as usize;
            for node in self.stages.get(stage).map_or(&[][..], |stage| &stage.nodes) {
                if let Piece::Exchange(exchange, _) = &node.work
                    && exchange.kind == CollectiveKind::AllToAll
                {
                    names.extend(self.groups.get(&self.members(exchange, rank)));
                }
            }
        }
        names
    }

    fn name_groups(&mut self) {
        let mut found: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for rank in 0..self.ranks() {
            let stage = self.numbering.stage(rank) as usize;
            for node in self.stages.get(stage).map_or(&[][..], |stage| &stage.nodes) {
                if let Piece::Exchange(exchange, _) = &node.work {
                    found.entry(self.members(exchange, rank)).or_insert(0);
                }
            }
        }
        for (name, group) in found.values_mut().enumerate() {
            *group = name as u32 + 1;
        }
        self.groups = found;
    }

    /// The ranks of an exchange's group that contains a rank.
    fn members(&self, exchange: &Exchange, rank: u32) -> Vec<u32> {
        let mut members = Vec::new();
        if let Some((group, _)) = exchange.groups.find(&self.numbering, rank).next() {
            exchange.groups.members(&self.numbering, group, &mut members);
        }
        members.sort_unstable();
        members
    }

    /// The trace of a rank.
    pub fn rank(&self, rank: u32) -> Trace {
        let stage = self.numbering.stage(rank);
        let within = self.numbering.place(rank) % self.numbering.stage_ranks;
        let peer = |other: u32| self.numbering.rank(u64::from(other) * self.numbering.stage_ranks + within);
        let nodes = self.stages.get(stage as usize).map_or(&[][..], |stage| &stage.nodes);
        let work = |piece: &Piece| match piece {
            Piece::Compute(time) => Work::Compute(*time),
            Piece::Exchange(exchange, bytes) => {
                let members = self.members(exchange, rank);
                let name = self.groups.get(&members).copied().unwrap_or(0);
                Work::collective(exchange.kind, *bytes, name.to_string(), members.len())
            }
            Piece::Send { stage, bytes, tag } => Work::Send { to: peer(*stage), bytes: *bytes, tag: *tag },
            Piece::Receive { stage, bytes, tag } => {
                Work::Receive { from: peer(*stage), bytes: *bytes, tag: *tag }
            }
        };
        let nodes = nodes.iter().enumerate().map(|(id, node)| Node {
            id: id as u64,
            name: node.name.clone(),
            after: node.after.iter().map(|before| *before as u64).collect(),
            work: work(&node.work),
        });
        Trace { nodes: nodes.collect(), ..Trace::default() }
    }
}

/// A stage during construction.
#[allow(clippy::struct_field_names)] // `stage` is its number, as everywhere
struct Stage<'a> {
    costing: &'a Costing<'a>,
    evaluation: &'a Evaluation,
    numbering: Numbering,
    stage: u32,
    template: Template,
    /// Nodes on which the next pass depends.
    before: Vec<usize>,
    /// Parameters that arrive during the first pass.
    arriving: Vec<usize>,
    /// Index of the pass with which gradient reduction starts.
    reduces_at: usize,
    /// Gradient reductions in progress, and sends that wait for the end of a fused pair.
    reducing: Vec<usize>,
    to_send: VecDeque<(u32, u32)>,
}

impl<'a> Stage<'a> {
    fn new(
        costing: &'a Costing<'a>,
        evaluation: &'a Evaluation,
        numbering: Numbering,
        stage: u32,
        passes: &[Pass],
    ) -> Self {
        // The hidden part of the reduction starts with the last pass that leaves enough time for it.
        let hidden = evaluation
            .updates
            .get(stage as usize)
            .map_or(Seconds::ZERO, |update| update.gradient_reduce - update.gradient_exposed);
        let mut room = Seconds::ZERO;
        let mut reduces_at = passes.len();
        while reduces_at > 0 && room < hidden {
            reduces_at -= 1;
            room += passes.get(reduces_at).map_or(Seconds::ZERO, |pass| pass.duration);
        }
        Self {
            costing,
            evaluation,
            numbering,
            stage,
            template: Template::default(),
            before: Vec::new(),
            arriving: Vec::new(),
            reduces_at,
            reducing: Vec::new(),
            to_send: VecDeque::new(),
        }
    }

    fn add(&mut self, name: String, work: Piece, after: Vec<usize>) -> usize {
        self.template.nodes.push(Planned { name, after, work });
        self.template.nodes.len() - 1
    }

    /// Exchanges in sequence, each with a share of its bytes. Returns the last of them, or `after` if there
    /// is none.
    fn chain(
        &mut self,
        exchanges: &[StageExchange],
        share: f64,
        name: &str,
        after: Vec<usize>,
    ) -> Vec<usize> {
        let mut sums: Vec<(StageExchange, Bytes)> = Vec::new();
        for exchange in exchanges {
            let bytes = exchange.bytes * (exchange.count * share);
            let is_same = |known: &&mut (StageExchange, Bytes)| {
                known.0.operation == exchange.operation && known.0.process_group == exchange.process_group
            };
            match sums.iter_mut().find(is_same) {
                Some(known) => known.1 += bytes,
                None => sums.push((exchange.clone(), bytes)),
            }
        }
        let mut before = after;
        for (exchange, bytes) in sums {
            let purpose = exchange.purpose;
            let exchange = convert(
                self.costing,
                &self.numbering,
                StageExchange { stages: vec![self.stage], ..exchange },
            );
            if bytes < Bytes::new(0.5) || exchange.groups.members.extent < 2 {
                continue;
            }
            let name = format!("{name}: {} of {purpose}", exchange.kind.name());
            before = vec![self.add(name, Piece::Exchange(Box::new(exchange), bytes), before)];
        }
        before
    }

    fn pass(&mut self, number: usize, pass: &Pass, step: &[StageExchange]) {
        let (chunk, micro_batch) = (pass.chunk, pass.micro_batch);
        let word = match pass.kind {
            OperationKind::Forward => "forward",
            OperationKind::Recompute => "recompute",
            OperationKind::Backward => "backward",
            OperationKind::BackwardInput => "backward input",
            OperationKind::BackwardWeight => "backward weight",
        };
        let name = format!("{word}, chunk {chunk}, micro batch {micro_batch}");
        let back = pass.kind != OperationKind::Forward;
        let message = Transfer::new(self.costing).map_or(Bytes::ZERO, |transfer| transfer.message);
        let mut before = std::mem::take(&mut self.before);
        if let Some(stage) = pass.source {
            let from = if back { chunk + 1 } else { chunk.wrapping_sub(1) };
            let tag = self.tag(back, from, micro_batch);
            let receive = Piece::Receive { stage, bytes: message, tag };
            let received = self.add(format!("receive for {name}"), receive, Vec::new());
            let gathers = self.gathers(step, back);
            before.extend(self.chain(&gathers, 1.0, "receive", vec![received]));
        }
        if number == self.reduces_at {
            self.reduce_hidden(step, before.clone());
        }
        let works = works(self.evaluation, pass);
        let phases: Vec<Phase> = works.iter().map(|(phase, _)| *phase).collect();
        let all = of_chunk(self.costing, self.evaluation, self.stage as usize, chunk as usize);
        let parts = split(pass, &works);
        let behind: Seconds = parts.iter().map(|part| part.open).sum();
        let mut hidden = Vec::new();
        let own = |dim: Dim| -> Vec<StageExchange> {
            let is_own = |one: &&StageExchange| {
                phases.contains(&one.phase) && Dim::of(one.dimension, one.phase) == Some(dim)
            };
            all.iter().filter(is_own).cloned().collect()
        };
        let compute = self.add(name.clone(), Piece::Compute(pass.duration - behind), before.clone());
        for part in &parts {
            let share = part.hidden / (part.open + part.hidden);
            if share > 0.0 {
                let exchanges = own(part.dimension);
                hidden.extend(
                    self.chain(&exchanges, share, &name, before.clone())
                        .into_iter()
                        .filter(|node| !before.contains(node)),
                );
            }
        }
        let mut end = vec![compute];
        for part in &parts {
            let share = part.open / (part.open + part.hidden);
            if share > 0.0 {
                let exchanges = own(part.dimension);
                end = self.chain(&exchanges, share, &name, end);
            }
        }
        end.extend(hidden);
        if number == 0 {
            end.append(&mut self.arriving);
        }
        if let Some(stage) = pass.target {
            self.to_send.push_back((stage, self.tag(back, chunk, micro_batch)));
        }
        if !pass.hands_on_later {
            while let Some((stage, tag)) = self.to_send.pop_front() {
                let send = Piece::Send { stage, bytes: message, tag };
                self.add(format!("send of {name}"), send, end.clone());
            }
        }
        self.before = end;
    }

    /// Tag that distinguishes messages between the same two stages.
    fn tag(&self, back: bool, chunk: u32, micro_batch: u32) -> u32 {
        let micro_batches = self.costing.plan.micro_batches().max(1) as u32;
        let passes = self.evaluation.chunks.len() as u32;
        // DualPipe counts the micro-batches of both directions.
        (u32::from(back) * passes + chunk) * (2 * micro_batches) + micro_batch
    }

    /// Gathers of a message that arrived in parts, by tensor ranks.
    fn gathers(&self, step: &[StageExchange], back: bool) -> Vec<StageExchange> {
        let phase = if back { Phase::BackwardInput } else { Phase::Forward };
        let is_own = |one: &&StageExchange| {
            one.dimension == Dimension::Pipeline
                && one.phase == phase
                && one.operation == Gather::OPERATION
                && one.stages.contains(&self.stage)
        };
        let first = step.iter().find(is_own).cloned();
        first.map(|one| StageExchange { count: 1.0, ..one }).into_iter().collect()
    }

    fn own_update(&self, step: &[StageExchange], gathers: bool) -> Vec<StageExchange> {
        let is_own = |one: &&StageExchange| {
            (one.dimension, one.phase) == (Dimension::Data, Phase::Optimizer)
                && one.stages.contains(&self.stage)
                // Without flows: gradients of two stages, and the norm of gradients.
                && !matches!(one.process_group, ProcessGroup::Stages(_) | ProcessGroup::All)
                && (one.operation == Collective::AllGather) == gathers
        };
        step.iter().filter(is_own).cloned().collect()
    }

    /// Exposed shares of gradients and parameters.
    fn exposed(&self) -> (f64, f64) {
        let share = |exposed: Seconds, all: Seconds| {
            if all > Seconds::ZERO { (exposed / all).clamp(0.0, 1.0) } else { 1.0 }
        };
        self.evaluation.updates.get(self.stage as usize).map_or((1.0, 1.0), |update| {
            (
                share(update.gradient_exposed, update.gradient_reduce),
                share(update.parameter_exposed, update.parameter_gather),
            )
        })
    }

    /// Adds gathers of parameters: those of the previous step that arrive during the first pass, or those of
    /// this one.
    fn parameters(&mut self, step: &[StageExchange], of_last: bool) {
        let gathers = self.own_update(step, true);
        let (_, exposed) = self.exposed();
        if of_last {
            self.arriving = self.chain(&gathers, 1.0 - exposed, "before the step", Vec::new());
        } else {
            let before = std::mem::take(&mut self.before);
            self.before = self.chain(&gathers, exposed, "update", before);
        }
    }

    fn reduce_hidden(&mut self, step: &[StageExchange], after: Vec<usize>) {
        let (exposed, _) = self.exposed();
        let reductions = self.own_update(step, false);
        self.reducing = self.chain(&reductions, 1.0 - exposed, "gradients", after);
    }

    fn update(&mut self, step: &[StageExchange]) {
        let (exposed, _) = self.exposed();
        let mut before = std::mem::take(&mut self.before);
        for node in std::mem::take(&mut self.reducing) {
            if !before.contains(&node) {
                before.push(node);
            }
        }
        let reductions = self.own_update(step, false);
        let before = self.chain(&reductions, exposed, "gradients", before);
        let optimizer =
            self.evaluation.updates.get(self.stage as usize).map_or(Seconds::ZERO, |update| update.optimizer);
        self.before = vec![self.add("optimizer".to_owned(), Piece::Compute(optimizer), before)];
        self.parameters(step, false);
        let before = std::mem::take(&mut self.before);
        let rest = self.evaluation.time.fixed + self.evaluation.time.jitter;
        self.add("fixed costs of the step".to_owned(), Piece::Compute(rest), before);
    }
}

/// Bytes that ranks send in collectives and messages, by kind: the sum over all traces.
pub fn total_bytes(traced: &Traced) -> BTreeMap<CollectiveKind, f64> {
    let mut sums = BTreeMap::new();
    for rank in 0..traced.ranks() {
        let stage = traced.numbering.stage(rank) as usize;
        for node in traced.stages.get(stage).map_or(&[][..], |stage| &stage.nodes) {
            match &node.work {
                Piece::Exchange(exchange, bytes) => {
                    // A call counts once per group.
                    let members = exchange.groups.members.extent as f64;
                    *sums.entry(exchange.kind).or_insert(0.0) += bytes.get() / members;
                }
                Piece::Send { bytes, .. } => *sums.entry(CollectiveKind::Send).or_insert(0.0) += bytes.get(),
                Piece::Compute(_) | Piece::Receive { .. } => {}
            }
        }
    }
    sums
}
