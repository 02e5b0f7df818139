//! Errors that ask for open settings.
//!
//! Responsible for: one error for all settings that a file omits for the same reason, with all their options.

use crate::{Launch, Open};
use railwright_spec::problem::{Place, Problem};

/// The errors that ask for open settings of a launch file; `option` gives the flag of a key.
pub fn ask_for(launch: &Launch, open: &[&Open], option: &dyn Fn(&str) -> String) -> Vec<Problem> {
    let mut groups: Vec<Vec<&Open>> = Vec::new();
    for &one in open {
        let is_alike =
            |other: &Open| other.source.is_empty() && other.file == one.file && other.why == one.why;
        match groups.iter_mut().find(|group| one.source.is_empty() && is_alike(group[0])) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| asked(launch, group, option)).collect()
}

fn asked(launch: &Launch, group: &[&Open], option: &dyn Fn(&str) -> String) -> Problem {
    let first = group[0];
    let keys: Vec<String> = group.iter().map(|open| format!("`{}`", open.key)).collect();
    let options: Vec<String> = group.iter().map(|open| option(&open.key)).collect();
    // In `tune` a flag restricts the search, and `--set` describes the file.
    let of_tune = match group {
        _ if options.iter().all(|option| option.starts_with("--set")) => String::new(),
        [one] => format!(" (in `tune`: `--set {}=VALUE`)", one.key),
        _ => " (in `tune`: `--set KEY=VALUE` for each)".to_owned(),
    };
    let verb = if group.len() == 1 { "is" } else { "are" };
    let mut problem =
        Problem::new(format!("{} {verb} not set: {}", keys.join(", "), first.why)).hint(format!(
            "add `{}`{of_tune}, or the arguments of the script: `--launch-args \"VAR=value ARGUMENTS\"`",
            options.join(" ")
        ));
    problem.place = Some(Box::new(Place {
        file: first.file.clone().unwrap_or_else(|| launch.file.clone()),
        line: first.line,
        key: (!first.source.is_empty()).then(|| first.source.clone()),
        ..Place::default()
    }));
    problem
}

#[cfg(test)]
mod tests {
    use super::ask_for;
    use crate::{Open, read};

    #[test]
    fn settings_open_for_one_reason_are_one_error() {
        let text = "torchrun --nproc_per_node=2 train.py --model_name_or_path Qwen/Qwen3-0.6B --batch_size 8 --lr 1e-5 \\\n  \
            --seq_len $LENGTH\n";
        let launch = read(text, "train.sh").expect("a launch file").expect("no problems");
        let keys = ["plan.tensor_parallel", "plan.pipeline_parallel", "plan.sequence_length"];
        let open: Vec<&Open> = launch.open.iter().filter(|open| keys.contains(&open.key.as_str())).collect();
        let asked = ask_for(&launch, &open, &|key| format!("--{key} VALUE"));
        assert_eq!(asked.len(), 2, "{asked:?}");
        let both = asked.iter().find(|problem| problem.message.contains("are not set")).expect("both");
        assert!(both.message.starts_with("`plan.tensor_parallel`, `plan.pipeline_parallel` are not set"));
        let hint = both.hint.as_deref().unwrap_or_default();
        assert!(hint.contains("`--plan.tensor_parallel VALUE --plan.pipeline_parallel VALUE`"), "{hint}");
    }
}
