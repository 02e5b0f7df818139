//! `completions` and `man`: made from the same description of the arguments as `--help`.

use super::examples;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::{args, input};
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use railwright_calculator::estimate::topics;
use railwright_calculator::software;
use railwright_spec::cluster::{accelerator_ids, instances, preset_names};
use railwright_spec::model::catalogue;
use railwright_spec::problem::{Problem, did_you_mean};
use std::fmt::Write as _;

/// A completion script. Names of the catalogue and files are completed.
pub(crate) fn shell(shell: Shell, printer: &Printer) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(args::whole(), ""), "railwright", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let script = match shell {
        // Shells complete files if no name matches.
        Shell::Zsh => zsh_with_files(script),
        Shell::Fish => fish_with_models(&script),
        _ => script,
    };
    printer.data(&script, None)?;
    Ok(Outcome::Yes)
}

/// The commands that take a run.
const RUNS: [&str; 4] = ["estimate", "memory", "timeline", "init"];

fn models() -> Vec<String> {
    catalogue().iter().map(|entry| entry.name.to_owned()).collect()
}

/// Presets, instance types of clouds, and accelerators with their usual surroundings.
fn clusters() -> Vec<String> {
    presets().into_iter().chain(accelerator_ids()).collect()
}

/// Names of presets, and the instance types that they stand for.
fn presets() -> Vec<String> {
    let types = instances().iter().flat_map(|instance| instance.types.iter().cloned());
    preset_names().into_iter().map(str::to_owned).chain(types).collect()
}

/// The names that an argument of a command may take, if a catalogue lists them.
fn names(command: &str, argument: &str) -> Option<Vec<String>> {
    Some(match (command, argument) {
        (command, "model") if RUNS.contains(&command) => models(),
        (_, "cluster") => clusters(),
        (_, "cluster.accelerator") | ("gpus show", "name") => accelerator_ids(),
        (_, "plan.software") => software::generations().iter().map(|g| g.id.clone()).collect(),
        ("models show", "name") => models(),
        ("clusters show", "name") => presets(),
        ("explain", "id") => topics().into_iter().map(|topic| topic.id).collect(),
        ("examples", "name") => examples::names().map(str::to_owned).collect(),
        _ => return None,
    })
}

/// The description of the arguments with the names that exist now. Only for scripts: a name may also be a
/// path, an alias, or mistyped, and the errors of the program are better.
fn with_names(command: Command, path: &str) -> Command {
    let command = command.mut_args(|argument| match names(path, argument.get_id().as_str()) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(names)),
        None => argument,
    });
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        with_names(inner, path.trim_start())
    })
}

/// Zsh completes no files where names are listed, so models and clusters are completed by functions that
/// offer both.
fn zsh_with_files(script: String) -> String {
    let mut script = script;
    for (function, names) in [("models", models()), ("clusters", clusters())] {
        let list = names.join(" ");
        // `models show` lists the same names and also accepts files.
        script = script.replace(&format!(":({list})"), &format!(":_railwright_{function}"));
        let body = format!(
            "_railwright_{function}() {{\n    _alternative '{function}:{function}:({list})' 'files:file:_files'\n}}\n"
        );
        script = match script.split_once('\n') {
            Some((first, rest)) => format!("{first}\n\n{body}{rest}"),
            None => script,
        };
    }
    script
}

/// Fish does not support positional arguments, and completes no files where names are listed.
fn fish_with_models(script: &str) -> String {
    let first = clusters().into_iter().next().unwrap_or_default();
    let mut script = script.replace(&format!("-r -f -a \"{first}"), &format!("-r -F -a \"{first}"));
    let mut offer = |command: &str, names: &[String]| {
        // Writing to a String cannot fail.
        let _ = writeln!(
            script,
            "complete -c railwright -n \"__fish_railwright_using_subcommand {command}\" -a \"{}\"",
            names.join(" ")
        );
    };
    for command in RUNS {
        offer(command, &models());
    }
    offer("explain", &topics().into_iter().map(|topic| topic.id).collect::<Vec<_>>());
    script
}

/// A manual page.
pub(crate) fn man(command: Option<&str>, printer: &Printer) -> Result<Outcome, Failure> {
    let whole = args::whole();
    let page = match command {
        None => whole,
        Some(name) => {
            let names: Vec<String> = whole.get_subcommands().map(|c| c.get_name().to_owned()).collect();
            let found = whole.find_subcommand(name).cloned().ok_or_else(|| {
                let hint = did_you_mean(
                    name,
                    names.iter().map(String::as_str),
                    "`railwright --help` lists the commands",
                );
                Problem::new(format!("unknown command `{name}`")).hint(hint)
            })?;
            found.name(format!("railwright-{name}").leak() as &str)
        }
    };
    printer.data(&roff(page)?, None)?;
    Ok(Outcome::Yes)
}

/// Writes the pages of all commands to a folder: `railwright.1`, `railwright-estimate.1`,
/// `railwright-network-design.1`, ...
pub(crate) fn man_pages(folder: &str, printer: &Printer) -> Result<Outcome, Failure> {
    let whole = args::whole();
    input::make_folder(folder)?;
    let mut count = 0;
    for (name, page) in pages(&whole, "") {
        let path = format!("{folder}/{name}.1");
        input::write(&path, &roff(page.name(name.leak() as &str))?)?;
        count += 1;
    }
    printer.note(&format!("wrote {count} pages to `{folder}`"));
    Ok(Outcome::Yes)
}

/// A command and all commands below it, with the names of their pages.
fn pages(command: &Command, above: &str) -> Vec<(String, Command)> {
    let name = format!("{above}{}", command.get_name());
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    let mut all: Vec<_> = inner.flat_map(|inner| pages(inner, &format!("{name}-"))).collect();
    all.insert(0, (name, command.clone()));
    all
}

fn roff(page: Command) -> Result<String, Problem> {
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|error| Problem::new(format!("the manual page cannot be written: {error}")))?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(shell: Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut with_names(args::whole(), ""), "railwright", &mut script);
        String::from_utf8(script).expect("UTF-8")
    }

    #[test]
    fn scripts_use_names_of_the_catalogue() {
        let bash = script(Shell::Bash);
        let zsh = zsh_with_files(script(Shell::Zsh));
        let fish = fish_with_models(&script(Shell::Fish));
        for name in
            ["llama-3.1-405b", "dgx-h100", "h100-sxm5-80gb", "megatron-core-2025", "memory-margin-small"]
        {
            for (shell, script) in [("bash", &bash), ("zsh", &zsh), ("fish", &fish)] {
                assert!(script.contains(name), "{shell} does not know {name}");
            }
        }
        assert!(zsh.contains(":_railwright_models'") && zsh.contains(":_railwright_clusters'"));
        assert!(zsh.starts_with("#compdef railwright\n"));
        assert!(fish.contains("-l cluster ") && fish.contains("-r -F -a \"aws-"));
    }

    #[test]
    fn every_visible_command_has_a_manual_page() {
        let whole = args::whole();
        let names: Vec<String> = pages(&whole, "").into_iter().map(|(name, _)| name).collect();
        for name in
            ["railwright", "railwright-estimate", "railwright-network-design", "railwright-models-show"]
        {
            assert!(names.iter().any(|known| known == name), "{name} is missing from {names:?}");
        }
        assert!(names.iter().all(|name| name != "railwright-man" && !name.ends_with("-help")));
    }

    #[test]
    fn every_name_belongs_to_an_argument_that_exists() {
        let command = with_names(args::whole(), "");
        let find = |path: &[&str], id: &str| {
            let last = path.iter().try_fold(&command, |command, name| command.find_subcommand(name));
            let values = last
                .and_then(|c| c.get_arguments().find(|a| a.get_id() == id))
                .map(clap::Arg::get_possible_values);
            assert!(values.is_some_and(|values| values.len() > 3), "{path:?} {id}");
        };
        for command in RUNS {
            for id in ["model", "cluster", "cluster.accelerator", "plan.software"] {
                find(&[command], id);
            }
        }
        find(&["models", "show"], "name");
        find(&["gpus", "show"], "name");
        find(&["clusters", "show"], "name");
        find(&["explain"], "id");
        find(&["examples"], "name");
    }
}
