//! Short help: `-h` lists the usual options of a command on one screen, `--help` all of them.

use clap::{Arg, Command};

/// Identifiers of options that `-h` omits, by command: `*` for all commands, with exceptions of a command
/// after `-`.
const RARE: &str = include_str!("help/brief.txt");
/// Longest name of a value that leaves room for the help next to it, in characters.
const LONGEST_VALUE: usize = 20;

fn is_rare(command: &str, id: &str) -> bool {
    let lists = |start: &str| {
        let lines = RARE.lines().filter_map(|line| line.strip_prefix(start)?.strip_prefix(' '));
        lines.flat_map(str::split_whitespace).any(|one| one == id)
    };
    lists(command) || lists("*") && !lists(&format!("- {command}"))
}

/// The command with the options that `-h` lists. Aliases work, but are not listed; options of a run have no
/// explanation.
pub(super) fn short(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let brief = |arg: Arg| {
        let rare = arg.is_hide_short_help_set() || is_rare(&name, arg.get_id().as_str());
        let is_run = ["Plan", "Cluster", "Training"].contains(&arg.get_help_heading().unwrap_or_default());
        let aliases: Vec<String> =
            arg.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned).collect();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let end = if is_run { ": " } else { ". " };
        let help = help.split(end).next().unwrap_or_default().to_owned();
        let is_long =
            arg.get_value_names().is_some_and(|names| names.iter().any(|n| n.len() > LONGEST_VALUE));
        let is_format = arg.get_id() == "format";
        let arg = if is_run { arg.help_heading("Plan") } else { arg };
        let arg = if is_long { arg.value_name("CHOICE") } else { arg };
        let arg = arg.visible_alias(None::<&'static str>).aliases(aliases).help(help);
        arg.hide_possible_values(is_format).hide_short_help(rare)
    };
    command.mut_args(brief).disable_version_flag(true).mut_subcommands(short)
}
