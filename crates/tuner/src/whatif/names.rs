//! Valid names in a change: keys of a run file, with or without their section, hardware parameters by their
//! data-sheet names, and slow members.
//!
//! Responsible for: mapping a word to its only meaning. Rejects ambiguous words.

use railwright_spec::problem::{Problem, nearest};
use railwright_spec::run::{Key, key, keys};

/// Meaning of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// A key of a run file, and the unit of a number without one.
    Key { key: Key, unit: &'static str },
    /// The number of servers.
    Nodes,
    /// A slow member.
    Slow { what: Slow, index: Option<u64> },
}

/// Kind of slow member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slow {
    /// All kernels of one device, by its rank.
    Rank,
    /// All kernels of the devices of one server.
    Node,
    /// All kernels of one pipeline stage.
    Stage,
    /// The host of one server.
    Host,
    /// The NICs of one server, or one of them.
    Nic,
    /// The scale-up links of one server's devices, or of one of them.
    ScaleUp,
}

const SLOW: [(&str, Slow); 8] = [
    ("slow.rank", Slow::Rank),
    ("slow.device", Slow::Rank),
    ("slow.node", Slow::Node),
    ("slow.stage", Slow::Stage),
    ("slow.host", Slow::Host),
    ("slow.nic", Slow::Nic),
    ("slow.scale_up", Slow::ScaleUp),
    ("slow.nvlink", Slow::ScaleUp),
];

/// Names of data sheets, their keys, and the unit of a bare number if it is part of the name.
const PHYSICAL: &[(&str, &str, &str)] = &[
    ("nic", "cluster.network.bandwidth", ""),
    ("nic_bandwidth", "cluster.network.bandwidth", ""),
    ("network_bandwidth", "cluster.network.bandwidth", ""),
    ("nic_gbps", "cluster.network.bandwidth", "Gbit/s"),
    ("nic_latency", "cluster.network.latency", ""),
    ("network_latency", "cluster.network.latency", ""),
    ("nvlink", "cluster.scale_up.bandwidth", ""),
    ("nvlink_bandwidth", "cluster.scale_up.bandwidth", ""),
    ("scale_up_bandwidth", "cluster.scale_up.bandwidth", ""),
    ("nvlink_domain", "cluster.scale_up.domain", ""),
    ("hbm", "cluster.memory_bandwidth", ""),
    ("hbm_bandwidth", "cluster.memory_bandwidth", ""),
    ("memory_capacity", "cluster.memory", ""),
    ("hbm_capacity", "cluster.memory", ""),
    ("hbm_gib", "cluster.memory", "GiB"),
    ("bf16_tflops", "cluster.peak.bf16", "TFLOP/s"),
    ("fp16_tflops", "cluster.peak.bf16", "TFLOP/s"),
    ("fp8_tflops", "cluster.peak.fp8", "TFLOP/s"),
    ("fp4_tflops", "cluster.peak.fp4", "TFLOP/s"),
    ("tdp", "cluster.power", "W"),
    ("power_limit", "cluster.power", "W"),
    ("pcie", "cluster.host.bandwidth", ""),
    ("host_link", "cluster.host.bandwidth", ""),
    ("price", "cost.price_per_device_hour", ""),
];

const SECTIONS: [&str; 5] = ["plan", "cluster", "model", "training", "cost"];

/// Maps a word to its meaning.
pub(super) fn target(word: &str) -> Result<Target, Problem> {
    // Flags of a command line have the same names with dashes.
    let plain = word.trim().trim_start_matches("--").replace('-', "_");
    let plain = plain.as_str();
    if let Some(found) = slow(plain) {
        return found;
    }
    if matches!(plain, "nodes" | "cluster.nodes" | "servers") {
        return Ok(Target::Nodes);
    }
    if let Ok(key) = key(plain) {
        return Ok(Target::Key { key, unit: "" });
    }
    // `fabric` is a common name of the network section.
    let bare =
        ["cluster.", "fabric.", "network."].iter().find_map(|head| plain.strip_prefix(head)).unwrap_or(plain);
    if let Some((_, path, unit)) = PHYSICAL.iter().find(|(name, ..)| *name == plain || *name == bare) {
        return key(path).map(|key| Target::Key { key, unit });
    }
    let spelled = match plain.strip_prefix("fabric.") {
        Some(rest) => format!("network.{rest}"),
        None => plain.to_owned(),
    };
    let mut found: Vec<Key> =
        SECTIONS.iter().filter_map(|section| key(&format!("{section}.{spelled}")).ok()).collect();
    match found.len() {
        1 => Ok(Target::Key { key: found.remove(0), unit: "" }),
        0 => Err(unknown(plain)),
        _ => {
            let names = found.iter().map(|key| format!("`{}`", key.path())).collect::<Vec<_>>().join(" or ");
            Err(Problem::new(format!("`{plain}` is ambiguous")).hint(format!("write {names}")))
        }
    }
}

fn slow(word: &str) -> Option<Result<Target, Problem>> {
    if word != "slow" && !word.starts_with("slow.") {
        return None;
    }
    if let Some((_, what)) = SLOW.iter().find(|(name, _)| *name == word) {
        if *what == Slow::Stage {
            return Some(Err(
                Problem::new("`slow.stage` needs a stage number").hint("use `slow.stage.0=0.9`")
            ));
        }
        return Some(Ok(Target::Slow { what: *what, index: None }));
    }
    let known = word.rsplit_once('.').and_then(|(head, tail)| {
        let (_, what) = SLOW.iter().find(|(name, _)| *name == head)?;
        Some((*what, tail.parse::<u64>().ok()))
    });
    Some(match known {
        Some((what, index @ Some(_))) => Ok(Target::Slow { what, index }),
        _ => Err(unknown(word)),
    })
}

fn unknown(word: &str) -> Problem {
    let shown = railwright_spec::human::shorten(word);
    let problem = Problem::new(format!("unknown parameter `{shown}`"));
    // Keys are mostly given without their section, so the part after it is compared as well.
    let paths: Vec<String> = keys().iter().map(Key::path).collect();
    let known: Vec<(&str, &str)> = paths
        .iter()
        .flat_map(|path| {
            let bare = path.split_once('.').map_or(path.as_str(), |(_, bare)| bare);
            [(path.as_str(), path.as_str()), (bare, path.as_str())]
        })
        .chain(PHYSICAL.iter().map(|p| (p.0, p.0)))
        .chain(SLOW.iter().map(|s| (s.0, s.0)))
        .chain([("nodes", "nodes")])
        .collect();
    let find = |word: &str| {
        let near = nearest(word, known.iter().map(|(name, _)| *name));
        near.first().and_then(|near| known.iter().find(|(name, _)| name == near)).map(|(_, whole)| *whole)
    };
    let near = find(word).or_else(|| find(word.rsplit_once('.').map_or(word, |(_, end)| end)));
    match near {
        Some(name) => problem.hint(format!("did you mean `{name}`?")),
        None => problem.hint(
            "use a key of a run file (`railwright keys`), `nodes`, `nic`, `hbm`, `nvlink`, \
            or `slow.rank` and similar",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(word: &str) -> String {
        match target(word) {
            Ok(Target::Key { key, unit }) => format!("{} {unit}", key.path()).trim().to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn every_physical_name_has_a_key_and_hides_none() {
        for (name, path, _) in PHYSICAL {
            assert!(key(path).is_ok(), "{name}");
            assert!(keys().iter().all(|key| key.name != *name), "{name} is a key's own name");
        }
    }

    #[test]
    fn words_mean_one_thing() {
        for (word, meaning) in [
            ("plan.precision", "plan.precision.preset"),
            ("precision", "plan.precision.preset"),
            ("tp", "plan.tensor_parallel"),
            ("overlap.tensor", "plan.overlap.tensor"),
            ("fabric.nic_gbps", "cluster.network.bandwidth Gbit/s"),
            ("fabric.latency", "cluster.network.latency"),
            ("nic", "cluster.network.bandwidth"),
            ("memory", "cluster.memory"),
            ("peak.fp8", "cluster.peak.fp8"),
            ("tdp", "cluster.power W"),
            ("gpus", "cluster.devices"),
            ("model", "model.name"),
            ("tokens", "training.tokens"),
        ] {
            assert_eq!(path(word), meaning, "{word}");
        }
        assert_eq!(target("nodes"), Ok(Target::Nodes));
        assert_eq!(target("slow.stage.3"), Ok(Target::Slow { what: Slow::Stage, index: Some(3) }));
        assert_eq!(target("slow.nic"), Ok(Target::Slow { what: Slow::Nic, index: None }));
    }

    #[test]
    fn what_means_nothing_or_two_things_is_reported() {
        let text = |word: &str| {
            let problem = target(word).expect_err(word);
            format!("{}; {}", problem.message, problem.hint.unwrap_or_default())
        };
        assert_eq!(text("name"), "`name` is ambiguous; write `cluster.name` or `model.name`");
        assert!(
            text("plan.mico_batch").contains("did you mean `plan.micro_batch`?"),
            "{}",
            text("plan.mico_batch")
        );
        assert!(text("overlap.tensr").contains("`plan.overlap.tensor`"), "{}", text("overlap.tensr"));
        assert!(text("nic_gbs").contains("`nic_gbps`"), "{}", text("nic_gbs"));
        assert!(text("slow.stage").contains("slow.stage.0=0.9"));
        assert!(text("slow.rnk").contains("`slow.rank`"), "{}", text("slow.rnk"));
        assert!(text("zzz").contains("railwright keys"));
    }
}
