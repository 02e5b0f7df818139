//! Traces of all ranks as one program of flows.
//!
//! Responsible for: matching sends with receives and the calls of a collective across its ranks, and the
//! messages of each collective. Excludes links ([`crate::flow::listed`] simulates the program) and compute
//! costs: durations are those of the trace.
//!
//! A node begins when its dependencies have ended. A collective begins when all of its ranks have reached it,
//! and ends for all of them at the same time. Gathers and reductions use rings, an all-to-all sends directly
//! ([`crate::traffic`]). A ring has the latency of each of its steps: messages without bytes from member to
//! member precede those with bytes.

use super::{Node, Trace, Work, of_convention};
use crate::flow::listed::Listed;
use crate::traffic::{Algorithm, Exchange, Groups, Numbering};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum number of flows of a program; larger ones are rejected.
const MOST_FLOWS: usize = 4_000_000;

/// A program with remarks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Flows; nodes without bytes are flows of a rank to itself.
    pub flows: Vec<Listed>,
    /// Nodes that take no time here although they take some in a run, by their kind.
    pub without_time: BTreeMap<&'static str, u64>,
}

/// Position of a node: rank, and index in its trace.
type Place = (u32, usize);

impl Program {
    /// Builds a program from traces by rank, on scale-up domains of `domain` devices; `groups` are the
    /// process groups by name.
    pub fn new(traces: &[Trace], groups: &BTreeMap<String, Vec<u32>>, domain: u64) -> Result<Self, Problem> {
        let mut building = Building::new(traces)?;
        building.collectives(groups, domain)?;
        building.messages()?;
        building.rest()?;
        building.dependencies()?;
        Ok(building.program)
    }
}

/// Steps of a ring of `members` before the one that is the latency of its bytes: `n - 1` in all, twice that
/// for an all-reduce (Thakur et al., Optimization of Collective Communication Operations in MPICH, 2005,
/// section 4).
fn steps(kind: CollectiveKind, members: usize) -> usize {
    let ring = members.saturating_sub(1);
    let all = match kind {
        CollectiveKind::AllReduce => 2 * ring,
        CollectiveKind::AllGather
        | CollectiveKind::ReduceScatter
        | CollectiveKind::Reduce
        | CollectiveKind::Broadcast => ring,
        _ => 0,
    };
    all.saturating_sub(1)
}

/// Calls of one set of ranks, by rank in the order of its trace.
struct Set {
    members: Vec<u32>,
    calls: BTreeMap<u32, Vec<(Place, CollectiveKind, Bytes)>>,
}

/// Sets of ranks, each with its calls. A list of ranks is read once for each group, not for each call.
#[derive(Default)]
struct Sets<'a> {
    all: Vec<Set>,
    /// Index by ranks.
    by_ranks: BTreeMap<Vec<u32>, usize>,
    /// Index by name, with the rank that defines the group, if any.
    by_name: BTreeMap<(Option<u32>, &'a str), usize>,
}

impl<'a> Sets<'a> {
    /// Index of the rank set of a group, with the ranks from `read`; `None` for an unknown group.
    fn of(
        &mut self,
        (definer, name): (Option<u32>, &'a str),
        read: impl FnOnce() -> Option<BTreeSet<u32>>,
    ) -> Option<&mut Set> {
        let at = if let Some(at) = self.by_name.get(&(definer, name)) {
            *at
        } else {
            let members: Vec<u32> = read()?.into_iter().collect();
            let at = *self.by_ranks.entry(members.clone()).or_insert(self.all.len());
            if at == self.all.len() {
                self.all.push(Set { members, calls: BTreeMap::new() });
            }
            self.by_name.insert((definer, name), at);
            at
        };
        self.all.get_mut(at)
    }

    /// All sets, by their ranks.
    fn in_order(mut self) -> Vec<Set> {
        self.all.sort_by(|a, b| a.members.cmp(&b.members));
        self.all
    }
}

struct Building<'a> {
    traces: &'a [Trace],
    program: Program,
    /// By rank and index in the trace: the flow that ends each node.
    ends: Vec<Vec<Option<u32>>>,
    /// The flow that waits for a node's dependencies.
    begins: Vec<Vec<Option<u32>>>,
    /// By rank: index of each node by its number.
    known: Vec<BTreeMap<u64, usize>>,
}

impl<'a> Building<'a> {
    fn new(traces: &'a [Trace]) -> Result<Self, Problem> {
        let nodes: usize = traces.iter().map(|trace| trace.nodes.len()).sum();
        if nodes > MOST_FLOWS {
            return Err(Problem::new(format!("{nodes} nodes exceed the limit of {MOST_FLOWS}")));
        }
        let empty = || traces.iter().map(|trace| vec![None; trace.nodes.len()]).collect::<Vec<_>>();
        let mut known = Vec::with_capacity(traces.len());
        for (rank, trace) in traces.iter().enumerate() {
            let mut own = BTreeMap::new();
            for (place, node) in trace.nodes.iter().enumerate() {
                if own.insert(node.id, place).is_some() {
                    return Err(Problem::new(format!("rank {rank}: the node {} occurs twice", node.id)));
                }
            }
            known.push(own);
        }
        Ok(Self { traces, program: Program::default(), ends: empty(), begins: empty(), known })
    }

    fn nodes(&self) -> impl Iterator<Item = (Place, &'a Node)> + use<'a> {
        let traces = self.traces;
        traces.iter().enumerate().flat_map(|(rank, trace)| {
            trace.nodes.iter().enumerate().map(move |(place, node)| ((rank as u32, place), node))
        })
    }

    fn add(&mut self, flow: Listed) -> Result<u32, Problem> {
        if self.program.flows.len() >= MOST_FLOWS {
            return Err(Problem::new(format!("the traces contain more than {MOST_FLOWS} messages"))
                .hint("simulate fewer ranks, or a trace with fewer nodes"));
        }
        self.program.flows.push(flow);
        Ok(self.program.flows.len() as u32 - 1)
    }

    /// Adds a flow of a rank to itself: an event without duration, or a delay.
    fn moment(&mut self, name: String, rank: u32, delay: Seconds) -> Result<u32, Problem> {
        let flow = Listed { name, from: rank, to: rank, bytes: Bytes::ZERO, start: delay, after: Vec::new() };
        self.add(flow)
    }

    fn set(&mut self, (rank, place): Place, begin: u32, end: u32) {
        let at = |list: &mut Vec<Vec<Option<u32>>>, flow| {
            if let Some(slot) = list.get_mut(rank as usize).and_then(|own| own.get_mut(place)) {
                *slot = Some(flow);
            }
        };
        at(&mut self.begins, begin);
        at(&mut self.ends, end);
    }

    /// Calls of each group in the order of the files: the n-th call of one rank is the n-th of the others.
    fn collectives(&mut self, groups: &BTreeMap<String, Vec<u32>>, domain: u64) -> Result<(), Problem> {
        let mut sets = Sets::default();
        for ((rank, place), node) in self.nodes() {
            let Work::Collective { kind, input, group } = &node.work else { continue };
            let own = self.traces.get(rank as usize).and_then(|trace| trace.groups.get(group));
            let read = || self.members(own.or_else(|| groups.get(group)), own.is_some(), group);
            let set = sets.of((own.map(|_| rank), group), read).ok_or_else(|| {
                Problem::new(format!(
                    "rank {rank}, node {}: there is no process group `{}`",
                    node.id,
                    shorten(group)
                ))
                .hint("add `comm_groups.json` to the folder: names of groups with lists of ranks")
            })?;
            let ranks = self.traces.len();
            let is_beyond = set.members.last().is_some_and(|last| *last as usize >= ranks);
            if is_beyond || set.members.binary_search(&rank).is_err() {
                return Err(Problem::new(format!(
                    "rank {rank}, node {}: the process group `{}` has ranks {} of {ranks}; it lacks this rank or has ranks without a trace",
                    node.id,
                    shorten(group),
                    crate::simulate::ranges(&set.members)
                )));
            }
            set.calls.entry(rank).or_default().push(((rank, place), *kind, *input));
        }
        for Set { members, calls } in sets.in_order() {
            let most = calls.values().map(Vec::len).max().unwrap_or(0);
            if let Some(rank) = members.iter().find(|rank| calls.get(rank).map_or(0, Vec::len) != most) {
                return Err(Problem::new(format!(
                    "rank {rank} calls {} collectives in the group of ranks {}, but another rank calls {most}",
                    calls.get(rank).map_or(0, Vec::len),
                    crate::simulate::ranges(&members)
                )));
            }
            for n in 0..most {
                let call: Vec<_> = calls.values().filter_map(|own| own.get(n)).collect();
                self.collective(&members, &call, domain)?;
            }
        }
        Ok(())
    }

    /// The ranks of a process group; `None` for an unknown group.
    fn members(&self, listed: Option<&Vec<u32>>, is_own: bool, group: &str) -> Option<BTreeSet<u32>> {
        match listed {
            Some(members) if !members.is_empty() => Some(members.iter().copied().collect()),
            // A group without ranks is PyTorch's default group.
            _ if group.is_empty() || is_own => Some((0..self.traces.len() as u32).collect()),
            _ => None,
        }
    }

    fn collective(
        &mut self,
        members: &[u32],
        call: &[&(Place, CollectiveKind, Bytes)],
        domain: u64,
    ) -> Result<(), Problem> {
        let Some(&&((first, place), kind, input)) = call.first() else { return Ok(()) };
        let node = self.traces.get(first as usize).and_then(|trace| trace.nodes.get(place));
        let name = node.map_or_else(String::new, |node| format!("{first}:{}", node.id));
        if let Some(((rank, _), ..)) = call.iter().find(|other| (other.1, other.2) != (kind, input)) {
            return Err(Problem::new(format!(
                "ranks {first} and {rank} call collectives of different kinds or sizes at the same position ({name})"
            )));
        }
        let mut begin = self.moment(format!("{name} begins"), first, Seconds::ZERO)?;
        let entered = begin;
        let algorithm = if kind == CollectiveKind::AllToAll { Algorithm::Direct } else { Algorithm::Ring };
        let exchange = Exchange {
            dimension: Dimension::Other,
            purpose: "trace",
            phase: Phase::Other,
            kind,
            algorithm,
            bytes: input * of_convention(kind, members.len()),
            count: 1.0,
            groups: Groups::all(&Numbering::pipeline_outermost(1, members.len() as u64)),
        };
        let next = members.iter().cycle().skip(1);
        for (step, (from, to)) in
            members.iter().cycle().zip(next).take(steps(kind, members.len())).enumerate()
        {
            let name = format!("{name} step {step}");
            let (bytes, start) = (Bytes::ZERO, Seconds::ZERO);
            begin = self.add(Listed { name, from: *from, to: *to, bytes, start, after: vec![begin] })?;
        }
        let mut edges = Vec::new();
        exchange.flows(members, domain, &mut |from, to, bytes| edges.push((from, to, bytes)));
        let mut after = Vec::with_capacity(edges.len() + 1);
        for (from, to, bytes) in edges {
            let name = format!("{name} {from}-{to} {}", after.len());
            let flow =
                Listed { name, from, to, bytes: Bytes::new(bytes), start: Seconds::ZERO, after: vec![begin] };
            after.push(self.add(flow)?);
        }
        after.push(begin);
        let end = self.moment(format!("{name} ends"), first, Seconds::ZERO)?;
        if let Some(flow) = self.program.flows.get_mut(end as usize) {
            flow.after = after;
        }
        for (place, ..) in call {
            self.set(*place, entered, end);
        }
        Ok(())
    }

    /// Sends and receives of the same two ranks and tag, in the order of the files.
    fn messages(&mut self) -> Result<(), Problem> {
        type Sends = VecDeque<(Place, u64, Bytes)>;
        let mut sent: BTreeMap<(u32, u32, u32), Sends> = BTreeMap::new();
        for ((rank, place), node) in self.nodes() {
            if let Work::Send { to, bytes, tag } = node.work {
                sent.entry((rank, to, tag)).or_default().push_back(((rank, place), node.id, bytes));
            }
        }
        for ((rank, place), node) in self.nodes() {
            let Work::Receive { from, bytes, tag } = node.work else { continue };
            let Some((sender, id, size)) = sent.get_mut(&(from, rank, tag)).and_then(VecDeque::pop_front)
            else {
                return Err(Problem::new(format!(
                    "rank {rank}, node {}: rank {from} sends no message with tag {tag} to it",
                    node.id
                )));
            };
            if size != bytes {
                return Err(Problem::new(format!(
                    "rank {rank}, node {}: receives {} of a message of {} bytes (rank {from}, node {id})",
                    node.id,
                    bytes.get(),
                    size.get()
                )));
            }
            let name = format!("{from}:{id}");
            let flow = Listed { name, from, to: rank, bytes, start: Seconds::ZERO, after: Vec::new() };
            let message = self.add(flow)?;
            self.set(sender, message, message);
            let arrival = self.moment(format!("{rank}:{}", node.id), rank, Seconds::ZERO)?;
            if let Some(flow) = self.program.flows.get_mut(arrival as usize) {
                flow.after.push(message);
            }
            self.set((rank, place), arrival, arrival);
        }
        let lost = sent.into_iter().find_map(|(key, mut left)| left.pop_front().map(|one| (key, one)));
        if let Some(((from, to, tag), (_, id, _))) = lost {
            return Err(Problem::new(format!(
                "rank {from}, node {id}: rank {to} receives no message with tag {tag} from it"
            )));
        }
        Ok(())
    }

    /// Compute, and nodes without time.
    fn rest(&mut self) -> Result<(), Problem> {
        for ((rank, place), node) in self.nodes() {
            let time = match node.work {
                Work::Compute(time) => time,
                Work::Nothing(what) => {
                    if what != "metadata" {
                        *self.program.without_time.entry(what).or_default() += 1;
                    }
                    Seconds::ZERO
                }
                _ => continue,
            };
            let flow = self.moment(format!("{rank}:{}", node.id), rank, time)?;
            self.set((rank, place), flow, flow);
        }
        Ok(())
    }

    fn dependencies(&mut self) -> Result<(), Problem> {
        for ((rank, place), node) in self.nodes() {
            let flow = |list: &[Vec<Option<u32>>], place: usize| {
                list.get(rank as usize).and_then(|own| own.get(place)).copied().flatten()
            };
            let Some(begin) = flow(&self.begins, place) else { continue };
            for id in &node.after {
                let before = self.known.get(rank as usize).and_then(|own| own.get(id)).copied();
                let Some(end) = before.and_then(|place| flow(&self.ends, place)) else {
                    return Err(Problem::new(format!(
                        "rank {rank}, node {}: it depends on node {id}, which does not exist",
                        node.id
                    )));
                };
                if let Some(flow) = self.program.flows.get_mut(begin as usize) {
                    flow.after.push(end);
                }
            }
        }
        for flow in self.program.flows.iter_mut().filter(|flow| flow.after.len() > 1) {
            // Nodes with a common end, such as those of a collective, are awaited once.
            let mut known = BTreeSet::new();
            flow.after.retain(|end| known.insert(*end));
        }
        Ok(())
    }
}
