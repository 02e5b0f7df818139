//! `examples` and `init`: run files to start from.

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::{args, run};
use railwright_catalog::EXAMPLE_RUNS as EXAMPLES;
use railwright_report::text::filled;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::keys;
use std::fmt::Write as _;

/// The names of all examples.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|(name, _)| *name)
}

/// The names of all examples, with the first line and the text of each.
pub(crate) fn list() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    EXAMPLES.iter().map(|(name, text)| {
        (*name, text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']), *text)
    })
}

/// Prints an example, or the names of all.
pub(crate) fn run(arguments: &args::Examples, printer: &Printer) -> Result<Outcome, Failure> {
    let path = arguments.output.as_deref();
    match &arguments.name {
        None => {
            let mut list = String::new();
            for (name, about, _) in self::list() {
                list.push_str(&filled(&format!("{name:<18} "), &" ".repeat(19), about));
            }
            printer.data(&list, path)?;
        }
        Some(name) => {
            let (_, text) = EXAMPLES.iter().find(|(known, _)| known == name).ok_or_else(|| {
                let hint = did_you_mean(
                    name,
                    names(),
                    &format!("use one of {}", names().collect::<Vec<_>>().join(", ")),
                );
                Problem::new(format!("unknown example `{name}`")).hint(hint)
            })?;
            printer.data(text, path)?;
        }
    }
    Ok(Outcome::Yes)
}

/// Prints a run file: specified values as settings, all others as comments with their defaults.
pub(crate) fn init(arguments: &args::Init, printer: &Printer) -> Result<Outcome, Failure> {
    let spec = run::starting_point(&arguments.run)?;
    let mut text = String::from(
        "# A Railwright run file: model, plan and cluster.\n\
         # `railwright estimate --run FILE` estimates it.\n\
         # `railwright keys` lists all keys.\n",
    );
    let mut section = "";
    for key in keys() {
        let value = spec.get(&key.path());
        // Dimensions of a named model are listed only if they are set.
        if value.is_none() && key.section == "model" && key.name != "name" {
            continue;
        }
        if key.section != section {
            section = key.section;
            let _ = writeln!(text, "\n[{section}]");
        }
        let doc = key.doc.trim();
        if let Some(value) = value {
            text.push_str(&filled("# ", "# ", doc));
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} = {}", key.name, spec.written(&key, value).to_toml());
        } else {
            text.push_str(&filled("# ", "#   ", &format!("{}: {doc} [default: {}]", key.name, key.default)));
        }
    }
    printer.data(&text, arguments.output.as_deref())?;
    Ok(Outcome::Yes)
}
