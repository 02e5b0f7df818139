//! One row for each family of layouts: the tie, the order of rows, and which strategies can still change them.
//!
//! Responsible for: the order of the answer. Layouts whose time is within the tie band of the fastest come first; among them the fewest and
//! least oddities ([`Oddities`]), then time rounded to what two runs of one configuration differ by, then the fewest features and virtual
//! stages ([`Complexity`]), then time. What does not tie is ordered by time. Of each family the first in that order is its row.
//! Refuses to search and to price.

use super::results::Entry;
use super::strategy::Strategy;
use crate::simplicity::{Complexity, Oddities};
use railwright_calculator::intervals::differences;
use railwright_spec::plan::Plan;
use serde::Serialize;
use std::cmp::Ordering;

/// What makes layouts of one family: the degrees, and whether parameters are sharded among data-parallel ranks (ZeRO-3, FSDP) or whole on
/// each (no sharding, ZeRO-1, ZeRO-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Family {
    /// Tensor parallel.
    pub tensor: u64,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Context parallel.
    pub context: u64,
    /// Expert parallel.
    pub expert: u64,
    /// Whether parameters are sharded.
    pub shards_parameters: bool,
}

impl Family {
    /// Of a plan.
    pub fn of(plan: &Plan) -> Self {
        Self {
            tensor: plan.tensor_parallel,
            pipeline: plan.pipeline_parallel,
            context: plan.context_parallel,
            expert: plan.expert_parallel,
            shards_parameters: plan.sharding.zero_stage > 2,
        }
    }

    pub(super) fn of_strategy(strategy: &Strategy) -> Self {
        Self {
            tensor: strategy.tensor,
            pipeline: strategy.pipeline,
            context: strategy.context,
            expert: strategy.expert,
            shards_parameters: strategy.sharding.zero_stage > 2,
        }
    }
}

/// The tie with the fastest layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The fastest time (or the least cost).
    pub fastest: f64,
    /// What the model may be wrong about two layouts of one search, as a share: 68% of measured pairs of layouts were predicted within it
    /// of their true difference.
    pub band: f64,
}

/// Where a layout stands in the answer; the smaller comes first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Standing {
    /// [`BEYOND`] for what does not tie.
    level: u8,
    /// Time above the fastest, rounded down to steps of noise. Zero for what does not tie.
    rounded: u32,
    /// The least for what does not tie.
    complexity: Complexity,
    time: f64,
}

#[cfg(test)]
impl Standing {
    /// Whether two are the same but for the rounding of their times.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        (self.level, self.rounded, self.complexity) == (other.level, other.rounded, other.complexity)
            && (self.time / other.time - 1.0).abs() < 1e-9
    }
}

/// The level of what does not tie.
const BEYOND: u8 = u8::MAX;

impl Tie {
    /// With the fastest of a software generation.
    pub fn with(fastest: f64, software: &str) -> Self {
        Self { fastest, band: super::difference_band(software) }
    }

    /// Whether a time ties.
    pub fn has(&self, time: f64) -> bool {
        time <= self.limit()
    }

    /// The slowest that ties.
    pub fn limit(&self) -> f64 {
        self.fastest * (1.0 + self.band)
    }

    /// Where a layout stands.
    pub fn standing(&self, time: f64, oddities: Oddities, complexity: Complexity) -> Standing {
        if !self.has(time) {
            return Standing { level: BEYOND, rounded: 0, complexity: Complexity::default(), time };
        }
        Standing { level: oddities.level(), rounded: self.rounded(time), complexity, time }
    }

    /// Steps of noise above the fastest.
    fn rounded(&self, time: f64) -> u32 {
        // The fastest itself must not fall below its own step by rounding.
        let steps = (time / self.fastest).ln().max(0.0) / differences::NOISE.ln_1p() + 1e-9;
        // At most a few: the band is narrower than the whole time.
        steps.min(f64::from(u32::MAX)) as u32
    }

    /// The end of a step of noise.
    fn end_of(&self, rounded: u32) -> f64 {
        (self.fastest * (differences::NOISE.ln_1p() * (f64::from(rounded) + 1.0)).exp()).min(self.limit())
    }
}

/// What a strategy may be at most to change the rows: as high a level, and at that level as long a time.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Cut {
    level: u8,
    time: f64,
}

impl Cut {
    /// Nothing is cut.
    pub(super) const OPEN: Self = Self { level: BEYOND, time: f64::INFINITY };

    /// As a number that orders as cuts do, never smaller than the cut: for one atomic cell.
    pub(super) fn to_bits(self) -> u64 {
        // Times are positive, so their bits order as they do; eight of them make room for the level.
        u64::from(self.level) << 56 | ((self.time.to_bits() >> 8) + 1).min((1 << 56) - 1)
    }

    /// Back from the number.
    pub(super) fn from_bits(bits: u64) -> Self {
        let time = f64::from_bits(bits << 8);
        Self { level: (bits >> 56) as u8, time: if time.is_nan() { f64::INFINITY } else { time } }
    }

    /// The least time at which a strategy of these oddities is of no interest any more.
    pub(super) fn limit(self, tie: &Tie, oddities: Oddities) -> f64 {
        let own = oddities.level();
        if self.level == BEYOND {
            // Ties are all wanted.
            return self.time.max(tie.limit());
        }
        match own.cmp(&self.level) {
            Ordering::Less => tie.limit(),
            Ordering::Equal => self.time,
            Ordering::Greater => f64::NEG_INFINITY,
        }
    }
}

/// The rows that a search has found so far: the first of each family, in their order. What is no row now cannot become one without being
/// offered again, because rows only improve.
#[derive(Clone, Debug)]
pub struct Families {
    tie: Tie,
    most: usize,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    standing: Standing,
    family: Family,
    entry: Entry,
}

impl Row {
    fn is_before(&self, other: &Self) -> bool {
        let standing = self.standing.partial_cmp(&other.standing).unwrap_or(Ordering::Equal);
        let memory = self.entry.memory.total_cmp(&other.entry.memory);
        let key = self.entry.strategy.key().cmp(&other.entry.strategy.key());
        standing.then(memory).then(key).is_lt()
    }
}

impl Families {
    /// None yet.
    pub(super) fn new(tie: Tie, most: usize) -> Self {
        Self { tie, most: most.clamp(1, 10_000), rows: Vec::new() }
    }

    /// Offers an entry; whether the rows changed.
    pub(super) fn offer(&mut self, entry: &Entry, oddities: Oddities, complexity: Complexity) -> bool {
        let standing = self.tie.standing(entry.time, oddities, complexity);
        self.put(Row { standing, family: Family::of_strategy(&entry.strategy), entry: *entry })
    }

    fn put(&mut self, row: Row) -> bool {
        if let Some(at) = self.rows.iter().position(|known| known.family == row.family) {
            if !row.is_before(&self.rows[at]) {
                return false;
            }
            self.rows.remove(at);
        }
        let at = self.rows.partition_point(|known| known.is_before(&row));
        if at >= self.most {
            return false;
        }
        self.rows.insert(at, row);
        self.rows.truncate(self.most);
        true
    }

    /// Takes over what another found.
    pub(super) fn merge(&mut self, other: &Self) {
        for row in &other.rows {
            self.put(*row);
        }
    }

    /// The rows, the first first.
    pub fn entries(&self) -> Vec<Entry> {
        self.rows.iter().map(|row| row.entry).collect()
    }

    /// What later strategies must stay below to change the rows. Never higher than before.
    pub(super) fn cut(&self) -> Cut {
        match self.rows.last() {
            Some(last) if self.rows.len() >= self.most => self.cut_at(last),
            _ => Cut::OPEN,
        }
    }

    /// What a strategy must stay below to come before a row.
    fn cut_at(&self, row: &Row) -> Cut {
        let Standing { level, rounded, time, .. } = row.standing;
        Cut { level, time: if level == BEYOND { time } else { self.tie.end_of(rounded) } }
    }

    /// The least time at which a strategy of these oddities and one of these families is of no interest any more: rows only improve, so it
    /// must come before its family's own row, too.
    pub(super) fn limit(
        &self,
        cut: Cut,
        families: impl IntoIterator<Item = Family>,
        oddities: Oddities,
    ) -> f64 {
        let of_family = |family: Family| {
            let row = self.rows.iter().find(|row| row.family == family);
            row.map_or(f64::INFINITY, |row| self.cut_at(row).limit(&self.tie, oddities))
        };
        let own = families.into_iter().map(of_family).fold(f64::NEG_INFINITY, f64::max);
        cut.limit(&self.tie, oddities).min(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::strategy::Split;
    use crate::simplicity::Oddity;
    use railwright_spec::plan::{ContextKind, Overlap, RankOrder, Schedule, Sharding};

    const TIE: Tie = Tie { fastest: 1.0, band: 0.1 };

    const fn features(features: u8) -> Complexity {
        Complexity { features, virtual_stages: 1 }
    }

    fn odd(oddity: Oddity) -> Oddities {
        Oddities::default().with(oddity, true)
    }

    #[test]
    fn simplicity_orders_ties_and_time_the_rest() {
        let plain = Oddities::default();
        let order = [
            // Within one step of noise the fewer features come first.
            TIE.standing(1.015, plain, features(2)),
            // Of as many features, the fewer virtual stages.
            TIE.standing(1.0, plain, features(3)),
            TIE.standing(1.0, plain, Complexity { features: 3, virtual_stages: 4 }),
            TIE.standing(1.05, plain, features(1)),
            TIE.standing(1.01, odd(Oddity::TightMemory), features(1)),
            TIE.standing(1.0, odd(Oddity::UnequalChunks), features(1)),
            TIE.standing(1.11, odd(Oddity::UnequalChunks), features(9)),
            TIE.standing(1.2, plain, features(1)),
        ];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    }

    #[test]
    fn a_cut_survives_its_cell_without_falling() {
        for cut in [Cut { level: 3, time: 1.234_567 }, Cut { level: 0, time: 0.0 }, Cut::OPEN] {
            let back = Cut::from_bits(cut.to_bits());
            assert_eq!(back.level, cut.level);
            assert!(
                back.time >= cut.time && (back.time.is_infinite() || back.time < cut.time * 1.0001 + 1e-300)
            );
        }
        assert!(Cut { level: 2, time: 9.0 }.to_bits() < Cut { level: 3, time: 1.0 }.to_bits());
    }

    fn strategy(tensor: u64) -> Strategy {
        Strategy {
            tensor,
            pipeline: 1,
            context: 1,
            expert: 1,
            expert_tensor: 1,
            data: 1,
            micro_batch: 1,
            sequence_parallel: false,
            context_kind: ContextKind::Ring,
            segment: None,
            rank_order: RankOrder::TensorContextDataPipeline,
            sharding: Sharding { zero_stage: 0, group: None, reshard_after_forward: false },
            overlap: Overlap {
                gradient_reduce: false,
                parameter_gather: false,
                tensor: false,
                pipeline: false,
                expert: false,
            },
            schedule: Schedule::OneForwardOneBackward,
            virtual_stages: 1,
            split: Split::Even,
            policy: 0,
            layers: None,
        }
    }

    #[test]
    fn a_family_needs_the_row_before_its_own() {
        let row = |standing, tensor, time| {
            let strategy = strategy(tensor);
            Row {
                standing,
                family: Family::of_strategy(&strategy),
                entry: Entry { strategy, time, memory: 1.0 },
            }
        };
        let mut families = Families::new(TIE, 10);
        families.put(row(TIE.standing(1.0, Oddities::default(), features(1)), 1, 1.0));
        families.put(row(TIE.standing(1.05, odd(Oddity::PartialSharding), features(1)), 2, 1.05));
        let family = |tensor| Family { tensor, pipeline: 1, context: 1, expert: 1, shards_parameters: false };
        let limit =
            |list: &[u64], oddities| families.limit(Cut::OPEN, list.iter().map(|&n| family(n)), oddities);
        // Plain and fastest: only what is as plain and in the same step of noise.
        assert!((1.0..1.03).contains(&limit(&[1], Oddities::default())));
        assert!(limit(&[1], odd(Oddity::PartialSharding)).is_sign_negative());
        // Anything plainer that ties comes before an odd row; a family without a row is open.
        assert_eq!(limit(&[2], Oddities::default()), TIE.limit());
        assert_eq!(limit(&[3], Oddities::default()), f64::INFINITY);
        assert_eq!(limit(&[1, 3], odd(Oddity::PartialSharding)), f64::INFINITY);
        let cut = Cut { level: 0, time: 1.01 };
        assert_eq!(families.limit(cut, [family(3)], Oddities::default()), 1.01);
    }

    #[test]
    fn a_cut_needs_what_is_simpler_and_what_is_as_simple_and_as_fast() {
        let cut = Cut { level: odd(Oddity::PartialSharding).level(), time: 1.04 };
        assert_eq!(cut.limit(&TIE, Oddities::default()), TIE.limit());
        assert_eq!(cut.limit(&TIE, odd(Oddity::PartialSharding)), 1.04);
        assert!(cut.limit(&TIE, odd(Oddity::UnequalChunks)).is_sign_negative());
        assert_eq!(Cut { level: BEYOND, time: 1.5 }.limit(&TIE, odd(Oddity::UnequalChunks)), 1.5);
    }
}
