//! The profile of a job: one value that starts from the loss.
//!
//! Responsible for: the order of the work (views of ranks, steps, sweeps, joining) and the report that every view of it prints. Ranks
//! are done side by side by whoever brings [`Workers`]; the answer does not depend on them. Refuses to print, and leaves
//! faults to rules ([`crate::findings`]), which fill [`Report::findings`].

mod bubbles;
mod report;

pub use report::{Finding, KernelRow, Line, Part, RankRow, Recorded, Repair, Report, StepRow};

use crate::culprits::stragglers_of;
use crate::findings;
use crate::joined::Joined;
use crate::view::{Tables, View};
use crate::waterfall::{Exchanges, Ideal, Peak, RankWaterfall, Waterfall};
use crate::windows::{Windows, windows};
use crate::{Job, Names};
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::Flop;

/// Does work on many ranks: one after the other, or side by side.
pub trait Workers {
    /// What `work` makes of every item, in their order.
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R>;
}

/// One after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneByOne;

impl Workers for OneByOne {
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R> {
        items.iter().enumerate().map(|(at, item)| work(at, item)).collect()
    }
}

/// What to look at, and what the traces do not say.
#[derive(Clone, Debug)]
pub struct Options {
    /// What names mean.
    pub tables: Tables,
    /// One step alone, by its number.
    pub step: Option<u64>,
    /// One rank alone. The others still take part in finding steps and waits.
    pub rank: Option<u32>,
    /// The model's operations of one step, all ranks together.
    pub flop_per_step: Option<Flop>,
    /// The accelerator, where it is another than the traces say or they say none.
    pub accelerator: Option<String>,
    /// The format in which the peak is taken.
    pub data_type: DataType,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tables: Tables::shipped(),
            step: None,
            rank: None,
            flop_per_step: None,
            accelerator: None,
            data_type: DataType::Bf16,
        }
    }
}

/// The profile of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its steps.
    pub windows: Windows,
    /// Where their time goes.
    pub waterfall: Waterfall,
    /// What is shown.
    pub report: Report,
}

/// Profiles a job whose clocks are aligned.
pub fn profile(
    job: &Job,
    joined: &Joined,
    options: &Options,
    workers: &impl Workers,
) -> Result<Profile, Problem> {
    let views = workers.map(&job.members, |_, member| View::new(&member.trace, &options.tables));
    let mut windows = windows(&views, joined);
    if let Some(step) = options.step {
        windows = windows.only(step).ok_or_else(|| no_step(step, &windows))?;
    }
    if let Some(rank) = options.rank
        && job.position(rank).is_none()
    {
        return Err(no_rank(rank, job));
    }
    let ranks: Vec<RankWaterfall> = workers.map(&views, |at, view| {
        let exchanges = Exchanges::of(joined, at, view);
        RankWaterfall::new(job.members[at].rank, view, &windows, &exchanges)
    });
    let names: Vec<&Names> = job.members.iter().map(|member| &member.trace.names).collect();
    let mut warnings = Vec::new();
    let peak = peak(job, options, &mut warnings)?;
    let ideal = options.flop_per_step.zip(peak.as_ref()).map(|(flop_per_step, peak)| Ideal {
        flop_per_step,
        ranks: job.world_size,
        peak: peak.rate,
    });
    let mut waterfall = Waterfall::join(ranks, &names, ideal);
    bubbles::divide(job, joined, &windows, &mut waterfall);
    let mut shown = names;
    let mut seen: Vec<&View<'_>> = views.iter().collect();
    if let Some(at) = options.rank.and_then(|rank| job.position(rank)) {
        waterfall = waterfall.only(at);
        shown = vec![shown[at]];
        seen = vec![seen[at]];
    }
    let tree = crate::tree::tree(&waterfall.ranks, &shown);
    let parts = report::Inputs { job, joined, views: &views, windows: &windows, waterfall: &waterfall };
    let mut report = report::report(&parts, tree, peak, options, &shown, warnings);
    let together = job.members.len() > 1 && joined.matching.parts.len() == job.members.len();
    let stragglers = together.then(|| stragglers_of(job, joined, &options.tables.communication));
    report.findings = findings::find(&findings::Context {
        job,
        joined,
        views: &seen,
        names: &shown,
        windows: &windows,
        waterfall: &waterfall,
        stragglers: stragglers.as_ref(),
    });
    Ok(Profile { windows, waterfall, report })
}

fn no_step(step: u64, windows: &Windows) -> Problem {
    let names: Vec<String> = (0..windows.steps.len()).map(|at| windows.name(at)).collect();
    Problem::new(format!("there is no step {step}"))
        .in_file("--step")
        .hint(format!("steps are {}", names.join(", ")))
}

fn no_rank(rank: u32, job: &Job) -> Problem {
    let mut known: Vec<String> = job.members.iter().take(16).map(|m| m.rank.to_string()).collect();
    if job.members.len() > known.len() {
        known.push(format!("... ({} in all)", job.members.len()));
    }
    Problem::new(format!("there is no trace of rank {rank}"))
        .in_file("--rank")
        .hint(format!("there are traces of ranks {}", known.join(", ")))
}

/// The accelerator's peak: of what the user says, else of what the traces say. Only needed, and so only missed, when operations are known.
fn peak(job: &Job, options: &Options, warnings: &mut Vec<Warning>) -> Result<Option<Peak>, Problem> {
    if let Some(name) = &options.accelerator {
        let accelerator =
            railwright_spec::cluster::accelerator_by_name(name).map_err(|p| p.in_file("--accelerator"))?;
        let rate = accelerator.peak_rate(options.data_type).ok_or_else(|| {
            let told = format!("{} has no peak in {}", accelerator.name, options.data_type);
            Problem::new(told).in_file("--precision").hint("name a format that it computes in")
        })?;
        return Ok(Some(Peak { accelerator: accelerator.name, data_type: options.data_type, rate }));
    }
    let device = job.members.iter().find_map(|member| report::device(&member.trace.identity));
    let peak = device.and_then(|device| Peak::of(device, options.data_type));
    if peak.is_none() && options.flop_per_step.is_some() {
        let told = match device {
            Some(device) => {
                format!("`{device}` is no accelerator of the catalogue, so there is no peak and no MFU")
            }
            None => "the traces do not say on what they ran, so there is no peak and no MFU".to_owned(),
        };
        warnings.push(Warning::new("trace-unknown-mfu", told));
    }
    Ok(peak)
}
