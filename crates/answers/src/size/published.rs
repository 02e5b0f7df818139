//! The published pre-training of a model as the default of a sizing.
//!
//! Responsible for: the sequence length of every setting where none is specified. Does not choose layouts.

use crate::Refused;
use crate::question::Question;
use crate::setting::Setting;
use railwright_spec::model::{PublishedTraining, published_training};
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::Problem;

/// A question whose sequence length is the published one.
pub(super) struct Published<'a> {
    asked: &'a dyn Question,
    settings: Vec<Setting>,
    pub(super) training: &'static PublishedTraining,
}

impl<'a> Published<'a> {
    /// The published training of a question's model; `None` without one. A specified sequence length stays.
    pub(super) fn of(asked: &'a dyn Question) -> Option<Self> {
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
