//! `export`: a run as a launch file of a training framework, or traces as one file for Perfetto.

use crate::exit::{Failure, Outcome, of_fit};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use crate::{args, input};
use railwright_answers::difference_as_written;
use railwright_commands::{needs, warn_of_fit};
use railwright_launch::{Lost, Written, WrittenFile};
use railwright_spec::problem::{Problem, Warning};
use serde::Serialize;
use std::path::Path;

/// Writes a run. The outcome is that of `memory`; the file is written in each case.
pub(crate) fn run(arguments: &args::launch::Export, printer: &Printer) -> Result<Outcome, Failure> {
    needs(("--perfetto", !arguments.perfetto.is_empty()), ("--output", arguments.output.is_some()))?;
    needs(("--target-version", arguments.target_version.is_some()), ("--to", arguments.to.is_some()))?;
    if !arguments.perfetto.is_empty() {
        let traces = args::tables::ExportPerfetto {
            paths: arguments.perfetto.clone(),
            output: arguments.output.clone().unwrap_or_default(),
            flows: false,
            device_only: false,
            clocks: args::joining::Clocks::Auto,
            layout: None,
        };
        return crate::commands::recorded::export_perfetto::run(&traces, printer);
    }
    let writer = run::launch::writer(arguments.to.as_deref().unwrap_or_default())?;
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, chosen, spec, .. } = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, printer);
    }
    printer.chosen(&chosen);
    let written = match &arguments.target_version {
        Some(version) => writer.write_for(&run, run::launch::version(writer, version)?),
        None => writer.write(&run),
    };
    if !written.refused.is_empty() {
        let problem = |lost: &Lost| {
            Problem::new(lost.message.clone()).hint(
                "nothing was written, because a file without it would describe a different run; choose another framework with --to",
            )
        };
        return Err(written.refused.iter().map(problem).collect::<Vec<_>>().into());
    }
    printer.warnings(&written.not_expressed.iter().map(Lost::warning).collect::<Vec<_>>());
    if let Some(message) = difference_as_written(&written, &run, &spec, &input::Disk) {
        printer.warnings(&[Warning::new("launch-not-expressed", message)]);
    }
    let fit = warn_of_fit(&run, printer)?;
    if arguments.json {
        let fields = ExportFields {
            to: writer.name(),
            version: arguments.target_version.as_deref(),
            files: &written.files,
            not_expressed: &written.not_expressed,
        };
        let text = written.files.first().map_or("", |file| file.text.as_str());
        printer.fields("export", &fields, text, arguments.output.as_deref())?;
        return Ok(of_fit(fit));
    }
    files(&written, arguments.output.as_deref(), printer)?;
    Ok(of_fit(fit))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExportFields<'a> {
    /// The framework.
    to: &'static str,
    /// The version; `None` if unspecified.
    version: Option<&'a str>,
    files: &'a [WrittenFile],
    /// Settings without an equivalent in the framework.
    not_expressed: &'a [Lost],
}

/// Writes the first file to a path, or all files into a folder.
fn files(written: &Written, path: Option<&str>, printer: &Printer) -> Result<(), Failure> {
    let folder = path.filter(|path| path.ends_with(['/', '\\']) || Path::new(path).is_dir());
    if let Some(folder) = folder {
        for file in &written.files {
            printer.data(&file.text, Some(&Path::new(folder).join(&file.name).to_string_lossy()))?;
        }
        return Ok(());
    }
    let mut files = written.files.iter();
    if let Some(first) = files.next() {
        printer.data(&first.text, path)?;
    }
    let others: Vec<String> = files.map(|file| format!("`{}`", file.name)).collect();
    if let [one] = others.as_slice() {
        printer.note(&format!("a second file, {one}, is written with `-o FOLDER/`"));
    } else if !others.is_empty() {
        printer.note(&format!("other files, {}, are written with `-o FOLDER/`", others.join(" and ")));
    }
    Ok(())
}
