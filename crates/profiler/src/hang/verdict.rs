//! Verdict from all dumps.
//!
//! Responsible for: present and missing ranks, stuck collectives, causes, and reasons for doubt. Dumps of
//! some ranks give bounds.

use super::chain::{Root, roots};
use super::progress::{Group as Used, Stuck, incomplete, stuck};
use crate::flight::{FlightRecord, Group};
use crate::job::{rank_in_name, skeleton};
use crate::trace::DamageKind;
use railwright_spec::problem::Warning;
use serde::Serialize;

/// A dump with a lost part: its rank may have entered more collectives than are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedDump {
    /// Rank that wrote it.
    pub rank: u32,
    /// File name as given by the user.
    pub label: String,
    /// Number of entries read.
    pub entries: u64,
    /// Number of unreadable entries or other parts.
    pub unreadable: u64,
    /// Position in the (inflated) file from which the rest is lost, in bytes.
    pub cut_at: Option<u64>,
}

impl DamagedDump {
    fn of(rank: u32, record: &FlightRecord) -> Option<Self> {
        (!record.is_whole()).then(|| Self {
            rank,
            label: record.label.clone(),
            entries: record.report.kept,
            unreadable: record.unreadable(),
            cut_at: record.cut_at(),
        })
    }
}

/// Verdict on flight-recorder dumps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hang {
    /// Ranks with a dump.
    pub ranks: Vec<u32>,
    /// World size recorded in the dumps: a lower bound unless `world_size_listed`.
    pub world_size: u32,
    /// True if a listed group contains all of these ranks. Otherwise there may be more.
    pub world_size_listed: bool,
    /// Ranks without a readable dump.
    pub without_dump: Vec<u32>,
    /// Groups that suggest ranks without a dump. No dump lists their ranks and only one rank used them, or
    /// the peer of a message has no dump.
    pub incomplete_groups: Vec<Used>,
    /// The partly read dumps: results for their ranks are bounds.
    pub damaged: Vec<DamagedDump>,
    /// Stuck collectives in order of time. Empty: no hang in these dumps.
    pub stuck: Vec<Stuck>,
    /// Root causes, most blocked ranks first.
    pub roots: Vec<Root>,
    /// Doubts about the verdict.
    pub warnings: Vec<Warning>,
}

impl Hang {
    /// Tests whether the job hangs. `None` if the present dumps show no hang while others are missing or
    /// damaged. If no dump lists all ranks ([`Self::world_size_listed`]) and nothing suggests ranks
    /// without a dump, the answer covers only the present ranks.
    pub fn hangs(&self) -> Option<bool> {
        let all_is_seen =
            self.without_dump.is_empty() && self.incomplete_groups.is_empty() && self.damaged.is_empty();
        if self.stuck.is_empty() { all_is_seen.then_some(false) } else { Some(true) }
    }

    /// Number of ranks with dumps: `3 of 4 ranks`, or `3 of at least 4 ranks` if no dump lists all.
    pub fn extent(&self) -> String {
        let least = if self.world_size_listed { "" } else { "at least " };
        let plural = if self.world_size == 1 { "" } else { "s" };
        format!("{} of {least}{} rank{plural}", self.ranks.len(), self.world_size)
    }
}

/// Rank of an unreadable file, if its name is similar to that of a dump.
pub fn lost_rank(label: &str, records: &[FlightRecord]) -> Option<u32> {
    let name = |label: &str| label.rsplit(['/', '\\']).next().unwrap_or(label).to_owned();
    let alike = records.iter().any(|record| skeleton(&name(&record.label)) == skeleton(&name(label)));
    rank_in_name(&name(label), true).filter(|_| alike)
}

/// Remark on a damaged dump: entries read, parts lost, and their positions.
fn damage_text(record: &FlightRecord) -> String {
    let entries = if record.report.kept == 1 {
        "1 entry was".to_owned()
    } else {
        format!("{} entries were", record.report.kept)
    };
    let mut message = vec![format!("{}: {entries} read", record.label)];
    for damage in &record.report.damages {
        let is_cut = damage.kind == DamageKind::Truncated;
        let count = if is_cut { String::new() } else { format!("{} could not be read, ", damage.count) };
        message.push(match damage.places.first() {
            Some((at, why)) if damage.count > 1 => format!("{count}the first at byte {at}: {why}"),
            Some((at, why)) => format!("{count}at byte {at}: {why}"),
            None => count.trim_end_matches(", ").to_owned(),
        });
    }
    message.join("; ")
}

/// Analyses the dumps of a job; `lost` are ranks with unreadable dumps. Of two dumps of one rank, the one
/// with the later last entry counts.
pub fn hang(records: &[FlightRecord], lost: &[u32]) -> Hang {
    let mut warnings = Vec::new();
    let mut ranked: Vec<(u32, &FlightRecord)> = Vec::new();
    let latest = |record: &FlightRecord| record.entries.iter().map(|e| e.created).max().unwrap_or_default();
    for record in records {
        let Some(rank) = record.rank else {
            let message = format!("{} has no rank in its content or name; ignored", record.label);
            warnings.push(Warning::new("trace-unknown-rank", message));
            continue;
        };
        if !record.is_whole() {
            warnings.push(Warning::new("trace-damaged", damage_text(record)));
        }
        match ranked.iter_mut().find(|(known, _)| *known == rank) {
            None => ranked.push((rank, record)),
            Some(known) => {
                let message = format!(
                    "{} and {} both belong to rank {rank}; the later one is used",
                    known.1.label, record.label
                );
                warnings.push(Warning::new("trace-duplicate-rank", message));
                let order = |record: &FlightRecord| (latest(record), record.is_whole());
                if order(record) > order(known.1) {
                    known.1 = record;
                }
            }
        }
        let lost = record.entries.first().map_or(0, |e| e.record);
        // If entries could not be read, the first may be one of them.
        if lost > 0 && record.unreadable() == 0 {
            let message = format!(
                "the ring buffer of rank {rank} has overwritten its first {lost} entries; collectives entered \
                 then are unknown"
            );
            warnings.push(Warning::new("trace-overwritten-records", message));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let ranks: Vec<u32> = ranked.iter().map(|(rank, _)| *rank).collect();
    let listed = ranked.iter().flat_map(|(rank, record)| {
        record.groups.iter().filter(|g| g.ranks.contains(rank)).flat_map(|g| g.ranks.iter().copied())
    });
    let world_size = listed
        .chain(ranks.iter().copied())
        .chain(lost.iter().copied())
        .max()
        .map_or(0, |highest| highest.saturating_add(1));
    // PyTorch's default group of the whole world; other groups of all known ranks may be one of several.
    let whole = |group: &Group| {
        let mut of = group.ranks.clone();
        of.sort_unstable();
        of.dedup();
        group.description == "default_pg"
            && of.len() as u64 == u64::from(world_size)
            && of.last().is_some_and(|&last| last < world_size)
    };
    let lists_all = |(rank, record): &(u32, &FlightRecord)| {
        record.groups.iter().any(|g| g.ranks.contains(rank) && whole(g))
    };
    let world_size_listed = ranked.iter().any(lists_all);
    // The highest listed rank may be invalid: the list is limited.
    let without_dump: Vec<u32> =
        (0..world_size).filter(|r| ranks.binary_search(r).is_err()).take(1024).collect();
    let damaged = ranked.iter().filter_map(|(rank, record)| DamagedDump::of(*rank, record)).collect();
    let stuck = stuck(&ranked, &without_dump);
    let roots = roots(&stuck, &ranked);
    // If a dump lists all ranks, missing dumps are known without hints.
    let incomplete_groups = if world_size_listed { Vec::new() } else { incomplete(&ranked) };
    Hang {
        ranks,
        world_size,
        world_size_listed,
        without_dump,
        incomplete_groups,
        damaged,
        stuck,
        roots,
        warnings,
    }
}
