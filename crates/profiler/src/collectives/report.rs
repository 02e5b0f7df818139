//! Sums by rank and by group.
//!
//! Responsible for: the value that the `comm` command prints. Bounds are counted separately from
//! measurements.

use super::clipped::clipped;
use super::rows::{CollectiveRow, rows_with};
use super::solo::solo_rows;
use crate::Job;
use crate::attribution::judged_steps;
use crate::bandwidth::{Link, accelerator, bus_factor, ceiling};
use crate::clocks::Clocks;
use crate::communication::{NameTable, unknown, unknown_kernels};
use crate::groups::{Evidence, RankSet};
use crate::joined::{JoinOptions, Joined, join};
use crate::kernels::KernelTable;
use crate::occupancy::{Intervals, Occupancy};
use crate::view::Tables;
use crate::windows::{CutBy, WHOLE, Windows};
use crate::workers::{OneByOne, Workers};
use railwright_spec::problem::Warning;
use railwright_spec::quantity::Seconds;
use railwright_spec::{human, median};
use railwright_step::{CollectiveKind, Dimension, OperatorFamily};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Communication time of one rank in nanoseconds; overlapping parts count twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankCommunication {
    /// The rank.
    pub rank: u32,
    /// Time from its first device activity to the end of the last, in nanoseconds.
    #[serde(rename = "window_ns")]
    pub window: i64,
    /// Compute in nanoseconds; overlaps count once.
    #[serde(rename = "compute_ns")]
    pub compute: i64,
    /// Communication in nanoseconds; overlaps count once.
    #[serde(rename = "communication_ns")]
    pub communication: i64,
    /// Overlapped share of communication.
    #[serde(rename = "overlap_ns")]
    pub overlap: i64,
    /// Exposed share of communication, in nanoseconds.
    #[serde(rename = "exposed_ns")]
    pub exposed: i64,
    /// Number of collectives with all traced ranks.
    pub collectives: u32,
    /// Wait time in these, in nanoseconds.
    #[serde(rename = "wait_ns")]
    pub wait: i64,
    /// Transfer time in these, in nanoseconds.
    #[serde(rename = "transfer_ns")]
    pub transfer: i64,
    /// Exposed wait time.
    #[serde(rename = "exposed_wait_ns")]
    pub exposed_wait: i64,
    /// Exposed transfer time.
    #[serde(rename = "exposed_transfer_ns")]
    pub exposed_transfer: i64,
    /// Communication without any transfer, in nanoseconds; concurrent operations count once.
    #[serde(rename = "waiting_once_ns")]
    pub waiting_once: i64,
    /// Communication with a transfer, in nanoseconds; concurrent operations count once. Both include bounds.
    #[serde(rename = "transfer_once_ns")]
    pub transfer_once: i64,
    /// Number of these that it entered last.
    pub last: u32,
    /// Number of parts whose waits are only bounds.
    pub estimates: u32,
    /// Sum of these bounds, in nanoseconds.
    #[serde(rename = "estimated_wait_ns")]
    pub estimated_wait: i64,
    /// Rest of these parts in nanoseconds: an upper bound on transfer.
    #[serde(rename = "estimated_transfer_ns")]
    pub estimated_transfer: i64,
    /// Number of lost leading collectives.
    pub lost: u32,
}

/// One operation in one dimension, over all of its communicators.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCommunication {
    /// The dimension.
    pub dimension: Dimension,
    /// Label.
    pub label: String,
    /// Evidence for the dimension.
    pub evidence: Evidence,
    /// Assumed participants and the reason, if the traces record no group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
    /// Number of ranks in each of its groups.
    pub size: u32,
    /// Number of groups.
    pub groups: u32,
    /// Ranks of the first group, as printed.
    pub ranks: String,
    /// The operation.
    pub operation: Option<CollectiveKind>,
    /// Number of collectives.
    pub count: u32,
    /// Total bytes; `None` if sizes are not recorded.
    pub bytes: Option<u64>,
    /// Time in them in nanoseconds, mean over ranks.
    #[serde(rename = "time_ns")]
    pub time: f64,
    /// Wait time.
    #[serde(rename = "wait_ns")]
    pub wait: f64,
    /// Transfer time.
    #[serde(rename = "transfer_ns")]
    pub transfer: f64,
    /// Exposed wait time.
    #[serde(rename = "exposed_wait_ns")]
    pub exposed_wait: f64,
    /// Exposed transfer time.
    #[serde(rename = "exposed_transfer_ns")]
    pub exposed_transfer: f64,
    /// Algorithm bandwidth in bytes per second, from the entry of the last rank on: median over collectives
    /// with a size.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B/s")))]
    pub algorithm_bandwidth: Option<f64>,
    /// Bus bandwidth in bytes per second, as in nccl-tests.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B/s")))]
    pub bus_bandwidth: Option<f64>,
    /// Largest bus bandwidth of a single collective, in bytes per second.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B/s")))]
    pub best_bus_bandwidth: Option<f64>,
    /// The link that limits it.
    pub link: Option<Link>,
    /// Compute available for overlap in nanoseconds, mean over ranks.
    #[serde(rename = "slack_ns")]
    pub slack: f64,
    /// Bus bandwidth at which its slack would overlap it. If it exceeds the link's ceiling, the remedy is
    /// less data rather than another order.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "B/s")))]
    pub required_bandwidth: Option<f64>,
    /// True if waits are lower bounds.
    pub estimate: bool,
}

/// Communication within the steps that `profile` and `stragglers` cover: without warm-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InSteps {
    /// Number of steps.
    pub steps: u32,
    /// The steps, such as `steps 10-12`; `the whole recording` without steps.
    pub covered: String,
    /// Excluded steps of warm-up, such as `step 0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<String>,
    /// The mean step, in nanoseconds.
    #[serde(rename = "step_time_ns")]
    pub step_time: f64,
    /// By rank: sums over the steps.
    pub ranks: Vec<RankCommunication>,
    /// By dimension and operation, the longest first: sums over the steps.
    pub groups: Vec<GroupCommunication>,
}

impl InSteps {
    /// The scope of its times per step, for a sentence.
    pub fn scope(&self) -> String {
        let time = human::seconds(Seconds::new(self.step_time * 1e-9));
        match (&self.covered, self.steps) {
            (covered, _) if covered == WHOLE => format!("in {covered}"),
            (covered, 1) => format!("in {covered} ({time})"),
            (covered, _) => format!("per step ({covered}, mean {time})"),
        }
    }
}

/// Communication of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommunicationReport {
    /// Ranks that were traced.
    pub ranks_traced: u32,
    /// Ranks of the job.
    pub world_size: u32,
    /// True if the world size is recorded. Otherwise it is a lower bound.
    pub world_size_known: bool,
    /// The accelerator, if it is in the catalogue.
    pub accelerator: Option<String>,
    /// Clock alignment.
    pub clocks: Clocks,
    /// By rank, in the whole recording.
    pub ranks: Vec<RankCommunication>,
    /// By dimension and operation in the whole recording, the longest first.
    pub groups: Vec<GroupCommunication>,
    /// The same within the steps.
    pub in_steps: InSteps,
    /// Every collective. There may be many: printers select the listed ones.
    #[serde(skip)]
    pub collectives: Vec<CollectiveRow>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Joins a job (its traces are shifted to one time) and sums its communication.
pub fn communication_report(job: &mut Job, options: &JoinOptions) -> CommunicationReport {
    let joined = join(job, options);
    joined_communication_report(job, &joined, options.names.as_ref(), &OneByOne)
}

/// Sums the communication of a joined job. `names` is the table used for joining; the shipped one by default.
pub fn joined_communication_report(
    job: &Job,
    joined: &Joined,
    names: Option<&NameTable>,
    workers: &impl Workers,
) -> CommunicationReport {
    let table = names.unwrap_or_else(|| NameTable::shipped());
    let tables = Tables { communication: table.clone(), ..Tables::shipped() };
    let (windows, occupancies, _) = judged_steps(job, joined, &tables, workers);
    let mut rows = rows_with(joined, &occupancies);
    solo_rows(job, joined, &mut rows, &occupancies);
    for row in &mut rows {
        row.label = placed(joined, row).key.label;
    }
    let accelerator = accelerator(job);
    let mut warnings = job.warnings.clone();
    warnings.extend(joined.warnings.iter().cloned());
    warnings.extend(windows.warnings.iter().cloned());
    let whole = (i64::MIN, i64::MAX);
    let kernels = KernelTable::shipped();
    let computes = |name: &str| kernels.family(name) != OperatorFamily::Other;
    warnings.extend(unknown::warnings(&unknown_kernels(job, table, &computes)));
    CommunicationReport {
        ranks_traced: job.members.len() as u32,
        world_size: job.world_size,
        world_size_known: job.world_size_known,
        ranks: ranks(job, joined, &rows, &occupancies, whole),
        groups: groups(joined, &rows, accelerator.as_ref()),
        in_steps: in_steps((job, joined), &rows, &occupancies, &windows, accelerator.as_ref()),
        accelerator: accelerator.map(|accelerator| accelerator.name),
        clocks: joined.clocks.clone(),
        collectives: rows,
        warnings,
    }
}

fn in_steps(
    (job, joined): (&Job, &Joined),
    rows: &[CollectiveRow],
    occupancies: &[Occupancy],
    windows: &Windows,
    accelerator: Option<&railwright_spec::cluster::Accelerator>,
) -> InSteps {
    // Without steps, activity outside the common recording counts as well.
    let is_whole = windows.cut_by == CutBy::Nothing;
    let span = if is_whole { (i64::MIN, i64::MAX) } else { windows.span() };
    let within = if is_whole { rows.to_vec() } else { clipped(rows, span, occupancies) };
    let warm_up = Windows { steps: windows.warm_up.clone(), warm_up: Vec::new(), ..windows.clone() };
    InSteps {
        steps: windows.steps.len().max(1) as u32,
        covered: windows.covered(),
        warm_up: (!windows.warm_up.is_empty()).then(|| warm_up.covered()),
        step_time: windows.mean_step(),
        ranks: ranks(job, joined, &within, occupancies, span),
        groups: groups(joined, &within, accelerator),
    }
}

/// Sums by rank between two times.
fn ranks(
    job: &Job,
    joined: &Joined,
    rows: &[CollectiveRow],
    occupancies: &[Occupancy],
    span: (i64, i64),
) -> Vec<RankCommunication> {
    let mut ranks: Vec<RankCommunication> = job
        .members
        .iter()
        .zip(occupancies)
        .map(|(member, on)| {
            let (compute, busy) = (on.compute.clipped(span), on.communication.clipped(span));
            let communication = busy.total();
            let overlap = busy.overlap(&compute);
            RankCommunication {
                rank: member.rank,
                window: (on.window.1.min(span.1) - on.window.0.max(span.0)).max(0),
                compute: compute.total(),
                communication,
                overlap,
                exposed: communication - overlap,
                ..RankCommunication::default()
            }
        })
        .collect();
    for communicator in &joined.matching.communicators {
        for member in &communicator.members {
            ranks[member.member as usize].lost += member.lost;
        }
    }
    let mut transfers: Vec<Vec<(i64, i64)>> = vec![Vec::new(); ranks.len()];
    for row in rows {
        for part in &row.parts {
            let end = part.start + part.duration;
            transfers[part.at.member as usize].push((part.start + part.wait, end));
            let rank = &mut ranks[part.at.member as usize];
            if row.complete && !row.estimate {
                rank.collectives += 1;
                rank.wait += part.wait;
                rank.transfer += part.transfer;
                rank.exposed_wait += part.exposed_wait;
                rank.exposed_transfer += part.exposed_transfer;
                rank.last += u32::from(row.last_rank == Some(part.rank));
            } else {
                rank.estimates += 1;
                rank.estimated_wait += part.wait;
                rank.estimated_transfer += part.transfer;
            }
        }
    }
    for (rank, transfers) in ranks.iter_mut().zip(transfers) {
        rank.transfer_once = Intervals::union(transfers).total().min(rank.communication);
        rank.waiting_once = rank.communication - rank.transfer_once;
    }
    ranks
}

/// Remark on inferred process groups.
const ASSUMED: &str = "process groups are not recorded; inferred from matching collectives (kind, size, order and end time). Untraced ranks are not counted";

/// Key of a sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    dimension: Dimension,
    label: String,
    size: u32,
    operation: Option<CollectiveKind>,
}

#[derive(Default)]
struct Sum<'a> {
    rows: Vec<&'a CollectiveRow>,
    communicators: BTreeMap<Option<u32>, RankSet>,
    evidence: Option<Evidence>,
    assumed: bool,
}

/// Group and key of a collective.
struct Placed {
    key: Key,
    set: RankSet,
    evidence: Evidence,
    /// True if the ranks are inferred by matching, without a group in the traces.
    assumed: bool,
}

fn placed(joined: &Joined, row: &CollectiveRow) -> Placed {
    let communicator = row.communicator.map(|id| &joined.matching.communicators[id as usize]);
    let group = communicator.map_or_else(
        || row.parts.first().and_then(|part| joined.matching.part(part.at).group),
        |communicator| communicator.group,
    );
    let group = group.and_then(|id| joined.groups.get(id));
    let traced = communicator.map_or(1, |communicator| communicator.members.len() as u32);
    let here = || {
        let ranks = communicator.map(|c| c.members.iter().map(|m| m.rank).collect::<Vec<_>>());
        RankSet::new(&ranks.unwrap_or_else(|| row.parts.iter().map(|part| part.rank).collect()))
    };
    let channel = communicator.and_then(|c| c.channel);
    let set = match (channel, group.and_then(|group| group.ranks.clone())) {
        (None, Some(set)) => set,
        _ => here(),
    };
    let (dimension, label, size) = match group {
        Some(group) if group.inferred => {
            let known = group.dimension.evidence != Evidence::Nothing;
            let all = if group.size == joined.clocks.clocks.len() as u32 { "all " } else { "" };
            let label = if known {
                format!("assumed: {}", group.dimension.label)
            } else {
                format!("assumed: {all}{} ranks", group.size)
            };
            (group.dimension.dimension, label, group.size)
        }
        Some(group) => (group.dimension.dimension, group.dimension.label.clone(), group.size),
        None if channel.is_some() => (Dimension::Pipeline, Dimension::Pipeline.name().to_owned(), traced),
        None if row.operation == Some(CollectiveKind::Copy) => {
            (Dimension::Other, "copies between devices".to_owned(), traced)
        }
        None if communicator.is_some() => {
            // Its calls were matched by stream and order, so these ranks are an assumption.
            let towards = if traced == joined.clocks.clocks.len() as u32 { "all " } else { "" };
            (Dimension::Other, format!("assumed: {towards}{traced} ranks"), traced)
        }
        None => {
            let why = if joined.ranks_missing { "other ranks not traced" } else { "no counterpart found" };
            (Dimension::Other, format!("unknown ({why})"), traced)
        }
    };
    let assumed = group.is_none_or(|group| group.inferred)
        && (channel.is_none() || group.is_some())
        && communicator.is_some()
        && row.operation != Some(CollectiveKind::Copy);
    Placed {
        assumed,
        key: Key { dimension, label, size, operation: row.operation },
        set,
        evidence: group.map_or(Evidence::Nothing, |group| group.dimension.evidence),
    }
}

fn groups(
    joined: &Joined,
    rows: &[CollectiveRow],
    accelerator: Option<&railwright_spec::cluster::Accelerator>,
) -> Vec<GroupCommunication> {
    let mut sums: BTreeMap<Key, Sum<'_>> = BTreeMap::new();
    for row in rows {
        let Placed { key, set, evidence, assumed } = placed(joined, row);
        let sum = sums.entry(key).or_default();
        sum.rows.push(row);
        sum.communicators.entry(row.communicator).or_insert(set);
        sum.evidence.get_or_insert(evidence);
        sum.assumed = assumed;
    }
    let mut found: Vec<GroupCommunication> =
        sums.into_iter().map(|(key, sum)| group_sum(key, &sum, accelerator)).collect();
    found.sort_by(|a, b| b.time.total_cmp(&a.time).then_with(|| a.label.cmp(&b.label)));
    found
}

fn group_sum(
    key: Key,
    sum: &Sum<'_>,
    accelerator: Option<&railwright_spec::cluster::Accelerator>,
) -> GroupCommunication {
    let mut ranks: BTreeSet<u32> = BTreeSet::new();
    let (mut time, mut wait, mut transfer, mut slack) = (0_i64, 0_i64, 0_i64, 0_i64);
    let (mut exposed_wait, mut exposed_transfer) = (0_i64, 0_i64);
    let mut algorithm: Vec<f64> = Vec::new();
    let mut moved = 0.0;
    let mut known = 0_u64;
    let mut sized = true;
    let factor = bus_factor(key.operation, key.size);
    for row in &sum.rows {
        for part in &row.parts {
            ranks.insert(part.rank);
            time += part.duration;
            wait += part.wait;
            transfer += part.transfer;
            exposed_wait += part.exposed_wait;
            exposed_transfer += part.exposed_transfer;
            slack += part.slack;
        }
        match row.bytes {
            Some(bytes) => {
                known = known.saturating_add(bytes);
                moved += bytes as f64 * factor * row.parts.len() as f64;
                if row.shortest > 0 && bytes > 0 {
                    algorithm.push(bytes as f64 / (row.shortest as f64 * 1e-9));
                }
            }
            None => sized = false,
        }
    }
    let count = ranks.len().max(1) as f64;
    let best = algorithm
        .iter()
        .copied()
        .fold(None, |best: Option<f64>, rate| Some(best.map_or(rate, |best| best.max(rate))));
    let typical = (!algorithm.is_empty()).then(|| median(&mut algorithm));
    let set = sum.communicators.values().next().cloned().unwrap_or_default();
    let link = accelerator.and_then(|accelerator| {
        sum.communicators
            .values()
            .filter_map(|set| ceiling(accelerator, set))
            .min_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second))
    });
    GroupCommunication {
        dimension: key.dimension,
        label: key.label,
        evidence: sum.evidence.unwrap_or(Evidence::Nothing),
        assumed: sum.assumed.then(|| ASSUMED.to_owned()),
        size: key.size,
        groups: sum.communicators.len() as u32,
        ranks: set.to_string(),
        operation: key.operation,
        count: sum.rows.len() as u32,
        bytes: sized.then_some(known),
        time: time as f64 / count,
        wait: wait as f64 / count,
        transfer: transfer as f64 / count,
        exposed_wait: exposed_wait as f64 / count,
        exposed_transfer: exposed_transfer as f64 / count,
        algorithm_bandwidth: typical,
        bus_bandwidth: typical.map(|rate| rate * factor),
        best_bus_bandwidth: best.map(|rate| rate * factor),
        link,
        slack: slack as f64 / count,
        required_bandwidth: (sized && slack > 0).then(|| moved / (slack as f64 * 1e-9)),
        estimate: sum.rows.iter().any(|row| row.estimate),
    }
}
