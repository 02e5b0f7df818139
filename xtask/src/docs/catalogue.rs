//! The catalogue as reference pages.

use railwright_calculator::software;
use railwright_spec::precision::DataType;
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::{cluster, human, model};
use std::fmt::Write as _;

const MADE: &str = "<!-- Made by `cargo run -p xtask -- docs`; edit the catalogue instead. -->\n";

/// Text that cannot end a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// `docs/reference/models.md`.
pub(super) fn models() -> Result<String, String> {
    let mut out = format!(
        "{MADE}# Models of the catalogue\n\n\
         `parameters` counts everything, a tied embedding once, without multi-token prediction; `active` counts the parameters that\n\
         one token uses, including the input embedding. The files are in `catalog/models`; `railwright models show NAME` shows every matrix.\n\n\
         | model | parameters | active | layers | hidden | vocabulary | family | source |\n\
         | --- | --: | --: | --: | --: | --: | --- | --- |\n"
    );
    for entry in model::catalogue() {
        let model = model::by_name(entry.name).map_err(|p| p.to_string())?;
        let count = model.parameters();
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
            entry.name,
            human::whole(count.total),
            human::whole(count.active),
            model.num_layers(),
            model.hidden_size,
            model.vocabulary,
            entry.family,
            cell(&entry.source)
        );
    }
    Ok(out)
}

/// `docs/reference/accelerators.md`.
pub(super) fn accelerators() -> String {
    let mut out = format!(
        "{MADE}# Accelerators of the catalogue\n\n\
         Values per rank. Peaks are dense; bandwidths are decimal and in one direction; memory is the value that the device reports.\n\
         The table is `catalog/accelerators.csv`; `railwright gpus show NAME` shows every figure with its source.\n\n\
         | accelerator | memory | memory bandwidth | bf16 | fp8 | scale-up | power | dollars an hour | year |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n"
    );
    let links = |rate: BytesPerSecond| if rate.get() > 0.0 { human::bandwidth(rate) } else { String::new() };
    for a in cluster::accelerators() {
        let rate = |format| a.peak_rate(format).map(human::flop_rate).unwrap_or_default();
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            a.id,
            human::bytes(a.memory),
            human::bandwidth(a.memory_bandwidth),
            rate(DataType::Bf16),
            rate(DataType::Fp8),
            links(a.scale_up_bandwidth),
            a.power.map(human::watts).unwrap_or_default(),
            a.price.as_ref().map(|p| human::dollars(p.typical)).unwrap_or_default(),
            a.year
        );
    }
    out
}

/// `docs/reference/clusters.md`.
pub(super) fn clusters() -> Result<String, String> {
    let mut out = format!(
        "{MADE}# Clusters of the catalogue\n\n\
         Bandwidths are per device, decimal and in one direction. The files are in `catalog/clusters`, in the keys of a run file's\n\
         section `cluster`.\n\n\
         Instance types of public clouds are other names of their cluster. Those with a published price have the list price of their provider\n\
         (`catalog/clusters/instances.csv`); all other clusters have the typical price of their accelerator.\n\n\
         | cluster | instance types | accelerator | devices a node | scale-up domain | scale-up | network | source |\n\
         | --- | --- | --- | --: | --: | --: | --- | --- |\n"
    );
    for name in cluster::preset_names() {
        let c = cluster::by_name(name, 1024).map_err(|p| p.to_string())?;
        let rented = cluster::instances().iter().find(|instance| instance.cluster == name);
        let types = rented.map_or_else(String::new, |instance| {
            instance.types.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        });
        let _ = writeln!(
            out,
            "| `{name}` | {types} | `{}` | {} | {} | {} {} | {} {} | {} |",
            c.accelerator.id,
            c.devices_per_node,
            c.scale_up.domain_size,
            cell(&c.scale_up.link),
            human::bandwidth(c.scale_up.bandwidth),
            cell(&c.network.kind),
            human::bandwidth(c.network.bandwidth),
            cell(&c.source)
        );
    }
    Ok(out)
}

/// `docs/reference/software.md`.
pub(super) fn software() -> String {
    let mut out = format!(
        "{MADE}# Software generations\n\n\
         Values of `plan.software`. The constants are in `catalog/software.toml` (time) and `catalog/memory.toml` (memory);\n\
         [Calibration](../concepts/calibration.md) explains their meaning and origin.\n\n\
         | generation | description | origin of its constants |\n| --- | --- | --- |\n"
    );
    for generation in software::generations() {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} |",
            generation.id,
            cell(&generation.name),
            cell(&generation.source)
        );
    }
    out
}
