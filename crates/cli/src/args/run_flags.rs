//! The flags that describe a run: one per key of a run file, made from the table of keys so that neither can lack what the
//! other has.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use railwright_spec::run::{Key, Kind, keys};

/// Settings from flags: the flag, the key, the text behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFlags {
    pub(crate) settings: Vec<(String, String, String)>,
}

/// Other names of flags: the field's abbreviations, and what the frameworks call them.
const ALIASES: &[(&str, &[&str])] = &[
    ("plan.tensor_parallel", &["tp"]),
    ("plan.sequence_parallel", &["sp"]),
    ("plan.pipeline_parallel", &["pp"]),
    ("plan.virtual_stages", &["vp", "vpp"]),
    ("plan.context_parallel", &["cp"]),
    ("plan.data_parallel", &["dp"]),
    ("plan.expert_parallel", &["ep"]),
    ("plan.expert_tensor_parallel", &["etp"]),
    ("plan.micro_batch", &["mbs", "micro-batch-size"]),
    ("plan.global_batch", &["gbs", "global-batch-size"]),
    ("plan.sequence_length", &["seq", "seq-length"]),
    ("plan.sharding", &["zero"]),
    ("plan.uneven_stages", &["uneven"]),
    ("plan.software", &["framework"]),
    ("cluster.devices", &["gpus"]),
    ("cluster.accelerator", &["gpu"]),
];

/// The flag of a key, without dashes; `None` for what is said in another way.
pub(crate) fn flag_of(key: &Key) -> Option<String> {
    let name = match (key.section, key.name) {
        // The positional argument and `--cluster`, which also take paths.
        ("model", "name" | "config") | ("cluster", "preset") => return None,
        ("cluster", "name") => "cluster-name",
        ("cluster", "source") => "cluster-source",
        (_, "precision.preset") => "precision",
        (_, name) => name,
    };
    Some(name.replace(['_', '.'], "-"))
}

/// Other names of a key's flag, without dashes.
pub(crate) fn aliases_of(key: &Key) -> &'static [&'static str] {
    let path = key.path();
    ALIASES.iter().find(|(known, _)| *known == path).map_or(&[][..], |(_, aliases)| aliases)
}

/// The shortest flag of a key, without dashes: `tp`.
pub(crate) fn short_flag_of(key: &Key) -> Option<String> {
    let short = aliases_of(key).first().filter(|alias| alias.len() <= 3).map(|alias| (*alias).to_owned());
    short.or_else(|| flag_of(key))
}

fn heading(section: &str) -> &'static str {
    match section {
        "model" => "Model by dimensions",
        "cluster" => "Cluster",
        "plan" => "Plan",
        "training" => "Training",
        _ => "Cost",
    }
}

/// Choices that together are shorter than this stand in the help's first line.
const SHORT: usize = 48;

fn argument(key: &Key, flag: String) -> Arg {
    let path = key.path();
    let aliases = ALIASES.iter().find(|(known, _)| *known == path).map_or(&[][..], |(_, aliases)| aliases);
    // The dimensions of a model and the details of a cluster would drown the rest: `--help` has them, `-h` has not.
    let is_detail = key.section == "model" || (key.section == "cluster" && key.name != "devices");
    let doc = key.doc.trim().trim_end_matches('.');
    let argument = Arg::new(path)
        .long(flag)
        .visible_aliases(aliases.iter().copied())
        .help(doc.to_owned())
        .long_help(format!("{doc}\n\nExpects {}. [default: {}]", key.kind.expects(), key.default))
        .help_heading(heading(key.section))
        .hide_short_help(is_detail)
        .allow_negative_numbers(true)
        .action(ArgAction::Append);
    match key.kind {
        Kind::Flag => {
            argument.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
        }
        Kind::Count => argument.value_name("N"),
        Kind::Number => argument.value_name("X"),
        Kind::Choice(names) if names.iter().map(|n| n.len() + 1).sum::<usize>() <= SHORT => {
            argument.value_name(names.join("|"))
        }
        Kind::Choice(_) | Kind::Form(_) => argument.value_name("CHOICE"),
        Kind::Counts => argument.value_name("N,N,..."),
        Kind::Texts => argument.value_name("TEXT,..."),
        Kind::Text => argument.value_name("TEXT"),
        Kind::Quantity(_) => argument.value_name("QUANTITY"),
        Kind::Amount(_) => argument.value_name("AMOUNT"),
    }
}

impl Args for RunFlags {
    fn augment_args(command: Command) -> Command {
        keys().iter().fold(command, |command, key| match flag_of(key) {
            Some(flag) => command.arg(argument(key, flag)),
            None => command,
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in keys() {
            let Some(flag) = flag_of(&key) else { continue };
            let path = key.path();
            // Said twice, the last counts: scripts append to a list of flags.
            if let Some(value) = matches.get_many::<String>(&path).and_then(Iterator::last) {
                self.settings.push((format!("--{flag}"), path, value.clone()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_has_a_flag_of_its_own() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            if let Some(flag) = flag_of(&key) {
                assert!(seen.insert(flag.clone()), "--{flag} stands twice");
            }
        }
        for (path, aliases) in ALIASES {
            assert!(keys().iter().any(|key| key.path() == *path), "{path}");
            for alias in *aliases {
                assert!(seen.insert((*alias).to_owned()), "--{alias} stands twice");
            }
        }
        assert!(seen.len() > 80);
    }
}
