//! Chips of a TPU with several devices of JAX.
//!
//! Responsible for: the kind of TPU that a text names, and meshes and batches of chips where JAX counts
//! devices. Clusters of this program have chips.

use crate::RemarkKind;
use crate::fields::Fields;

/// Beginnings of names of TPUs whose chips have two devices: v2 and v3 have two cores, v7x two chiplets
/// (MaxText, `accelerator_to_spec_map.py`; later chips before v7x are one device).
const TWO: [&str; 4] = ["tpu7x", "v7x", "v3", "v2"];

/// Tests whether a text names a TPU whose chips are two devices each, and notes it.
pub(super) fn of_two_devices(fields: &mut Fields<'_>) -> bool {
    let Some(name) = named(fields.text()) else { return false };
    let message = "a chip of this TPU is two devices of JAX: batches and meshes are read per device and estimated per chip";
    fields.draft.remark(RemarkKind::Assumed, &name, None, message);
    true
}

/// The first name of such a TPU in a text: `tpu7x-4x8x8`, `tpu-v3-slice`, `v3-128`.
fn named(text: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'=:,;(){}[]/".contains(c);
    // Comments name other TPUs.
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| line.split(is_end)).find_map(|word| {
        let lower = word.to_ascii_lowercase();
        let bare = lower.strip_prefix("tpu-").unwrap_or(&lower);
        TWO.iter()
            .any(|name| {
                bare.strip_prefix(name).is_some_and(|rest| {
                    let is_old = name.len() == 2;
                    let size = rest.strip_prefix('-').unwrap_or_default();
                    let is_slice = size.starts_with(|c: char| c.is_ascii_digit())
                        || matches!(size, "slice" | "device" | "podslice");
                    is_slice || (rest.is_empty() && !is_old)
                })
            })
            .then(|| word.to_owned())
    })
}

/// The chips of the topology that a program is compiled for, `v5p-128`: names count cores, of which the chips
/// of v2 to v5p have two, and v5e and v6e one (MaxText, `accelerator_to_spec_map.py`).
pub(super) fn of_topology(fields: &mut Fields<'_>) {
    let path = "compile_topology";
    // base.yml: no topology, and -1 slices.
    let slices = fields.integer("compile_topology_num_slices").and_then(|n| u64::try_from(n).ok());
    let slices = slices.filter(|&n| n > 0).unwrap_or(1);
    let Some(name) = fields.word(path).filter(|name| !name.is_empty()) else { return };
    let chips = |(kind, size): (&str, &str)| {
        let cores: u64 = size.parse().ok()?;
        match kind {
            "v2" | "v3" | "v4" | "v5p" => Some(cores / 2),
            "v5e" | "v6e" => Some(cores),
            _ => None,
        }
    };
    if let Some(chips) = name.split_once('-').and_then(chips).filter(|&chips| chips > 0) {
        fields.set("cluster.devices", &chips.saturating_mul(slices), path);
    } else {
        let (source, line) = fields.source(path);
        fields.draft.leave_open("cluster.devices", &source, line, "not a known topology");
        fields.remark(RemarkKind::Unresolved, path, "not a known topology: pass --gpus");
    }
}

/// Halves one of the axes that replicate or shard. True if an axis takes the remaining devices, which needs
/// no change.
pub(super) fn halved(axes: [&mut Result<u64, ()>; 2]) -> bool {
    if axes.iter().any(|axis| axis.is_err()) {
        return true;
    }
    for axis in axes {
        if let Ok(ranks) = axis
            && ranks.is_multiple_of(2)
        {
            *ranks /= 2;
            return true;
        }
    }
    false
}

/// Leaves the mesh open if no axis of it can be one of chips.
pub(super) fn stay_open(fields: &mut Fields<'_>) {
    let why = "the axes are divided among two devices of a chip";
    for key in ["plan.tensor_parallel", "plan.data_parallel", "cluster.devices"] {
        fields.draft.leave_open(key, "", None, why);
    }
}

#[cfg(test)]
mod tests {
    use super::{halved, named};

    #[test]
    fn tpus_with_two_devices_a_chip_are_known_by_their_names() {
        for text in [
            "--device-type=tpu7x-4x8x8",
            "gke-tpu-accelerator: tpu7x",
            "--tpu-type=v3-256",
            "x: tpu-v3-slice",
        ] {
            assert!(named(text).is_some(), "{text}");
        }
        for text in
            ["--tpu-type=v5p-256", "x: tpu-v4-podslice", "model_v3", "# tpu7x", "llama-v2-7b", "deepseek-v3"]
        {
            assert_eq!(named(text), None, "{text}");
        }
    }

    #[test]
    fn an_axis_of_chips_has_half_the_devices() {
        let (mut data, mut fsdp) = (Ok(1), Ok(128));
        assert!(halved([&mut data, &mut fsdp]));
        assert_eq!((data, fsdp), (Ok(1), Ok(64)));
        assert!(!halved([&mut Ok(1), &mut Ok(1)]));
        assert!(halved([&mut Ok(1), &mut Err(())]));
    }
}
