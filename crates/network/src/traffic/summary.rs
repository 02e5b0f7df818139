//! Traffic in a few lines: by exchange, by dimension, by class of pairs, with the shares that determine a
//! network's design.
//!
//! Responsible for: sums and shares. Excludes links ([`super::links`]).

use super::place::pairs_within;
use super::{Algorithm, Axis, ByClass, Exchange, Matrix, PairClass, Place, Traffic};
use railwright_spec::quantity::Bytes;
use railwright_step::{CollectiveKind, Dimension, Phase};
use serde::Serialize;
use std::collections::BTreeSet;

/// Traffic of a step, summed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Placement of ranks.
    pub place: Place,
    /// Bytes sent by all ranks per step.
    pub sent: Bytes,
    /// Bytes sent by one rank, mean.
    pub sent_per_rank: Bytes,
    /// Share of the bytes that stays inside scale-up domains.
    pub inside_share: f64,
    /// Share of the pairs without traffic (0 to 1).
    pub silent_share: f64,
    /// Rows by class of pairs, the nearest first.
    pub pairs: Vec<PairRow>,
    /// Rows by parallel dimension.
    pub dimensions: Vec<DimensionRow>,
    /// Rows by exchange, the most bytes first.
    pub exchanges: Vec<ExchangeRow>,
}

/// Pairs of one class; a pair is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairRow {
    /// Selection.
    pub class: PairClass,
    /// Pairs of this class.
    pub pairs: u64,
    /// Number of these pairs in which the first sends to the second.
    pub talking: u64,
    /// Bytes sent by all of them.
    pub bytes: Bytes,
    /// Share of all bytes (0 to 1).
    pub share: f64,
    /// Bytes sent by a communicating pair, mean.
    pub mean: Bytes,
    /// Bytes sent by the pair with most.
    pub most: Bytes,
}

/// Exchanges of one parallel dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DimensionRow {
    /// Selection.
    pub dimension: Dimension,
    /// Bytes sent by all ranks.
    pub bytes: Bytes,
    /// Share of all bytes (0 to 1).
    pub share: f64,
    /// The same by class of pairs.
    pub by_class: ByClass,
}

/// Exchanges of one kind: those that differ only in phase, in stages and in how often.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeRow {
    /// Parallel dimension.
    pub dimension: Dimension,
    /// Exchanged tensors.
    pub purpose: &'static str,
    /// Parts of the step.
    pub phases: Vec<Phase>,
    /// Kind.
    pub kind: CollectiveKind,
    /// Implementation.
    pub algorithm: Algorithm,
    /// Ranks of a group.
    pub ranks: u64,
    /// Number of groups.
    pub groups: u64,
    /// Bytes of one call, by nccl-tests' convention.
    pub bytes: Bytes,
    /// Calls of a group in a step, on average over the groups.
    pub count: f64,
    #[serde(skip)]
    stages: BTreeSet<u32>,
    #[serde(skip)]
    members: Axis,
    /// Bytes sent by all ranks for it.
    pub sent: Bytes,
    /// Share of all bytes (0 to 1).
    pub share: f64,
    /// The same by class of pairs.
    pub by_class: ByClass,
}

impl Traffic {
    /// Sums it up. O(ranks + partners).
    pub fn summary(&self, place: &Place) -> Summary {
        self.summary_with(place, &Matrix::new(self, place))
    }

    /// The same with a given matrix.
    pub fn summary_with(&self, place: &Place, matrix: &Matrix) -> Summary {
        let mut all = ByClass::default();
        let mut rows: Vec<ExchangeRow> = Vec::new();
        for exchange in &self.exchanges {
            let by_class = exchange.by_class(&self.numbering, place);
            all += by_class;
            let row = row(exchange, by_class);
            match rows.iter_mut().find(|known| is_equivalent(known, &row)) {
                Some(known) => known.join(row),
                None => rows.push(row),
            }
        }
        let total = all.total();
        let share = |bytes: f64| if total > 0.0 { bytes / total } else { 0.0 };
        for row in &mut rows {
            row.share = share(row.sent.get());
        }
        rows.sort_by(|a, b| b.sent.get().total_cmp(&a.sent.get()));
        let dimensions = dimensions(&rows, &share);
        let pairs = pair_rows(place, matrix, &all);
        let existing: u64 = pairs.iter().map(|row| row.pairs).sum();
        let talking: u64 = pairs.iter().map(|row| row.talking).sum();
        Summary {
            place: place.clone(),
            sent: Bytes::new(total),
            sent_per_rank: Bytes::new(total / place.ranks.max(1) as f64),
            inside_share: share(all.same_domain),
            silent_share: if existing > 0 { 1.0 - talking as f64 / existing as f64 } else { 1.0 },
            pairs,
            dimensions,
            exchanges: rows,
        }
    }
}

fn row(exchange: &Exchange, by_class: ByClass) -> ExchangeRow {
    let Axis { extent, stride } = exchange.groups.members;
    // The destination stage does not split rows.
    let leaves_stage = stride.unsigned_abs() >= exchange.groups.stage_ranks;
    ExchangeRow {
        dimension: exchange.dimension,
        purpose: exchange.purpose,
        phases: vec![exchange.phase],
        kind: exchange.kind,
        algorithm: exchange.algorithm,
        ranks: exchange.groups.members.extent,
        groups: exchange.groups.count(),
        bytes: exchange.bytes,
        count: exchange.count,
        stages: exchange.groups.stages.iter().copied().collect(),
        members: Axis { extent, stride: if leaves_stage { 0 } else { stride } },
        sent: Bytes::new(by_class.total()),
        share: 0.0,
        by_class,
    }
}

/// Tests whether two rows differ only in phase, stages and count.
fn is_equivalent(a: &ExchangeRow, b: &ExchangeRow) -> bool {
    let key = |row: &ExchangeRow| (row.dimension, row.purpose, row.kind, row.algorithm, row.members);
    key(a) == key(b) && a.bytes == b.bytes
}

impl ExchangeRow {
    fn join(&mut self, other: Self) {
        let calls = self.count * self.groups as f64 + other.count * other.groups as f64;
        let per_stage = self.groups / (self.stages.len() as u64).max(1);
        self.stages.extend(other.stages);
        self.groups = per_stage * self.stages.len() as u64;
        self.count = calls / self.groups.max(1) as f64;
        self.phases.extend(other.phases);
        self.phases.sort_unstable();
        self.phases.dedup();
        self.sent += other.sent;
        self.by_class += other.by_class;
    }
}

fn dimensions(rows: &[ExchangeRow], share: &dyn Fn(f64) -> f64) -> Vec<DimensionRow> {
    let of = |dimension: Dimension| {
        let mut by_class = ByClass::default();
        for row in rows.iter().filter(|row| row.dimension == dimension) {
            by_class += row.by_class;
        }
        let bytes = Bytes::new(by_class.total());
        DimensionRow { dimension, bytes, share: share(bytes.get()), by_class }
    };
    Dimension::ALL.into_iter().map(of).filter(|row| row.bytes > Bytes::ZERO).collect()
}

/// Rows of pairs with traffic, each once. Rows are short; large groups are counted by their members.
fn pair_rows(place: &Place, matrix: &Matrix, all: &ByClass) -> Vec<PairRow> {
    let mut talking = [0_u64; 3];
    let mut most = [0.0_f64; 3];
    let mut seen = |class: PairClass, bytes: f64| {
        let slot = class as usize;
        talking[slot] += 1;
        most[slot] = most[slot].max(bytes);
    };
    if let Some(labels) = matrix.labels() {
        let mut more = [0.0_f64; 3];
        for from in 0..matrix.ranks() {
            let label = labels[from as usize];
            for (to, bytes) in matrix.written_out(from) {
                let class = place.class(from, *to);
                let block = label.to(labels[*to as usize]);
                if block > 0.0 {
                    // Counted with its group.
                    more[class as usize] = more[class as usize].max(bytes + block);
                } else {
                    seen(class, *bytes);
                }
            }
        }
        matrix.for_each_block(|members, bytes| {
            for (slot, pairs) in pairs_within(place, members).into_iter().enumerate() {
                talking[slot] += pairs;
                if pairs > 0 {
                    most[slot] = most[slot].max(bytes);
                }
            }
        });
        for (most, more) in most.iter_mut().zip(more) {
            *most = most.max(more);
        }
    } else {
        for from in 0..matrix.ranks() {
            for (to, bytes) in matrix.row(from) {
                seen(place.class(from, to), bytes);
            }
        }
    }
    let (existing, total) = (place.pairs(), all.total());
    PairClass::ALL
        .into_iter()
        .map(|class| {
            let (pairs, talking) = (existing[class as usize], talking[class as usize]);
            let bytes = all.of(class);
            PairRow {
                class,
                pairs,
                talking,
                bytes: Bytes::new(bytes),
                share: if total > 0.0 { bytes / total } else { 0.0 },
                mean: Bytes::new(if talking > 0 { bytes / talking as f64 } else { 0.0 }),
                most: Bytes::new(most[class as usize]),
            }
        })
        .collect()
}
