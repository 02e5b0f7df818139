//! `memory-snapshot`: contents of a device's memory at its peak, from a PyTorch memory snapshot or the
//! `[memory]` events of a trace.

use crate::args::records::MemorySnapshot;
use crate::exit::{Failure, Outcome};
use crate::input::{self, TABLE_LIMIT};
use crate::printer::Printer;
use railwright_calculator::memory::{MemoryInput, SoftwareCatalogue, report as predict};
use railwright_commands::needs;
use railwright_profiler::snapshot::{self, SnapshotReport};
use railwright_reports::memory_snapshot::{Predicted, Shown, compared};
use railwright_spec::problem::Problem;

/// Reports a snapshot.
pub(crate) fn run(arguments: &MemorySnapshot, printer: &Printer) -> Result<Outcome, Failure> {
    needs(("--stage", arguments.stage.is_some()), ("--run", arguments.run.is_some()))?;
    let bytes = input::read_bytes(&arguments.file, TABLE_LIMIT)?;
    let read = if bytes.first() == Some(&0x80) {
        snapshot::read(&arguments.file, &bytes)?
    } else {
        let text = String::from_utf8(bytes).map_err(|_| {
            Problem::new("the file is neither a pickle nor a trace")
                .in_file(&arguments.file)
                .hint("write a snapshot with `torch.cuda.memory._dump_snapshot(FILE)`")
        })?;
        snapshot::read_trace(&arguments.file, &text)?
    };
    let report = snapshot::report(&read);
    if report.devices.is_empty() {
        return Err(Problem::new("this snapshot contains no device memory")
            .in_file(&arguments.file)
            .hint("start the recording with `torch.cuda.memory._record_memory_history()` before the first allocation")
            .into());
    }
    let predicted = arguments.run.as_ref().map(|path| predicted(path, arguments, &report)).transpose()?;
    let answer = Shown { title: arguments.file.clone(), report, predicted, top: arguments.top };
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// The prediction for the run, compared with the device with the most memory.
fn predicted(path: &str, arguments: &MemorySnapshot, report: &SnapshotReport) -> Result<Predicted, Failure> {
    let run_arguments = arguments.run_settings.run(path);
    let resolved =
        crate::commands::recorded::profiled::resolved(path, arguments.accelerator.as_deref(), run_arguments)?;
    let run = resolved.run;
    let catalogue = SoftwareCatalogue::shared()?;
    railwright_calculator::software::by_id(&run.plan.software)?;
    let answer = predict(&MemoryInput {
        model: &run.model,
        cluster: &run.cluster,
        plan: &run.plan,
        software: catalogue.get(&run.plan.software),
        in_flight: None,
    });
    let number = arguments.stage.unwrap_or(answer.worst);
    let Some(stage) = answer.stages.get(number) else {
        let problem = Problem::new(format!("there is no stage {number}")).in_file("--stage");
        let last = answer.stages.len().saturating_sub(1);
        return Err(problem.hint(format!("stages go from 0 to {last}")).into());
    };
    Ok(compared(stage, report.devices.iter().max_by_key(|device| device.peak_allocated_bytes)))
}
