//! Step lines of nanotron, NeMo and MaxText: each contains the time of its step.
//!
//! Responsible for: one line to one [`Report`], as those frameworks print it. Excludes rates of progress bars
//! (`2.13s/it`), which are averages.
//!
//! Sources of the formats: nanotron issue 390 and pull request 23 (`iteration: 5 / 15 | ...`, numbers of
//! three digits with K, M, G); NeMo pull request 10128 (`Training epoch 0, iteration 0/9 | ...`) and the
//! progress bar of NeMo 1 (`global_step=49.00, ...]`, three digits, so `2e+3`); MaxText pull request 761 and
//! issue 8 (`completed step: 9, seconds: 1.341, ...`; before 2024 `TFLOP/s:`).

use super::numbers::{after, count_after, leading, scaled_after};
use super::progress::Bar;
use super::report::Report;

/// Marker of nanotron's step lines.
pub(super) const NANOTRON: &str = "elapsed_time_per_iteration_ms:";
/// Marker of NeMo's step lines.
pub(super) const NEMO: &str = "train_step_timing in s";
/// Marker of MaxText's step lines.
pub(super) const MAXTEXT: &str = "completed step:";

/// Reads a line of nanotron. Its numbers have three digits, so a step of 11.5K ms is accurate to 0.4%.
pub(super) fn nanotron(line: &str) -> Option<Report> {
    let seconds = scaled_after(line, NANOTRON)? / 1e3;
    let report = Report {
        iteration: count_after(line, "iteration:")?,
        seconds,
        tflops: after(line, "model_tflops_per_gpu:").filter(|rate| *rate > 0.0 && *rate < 1e5),
        batch: scaled_after(line, "global_batch_size:").filter(|n| *n >= 1.0 && *n < 1e9).map(|n| n as u64),
        tokens_per_second: scaled_after(line, "tokens_per_sec_per_gpu:").filter(|rate| *rate > 0.0),
        loss: after(line, "lm_loss:"),
        gradient_norm: after(line, "grad_norm:"),
        learning_rate: after(line, "lr:"),
        ..Report::default()
    };
    sound(seconds).then_some(report)
}

/// Reads a line of NeMo 2 (`name: value | `) or a progress bar of NeMo 1 (`name=value, `).
pub(super) fn nemo(line: &str) -> Option<Report> {
    let value = |name: &str| {
        let at = line.find(name)? + name.len();
        leading(line[at..].trim_start_matches([':', '=']))
    };
    // A progress bar rounds to three digits: from 1,000 on, its own counter is the step.
    let is_rounded = |name: &str| {
        line.find(name).is_some_and(|at| {
            line[at..].split([',', ']', '|']).next().is_some_and(|pair| pair.contains("e+"))
        })
    };
    let step = value("global_step").filter(|_| !is_rounded("global_step"));
    let step = match step {
        Some(step) => step,
        None => Bar::of(line)?.done.saturating_sub(1) as f64,
    };
    let consumed = value("consumed_samples").filter(|_| !is_rounded("consumed_samples"));
    let each = consumed.map(|samples| samples / (step + 1.0)).filter(|n| *n >= 1.0 && n.fract() == 0.0);
    let seconds = value(NEMO)?;
    let report = Report {
        iteration: (0.0..1e15).contains(&step).then_some(step as u64)?,
        seconds,
        batch: value("global_batch_size").or(each).filter(|n| *n >= 1.0 && *n < 1e9).map(|n| n as u64),
        loss: value("reduced_train_loss"),
        gradient_norm: value("grad_norm"),
        learning_rate: value("lr"),
        ..Report::default()
    };
    sound(seconds).then_some(report)
}

/// Reads a line of MaxText.
pub(super) fn maxtext(line: &str) -> Option<Report> {
    let seconds = after(line, "seconds:")?;
    let report = Report {
        iteration: count_after(line, MAXTEXT)?,
        seconds,
        tflops: after(line, "TFLOP/s/device:")
            .or_else(|| after(line, "TFLOP/s:"))
            .filter(|rate| *rate > 0.0 && *rate < 1e5),
        tokens_per_second: after(line, "Tokens/s/device:").filter(|rate| *rate > 0.0),
        loss: after(line, " loss:"),
        ..Report::default()
    };
    sound(seconds).then_some(report)
}

fn sound(seconds: f64) -> bool {
    seconds > 0.0 && seconds < 1e6
}

#[cfg(test)]
mod tests;
