//! Conditions that a program checks at its start, and that no reader of settings has.
//!
//! Responsible for: edits that a program would refuse, as reasons, and remarks on an edit that the user has
//! to check. Judges changes by name and the text around them.

use super::edited::{Change, Edited};
use crate::document::toml;
use crate::megatron::dialect::deepspeed_file::BATCHES;
use crate::megatron::flags;
use crate::{Remark, RemarkKind, torchtitan};

/// Megatron-LM's switches for its own FSDP.
const OWN_FSDP: [&str; 2] = ["--use-megatron-fsdp", "--use-custom-fsdp"];

/// Reason why a program would refuse an edited text.
pub(super) fn broken(before: &str, after: &str, changes: &[Change]) -> Option<String> {
    if let Some(kept) = kept(before, after, changes).into_iter().find(|kept| kept.is_written) {
        return Some(format!(
            "`{}` also goes into a file that the script writes, so `{}` and that file would differ",
            kept.variable, kept.name
        ));
    }
    if let Some(reason) = against_file(before, after) {
        return Some(reason);
    }
    if let Some(reason) = too_new(before, changes) {
        return Some(reason);
    }
    if let Some(reason) = steps_in_backward(after, changes) {
        return Some(reason);
    }
    let adds = |name: &str| changes.iter().any(|change| change.name == name && change.after.is_some());
    if OWN_FSDP.into_iter().any(adds) {
        let has_format = after.contains("fsdp_dtensor");
        let is_single = lines(after).any(|line| line.contains("CUDA_DEVICE_MAX_CONNECTIONS=1"));
        if !has_format || is_single {
            return Some(
                "Megatron-FSDP needs `--ckpt-format fsdp_dtensor`, which reads no earlier checkpoints, and \
                 `CUDA_DEVICE_MAX_CONNECTIONS` other than 1"
                    .to_owned(),
            );
        }
    }
    let is_second = changes
        .iter()
        .any(|change| change.name.ends_with("fsdp_version") && change.after.as_deref() == Some("2"));
    let eight = lines(after).find_map(|line| {
        let value = line.trim().strip_prefix("optimizer:")?.trim().trim_matches(['"', '\'']);
        (value.contains("bnb_8bit") || value.contains("bnb_4bit")).then(|| value.to_owned())
    });
    if let (true, Some(optimizer)) = (is_second, eight) {
        return Some(format!(
            "Axolotl refuses `optimizer: {optimizer}` with FSDP 2: choose another optimizer"
        ));
    }
    None
}

/// A changed batch of a program that steps the optimizer in each backward pass: it accumulates no gradients.
/// Without a global batch in the file, the local batch and the data-parallel size give it, and no gradients
/// are accumulated.
fn steps_in_backward(after: &str, changes: &[Change]) -> Option<String> {
    const SWITCH: &str = "early_step_in_backward";
    let value_of = |key: &str| {
        lines(after).find_map(|line| {
            let rest = line.split_once(key)?.1;
            Some(rest.trim_start_matches([' ', '=', ':', '"', '\'']).to_owned())
        })
    };
    if !value_of(SWITCH).is_some_and(|value| value.to_ascii_lowercase().starts_with("true")) {
        return None;
    }
    let has_global = value_of("global_batch_size").is_some_and(|value| !value.starts_with('-'));
    let change = changes.iter().find(|change| {
        let is = |size: &str| change.name.ends_with(size);
        is("global_batch_size") || is("gradient_accumulation_steps") || has_global && is("local_batch_size")
    })?;
    Some(format!(
        "`{SWITCH}` excludes gradient accumulation, which `{}` may require: check the two sizes by hand",
        change.name
    ))
}

/// Options that the edit adds and that the script's Megatron-LM lacks, if an option that a release removed
/// shows that it is older. Before 2.0 no option of a layout has its current name.
fn too_new(before: &str, changes: &[Change]) -> Option<String> {
    let words = lines(before).flat_map(str::split_whitespace).filter(|word| word.starts_with("--"));
    let (old, release, year) = words
        .filter_map(|word| {
            let name = word.split('=').next()?;
            let (release, year) = flags::removed(name)?;
            Some((name, release, year))
        })
        .min_by_key(|(_, _, year)| *year)?;
    let is_first = flags::is_early(release);
    let is_later = |change: &&Change| {
        let since = flags::by_spelling(&change.name).map_or("", |flag| flag.since);
        is_first || (since.starts_with(|c: char| c.is_ascii_digit()) && since > year)
    };
    let flags = added(changes).filter(|change| change.name.starts_with("--"));
    let lacking: Vec<String> = flags.filter(is_later).map(|change| format!("`{}`", change.name)).collect();
    (!lacking.is_empty()).then(|| {
        let list = lacking.join(", ");
        format!("`{old}` left Megatron-LM in {release}, so the script's version may lack {list}")
    })
}

/// A setting that the DeepSpeed file of a script has as well, and that the edit changes in the flags alone.
fn against_file(before: &str, after: &str) -> Option<String> {
    if !after.contains("deepspeed_config") || !after.contains("<<") {
        return None;
    }
    let conflicts = |text: &str| -> Vec<&'static str> {
        let launch = crate::read(text, "file").and_then(Result::ok);
        let key = |remark: &Remark| {
            let flag = remark.source.split_whitespace().next()?;
            let flag = flag.trim_start_matches('-').replace('-', "_");
            BATCHES.iter().find(|(_, known)| *known == flag).map(|(key, _)| *key)
        };
        launch
            .map(|launch| launch.remarks_of(RemarkKind::Conflict).filter_map(key).collect())
            .unwrap_or_default()
    };
    let known = conflicts(before);
    let new = conflicts(after).into_iter().find(|key| !known.contains(key))?;
    Some(format!("the script also writes `{new}` into DeepSpeed's file: change both"))
}

/// Changes of settings that the file did not have.
fn added(changes: &[Change]) -> impl Iterator<Item = &Change> {
    changes.iter().filter(|change| change.before.is_none() && change.after.is_some())
}

/// Lines of a text without its comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with('#'))
}

impl Edited {
    /// Checks to make before the edited file is used. `before` is the original text, `change` the relative
    /// change of the step, and `band` the change within which layouts tie.
    #[must_use]
    pub fn cautions(&self, before: &str, (change, band): (f64, f64)) -> Vec<String> {
        let mut found = Vec::new();
        if change >= band {
            let percent = change * 100.0;
            found.push(format!("slower: the predicted step is {percent:.1}% longer than yours"));
        } else if change.abs() < band {
            let percent = change.abs() * 100.0;
            let kind = if change > 0.0 { "loss" } else { "gain" };
            found.push(format!(
                "a tie: the predicted {kind} of {percent:.1}% is within the error of the prediction"
            ));
        }
        found.extend(self.undated());
        found.extend(self.undated_keys());
        found.extend(self.file_of_deepspeed(before));
        found.extend(self.kept_variables(before));
        found
    }

    /// Flags that the edit adds, where nothing dates the user's program.
    fn undated(&self) -> Option<String> {
        let year = |name: &str| flags::by_spelling(name).map_or("", |flag| flag.since);
        let is_dated = |name: &str| year(name).starts_with(|c: char| c.is_ascii_digit());
        let mut kept =
            lines(&self.text).flat_map(str::split_whitespace).filter(|word| word.starts_with("--"));
        let names = || added(&self.changes);
        let added: Vec<String> = names()
            .filter(|change| change.name.starts_with("--"))
            .map(|change| format!("`{}`", change.name))
            .collect();
        let is_added = |word: &str| names().any(|change| change.name == word);
        let has_evidence = kept.any(|word| {
            let word = word.split('=').next().unwrap_or_default();
            !is_added(word) && is_dated(word) && year(word) >= "2024"
        });
        (!has_evidence && !added.is_empty()).then(|| {
            let list = added.join(", ");
            format!("the version of Megatron-LM is unknown: check that it has {list}")
        })
    }

    /// Keys of torchtitan that the edit adds, where no other key is as late.
    fn undated_keys(&self) -> Option<String> {
        let tree = toml(&self.text, "").ok()?;
        let added: Vec<&str> = added(&self.changes).map(|change| change.name.as_str()).collect();
        let known = || {
            let names = tree.entries.iter().map(|entry| entry.name.as_str());
            names.filter(|name| !added.contains(name))
        };
        let late = added.iter().filter(|name| torchtitan::is_latest(known(), name));
        let late: Vec<String> = late.map(|name| format!("`{name}`")).collect();
        (!late.is_empty())
            .then(|| format!("the version of torchtitan is unknown: check that it has {}", late.join(", ")))
    }

    /// A file of DeepSpeed that the edit names and that need not exist.
    fn file_of_deepspeed(&self, before: &str) -> Option<String> {
        let change = self.changes.iter().find(|change| change.name == "deepspeed")?;
        let file = change.after.as_deref()?.trim_matches('"');
        let is_new = file.ends_with("json") && !before.contains(file);
        is_new.then(|| format!("`{file}` is not written with this file: `railwright export` writes it"))
    }

    /// Variables whose value the edit replaces in one of their places.
    fn kept_variables(&self, before: &str) -> Vec<String> {
        let kept = kept(before, &self.text, &self.changes);
        let message = |kept: Kept<'_>| {
            format!("`{}` keeps its value where the file uses it beyond `{}`", kept.variable, kept.name)
        };
        kept.into_iter().map(message).collect()
    }
}

/// A variable of which an edit replaces one use.
struct Kept<'a> {
    variable: String,
    /// The changed setting.
    name: &'a str,
    /// True if another use of the variable goes into a file: a substitution of a template, or the text of a
    /// file.
    is_written: bool,
}

/// The variables that an edit replaces by a value where a setting uses them, and that the file uses
/// elsewhere.
fn kept<'a>(before: &str, after: &str, changes: &'a [Change]) -> Vec<Kept<'a>> {
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.before.is_some()) {
        let word = |text: &str| {
            let at = lines(text).find_map(|line| line.split_once(change.name.as_str()))?.1;
            Some(at.trim_start_matches(['=', ' ']).split_whitespace().next()?.trim_matches('"').to_owned())
        };
        let (Some(old), Some(new)) = (word(before), word(after)) else { continue };
        let Some(name) = old.strip_prefix('$').map(|name| name.trim_matches(['{', '}'])) else {
            continue;
        };
        let uses = [format!("${name}"), format!("${{{name}}}")];
        let is_use = |line: &str| uses.iter().any(|own| line.contains(own));
        if old != new && lines(after).any(is_use) {
            let documents = crate::shell::documents(after).1;
            let is_written = lines(after).any(|line| is_use(line) && line.contains("sed "))
                || documents.iter().any(|written| !written.path.is_empty() && is_use(&written.text));
            found.push(Kept { variable: name.to_owned(), name: &change.name, is_written });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str, before: Option<&str>, after: Option<&str>) -> Change {
        let text = |value: Option<&str>| value.map(str::to_owned);
        Change { name: name.to_owned(), before: text(before), after: text(after) }
    }

    const SURE: (f64, f64) = (-0.2, 0.05);

    /// `validate_args` of Megatron-LM (d98e8a64dd) asserts both.
    #[test]
    fn fsdp_of_megatron_needs_its_format_and_connections() {
        let changes = [change("--use-megatron-fsdp", None, Some("True"))];
        assert!(broken("", "export CUDA_DEVICE_MAX_CONNECTIONS=1\ntorchrun x.py", &changes).is_some());
        let sound = "torchrun x.py --use-megatron-fsdp --ckpt-format fsdp_dtensor";
        assert_eq!(broken("", sound, &changes), None);
        assert_eq!(broken("", "export CUDA_DEVICE_MAX_CONNECTIONS=1", &[]), None);
    }

    /// torchtitan with `early_step_in_backward` runs one micro-batch per step.
    #[test]
    fn a_step_in_backward_allows_no_accumulation() {
        let local = [change("training.local_batch_size", Some("3"), Some("1"))];
        let of = |lines: &str| broken("", &format!("[optimizer]\n{lines}\n"), &local);
        // Half the local batch on twice the data-parallel ranks.
        assert_eq!(of("early_step_in_backward = true"), None);
        let global = "[training]\nglobal_batch_size = 24";
        let reason = of(&format!("early_step_in_backward = true\n{global}")).expect("a reason");
        assert!(reason.contains("local_batch_size"), "{reason}");
        assert_eq!(of(&format!("early_step_in_backward = false\n{global}")), None);
        let added = [change("training.global_batch_size", None, Some("24"))];
        assert!(broken("", "early_step_in_backward = true", &added).is_some());
        assert_eq!(broken("", "early_step_in_backward = true", &[]), None);
    }

    /// A key of torchtitan that is later than all keys of the file.
    #[test]
    fn late_keys_of_torchtitan_are_to_be_checked() {
        let name = "parallelism.module_fqns_per_model_part";
        let edited = |more: &str| Edited {
            text: format!("[parallelism]\n{more}\nmodule_fqns_per_model_part = [[\"output\"]]\n"),
            changes: vec![change(name, None, Some("[[]]"))],
        };
        let cautions = edited("tensor_parallel_degree = 2").cautions("", SURE);
        assert!(cautions.iter().any(|caution| caution.contains(name)), "{cautions:?}");
        assert!(edited("expert_tensor_parallel_degree = 1").cautions("", SURE).is_empty());
    }

    /// An option that a release removed dates the script.
    #[test]
    fn options_later_than_the_script_are_not_added() {
        let added = |name: &str| [change(name, None, Some("2"))];
        let of = |before: &str, name: &str| broken(before, before, &added(name));
        let first = "x.py --model-parallel-size 2 --batch-size 4";
        let reason = of(first, "--pipeline-model-parallel-size").expect("pipelines came with 2.0");
        assert!(reason.contains("`--model-parallel-size`") && reason.contains("2.0"), "{reason}");
        assert_eq!(broken(first, first, &[change("--batch-size", Some("4"), Some("8"))]), None);
        let later = "x.py --DDP-impl local --micro-batch-size 1";
        assert!(of(later, "--recompute-modules").is_some());
        assert_eq!(of(later, "--sequence-parallel"), None);
        assert_eq!(of("x.py --micro-batch-size 1", "--recompute-modules"), None);
    }

    /// Axolotl's validation.
    #[test]
    fn fsdp_2_has_no_8_bit_adam_in_axolotl() {
        let changes = [change("fsdp_version", None, Some("2"))];
        assert!(broken("", "optimizer: adamw_bnb_8bit\nfsdp_version: 2\n", &changes).is_some());
        assert_eq!(broken("", "optimizer: adamw_torch_fused\nfsdp_version: 2\n", &changes), None);
    }

    #[test]
    fn what_to_check_is_named() {
        let edited = |text: &str, change: Change| Edited { text: text.to_owned(), changes: vec![change] };
        let added = edited(
            "x.py --bf16 --overlap-param-gather",
            change("--overlap-param-gather", None, Some("True")),
        );
        assert!(added.cautions("x.py --bf16", SURE)[0].contains("`--overlap-param-gather`"));
        let dated = "x.py --overlap-param-gather --recompute-modules core_attn";
        let dated = edited(dated, change("--overlap-param-gather", None, Some("True")));
        assert!(dated.cautions("", SURE).is_empty());
        assert!(dated.cautions("", (-0.014, 0.05))[0].contains("gain of 1.4%"));
        assert!(dated.cautions("", (0.014, 0.05))[0].contains("loss of 1.4%"));
        assert!(dated.cautions("", (0.14, 0.05))[0].contains("14.0% longer"));
        let file = edited("deepspeed: ds_z2.json", change("deepspeed", None, Some("ds_z2.json")));
        assert!(file.cautions("", SURE)[0].contains("ds_z2.json"));
        let text = "x.py --micro-batch-size 16 --save out-${batch}";
        let two = edited(text, change("--micro-batch-size", Some("1"), Some("16")));
        let before = "x.py --micro-batch-size ${batch} --save out-${batch}";
        assert!(two.cautions(before, SURE)[0].contains("`batch`"));
    }

    /// A size in two places: the flag, and the file that DeepSpeed reads.
    #[test]
    fn a_size_that_also_goes_into_a_file_is_not_changed_in_one_place() {
        let changes = [change("--micro-batch-size", Some("1"), Some("16"))];
        for rest in ["sed s/M/${batch}/ a > b", "cat <<EOF > ds.json\n{\"micro\": $batch}\nEOF"] {
            let text = |value: &str| format!("batch=1\n{rest}\nx.py --micro-batch-size {value}\n");
            let reason = broken(&text("${batch}"), &text("16"), &changes);
            assert!(reason.is_some_and(|reason| reason.contains("`batch`")), "{rest}");
        }
        let text = |value: &str| format!("x.py --micro-batch-size {value} --save ${{batch}}\n");
        assert_eq!(broken(&text("${batch}"), &text("16"), &changes), None);
    }
}
