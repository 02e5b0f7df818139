//! What every identifier means: warnings, parts of a step, kinds of memory, conventions, foundations, schedules, generations.
//!
//! Responsible for: one registry that `railwright explain`, the page and the manual share. Refuses to speak of one run; that is
//! [`super::Explanation`]'s.

use crate::software::{self, Software};
use railwright_spec::problem::{Problem, did_you_mean};
use serde::Serialize;

/// Something that has an identifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Topic {
    /// Its identifier.
    pub id: String,
    /// What kind of thing it is: `warning`, `time`, `memory`, `convention`, `foundation`, `schedule`, `software`, `concept`.
    pub group: &'static str,
    /// A line.
    pub title: String,
    /// A paragraph.
    pub text: String,
}

mod texts;

/// All topics, by group and in the order of a report.
pub fn topics() -> Vec<Topic> {
    let fixed = texts::TOPICS.iter().map(|&(group, id, title, text)| Topic {
        id: id.to_owned(),
        group,
        title: title.to_owned(),
        text: text.to_owned(),
    });
    fixed.chain(software::generations().iter().map(generation)).collect()
}

/// One topic by its identifier; parts of a breakdown at any depth are known by their longest known prefix.
pub fn topic(id: &str) -> Result<Topic, Problem> {
    let all = topics();
    let mut wanted = id;
    loop {
        if let Some(found) = all.iter().find(|t| t.id == wanted) {
            return Ok(found.clone());
        }
        match wanted.rsplit_once('.') {
            Some((front, _)) if is_part(front) => wanted = front,
            _ => break,
        }
    }
    Err(Problem::new(format!("nothing is called `{id}`")).hint(did_you_mean(
        id,
        all.iter().map(|t| t.id.as_str()),
        "leave the name out to list everything that can be explained",
    )))
}

fn is_part(id: &str) -> bool {
    ["compute.", "exposed."].iter().any(|front| id.starts_with(front))
}

/// A generation with its constants, one a line.
fn generation(software: &Software) -> Topic {
    let rates = |table: &std::collections::BTreeMap<String, f64>| {
        table.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    };
    let lines = [
        software.source.clone(),
        format!("sustained over burst rate of matrix products: {}", rates(&software.matmul)),
        format!("sustained over burst rate of attention: {}", rates(&software.attention_rate)),
        format!("bytes of element-wise kernels over full fusion: {}", software.elementwise_passes),
        format!("bytes per logit of the loss: {}", software.loss_bytes_per_logit),
        format!("host microseconds per kernel: {}", software.host_us_per_kernel),
        format!("host microseconds per micro batch and stage: {}", software.host_us_per_micro_batch),
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
        format!("slow-down of compute by hidden communication: {}", software.overlap_slowdown),
        format!("growth of the step per doubling of devices: {}", software.jitter_per_doubling),
        format!("optimizer traffic, bytes per parameter: {}", software.optimizer_bytes_per_parameter),
    ];
    Topic { id: software.id.clone(), group: "software", title: software.name.clone(), text: lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_texts_are_there() {
        let all = topics();
        for (i, topic) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|t| t.id != topic.id), "{} twice", topic.id);
            assert!(!topic.title.is_empty() && topic.text.len() > 30, "{}", topic.id);
        }
        assert!(all.len() > 80);
    }

    #[test]
    fn every_warning_that_is_given_has_a_topic() {
        let sources = [include_str!("warnings.rs"), include_str!("../money.rs")];
        let mut found = 0;
        for text in sources {
            for piece in text.split("Warning::new(").skip(1) {
                let id = piece.trim_start().trim_start_matches('"').split('"').next().unwrap_or_default();
                assert_eq!(topic(id).expect(id).group, "warning");
                found += 1;
            }
        }
        assert!(found >= 14, "{found}");
    }

    fn walk(part: &crate::estimate::Part) {
        topic(&part.id).expect(&part.id);
        part.children.iter().for_each(walk);
    }

    #[test]
    fn every_part_and_kind_has_a_topic() {
        let estimate = crate::estimate::tests::large();
        walk(&estimate.time);
        for explanation in estimate.why().iter().filter(|e| e.id.starts_with("memory.")) {
            topic(&explanation.id).expect(&explanation.id);
        }
        for foundation in &estimate.provenance {
            topic(&foundation.id).expect(&foundation.id);
        }
        assert!(topic("mfu").is_ok());
        let problem = topic("memory-margin-smal").expect_err("a slip");
        assert!(problem.hint.expect("a hint").contains("memory-margin-small"));
    }
}
