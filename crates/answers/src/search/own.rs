//! Layout of a launch file among the results, and the free settings of the file.
//!
//! Responsible for: the row of the file's own layout, and its fixed settings as text. The front end opens the
//! file.

use super::Shown;
use super::rows::one;
use crate::Refused;
use crate::question::Question;
use railwright_tuner::search::{Candidate, Objective, Search, difference_band};
use railwright_tuner::tuning;

/// Layout of the launch file in each setting where it is possible, with rank 0.
pub(super) fn rows(
    asked: &dyn Question,
    searches: &[Search<'_>],
    indices: &[usize],
    all: &[(usize, Candidate)],
    objective: Objective,
    fastest: Option<&Candidate>,
) -> Result<Vec<Shown>, Refused> {
    let mut list = Vec::new();
    for (search, &index) in searches.iter().zip(indices) {
        let plan = asked.settings()[index].freed.as_ref().and_then(|freed| freed.own.clone());
        let Some(mut candidate) = plan.map(|plan| Candidate::of_plan(search, plan)).transpose()? else {
            continue;
        };
        let first = all.first().map_or_else(|| candidate.clone(), |(_, first)| first.clone());
        let reference = fastest.unwrap_or(&first);
        let band = difference_band(&reference.plan.software);
        candidate.tied_with_best = candidate.score(objective) <= reference.score(objective) * (1.0 + band);
        let mut shown = one(asked, &[(index, first), (index, candidate)], 1)?;
        shown.ranked.rank = 0;
        list.push(shown);
    }
    Ok(list)
}

/// Free and fixed settings of a launch file, as text; `None` without one.
pub(super) fn freed(asked: &dyn Question) -> Option<String> {
    let setting = asked.settings().iter().find(|setting| setting.freed.is_some())?;
    let own = setting.freed.as_ref()?.own.as_ref();
    let structural_keys = own.map(tuning::structural_keys).unwrap_or_default();
    let kept: Vec<&str> = structural_keys.into_iter().filter(|key| !asked.frees(key)).collect();
    let also = if kept.is_empty() {
        String::new()
    } else {
        format!(
            "; kept from the file, because changes rarely help: {} (`--free {}` searches them)",
            kept.join(", "),
            kept.join(",")
        )
    };
    let file = asked.launch().unwrap_or_else(|| "FILE".to_owned());
    Some(format!(
        "searched: parallel sizes, stages, micro-batch, sharding, recompute, overlap; fixed: model, data, \
         batch, sequence, precision, software{also}. `railwright tune {file} --cluster {} --diff` writes a \
         layout into the file",
        setting.word
    ))
}
