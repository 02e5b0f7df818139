//! What-if analysis: effect of changes on a run, each alone and all combined, with a breakdown of the
//! difference.
//!
//! Responsible for: applying changes to one run (everything else is kept), pricing before and after with the
//! same models, and the breakdown of the difference. Does not search: a change that makes the plan invalid is
//! reported with the reason, and the others still apply. An invalid change (an unknown name, a value out of
//! range) is an error.

mod apply;
mod change;
mod changed;
mod evidence;
mod facts;
mod interaction;
mod names;
mod price;
mod result;
mod summary;

pub use apply::{Baseline, ReadConfig};
pub use change::Change;
pub use evidence::Evidence;
pub use facts::Moved;
pub use interaction::Interaction;
pub use result::{ChangeResult, Outcome, Possible};
pub(crate) use summary::parts;
pub use summary::{Difference, PartChange, Summary, TimePart, summarize};

use crate::search::difference_band;
use apply::{Refusal, apply};
use changed::Changed;
use railwright_calculator::memory::Fit;
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;
use summary::{Priced, difference};

/// A run with the effects of changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The model's name.
    pub model: String,
    /// The run without changes.
    pub before: Summary,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// Each change alone, in the given order.
    pub alone: Vec<ChangeResult>,
    /// All possible changes combined. `None` for fewer than two.
    pub together: Option<ChangeResult>,
    /// The key that two changes set to different values, so that they cannot be combined. `None` without a
    /// conflict.
    pub rivals: Option<String>,
    /// Relative difference of step times within which two runs tie: the error of the model between two
    /// layouts (68% of measured pairs).
    pub tie_band: f64,
    /// Combined gain compared with the individual gains. `None` without a combination.
    pub interaction: Option<Interaction>,
}

impl WhatIf {
    /// True if the MFU of some change is of another peak than that of the baseline: it does not change as
    /// throughput does.
    pub fn has_other_peaks(&self) -> bool {
        let possible = self.alone.iter().chain(&self.together).filter_map(ChangeResult::possible);
        let mut changes = possible.map(|possible| {
            let (before, after) = (&self.before, &possible.after);
            let faster = after.tokens_per_second_per_device / before.tokens_per_second_per_device;
            after.model_flop_utilisation / before.model_flop_utilisation / faster
        });
        changes.any(|ratio| (ratio - 1.0).abs() > 0.01)
    }
}

impl WhatIf {
    /// Result of all possible changes combined, or of the only one.
    pub fn whole(&self) -> Option<&ChangeResult> {
        self.together.as_ref().or_else(|| self.alone.first())
    }

    /// Verdict on the fit of the run with all changes; without it, the worst of all runs. An impossible
    /// change does not fit.
    pub fn fit(&self) -> Fit {
        let of = |rehearsal: &ChangeResult| {
            rehearsal.possible().map_or(Fit::DoesNotFit, |possible| possible.after.fit)
        };
        match &self.together {
            Some(together) if self.alone.iter().all(|rehearsal| rehearsal.possible().is_some()) => {
                of(together)
            }
            Some(_) => Fit::DoesNotFit,
            None => self.alone.iter().map(of).max().unwrap_or(Fit::Fits),
        }
    }
}

/// Compares a run with changes. Fails if the run before cannot be priced, and with all problems of invalid
/// changes. A change that makes the run impossible is an outcome.
pub fn rehearse(baseline: &Baseline<'_>, changes: &[Change]) -> Result<WhatIf, Vec<Problem>> {
    let unchanged = Changed { run: baseline.run.clone(), slow: Vec::new(), warnings: Vec::new() };
    let before = price::price(&unchanged, baseline.network).map_err(|problem| vec![problem])?;
    let run = |change: &Change| one(baseline, &before, change);
    let (mut alone, mut wrong) = (Vec::new(), Vec::new());
    for change in changes {
        match run(change) {
            Ok(rehearsal) => alone.push(rehearsal),
            Err(problems) => wrong.extend(problems),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let together = all_together(changes, &alone, run);
    let rivals = Change::together(changes).err();
    let interaction = together.as_ref().and_then(|together| interaction::of(&alone, together));
    Ok(WhatIf {
        model: baseline.run.model.name.clone(),
        before: before.summary,
        warnings: before.warnings,
        alone,
        together,
        rivals,
        tie_band: difference_band(&baseline.run.plan.software),
        interaction,
    })
}

/// The combination of all changes that are possible alone. `None` for fewer than two.
fn all_together(
    changes: &[Change],
    alone: &[ChangeResult],
    run: impl Fn(&Change) -> Result<ChangeResult, Vec<Problem>>,
) -> Option<ChangeResult> {
    let (possible, left_out): (Vec<_>, Vec<_>) =
        changes.iter().zip(alone).partition(|(_, rehearsal)| rehearsal.possible().is_some());
    if possible.len() < 2 {
        return None;
    }
    let possible: Vec<Change> = possible.into_iter().map(|(change, _)| change.clone()).collect();
    let mut rehearsal = match run(&Change::together(&possible).ok()?) {
        Ok(rehearsal) => rehearsal,
        // Each is valid alone: a stage that another change removes is not an input error.
        Err(problems) => impossible(String::new(), Vec::new(), problems),
    };
    "all together".clone_into(&mut rehearsal.name);
    if !left_out.is_empty() {
        "all valid changes together".clone_into(&mut rehearsal.name);
        let names: Vec<String> = left_out.iter().map(|(change, _)| format!("`{}`", change.name)).collect();
        rehearsal.notes.insert(0, format!("without {}, which is not valid alone", names.join(" and ")));
    }
    Some(rehearsal)
}

fn impossible(name: String, moved: Vec<Moved>, problems: Vec<Problem>) -> ChangeResult {
    let outcome = Outcome::Impossible { problems };
    ChangeResult { name, moved, evidence: None, notes: Vec::new(), outcome }
}

/// Result of one change; its problems if it is invalid.
fn one(baseline: &Baseline<'_>, before: &Priced, change: &Change) -> Result<ChangeResult, Vec<Problem>> {
    let name = change.name.clone();
    let changed: Changed = match apply(baseline, change) {
        Ok(changed) => changed,
        Err(Refusal::Wrong(problems)) => return Err(problems),
        Err(Refusal::Impossible(problems)) => return Ok(impossible(name, Vec::new(), problems)),
    };
    let moved = facts::moved(baseline.run, &changed.run);
    let priced = match price::price(&changed, baseline.network) {
        Ok(priced) => priced,
        Err(problem) => return Ok(impossible(name, moved, vec![problem])),
    };
    let difference = difference(before, &priced);
    let Priced { summary: after, warnings: doubts, mut notes, .. } = priced;
    let known = &before.warnings;
    if moved.is_empty() && changed.slow.is_empty() {
        notes.push("the run already has this value, so nothing changes".to_owned());
    } else if difference.step_time.get() == 0.0 && difference.memory.get() == 0.0 && !difference.rescaled {
        let price = difference.price_of_tokens.is_some_and(|share| share != 0.0);
        notes.push(format!(
            "no effect: step time and memory stay the same{}",
            if price { "; only the price changes" } else { "" }
        ));
    }
    if difference.rescaled {
        notes.push(format!(
            "a step has {} tokens instead of {}, so times are compared per token",
            railwright_spec::human::count(after.tokens_per_step as f64),
            railwright_spec::human::count(before.summary.tokens_per_step as f64)
        ));
    }
    let has = |list: &[Warning], id: &str| list.iter().any(|warning| warning.id == id);
    // A worse verdict on memory replaces the warning of the better one.
    let is_worse = after.fit > before.summary.fit;
    let remains = |w: &Warning| has(&doubts, &w.id) || (is_worse && w.id.starts_with("memory-"));
    let resolved = known.iter().filter(|w| !remains(w)).map(|w| w.id.clone()).collect();
    let warnings = doubts.into_iter().filter(|w| !has(known, &w.id)).collect();
    let evidence = if changed.slow.is_empty() { evidence::of(&moved) } else { None };
    let outcome = Outcome::Possible(Box::new(Possible { after, difference, warnings, resolved }));
    Ok(ChangeResult { name, moved, evidence, notes, outcome })
}

#[cfg(test)]
mod tests;
