//! Measurements from the disk: traces, logs and tables.
//!
//! Responsible for: reading them, and finding the cluster and the software generation. Fits nothing.

use crate::jobs::Wanted;
use crate::opened::{print_skipped, tables};
use crate::run::{self, Sources};
use crate::same_run::{self, Said};
use crate::{Caller, LOG_LIMIT, Refused, TABLE_LIMIT, title, traces};
use railwright_calculator::calibration::table;
use railwright_calculator::software;
use railwright_profiler::groups::Layout;
use railwright_profiler::job::Family;
use railwright_profiler::joined::{JoinOptions, Joined, join};
use railwright_profiler::log::{Known, judge};
use railwright_profiler::profile::Options;
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::samples::{Part, SampleOptions, samples};
use railwright_profiler::{Job, nccl_tests};
use railwright_spec::calibration::{Samples, StepSample};
use railwright_spec::cluster::Cluster;
use railwright_spec::plan::PlanSpec;
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, Warning, did_you_mean};
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;

/// Traces of one job, and any number of logs.
const WANTED: Wanted =
    Wanted { command: "calibrate", kinds: &[&[Family::Ranks, Family::Log]], several: &[Family::Log] };

/// Measurements and the run that they are from, as typed.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Traces and training logs.
    pub paths: Vec<String>,
    /// Logs of nccl-tests.
    pub nccl_tests: Vec<String>,
    /// Tables of micro-benchmarks.
    pub operators: Vec<String>,
    /// Step times with their layouts.
    pub steps: Vec<String>,
    /// Number format of GEMMs.
    pub product_format: Option<String>,
    /// Table of kernel families.
    pub families: Option<String>,
    /// Table of communication kernels.
    pub kernels: Option<String>,
    /// Parallel sizes of the traced job.
    pub layout: Option<String>,
    /// A run file or a launch file.
    pub run: Option<String>,
    /// A name of the catalogue or a file.
    pub cluster: Option<String>,
    /// Software generation.
    pub software: Option<String>,
    /// Settings as `key=value`.
    pub set: Vec<String>,
}

/// All measurements read.
pub struct Measured {
    job: Option<(Job, Joined)>,
    options: SampleOptions,
    /// Measurements without a trace.
    others: Vec<Samples>,
    /// Run settings found in logs.
    logs: Vec<Said>,
    names: Vec<String>,
}

impl Measured {
    /// Reads measurements.
    pub fn read(arguments: &Measurements, printer: &dyn Caller) -> Result<Self, Refused> {
        let named = [&arguments.paths, &arguments.nccl_tests, &arguments.operators, &arguments.steps];
        if named.iter().all(|list| list.is_empty()) {
            let problem = Problem::new("no measurements to calibrate with");
            return Err(problem
                .hint("pass traces, logs of nccl-tests (--nccl-tests), tables of micro-benchmarks (--operators) or step times (--step)")
                .into());
        }
        let tables = tables(arguments.families.as_deref(), arguments.kernels.as_deref())?;
        let format = arguments.product_format.as_deref().map(format).transpose()?;
        let options =
            SampleOptions { profile: Options { tables, ..Options::default() }, format, part: Part::All };
        let mut others = Vec::new();
        for path in &arguments.nccl_tests {
            let text = crate::read(path, LOG_LIMIT)?;
            others.push(nccl_tests::read(&text, path).map_err(|problem| problem.in_file(path))?);
        }
        for path in &arguments.operators {
            others.push(table::operators(&crate::read(path, TABLE_LIMIT)?, path)?);
        }
        let (mut job, mut logs) = (None, Vec::new());
        if !arguments.paths.is_empty() {
            let loaded =
                traces::load(&arguments.paths, WANTED, Keep::default(), printer)?.without_digests()?;
            print_skipped(&loaded.problems, printer);
            let mut ranks = Vec::new();
            for recording in loaded.recordings {
                match recording {
                    Recording::Rank(trace) => ranks.push(*trace),
                    Recording::Log(log) => {
                        if let Some(judged) = judge(&log, &Known::default()) {
                            logs.push(Said::of(&log, &judged, &title(&arguments.paths)));
                            others.push(of_log(&judged));
                        }
                    }
                    _ => printer.note("skipped: neither a trace nor a training log"),
                }
            }
            if !ranks.is_empty() {
                let mut all = Job::new(ranks);
                let layout = arguments.layout.as_deref().map(Layout::read).transpose();
                let layout = layout.map_err(|problem| problem.in_file("--layout"))?;
                let names = Some(options.profile.tables.communication.clone());
                let joined = join(&mut all, &JoinOptions { names, layout, ..JoinOptions::default() });
                job = Some((all, joined));
            } else if others.is_empty() {
                let problem =
                    Problem::new("no trace and no training log found").in_file(arguments.paths.join(" "));
                return Err(problem
                    .hint("pass logs of nccl-tests with --nccl-tests, tables with --operators")
                    .into());
            }
        }
        Ok(Self { job, options, others, logs, names: named.into_iter().flatten().cloned().collect() })
    }

    /// Measurements of a part of the traces, and the others.
    pub fn samples(&self, part: Part) -> Result<Vec<Samples>, Problem> {
        let mut all = Vec::new();
        if let Some((job, joined)) = &self.job {
            all.push(samples(job, joined, &SampleOptions { part, ..self.options.clone() })?);
        }
        all.extend(self.others.iter().cloned());
        Ok(all)
    }

    /// Ranks of the traced job, if recorded.
    fn traced(&self) -> Option<u32> {
        self.job.as_ref().filter(|(job, _)| job.world_size_known).map(|(job, _)| job.world_size)
    }

    /// Returns an error for logs of a different run, or a warning about doubtful traces.
    pub fn belong(&self, run: Option<&Run>) -> Result<Option<Warning>, Problem> {
        same_run::check(&self.logs, run, self.traced())?;
        Ok(same_run::doubt(run, self.traced()))
    }

    /// Title of the measurements.
    pub fn title(&self) -> String {
        title(&self.names)
    }

    /// The device that the measurements name, the traces' first.
    fn device(&self) -> Option<&str> {
        self.devices().next()
    }

    fn devices(&self) -> impl Iterator<Item = &str> {
        let of_job = self.job.iter().flat_map(|(job, _)| {
            job.members.iter().filter_map(|member| {
                let identity = &member.trace.identity;
                let id = identity.device.unwrap_or(0);
                let own = identity.devices.iter().find(|device| device.id == id);
                own.or(identity.devices.first()).map(|device| device.name.as_str())
            })
        });
        of_job.chain(self.others.iter().filter_map(|s| s.device.as_deref()))
    }

    /// Returns an error for measurements of several accelerators: one constant cannot represent both.
    fn of_one_accelerator(&self) -> Result<(), Problem> {
        let mut known: Vec<(String, &str)> = Vec::new();
        for name in self.devices() {
            let Some(accelerator) = accelerator_of(name) else { continue };
            if known.iter().all(|(id, _)| *id != accelerator) {
                known.push((accelerator, name));
            }
        }
        let [(first, called), (second, other), ..] = known.as_slice() else { return Ok(()) };
        Err(Problem::new(format!(
            "measurements of {first} (`{called}`) and of {second} (`{other}`) are mixed"
        ))
        .hint("calibrate each accelerator separately"))
    }
}

/// The accelerator to which a driver's name refers.
pub fn accelerator_of(device: &str) -> Option<String> {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let name = plain(device);
    let by_pattern = railwright_spec::cluster::accelerators()
        .into_iter()
        .find(|a| a.device_name_patterns.iter().any(|pattern| plain(pattern) == name));
    by_pattern
        .map(|a| a.id)
        .or_else(|| railwright_spec::cluster::accelerator_by_name(device).ok().map(|a| a.id))
}

/// The typical step of a training log.
fn of_log(judged: &railwright_profiler::log::Judged) -> Samples {
    let last = judged.segments.last();
    let steps = last.map(|s| StepSample {
        steps: s.to.saturating_sub(s.from) + 1,
        step: Seconds::new(s.seconds),
        ..StepSample::default()
    });
    Samples { from: "training log".to_owned(), steps: steps.into_iter().collect(), ..Samples::default() }
}

fn format(name: &str) -> Result<DataType, Problem> {
    DataType::from_name(name).ok_or_else(|| {
        let known = DataType::ALL.map(DataType::name);
        let message = format!("formats are {}", known.join(", "));
        Problem::new(format!("`{name}` is not a number format"))
            .in_file("--product-format")
            .hint(did_you_mean(name, known, &message))
    })
}

/// Environment of the measurements: cluster, software and run.
pub struct Where {
    /// The cluster.
    pub cluster: Cluster,
    /// Software generation.
    pub software: String,
    /// The measured run.
    pub run: Option<Run>,
    /// Choices that were not specified.
    pub remarks: Vec<String>,
}

impl Where {
    /// Finds cluster, software and run.
    pub fn of(arguments: &Measurements, measured: &Measured) -> Result<Self, Refused> {
        let mut remarks = Vec::new();
        measured.of_one_accelerator()?;
        let by_device = measured.device().and_then(accelerator_of);
        let named = arguments.cluster.clone();
        let (run, cluster, set) = (measured.names.first().cloned(), named.clone(), arguments.set.clone());
        let stated = Sources { run, cluster, set, ..Sources::default() };
        let is_log = measured.names.len() == 1 && measured.logs.len() == 1 && measured.job.is_none();
        let of_log = stated.run.clone().filter(|_| is_log && run::resolve(&stated).is_ok());
        if let Some(path) = arguments.run.as_ref().or(of_log.as_ref()) {
            let mut set = arguments.set.clone();
            set.extend(arguments.software.iter().map(|id| format!("plan.software={id}")));
            let typed = Sources { run: Some(path.clone()), cluster: named, set, ..Sources::default() };
            let resolved = run::resolve(&typed)?;
            let cluster = Cluster { calibration: None, ..resolved.run.cluster.clone() };
            let software = resolved.run.plan.software.clone();
            if let Some(device) = by_device.filter(|device| *device != cluster.accelerator.id) {
                return Err(Problem::new(format!(
                    "the measurements are from a {device}, but the run `{path}` uses {}",
                    cluster.accelerator.id
                ))
                .in_file("--run")
                .hint("pass the measured run, or omit it: the accelerator is then read from the measurements")
                .into());
            }
            return Ok(Self { cluster, software, run: Some(resolved.run), remarks });
        }
        let Some(word) = named.or(by_device.clone()) else {
            let message = match measured.device() {
                Some(device) => {
                    format!("the device of the measurements, `{device}`, is not in the catalogue")
                }
                None => "the measurements do not record their device".to_owned(),
            };
            let hint = "pass the measured cluster, as in `--cluster dgx-h100`; `railwright gpus list` shows the catalogue";
            return Err(Problem::new(message).hint(hint).into());
        };
        let cluster = run::cluster(&word)?.resolve()?;
        if let Some(device) = by_device.filter(|device| *device != cluster.accelerator.id) {
            return Err(Problem::new(format!(
                "the measurements are from a {device}, but the cluster `{word}` has {}",
                cluster.accelerator.id
            ))
            .in_file("--cluster")
            .hint("pass the measured cluster, or omit it: the device is then read from the measurements")
            .into());
        }
        let software = if let Some(id) = &arguments.software {
            software::by_id(id).map_err(|p| p.in_file("--software"))?.id.clone()
        } else {
            let id = PlanSpec::default().generation(&cluster)?.id.clone();
            remarks.push(format!(
                "no software generation is set: using `{id}`; set --software or --run to change it"
            ));
            id
        };
        if !arguments.set.is_empty() {
            return Err(Problem::new("--set changes a run, but no run is set")
                .in_file("--set")
                .hint("pass one with --run")
                .into());
        }
        Ok(Self { cluster, software, run: None, remarks })
    }
}
