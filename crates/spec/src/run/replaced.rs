//! Settings of an earlier layer that a later layer replaces through a different key.
//!
//! Responsible for: keys that depend on others. A run file with `precision.compute` and a flag `--precision`
//! have no key in common, but the flag takes precedence.

use super::{RunSpec, Section};
use crate::plan::PlanSpec;

/// Keys of a plan that set the batch; any one is enough.
const BATCH: [&str; 3] = ["global_batch", "micro_batches", "batch_tokens"];
/// Parallel sizes that determine data parallelism for a number of devices.
const DEGREES: [&str; 3] = ["tensor_parallel", "pipeline_parallel", "context_parallel"];
/// Keys that a division of the layers depends on.
const STAGES: [&str; 3] = ["pipeline_parallel", "virtual_stages", "schedule"];
const OF_STAGES: [&str; 2] = ["layers_per_stage", "stage_recompute"];
const PRECISION: &str = "precision.preset";

impl PlanSpec {
    /// Clears settings that a later layer replaces. `later` are the keys that it sets, inside the section.
    /// Returns the cleared keys.
    ///
    /// A batch replaces a batch under any of its three keys, and a precision preset replaces all formats.
    /// A new number of stages or virtual stages, or a new schedule, clears the assignment of the layers;
    /// an uneven one stays uneven. If the devices are set (`has_devices`), parallel sizes clear the
    /// data-parallel size, which then follows from them.
    pub fn clear_replaced(&mut self, later: &[&str], has_devices: bool) -> Vec<&'static str> {
        let sets = |name: &str| later.contains(&name);
        let any = |names: &[&str]| names.iter().any(|name| sets(name));
        let is_replaced = |name: &str| match name {
            "data_parallel" => has_devices && any(&DEGREES),
            _ if BATCH.contains(&name) => any(&BATCH),
            _ if OF_STAGES.contains(&name) => any(&STAGES),
            _ => name != PRECISION && name.starts_with("precision.") && sets(PRECISION),
        };
        let mut lost = Vec::new();
        let divided = self.layers_per_stage.clone();
        for key in Self::KEYS {
            if is_replaced(key.name) && !sets(key.name) && self.get(key.name).is_some() {
                self.clear(key.name);
                lost.push(key.name);
            }
        }
        // An uneven division remains allowed to be uneven.
        let was_uneven = divided.is_some_and(|layers| layers.windows(2).any(|pair| pair[0] != pair[1]));
        if was_uneven && self.layers_per_stage.is_none() && !sets("uneven_stages") {
            self.uneven_stages.get_or_insert(true);
        }
        lost
    }
}

impl RunSpec {
    /// Clears replaced settings of a whole run. `later` are full paths (`plan.tensor_parallel`). Another
    /// number of devices also clears the data-parallel size.
    pub fn clear_replaced(&mut self, later: &[&str]) -> Vec<&'static str> {
        let of_plan: Vec<&str> = later.iter().filter_map(|path| path.strip_prefix("plan.")).collect();
        let sets_devices = later.contains(&"cluster.devices");
        let mut lost = self.plan.clear_replaced(&of_plan, sets_devices || self.cluster.devices.is_some());
        if sets_devices && !of_plan.contains(&"data_parallel") && self.plan.data_parallel.take().is_some() {
            lost.push("data_parallel");
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::parse;

    fn saved() -> RunSpec {
        let text = "[model]\nname = 'llama-3-8b'\n[cluster]\npreset = 'dgx-h100'\ndevices = 64\n[plan]\ntensor_parallel = 8\n\
            pipeline_parallel = 2\ndata_parallel = 4\nlayers_per_stage = [17, 15]\nmicro_batch = 1\nglobal_batch = 64\n\
            sequence_length = 8192\nprecision.compute = 'bf16'\nprecision.gradients = 'bf16'\n";
        parse(text, "run.toml").expect("a run")
    }

    fn with(settings: &[&str]) -> (RunSpec, Vec<&'static str>) {
        let mut spec = saved();
        let paths: Vec<&str> = settings.iter().filter_map(|set| Some(set.split_once('=')?.0)).collect();
        let lost = spec.clear_replaced(&paths);
        for set in settings {
            spec.set(set).expect("a setting");
        }
        (spec, lost)
    }

    #[test]
    fn a_later_layer_decides_under_other_keys_too() {
        let none = |path: &str| Err(crate::problem::Problem::new(format!("no {path}")));
        let (spec, lost) = with(&["plan.pipeline_parallel=4"]);
        let plan = spec.resolve(none).expect("possible").plan;
        assert_eq!((plan.data_parallel, plan.layers_per_stage), (2, None), "32 layers on 4 stages");
        assert_eq!(lost, ["data_parallel", "layers_per_stage"]);
        let (spec, lost) = with(&["plan.precision.preset=fp8"]);
        assert_eq!(lost, ["precision.compute", "precision.gradients"]);
        assert_eq!(spec.resolve(none).expect("possible").plan.precision.compute.name(), "fp8");
        let (spec, lost) = with(&["cluster.devices=128"]);
        assert_eq!(
            (spec.resolve(none).expect("possible").plan.data_parallel, lost),
            (8, vec!["data_parallel"])
        );
        let (spec, _) = with(&["plan.micro_batches=8"]);
        assert_eq!(spec.resolve(none).expect("possible").plan.global_batch, 32);
    }

    #[test]
    fn what_the_later_layer_sets_itself_and_what_it_does_not_touch_stays() {
        assert_eq!(with(&["plan.overlap.tensor=false"]).1, [""; 0]);
        let (spec, lost) = with(&[
            "plan.precision.preset=fp8",
            "plan.precision.gradients=fp32",
            "plan.precision.compute=fp8",
        ]);
        assert!(lost.is_empty() && spec.plan.precision_gradients.is_some());
        // Without a number of devices, the parallel sizes determine it.
        let mut open = saved();
        open.cluster.devices = None;
        assert!(open.clear_replaced(&["plan.tensor_parallel"]).is_empty());
    }
}
