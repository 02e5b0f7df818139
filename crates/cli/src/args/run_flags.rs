//! The flags that describe a run: one per key of a run file, made from the table of keys so that both are
//! complete.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use railwright_answers::{aliases_of, flag_of, is_same_value};
use railwright_spec::human;
use railwright_spec::run::{Key, Kind, keys};
use std::collections::BTreeMap;

/// Settings from flags: the flag, the key, the text after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFlags {
    pub(crate) settings: Vec<(String, String, String)>,
}

impl RunFlags {
    /// Settings by any names of their flags. A Boolean key may have no value.
    pub(crate) fn named(pairs: &[(String, String)]) -> Result<Self, String> {
        let mut settings: Vec<(String, String, String)> = Vec::new();
        for (name, value) in pairs {
            let named = keys().into_iter().find_map(|key| {
                let flag = flag_of(&key)?;
                (flag == *name || aliases_of(&key).contains(&name.as_str())).then_some((key, flag))
            });
            let (key, flag) = named.ok_or_else(|| format!("unexpected argument '--{name}' found"))?;
            let (path, is_flag) = (key.path(), matches!(key.kind, Kind::Flag));
            let value = if value.is_empty() && is_flag { "true" } else { value };
            if value.is_empty() {
                return Err(format!("`--{name}` has no value"));
            }
            if settings.iter().any(|(_, known, other)| *known == path && !is_same_value(&path, other, value))
            {
                return Err(format!("`--{name}` has two values"));
            }
            settings.push((format!("--{flag}"), path, value.to_owned()));
        }
        Ok(Self { settings })
    }
}

/// Shorthands of `--sharding`.
#[derive(Args, Clone, Debug, Default, serde::Deserialize)]
pub(crate) struct Sharding {
    /// Shard parameters, gradients and optimizer states over all replicas (same as `--sharding fsdp`)
    #[arg(long, conflicts_with_all = ["hsdp", "plan.sharding"], help_heading = "Plan")]
    fsdp: bool,
    /// Shard within groups of N ranks and replicate across them (same as `--sharding hsdp:N`)
    #[arg(long, value_name = "N", conflicts_with = "plan.sharding", help_heading = "Plan")]
    hsdp: Option<u64>,
}

impl Sharding {
    /// The flag and its value of `plan.sharding`.
    pub(crate) fn setting(&self) -> Option<(&'static str, String)> {
        match (self.fsdp, self.hsdp) {
            (true, _) => Some(("--fsdp", "fsdp".to_owned())),
            (false, Some(ranks)) => Some(("--hsdp", format!("hsdp:{ranks}"))),
            (false, None) => None,
        }
    }
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

/// Maximum total length of choices in the help's first line, in characters.
const SHORT: usize = 48;

/// Keys outside the model that the short help (`-h`) lists: those that a layout is described by. `--help`
/// lists all.
const USUAL: [&str; 14] = [
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_stages",
    "context_parallel",
    "expert_parallel",
    "sharding",
    "micro_batch",
    "global_batch",
    "sequence_length",
    "precision.preset",
    "recompute",
    "software",
    "devices",
    "tokens",
];

fn argument(key: &Key, flag: String) -> Arg {
    let path = key.path();
    let aliases = aliases_of(key);
    let is_usual = key.section != "model" && USUAL.contains(&key.name);
    let doc = key.doc.trim().trim_end_matches('.');
    let argument = Arg::new(path)
        .long(flag)
        .visible_aliases(aliases.iter().copied())
        .help(doc.to_owned())
        .long_help(format!("{doc}\n\nExpects {}. [default: {}]", key.kind.expects(), key.default))
        .help_heading(heading(key.section))
        .hide_short_help(!is_usual)
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

/// One setting with two values. The command line may set it under two names.
fn contradiction(key: &Key, flag: &str, value: &str, other: &str) -> clap::Error {
    let names: Vec<String> = aliases_of(key).iter().map(|name| format!("--{name}")).collect();
    let names = if names.is_empty() { String::new() } else { format!(" (also {})", names.join(", ")) };
    let message = format!(
        "--{flag}{names}: two values, `{}` and `{}`\n\nhint: pass it once\n",
        human::shorten(value),
        human::shorten(other)
    );
    clap::Error::raw(ErrorKind::ArgumentConflict, message)
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
            let Some(mut values) = matches.get_many::<String>(&path) else { continue };
            let Some(value) = values.next() else { continue };
            if let Some(other) = values.find(|other| !is_same_value(&path, other, value)) {
                return Err(contradiction(&key, &flag, value, other));
            }
            self.settings.push((format!("--{flag}"), path, value.clone()));
        }
        Ok(())
    }
}

impl<'de> serde::Deserialize<'de> for RunFlags {
    fn deserialize<D: serde::Deserializer<'de>>(arguments: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, String>::deserialize(arguments)?;
        let set = |key: Key| {
            let path = key.path();
            let value = given.get(&*path)?.clone();
            Some((format!("--{}", flag_of(&key)?), path, value))
        };
        Ok(Self { settings: keys().into_iter().filter_map(set).collect() })
    }
}
