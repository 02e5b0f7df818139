//! `--why-not tp=8,pp=4`: the best strategy with these settings, compared with the winner.

use super::batches::plan_of;
use crate::Refused;
use crate::names::plan_key;
use crate::question::Question;
use crate::searcher::Searcher;
use crate::setting::Setting;
use railwright_spec::human;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::Problem;
use railwright_spec::run::Section as _;
use railwright_spec::software::FrontEnd;
use railwright_tuner::search::{Candidate, DIMENSIONS, Options, Space};
use railwright_tuner::why_not::{WhyNot, against, too_large};
use serde::Serialize;

/// Settings of a requested layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    text: String,
    /// Keys of `plan` with their values.
    pins: Vec<(String, String)>,
}

/// Result for a requested layout: the reason why it is not the best.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// Requested settings, as written.
    #[serde(rename = "named")]
    pub text: String,
    /// Reason why it is not first.
    #[serde(rename = "why_not")]
    pub verdict: WhyNot,
    /// Examined layout, as flags; `None` if none is possible.
    pub layout: String,
    /// Reason why the layout is outside the search space; `None` if it is inside.
    pub outside: Option<String>,
}

const PLACE: &str = "--why-not";

impl Named {
    /// Parses settings such as `tp=8,pp=4,recompute=selective:norm,mlp`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut pins: Vec<(String, String)> = Vec::new();
        for part in text.split(',') {
            if let Some((word, value)) = part.split_once('=') {
                let key = plan_key(word.trim()).map_err(|problem| problem.in_file(PLACE))?;
                pins.push((key, value.trim().to_owned()));
            } else if let Some((_, value)) = pins.last_mut() {
                // A comma inside a value, as in `recompute=selective:norm,mlp`.
                value.push(',');
                value.push_str(part.trim());
            } else {
                let problem = Problem::new(format!("`{}` has no `=`", human::shorten(text)));
                return Err(problem.in_file(PLACE).hint("use --why-not tp=8,pp=4"));
            }
        }
        Ok(Self { text: text.to_owned(), pins })
    }

    /// Searches with the settings fixed, in the first setting (or the winner's), and compares.
    pub(super) fn answer(
        &self,
        asked: &dyn Question,
        searcher: &Searcher<'_>,
        batches: &[Option<u64>],
        options: &Options,
        best: Option<(usize, &Candidate)>,
    ) -> Result<Answer, Refused> {
        let index = best.map_or(0, |(index, _)| index);
        let Some(setting) = asked.settings().get(index) else {
            return Err(Problem::new("no cluster is set").into());
        };
        let mut spec = setting.spec.clone();
        for (key, value) in &self.pins {
            spec.set_flag(PLACE, &format!("plan.{key}"), value)?;
        }
        let named = Setting {
            word: setting.word.clone(),
            spec,
            run: setting.run.clone(),
            freed: setting.freed.clone(),
        };
        let keys: Vec<&str> = self.pins.iter().map(|(key, _)| key.as_str()).collect();
        let batch = if keys.contains(&"global_batch") { None } else { batches[index] };
        let plan = plan_of(&named, batch);
        let answer = |verdict, layout, outside| Answer { text: self.text.clone(), verdict, layout, outside };
        let impossible = |problems: Vec<Problem>| {
            let problems = problems.into_iter().map(|problem| asked.in_words_of_asker(problem)).collect();
            answer(WhyNot::Impossible { problems }, String::new(), None)
        };
        let search = match searcher.prepare_but(&named, &plan, Options { keep: 1, ..*options }, &keys) {
            Ok(search) => search,
            Err(problems) => return Ok(impossible(problems)),
        };
        let ran = searcher.run(std::slice::from_ref(&search));
        let Some(ran) = ran.first().filter(|ran| ran.is_complete) else {
            return Ok(answer(WhyNot::Unanswered, String::new(), None));
        };
        let outcome = search.outcome(&ran.results);
        if let Some(candidate) = outcome.candidates.first() {
            let verdict = against(candidate, best.map(|(_, winner)| winner));
            let outside = self.outside(searcher, setting, batches[index], &candidate.plan);
            return Ok(answer(verdict, setting.layout(&candidate.plan), outside));
        }
        if let Some(miss) = outcome.nearest_misses.first() {
            return Ok(answer(too_large(miss), setting.layout(&miss.plan), None));
        }
        let mut problems = self.indivisible(search.space.base.global_batch);
        if problems.is_empty() {
            problems = super::nothing::contradictions(&named, &plan, &[]);
        }
        if problems.is_empty() {
            problems.push(Problem::new("no valid layout has these values"));
        }
        Ok(impossible(problems))
    }

    /// Reason why a plan is outside the search space; `None` if it is inside.
    fn outside(
        &self,
        searcher: &Searcher<'_>,
        setting: &Setting,
        batch: Option<u64>,
        plan: &Plan,
    ) -> Option<String> {
        let specified = plan_of(setting, batch);
        let space = searcher.space(setting, &specified, &[]).ok()?;
        // Settings outside the search space have the value of the run, or the default.
        let full = (PlanSpec::from_plan(plan), PlanSpec::from_plan(&space.base));
        let differs = |key: &str| full.0.get(key) != full.1.get(key);
        // A preset such as `precision` reads back as its parts.
        let group = |key: &str| key.split('.').next().map(str::to_owned);
        let is_named = |key: &str| self.pins.iter().any(|(named, _)| group(key) == group(named));
        let searched =
            |key: &str| DIMENSIONS.contains(&key) || ["global_batch", "layers_per_stage"].contains(&key);
        let names = PlanSpec::KEYS.iter().map(|key| key.name);
        let fixed = names.into_iter().find(|key| !searched(key) && is_named(key) && differs(key));
        if let Some(key) = fixed {
            let was = full.1.get(key).map_or_else(|| "its default".to_owned(), |value| value.to_toml());
            return Some(format!("`{key}` is not searched: it is {was} in every layout"));
        }
        let key = space.contains(plan).err()?;
        let open = PlanSpec {
            software: specified.software.clone(),
            global_batch: Some(space.base.global_batch),
            sequence_length: Some(space.base.sequence_length),
            ..PlanSpec::default()
        };
        let (model, cluster) = (&setting.run.model, &setting.run.cluster);
        let is_within = |space: Result<Space, Problem>| space.is_ok_and(|space| space.contains(plan).is_ok());
        if !is_within(Space::new(&open, model, cluster)) {
            return Some(format!(
                "not searched: {} does not support this `{key}`, or the value is unusual; add --unlimited, or list the value in --space",
                plan.software
            ));
        }
        let narrows = |front: &&FrontEnd| !is_within(Space::through(front, &open, model, cluster));
        Some(match setting.spec.front_end().filter(narrows) {
            Some(front) => {
                format!("not searched: {} does not set this `{key}`; add --unlimited", front.title)
            }
            None => format!("not searched: `{key}` is fixed by a setting or restricted by --space"),
        })
    }

    /// Problems of requested sizes that do not divide the batch.
    fn indivisible(&self, batch: u64) -> Vec<Problem> {
        let of = |key: &str| {
            let (_, value) = self.pins.iter().find(|(named, _)| named == key)?;
            let divisor = value.parse::<u64>().ok().filter(|n| *n > 0 && !batch.is_multiple_of(*n))?;
            let sequences = human::whole(batch);
            Some(Problem::new(if key == "micro_batch" {
                format!("{sequences} sequences cannot be divided into micro-batches of {divisor}")
            } else {
                format!("{sequences} sequences cannot be divided among {divisor} replicas")
            }))
        };
        ["micro_batch", "data_parallel"].into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Named;

    #[test]
    fn pins_are_read_with_commas_inside_values() {
        let named = Named::parse("tp=8, recompute=selective:norm,mlp,pp=4").expect("fine");
        let pins: Vec<(&str, &str)> = named.pins.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            pins,
            [("tensor_parallel", "8"), ("recompute", "selective:norm,mlp"), ("pipeline_parallel", "4")]
        );
        assert!(Named::parse("8").is_err() && Named::parse("tpp=8").is_err());
    }
}
