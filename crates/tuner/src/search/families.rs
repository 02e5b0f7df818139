//! One row per family of layouts: the tie, the order of rows, and bounds for strategies that can still change
//! them.
//!
//! Responsible for: the order of the outcome. Layouts whose time is within the tie band of the fastest come
//! first. Their first criterion is the number and severity of oddities ([`UnusualFeatures`]), the next is
//! time rounded to the noise between two runs of one configuration, with half of that noise for each feature
//! in use. Then come the fewest features and virtual stages ([`Complexity`]), then time. Other layouts are
//! ordered by time. The first layout of each family is its row. Does not search or price.

use super::entry::Entry;
use super::strategy::Strategy;
use crate::simplicity::{Complexity, UnusualFeatures};
use railwright_calculator::intervals::differences;
use railwright_spec::Portable as _;
use railwright_spec::plan::Plan;
use serde::Serialize;
use std::cmp::Ordering;

/// Identity of a family of layouts: the parallel sizes, and the sharding of parameters over data-parallel
/// ranks (ZeRO-3, FSDP) or none (no sharding, ZeRO-1, ZeRO-2).
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
    /// True if parameters are sharded.
    pub shards_parameters: bool,
}

impl Family {
    /// The family of a plan.
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
    /// The fastest time (or the lowest cost).
    pub fastest: f64,
    /// Error of the model between two layouts of one search, as a share: 68% of measured pairs of layouts
    /// were predicted within it of their true difference.
    pub band: f64,
}

/// Position of a layout in the outcome; smaller ones come first.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Standing {
    /// [`BEYOND`] for layouts outside the tie.
    level: u8,
    /// True if a layout replaces the sharding engine of the user's file.
    replaces_engine: bool,
    /// Time above the fastest and half a step for each feature, rounded down to steps of noise. Zero for
    /// layouts outside the tie.
    rounded: u32,
    /// Minimum for layouts outside the tie.
    complexity: Complexity,
    time: f64,
}

impl Standing {
    /// Position of a layout among edits of a user's file: each change of the file counts as a feature, and a
    /// new sharding engine outweighs the time of a tie.
    pub(super) fn with(self, changes: Changes) -> Self {
        if self.level == BEYOND {
            return self;
        }
        let features = self.complexity.features.saturating_add(changes.number);
        let complexity = Complexity { features, ..self.complexity };
        Self { replaces_engine: changes.replaces_engine, complexity, ..self }
    }
}

#[cfg(test)]
impl Standing {
    /// Tests whether two are equal except for the rounding of their times.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        (self.level, self.rounded, self.complexity) == (other.level, other.rounded, other.complexity)
            && (self.time / other.time - 1.0).abs() < 1e-9
    }
}

/// Changes of a user's file that a layout needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Number of changed settings.
    pub number: u8,
    /// True if parameters become sharded, or whole again: another sharding engine with its own limits.
    pub replaces_engine: bool,
}

/// Level of layouts outside the tie.
const BEYOND: u8 = u8::MAX;

impl Tie {
    /// A tie with the fastest layout of a software generation.
    pub fn with(fastest: f64, software: &str) -> Self {
        Self { fastest, band: super::difference_band(software) }
    }

    /// Tests whether a time ties.
    pub fn has(&self, time: f64) -> bool {
        time <= self.limit()
    }

    /// The largest time that ties.
    pub fn limit(&self) -> f64 {
        self.fastest * (1.0 + self.band)
    }

    /// Position of a layout.
    pub fn standing(&self, time: f64, oddities: UnusualFeatures, complexity: Complexity) -> Standing {
        if !self.has(time) {
            let (rounded, complexity) = (0, Complexity::default());
            return Standing { level: BEYOND, replaces_engine: false, rounded, complexity, time };
        }
        Standing {
            level: oddities.level(),
            replaces_engine: false,
            rounded: self.rounded(time, complexity.features),
            complexity,
            time,
        }
    }

    /// Number of steps of noise above the fastest. Each feature counts as half a step: a layout with more of
    /// them must be faster by that to come first.
    fn rounded(&self, time: f64, features: u8) -> u32 {
        // Rounding must not move the fastest below its own step.
        let above = (time / self.fastest).portable_ln().max(0.0) / differences::NOISE.portable_ln_1p();
        let steps = above + f64::from(features) / 2.0 + 1e-9;
        // At most a few: the band is narrower than the whole time.
        steps.min(f64::from(u32::MAX)) as u32
    }

    /// Upper end of a step of noise.
    fn end_of(&self, rounded: u32) -> f64 {
        (self.fastest * (differences::NOISE.portable_ln_1p() * (f64::from(rounded) + 1.0)).portable_exp())
            .min(self.limit())
    }
}

/// Upper limit of a strategy that can change the rows: the level, and the time at that level.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Cut {
    level: u8,
    time: f64,
}

impl Cut {
    /// No limit.
    pub(super) const OPEN: Self = Self { level: BEYOND, time: f64::INFINITY };

    /// The cut as a number with the same order, never smaller than the cut, for one atomic cell.
    pub(super) fn to_bits(self) -> u64 {
        // Times are positive, so their bits have the same order; eight of them are used for the level.
        u64::from(self.level) << 56 | ((self.time.to_bits() >> 8) + 1).min((1 << 56) - 1)
    }

    /// Converts the number back.
    pub(super) fn from_bits(bits: u64) -> Self {
        let time = f64::from_bits(bits << 8);
        Self { level: (bits >> 56) as u8, time: if time.is_nan() { f64::INFINITY } else { time } }
    }

    /// Maximum useful time of a strategy with these oddities.
    pub(super) fn limit(self, tie: &Tie, oddities: UnusualFeatures) -> f64 {
        let own = oddities.level();
        if self.level == BEYOND {
            // All ties are requested.
            return self.time.max(tie.limit());
        }
        match own.cmp(&self.level) {
            Ordering::Less => tie.limit(),
            Ordering::Equal => self.time,
            Ordering::Greater => f64::NEG_INFINITY,
        }
    }
}

/// The rows found so far: the first of each family, in their order. An entry that is not a row now cannot
/// become one without being offered again, because rows only improve.
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
    /// Empty rows.
    pub(super) fn new(tie: Tie, most: usize) -> Self {
        Self { tie, most: most.clamp(1, 10_000), rows: Vec::new() }
    }

    /// Offers an entry. Returns true if the rows changed.
    pub(super) fn offer(&mut self, entry: &Entry, oddities: UnusualFeatures, complexity: Complexity) -> bool {
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

    /// Merges the rows of another.
    pub(super) fn merge(&mut self, other: &Self) {
        for row in &other.rows {
            self.put(*row);
        }
    }

    /// The rows, in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.rows.iter().map(|row| row.entry).collect()
    }

    /// Limit below which later strategies can change the rows. Never increases.
    pub(super) fn cut(&self) -> Cut {
        match self.rows.last() {
            Some(last) if self.rows.len() >= self.most => self.cut_at(last),
            _ => Cut::OPEN,
        }
    }

    /// Limit below which a strategy precedes a row.
    fn cut_at(&self, row: &Row) -> Cut {
        let Standing { level, rounded, time, .. } = row.standing;
        Cut { level, time: if level == BEYOND { time } else { self.tie.end_of(rounded) } }
    }

    /// Maximum useful time of a strategy with these oddities in one of these families. Rows only improve, so
    /// it must also precede its family's own row.
    pub(super) fn limit(
        &self,
        cut: Cut,
        families: impl IntoIterator<Item = Family>,
        oddities: UnusualFeatures,
    ) -> f64 {
        let of_family = |family: Family| {
            let row = self.rows.iter().find(|row| row.family == family);
            row.map_or(f64::INFINITY, |row| self.cut_at(row).limit(&self.tie, oddities))
        };
        let own = families.into_iter().map(of_family).fold(f64::NEG_INFINITY, f64::max);
        cut.limit(&self.tie, oddities).min(own)
    }
}

/// Error of the ratio of two layouts' times, of one model on one machine, as a share: most of the error is
/// common to both and cancels. Two of three pairs of measured layouts of the software generation are within
/// it ([`railwright_calculator::intervals::differences`]).
pub fn difference_band(software: &str) -> f64 {
    differences::difference_band(software).portable_exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::split::Split;
    use crate::simplicity::UnusualFeature;
    use railwright_spec::plan::{ContextKind, Overlap, RankOrder, Schedule, Sharding};

    const TIE: Tie = Tie { fastest: 1.0, band: 0.1 };

    const fn features(features: u8) -> Complexity {
        Complexity { features, chunks: 1 }
    }

    fn odd(oddity: UnusualFeature) -> UnusualFeatures {
        UnusualFeatures::default().with(oddity, true)
    }

    #[test]
    fn simplicity_orders_ties_and_time_the_rest() {
        let plain = UnusualFeatures::default();
        let order = [
            // Within one step of noise, fewer features come first.
            TIE.standing(1.015, plain, features(2)),
            // With equal features, fewer virtual stages come first.
            TIE.standing(1.0, plain, features(3)),
            TIE.standing(1.0, plain, Complexity { features: 3, chunks: 4 }),
            TIE.standing(1.05, plain, features(1)),
            TIE.standing(1.01, odd(UnusualFeature::TightMemory), features(1)),
            TIE.standing(1.0, odd(UnusualFeature::UnequalChunks), features(1)),
            TIE.standing(1.11, odd(UnusualFeature::UnequalChunks), features(9)),
            TIE.standing(1.2, plain, features(1)),
        ];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    }

    #[test]
    fn changes_of_a_file_order_ties() {
        let of = |time, number, replaces_engine| {
            TIE.standing(time, UnusualFeatures::default(), features(1))
                .with(Changes { number, replaces_engine })
        };
        // Within one step of noise fewer changes come first; a new engine is last among ties, whatever its
        // time.
        assert!(of(1.005, 3, false) < of(1.0, 8, false) && of(1.0, 8, false) < of(1.05, 1, false));
        assert!(of(1.09, 8, false) < of(1.0, 11, true));
        assert!(of(1.0, 11, true) < of(1.2, 1, false), "slower than a tie");
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
        families.put(row(TIE.standing(1.0, UnusualFeatures::default(), features(1)), 1, 1.0));
        families.put(row(TIE.standing(1.05, odd(UnusualFeature::PartialSharding), features(1)), 2, 1.05));
        let family = |tensor| Family { tensor, pipeline: 1, context: 1, expert: 1, shards_parameters: false };
        let limit =
            |list: &[u64], oddities| families.limit(Cut::OPEN, list.iter().map(|&n| family(n)), oddities);
        // Plain and fastest: only equally plain layouts in the same step of noise.
        assert!((1.0..1.03).contains(&limit(&[1], UnusualFeatures::default())));
        assert!(limit(&[1], odd(UnusualFeature::PartialSharding)).is_sign_negative());
        // Any plainer layout that ties precedes an odd row; a family without a row is open.
        assert_eq!(limit(&[2], UnusualFeatures::default()), TIE.limit());
        assert_eq!(limit(&[3], UnusualFeatures::default()), f64::INFINITY);
        assert_eq!(limit(&[1, 3], odd(UnusualFeature::PartialSharding)), f64::INFINITY);
        let cut = Cut { level: 0, time: 1.01 };
        assert_eq!(families.limit(cut, [family(3)], UnusualFeatures::default()), 1.01);
    }

    #[test]
    fn a_cut_needs_what_is_simpler_and_what_is_as_simple_and_as_fast() {
        let cut = Cut { level: odd(UnusualFeature::PartialSharding).level(), time: 1.04 };
        assert_eq!(cut.limit(&TIE, UnusualFeatures::default()), TIE.limit());
        assert_eq!(cut.limit(&TIE, odd(UnusualFeature::PartialSharding)), 1.04);
        assert!(cut.limit(&TIE, odd(UnusualFeature::UnequalChunks)).is_sign_negative());
        assert_eq!(Cut { level: BEYOND, time: 1.5 }.limit(&TIE, odd(UnusualFeature::UnequalChunks)), 1.5);
    }
}
