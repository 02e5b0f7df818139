//! Published pre-training of a model as the default of searches, cluster sizes and network designs.
//!
//! Responsible for: the default sequence length of every setting, and one batch for all of them. Excludes layouts.

use crate::Refused;
use crate::question::Question;
use crate::setting::Setting;
use railwright_spec::model::{PublishedTraining, published_training};
use railwright_spec::plan::{Plan, PlanSpec, divided_batch, divisible_batch, is_divided};
use railwright_spec::problem::Problem;

/// Sequences of the published batch. For another sequence length, the number with equal tokens, rounded to one with many divisors.
pub(crate) fn sequences(training: &PublishedTraining, length: u64) -> u64 {
    if training.sequence_length == length {
        return training.global_batch;
    }
    let tokens = training.global_batch.saturating_mul(training.sequence_length);
    divisible_batch(tokens as f64, length, 1024)
}

/// Published batch on a number of devices, rounded to the nearest that divides among them.
pub fn published_batch(training: &PublishedTraining, length: u64, devices: u64) -> u64 {
    let wanted = sequences(training, length);
    if is_divided(wanted, devices) { wanted } else { divided_batch(wanted, &[devices]).unwrap_or(wanted) }
}

/// A question with the published sequence length.
pub(crate) struct Published<'a> {
    asked: &'a dyn Question,
    settings: Vec<Setting>,
    pub(crate) training: &'static PublishedTraining,
}

impl<'a> Published<'a> {
    /// Published training of a question's model; `None` without one. A specified sequence length is kept.
    pub(crate) fn of(asked: &'a dyn Question) -> Option<Self> {
        let first = asked.settings().first()?;
        let training = published_training(&first.run.model)?;
        let settings = asked.settings().iter().map(|setting| at_length(setting.clone(), training)).collect();
        Some(Self { asked, settings, training })
    }
}

fn at_length(mut setting: Setting, training: &PublishedTraining) -> Setting {
    let plan = &mut setting.spec.plan;
    *plan =
        PlanSpec { sequence_length: plan.sequence_length.or(Some(training.sequence_length)), ..plan.clone() };
    setting
}

impl Question for Published<'_> {
    fn settings(&self) -> &[Setting] {
        &self.settings
    }

    fn has_devices(&self) -> bool {
        self.asked.has_devices()
    }

    fn resized(&self, setting: &Setting, devices: u64) -> Result<Setting, Refused> {
        Ok(at_length(self.asked.resized(setting, devices)?, self.training))
    }

    fn command(&self, setting: &Setting, plan: &Plan) -> Result<String, Problem> {
        self.asked.command(setting, plan)
    }

    fn in_words_of_asker(&self, problem: Problem) -> Problem {
        self.asked.in_words_of_asker(problem)
    }

    fn frees(&self, key: &str) -> bool {
        self.asked.frees(key)
    }

    fn launch(&self) -> Option<String> {
        self.asked.launch()
    }
}
