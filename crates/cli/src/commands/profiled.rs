//! Traces on the disk to a profiled job: what `profile` and `compare` share.
//!
//! Responsible for: reading, joining ranks, work on all cores, and telling what could not be read. Refuses to show anything.

use crate::args::{Needed, Reading};
use crate::exit::Failure;
use crate::input::traces::{self, Loaded};
use crate::input::{self, TABLE_LIMIT};
use crate::printer::Printer;
use crate::run::{self, Resolved};
use railwright_calculator::model_flop::{Convention, per_token};
use railwright_profiler::Job;
use railwright_profiler::communication::NameTable;
use railwright_profiler::groups::Layout;
use railwright_profiler::joined::{JoinOptions, Joined, join};
use railwright_profiler::kernels::KernelTable;
use railwright_profiler::profile::{Options, Profile, Workers, profile};
use railwright_profiler::readers::Keep;
use railwright_profiler::view::Tables;
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::Flop;
use rayon::prelude::*;

/// Ranks on all cores.
pub(crate) struct AllCores;

impl Workers for AllCores {
    fn map<'a, T: Sync, R: Send>(&self, items: &'a [T], work: impl Fn(usize, &'a T) -> R + Sync) -> Vec<R> {
        items.par_iter().enumerate().map(|(at, item)| work(at, item)).collect()
    }
}

/// A job that was read and joined.
pub(crate) struct Read {
    pub(crate) job: Job,
    pub(crate) joined: Joined,
}

/// Reads traces and joins their ranks.
pub(crate) fn read(
    paths: &[String],
    reading: &Reading,
    tables: &Tables,
    printer: &Printer,
) -> Result<Read, Failure> {
    let layout = layout(reading)?;
    let loaded: Loaded = traces::load(paths, Keep::default(), printer)?;
    tell(&loaded, printer);
    joined(loaded, paths, layout, tables)
}

/// Sizes of dimensions, as the user says them.
pub(super) fn layout(reading: &Reading) -> Result<Option<Layout>, Problem> {
    reading.layout.as_deref().map(Layout::read).transpose().map_err(|problem| problem.in_file("--layout"))
}

/// Joins the ranks among what was read.
pub(super) fn joined(
    loaded: Loaded,
    paths: &[String],
    layout: Option<Layout>,
    tables: &Tables,
) -> Result<Read, Failure> {
    let files = loaded.files;
    let ranks = loaded.into_ranks();
    if ranks.is_empty() {
        let problem =
            Problem::new(format!("there is no trace of a rank in {files} file(s)")).in_file(paths.join(" "));
        return Err(problem
            .hint("tables of pipeline passes are for `railwright pipeline`, logs for `railwright log`, flight records and metrics for `railwright hang`")
            .into());
    }
    let mut job = Job::new(ranks);
    job.leave_out_blind();
    let names = Some(tables.communication.clone());
    let joined = join(&mut job, &JoinOptions { names, layout, ..JoinOptions::default() });
    Ok(Read { job, joined })
}

/// Files that could not be read cost themselves, but are told.
pub(crate) fn tell(loaded: &Loaded, printer: &Printer) {
    const MOST: usize = 5;
    for problem in loaded.problems.iter().take(MOST) {
        printer.note(&format!("left out: {problem}"));
    }
    if loaded.problems.len() > MOST {
        printer.note(&format!("left out: {} more files", loaded.problems.len() - MOST));
    }
}

/// The shipped tables with the user's before them.
pub(crate) fn tables(reading: &Reading) -> Result<Tables, Failure> {
    let mut tables = Tables::shipped();
    if let Some(path) = &reading.families {
        let mine =
            KernelTable::parse(&input::read(path, TABLE_LIMIT)?).map_err(|problem| problem.in_file(path))?;
        tables.kernels = mine.before(tables.kernels);
    }
    if let Some(path) = &reading.kernels {
        let mine =
            NameTable::read(&input::read(path, TABLE_LIMIT)?).map_err(|problem| problem.in_file(path))?;
        tables.communication = mine.before(&tables.communication);
    }
    Ok(tables)
}

/// A run file, or a launch file or log of a framework, as it would be estimated. `cluster` is what it runs on where the file does not say.
pub(crate) fn resolved(path: &str, cluster: Option<&str>) -> Result<Resolved, Failure> {
    let is_run = std::path::Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    let file = Some(path.to_owned());
    let arguments = crate::args::RunArguments {
        model: None,
        launch: if is_run { None } else { file.clone() },
        run: file.filter(|_| is_run),
        cluster: cluster.map(str::to_owned),
        set: Vec::new(),
        fsdp: false,
        hsdp: None,
        flags: crate::args::RunFlags::default(),
    };
    run::resolve(&arguments)
}

/// What the model needs, as options of a profile.
pub(crate) fn options(tables: Tables, needed: &Needed) -> Result<Options, Failure> {
    let mut options = Options { tables, accelerator: needed.accelerator.clone(), ..Options::default() };
    if let Some(name) = &needed.precision {
        let known = DataType::ALL.map(DataType::name);
        options.data_type = DataType::ALL
            .into_iter()
            .find(|data| data.name() == name.to_ascii_lowercase())
            .ok_or_else(|| {
            Problem::new(format!("`{name}` is no format")).in_file("--precision").hint(did_you_mean(
                name,
                known,
                &format!("formats are {}", known.join(", ")),
            ))
        })?;
    }
    if let Some(path) = &needed.run {
        let Resolved { run, .. } = resolved(path, needed.accelerator.as_deref())?;
        // The convention of most published MFU.
        let one = per_token(&run.model, run.plan.sequence_length, Convention::CausalAttention);
        options.flop_per_step = Some(one * run.plan.tokens_per_step() as f64);
        if options.accelerator.is_none() {
            options.accelerator = Some(run.cluster.accelerator.id.clone());
        }
    }
    if let Some(flop) = needed.model_flops {
        if !(flop.is_finite() && flop > 0.0) {
            let problem = Problem::new(format!("{flop} is no number of operations")).in_file("--model-flops");
            return Err(problem
                .hint("write the operations of one step on all ranks, such as `1.2e18`")
                .into());
        }
        options.flop_per_step = Some(Flop::new(flop));
    }
    Ok(options)
}

/// Profiles a job on all cores.
pub(crate) fn profiled(read: &Read, options: &Options) -> Result<Profile, Failure> {
    Ok(profile(&read.job, &read.joined, options, &AllCores)?)
}

/// What paths are called in titles.
pub(crate) fn title(paths: &[String]) -> String {
    match paths {
        [one] => one.clone(),
        [first, .., last] => format!("{first} ... {last} ({} paths)", paths.len()),
        [] => String::new(),
    }
}
