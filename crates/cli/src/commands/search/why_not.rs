//! `--why-not tp=8,pp=4`: the best strategy with what was named, against the winner.

use super::said;
use crate::commands::best::Searcher;
use crate::commands::open_run::{Asked, Setting, plan_key};
use crate::exit::Failure;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_tuner::search::{Candidate, Options};
use railwright_tuner::why_not::{WhyNot, against, too_large};

/// What was named.
pub(crate) struct Question {
    text: String,
    /// Keys of `plan` and values.
    pins: Vec<(String, String)>,
}

/// What was named, and why it is not the answer.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) verdict: WhyNot,
    /// The layout that was judged, as flags.
    pub(crate) layout: String,
}

const PLACE: &str = "--why-not";

impl Question {
    /// From `tp=8,pp=4,recompute=selective:norm,mlp`.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
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
                return Err(problem.in_file(PLACE).hint("write --why-not tp=8,pp=4"));
            }
        }
        Ok(Self { text: text.to_owned(), pins })
    }

    /// Searches what has the pins, in the first setting (or the winner's), and compares.
    pub(crate) fn answer(
        &self,
        asked: &Asked<'_>,
        searcher: &Searcher<'_>,
        batches: &[Option<u64>],
        options: &Options,
        best: Option<(usize, &Candidate)>,
    ) -> Result<Answer, Failure> {
        let index = best.map_or(0, |(index, _)| index);
        let Some(setting) = asked.settings.get(index) else {
            return Err(Problem::new("no cluster is named").into());
        };
        let mut spec = setting.spec.clone();
        for (key, value) in &self.pins {
            spec.set_flag(PLACE, &format!("plan.{key}"), value)?;
        }
        let named = Setting { word: setting.word.clone(), spec, run: setting.run.clone() };
        let keys: Vec<&str> = self.pins.iter().map(|(key, _)| key.as_str()).collect();
        let batch = if keys.contains(&"global_batch") { None } else { batches[index] };
        let plan = said(&named, batch);
        let answer = |verdict, layout| Answer { text: self.text.clone(), verdict, layout };
        let impossible = |problems: Vec<Problem>| {
            let problems = problems.into_iter().map(|problem| asked.told(problem)).collect();
            answer(WhyNot::Impossible { problems }, String::new())
        };
        let search = match searcher.prepare_but(&named, &plan, Options { keep: 1, ..*options }, &keys) {
            Ok(search) => search,
            Err(problems) => return Ok(impossible(problems)),
        };
        let ran = searcher.run(std::slice::from_ref(&search));
        let Some(ran) = ran.first() else { return Ok(impossible(Vec::new())) };
        let outcome = search.outcome(&ran.results);
        if let Some(candidate) = outcome.candidates.first() {
            let verdict = against(candidate, best.map(|(_, winner)| winner));
            return Ok(answer(verdict, setting.layout(&candidate.plan)));
        }
        if let Some(miss) = outcome.nearest_misses.first() {
            return Ok(answer(too_large(miss), setting.layout(&miss.plan)));
        }
        let mut problems = super::nothing::contradictions(&named, &plan, &[]);
        if problems.is_empty() {
            problems.push(Problem::new("no strategy that is possible has it"));
        }
        Ok(impossible(problems))
    }
}

#[cfg(test)]
mod tests {
    use super::Question;

    #[test]
    fn pins_are_read_with_commas_inside_values() {
        let question = Question::parse("tp=8, recompute=selective:norm,mlp,pp=4").expect("fine");
        let pins: Vec<(&str, &str)> = question.pins.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            pins,
            [("tensor_parallel", "8"), ("recompute", "selective:norm,mlp"), ("pipeline_parallel", "4")]
        );
        assert!(Question::parse("8").is_err() && Question::parse("tpp=8").is_err());
    }
}
