//! The runs that `search` and `size` choose plans for: one for each given cluster and number of devices.
//!
//! Responsible for: conversion of the command line to a model, a cluster and fixed plan settings, once per
//! combination; and a plan back to its command line. Does not choose.

use crate::run::{self, Sources};
use crate::{Caller, Disk};
use railwright_answers::{
    Freed, Question, Refused, Setting, cluster_sizes, fitted_devices, plan_flags, quoted, resolve_but_plan,
};
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Run, RunSpec, keys};
use railwright_tuner::{tuning, written};
use std::fmt::Write as _;

/// Sources of a run with open settings, as typed.
#[derive(Clone, Debug, Default)]
pub struct OpenRun {
    /// A name of the catalogue or a file.
    pub model: Option<String>,
    /// A run file.
    pub run: Option<String>,
    /// Names of the catalogue or files.
    pub cluster: Vec<String>,
    /// Settings as `key=value`.
    pub set: Vec<String>,
    /// Flag and value of a shorthand of the sharding.
    pub sharding: Option<(&'static str, String)>,
    /// Settings of flags: the flag, the key, the value.
    pub settings: Vec<(String, String, String)>,
}

/// Kept and freed settings of a launch file, in addition to [`tuning::FREE`].
#[derive(Clone, Debug, Default)]
pub struct Freedom {
    /// Kept settings.
    pub keep: Vec<String>,
    /// Freed settings.
    pub free: Vec<String>,
}

/// Search settings, and their command-line form.
pub struct Asked {
    arguments: OpenRun,
    freedom: Option<Freedom>,
    /// Settings by cluster in the given order, then by number of devices.
    pub settings: Vec<Setting>,
    /// True if cluster sizes are set on the command line.
    pub has_devices: bool,
    /// Settings of the run file, whichever slot it was named in, or of the one of the folder.
    file: Option<RunSpec>,
    /// The run file and the cluster that apply without being named. A printed command names them.
    conventional: [Option<&'static str>; 2],
}

/// The specified combinations; one for each cluster without cluster sizes.
pub fn ask(arguments: impl Into<OpenRun>) -> Result<Asked, Refused> {
    ask_with(arguments.into(), None)
}

/// The same with the performance settings of a launch file free, if one was named.
pub fn ask_freed(arguments: impl Into<OpenRun>, freedom: Freedom) -> Result<Asked, Refused> {
    let arguments = arguments.into();
    let is_launch = run::launch::find(named(&arguments))?.is_some();
    for (flag, words) in [("--keep", &freedom.keep), ("--free", &freedom.free)] {
        if !is_launch && !words.is_empty() {
            let problem = Problem::new("no launch file is given, so no setting is fixed");
            return Err(problem
                .in_file(flag)
                .hint("fix a setting with its flag, as in `--tp 4`; all others are searched")
                .into());
        }
    }
    ask_with(arguments, is_launch.then_some(freedom))
}

fn ask_with(arguments: OpenRun, freedom: Option<Freedom>) -> Result<Asked, Refused> {
    let settings =
        settings(&arguments, freedom.as_ref()).map_err(|refused| in_flags_of(&arguments, refused))?;
    let has_devices = arguments.settings.iter().any(|(_, path, _)| path == DEVICES);
    let read = |path: &str| run::from_file(path);
    let named = run::slots::sorted(named(&arguments))?.run.as_deref().map(read).transpose()?;
    let has_cluster = !arguments.cluster.is_empty();
    let cluster = if has_cluster { None } else { run::conventional_cluster(named.as_ref()) };
    let folder = if named.is_none() { run::convention::run_file() } else { None };
    let file = match named {
        Some(spec) => Some(spec),
        None => folder.map(read).transpose()?,
    };
    Ok(Asked { arguments, freedom, settings, has_devices, file, conventional: [folder, cluster] })
}

/// Problems in the words in which the run was typed.
fn in_flags_of(arguments: &OpenRun, Refused(problems): Refused) -> Refused {
    let has_file = arguments.run.is_some();
    Refused(problems.into_iter().map(|problem| railwright_answers::in_flags(problem, has_file)).collect())
}

fn settings(arguments: &OpenRun, freedom: Option<&Freedom>) -> Result<Vec<Setting>, Refused> {
    let words: Vec<Option<&str>> = if arguments.cluster.is_empty() {
        vec![None]
    } else {
        arguments.cluster.iter().map(|word| Some(word.as_str())).collect()
    };
    let mut settings: Vec<Setting> = Vec::new();
    for word in words {
        let open = of(arguments, freedom, word, None)?;
        let counts = devices(arguments, open.run.cluster.devices_per_node)?;
        if counts.is_empty() {
            settings.push(open);
            continue;
        }
        for devices in counts {
            settings.push(of(arguments, freedom, word, Some(devices))?);
        }
    }
    settings.dedup_by(|a, b| a.spec == b.spec);
    Ok(settings)
}

/// One combination.
fn of(
    arguments: &OpenRun,
    freedom: Option<&Freedom>,
    word: Option<&str>,
    devices: Option<u64>,
) -> Result<Setting, Refused> {
    let settings = arguments.settings.iter().filter(|(_, path, _)| path != DEVICES).cloned();
    let closed = Sources {
        model: arguments.model.clone(),
        run: arguments.run.clone(),
        cluster: word.map(str::to_owned),
        set: arguments.set.clone(),
        sharding: arguments.sharding.clone(),
        settings: settings.collect(),
        ..Sources::default()
    };
    let mut spec = run::layered(&closed)?;
    if let Some(devices) = devices {
        spec.set_flag("--gpus", DEVICES, &devices.to_string())?;
    }
    // Before the typed numbers of devices are read, the cluster has its usual number, which pools may exceed.
    if devices.is_none() && arguments.settings.iter().any(|(_, path, _)| path == DEVICES) {
        spec.cluster.pools = None;
    }
    // An opened launch file has the software that was inferred for it among its settings.
    let (software_origin, open_settings) = (spec.software_origin(), spec.plan.open_settings());
    let freed = freedom.map(|freedom| opened(&closed, devices, freedom, &mut spec)).transpose()?;
    let run = resolve_but_plan(&spec, &Disk).map_err(|problem| spec.placed(problem))?;
    let run = Run { software_origin, open_settings, ..run };
    let word = word.map_or_else(|| run.cluster.name.clone(), str::to_owned);
    Ok(Setting { word, spec, run, freed })
}

/// Opens the performance settings fixed by a launch file. Settings of the command line narrow the search, and
/// the file's own layout is unchanged.
fn opened(
    closed: &Sources,
    devices: Option<u64>,
    freedom: &Freedom,
    spec: &mut RunSpec,
) -> Result<Freed, Refused> {
    let Freedom { keep, free } = freedom;
    let (mut own, pinned) = apart(closed, free);
    let is_plan = |set: &&String| set.trim_start().starts_with("plan.");
    let sets: Vec<String> = own.set.iter().filter(is_plan).cloned().collect();
    own.set.retain(|set| !is_plan(&set));
    own.sharding = None;
    let specified = run::layered(&own)?.plan;
    let mut bare = own.clone();
    bare.settings.retain(|(_, path, _)| !path.starts_with("plan."));
    let file = run::layered(&bare)?.plan;
    let gpus = devices.map(|n| ("--gpus".to_owned(), DEVICES.to_owned(), n.to_string()));
    own.settings.extend(gpus);
    // On another number of devices the file's own layout may not be possible.
    let plan = run::resolve(&own).ok().map(|resolved| resolved.run.plan);
    spec.plan = match &plan {
        Some(plan) => tuning::opened(plan, keep, free),
        None => tuning::with_free_settings(&specified, keep, free),
    };
    for (flag, path, value) in &pinned {
        spec.set_flag(flag, path, value)?;
    }
    if let Some((_, value)) = &closed.sharding {
        spec.set_flag("--sharding", "plan.sharding", value)?;
    }
    for set in &sets {
        spec.set(set)?;
    }
    Ok(Freed { own: plan, specified, file })
}

/// The arguments that describe the user's run, and the settings on the command line that narrow the search
/// instead.
pub fn apart(arguments: impl Into<Sources>, free: &[String]) -> (Sources, Vec<(String, String, String)>) {
    let arguments = arguments.into();
    // With `--free`, the value of a flag is the user's own and the search may change it.
    let is_pinned = |path: &str| {
        let name = path.strip_prefix("plan.");
        name.is_some_and(|name| tuning::FREE.contains(&name) && !free.iter().any(|key| key == name))
    };
    let (pinned, own): (Vec<_>, Vec<_>) =
        arguments.settings.iter().cloned().partition(|(_, path, _)| is_pinned(path));
    (Sources { settings: own, ..arguments }, pinned)
}

const DEVICES: &str = "cluster.devices";

/// The cluster sizes that were typed.
fn devices(arguments: &OpenRun, per_node: u64) -> Result<Vec<u64>, Problem> {
    let typed = arguments.settings.iter().find(|(_, path, _)| path == DEVICES);
    typed.map_or_else(|| Ok(Vec::new()), |(_, _, text)| cluster_sizes(text, per_node))
}

impl Asked {
    /// A launch file has a number of devices of its own, so none is chosen for it: an error if it is unknown.
    pub fn require_devices(&self) -> Result<(), Refused> {
        if self.has_devices {
            return Ok(());
        }
        let Some(launch) = run::launch::find(named(&self.arguments))? else { return Ok(()) };
        self.settings.iter().try_for_each(|setting| run::launch::ask_for_devices(&launch, &setting.spec))
    }

    /// Settings without a number of devices get the one that every other command takes. Returns these numbers
    /// in words.
    pub fn fit_devices(&mut self) -> Vec<String> {
        let fitted = fitted_devices(self, &Disk);
        let words = fitted.into_iter().map(|(at, setting, words)| {
            self.settings[at] = setting;
            words
        });
        words.collect()
    }
}

impl Question for Asked {
    fn settings(&self) -> &[Setting] {
        &self.settings
    }

    fn has_devices(&self) -> bool {
        self.has_devices
    }

    /// The same cluster with a different number of devices.
    fn resized(&self, setting: &Setting, devices: u64) -> Result<Setting, Refused> {
        let word = (!self.arguments.cluster.is_empty()).then_some(setting.word.as_str());
        of(&self.arguments, self.freedom.as_ref(), word, Some(devices))
            .map_err(|refused| in_flags_of(&self.arguments, refused))
    }

    /// A problem in the words in which the run was typed.
    fn in_words_of_asker(&self, problem: Problem) -> Problem {
        railwright_answers::in_flags(problem, self.arguments.run.is_some())
    }

    /// Tests whether `--free` names a setting.
    fn frees(&self, key: &str) -> bool {
        self.freedom.as_ref().is_some_and(|freedom| freedom.free.iter().any(|name| name == key))
    }

    /// Name of the launch file with free settings.
    fn launch(&self) -> Option<String> {
        self.freedom.as_ref()?;
        self.arguments.run.clone().or_else(|| self.arguments.model.clone())
    }

    /// The command line that estimates the plan.
    fn command(&self, setting: &Setting, plan: &Plan) -> Result<String, Problem> {
        let arguments = &self.arguments;
        let mut line = "railwright estimate".to_owned();
        let mut word = |text: &str| {
            // Writing to a String cannot fail.
            let _ = write!(line, " {}", quoted(text));
        };
        arguments.model.iter().for_each(|model| word(model));
        let [folder, cluster] = self.conventional;
        if let Some(path) = arguments.run.as_deref().or(folder) {
            word("--run");
            word(path);
        }
        if !arguments.cluster.is_empty() {
            word("--cluster");
            word(&setting.word);
        } else if let Some(cluster) = cluster {
            word("--cluster");
            word(cluster);
        }
        word("--gpus");
        word(&setting.run.cluster.devices.to_string());
        for (flag, path, value) in &arguments.settings {
            if path != DEVICES && !path.starts_with("plan.") {
                word(&format!("{flag}={value}"));
            }
        }
        for set in &arguments.set {
            let path = set.split('=').next().unwrap_or_default().trim();
            // `--set` overrides flags, so settings of the plan become flags with the found values.
            if !path.starts_with("plan.") && keys().iter().any(|key| key.path() == path) {
                word("--set");
                word(set);
            }
        }
        let run = &setting.run;
        let (mut short, known) = if let Some(freed) = &setting.freed {
            (freed.over(plan, run), None)
        } else {
            let short = written::shortest(&setting.spec.plan, plan, &run.model, &run.cluster);
            (short, self.file.as_ref().map(|spec| spec.plan.clone()))
        };
        // A name without its origin would narrow the interval without evidence.
        short.software = short.software.map(|id| setting.run.software_origin.written(&id));
        let _ = write!(line, " {}", plan_flags(&short, known.as_ref()));
        Ok(line.trim_end().to_owned())
    }
}

/// Reports settings and open settings of a launch file passed as the model, as `estimate` does.
pub fn report_launch(arguments: impl Into<OpenRun>, printer: &dyn Caller) -> Result<(), Refused> {
    if let Some(launch) = run::launch::find(named(&arguments.into()))? {
        run::launch::print_remarks(&launch, printer);
    }
    Ok(())
}

/// The files and names that were typed, without the settings.
fn named(arguments: &OpenRun) -> Sources {
    Sources { model: arguments.model.clone(), run: arguments.run.clone(), ..Sources::default() }
}
