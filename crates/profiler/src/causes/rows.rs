//! Idle time by cause and frame, summed by name over ranks and steps.
//!
//! Responsible for: the rows of a report. They are limited: the rest of a cause is one row without a frame.

use super::Cause;
use super::places::Where;
use crate::Names;
use crate::trace::NONE;
use crate::waterfall::RankWaterfall;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Maximum number of named frames per cause.
const FRAMES: usize = 12;

/// Idle time by cause and place, over all ranks and steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseRow {
    /// Cause of idle time.
    pub cause: Cause,
    /// The innermost frame of the launching thread. `None` if no frame was recorded, and for the rest of a
    /// cause.
    pub frame: Option<String>,
    /// The innermost enclosing operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The innermost module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The innermost function of Python outside the framework.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// The innermost annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// True if this row is the rest of a cause: the sum of frames with little time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    /// Time over all ranks and steps, in nanoseconds.
    pub time_ns: i64,
    /// Time per rank and step, in nanoseconds.
    pub mean_ns: f64,
    /// Share of the step (0 to 1).
    pub share_of_step: f64,
    /// Number of gaps, over all ranks and steps.
    pub count: u64,
    /// The longest of them, in nanoseconds.
    pub longest_ns: i64,
    /// The rank with the largest share.
    pub rank: u32,
    /// Its share of the row's time (0 to 1).
    pub rank_share: f64,
}

/// A row during the join of ranks.
#[derive(Default)]
struct Joined {
    time: i64,
    count: u64,
    longest: i64,
    most: (i64, u32),
}

/// Idle time by cause and place. `names` are those of each rank's trace. Sums are divided by `samples` to
/// give one rank and step; `step` is a step in nanoseconds.
pub fn rows(ranks: &[RankWaterfall], names: &[&Names], samples: f64, step: f64) -> Vec<CauseRow> {
    type Key<'a> = (Cause, [&'a str; 5]);
    let mut sums: IndexMap<Key<'_>, Joined, FxBuildHasher> = IndexMap::default();
    for (rank, names) in ranks.iter().zip(names) {
        let name = |id: u32| if id == NONE { "" } else { names.get(crate::NameId(id)) };
        let mut own: IndexMap<Key<'_>, i64, FxBuildHasher> = IndexMap::default();
        for part in &rank.causes {
            let Where { frame, operator, module, python, annotation } = part.place;
            let key = (part.cause, [frame, operator, module, python, annotation].map(name));
            let sum = sums.entry(key).or_default();
            sum.time += part.time;
            sum.count += part.count;
            sum.longest = sum.longest.max(part.longest);
            *own.entry(key).or_default() += part.time;
        }
        for (key, time) in own {
            if let Some(sum) = sums.get_mut(&key).filter(|sum| time > sum.most.0) {
                sum.most = (time, rank.rank);
            }
        }
    }
    let mut all: Vec<(Key<'_>, Joined)> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.time.cmp(&a.1.time).then_with(|| a.0.cmp(&b.0)));
    let mut rows: Vec<CauseRow> = Vec::new();
    let mut rests: Vec<CauseRow> = Vec::new();
    for ((cause, [frame, operator, module, python, annotation]), sum) in all {
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let known = rows.iter().filter(|row| row.cause == cause).count();
        let row = CauseRow {
            cause,
            frame: some(frame),
            operator: some(operator).filter(|own| own != frame),
            module: some(module),
            python: some(python).filter(|own| own != frame),
            annotation: some(annotation).filter(|own| own != frame),
            rest: false,
            time_ns: sum.time,
            mean_ns: sum.time as f64 / samples,
            share_of_step: if step > 0.0 { sum.time as f64 / samples / step } else { 0.0 },
            count: sum.count,
            longest_ns: sum.longest,
            rank: sum.most.1,
            rank_share: sum.most.0 as f64 / (sum.time as f64).max(1.0),
        };
        if known < FRAMES {
            rows.push(row);
            continue;
        }
        match rests.iter_mut().find(|rest| rest.cause == cause) {
            Some(rest) => {
                rest.time_ns += row.time_ns;
                rest.mean_ns += row.mean_ns;
                rest.share_of_step += row.share_of_step;
                rest.count += row.count;
                rest.longest_ns = rest.longest_ns.max(row.longest_ns);
            }
            None => rests.push(CauseRow {
                rest: true,
                frame: None,
                operator: None,
                module: None,
                python: None,
                annotation: None,
                ..row
            }),
        }
    }
    rows.extend(rests);
    rows.sort_by_key(|row| (std::cmp::Reverse(row.time_ns), row.cause));
    rows
}
