//! Two runs on one network at the same time.
//!
//! Responsible for: both runs' steps repeated concurrently, and each step's time alone and with the other.
//! Both start at once; a step ends at the start of its own next one. Only steps within the time in which both
//! run are counted. Rejects devices that belong to both.

use super::staged::Staged;
use super::{Prepared, Setting};
use railwright_network::simulate::{Bundle, Class, FEW, Script, Wiring};
use railwright_network::traffic::RankPlacement;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::ops::ControlFlow;

/// Number of simulated steps of the slower run.
const STEPS: f64 = 4.0;
/// Maximum repetitions of the faster run, and maximum tasks of both together.
const MOST_STEPS: usize = 256;
const MOST_TASKS: usize = 4_000_000;
/// Maximum relative difference between ends of equal runs.
const ROUNDING: f64 = 1e-9;

/// A run and its devices.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its name.
    pub name: &'a str,
    /// Trained model.
    pub model: &'a Model,
    /// Cluster of the run.
    pub cluster: &'a Cluster,
    /// Layout and training settings.
    pub plan: &'a Plan,
    /// Devices of its ranks.
    pub seats: &'a RankPlacement,
}

/// A run that shares the network with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedJob {
    /// Its name.
    pub name: String,
    /// Number of ranks.
    pub ranks: u64,
    /// Its step without other traffic.
    pub alone: Seconds,
    /// Number of counted steps with the other run.
    pub steps: usize,
    /// Mean of these steps.
    pub mean: Seconds,
    /// The fastest of these steps.
    pub least: Seconds,
    /// The slowest of these steps.
    pub most: Seconds,
    /// `mean / alone`.
    pub slowdown: f64,
}

/// The steps of two runs on one network. `watch` receives finished and total tasks, and may stop the work,
/// which is an error.
pub fn together(
    wiring: &Wiring,
    jobs: [Job<'_>; 2],
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Vec<SharedJob>, Problem> {
    apart(jobs)?;
    let [first, second] = jobs;
    let (first, second) = (prepared(wiring, first)?, prepared(wiring, second)?);
    let alone = [play_alone(wiring, &first)?, play_alone(wiring, &second)?];
    let window = alone[0].max(alone[1]) * STEPS;
    let repeats = alone.map(|step| ((window / step).ceil() as usize).clamp(1, MOST_STEPS));
    let tasks = first.staged.script.len() * repeats[0] + second.staged.script.len() * repeats[1];
    if tasks > MOST_TASKS {
        return Err(Problem::new(format!(
            "{} and {} steps of the two runs have {} tasks, too many to simulate",
            repeats[0],
            repeats[1],
            human::whole(tasks as u64)
        ))
        .in_file("--job")
        .hint("simulate steps with fewer micro-batches"));
    }
    let mut script = Script::default();
    let own_classes = first.classes.len() as u32;
    let ends = [
        repeated(&mut script, &first.staged, 0, repeats[0]),
        repeated(&mut script, &second.staged, own_classes, repeats[1]),
    ];
    let classes: Vec<Class> = first.classes.iter().chain(&second.classes).cloned().collect();
    let bundle = Bundle::new(wiring, &classes, FEW)?;
    let played = script.play_watched(&bundle, &mut |ended| watch(ended, tasks))?;
    let last = |ends: &[u32]| ends.last().map_or(Seconds::ZERO, |end| played.ends[*end as usize]);
    let both = last(&ends[0]).min(last(&ends[1]));
    let rows = [(&first, jobs[0]), (&second, jobs[1])].into_iter().zip(&ends).zip(alone);
    let rows = rows.map(|(((prepared, job), ends), alone)| {
        let mut before = Seconds::ZERO;
        let mut times = Vec::new();
        for end in ends {
            let at = played.ends[*end as usize];
            if at <= both * (1.0 + ROUNDING) || times.is_empty() {
                times.push(prepared.after.of(at - before, &prepared.staged));
            }
            before = at;
        }
        let alone = prepared.after.of(alone, &prepared.staged);
        let mean = times.iter().copied().sum::<Seconds>() / times.len() as f64;
        SharedJob {
            name: job.name.to_owned(),
            ranks: job.plan.world_size(),
            alone,
            steps: times.len(),
            mean,
            least: times.iter().copied().fold(mean, Seconds::min),
            most: times.iter().copied().fold(mean, Seconds::max),
            slowdown: mean / alone,
        }
    });
    Ok(rows.collect())
}

/// Fails if a device belongs to both.
fn apart([first, second]: [Job<'_>; 2]) -> Result<(), Problem> {
    let shared = second.seats.devices().iter().find(|device| first.seats.rank(**device) != u32::MAX);
    match shared {
        Some(device) => Err(Problem::new(format!("device {device} belongs to both runs"))
            .in_file("--job")
            .hint("set --job-nodelist to hosts that the first run does not use")),
        None => Ok(()),
    }
}

fn prepared(wiring: &Wiring, job: Job<'_>) -> Result<Prepared, Problem> {
    let setting = Setting { seats: Some(job.seats), ..Setting::on(wiring) };
    Prepared::new((job.model, job.cluster, job.plan), &setting)
}

/// Time of a step's tasks without other traffic.
fn play_alone(wiring: &Wiring, prepared: &Prepared) -> Result<Seconds, Problem> {
    let bundle = Bundle::new(wiring, &prepared.classes, FEW)?;
    let played = prepared.staged.script.play(&bundle)?;
    Ok(played.ends[prepared.staged.end as usize])
}

/// Appends a step several times, in sequence. Returns the tasks at which they end.
fn repeated(script: &mut Script, staged: &Staged, classes: u32, times: usize) -> Vec<u32> {
    let mut ends: Vec<u32> = Vec::with_capacity(times);
    for _ in 0..times {
        let first = script.append(&staged.script, classes, ends.last().copied());
        ends.push(first + staged.end);
    }
    ends
}
