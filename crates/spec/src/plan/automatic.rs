//! Precedence between the value of a parallel size and `auto`.
//!
//! Responsible for: a size set later replaces `auto`, and `auto` set later replaces a size.

use super::auto::is_auto;
use super::{AutoSize, PlanSpec};
use crate::problem::Problem;
use crate::run::{Section as _, Value};

impl PlanSpec {
    /// Tests whether a parallel size is left to the program explicitly.
    pub fn is_auto(&self, size: AutoSize) -> bool {
        self.auto.as_ref().is_some_and(|sizes| sizes.contains(&size))
    }

    /// Tests whether any parallel size is left to the program explicitly.
    pub fn has_auto(&self) -> bool {
        self.auto.as_ref().is_some_and(|sizes| !sizes.is_empty())
    }

    /// Sets a key after all others: `auto` and the list of automatic sizes replace values, and a value
    /// replaces `auto`. `None` without such a key.
    pub(crate) fn set_later(&mut self, name: &str, value: &Value) -> Option<Result<(), Problem>> {
        let size = AutoSize::of_key(name);
        if let Some(size) = size.filter(|_| is_auto(value)) {
            self.set_auto(size);
            return Some(Ok(()));
        }
        let done = self.set(name, value);
        if let (Some(size), Some(Ok(()))) = (size, &done) {
            self.end_auto(size);
        }
        for size in AutoSize::ALL {
            if self.is_auto(size) {
                self.clear(size.key());
            }
        }
        done
    }

    /// Leaves a parallel size to the program, in place of its value.
    fn set_auto(&mut self, size: AutoSize) {
        self.clear(size.key());
        let sizes = self.auto.get_or_insert_default();
        sizes.push(size);
        sizes.sort_unstable();
        sizes.dedup();
    }

    /// Ends the choice of the program for a size, after a value was set.
    fn end_auto(&mut self, size: AutoSize) {
        if let Some(sizes) = &mut self.auto {
            sizes.retain(|other| *other != size);
        }
        self.auto = self.auto.take().filter(|sizes| !sizes.is_empty());
    }

    /// Applies later settings: a size set later replaces `auto`, and `auto` set later replaces a size.
    pub(crate) fn overlay_sizes(&mut self, later: &Self) {
        let earlier = self.auto.take();
        self.overlay(later);
        self.auto = earlier;
        for size in AutoSize::ALL {
            if later.is_auto(size) {
                self.set_auto(size);
            } else if later.get(size.key()).is_some() {
                self.end_auto(size);
            }
        }
    }

    /// The same plan with 1 for every parallel size that is not set. Without an `auto`, all stay open.
    #[must_use]
    pub fn with_other_sizes_set(&self) -> Self {
        let mut set = self.clone();
        for size in AutoSize::ALL.into_iter().filter(|size| self.has_auto() && !self.is_auto(*size)) {
            let open = match size {
                AutoSize::Tensor => &mut set.tensor_parallel,
                AutoSize::Pipeline => &mut set.pipeline_parallel,
                AutoSize::Context => &mut set.context_parallel,
                AutoSize::Expert => &mut set.expert_parallel,
            };
            open.get_or_insert(1);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunSpec;

    fn spec(settings: &[&str]) -> RunSpec {
        let mut spec = RunSpec::default();
        for setting in settings {
            spec.set(setting).expect("valid");
        }
        spec
    }

    #[test]
    fn auto_replaces_a_size_and_a_size_replaces_auto() {
        let plan = spec(&["plan.tensor_parallel=8", "plan.tp=auto", "plan.cp=auto"]).plan;
        assert_eq!(
            (plan.tensor_parallel, plan.auto),
            (None, Some(vec![AutoSize::Tensor, AutoSize::Context]))
        );
        let plan = spec(&["plan.tensor_parallel=auto", "plan.tensor_parallel=4"]).plan;
        assert_eq!((plan.tensor_parallel, plan.auto), (Some(4), None));
        let plan = spec(&["plan.tensor_parallel=8", "plan.auto=tp"]).plan;
        assert_eq!((plan.tensor_parallel, plan.auto), (None, Some(vec![AutoSize::Tensor])));
    }

    #[test]
    fn later_settings_replace_earlier_ones_in_both_directions() {
        let mut file = spec(&["plan.pp=4", "plan.tp=auto", "plan.cp=2"]);
        file.overlay(&spec(&["plan.pp=auto", "plan.tp=2"]));
        assert_eq!(file.plan.auto, Some(vec![AutoSize::Pipeline]));
        let sizes = (file.plan.tensor_parallel, file.plan.pipeline_parallel, file.plan.context_parallel);
        assert_eq!(sizes, (Some(2), None, Some(2)));
    }

    #[test]
    fn the_list_and_the_value_are_the_same() {
        let list = spec(&["plan.auto=pp,tp"]);
        assert_eq!(list.plan.auto, spec(&["plan.tp=auto", "plan.pp=auto"]).plan.auto);
        let read = crate::run::parse(&list.to_toml(), "run.toml").expect("reads");
        assert_eq!(read.plan.auto, list.plan.auto);
        let value = crate::run::parse("[plan]\npipeline_parallel = \"auto\"\n", "run.toml");
        assert_eq!(value.expect("reads").plan.auto, Some(vec![AutoSize::Pipeline]));
    }

    #[test]
    fn sizes_that_are_neither_set_nor_auto_are_one() {
        let plan = spec(&["plan.tp=8", "plan.pp=auto"]).plan.with_other_sizes_set();
        let sizes =
            (plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel, plan.expert_parallel);
        assert_eq!(sizes, (Some(8), None, Some(1), Some(1)));
        assert_eq!(PlanSpec::default().with_other_sizes_set(), PlanSpec::default());
    }
}
