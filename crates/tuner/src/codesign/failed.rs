//! Steps of a plan on a network with failed parts, relative to that of the whole network.
//!
//! Responsible for: simulating a plan without given parts, as `network simulate --fail` does. Does not know
//! how often parts fail.

use super::judge::{MOST_FLOWS, simulated_step_on};
use crate::simulate::Extent;
use railwright_network::failures::state::Part as Numbered;
use railwright_network::failures::{Class, Recovery, classes};
use railwright_network::simulate::{Part, Wiring};
use railwright_network::topology::Design;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;
use std::ops::ControlFlow;

/// A run on a design whose parts fail.
pub struct FailedParts<'a> {
    design: &'a Design,
    run: &'a Run,
    recovery: Recovery,
    whole: Seconds,
    classes: Vec<Class>,
    watch: &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>,
}

impl<'a> FailedParts<'a> {
    /// `None` if the run has no simulated step on the whole design.
    pub fn new(
        design: &'a Design,
        run: &'a Run,
        recovery: Recovery,
        watch: &'a mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Option<Self> {
        let classes = classes(design);
        let mut parts = Self { design, run, recovery, whole: Seconds::ZERO, classes, watch };
        parts.whole = parts.step(&[])?;
        Some(parts)
    }

    /// Factor of the step without some parts. `None` if it cannot be simulated: the parts have no place in
    /// the wiring, the step does not finish, or the simulation has too many flows.
    pub fn factor(&mut self, parts: &[Numbered]) -> Option<f64> {
        let parts: Option<Vec<Part>> =
            parts.iter().map(|part| Part::of_failures(*part, self.design)).collect();
        Some(self.step(&parts?)? / self.whole)
    }

    /// Factor of the step without the first part of a class. `None` as well if parts of that name have
    /// several places, so that the first is one of another class.
    pub fn of_class(&mut self, class: &Class) -> Option<f64> {
        let is_alone = self.classes.iter().filter(|other| other.part == class.part).count() == 1;
        if is_alone { self.factor(&[Numbered { class: class.part, number: 0 }]) } else { None }
    }

    fn step(&mut self, failed: &[Part]) -> Option<Seconds> {
        let run = self.run;
        let fed = self.design.clone().fed(run.cluster.device_limit());
        let wiring = Wiring::new(&fed, failed).ok()?.recovering(self.recovery);
        let extent = Extent { most_flows: MOST_FLOWS, ..Extent::WHOLE };
        let plan = (&run.model, &run.cluster, &run.plan);
        let ([_, median, _], _) =
            simulated_step_on(plan, (self.design, wiring), extent, self.watch).ok()??;
        Some(median)
    }
}
