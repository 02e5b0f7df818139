//! Progress of every group on every rank, and its stuck collective.
//!
//! Responsible for: joining groups across ranks, and the first collective that was entered and not left.
//! Groups are joined by their ranks if the dumps list them, otherwise by name and purpose. Does not follow
//! ranks from one group to another: see [`super::chain`].

use crate::flight::{Entry, FlightRecord, Group as Listed, Status};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A group of ranks across dumps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Purpose of the group, otherwise its name.
    pub name: String,
    /// Its ranks as the dumps list them, otherwise those that used it.
    pub ranks: Vec<u32>,
}

/// State of a stuck collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Some ranks never entered it.
    NotEntered,
    /// Ranks called different operations, or the same with other sizes or types.
    Mismatched,
    /// All ranks entered it, only some left it.
    PartlyFinished,
    /// All ranks entered it and none left it.
    NoneFinished,
}

/// A collective or message that a rank entered and has not left.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stuck {
    /// Its process group.
    pub group: Group,
    /// Its number in the group.
    pub sequence: u64,
    /// Call of the ranks that entered it.
    pub operation: String,
    /// State.
    pub state: State,
    /// The ranks that entered it and have not left it.
    pub waiting: Vec<u32>,
    /// Ranks that never entered it, among those with a dump.
    pub missing: Vec<u32>,
    /// Ranks of the group without a dump, or with a damaged dump that lacks the collective. If the group
    /// does not list its ranks, all ranks without a dump.
    pub unknown: Vec<u32>,
    /// True if the dumps list the group's ranks. Otherwise only the ranks that used it are known.
    pub listed: bool,
    /// Call of each rank, if they differ.
    pub calls: Vec<(u32, String)>,
    /// Time at which the first rank entered it, in nanoseconds since the epoch.
    #[serde(rename = "since_ns")]
    pub since: i64,
    /// Timeout in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// A sequence with its own numbering: the collectives of a group, or the messages of one direction between
/// two ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CallSequence {
    name: String,
    /// The group's ranks if dumps list them, to distinguish groups with the same name and purpose.
    ranks: Vec<u32>,
    message: Option<(u32, u32)>,
}

/// The two ends of a message, as (from, to), from `nccl:send 1->2` or `nccl:recv 2<-1`.
fn ends(operation: &str) -> Option<(u32, u32)> {
    let numbers = |text: &str, by: &str| {
        let (a, b) = text.rsplit_once(' ').map_or(text, |(_, ends)| ends).split_once(by)?;
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    numbers(operation, "->").or_else(|| numbers(operation, "<-").map(|(to, from)| (from, to)))
}

/// Ranks of an entry's group as listed by its dump. Otherwise as listed by other dumps, if exactly one group
/// of this name and purpose contains the rank. A list without the dump's own rank numbers ranks within the
/// group and is ignored.
fn listed(records: &[(u32, &FlightRecord)], record: &FlightRecord, rank: u32, entry: &Entry) -> Vec<u32> {
    let lists = |of: &FlightRecord, dumped: u32, any_purpose: bool| {
        let named = |g: &&Listed| {
            !g.name.is_empty()
                && g.name == entry.group_name
                && (any_purpose || g.description == entry.group_description)
        };
        let group = of.groups.iter().find(named);
        group.filter(|g| g.ranks.contains(&dumped) && g.ranks.contains(&rank)).map(|g| {
            let mut ranks = g.ranks.clone();
            ranks.sort_unstable();
            ranks.dedup();
            ranks
        })
    };
    if let Some(own) = lists(record, rank, true) {
        return own;
    }
    let theirs: BTreeSet<Vec<u32>> =
        records.iter().filter_map(|&(dumped, other)| lists(other, dumped, false)).collect();
    if theirs.len() == 1 { theirs.into_iter().next().unwrap_or_default() } else { Vec::new() }
}

fn sequence_of(
    records: &[(u32, &FlightRecord)],
    record: &FlightRecord,
    rank: u32,
    entry: &Entry,
) -> CallSequence {
    let ranks = listed(records, record, rank, entry);
    let described = (&entry.group_description, &entry.group_name);
    let name = match described {
        (description, name) if description.is_empty() || description == "undefined" => name.clone(),
        // With listed ranks, the counter in the name differs from rank to rank and has no meaning.
        (description, _) if !ranks.is_empty() => description.clone(),
        (description, name) => format!("{description} ({name})"),
    };
    let message = message_of(entry);
    // If the group is listed, message ends are numbered within it.
    let global = |local: u32| ranks.get(local as usize).copied().unwrap_or(local);
    let message = message.map(|(from, to)| (global(from), global(to)));
    CallSequence { name: if name.is_empty() { "default".to_owned() } else { name }, ranks, message }
}

/// The ends of a message, in the group's own numbering.
fn message_of(entry: &Entry) -> Option<(u32, u32)> {
    if entry.is_message { ends(&entry.operation) } else { None }
}

/// Key of entries of one sequence within a record: name and purpose of the group, and for messages the
/// operation.
type Alike<'a> = (&'a str, &'a str, Option<&'a str>);

/// Numbers of sequences. Thousands of entries belong to one, which is determined once per record.
#[derive(Default)]
struct CallSequences {
    numbers: BTreeMap<CallSequence, usize>,
}

impl CallSequences {
    /// Number of an entry's sequence. `own` caches those of its record.
    fn of<'a>(
        &mut self,
        own: &mut BTreeMap<Alike<'a>, usize>,
        records: &[(u32, &'a FlightRecord)],
        record: &'a FlightRecord,
        rank: u32,
        entry: &'a Entry,
    ) -> usize {
        let operation = entry.is_message.then_some(entry.operation.as_str());
        let alike = (entry.group_name.as_str(), entry.group_description.as_str(), operation);
        *own.entry(alike).or_insert_with(|| {
            let next = self.numbers.len();
            *self.numbers.entry(sequence_of(records, record, rank, entry)).or_insert(next)
        })
    }
}

/// Tests whether a rank has left a collective. A recorder without start times (gloo) only retires entries.
fn left(record: &FlightRecord, statuses: &BTreeMap<u64, &Status>, entry: &Entry) -> bool {
    let status = statuses.get(&entry.group).filter(|_| !entry.is_message);
    let by_count = status.and_then(|s| s.last_completed).is_some_and(|last| last >= entry.sequence);
    // If a damaged dump lost the progress of its groups, only the recorder's completion state is used:
    // doubtful ranks are not reported as waiting.
    let is_counted = !record.statuses.is_empty() || record.is_whole();
    let retired = entry.retired && !(is_counted && (entry.state == "started" || entry.started.is_some()));
    entry.state == "completed" || entry.completed.is_some() || by_count || retired
}

/// Tests whether a collective may have been left although its entry is open. Only the progress of the groups
/// could show it, and a damaged dump lost it: JSON has it after the entries. NCCL's recorder queries the
/// device for a dump; entries of other recorders may stay open.
fn may_have_been_left(record: &FlightRecord, entry: &Entry) -> bool {
    !record.is_whole() && record.statuses.is_empty() && !entry.operation.starts_with("nccl:")
}

/// Entries of one rank in one sequence.
#[derive(Default)]
struct Walk<'a> {
    entries: BTreeMap<u64, (&'a Entry, bool)>,
    /// Numbers of entries that may have been left: the lost part of the dump would show it.
    doubtful: BTreeSet<u64>,
}

fn call(entry: &Entry) -> String {
    format!("{} {} -> {}", entry.operation, entry.inputs, entry.outputs)
}

/// Tests whether calls of two ranks cannot be the same collective. Sizes may differ if ranks hold different
/// parts.
fn differs(a: &Entry, b: &Entry) -> bool {
    let kind =
        |e: &Entry| e.operation.split_once(':').map_or(e.operation.clone(), |(_, kind)| kind.to_owned());
    if a.is_message || b.is_message {
        return false;
    }
    let kind_a = kind(a);
    if kind_a != kind(b) {
        return true;
    }
    let uneven = ["all_to_all", "alltoall", "gather", "scatter", "_v", "coalesced", "barrier", "broadcast"];
    !uneven.iter().any(|word| kind_a.contains(word)) && a.inputs != b.inputs
}

/// Ranks by the state of their dumps.
struct Dumps {
    /// Ranks with completely read entries.
    whole: BTreeSet<u32>,
    /// Ranks without a dump, or with a damaged one.
    doubtful: Vec<u32>,
}

/// Groups and messages that hint at ranks without a dump. These are groups that only one rank used and no
/// dump lists, and messages to or from a rank outside `records`. Ordered, without duplicates.
pub(super) fn incomplete(records: &[(u32, &FlightRecord)]) -> Vec<Group> {
    let mut sequences = CallSequences::default();
    let mut users: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for &(rank, record) in records {
        let mut own = BTreeMap::new();
        for entry in &record.entries {
            users.entry(sequences.of(&mut own, records, record, rank, entry)).or_default().insert(rank);
        }
    }
    let is_here = |rank: &u32| records.iter().any(|(known, _)| known == rank);
    let hints = sequences.numbers.into_iter().filter_map(|(sequence_of, number)| {
        let used = users.remove(&number).unwrap_or_default();
        let (hints, ranks) = match sequence_of.message {
            Some((from, to)) => (!is_here(&from) || !is_here(&to), vec![from, to]),
            None if sequence_of.ranks.is_empty() => (used.len() == 1, used.into_iter().collect()),
            None => (sequence_of.ranks.iter().any(|rank| !is_here(rank)), sequence_of.ranks),
        };
        hints.then_some(Group { name: sequence_of.name, ranks })
    });
    hints.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Stuck collectives of all groups, in order of time. `records` are (rank, dump) in order of rank, each rank
/// once; `none` are the ranks known to have no dump.
pub(super) fn stuck(records: &[(u32, &FlightRecord)], none: &[u32]) -> Vec<Stuck> {
    let mut sequences = CallSequences::default();
    let mut walks: Vec<BTreeMap<u32, Walk<'_>>> = Vec::new();
    for &(rank, record) in records {
        let mut own = BTreeMap::new();
        // Of several states of one group, the first counts.
        let statuses: BTreeMap<u64, &Status> = record.statuses.iter().rev().map(|s| (s.group, s)).collect();
        // Messages are numbered by their order in the sequence: the recorder numbers those of a group
        // together.
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        // After a gap caused by damage, the numbers of messages are unknown.
        let (mut expected, mut hole) = (0, false);
        for entry in &record.entries {
            hole |= record.unreadable() > 0 && entry.record != expected;
            expected = entry.record.saturating_add(1);
            let is_message = message_of(entry).is_some();
            if hole && is_message {
                continue;
            }
            let sequence_of = sequences.of(&mut own, records, record, rank, entry);
            walks.resize_with(walks.len().max(sequence_of + 1), BTreeMap::new);
            let sequence = if is_message {
                let count = counts.entry(sequence_of).or_default();
                *count += 1;
                *count
            } else {
                entry.sequence
            };
            let walk = walks[sequence_of].entry(rank).or_default();
            walk.entries.insert(sequence, (entry, left(record, &statuses, entry)));
            if may_have_been_left(record, entry) {
                walk.doubtful.insert(sequence);
            }
        }
    }
    let whole = records.iter().filter(|(_, record)| record.is_whole()).map(|&(rank, _)| rank).collect();
    let damaged = records.iter().filter(|(_, record)| !record.is_whole()).map(|&(rank, _)| rank);
    let dumps = Dumps { whole, doubtful: damaged.chain(none.iter().copied()).collect() };
    let of_lane =
        |(sequence_of, &number): (&CallSequence, &usize)| of_lane(sequence_of, walks.get(number)?, &dumps);
    let mut all: Vec<Stuck> = sequences.numbers.iter().filter_map(of_lane).collect();
    all.sort_by(|a, b| (a.since, &a.group, a.sequence).cmp(&(b.since, &b.group, b.sequence)));
    all
}

fn of_lane(sequence_of: &CallSequence, walks: &BTreeMap<u32, Walk<'_>>, dumps: &Dumps) -> Option<Stuck> {
    let pending = |walk: &Walk<'_>| {
        let mut open = walk.entries.iter().filter(|(_, (_, left))| !left).map(|(&sequence, _)| sequence);
        open.find(|sequence| !walk.doubtful.contains(sequence))
    };
    let sequence = walks.values().filter_map(pending).min()?;
    let ranks: Vec<u32> = match sequence_of.message {
        Some((from, to)) => vec![from, to],
        None if sequence_of.ranks.is_empty() => walks.keys().copied().collect(),
        None => sequence_of.ranks.clone(),
    };
    let at = |rank: &u32| walks.get(rank).and_then(|walk| walk.entries.get(&sequence));
    let waiting: Vec<u32> = ranks.iter().copied().filter(|r| at(r).is_some_and(|(_, left)| !left)).collect();
    // A rank whose ring buffer begins later has entered it.
    let later = |rank: &u32| {
        walks.get(rank).is_some_and(|w| w.entries.keys().next_back().is_some_and(|&last| last > sequence))
    };
    let absent = ranks.iter().copied().filter(|r| at(r).is_none() && !later(r));
    let (missing, mut unknown): (Vec<u32>, Vec<u32>) = absent.partition(|r| dumps.whole.contains(r));
    let is_listed = sequence_of.message.is_some() || !sequence_of.ranks.is_empty();
    if !is_listed {
        // Any rank without a complete dump may be a member.
        unknown.extend(dumps.doubtful.iter().filter(|rank| !ranks.contains(rank)));
        unknown.sort_unstable();
    }
    let entered: Vec<(u32, &Entry)> = ranks.iter().filter_map(|r| Some((*r, at(r)?.0))).collect();
    let (_, first) = *entered.iter().min_by_key(|(_, entry)| entry.created)?;
    let mismatched = entered.iter().any(|&(_, entry)| differs(first, entry));
    let some_left = ranks.iter().any(|r| at(r).is_some_and(|&(_, left)| left) || later(r) && at(r).is_none());
    // Further members of a group with one known rank are unknown.
    let alone = !is_listed && ranks.len() < 2;
    let state = match () {
        () if mismatched => State::Mismatched,
        () if alone && !some_left => State::NoneFinished,
        () if !missing.is_empty() || (!unknown.is_empty() && !some_left) => State::NotEntered,
        () if some_left => State::PartlyFinished,
        () => State::NoneFinished,
    };
    let calls = if mismatched {
        entered.iter().map(|&(rank, entry)| (rank, call(entry))).collect()
    } else {
        Vec::new()
    };
    Some(Stuck {
        group: Group { name: sequence_of.name.clone(), ranks },
        sequence,
        operation: first.operation.clone(),
        state,
        waiting,
        missing,
        unknown,
        listed: is_listed,
        calls,
        since: first.created,
        timeout_ms: first.timeout_ms,
    })
}
