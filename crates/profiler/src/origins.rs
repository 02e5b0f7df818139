//! Time by origin: module or line of Python.
//!
//! Responsible for: assigning every kernel to its launch and every idle interval to a host frame, and both to
//! the enclosing modules or Python function ([`Origins`]). Time without such a frame (backward kernels have
//! none) is a row of its own phase without a place.

use crate::Names;
use crate::causes::Idle;
use crate::trace::{HostActivity, HostKind, NONE};
use crate::view::{Role, View};
use crate::waterfall::{Exchange, Exchanges, sweep};
use crate::windows::Windows;
use railwright_step::Phase;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rows.
const MOST: usize = 200;

/// Key of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Modules (`nn.Module`), by the path of their classes; annotations without recorded modules.
    Module,
    /// The innermost function of Python outside the framework, with file and line.
    Source,
}

/// Time of one place. Means are per rank and step, in nanoseconds; their sum is the step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OriginRow {
    /// Path of module classes, or file, line and function; `None` if not recorded.
    pub place: Option<String>,
    /// Phase of time without a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Number of module instances that launched work; 0 for a source line.
    pub instances: u64,
    /// Total time.
    pub mean_ns: f64,
    /// Share of the step (0 to 1).
    pub share_of_step: f64,
    /// Compute.
    pub compute_ns: f64,
    /// Waits for other ranks in exposed communication.
    pub wait_ns: f64,
    /// Exposed transfers.
    pub transfer_ns: f64,
    /// Exposed communication that is transfer or wait, because ranks of its group were not recorded.
    pub undivided_ns: f64,
    /// Exposed copies.
    pub copy_ns: f64,
    /// Idle time of the device while the host was in this place.
    pub idle_ns: f64,
    /// Kernels per rank and step.
    pub kernels: f64,
}

/// Time by place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origins {
    /// Grouping of the rows.
    pub by: By,
    /// True if annotations replace modules, because no module was recorded.
    pub annotations: bool,
    /// Share of the step with a place (0 to 1).
    pub covered_share: f64,
    /// The places with the most time, the longest first.
    pub rows: Vec<OriginRow>,
    /// Number of places; those beyond the rows are summed in one row without a place.
    pub places: usize,
}

/// Origin of time: a place, or the phase of time without one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    At(String),
    Nowhere(Phase),
    Rest,
}

#[derive(Clone, Debug, Default)]
struct Sum {
    compute: i64,
    wait: i64,
    transfer: i64,
    undivided: i64,
    copy: i64,
    idle: i64,
    kernels: u64,
    instances: BTreeSet<String>,
}

impl Sum {
    fn total(&self) -> i64 {
        self.compute + self.wait + self.transfer + self.undivided + self.copy + self.idle
    }
}

const MODULE: &str = "nn.Module: ";

/// Tests whether any rank recorded modules.
fn has_modules(names: &[&Names]) -> bool {
    names.iter().any(|names| names.iter().any(|name| name.starts_with(MODULE)))
}

/// Time of ranks by place. `members` are the indices of the views in the job. Sums are divided by `samples`
/// to give one rank and step; `step` is a step in nanoseconds.
pub(crate) fn origins(
    views: &[(usize, &View<'_>, Exchanges)],
    windows: &Windows,
    by: By,
    samples: f64,
    step: f64,
) -> Origins {
    let names: Vec<&Names> = views.iter().map(|(_, view, _)| &view.trace.names).collect();
    let annotations = by == By::Module && !has_modules(&names);
    let mut sums: BTreeMap<Place, Sum> = BTreeMap::new();
    for (member, view, exchanges) in views {
        Walk { view, windows, member: *member, exchanges, by, annotations }.add(&mut sums);
    }
    let all: i64 = sums.values().map(Sum::total).sum();
    let placed: i64 =
        sums.iter().filter(|(place, _)| matches!(place, Place::At(_))).map(|(_, sum)| sum.total()).sum();
    let places = sums.keys().filter(|place| matches!(place, Place::At(_))).count();
    let mut sorted: Vec<(Place, Sum)> = sums.into_iter().collect();
    sorted.sort_by(|a, b| b.1.total().cmp(&a.1.total()).then_with(|| name(&a.0).cmp(&name(&b.0))));
    if sorted.len() > MOST {
        let rest = sorted.split_off(MOST).into_iter().fold(Sum::default(), |mut all, (_, sum)| {
            all.compute += sum.compute;
            all.wait += sum.wait;
            all.transfer += sum.transfer;
            all.undivided += sum.undivided;
            all.copy += sum.copy;
            all.idle += sum.idle;
            all.kernels += sum.kernels;
            all
        });
        sorted.push((Place::Rest, rest));
    }
    let mean = |time: i64| time as f64 / samples;
    let row = |(place, sum): (Place, Sum)| OriginRow {
        phase: if let Place::Nowhere(phase) = place { Some(phase) } else { None },
        place: if let Place::At(place) = place { Some(place) } else { None },
        instances: sum.instances.len() as u64,
        mean_ns: mean(sum.total()),
        share_of_step: if step > 0.0 { mean(sum.total()) / step } else { 0.0 },
        compute_ns: mean(sum.compute),
        wait_ns: mean(sum.wait),
        transfer_ns: mean(sum.transfer),
        undivided_ns: mean(sum.undivided),
        copy_ns: mean(sum.copy),
        idle_ns: mean(sum.idle),
        kernels: sum.kernels as f64 / samples,
    };
    Origins {
        by,
        annotations,
        covered_share: placed as f64 / (all as f64).max(1.0),
        rows: sorted.into_iter().map(row).collect(),
        places,
    }
}

/// Sort key of rows with equal time.
fn name(place: &Place) -> (u8, &str, Phase) {
    match place {
        Place::At(place) => (0, place, Phase::Other),
        Place::Nowhere(phase) => (1, "", *phase),
        Place::Rest => (2, "", Phase::Other),
    }
}

/// Iteration over one rank's pieces.
struct Walk<'a> {
    view: &'a View<'a>,
    windows: &'a Windows,
    member: usize,
    exchanges: &'a Exchanges,
    by: By,
    annotations: bool,
}

impl Walk<'_> {
    fn add(&self, sums: &mut BTreeMap<Place, Sum>) {
        let mut idle = Idle::new(self.view);
        // The place of the last frame.
        let mut last: Option<(u32, Phase, Place, String)> = None;
        let mut seen = NONE;
        let mut take = |sums: &mut BTreeMap<Place, Sum>,
                        idle: &Idle<'_>,
                        frame: u32,
                        phase: Phase,
                        to: &dyn Fn(&mut Sum)| {
            if last.as_ref().is_none_or(|last| (last.0, last.1) != (frame, phase)) {
                let (place, instance) = self.place(idle, frame, phase);
                last = Some((frame, phase, place, instance));
            }
            let Some((.., place, instance)) = &last else { return };
            let sum = match sums.get_mut(place) {
                Some(sum) => sum,
                None => sums.entry(place.clone()).or_default(),
            };
            if !instance.is_empty() && !sum.instances.contains(instance) {
                sum.instances.insert(instance.clone());
            }
            to(sum);
        };
        for piece in sweep(self.view, self.windows.whole()) {
            let at = piece.row as usize;
            if piece.role == Role::None {
                let mut start = piece.start;
                for part in idle.stretches(self.view, piece) {
                    let time = self.counted(start, part.end);
                    start = part.end;
                    if time > 0 {
                        take(sums, &idle, part.frame, Phase::Other, &|sum| sum.idle += time);
                    }
                }
                continue;
            }
            let launch = self.view.launch.get(at).copied().unwrap_or(NONE);
            let phase = self.view.phase.get(at).copied().unwrap_or_default();
            let fresh = u64::from(piece.row != seen && piece.role != Role::Copy);
            seen = piece.row;
            let whole = self.counted(piece.start, piece.end);
            if whole == 0 {
                continue;
            }
            match piece.role {
                Role::Compute => take(sums, &idle, launch, phase, &|sum| {
                    sum.compute += whole;
                    sum.kernels += fresh;
                }),
                Role::Copy => take(sums, &idle, launch, phase, &|sum| sum.copy += whole),
                _ => {
                    let Exchange { waits_until, transfer_from, .. } = self.exchanges.get(piece.row);
                    let within = |time: Option<i64>, else_at: i64| {
                        time.map_or(else_at, |time| time.clamp(piece.start, piece.end))
                    };
                    let waited = within(waits_until, piece.start);
                    let moves = within(transfer_from, piece.end).max(waited);
                    take(sums, &idle, launch, phase, &|sum| {
                        sum.wait += self.counted(piece.start, waited);
                        sum.undivided += self.counted(waited, moves);
                        sum.transfer += self.counted(moves, piece.end);
                        sum.kernels += fresh;
                    });
                }
            }
        }
    }

    /// Time of an interval within steps in which the rank was recorded, in nanoseconds.
    fn counted(&self, start: i64, end: i64) -> i64 {
        let steps = &self.windows.steps;
        let first = steps.partition_point(|step| step.end <= start);
        let within = steps.iter().skip(first).take_while(|step| step.start < end);
        within
            .filter(|step| step.holds(self.member))
            .map(|step| (end.min(step.end) - start.max(step.start)).max(0))
            .sum()
    }

    /// Place of a host frame, and the instance of its module.
    fn place(&self, idle: &Idle<'_>, frame: u32, phase: Phase) -> (Place, String) {
        let mut classes: Vec<&str> = Vec::new();
        let mut instance = String::new();
        let mut source: Option<&str> = None;
        idle.hold(frame, |at| {
            let Some(HostActivity { name, kind, .. }) = self.view.trace.host.get(at as usize) else { return };
            let name = self.view.trace.names.get(name);
            match (self.by, kind) {
                (By::Source, HostKind::Python) if source.is_none() && crate::causes::is_own_source(name) => {
                    source = Some(name);
                }
                (By::Module, HostKind::Python) if !self.annotations => {
                    if let Some(module) = name.strip_prefix(MODULE) {
                        let (class, number) = class_of(module);
                        classes.push(class);
                        instance.push('/');
                        instance.push_str(number);
                    }
                }
                (By::Module, HostKind::Annotation) if self.annotations && !is_step(name) => {
                    classes.push(name);
                }
                _ => {}
            }
        });
        let place = match self.by {
            By::Source => source.map(str::to_owned),
            By::Module => {
                classes.reverse();
                (!classes.is_empty()).then(|| classes.join(" > "))
            }
        };
        place.map_or((Place::Nowhere(phase), String::new()), |place| (Place::At(place), instance))
    }
}

/// Class and number in `Qwen3Attention_12`.
fn class_of(module: &str) -> (&str, &str) {
    match module.rsplit_once('_') {
        Some((class, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (class, number)
        }
        _ => (module, ""),
    }
}

/// Tests whether an annotation marks steps, which contain all other rows.
fn is_step(name: &str) -> bool {
    crate::windows::step_number(name).is_some() || crate::serving::mark(name).is_some()
}

#[cfg(test)]
mod tests;
