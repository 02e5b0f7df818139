//! Commands in the documentation of a Python program, whose parser takes all settings from its command line.
//!
//! Responsible for: the single command of the first comment or text in triple quotes. Several commands are
//! errors, because each is a run.

use crate::python;
use railwright_spec::problem::Problem;

/// Parsers that take the arguments of a trainer from the command line.
const PARSERS: [&str; 2] = ["HfArgumentParser", "TrlParser"];
/// Beginnings of a command.
const STARTS: [&str; 5] = ["python ", "python3 ", "accelerate launch", "torchrun ", "deepspeed "];
/// A flag that only training has.
const MARK: &str = "--per_device_train_batch_size";

/// Tests whether a text is such a program.
pub(super) fn is_one(text: &str) -> bool {
    ["transformers", "trl"].into_iter().any(|module| python::imports(text, module))
        && PARSERS.iter().any(|parser| text.contains(parser))
        && !commands(text).is_empty()
}

/// The command, at the line that it has in the text.
pub(super) fn command(text: &str, file: &str) -> Result<String, Problem> {
    let found = commands(text);
    if let [(line, command)] = found.as_slice() {
        return Ok(format!("{}{command}", "\n".repeat(*line)));
    }
    let lines: Vec<String> = found.iter().map(|(line, _)| (line + 1).to_string()).collect();
    let message = format!(
        "the documentation of this program has {} commands, at the lines {}",
        found.len(),
        lines.join(", ")
    );
    Err(Problem::new(message).hint("copy one of them to a file, and pass that file").in_file(file))
}

/// Commands that train, with the index of their first line.
fn commands(text: &str) -> Vec<(usize, String)> {
    let end = text.lines().position(|line| line.starts_with("def ") || line.starts_with("class "));
    let mut lines = text.lines().take(end.unwrap_or(usize::MAX)).enumerate().peekable();
    let mut found = Vec::new();
    while let Some((start, line)) = lines.next() {
        let bare = |line: &str| line.trim_start_matches(['#', ' ', '\t']).trim_end().to_owned();
        let mut command = bare(line);
        if !STARTS.iter().any(|start| command.starts_with(start)) {
            continue;
        }
        while command.ends_with('\\') {
            let Some((_, next)) = lines.next() else { break };
            command.push('\n');
            command.push_str(&bare(next));
        }
        if command.contains(MARK) {
            found.push((start, command));
        }
    }
    found
}
