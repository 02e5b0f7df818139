//! The configuration that a Python program reads if its command names none.
//!
//! Responsible for: the defaults of Hydra (`@hydra.main`), of argparse (`--config`) and of a path next to the
//! program. Runs nothing: only literal names count, and several of them are none.

use crate::Context;
use std::collections::BTreeSet;
use std::path::Path;

/// Endings of files of settings.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".toml"];

/// The name and the text of the default configuration of a program; `None` if it has none, or several.
pub(super) fn of(program: &str, script: &str, context: &Context<'_>) -> Option<(String, String)> {
    let is_file = Path::new(program).extension().is_some_and(|end| end == "py");
    let path = if is_file { program.to_owned() } else { format!("{}.py", program.replace('.', "/")) };
    let (name, text) = context.open(&path, script).ok()?;
    let found: BTreeSet<String> =
        hydra(&text).into_iter().chain(declared(&text)).chain(joined(&text)).collect();
    let mut found = found.into_iter();
    let (one, None) = (found.next()?, found.next()) else { return None };
    context.open(&one, &name).ok()
}

/// Texts between quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'']).skip(1).step_by(2)
}

/// The value of a named argument in a call.
fn named<'a>(call: &'a str, name: &str) -> Option<&'a str> {
    let at = call.find(&format!("{name}="))?;
    quoted(&call[at..]).next()
}

/// The arguments of each call of a function.
fn calls<'a>(text: &'a str, function: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(function).filter_map(move |(at, _)| {
        let rest = &text[at + function.len()..];
        let mut depth = 1_usize;
        let end = rest.char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        Some(&rest[..end.0])
    })
}

/// `@hydra.main(config_path="conf", config_name="train")`.
fn hydra(text: &str) -> Option<String> {
    let call = calls(text, "hydra.main(").next()?;
    let name = named(call, "config_name")?;
    let ending = if ENDINGS.iter().any(|end| name.ends_with(end)) { "" } else { ".yaml" };
    Some(match named(call, "config_path").map(|path| path.trim_end_matches('/')) {
        Some(path) if !path.is_empty() => format!("{path}/{name}{ending}"),
        _ => format!("{name}{ending}"),
    })
}

/// `parser.add_argument("--config", default="conf/train.yaml")`.
fn declared(text: &str) -> impl Iterator<Item = String> + '_ {
    calls(text, "add_argument(").filter_map(|call| {
        let flag = quoted(call).next()?;
        let default = named(call, "default")?;
        let is_one = flag.starts_with("--") && flag.contains("conf");
        (is_one && ENDINGS.iter().any(|end| default.ends_with(end))).then(|| default.to_owned())
    })
}

/// `os.path.join(os.path.dirname(__file__), "configs", "grpo.yaml")`.
fn joined(text: &str) -> impl Iterator<Item = String> + '_ {
    calls(text, "os.path.join(").filter_map(|call| {
        let rest = call.trim_start().strip_prefix("os.path.dirname(__file__)")?;
        let parts: Vec<&str> = quoted(rest).collect();
        let path = parts.join("/");
        ENDINGS.iter().any(|end| path.ends_with(end)).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_names_of_configurations_are_found() {
        let text =
            "@hydra.main(version_base=None, config_path=\"conf/\", config_name='train')\ndef main(): ...\n";
        assert_eq!(hydra(text).as_deref(), Some("conf/train.yaml"));
        let text = "p.add_argument(\n    \"--config\", type=str, default=\"a/b.yaml\",\n)\np.add_argument('--x', default='c.yaml')\n";
        assert_eq!(declared(text).collect::<Vec<_>>(), ["a/b.yaml"]);
        let text = "c = os.path.join(\n    os.path.dirname(__file__), \"configs\", \"grpo.yaml\"\n)\n";
        assert_eq!(joined(text).collect::<Vec<_>>(), ["configs/grpo.yaml"]);
        assert_eq!(joined("os.path.join(root, \"x.yaml\")").count(), 0);
    }
}
