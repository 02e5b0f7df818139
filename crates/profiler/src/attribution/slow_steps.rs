//! Steps that are longer than the typical one.
//!
//! Responsible for: the reason against the verdict "no straggler" if some steps are much longer, and neither
//! more compute on the ranks, a checkpoint or evaluation of most ranks, nor a mended delay explains it.
//! Excludes the first step, which may warm up.

use super::steps;
use crate::Job;
use crate::causes::planned;
use crate::occupancy::{Intervals, Occupancy};
use crate::windows::{StepWindow, Windows};
use railwright_spec::problem::Warning;
use railwright_spec::{human, lower_median};

/// Minimum ratio of a longer step to the typical one.
const LONGER: f64 = 1.1;

/// Minimum unexplained time of the longer steps, as a share of all steps.
const NOTABLE: f64 = 0.05;

/// Minimum number of steps for a typical one.
const FEWEST: usize = 4;

/// Longer steps of a job.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Longer {
    /// Reason against the verdict "no straggler".
    pub doubt: Option<String>,
    /// The work that most ranks plan for these steps, if it makes them longer.
    pub planned: Option<Warning>,
}

/// Longer steps, and the reason if neither compute nor planned work explains them. `saved` is the time that
/// mended delays save, in nanoseconds of all steps.
pub(super) fn longer(job: &Job, windows: &Windows, occupancies: &[Occupancy], saved: i64) -> Longer {
    let (_, to) = steps::closed(windows);
    let closed: Vec<&StepWindow> = windows.steps.iter().filter(|step| step.start < to).collect();
    if closed.len() < FEWEST {
        return Longer::default();
    }
    let durations: Vec<f64> = closed.iter().map(|step| step.duration() as f64).collect();
    let typical = lower_median(&mut durations.clone());
    let longer: Vec<usize> = (1..closed.len()).filter(|&at| durations[at] > LONGER * typical).collect();
    let all: f64 = durations.iter().sum();
    let total: f64 = longer.iter().map(|&at| durations[at] - typical).sum();
    if longer.is_empty() || total <= NOTABLE * all {
        return Longer::default();
    }
    // More work of all ranks is not a delay: time of the median rank in each step, and in the typical one.
    let of_median = |time: &dyn Fn(usize, &StepWindow) -> f64| -> (Vec<f64>, f64) {
        let of_step = |step: &&StepWindow| {
            lower_median(&mut (0..occupancies.len()).map(|member| time(member, step)).collect::<Vec<_>>())
        };
        let times: Vec<f64> = closed.iter().map(of_step).collect();
        let usual = lower_median(&mut times.clone());
        (times, usual)
    };
    let (compute, usual_compute) =
        of_median(&|member, step| occupancies[member].compute.within(step.start, step.end) as f64);
    let planned: Vec<Intervals> = job.members.iter().map(|member| planned(&member.trace)).collect();
    let (plans, usual_plans) = of_median(&|member, step| {
        planned.get(member).map_or(0.0, |own| own.within(step.start, step.end) as f64)
    });
    let beyond = |times: &[f64], usual: f64, at: usize| (times[at] - usual).max(0.0);
    let left = |at: usize| {
        durations[at] - typical - beyond(&compute, usual_compute, at) - beyond(&plans, usual_plans, at)
    };
    let left = longer.iter().map(|&at| left(at).max(0.0)).sum::<f64>() - saved as f64;
    let of_plans: f64 = longer.iter().map(|&at| beyond(&plans, usual_plans, at)).sum();
    let numbers: Vec<u64> = longer.iter().map(|&at| closed[at].number.unwrap_or(at as u64)).collect();
    let times = longer.iter().map(|&at| durations[at]).sum::<f64>() / longer.len() as f64 / typical;
    let verb = if longer.len() == 1 { "takes" } else { "take" };
    let which = format!("{} {verb} {times:.1} times as long as the typical step", human::steps(&numbers));
    let doubt = (left > NOTABLE * all).then(|| {
        format!(
            "{which}, and no compute, rank, link or stage explains {} of the recorded time",
            human::percent(left / all)
        )
    });
    let planned = (doubt.is_none() && of_plans > 0.5 * total).then(|| {
        Warning::new("steps-planned", format!("{which}: most ranks write a checkpoint or evaluate the model"))
    });
    Longer { doubt, planned }
}

#[cfg(test)]
mod tests {
    use crate::attribution::{Verdict, straggler_report};
    use crate::joined::JoinOptions;
    use crate::testing::Synthetic;

    /// Every host pauses at once: equal ranks save nothing, but the steps differ.
    #[test]
    fn longer_steps_without_an_explanation_exclude_no_straggler() {
        let plan = Synthetic { data: 4, steps: 6, ..Synthetic::default() };
        let of = |steps: &[u32]| {
            let stalls: Vec<(u32, u32, i64)> =
                steps.iter().flat_map(|&step| (0..8).map(move |rank| (rank, step, 8_000_000))).collect();
            straggler_report(&mut Synthetic { stalls, ..plan.clone() }.job(), &JoinOptions::default())
        };
        assert_eq!(of(&[]).verdict, Verdict::None);
        let report = of(&[2, 3]);
        assert_eq!(report.verdict, Verdict::CannotTell, "{:?}", report.culprits);
        assert!(report.reasons.iter().any(|reason| reason.contains("typical step")), "{:?}", report.reasons);
    }

    /// The same pauses in a checkpoint that every rank writes are planned; of one rank only, its peers do not
    /// explain them.
    #[test]
    fn a_checkpoint_of_most_ranks_explains_a_longer_step() {
        let stalls = (0..8).map(|rank| (rank, 3, 30_000_000)).collect();
        let plan = Synthetic { data: 4, steps: 6, stalls, ..Synthetic::default() };
        let of = |ranks: u32| {
            let mut job = plan.job();
            for member in job.members.iter_mut().filter(|member| member.rank < ranks) {
                let trace = &mut member.trace;
                // The longest gap of the device is the pause.
                let mut busy: Vec<(i64, i64)> = trace.gpu.iter().map(|row| (row.start, row.end)).collect();
                busy.sort_unstable();
                let gap = busy.windows(2).map(|two| (two[0].1, two[1].0)).max_by_key(|gap| gap.1 - gap.0);
                let (start, end) = gap.expect("a gap");
                let name = trace.names.intern("save_checkpoint");
                let kind = crate::trace::HostKind::Annotation;
                trace.host.push(crate::trace::HostActivity { start, end, name, kind, ..Default::default() });
                trace.host.sort();
            }
            straggler_report(&mut job, &JoinOptions::default())
        };
        let report = of(8);
        assert_eq!(report.verdict, Verdict::None, "{:?}", report.reasons);
        assert!(report.warnings.iter().any(|warning| warning.id == "steps-planned"), "{:?}", report.warnings);
        assert_eq!(of(2).verdict, Verdict::CannotTell);
    }
}
