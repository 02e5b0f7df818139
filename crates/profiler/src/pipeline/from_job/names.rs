//! Names of passes in annotations.
//!
//! Responsible for: the words of frameworks: Megatron (`forward_step`, `forward-compute`), torch pipelining
//! (`PP:2F3`, `Forward 3`), DeepSpeed (`fwd_microstep`), and plain names by users (`stage0/forward`).
//! Excludes names of a whole step or a layer.

use crate::passes::PassKind;

/// A pass from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub kind: PassKind,
    /// Virtual stage, numbered along the pipeline.
    pub stage: Option<u32>,
    pub micro_batch: Option<u32>,
    pub chunk: Option<u32>,
}

/// Reads a name.
pub(super) fn read(name: &str) -> Option<Named> {
    if let Some(action) = name.strip_prefix("PP:") {
        return self::action(action);
    }
    if let Some(kind) = PassKind::of_timer(name).filter(|kind| !kind.is_message()) {
        return Some(Named { kind, stage: None, micro_batch: None, chunk: None });
    }
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let has = |wanted: &[&str]| {
        words.iter().any(|word| wanted.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())))
    };
    let forward = has(&["forward", "fwd"]);
    let backward = has(&["backward", "bwd", "backwards"]);
    // Layer hooks, whole schedules, losses and evaluation are not passes of a micro-batch.
    if has(&[
        "pre",
        "post",
        "hook",
        "layer",
        "schedule",
        "send",
        "recv",
        "receive",
        "eval",
        "allreduce",
        "module",
    ]) {
        return None;
    }
    let kind = match (forward, backward) {
        (true, false) => PassKind::Forward,
        (false, true) if has(&["weight", "wgrad", "weights"]) => PassKind::BackwardWeight,
        (false, true) if has(&["input", "dgrad"]) => PassKind::BackwardInput,
        (false, true) => PassKind::Backward,
        (false, false) if has(&["wgrad"]) => PassKind::BackwardWeight,
        (false, false) if has(&["grad"]) && has(&["sync", "reduce"]) => PassKind::GradientReduce,
        (false, false) if lower.starts_with("optimizer.step#") || lower.ends_with("/optimizer") => {
            PassKind::Optimizer
        }
        (true, true) | (false, false) => return None,
    };
    let number = |wanted: &[&str]| {
        words.iter().enumerate().find_map(|(at, word)| {
            let rest = wanted.iter().find_map(|w| word.strip_prefix(w))?;
            let digits = if rest.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { rest };
            digits.parse::<u32>().ok().filter(|&n| n < 1 << 20)
        })
    };
    // `Forward 3`: a number alone is the micro-batch.
    let bare = || match words[..] {
        [_, digits] => digits.parse::<u32>().ok().filter(|&n| n < 1 << 20),
        _ => None,
    };
    Some(Named {
        kind,
        stage: number(&["stage"]),
        micro_batch: number(&["microbatch", "mb", "batch", "microstep"]).or_else(bare),
        chunk: number(&["chunk"]),
    })
}

/// Reads an action of torch pipelining: stage, computation, micro-batch (`2F3`, `0B1`, `1I0`, `1W0`).
fn action(action: &str) -> Option<Named> {
    let letter = action.find(|c: char| !c.is_ascii_digit())?;
    let digit = letter + action[letter..].find(|c: char| c.is_ascii_digit())?;
    let kind = match &action[letter..digit] {
        "F" => PassKind::Forward,
        "B" => PassKind::Backward,
        "I" => PassKind::BackwardInput,
        "W" => PassKind::BackwardWeight,
        _ => return None,
    };
    let small = |text: &str| text.parse::<u32>().ok().filter(|&n| n < 1 << 20);
    Some(Named { kind, stage: small(&action[..letter]), micro_batch: small(&action[digit..]), chunk: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frameworks_spell_it_differently() {
        use PassKind as K;
        let says = |name: &str| read(name).map(|n| (n.kind, n.stage, n.micro_batch));
        assert_eq!(says("PP:2F13"), Some((K::Forward, Some(2), Some(13))));
        assert_eq!(says("PP:0W1"), Some((K::BackwardWeight, Some(0), Some(1))));
        assert_eq!(says("PP:1SEND_F0"), None);
        assert_eq!(says("Forward 3"), Some((K::Forward, None, Some(3))));
        assert_eq!(says("stage0/forward"), Some((K::Forward, Some(0), None)));
        assert_eq!(says("backward-compute"), Some((K::Backward, None, None)));
        assert_eq!(says("forward_step"), Some((K::Forward, None, None)));
        assert_eq!(says("stage 1 backward micro_batch 7"), Some((K::Backward, Some(1), Some(7))));
        assert_eq!(says("train_step/grad_sync"), Some((K::GradientReduce, None, None)));
        assert_eq!(says("Optimizer.step#AdamW.step"), Some((K::Optimizer, None, None)));
        for other in [
            "train_step/forward_backward",
            "FSDP::pre_forward (layers.0)",
            "ProfilerStep#3",
            "aten::mm",
            "PP:",
            "PP:é",
        ] {
            assert_eq!(says(other), None, "{other}");
        }
    }
}
