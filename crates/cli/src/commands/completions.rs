//! `completions` and `man`: made from the same description of the arguments as `--help`.

use crate::args::Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use clap::CommandFactory;
use railwright_spec::problem::{Problem, did_you_mean};

/// A completion script.
pub(crate) fn shell(shell: clap_complete::Shell, printer: &Printer) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "railwright", &mut script);
    printer.data(&String::from_utf8_lossy(&script), None)?;
    Ok(Outcome::Yes)
}

/// A manual page.
pub(crate) fn man(command: Option<&str>, printer: &Printer) -> Result<Outcome, Failure> {
    let mut whole = Arguments::command();
    whole.build();
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
                Problem::new(format!("no command is called `{name}`")).hint(hint)
            })?;
            found.name(format!("railwright-{name}").leak() as &str)
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut roff)
        .map_err(|error| Problem::new(format!("the manual page cannot be written: {error}")))?;
    printer.data(&String::from_utf8_lossy(&roff), None)?;
    Ok(Outcome::Yes)
}
