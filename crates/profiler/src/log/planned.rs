//! Evaluations and checkpoints in a log.
//!
//! Responsible for: the lines that frameworks write for them, and whether they explain periodic slow reports.
//! A line before a report and after the previous one belongs to the report's time.

/// Lines of evaluations: Megatron-LM, torchtitan, Hugging Face Trainer.
const EVALUATIONS: [&str; 3] = ["validation loss at iteration", "validate step:", "'eval_runtime'"];

/// Lines of checkpoints: Megatron-LM, torchtitan, Hugging Face Trainer.
const CHECKPOINTS: [&str; 3] =
    ["saving checkpoint at iteration", "Saving the checkpoint", "Saving model checkpoint to"];

/// Numbers of the lines of planned work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Planned {
    evaluations: Vec<u64>,
    checkpoints: Vec<u64>,
}

impl Planned {
    /// Reads a line that is no report.
    pub(super) fn line(&mut self, line: &str, number: u64) {
        let has = |marks: &[&str]| marks.iter().any(|mark| line.contains(mark));
        if has(&EVALUATIONS) {
            self.evaluations.push(number);
        } else if has(&CHECKPOINTS) {
            self.checkpoints.push(number);
        }
    }

    /// Tests whether evaluations, and checkpoints, explain slow reports. `slow` and `reports` are the lines
    /// of slow reports and of all judged ones, `reports` in order.
    pub(super) fn explain(&self, mut slow: Vec<u64>, reports: &[u64]) -> [bool; 2] {
        slow.sort_unstable();
        [&self.evaluations, &self.checkpoints].map(|work| explains(work, &slow, reports))
    }
}

/// Tests whether three quarters of the slow reports contain such work, and three quarters of the reports with
/// such work are slow.
fn explains(work: &[u64], slow: &[u64], reports: &[u64]) -> bool {
    let mut with: Vec<u64> = work
        .iter()
        .filter_map(|line| reports.get(reports.partition_point(|report| report < line)).copied())
        .collect();
    with.dedup();
    let both = with.iter().filter(|line| slow.binary_search(line).is_ok()).count();
    both > 0 && 4 * both >= 3 * slow.len() && 4 * both >= 3 * with.len()
}
