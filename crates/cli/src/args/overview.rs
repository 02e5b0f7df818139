//! The overview under `railwright -h`: commands grouped by task, on one screen. `--help` has all of them with
//! their summaries.

/// Commands by task. A test checks that every command is listed.
pub(super) const OVERVIEW: &str = include_str!("help/overview-overview.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    #[test]
    fn all_commands_are_on_one_screen() {
        assert!(OVERVIEW.lines().count() <= 40);
        assert!(OVERVIEW.lines().all(|line| line.len() <= 80));
        let listed: Vec<&str> = OVERVIEW
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .flat_map(|line| line.split("  ").next().unwrap_or_default().split([',', ' ']))
            .collect();
        for command in Arguments::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(listed.contains(&command.get_name()), "{}", command.get_name());
        }
    }
}
