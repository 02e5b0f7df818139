//! Rows of a search's answer: candidates in order, or along a Pareto front, with their figures.

use super::Shown;
use crate::Refused;
use crate::question::Question;
use crate::searcher::SearchResults;
use railwright_calculator::estimate::EstimateOptions;
use railwright_tuner::ranking;
use railwright_tuner::search::{Candidate, Objective, Options, Runners, Search, front, mark_ties};

/// Maximum number of tied first rows that a timeline times again.
const RETIMED: usize = 3;

/// All candidates, best first, or the Pareto front, with ties marked.
pub(super) fn candidates(
    searches: &[Search<'_>],
    indices: &[usize],
    ran: &[SearchResults],
    simulated: Vec<Option<Runners>>,
    options: &Options,
    pareto: Option<(Objective, Objective)>,
    chosen: &mut Vec<String>,
) -> Vec<(usize, Candidate)> {
    let mut all: Vec<(usize, Candidate)> = Vec::new();
    for (((search, &index), ran), runners) in searches.iter().zip(indices).zip(ran).zip(simulated) {
        let outcome = match runners {
            Some(runners) => search.outcome_of(&ran.results, runners.candidates),
            None => search.outcome(&ran.results),
        };
        all.extend(outcome.candidates.into_iter().map(|candidate| (index, candidate)));
        all.extend(outcome.front.into_iter().map(|candidate| (index, candidate)));
        for words in outcome.chosen {
            if !chosen.contains(&words) {
                chosen.push(words);
            }
        }
    }
    let objective = options.objective;
    all.sort_by(|(i, a), (j, b)| {
        let by = |objective| a.score(objective).total_cmp(&b.score(objective));
        by(objective).then(by(Objective::Time)).then(a.devices.cmp(&b.devices)).then(i.cmp(j))
    });
    if let Some((first, second)) = pareto {
        let plain: Vec<Candidate> = all.iter().map(|(_, candidate)| candidate.clone()).collect();
        let chosen = front(&plain, first, second);
        return chosen
            .into_iter()
            .filter_map(|one| {
                let index = all.iter().find(|(_, other)| *other == one)?.0;
                Some((index, one))
            })
            .collect();
    }
    let mut plain: Vec<Candidate> = all.iter().map(|(_, candidate)| candidate.clone()).collect();
    mark_ties(&mut plain, objective);
    all.into_iter().map(|(index, _)| index).zip(plain).collect()
}

/// Positions of the shown rows: the first ones, or spread along a Pareto front with both of its ends.
pub(super) fn positions(found: usize, top: usize, is_front: bool) -> Vec<usize> {
    let shown = found.min(top);
    if is_front && shown > 1 {
        (0..shown).map(|index| index * (found - 1) / (shown - 1)).collect()
    } else {
        (0..shown).collect()
    }
}

pub(super) fn shown(
    asked: &dyn Question,
    all: &[(usize, Candidate)],
    positions: Vec<usize>,
    is_simulated: bool,
) -> Result<Vec<Shown>, Refused> {
    let mut list = Vec::new();
    for position in positions {
        let mut shown = one(asked, all, position)?;
        let candidate = &shown.ranked.candidate;
        // The timeline is in closed form, so simulated candidates are not timed again.
        if !is_simulated && (position == 0 || (position < RETIMED && candidate.tied_with_best)) {
            let run = &asked.settings()[shown.setting].run;
            shown.ranked.retimed =
                ranking::retime(&run.model, &run.cluster, &candidate.plan, candidate.step_time).ok();
        }
        list.push(shown);
    }
    Ok(list)
}

pub(super) fn one(
    asked: &dyn Question,
    all: &[(usize, Candidate)],
    position: usize,
) -> Result<Shown, Refused> {
    let (index, candidate) = &all[position];
    let setting = &asked.settings()[*index];
    let run = &setting.run;
    let options = EstimateOptions::of(run);
    let ranked = ranking::rank(position + 1, candidate, &all[0].1, &run.model, &run.cluster, &options)?;
    Ok(Shown {
        ranked,
        setting: *index,
        cluster: setting.word.clone(),
        layout: setting.layout(&candidate.plan),
        short_layout: setting.short_layout(&candidate.plan),
        command: asked.command(setting, &candidate.plan)?,
        run_file: setting.file(&candidate.plan).to_toml(),
    })
}
