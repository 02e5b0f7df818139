//! Expected cost of failures for a job per month: number, slowdown and lost accelerator-hours.
//!
//! Responsible for: assigning rates to classes, choosing the cheapest response of the job for each class, and
//! summing. Exact for one failure at a time; concurrent failures are in [`super::sample`]. Excludes the step:
//! its share of exposed network time, or the slowdown itself, is an input.

use super::brief::{self, Brief, BriefLoss, Role};
use super::rates::{Rate, Rates};
use super::{Class, Recovery, classes};
use crate::topology::Design;
use crate::topology::scale_up::DomainPart;
use railwright_spec::problem::Problem;
use railwright_spec::run::Disruptions;
use serde::Serialize;

pub use super::brief::MONTH;

/// Default hours lost per interruption. Llama 3 405B: 466 interruptions in 54 days, more than 90% of the time
/// effective, so at most 0.1 x 1296 / 466 hours each (arXiv 2407.21783, section 3.3.4).
pub const INTERRUPTION_HOURS: f64 = 0.278;

/// Default share of exposed network time in a step.
pub const EXPOSED_SHARE: f64 = 0.2;

/// Job under failures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// Share of the step that is exposed network time. With a run, that of its step on the first design.
    pub exposed_share: f64,
    /// Share of the step in exposed communication within scale-up domains.
    pub exposed_domain_share: f64,
    /// Hours of all devices that an interruption costs: detection, restart, work since the last
    /// checkpoint.
    pub interruption_hours: f64,
    /// Devices that carry the traffic of devices with lost bandwidth.
    pub recovery: Recovery,
}

impl Job {
    /// A job with this exposed share of network time, and the defaults of `network failures` for the rest.
    pub fn usual(exposed_share: f64) -> Self {
        Self {
            exposed_share,
            exposed_domain_share: EXPOSED_SHARE,
            interruption_hours: INTERRUPTION_HOURS,
            recovery: Recovery::default(),
        }
    }
}

/// Action of a job after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// Continues at lower speed until the part is repaired.
    RunOn,
    /// Restarts without the affected domains.
    GoWithout,
    /// Restarts on spare devices of the domain.
    Swap,
    /// Waits for the repair.
    Wait,
}

/// Cost of failures of one class of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassLoss {
    /// The parts, and the effect of one failure.
    #[serde(flatten)]
    pub class: Class,
    /// Failure rate.
    pub rate: Rate,
    /// Failures of all parts per month.
    pub failures_per_month: f64,
    /// True if the job stops and restarts because connections of a device break.
    pub interrupts: bool,
    /// Step slowdown until the repair; `None` if the step cannot finish.
    pub slowdown: Option<f64>,
    /// True if the slowdown is that of a simulated step without the part. Otherwise it follows from the
    /// remaining bandwidth.
    #[serde(rename = "simulated")]
    pub is_simulated: bool,
    /// Action of the job.
    pub response: Response,
    /// Device-hours that one failure costs.
    pub lost_hours: f64,
    /// Devices that the job lacks while the part is down.
    pub lost_devices: f64,
    /// Device-hours in a month.
    pub lost_hours_per_month: f64,
}

/// Cost of the failures of one design.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expectation {
    /// The design's name.
    pub design: String,
    /// Devices.
    pub devices: u64,
    /// Class by class, from the devices outwards.
    pub classes: Vec<ClassLoss>,
    /// Flaps and slow parts of the classes that have rates of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub brief: Vec<BriefLoss>,
    /// Failures in a month.
    pub failures_per_month: f64,
    /// Failures in a month that stop the job, without flaps.
    pub interruptions_per_month: f64,
    /// Device-hours that are lost in a month, also to flaps and slow parts.
    pub lost_hours_per_month: f64,
    /// Share of all device-hours.
    pub lost_share: f64,
    /// Mean factor of the step's time over a month, without interruptions.
    pub mean_slowdown: f64,
    /// Mean number of idle devices.
    pub mean_lost_devices: f64,
}

impl Expectation {
    /// Flaps and slow parts for the goodput of a job, by device: the time that stalls and slow steps cost,
    /// and interruptions apart from it. With `I` hours for each interruption, `lost + stops I` is their
    /// share of all device-hours here.
    pub fn disruptions(&self, job: &Job) -> Disruptions {
        let n = self.devices as f64;
        let stops: f64 = self.brief.iter().map(BriefLoss::stops_per_month).sum();
        let hours: f64 = self.brief.iter().map(BriefLoss::lost_hours_per_month).sum();
        let share = hours / (n * MONTH) - stops * job.interruption_hours / MONTH;
        Disruptions { lost: share.max(0.0) / n, stops_per_hour: stops / MONTH / n }
    }
}

/// Cost of failures for a job on all devices of a design. `slowdown` is the factor of the step time for a
/// remaining share of bandwidth; [`super::slowdown`] with the exposed share is the default.
pub fn expectation(
    design: &Design,
    rates: &Rates,
    job: &Job,
    slowdown: &dyn Fn(f64) -> Option<f64>,
) -> Result<Expectation, Problem> {
    expectation_with(design, rates, job, slowdown, &|_| None)
}

/// The same, with the factor of a simulated step for the classes that have one: `slowdown` takes all traffic
/// to use the failed part.
pub fn expectation_with(
    design: &Design,
    rates: &Rates,
    job: &Job,
    slowdown: &dyn Fn(f64) -> Option<f64>,
    simulated: &dyn Fn(&Class) -> Option<f64>,
) -> Result<Expectation, Problem> {
    let mut losses = Vec::new();
    let mut briefs = Vec::new();
    for class in classes(design) {
        let unknown = Rate::unknown();
        let rate = match rates.of_class(class.part) {
            Some(rate) => rate,
            None if DomainPart::named(class.part).is_some() => &unknown,
            None => {
                return Err(Problem::new(format!("no failure rate for a {}", class.part))
                    .hint("add a line for it to a file for --rates"));
            }
        };
        let loss = loss(class, rate, design, job, (slowdown, simulated));
        briefs.extend(brief_loss(&loss, design.devices, job, slowdown));
        losses.push(loss);
    }
    let sum = |of: &dyn Fn(&ClassLoss) -> f64| losses.iter().map(of).fold(0.0, |sum, n| sum + n);
    let in_brief = |of: &dyn Fn(&BriefLoss) -> f64| briefs.iter().map(of).fold(0.0, |sum, n| sum + n);
    let lost = sum(&|l| l.lost_hours_per_month) + in_brief(&BriefLoss::lost_hours_per_month);
    let slow_parts = in_brief(&|brief| {
        brief.slow.as_ref().map_or(0.0, |slow| slow.present * (slow.slowdown.unwrap_or(1.0) - 1.0))
    });
    let devices = design.devices as f64;
    // Time between two failures of a class is far longer than a repair, so shares of the month add up.
    let slower = |l: &ClassLoss| {
        let factor = if l.response == Response::RunOn { l.slowdown.unwrap_or(1.0) } else { 1.0 };
        l.failures_per_month * l.rate.repair_hours / MONTH * (factor - 1.0)
    };
    Ok(Expectation {
        design: design.name.clone(),
        devices: design.devices,
        failures_per_month: sum(&|l| l.failures_per_month),
        interruptions_per_month: sum(&|l| if l.interrupts { l.failures_per_month } else { 0.0 }),
        lost_hours_per_month: lost,
        lost_share: (lost / (devices * MONTH)).min(1.0),
        mean_slowdown: 1.0 + sum(&slower) + slow_parts,
        mean_lost_devices: (lost / MONTH).min(devices),
        classes: losses,
        brief: briefs,
    })
}

/// Flaps and slow parts of a class, if its rate has any.
fn brief_loss(
    loss: &ClassLoss,
    devices: u64,
    job: &Job,
    slowdown: &dyn Fn(f64) -> Option<f64>,
) -> Option<BriefLoss> {
    let (class, rates) = (&loss.class, loss.rate.brief);
    if rates == Brief::default() || class.count == 0 {
        return None;
    }
    let is_domain = DomainPart::named(class.part).is_some();
    let role = Role {
        count: class.count,
        devices,
        is_only: class.cut_off > 0,
        kept_alone: if is_domain { 0.0 } else { class.kept(Recovery::Alone) },
        slowdown: loss.slowdown,
    };
    let of_domain = |kept| super::slowdown(kept, job.exposed_domain_share);
    let slowdown = if is_domain { &of_domain } else { slowdown };
    Some(BriefLoss {
        part: class.part,
        count: class.count,
        flaps: rates.flaps.map(|rate| brief::flaps(&role, &rate, job.interruption_hours)),
        slow: rates.slow.map(|rate| brief::slow(&role, &rate, slowdown)),
    })
}

/// Factor of a simulated step without a part of a class, if it has one.
type OfClass<'a> = &'a dyn Fn(&Class) -> Option<f64>;

/// One class. Notation: N devices; a step that takes `s` times as long; `touched` devices in the affected
/// domains; R hours to the repair; I hours for an interruption (0 if no connection breaks). A failure costs:
///
/// * running on: `N (I + (1 - 1/s) R)`
/// * going without: `N I' + touched R`, where the job starts again in any case
/// * with a spare device: `N I'`
/// * waiting: `N (I' + R)`
///
/// Expected loss of a class, with the cheapest response of the job.
fn loss(
    class: Class,
    rate: &Rate,
    design: &Design,
    job: &Job,
    (slowdown, simulated): (&dyn Fn(f64) -> Option<f64>, OfClass<'_>),
) -> ClassLoss {
    let n = design.devices as f64;
    let repair = rate.repair_hours;
    let breaks = class.cut_off > 0;
    // Parts of the network and of domains are different classes.
    let kept = |class: &Class| match class.kept_domain {
        1.0 => slowdown(class.kept(job.recovery)),
        kept => super::slowdown(kept, job.exposed_domain_share),
    };
    let bound = if class.stranded > 0 { None } else { kept(&class) };
    let is_network = class.kept_domain == 1.0;
    let in_simulation = bound.filter(|_| is_network).and_then(|_| simulated(&class));
    let factor = in_simulation.or(bound).map(|s| s.max(1.0));
    let restart = n * job.interruption_hours;
    let mut link_paths = vec![(Response::Wait, restart + n * repair)];
    if class.touched < design.devices {
        link_paths.push((Response::GoWithout, restart + class.touched as f64 * repair));
    }
    // A spare takes the place of a device whose domain is in service without it.
    let spares = design.domain.parts.map_or(0, |parts| parts.spares);
    if DomainPart::named(class.part).is_some() && class.stranded > 0 && class.stranded <= spares {
        link_paths.push((Response::Swap, restart));
    }
    if let Some(s) = factor {
        let broken = if breaks { restart } else { 0.0 };
        link_paths.push((Response::RunOn, broken + n * (1.0 - 1.0 / s) * repair));
    }
    // The last of equals: running on before going without before waiting.
    let (response, lost_hours) =
        link_paths.into_iter().rev().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Response::Wait, restart));
    let failures_per_month = class.count as f64 * rate.per_hour() * MONTH;
    let lost_devices = match (response, factor) {
        (Response::RunOn, Some(s)) => n * (1.0 - 1.0 / s),
        (Response::GoWithout, _) => class.touched as f64,
        (Response::Swap, _) => 0.0,
        _ => n,
    };
    ClassLoss {
        interrupts: breaks || response != Response::RunOn,
        rate: rate.clone(),
        failures_per_month,
        slowdown: factor,
        is_simulated: in_simulation.is_some(),
        response,
        lost_hours,
        lost_devices,
        lost_hours_per_month: failures_per_month * lost_hours,
        class,
    }
}

#[cfg(test)]
mod tests {
    use super::super::slowdown;
    use super::*;
    use crate::topology::{DesignSpec, Kind, Routing};

    fn of(kind: Kind, devices: u64, radix: u64, job: &Job) -> Expectation {
        let spec = DesignSpec {
            kind: Some(kind),
            devices: Some(devices),
            domain: Some(8),
            radix: Some(radix),
            routing: Some(Routing::Ecmp),
            ..DesignSpec::default()
        };
        let design = spec.resolve().expect("it is built");
        let rates = Rates::catalogue().expect("well formed");
        expectation(&design, &rates, job, &|kept| slowdown(kept, job.exposed_share))
            .expect("all rates are known")
    }

    const JOB: Job = Job {
        exposed_share: 0.2,
        exposed_domain_share: 0.2,
        interruption_hours: INTERRUPTION_HOURS,
        recovery: Recovery::Spread,
    };

    #[test]
    fn interruptions_by_the_network_of_a_published_run() {
        // arXiv 2407.21783, Table 5: in 54 days 16,384 accelerators saw 35 interruptions by switches and
        // cables and 7 by NICs. Published rates of other operators give the same number within a
        // factor of two.
        let run = of(Kind::Clos, 16_384, 64, &JOB);
        let months = 54.0 * 24.0 / MONTH;
        let of_part = |part: &str| {
            let class = run.classes.iter().find(|l| l.class.part == part).expect("there");
            assert!(class.interrupts, "{part}");
            class.failures_per_month * months
        };
        assert!((of_part("NIC") - 7.0).abs() < 0.1, "{}", of_part("NIC"));
        let cables_and_switches = of_part("NIC-leaf link") + of_part("leaf");
        assert!((17.5..70.0).contains(&cables_and_switches), "{cables_and_switches}");
        assert!((run.interruptions_per_month * months - 7.0 - cables_and_switches).abs() < 0.2);
    }

    #[test]
    fn a_month_adds_up_by_hand() {
        let run = of(Kind::RailOnly, 16_384, 128, &JOB);
        let leaf = run.classes.iter().find(|l| l.class.part == "leaf").expect("there");
        // 256 leaves of 64 devices; 9,224 FIT; one rail in eight is gone: 1 + 0.2 / 7 until the repair after
        // 4 h, or 512 devices less.
        assert_eq!((leaf.class.count, leaf.class.cut_off, leaf.class.touched), (256, 64, 512));
        let s = 1.0 + 0.2 / 7.0;
        assert_eq!(leaf.slowdown, Some(s));
        let run_on = 16_384.0 * (INTERRUPTION_HOURS + 4.0 * (1.0 - 1.0 / s));
        assert!((leaf.lost_hours - run_on).abs() < 1e-6 && leaf.response == Response::RunOn);
        assert!((leaf.lost_hours_per_month - 256.0 * 9224e-9 * 730.0 * run_on).abs() < 1e-6);
        let sum: f64 = run.classes.iter().map(|l| l.lost_hours_per_month).sum();
        assert!((run.lost_hours_per_month - sum).abs() < 1e-9 && run.lost_share < 0.02);
        // Four links join a leaf and a spine. Other leaves spread evenly over 16 spines, so one link less
        // leaves 3/4 into the leaf.
        let link = run.classes.iter().find(|l| l.class.part == "leaf-spine link").expect("there");
        assert_eq!(link.class.kept_spread, 0.75);
    }

    /// Flaps and slow parts add to what failures cost, and to nothing without rates of them.
    #[test]
    fn flaps_and_slow_parts_add_to_failures() {
        let design = DesignSpec::of(Kind::RailOptimized, 4096, 8, 64).resolve().expect("built");
        let mut rates = Rates::catalogue().expect("well formed");
        let cost = |rates: &Rates| {
            expectation(&design, rates, &JOB, &|kept| slowdown(kept, JOB.exposed_share)).expect("known")
        };
        let before = cost(&rates);
        assert!(before.brief.is_empty());
        let table = "part,flaps_per_month,flap_seconds,slow_per_month,slow_hours,slow_kept\n\
                     access-link,0.1,8,0.001,12,0.5\nnic,,,0.002,24,0.5\n";
        rates.overlay(table, "own.csv").expect("valid");
        let after = cost(&rates);
        let parts: Vec<&str> = after.brief.iter().map(|brief| brief.part).collect();
        assert_eq!(parts, ["NIC", "NIC-leaf link"]);
        let extra: f64 = after.brief.iter().map(BriefLoss::lost_hours_per_month).sum();
        assert!(
            (after.lost_hours_per_month - before.lost_hours_per_month - extra).abs() < 1e-6 && extra > 0.0
        );
        assert!((after.lost_share - (before.lost_share + extra / 4096.0 / MONTH)).abs() < 1e-12);
        let stops: f64 = after.brief.iter().map(BriefLoss::stops_per_month).sum();
        assert!((stops - 409.6 * (-brief::TRANSPORT_SECONDS / 8.0_f64).exp()).abs() < 1e-9);
        assert_eq!(after.interruptions_per_month, before.interruptions_per_month);
        // For the goodput: the same share, with interruptions apart.
        let own = after.disruptions(&JOB).of(4096);
        let share = own.lost + own.stops_per_hour * JOB.interruption_hours;
        assert!((share - extra / 4096.0 / MONTH).abs() < 1e-12 && own.stops_per_hour > 0.0);
        assert_eq!(before.disruptions(&JOB), Disruptions::default());
        // 4,096 x 0.001 links for 12 h and 0.002 NICs for 24 h a month, at 1.2 times the step.
        let present = 4.096 * 12.0 / MONTH + 8.192 * 24.0 / MONTH;
        assert!((after.mean_slowdown - before.mean_slowdown - present * 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_job_does_what_costs_least() {
        // A NIC of a small job: run on at 1 + 0.2 / 7. At full exposure and a long repair it is better to go
        // without the server.
        let nic = |job: &Job| of(Kind::Clos, 65_536, 64, job).classes[0].response;
        assert_eq!(nic(&Job { exposed_share: 0.0, ..JOB }), Response::RunOn);
        assert_eq!(nic(&Job { exposed_share: 1.0, ..JOB }), Response::GoWithout);
        // Without another device for its traffic, it is dropped.
        assert_eq!(nic(&Job { recovery: Recovery::Alone, ..JOB }), Response::GoWithout);
        // Only one switch: wait for the repair.
        let one = of(Kind::Clos, 64, 64, &JOB);
        let leaf = one.classes.iter().find(|l| l.class.part == "leaf").expect("there");
        assert_eq!((leaf.response, leaf.slowdown), (Response::Wait, None));
    }

    #[test]
    fn a_second_plane_keeps_jobs_running() {
        let (one, two) = (of(Kind::RailOptimized, 4096, 64, &JOB), of(Kind::DualPlane, 4096, 64, &JOB));
        // Links and leaves of a plane are not missed by connections: only NICs interrupt.
        let nics = 4096.0 * 330e-9 * MONTH;
        assert!((two.interruptions_per_month - nics).abs() < 1e-9);
        assert!(one.interruptions_per_month > 3.0 * nics);
        assert!(two.lost_hours_per_month < one.lost_hours_per_month / 2.0);
    }

    #[test]
    fn a_neighbour_that_carries_twice_explains_the_published_single_tor_failure() {
        // 10.1145/3718958.3750503, Fig 3b: rail-optimized and rail-only take 46% to 47% longer, dual planes
        // about 0. One neighbour that also carries the lost rail doubles network time: with 46% of the step
        // exposed, +46%, and +3% with planes.
        let spec = |kind| DesignSpec {
            kind: Some(kind),
            devices: Some(4096),
            domain: Some(8),
            ..DesignSpec::default()
        };
        let leaf = |kind, recovery| {
            let design = spec(kind).resolve().expect("built");
            let class = classes(&design).into_iter().find(|c| c.part == "leaf").expect("there");
            class.slowdown(0.46, recovery).expect("it goes on")
        };
        for kind in [Kind::RailOptimized, Kind::RailOnly] {
            assert!((leaf(kind, Recovery::Neighbour) - 1.46).abs() < 1e-12, "{kind:?}");
        }
        assert!(leaf(Kind::DualPlane, Recovery::Spread) < 1.04);
    }
}
