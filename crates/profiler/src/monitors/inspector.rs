//! NCCL Inspector: one JSON object for every collective of every communicator and rank.
//!
//! Responsible for: objects on lines of their own or spread over lines, collectives matched by communicator
//! and number, and waits by their lengths. The records have no common clock, so starts are unknown. A wait is
//! the excess over the shortest duration of the same collective: the last rank to enter has the shortest one
//! (`traces.md` 7.2 of the project's notes).

use super::super::log::median_of;
use railwright_spec::problem::{Problem, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One collective on one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Identifier of the communicator in NCCL.
    pub communicator: String,
    /// The rank within the communicator.
    pub rank: u32,
    /// Number of its ranks.
    pub ranks: u32,
    /// Number of nodes of the communicator.
    pub nodes: u32,
    /// The host.
    pub host: String,
    /// Collective, with NCCL's name (`AllReduce`).
    pub kind: String,
    /// Number in the communicator.
    pub sequence: u64,
    /// Size in bytes by nccl-tests' convention.
    pub bytes: u64,
    /// Duration, in microseconds.
    pub microseconds: f64,
    /// Bus bandwidth in GB/s, as NCCL computes it.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "GB/s")))]
    pub bus_bandwidth: f64,
}

#[derive(Deserialize)]
struct Header {
    id: String,
    rank: u32,
    n_ranks: u32,
    #[serde(default)]
    nnodes: u32,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    hostname: String,
}

#[derive(Deserialize)]
struct Performance {
    coll: String,
    coll_sn: u64,
    coll_msg_size_bytes: u64,
    coll_exec_time_us: f64,
    #[serde(default)]
    coll_busbw_gbs: f64,
}

#[derive(Deserialize)]
struct Object {
    header: Header,
    #[serde(default)]
    metadata: Metadata,
    coll_perf: Performance,
}

/// Tests whether bytes look like output of NCCL Inspector.
pub fn matches(head: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
        && has(b"\"coll_perf\"")
        && has(b"\"coll_sn\"")
}

/// Maximum length of an object: a damaged one without closing bracket is not scanned to the end of the file.
const LONGEST: usize = 1 << 20;
/// Maximum number of bytes scanned for damaged objects, in file lengths. Only a crafted file needs more; its
/// damage then costs whole lines.
const PATIENCE: usize = 16;

/// Position of the object after a damaged one: the brace before the next header that is not its own.
fn next_object(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    for found in memchr::memmem::find_iter(&bytes[at..], b"\"header\"") {
        let to = (at + found).max(from);
        if let Some(open) = memchr::memrchr(b'{', &bytes[from..to]) {
            return Some(from + open);
        }
        from = to;
    }
    None
}

/// Number of bytes scanned before an error.
fn place_of(error: &serde_json::Error, window: &[u8]) -> usize {
    let mut lines = memchr::memchr_iter(b'\n', window);
    let before = error.line().checked_sub(2).and_then(|above| lines.nth(above)).unwrap_or(0);
    before.saturating_add(error.column()).min(window.len())
}

/// Reads a file; only damaged objects are lost, and their number is reported.
pub fn read(label: &str, bytes: &[u8]) -> Result<(Vec<Record>, u64), Problem> {
    let (mut records, mut damaged, mut at) = (Vec::new(), 0, 0);
    let mut patience = bytes.len().saturating_mul(PATIENCE);
    while at < bytes.len() {
        at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let window = &bytes[at..bytes.len().min(at.saturating_add(LONGEST))];
        let mut stream = serde_json::Deserializer::from_slice(window).into_iter::<Object>();
        match stream.next() {
            None => break,
            Some(Ok(object)) => {
                at += stream.byte_offset();
                let performance = object.coll_perf;
                if !performance.coll_exec_time_us.is_finite() || performance.coll_exec_time_us < 0.0 {
                    damaged += 1;
                    continue;
                }
                records.push(Record {
                    communicator: object.header.id,
                    rank: object.header.rank,
                    ranks: object.header.n_ranks,
                    nodes: object.header.nnodes,
                    host: object.metadata.hostname,
                    kind: performance.coll,
                    sequence: performance.coll_sn,
                    bytes: performance.coll_msg_size_bytes,
                    microseconds: performance.coll_exec_time_us,
                    bus_bandwidth: performance.coll_busbw_gbs,
                });
            }
            Some(Err(error)) => {
                damaged += 1;
                patience = patience.saturating_sub(place_of(&error, window));
                let next = if patience > 0 {
                    next_object(bytes, at)
                } else {
                    memchr::memchr(b'\n', &bytes[at..]).map(|end| at + end)
                };
                match next {
                    Some(open) => at = open,
                    None => break,
                }
            }
        }
    }
    if records.is_empty() {
        return Err(Problem::new("no readable NCCL Inspector record").in_file(label));
    }
    Ok((records, damaged))
}

/// Collectives of one communicator, kind and size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The communicator.
    pub communicator: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Collective.
    pub kind: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of collectives.
    pub count: u64,
    /// Transfer in microseconds: duration on the shortest rank, median over collectives.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub transfer: f64,
    /// Wait in microseconds: duration beyond the transfer, mean over ranks and collectives.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub wait: f64,
    /// Bus bandwidth of the transfer in GB/s: best rank, median over collectives.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "GB/s")))]
    pub bus_bandwidth: f64,
    /// Median of that over similar communicators (equal numbers of ranks and nodes, same collective and
    /// size); `None` with fewer than three.
    pub of_peers: Option<f64>,
}

impl Row {
    /// Tests whether its links are slow: its rate is below 80% of its peers'.
    pub fn is_slow(&self) -> bool {
        self.of_peers.is_some_and(|peers| self.bus_bandwidth < 0.8 * peers)
    }
}

/// Straggler of a communicator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Late {
    /// The communicator.
    pub communicator: String,
    /// The rank within it.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Mean wait of the other ranks in microseconds, over all collectives that this rank entered last.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "us")))]
    pub waited: f64,
    /// Number of collectives that it entered last.
    pub last: u64,
    /// Number of collectives that all ranks of the communicator recorded.
    pub of: u64,
    /// Waits of others for it, as a share of their time in the communicator's collectives (0 to 1).
    pub share: f64,
    /// True if it delays the others: it causes half of all waits of the communicator and 5% of the time in
    /// it.
    pub is_straggler: bool,
}

/// Results of the records.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inspected {
    /// Number of records.
    pub records: u64,
    /// Rows by communicator, collective and size; those with the most time first.
    pub rows: Vec<Row>,
    /// Late ranks, largest cost first.
    pub late: Vec<Late>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Sums of one row.
struct Sums {
    ranks: u32,
    nodes: u32,
    transfers: Vec<f64>,
    waits: f64,
    entered: u64,
    bandwidths: Vec<f64>,
}

/// Analyses the records of all ranks.
pub fn inspect(records: &[Record], damaged: u64) -> Inspected {
    let mut together: BTreeMap<(&str, u64), BTreeMap<u32, &Record>> = BTreeMap::new();
    for record in records {
        together.entry((&record.communicator, record.sequence)).or_default().insert(record.rank, record);
    }
    let mut rows: BTreeMap<(&str, &str, u64), Sums> = BTreeMap::new();
    let mut late: BTreeMap<(&str, u32), Late> = BTreeMap::new();
    // By communicator: number of collectives recorded by all ranks, mean time of a rank in them and mean
    // wait, in microseconds.
    let mut complete: BTreeMap<&str, (u64, f64, f64)> = BTreeMap::new();
    let (mut partial, mut mixed) = (0u64, 0u64);
    for ((communicator, _), members) in &together {
        let Some(shortest) = members.values().min_by(|a, b| a.microseconds.total_cmp(&b.microseconds)) else {
            continue;
        };
        if members.values().any(|m| m.kind != shortest.kind || m.bytes != shortest.bytes) {
            mixed += 1;
            continue;
        }
        let sums = rows.entry((communicator, &shortest.kind, shortest.bytes)).or_insert_with(|| Sums {
            ranks: shortest.ranks,
            nodes: shortest.nodes,
            transfers: Vec::new(),
            waits: 0.0,
            entered: 0,
            bandwidths: Vec::new(),
        });
        let waits: f64 = members.values().map(|m| m.microseconds - shortest.microseconds).sum();
        sums.transfers.push(shortest.microseconds);
        sums.waits += waits;
        sums.entered += members.len() as u64;
        sums.bandwidths.push(members.values().map(|m| m.bus_bandwidth).fold(0.0, f64::max));
        if members.len() < shortest.ranks as usize || members.len() < 2 {
            partial += 1;
            continue;
        }
        let others = (members.len() - 1) as f64;
        let of_all = complete.entry(communicator).or_default();
        *of_all =
            (of_all.0 + 1, of_all.1 + shortest.microseconds + waits / others, of_all.2 + waits / others);
        let entry = late.entry((communicator, shortest.rank)).or_insert_with(|| Late {
            communicator: (*communicator).to_owned(),
            rank: shortest.rank,
            host: shortest.host.clone(),
            waited: 0.0,
            last: 0,
            of: 0,
            share: 0.0,
            is_straggler: false,
        });
        entry.waited += waits / others;
        entry.last += 1;
    }
    let mut rows: Vec<Row> = rows
        .into_iter()
        .map(|((communicator, kind, bytes), sums)| Row {
            communicator: communicator.to_owned(),
            ranks: sums.ranks,
            nodes: sums.nodes,
            kind: kind.to_owned(),
            bytes,
            count: sums.transfers.len() as u64,
            transfer: median_of(&sums.transfers).unwrap_or_default(),
            wait: sums.waits / sums.entered.max(1) as f64,
            bus_bandwidth: median_of(&sums.bandwidths).unwrap_or_default(),
            of_peers: None,
        })
        .collect();
    beside_peers(&mut rows);
    rows.sort_by(|a, b| {
        let time = |row: &Row| row.count as f64 * (row.transfer + row.wait);
        time(b)
            .total_cmp(&time(a))
            .then_with(|| (&a.communicator, &a.kind, a.bytes).cmp(&(&b.communicator, &b.kind, b.bytes)))
    });
    let mut late: Vec<Late> = late
        .into_values()
        .map(|l| {
            let (of, time, waits) = complete.get(l.communicator.as_str()).copied().unwrap_or_default();
            let share = if time > 0.0 { l.waited / time } else { 0.0 };
            Late { of, share, is_straggler: share >= 0.05 && l.waited >= 0.5 * waits, ..l }
        })
        .collect();
    late.sort_by(|a, b| {
        b.waited.total_cmp(&a.waited).then_with(|| (&a.communicator, a.rank).cmp(&(&b.communicator, b.rank)))
    });
    let mut warnings = Vec::new();
    let mut warn = |id: &str, count: u64, what: &str| {
        if count > 0 {
            warnings.push(Warning::new(id, format!("{count} {what}")));
        }
    };
    warn(
        "trace-damaged",
        damaged,
        if damaged == 1 {
            "record was unreadable and skipped"
        } else {
            "records were unreadable and skipped"
        },
    );
    warn(
        "trace-missing-ranks",
        partial,
        "collectives were not recorded on all of their ranks and are not attributed",
    );
    warn(
        "trace-mismatched-collective",
        mixed,
        "collective numbers differ between ranks; these collectives were skipped",
    );
    Inspected { records: records.len() as u64, rows, late, warnings }
}

/// Sets the median rate of similar communicators in every row.
fn beside_peers(rows: &mut [Row]) {
    let mut rates: BTreeMap<(u32, u32, String, u64), Vec<f64>> = BTreeMap::new();
    let key = |row: &Row| (row.ranks, row.nodes, row.kind.clone(), row.bytes);
    for row in rows.iter().filter(|row| row.bus_bandwidth > 0.0) {
        rates.entry(key(row)).or_default().push(row.bus_bandwidth);
    }
    for row in rows {
        row.of_peers =
            rates.get(&key(row)).filter(|rates| rates.len() >= 3).and_then(|rates| median_of(rates));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Format of the plugin's own documentation, with three ranks; the third is late.
    fn text() -> String {
        let mut text = String::new();
        for sequence in 1..=5u64 {
            for (rank, microseconds) in [(0, 900.0), (1, 880.0), (2, 400.0)] {
                let object = serde_json::json!({
                    "header": {"id": "0x7f8c496ae9f661", "rank": rank, "n_ranks": 3, "nnodes": 1},
                    "metadata": {"inspector_output_format_version": "v4.0", "hostname": "node-a", "pid": 1},
                    "coll_perf": {"coll": "AllReduce", "coll_sn": sequence, "coll_msg_size_bytes": 1 << 30,
                        "coll_exec_time_us": microseconds, "coll_algobw_gbs": 1073.7 / microseconds * 1e3, "coll_busbw_gbs": 300.0}
                });
                let shown = if rank == 1 { format!("{object:#}") } else { object.to_string() };
                text.push_str(&shown);
                text.push('\n');
            }
        }
        text
    }

    #[test]
    fn the_late_rank_is_the_one_with_the_shortest_collectives() {
        let (records, damaged) = read("x", text().as_bytes()).expect("records");
        assert_eq!((records.len(), damaged), (15, 0));
        let seen = inspect(&records, damaged);
        assert_eq!(seen.warnings, []);
        let row = &seen.rows[0];
        assert_eq!((row.count, row.transfer, row.bus_bandwidth), (5, 400.0, 300.0));
        assert!((row.wait - (500.0 + 480.0) / 3.0).abs() < 1e-9);
        let late = &seen.late[0];
        assert_eq!((late.rank, late.last, late.of), (2, 5, 5));
        assert!((late.waited - 5.0 * 490.0).abs() < 1e-9);
        // 490 of 890 us.
        assert!(late.is_straggler && (late.share - 490.0 / 890.0).abs() < 1e-9, "{late:?}");
        assert_eq!((row.of_peers, row.is_slow()), (None, false));
    }

    #[test]
    fn ranks_late_by_turns_are_no_stragglers_and_a_slow_communicator_is_found_by_its_peers() {
        let record = |communicator: u32, rank: u32, sequence: u64| Record {
            communicator: communicator.to_string(),
            rank,
            ranks: 2,
            nodes: 1,
            host: String::new(),
            kind: "AllReduce".to_owned(),
            sequence,
            bytes: 1 << 20,
            // Each rank is last in every other one.
            microseconds: if sequence % 2 == u64::from(rank) { 100.0 } else { 104.0 },
            bus_bandwidth: if communicator == 3 { 100.0 } else { 300.0 },
        };
        let records: Vec<Record> =
            (0..4).flat_map(|c| (0..10).flat_map(move |s| (0..2).map(move |r| record(c, r, s)))).collect();
        let seen = inspect(&records, 0);
        assert!(seen.late.len() == 8 && seen.late.iter().all(|late| !late.is_straggler), "{:?}", seen.late);
        let slow: Vec<&str> =
            seen.rows.iter().filter(|r| r.is_slow()).map(|r| r.communicator.as_str()).collect();
        assert_eq!(slow, ["3"]);
    }

    #[test]
    fn damage_costs_one_record() {
        let damaged = text().replacen("\"coll_sn\":3", "\"coll_sn\":?", 1);
        let (records, count) = read("x", damaged.as_bytes()).expect("records");
        assert_eq!((records.len(), count), (14, 1));
        let text = text();
        let cut = &text.as_bytes()[..text.len() - 40];
        let (records, count) = read("x", cut).expect("records");
        assert_eq!((records.len(), count), (14, 1));
        assert!(read("x", b"{\"header\": 1}").is_err());
    }
}
