//! Definitions of all identifiers: warnings, parts of a step, kinds of memory, conventions, evidence,
//! schedules, generations.
//!
//! Responsible for: one registry for `railwright explain`, the web UI and the manual. Independent of a run:
//! see [`super::Explanation`].

use crate::software::{self, Software};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};
pub use railwright_spec::topic::Topic;
use railwright_spec::topic::{is_same_name, parse};

const TEXT: &str = include_str!("topics/topics.md");

/// Identifiers in estimates that are documented under another one.
const ALIASES: &[(&str, &str)] = &[
    ("step_time", "step"),
    ("stage.busy", "pipeline"),
    ("tokens_per_second", "throughput"),
    ("tokens_per_second_per_device", "throughput"),
    ("device_hours", "cost"),
    ("rent", "cost"),
    ("energy", "cost"),
    ("memory", "memory.peak"),
    ("probability", "memory.probability_of_fitting"),
];

/// All topics, by group and in the order of a report.
pub fn topics() -> Vec<Topic> {
    let mut all = parse(TEXT);
    all.extend(software::generations().iter().map(generation));
    all
}

/// One topic by its identifier or its title, in any case and with spaces or hyphens between words. Parts of a
/// breakdown at any depth match their longest documented prefix.
pub fn topic(id: &str) -> Result<Topic, Problem> {
    let all = topics();
    let mut wanted = id.trim();
    loop {
        let known =
            ALIASES.iter().find(|(alias, _)| is_same_name(alias, wanted)).map_or(wanted, |(_, id)| id);
        let by_name = all.iter().find(|t| t.id == known);
        let is_same = |t: &&Topic| is_same_name(&t.id, known) || is_same_name(&t.title, known);
        if let Some(found) = by_name.or_else(|| all.iter().find(is_same)) {
            return Ok(found.clone());
        }
        match wanted.rsplit_once('.') {
            Some((front, _)) if is_part(wanted) => wanted = front,
            _ => break,
        }
    }
    let names = all.iter().map(|t| t.id.as_str()).chain(ALIASES.iter().map(|(alias, _)| *alias));
    Err(Problem::new(format!("unknown topic `{}`", human::shorten(id))).hint(did_you_mean(
        id,
        names,
        "`railwright explain` lists everything that can be explained",
    )))
}

fn is_part(id: &str) -> bool {
    ["compute.", "exposed.", "operator."].iter().any(|front| id.starts_with(front))
}

/// A generation with its constants, one per line after a dash.
fn generation(software: &Software) -> Topic {
    let rates = |table: &std::collections::BTreeMap<String, f64>| {
        table.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    };
    let lines = [
        format!("sustained over burst rate of GEMMs: {}", rates(&software.matmul)),
        format!("sustained over burst rate of attention: {}", rates(&software.attention_rate)),
        format!("bytes of element-wise kernels over full fusion: {}", software.elementwise_passes),
        format!("bytes per logit of the loss: {}", software.loss_bytes_per_logit),
        format!("host microseconds per kernel: {}", software.host_us_per_kernel),
        format!(
            "additional host microseconds per kernel with tensor parallelism: {}",
            software.placement_us_per_kernel
        ),
        format!("host microseconds per micro-batch and stage: {}", software.host_us_per_micro_batch),
        format!("host microseconds per transfer between stages: {}", software.host_us_per_transfer),
        format!("host milliseconds per step: {}", software.host_ms_per_step),
        format!(
            "exposed share of overlapped tensor-parallel communication: {}",
            software.tensor_overlap_exposed
        ),
        format!(
            "exposed share of overlapped expert-parallel communication: {}",
            software.expert_overlap_exposed
        ),
        format!("sustained over measured rate of collectives: {}", software.collective_rate),
        format!("slowdown of compute by overlapped communication: {}", software.overlap_slowdown),
        format!("growth of the step per doubling of devices: {}", software.jitter_per_doubling),
        format!("optimizer traffic, bytes per parameter: {}", software.optimizer_bytes_per_parameter),
        format!(
            "share of the host's memory bandwidth reached by an offloaded optimizer: {}",
            software.host_update_rate
        ),
    ];
    Topic {
        id: software.id.clone(),
        group: "software",
        title: software.name.clone(),
        text: format!("Constants: {}.\n\n- {}", software.source, lines.join("\n- ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_texts_are_there() {
        let all = topics();
        let fixed = all.iter().filter(|t| t.group != "software").count();
        assert_eq!(fixed, TEXT.matches("\n## ").count(), "a heading without `: `");
        for (i, topic) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|t| t.id != topic.id), "{} twice", topic.id);
            assert!(!topic.title.is_empty() && topic.text.len() > 30, "{}", topic.id);
            let widest = topic.text.lines().filter(|line| line.starts_with("    ")).map(str::len).max();
            assert!(widest.is_none_or(|n| n <= 100), "{} does not fit a terminal", topic.id);
        }
        assert!(all.len() > 90, "{}", all.len());
        for (alias, id) in ALIASES {
            assert_eq!(topic(alias).expect(alias).id, *id);
            assert!(all.iter().all(|t| t.id != *alias), "`{alias}` is a topic of its own");
        }
    }

    #[test]
    fn every_warning_that_is_given_has_a_topic_and_no_other_is_explained() {
        let sources = [
            include_str!("warnings.rs"),
            include_str!("warnings/calibration.rs"),
            include_str!("../goodput/run.rs"),
            include_str!("../money.rs"),
            include_str!("../../../spec/src/plan/validate/lora.rs"),
            include_str!("../../../spec/src/plan/validate/warn.rs"),
        ];
        // Other crates have few warnings among much other text; the identifiers of theirs begin with the
        // subject.
        let above = [
            include_str!("../calibration.rs"),
            include_str!("../calibration/plausible.rs"),
            include_str!("../calibration/same_run.rs"),
            include_str!("../../../inputs/src/same_run.rs"),
            include_str!("../../../spec/src/calibration/text.rs"),
            include_str!("../../../spec/src/plan/validate/framework.rs"),
            include_str!("../../../launch/src/launch.rs"),
            include_str!("../../../tuner/src/flows.rs"),
            include_str!("../../../launch/src/writer.rs"),
            include_str!("../../../network/src/bill.rs"),
            include_str!("../../../network/src/bill/warnings.rs"),
            include_str!("../../../tuner/src/codesign/front.rs"),
            include_str!("../../../tuner/src/whatif/apply.rs"),
        ];
        let mut given: Vec<&str> = sources
            .iter()
            .flat_map(|text| {
                text.split("#[cfg(test)]").next().unwrap_or_default().split('"').skip(1).step_by(2)
            })
            .filter(|text| {
                text.contains('-')
                    && text.len() > 1
                    && text.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            })
            .collect();
        let words = above.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
        given.extend(words.filter(|text| {
            ["launch-", "network-", "calibration-", "not-offered"].iter().any(|start| text.starts_with(start))
        }));
        given.sort_unstable();
        given.dedup();
        let mut explained: Vec<String> =
            topics().into_iter().filter(|t| t.group == "warning").map(|t| t.id).collect();
        explained.sort_unstable();
        assert_eq!(given, explained);
    }

    fn walk(part: &crate::estimate::Part) {
        topic(&part.id).expect(&part.id);
        part.children.iter().for_each(walk);
    }

    #[test]
    fn everything_that_an_estimate_names_has_a_topic() {
        let estimate = crate::estimate::tests::large();
        walk(&estimate.time);
        for explanation in estimate.why() {
            topic(&explanation.id).expect(&explanation.id);
        }
        for foundation in &estimate.provenance {
            topic(&foundation.id).expect(&foundation.id);
        }
        let kinds = include_str!("explain/memory.rs").split("fn kind_id").nth(1).expect("the function");
        let kinds: Vec<&str> =
            kinds.split("\n}").next().expect("its end").split('"').skip(1).step_by(2).collect();
        assert_eq!(kinds.len(), 13);
        for kind in kinds {
            let id = format!("memory.{kind}");
            assert_eq!(topic(&id).expect(&id).id, id);
        }
        for schedule in ["gpipe", "1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe"] {
            assert_eq!(topic(schedule).expect(schedule).group, "schedule");
        }
        for software in software::generations() {
            assert_eq!(topic(&software.id).expect(&software.id).group, "software");
        }
        assert_eq!(topic("compute.mlp.forward").expect("a part").id, "compute.mlp");
        assert_eq!(topic("tensor parallel").expect("a title").id, "exposed.tensor");
        let problem = topic("memory-margin-smal").expect_err("a slip");
        assert!(problem.hint.expect("a hint").contains("memory-margin-small"));
        assert!(topic("memory.nothing").is_err());
    }
}
