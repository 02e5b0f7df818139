//! Commands grouped by task: the overview under `railwright -h`, on one screen, and `--help` with all
//! summaries.
//!
//! Responsible for: the groups, and their order. Summaries of `--help` are those of the commands.

use clap::Command;
use railwright_report::text::filled;

/// Commands by task. A test checks that every command is listed.
pub(super) const OVERVIEW: &str = include_str!("help/overview-overview.txt");
/// Tasks, each with its commands.
const GROUPS: &str = include_str!("help/groups.txt");

/// Tasks, each with its commands.
fn groups() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    GROUPS.lines().filter_map(|line| {
        let (task, commands) = line.split_once(' ')?;
        Some((task, commands.split(' ').collect()))
    })
}

/// The program with commands grouped by task in its `--help`.
pub(super) fn grouped(program: Command) -> Command {
    let mut out = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (task, names) in groups() {
        out.push('\n');
        out.push_str(task);
        out.push('\n');
        for name in names {
            let Some(command) = program.find_subcommand(name) else { continue };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<&str> = command.get_visible_aliases().collect();
            let also =
                if aliases.is_empty() { String::new() } else { format!(" [alias: {}]", aliases.join(", ")) };
            out.push_str(&filled(&format!("  {name:<17}"), &" ".repeat(19), &format!("{about}{also}")));
        }
    }
    out.push_str("\nOptions\n{options}{after-help}");
    program.help_template(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_long_help_has_every_command_once_in_its_group() {
        let help = grouped(Arguments::command()).render_long_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        for (task, names) in groups() {
            let section = help.split(&format!("\n{task}\n")).nth(1).expect("a section");
            let section = section.split("\n\n").next().unwrap_or_default();
            for name in names {
                let lines = section.lines().filter(|line| line.split_whitespace().next() == Some(name));
                assert_eq!(lines.count(), 1, "{name} in {task}:\n{help}");
            }
        }
        assert!(help.contains("--memory-limit") && help.contains("Exit codes:"), "{help}");
    }

    #[test]
    fn all_commands_are_on_one_screen() {
        assert!(OVERVIEW.lines().count() <= 40);
        assert!(OVERVIEW.lines().all(|line| line.len() <= 80));
        let listed: Vec<&str> = OVERVIEW
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .flat_map(|line| line.split("  ").next().unwrap_or_default().split([',', ' ']))
            .collect();
        let program = Arguments::command();
        let grouped: Vec<&str> = groups().flat_map(|(_, names)| names).collect();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(listed.contains(&name), "{name}");
            assert_eq!(grouped.iter().filter(|one| **one == name).count(), 1, "{name}");
        }
        assert!(grouped.iter().all(|name| program.find_subcommand(name).is_some()), "{grouped:?}");
        // Both kinds of help have the same groups in the same order.
        let tasks: Vec<&str> = groups().map(|(task, _)| task).collect();
        let shown: Vec<&str> = OVERVIEW.lines().filter(|line| tasks.contains(line)).collect();
        assert_eq!(tasks, shown);
    }
}
