//! Steps of a job, with the same boundaries for all ranks.
//!
//! Responsible for: cutting on the device's clock, because hosts run ahead of it by different amounts, and
//! the common window in which all ranks were recorded. Clocks must be aligned before.

mod collectives;
mod count;
mod cut;
mod heads;
mod marked;
mod meet;
mod number;
mod repetition;
mod steady;
mod steps;

pub(crate) use count::recorded;
pub(crate) use marked::host_steps;
pub(crate) use number::step_number;
pub use steps::{CutBy, StepRange, StepWindow, WHOLE, Windows};

use crate::joined::Joined;
use crate::view::View;
use crate::workers::{OneByOne, Workers};
use railwright_spec::problem::Warning;

/// Finds the steps of ranks with aligned clocks.
pub fn windows(views: &[View<'_>], joined: &Joined) -> Windows {
    windows_by(views, joined, &OneByOne)
}

/// Finds the steps, with concurrent work on ranks.
pub fn windows_by(views: &[View<'_>], joined: &Joined, workers: &impl Workers) -> Windows {
    let mut warnings = Vec::new();
    let extents: Vec<(i64, i64)> = views.iter().filter_map(View::extent).collect();
    let Some(common) = common(&extents, &mut warnings) else {
        let nothing = Warning::new("nothing-recorded", "no rank has device activities or host operators");
        return Windows {
            cut_by: CutBy::Nothing,
            common: (0, 0),
            steps: Vec::new(),
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            added: 0,
            warnings: vec![nothing],
        };
    };
    for (cut_by, cutter) in cut::METHODS {
        let cut = |member: usize, view: &View<'_>| {
            let mut boundaries = cutter(view);
            match (cut_by, views.len()) {
                (CutBy::Launches, 1) => heads::include(view, &mut boundaries),
                (CutBy::Launches, _) => heads::include_loading(view, &mut boundaries),
                _ => {}
            }
            let is_open = meet::is_open(view, &boundaries);
            Some(meet::Cut { member, extent: view.extent()?, boundaries, is_open })
        };
        let mut cuts: Vec<meet::Cut> = workers.map(views, cut).into_iter().flatten().collect();
        if cut_by == CutBy::Optimizer {
            meet::drop_open(&mut cuts);
        }
        if cut_by == CutBy::InferenceSteps
            && let Some(reference) = crate::serving::reference(views)
        {
            meet::number_alike(&mut cuts, reference);
        }
        if let Some(meet::Met { mut steps, spread, left_out }) = meet::meet(&cuts) {
            warnings.extend(meet::doubts(views, &cuts, &steps, &left_out));
            let at_collective = collectives::settle(&mut steps, spread, &joined.matching);
            let warm_up = Vec::new();
            return Windows { cut_by, common, steps, warm_up, at_collective, spread, added: 0, warnings };
        }
    }
    let ranks = views.iter().enumerate().filter(|(_, view)| !view.from_host);
    let ranks: Vec<_> =
        ranks.filter_map(|(member, view)| Some((member, view.trace, view.extent()?))).collect();
    if let Some(cuts) = repetition::cuts(&ranks)
        && let Some(meet::Met { mut steps, spread, .. }) = meet::meet(&cuts)
    {
        let at_collective = collectives::settle(&mut steps, spread, &joined.matching);
        warnings.push(inferred_warning("the same kernels repeat, some of them once per step", steps.len()));
        let (cut_by, warm_up) = (CutBy::Repetition, Vec::new());
        return Windows { cut_by, common, steps, warm_up, at_collective, spread, added: 0, warnings };
    }
    if let Some(steps) = collectives::periods(views.iter().map(|view| view.trace), &joined.matching) {
        let cut_by = CutBy::Collectives;
        warnings.push(inferred_warning("a collective of all ranks repeats at equal intervals", steps.len()));
        let warm_up = Vec::new();
        return Windows {
            cut_by,
            common,
            steps,
            warm_up,
            at_collective: true,
            spread: 0,
            added: 0,
            warnings,
        };
    }
    warnings.push(Warning::new(
        "steps-not-found",
        "no step markers in the traces: the whole recording is one window",
    ));
    let steps = vec![StepWindow { number: None, start: common.0, end: common.1, without: Vec::new() }];
    let (cut_by, warm_up) = (CutBy::Nothing, Vec::new());
    Windows { cut_by, common, steps, warm_up, at_collective: false, spread: 0, added: 0, warnings }
}

/// Warning about inferred steps.
fn inferred_warning(because: &str, steps: usize) -> Warning {
    let steps = if steps == 1 { "one step".to_owned() } else { format!("{steps} steps") };
    Warning::new(
        "steps-guessed",
        format!(
            "the traces have no step markers; {steps} inferred because {because}: step boundaries are \
             uncertain"
        ),
    )
}

/// Time in which all ranks were recorded; the time of any rank if there is none.
fn common(extents: &[(i64, i64)], warnings: &mut Vec<Warning>) -> Option<(i64, i64)> {
    let latest = extents.iter().map(|extent| extent.0).max()?;
    let earliest = extents.iter().map(|extent| extent.1).min()?;
    if latest < earliest {
        return Some((latest, earliest));
    }
    warnings.push(Warning::new(
        "ranks-do-not-overlap",
        "the recordings of the ranks do not overlap: they may be traces of different steps or jobs, or have \
         unaligned clocks",
    ));
    Some((extents.iter().map(|e| e.0).min()?, extents.iter().map(|e| e.1).max()?))
}

#[cfg(test)]
mod tests;
