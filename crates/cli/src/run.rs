//! From what was typed to a resolved run: run file, model, cluster, flags, settings; then the generation's defaults.
//!
//! Responsible for: the order of these layers (later ones win) and for saying what was chosen where nobody chose. Refuses to price
//! anything.

pub(crate) mod flags;
pub(crate) mod launch;
pub(crate) mod slots;
pub(crate) mod spelled;

use crate::args::RunArguments;
use crate::exit::Failure;
use crate::input::{self, CONFIG_LIMIT};
use railwright_calculator::defaults;
use railwright_calculator::valid_values::{Valid, valid_values};
use railwright_spec::cluster::{ClusterSpec, accelerator_by_name, preset_names};
use railwright_spec::human;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Recompute, validate, warnings};
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{self, ModelSpec, Run, RunSpec};
use std::path::Path;

/// A run, and what was not said about it.
pub(crate) struct Resolved {
    /// The run.
    pub(crate) run: Run,
    /// What is doubtful about the plan.
    pub(crate) warnings: Vec<Warning>,
    /// What was chosen because nobody said it, in words.
    pub(crate) chosen: Vec<String>,
    /// What was said.
    pub(crate) spec: RunSpec,
}

/// Resolves what was typed; problems are told in the words in which it was typed.
pub(crate) fn resolve(arguments: &RunArguments) -> Result<Resolved, Failure> {
    resolve_as(arguments, |_| ())
}

/// The same, with layers that do not divide evenly spread as evenly as possible, unless that was refused.
pub(crate) fn resolve_spread(arguments: &RunArguments) -> Result<Resolved, Failure> {
    resolve_as(arguments, |spec| {
        if spec.plan.pipeline_parallel.is_some() {
            spec.plan.uneven_stages.get_or_insert(true);
        }
    })
}

fn resolve_as(arguments: &RunArguments, prepare: impl FnOnce(&mut RunSpec)) -> Result<Resolved, Failure> {
    let arguments = &slots::sorted(arguments)?;
    resolve_layers(arguments, prepare).map_err(|failure| match failure {
        Failure::Input(problems) => {
            let has_file = arguments.run.is_some();
            Failure::Input(problems.into_iter().map(|problem| flags::in_flags(problem, has_file)).collect())
        }
        other @ Failure::BrokenPipe => other,
    })
}

/// A problem in the words in which the run was typed.
pub(crate) fn in_words(arguments: &RunArguments, problem: Problem) -> Problem {
    flags::in_flags(problem, arguments.run.is_some())
}

/// The values of each setting that are valid with the rest of a run. The run itself may be refused, its model and cluster may not.
pub(crate) fn valid_values_of(arguments: &RunArguments) -> Result<Vec<Valid>, Failure> {
    let spec = layered(arguments)?;
    let cluster = spec.cluster.resolve().map_err(|problem| in_words(arguments, spec.placed(problem)))?;
    let model = spec.model.resolve(input::config_text);
    let model = model.map_err(|problem| in_words(arguments, spec.placed(problem)))?;
    Ok(valid_values(&spec, &model, &cluster))
}

fn resolve_layers(arguments: &RunArguments, prepare: impl FnOnce(&mut RunSpec)) -> Result<Resolved, Failure> {
    let mut spec = layered(arguments)?;
    prepare(&mut spec);
    if let Some(launch) = launch::find(arguments)? {
        launch::ask_for_the_open(&launch, &spec)?;
        launch::ask_for_devices(&launch, &spec)?;
    }
    let read = |path: &str| input::read(path, CONFIG_LIMIT);
    let cluster = spec.cluster.resolve_calibrated(read).map_err(|problem| spec.placed(problem))?;
    // The degrees that the specification would choose do not matter yet; a plan that nobody laid out may not even divide.
    let mut quiet = spec.clone();
    quiet.cluster.calibration = None;
    quiet.plan = railwright_spec::plan::PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(1),
        data_parallel: Some(1),
        ..Default::default()
    };
    let mut run = quiet.resolve(input::config_text)?;
    run.cluster = cluster;
    let placed = |problem| Failure::from(spec.placed(problem));
    let mut chosen = Vec::new();
    let start = if defaults::is_searchable(&spec.plan) {
        defaults::start(&spec.plan, &run.model, &run.cluster).map_err(placed)?
    } else {
        None
    };
    run.plan = match start {
        Some(start) => {
            chosen.push(format!(
                "layout: the fastest of {} common ones that fit ({} tried)",
                start.fitting, start.possible
            ));
            start.plan
        }
        None => spec.plan.resolve(&run.model, &run.cluster).map_err(placed)?,
    };
    let problems = validate(&run.model, &run.cluster, &run.plan);
    if !problems.is_empty() {
        return Err(Failure::Input(problems.into_iter().map(|problem| spec.placed(problem)).collect()));
    }
    if spec.plan.layers_per_stage.is_none()
        && let Some(per_stage) = &run.plan.layers_per_stage
    {
        chosen.push(format!("layers per stage {}", human::counts(per_stage)));
    }
    chosen.extend(said_by_nobody(&spec, &run));
    let warnings = warnings(&run.model, &run.cluster, &run.plan);
    Ok(Resolved { run, warnings, chosen, spec })
}

/// What was said, checked, for a run file to start from; a small run when nothing was.
pub(crate) fn starting_point(arguments: &RunArguments) -> Result<RunSpec, Failure> {
    let says_nothing = arguments.run.is_none()
        && arguments.launch.is_none()
        && arguments.model.is_none()
        && arguments.cluster.is_none()
        && arguments.set.is_empty()
        && arguments.flags.settings.is_empty();
    if says_nothing {
        let mut spec = RunSpec::default();
        for setting in ["model.name=llama-3-8b", "cluster.preset=dgx-h100", "cluster.devices=8"] {
            spec.set(setting)?;
        }
        return Ok(spec);
    }
    resolve(arguments)?;
    layered(arguments)
}

/// The keys that set the batch.
const BATCH: [&str; 3] = ["plan.global_batch", "plan.micro_batches", "plan.batch_tokens"];

/// What was typed, layer on layer, unresolved.
pub(crate) fn layered(arguments: &RunArguments) -> Result<RunSpec, Failure> {
    let arguments = &slots::sorted(arguments)?;
    let mut spec = match &arguments.run {
        Some(path) => from_file(path)?,
        None => RunSpec::default(),
    };
    let launch = launch::find(arguments)?;
    if let Some(launch) = &launch {
        if launch.says_model() {
            spec.model = ModelSpec::default();
        }
        spec.overlay(&launch.spec);
        if spec.model.layers.is_some() || launch.model_config.is_some() {
            spec.model.name.get_or_insert_with(|| launch::name_of(&launch.file));
        }
    }
    if let Some(word) = arguments.model.as_ref().filter(|_| arguments.launch.is_some() || launch.is_none()) {
        spec.model = ModelSpec::default();
        match input::path_of(word)? {
            Some(path) => {
                spec.model.name = (path == "-").then(|| "stdin".to_owned());
                spec.model.config = Some(path);
            }
            None => spec.set_flag("MODEL", "model.name", word)?,
        }
    }
    if let Some(word) = &arguments.cluster {
        let (devices, per_node) = (spec.cluster.devices, spec.cluster.devices_per_node);
        spec.cluster = cluster(word)?;
        spec.cluster.devices = spec.cluster.devices.or(devices);
        if launch.is_some() {
            spec.cluster.devices_per_node = spec.cluster.devices_per_node.or(per_node);
        }
    }
    // The batch can be said in three ways; the command line's wins over a file's, whichever way each takes.
    if arguments.flags.settings.iter().any(|(_, path, _)| BATCH.contains(&path.as_str())) {
        spec.plan.global_batch = None;
        spec.plan.micro_batches = None;
        spec.plan.batch_tokens = None;
    }
    for (flag, path, value) in &arguments.flags.settings {
        spec.set_flag(flag, path, value)?;
    }
    let shorthands = [
        ("--fsdp", arguments.fsdp.then(|| "fsdp".to_owned())),
        ("--hsdp", arguments.hsdp.map(|ranks| format!("hsdp:{ranks}"))),
    ];
    for (flag, value) in shorthands {
        if let Some(value) = value {
            spec.set_flag(flag, "plan.sharding", &value)?;
        }
    }
    for setting in &arguments.set {
        spec.set(setting)?;
    }
    if let Some(launch) = &launch {
        launch::ask_for_the_rest(launch, &spec)?;
    }
    if spec.model == ModelSpec::default() {
        let problem = Problem::new("no model is named");
        return Err(problem
            .hint("name one first, as in `railwright estimate llama-3.1-8b`, or a run file with --run")
            .into());
    }
    if spec.cluster.preset.is_none() && spec.cluster.accelerator.is_none() {
        let hint = "set the cluster, as in `--cluster dgx-h100 --gpus 64`; `railwright clusters list` has the known ones";
        return Err(Problem::new("no cluster is named").hint(hint).into());
    }
    Ok(spec)
}

pub(crate) fn from_file(path: &str) -> Result<RunSpec, Problem> {
    let text = input::read(path, CONFIG_LIMIT)?;
    let mut spec = run::parse(&text, path)?;
    from_where_it_lies(&mut spec.cluster, path);
    // A path in a file is meant from where the file lies.
    if let (Some(config), Some(folder)) = (&spec.model.config, Path::new(path).parent())
        && Path::new(config).is_relative()
        && config != "-"
    {
        spec.model.config = Some(folder.join(config).to_string_lossy().into_owned());
    }
    Ok(spec)
}

/// A calibration that a file names lies where the file does.
fn from_where_it_lies(cluster: &mut ClusterSpec, file: &str) {
    if let (Some(calibration), Some(folder)) = (&cluster.calibration, Path::new(file).parent())
        && Path::new(calibration).is_relative()
    {
        cluster.calibration = Some(folder.join(calibration).to_string_lossy().into_owned());
    }
}

/// The cluster of a word: a preset, a file, or the usual surroundings of an accelerator.
pub(crate) fn cluster(word: &str) -> Result<ClusterSpec, Problem> {
    let plain = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    let is_preset = preset_names().contains(&plain.as_str());
    let is_file =
        word == "-" || word.contains(['/', '\\']) || Path::new(word).extension().is_some_and(|e| e == "toml");
    if !is_preset && (is_file || input::access::is_file(Path::new(word))) {
        let text = input::read(word, CONFIG_LIMIT)?;
        let mut spec = ClusterSpec::parse(&text, word)?;
        from_where_it_lies(&mut spec, word);
        return Ok(spec);
    }
    if !is_preset && let Ok(accelerator) = accelerator_by_name(word) {
        return Ok(ClusterSpec { accelerator: Some(accelerator.id), ..ClusterSpec::default() });
    }
    let spec = ClusterSpec { preset: Some(word.to_owned()), ..ClusterSpec::default() };
    if !is_preset {
        // The message of an unknown name, with the flag as its place.
        spec.resolve().map_err(|problem| Problem { place: None, ..problem }.in_file("--cluster"))?;
    }
    Ok(spec)
}

/// What was chosen where nobody said anything, the weightiest first.
fn said_by_nobody(spec: &RunSpec, run: &Run) -> Vec<String> {
    let plan = &run.plan;
    let said = &spec.plan;
    let mut chosen = Vec::new();
    let mut note = |is_open: bool, words: String| {
        if is_open {
            chosen.push(words);
        }
    };
    note(spec.cluster.devices.is_none(), format!("{} devices", human::whole(run.cluster.devices)));
    let has_batch =
        said.global_batch.is_some() || said.micro_batches.is_some() || said.batch_tokens.is_some();
    note(
        said.sequence_length.is_none(),
        format!("sequences of {} tokens", human::whole(plan.sequence_length)),
    );
    note(!has_batch, format!("global batch {}", human::whole(plan.global_batch)));
    note(said.micro_batch.is_none(), format!("micro batch {}", plan.micro_batch));
    let bare = said.precision.is_none() && said.precision_compute.is_none();
    note(bare, plan.precision.compute.name().to_owned());
    note(said.sharding.is_none(), format!("ZeRO stage {}", plan.sharding.zero_stage));
    note(said.recompute.is_none() && said.stage_recompute.is_none(), recompute(plan).to_owned());
    note(
        said.virtual_stages.is_none() && plan.pipeline_parallel > 1 && plan.virtual_stages == 1,
        "no interleaving".to_owned(),
    );
    note(
        said.segment.is_none() && plan.segment.is_some(),
        format!(
            "segments of {} of the {} GPUs of a scale-up domain",
            plan.domain(&run.cluster),
            run.cluster.scale_up.domain_size
        ),
    );
    note(said.software.is_none(), format!("software {}", plan.software));
    chosen
}

fn recompute(plan: &Plan) -> &'static str {
    match &plan.recompute {
        Recompute::None => "no recompute",
        Recompute::Selective { .. } => "selective recompute",
        Recompute::Full { .. } => "full recompute",
    }
}

/// `llama-3.1-405b, 405.9B parameters`.
pub(crate) fn describe(model: &Model) -> String {
    format!("{}, {} parameters", model.name, human::count(model.parameters().total as f64))
}
