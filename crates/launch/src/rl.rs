//! Reinforcement learning: verl and RL2 (scripts with overrides, verl's YAML), NeMo-RL and AReaL (YAML),
//! prime-rl (TOML); and fine-tuning with them.
//!
//! Responsible for: the trained part (the actor's update) as a run, and the memory of generation on the same
//! GPUs, which is listed. Excludes the time of generation, rewards and log-probabilities: a step here is one
//! update of the actor.

mod areal;
mod common;
mod generation;
mod inherit;
mod nemo;
mod prime;
mod rl2;
pub(crate) mod sft;
mod verl;

#[cfg(test)]
mod tests;

use crate::document::{self, Data, Document, Entry, Spot};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::shell::{self, Word};
use crate::{Context, Evidence, Format, Launch, Reader, RemarkKind, Strength, effects};
use inherit::{Inherited, inherit};
use railwright_spec::problem::Problem;

/// Reads configurations of reinforcement learning.
#[derive(Clone, Copy, Debug)]
pub struct RlReader;

impl Reader for RlReader {
    fn format(&self) -> Format {
        Format::Rl
    }

    fn recognise(&self, text: &str) -> Option<Evidence> {
        let certain = |why: &str| Some(Evidence::new(Strength::Certain, why));
        if verl::is_one(text) {
            return certain("verl: keys of `actor_rollout_ref`");
        }
        if rl2::is_one(text) {
            return certain(&format!("RL2: {}", rl2::WHY));
        }
        if sft::is_configuration(text) {
            return certain("verl: YAML of its fine-tuning with `partial_pretrain`");
        }
        if sft::is_one(text) {
            return certain("verl: a command that starts its fine-tuning");
        }
        if nemo::is_one(text) {
            return certain("NeMo-RL: YAML with the key `policy` and its `dtensor_cfg` or `megatron_cfg`");
        }
        if areal::is_one(text) {
            return certain("AReaL: YAML with `train_dataset` and a layout such as `fsdp:d8`");
        }
        if prime::is_one(text) {
            return certain("prime-rl: TOML with `[model]` and `[orchestrator]`, or `[model]` and `[optim]`");
        }
        None
    }

    fn read_with(&self, text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
        read_started(text, file, context, &[])
    }
}

/// Reads a configuration with the arguments of the program that reads it, which are overrides in Hydra's
/// form.
pub(crate) fn read_started(
    text: &str,
    file: &str,
    context: &Context<'_>,
    arguments: &[Word],
) -> Result<Launch, Vec<Problem>> {
    let is_verl = verl::is_one(text);
    if !is_verl && rl2::is_one(text) {
        return rl2::read(text, file, context);
    }
    let has_own =
        |is_one: fn(&str) -> bool| !is_verl && !sft::is_one(text) && !nemo::is_one(text) && is_one(text);
    if has_own(areal::is_one) {
        return areal::read(text, file);
    }
    if has_own(prime::is_one) {
        return prime::read(text, file);
    }
    if sft::is_configuration(text) {
        return configuration(text, file);
    }
    if !is_verl && sft::is_one(text) {
        return tuning(text, file, context);
    }
    let (mut document, unknown, undecided) = parse(text, file, context).map_err(|problem| vec![problem])?;
    let mut inherited = if is_verl {
        Inherited::default()
    } else {
        inherit(&mut document, text, file, context).map_err(|problem| vec![problem])?
    };
    let unset = inherit::override_with(&mut document, arguments, &mut inherited.sources);
    let known = if is_verl { verl::KNOWN } else { nemo::KNOWN };
    let is_known =
        |path: &str| known.iter().any(|(name, meaning)| *name == path && *meaning != Meaning::Ignored);
    let open = document::interpolate(&mut document);
    let mut fields = Fields::new(Format::Rl, file, text, document);
    fields.draft.lines_of(inherited.sources);
    for (path, value, spot, why) in open.into_iter().filter(|(path, ..)| is_known(path)) {
        let message = format!("cannot be resolved, so it stays unset: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
    }
    for (line, what, why) in undecided {
        fields.draft.remark(RemarkKind::Unresolved, &what, Some(line), why);
    }
    for (word, line) in
        unknown.into_iter().chain(unset).filter(|(word, _)| is_known(word.split('=').next().unwrap_or(word)))
    {
        let message = "no value in this file, so it stays unset";
        fields.draft.remark(RemarkKind::Unresolved, &word, Some(line), message);
    }
    fields.copy(known);
    if is_verl {
        verl::fill(&mut fields);
    } else {
        nemo::fill(&mut fields, inherited.missing.as_deref());
    }
    // Without generation a step is an update alone.
    if !["sft", "dpo", "rm"].into_iter().any(|section| fields.document.has(section)) {
        let message = "a step is one actor update: generation, rewards and log-probabilities are excluded";
        fields.draft.remark(RemarkKind::Assumed, "the run", None, message);
    }
    missing(&mut fields, if is_verl { "verl" } else { "NeMo-RL" });
    quiet_rest(&mut fields, known);
    fields.finish()
}

/// verl's configuration of supervised fine-tuning, which does not set the ranks.
fn configuration(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    let open = document::interpolate(&mut document);
    let mut fields = Fields::new(Format::Rl, file, text, document);
    for (path, value, spot, why) in open {
        let message = format!("cannot be resolved, so it stays unset: {why}");
        fields.draft.remark(RemarkKind::Unresolved, &format!("{path}: {value}"), spot.line(), message);
    }
    fields.copy(sft::KNOWN);
    sft::fill(&mut fields);
    missing(&mut fields, "verl");
    fields.rest(sft::KNOWN);
    fields.finish()
}

/// verl's supervised fine-tuning.
fn tuning(text: &str, file: &str, context: &Context<'_>) -> Result<Launch, Vec<Problem>> {
    document::check_length(text, file).map_err(|problem| vec![problem])?;
    let script = shell::read(text, file, context, |_| Vec::new());
    let (document, unknown) = sft::parse(&script, file).map_err(|problem| vec![problem])?;
    let mut fields = Fields::new(Format::Rl, file, text, document);
    for (line, what, why) in script.open {
        fields.draft.remark(RemarkKind::Unresolved, &what, Some(line), why);
    }
    let known = sft::KNOWN.iter().filter(|(_, meaning)| *meaning != Meaning::Ignored);
    let known: Vec<&str> = known.map(|(name, _)| *name).collect();
    for (word, line) in unknown {
        if known.contains(&word.split('=').next().unwrap_or_default()) {
            let message = "no value in this file, so it stays unset";
            fields.draft.remark(RemarkKind::Unresolved, &word, Some(line), message);
        }
    }
    fields.copy(sft::KNOWN);
    sft::fill(&mut fields);
    missing(&mut fields, "verl");
    fields.rest(sft::KNOWN);
    fields.finish()
}

/// Keys that divide the devices among the parts of a job.
fn is_number_of_devices(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('_').any(|word| matches!(word, "gpus" | "gpu" | "nnodes" | "nodes"))
        && last.starts_with(['n', 'g'])
        && !last.contains("utilization")
        && !last.contains("memory")
}

/// Ignores keys outside trained sections; hundreds of them concern generation, rewards and logging.
fn quiet_rest(fields: &mut Fields<'_>, known: &[Known]) {
    let sections = [
        "actor_rollout_ref.actor.",
        "actor_rollout_ref.model.",
        "policy.megatron_cfg.",
        "policy.dtensor_cfg.",
    ];
    let harmless = [
        ".optim",
        ".checkpoint",
        ".scheduler",
        "clip",
        "entropy",
        "kl_",
        "loss",
        "shuffle",
        "lr",
        "env_vars",
        "router",
        "seed",
        "lora",
        "epochs",
        "policy_loss",
        "profiler",
        "path",
        "save",
        "load",
        "override_config",
        "external_lib",
        "custom",
        "trust_remote_code",
        "_target_",
        "data_loader",
        "rollout_n",
        "tau",
        "moe_aux",
        "nccl_timeout",
        "freeze_moe",
        "wrap_policy",
        "forward_prefetch",
        "reshard",
        "use_shm",
        "tokenizer",
        "converter",
        "peft",
        "use_legacy",
        "extra",
        "use_mbridge",
    ];
    fields.document.entries.retain(|entry| {
        entry.taken
            || known.iter().any(|(name, _)| *name == entry.path)
            || is_number_of_devices(&entry.path)
            || (sections.iter().any(|section| entry.path.starts_with(section))
                && (effects::named(&entry.path) || !harmless.iter().any(|part| entry.path.contains(part)))
                && !effects::is_off(&entry.data))
    });
    fields.rest(known);
}

/// Overrides without a value, with their lines.
type Unknown = Vec<(String, usize)>;
/// Parts that the shell leaves undecided: line, text and reason.
type Undecided = Vec<(usize, String, String)>;

fn parse(text: &str, file: &str, context: &Context<'_>) -> Result<(Document, Unknown, Undecided), Problem> {
    let is_yaml = ["actor_rollout_ref:", "policy:", "defaults:"]
        .iter()
        .any(|key| text.lines().any(|line| line.starts_with(key)));
    if is_yaml {
        return Ok((document::yaml(text, file)?, Vec::new(), Vec::new()));
    }
    document::check_length(text, file)?;
    let script = shell::read(text, file, context, |_| Vec::new());
    let count = |command: &shell::Command| {
        command
            .words
            .iter()
            .filter(|w| w.text.trim_start_matches('+').starts_with("actor_rollout_ref."))
            .count()
    };
    let Some(command) =
        script.commands.iter().rev().max_by_key(|command| count(command)).filter(|c| count(c) > 0)
    else {
        return Err(
            Problem::new("no command in this file has overrides of `actor_rollout_ref`").in_file(file)
        );
    };
    let (mut document, mut unknown) = (Document::default(), Vec::new());
    for word in &command.words {
        let Some((name, value)) = word.text.trim_start_matches(['+', '~']).split_once('=') else { continue };
        if word.unknown.is_empty() {
            let path = name.to_owned();
            let spot = Spot { line: word.line, column: 0 };
            document.entries.push(Entry::new(path, Data::of_word(value.trim_matches(['"', '\''])), spot));
        } else {
            // Names of models are the last part of their paths.
            let tail = value.rsplit('/').next().unwrap_or_default();
            if name.ends_with("model.path")
                && value.contains('/')
                && !tail.is_empty()
                && !tail.contains(['$', '{', '*'])
            {
                let spot = Spot { line: word.line, column: 0 };
                document.entries.push(Entry::new(name.to_owned(), Data::Text(tail.to_owned()), spot));
                continue;
            }
            unknown.push((word.text.clone(), word.line));
            // `auto` keeps a value open, so that no default is stated for it.
            let spot = Spot { line: word.line, column: 0 };
            document.entries.push(Entry::new(name.to_owned(), Data::Text("auto".to_owned()), spot));
        }
    }
    let mut undecided = script.open;
    let module = command.words.windows(2).find(|pair| pair[0].text == "-m").map(|pair| &pair[1]);
    if let Some(module) = module.filter(|module| !module.text.starts_with("verl.")) {
        let why = "is not verl's own program: what it trains and its step can differ from these settings";
        undecided.push((module.line, module.text.clone(), why.to_owned()));
    }
    Ok((document, unknown, undecided))
}
