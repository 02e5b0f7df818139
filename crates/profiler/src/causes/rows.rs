//! Idle time by cause and frame, summed over gaps, ranks and steps.
//!
//! Responsible for: reported parts of a frame's stack (enclosing operator, module, Python function and
//! annotation), and sums of ranks by name. Rows are limited: the rest of a cause is one row without a frame.

use super::frames::Frames;
use super::{Cause, Idle, Stretch};
use crate::Names;
use crate::trace::{HostKind, NONE};
use crate::waterfall::RankWaterfall;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Maximum number of named frames per cause.
const FRAMES: usize = 12;

/// Host activity as names of a trace; [`NONE`] if not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Where {
    /// The innermost frame.
    pub frame: u32,
    /// The innermost enclosing operator.
    pub operator: u32,
    /// The innermost module (`nn.Module: ...`).
    pub module: u32,
    /// The innermost function of Python outside the framework.
    pub python: u32,
    /// The innermost annotation, other than the step's own.
    pub annotation: u32,
}

/// Idle time of a rank under one cause and in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseUse {
    /// Cause of the idle time.
    pub cause: Cause,
    /// Host activity during the idle time.
    pub place: Where,
    /// The time, in nanoseconds.
    pub time: i64,
    /// Number of intervals.
    pub count: u64,
    /// The longest of them, in nanoseconds.
    pub longest: i64,
}

/// A place without any name.
const NOWHERE: Where = Where { frame: NONE, operator: NONE, module: NONE, python: NONE, annotation: NONE };

fn is_framework(name: &str) -> bool {
    ["torch/", "<built-in", "<frozen", "nn.Module: ", "contextlib.py", "threading.py"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.contains("site-packages/torch/")
}

/// Tests whether a name is a Python function outside the framework, with its file.
pub(crate) fn is_own_source(name: &str) -> bool {
    !is_framework(name) && name.contains(".py")
}

/// Stack of a frame, as names.
fn place(frames: &Frames<'_>, frame: u32) -> Where {
    let mut place = NOWHERE;
    for (at, row) in frames.stack(frame) {
        let name = frames.name(row.name);
        let id = row.name.0;
        if at == frame {
            place.frame = id;
        }
        let cell = match row.kind {
            HostKind::Operator | HostKind::Collective => &mut place.operator,
            HostKind::Python if name.starts_with("nn.Module: ") => &mut place.module,
            HostKind::Python if !is_framework(name) => &mut place.python,
            HostKind::Annotation if !name.starts_with("ProfilerStep#") => &mut place.annotation,
            _ => continue,
        };
        if *cell == NONE {
            *cell = id;
        }
    }
    // Framework functions are too many to list: the calling user function is reported.
    let innermost =
        frames.row(frame).filter(|row| row.kind == HostKind::Python && is_framework(frames.name(row.name)));
    if innermost.is_some() && place.python != NONE {
        place.frame = place.python;
    }
    place
}

/// Sums of one rank during the iteration over its gaps.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    rows: IndexMap<(Cause, Where), (u64, i64, i64), FxBuildHasher>,
    /// The index of the last requested frame.
    last: Option<(u32, Where)>,
}

impl Sums {
    /// Counts time of a part of a gap. Returns the index of its row.
    pub(crate) fn count(&mut self, idle: &Idle<'_>, part: &Stretch, time: i64) -> u32 {
        let place = match self.last {
            Some((frame, place)) if frame == part.frame => place,
            _ => place(idle.frames(), part.frame),
        };
        self.last = Some((part.frame, place));
        let entry = self.rows.entry((part.cause, place));
        let row = entry.index() as u32;
        let (count, sum, longest) = entry.or_default();
        *count += 1;
        *sum += time;
        *longest = (*longest).max(time);
        row
    }

    /// All sums, in the order of their first occurrence.
    pub(crate) fn done(self) -> Vec<CauseUse> {
        let row = |((cause, place), (count, time, longest))| CauseUse { cause, place, time, count, longest };
        self.rows.into_iter().map(row).collect()
    }
}

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
