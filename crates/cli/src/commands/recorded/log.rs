//! `log`: a run from its training log only.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::jobs::Wanted;
use crate::input::remote::without_query;
use crate::input::traces;
use crate::printer::Printer;
use railwright_calculator::model_flop::{Convention, of_plan};
use railwright_commands::within;
use railwright_profiler::job::Family;
use railwright_profiler::log::{Framework, Known, TimesFrom, TrainingLog, curve, judge, measures};
use railwright_profiler::readers::{Keep, Recording};
use railwright_reports::log::{POINTS, Read, last_of_each};
use railwright_spec::cluster::{Accelerator, accelerator_by_name};
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;

/// One log.
const WANTED: Wanted = Wanted::one("log", &[&[Family::Log]]);

/// Judges a log.
pub(crate) fn run(arguments: &args::records::Log, printer: &Printer) -> Result<Outcome, Failure> {
    arguments.batch_size.map(|batch| within("--batch-size", batch, 1..=u64::MAX)).transpose()?;
    let accelerator = arguments.accelerator.as_deref().map(accelerator_by_name).transpose()?;
    let loaded = traces::load(std::slice::from_ref(&arguments.file), WANTED, Keep::default(), printer)?;
    let mut logs = loaded.recordings.into_iter().filter_map(|recording| match recording {
        Recording::Log(log) => Some(*log),
        _ => None,
    });
    let Some(mut log) = logs.next() else {
        let problem = Problem::new("not a training log").in_file(&arguments.file);
        return Err(problem
            .hint("use `railwright profile` for traces, `railwright hang` for flight-recorder dumps")
            .into());
    };
    if let Some(batch) = arguments.batch_size {
        log.take_batch(batch);
    }
    let text = match log.times_from() {
        TimesFrom::SamplesPerSecond => {
            "step times are the batch size divided by DeepSpeed's samples per second of the step; time between steps is not included"
        }
        TimesFrom::Timers => {
            "step times are sums of DeepSpeed's timers (forward, backward, update); time between steps is not included"
        }
        TimesFrom::TokensPerSecond => {
            "the log has no timestamps: step times are tokens per step divided by tokens per second"
        }
        TimesFrom::ProgressBar => {
            "the log has no step times: they are taken from the progress bar, in whole seconds, with evaluation and checkpoints"
        }
        TimesFrom::WholeRun => {
            "the log has no step times: the only time is the mean of the whole run, including its start, \
             evaluation and checkpoints; the spread is unknown"
        }
        TimesFrom::Reports | TimesFrom::Nothing => "",
    };
    if !text.is_empty() {
        printer.note(text);
    }
    let mut known = Known {
        peak: accelerator
            .as_ref()
            .and_then(|a| a.peak_rate(DataType::Bf16))
            .map(railwright_spec::quantity::FlopPerSecond::get),
        ..Known::default()
    };
    arithmetic(&log, accelerator.as_ref(), &mut known, printer);
    let Some(judged) = judge(&log, &known) else {
        let problem = Problem::new("this log reports no iteration times").in_file(&arguments.file);
        let hint = match log.framework {
            Some(Framework::Deepspeed) => {
                "DeepSpeed's samples per second require the batch size: pass `--batch-size N` (`train_batch_size`); lines that contain only a running average (`SamplesPerSec`) give no step time"
            }
            Some(Framework::Trainer) => {
                "the dictionaries of a Trainer contain no times: keep its progress bar in the log, or pass \
                 the `trainer_state.json` of the finished run, which has `train_runtime`"
            }
            Some(Framework::Torchtitan) => {
                "step times require timestamps in the log, or the tokens per step of the run: `railwright compare LOG --launch FILE`"
            }
            _ => "at least two reports are required",
        };
        return Err(problem.hint(hint).into());
    };
    printer.warnings(&judged.warnings);
    let answer = Read {
        file: without_query(&arguments.file).to_owned(),
        framework: log.framework,
        times_from: log.times_from(),
        curve: curve(&log, &known, POINTS),
        measures: measures(&log, POINTS),
        stragglers: last_of_each(&log),
        log: judged,
    };
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// FLOPs per sequence from the arguments in the log, if it prints them.
fn arithmetic(log: &TrainingLog, accelerator: Option<&Accelerator>, known: &mut Known, printer: &Printer) {
    if log.reports.iter().any(|report| report.tflops.is_some()) {
        return;
    }
    let Some(accelerator) = accelerator else { return };
    let Some(Ok(launch)) = railwright_launch::read(&log.head, "the log") else { return };
    let mut spec = launch.spec;
    if spec.set_flag("--accelerator", "cluster.accelerator", &accelerator.id).is_err() {
        return;
    }
    match spec.resolve(|path| Err(Problem::new("the log names a file").in_file(path))) {
        Ok(run) => {
            let token = of_plan(&run.model, &run.plan, Convention::REPORTED);
            known.flop_per_sequence = Some(token.get() * run.plan.sequence_length as f64);
            known.devices = Some(run.plan.world_size() as f64);
        }
        Err(problem) => {
            printer
                .note(&format!("MFU is unknown, because the model FLOPs are unknown: {}", problem.message));
        }
    }
}
