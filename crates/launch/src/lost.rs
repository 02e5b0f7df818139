//! Settings that a written file lacks, found by reading it back.
//!
//! Responsible for: the list of keys that a format could not express, complete by construction: every
//! difference after reading the file is lost. Writers provide a table of reasons.

use crate::{Lost, Reader, differences};
use railwright_spec::cluster::by_name;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::run::{Run, Section, Value};

/// The remark on settings of vision models.
pub(crate) const TOWER_IS_LEFT_OUT: &str =
    "only the language model is estimated, without vision tower and projector";

/// The remark on distillation.
pub(crate) const TEACHER: &str = "a teacher's forward pass and memory are not modelled: a lower bound";

/// Keys that a format cannot express, and why.
pub(crate) type Reasons = &'static [(&'static str, &'static str)];

/// All differences between the plan and the one that `reader` reads from a written text.
pub(crate) fn lost(reader: &dyn Reader, text: &str, name: &str, run: &Run, reasons: Reasons) -> Vec<Lost> {
    let mut nodes = None;
    let back = match reader.read(text, name) {
        Ok(launch) => {
            nodes = launch.spec.cluster.devices_per_node;
            launch.spec.plan.resolve(&run.model, &run.cluster)
        }
        Err(problems) => match problems.into_iter().next() {
            Some(problem) => Err(problem),
            None => return Vec::new(),
        },
    };
    let back = match back {
        Ok(back) => back,
        Err(problem) => {
            let message = format!("the written file cannot be read back: {problem}");
            return vec![Lost { key: "plan".to_owned(), message }];
        }
    };
    let unset = nodes.is_none().then(|| lost_nodes(run)).flatten();
    let lost = differences(&run.plan, &back).into_iter().map(|key| {
        let holds = shown(&back, &key);
        let why = reasons.iter().find(|(known, _)| *known == key).map(|(_, why)| *why);
        let message = match why {
            _ if holds == shown(&run.plan, &key) => {
                format!("{holds} is set, but other settings that are not expressible change its effect")
            }
            Some(why) => format!("{why}; {holds} applies instead of {}", shown(&run.plan, &key)),
            None => format!("{} is not expressible; {holds} applies instead", shown(&run.plan, &key)),
        };
        Lost { key, message }
    });
    lost.chain(unset).collect()
}

/// The warning that a file does not hold the devices of a node, where they differ from those of the cluster's
/// preset: a reader takes the latter.
fn lost_nodes(run: &Run) -> Option<Lost> {
    let cluster = &run.cluster;
    let own = cluster.devices_per_node;
    let usual = [&cluster.name, &cluster.accelerator.id]
        .into_iter()
        .find_map(|name| by_name(name, cluster.devices).ok())
        .map(|preset| preset.devices_per_node)?;
    (usual != own && cluster.devices > own.min(usual)).then(|| Lost {
        key: "cluster.devices_per_node".to_owned(),
        message: format!("the file does not set the devices of a node; {usual} apply instead of {own}"),
    })
}

fn shown(plan: &Plan, key: &str) -> String {
    let value = PlanSpec::from_plan(plan).get(key.trim_start_matches("plan."));
    value.as_ref().map_or_else(
        || "nothing".to_owned(),
        |value| match value {
            Value::Text(text) => format!("`{text}`"),
            value => format!("`{}`", value.to_toml()),
        },
    )
}
