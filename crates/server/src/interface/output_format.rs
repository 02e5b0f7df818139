//! Output formats of each command, and their selection.

use super::program::Interface;
use clap::{Arg, ArgAction, Command};
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};

/// The media type of a result, if the format determines it, and the argument for the format with its value.
type Chosen<'a> = (Option<&'static str>, Option<(&'a Arg, String)>);

impl Interface {
    /// The media type of a result as far as its format determines it, and the argument for the format.
    pub(super) fn output_format<'a>(
        &self,
        command: &'a Command,
        format: Option<&str>,
    ) -> Result<Chosen<'a>, Problem> {
        let format = format.unwrap_or("json");
        let has = |name: &str| command.get_arguments().find(|argument| argument.get_id() == name);
        let media = match format {
            "json" | "columns" | "chrome" => Some("application/json"),
            "csv" => Some("text/csv; charset=utf-8"),
            "md" => Some("text/markdown; charset=utf-8"),
            "svg" => Some("image/svg+xml"),
            "html" => Some("text/html; charset=utf-8"),
            _ => Some("text/plain; charset=utf-8"),
        };
        let formats = has("format").map(Arg::get_possible_values).unwrap_or_default();
        if formats.iter().any(|value| value.matches(format, false)) {
            return Ok((media, has("format").map(|argument| (argument, format.to_owned()))));
        }
        if let Some(flag) = has(format).filter(|flag| matches!(flag.get_action(), ArgAction::SetTrue)) {
            return Ok((media, Some((flag, "true".to_owned()))));
        }
        // A command with a single format is printed in that one.
        if format == "json" || (format == "table" && formats.is_empty()) {
            return Ok((None, None));
        }
        let names = self.forms(command);
        let problem =
            Problem::new(format!("`{}` has no format `{}`", command.get_name(), human::shorten(format)));
        let list =
            if names.is_empty() { "omit it".to_owned() } else { format!("use one of {}", names.join(", ")) };
        Err(problem.at_key("format").hint(did_you_mean(format, names.iter().map(String::as_str), &list)))
    }

    /// Selectable output formats of a command; empty if it has only one.
    pub(super) fn forms(&self, command: &Command) -> Vec<String> {
        let has = |name: &str| command.get_arguments().find(|argument| argument.get_id() == name);
        let formats = has("format").map(Arg::get_possible_values).unwrap_or_default();
        let mut names: Vec<String> = formats.iter().map(|value| value.get_name().to_owned()).collect();
        // Every command accepts the word, but only some have HTML.
        names.retain(|name| name != "html" || self.program.pages.contains(&command.get_name()));
        for flag in ["json", "svg"] {
            let is_flag = has(flag).is_some_and(|argument| !argument.get_action().takes_values());
            if is_flag && !names.iter().any(|name| name == flag) {
                names.push(flag.to_owned());
            }
        }
        names
    }
}
