//! The runs that `search` and `size` choose plans for: one for each cluster and number of devices that was named.
//!
//! Responsible for: from what was typed to a model, a cluster and what the plan already says, once per combination; and the way back,
//! from a plan to the command line that asks for it. Refuses to choose.

use crate::args::{OpenRun, RunArguments, RunFlags, aliases_of, flag_of, short_flag_of};
use crate::exit::Failure;
use crate::input;
use crate::printer::Printer;
use crate::run::{self, flags};
use railwright_spec::human;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::run::{Run, RunSpec, Value, keys};
use railwright_tuner::search::DIMENSIONS;
use railwright_tuner::size::numbers;
use railwright_tuner::written;
use std::cell::RefCell;
use std::fmt::Write as _;

/// One combination of a cluster and a number of devices.
pub(crate) struct Setting {
    /// The cluster as it was named.
    pub(crate) word: String,
    /// What was said, with this cluster and number.
    pub(crate) spec: RunSpec,
    /// The run; its plan is a placeholder.
    pub(crate) run: Run,
}

/// What is searched, and how it was typed.
pub(crate) struct Asked<'a> {
    arguments: &'a OpenRun,
    /// By cluster in the order given, then by number of devices.
    pub(crate) settings: Vec<Setting>,
    /// Whether numbers of devices were typed.
    pub(crate) says_devices: bool,
    texts: Texts,
}

/// The text of the model's configuration, read once: standard input cannot be read again.
#[derive(Default)]
struct Texts(RefCell<Option<String>>);

impl Texts {
    fn read(&self, path: &str) -> Result<String, Problem> {
        if let Some(known) = self.0.borrow().as_ref() {
            return Ok(known.clone());
        }
        let found = input::config_text(path)?;
        *self.0.borrow_mut() = Some(found.clone());
        Ok(found)
    }
}

/// Numbers of devices that are taken at once.
const MOST_NUMBERS: usize = 64;

/// The combinations that were typed; one for each cluster where no numbers of devices were.
pub(crate) fn ask(arguments: &OpenRun) -> Result<Asked<'_>, Failure> {
    let texts = Texts::default();
    let settings = settings(arguments, &texts).map_err(|failure| told(arguments, failure))?;
    let says_devices = arguments.flags.settings.iter().any(|(_, path, _)| path == DEVICES);
    Ok(Asked { arguments, settings, says_devices, texts })
}

/// Problems in the words in which the run was typed.
fn told(arguments: &OpenRun, failure: Failure) -> Failure {
    match failure {
        Failure::Input(problems) => {
            let has_file = arguments.run.is_some();
            Failure::Input(problems.into_iter().map(|problem| flags::in_flags(problem, has_file)).collect())
        }
        other @ Failure::BrokenPipe => other,
    }
}

fn settings(arguments: &OpenRun, texts: &Texts) -> Result<Vec<Setting>, Failure> {
    let words: Vec<Option<&str>> = if arguments.cluster.is_empty() {
        vec![None]
    } else {
        arguments.cluster.iter().map(|word| Some(word.as_str())).collect()
    };
    let mut settings: Vec<Setting> = Vec::new();
    for word in words {
        let open = of(arguments, word, None, texts)?;
        let counts = devices(arguments, open.run.cluster.devices_per_node)?;
        if counts.is_empty() {
            settings.push(open);
            continue;
        }
        for devices in counts {
            settings.push(of(arguments, word, Some(devices), texts)?);
        }
    }
    settings.dedup_by(|a, b| a.spec == b.spec);
    Ok(settings)
}

/// One combination.
fn of(
    arguments: &OpenRun,
    word: Option<&str>,
    devices: Option<u64>,
    texts: &Texts,
) -> Result<Setting, Failure> {
    let settings = arguments.flags.settings.iter().filter(|(_, path, _)| path != DEVICES).cloned();
    let closed = RunArguments {
        model: arguments.model.clone(),
        launch: None,
        run: arguments.run.clone(),
        cluster: word.map(str::to_owned),
        set: arguments.set.clone(),
        fsdp: arguments.fsdp,
        hsdp: arguments.hsdp,
        flags: RunFlags { settings: settings.collect() },
    };
    let mut spec = run::layered(&closed)?;
    if let Some(devices) = devices {
        spec.set_flag("--gpus", DEVICES, &devices.to_string())?;
    }
    let run = resolve(&spec, texts).map_err(|problem| spec.placed(problem))?;
    let word = word.map_or_else(|| run.cluster.name.clone(), str::to_owned);
    Ok(Setting { word, spec, run })
}

const DEVICES: &str = "cluster.devices";

/// Everything but the plan.
fn resolve(spec: &RunSpec, texts: &Texts) -> Result<Run, Problem> {
    let mut quiet = spec.clone();
    quiet.plan = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(1),
        data_parallel: Some(1),
        ..Default::default()
    };
    quiet.resolve(|path| texts.read(path))
}

/// The numbers of devices that were typed: `512`, `512,1024`, `512..4096` (powers of two of a node between).
fn devices(arguments: &OpenRun, per_node: u64) -> Result<Vec<u64>, Problem> {
    let typed = arguments.flags.settings.iter().rev().find(|(_, path, _)| path == DEVICES);
    let Some((_, _, text)) = typed else { return Ok(Vec::new()) };
    let mut list = Vec::new();
    let one = |word: &str| -> Result<u64, Problem> {
        let word = word.trim();
        let number = word.parse::<u64>().ok().filter(|n| *n > 0);
        number.ok_or_else(|| {
            Problem::new(format!("expected numbers of devices from 1, found `{}`", human::shorten(word)))
                .in_file("--gpus")
                .hint("write one as in `1024`, several as in `512,1024`, or bounds as in `512..4096`")
        })
    };
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (one(from)?, one(to.trim_start_matches('='))?);
                let found = numbers(per_node, from, to, false);
                if found.is_empty() {
                    let problem =
                        Problem::new(format!("no power of two of a node of {per_node} lies in `{part}`"));
                    return Err(problem.in_file("--gpus").hint("name the numbers, as in `512,1024`"));
                }
                list.extend(found);
            }
            None => list.push(one(part)?),
        }
    }
    list.sort_unstable();
    list.dedup();
    if list.len() > MOST_NUMBERS {
        let problem =
            Problem::new(format!("{} numbers of devices are more than can be compared", list.len()));
        return Err(problem.in_file("--gpus").hint(format!("name at most {MOST_NUMBERS}")));
    }
    Ok(list)
}

impl Setting {
    /// Numbers of devices that leave a machine half empty: every price is for whole ones.
    pub(crate) fn doubt(&self) -> Option<String> {
        let cluster = &self.run.cluster;
        let (devices, node) = (cluster.devices, cluster.devices_per_node.max(1));
        (devices > node && !devices.is_multiple_of(node)).then(|| {
            format!(
                "{} GPUs are not whole machines of {node}: {} or {} would be",
                human::whole(devices),
                human::whole(devices / node * node),
                human::whole(devices.div_ceil(node) * node)
            )
        })
    }

    /// The layout as flags, nothing of the rest of the run: `--tp 8 --pp 16 --micro-batch 1 --global-batch 2048`.
    pub(crate) fn layout(&self, plan: &Plan) -> String {
        let short = written::shortest(&self.spec.plan, plan, &self.run.model, &self.run.cluster);
        plan_flags(&short, None)
    }

    /// The same to be read and not typed: without the batch, which all layouts have in common, and with long lists told shortly.
    pub(crate) fn short_layout(&self, plan: &Plan) -> String {
        use railwright_spec::run::Section as _;
        let mut short = written::shortest(&self.spec.plan, plan, &self.run.model, &self.run.cluster);
        let layers = short.layers_per_stage.take();
        // What was said and is not searched is the same in every layout.
        let mut kept = PlanSpec::default();
        for key in PlanSpec::KEYS {
            let is_searched = DIMENSIONS.contains(&key.name) || self.spec.plan.get(key.name).is_none();
            if let Some(value) = short.get(key.name).filter(|_| is_searched && key.name != "global_batch") {
                // The value comes out of a specification, so it goes back into one.
                let _ = kept.set(key.name, &value);
            }
        }
        let short = kept;
        let mut text = plan_flags(&short, None);
        if let Some(layers) = layers {
            let _ = write!(text, " layers [{}]", human::counts(&layers));
        }
        text
    }

    /// The run file of a plan.
    pub(crate) fn file(&self, plan: &Plan) -> RunSpec {
        let mut spec = self.spec.clone();
        spec.plan = PlanSpec::from_plan(plan);
        spec
    }
}

impl Asked<'_> {
    /// The same cluster with another number of devices.
    pub(crate) fn resized(&self, setting: &Setting, devices: u64) -> Result<Setting, Failure> {
        let word = (!self.arguments.cluster.is_empty()).then_some(setting.word.as_str());
        of(self.arguments, word, Some(devices), &self.texts).map_err(|failure| told(self.arguments, failure))
    }

    /// A problem in the words in which the run was typed.
    pub(crate) fn told(&self, problem: Problem) -> Problem {
        flags::in_flags(problem, self.arguments.run.is_some())
    }

    /// What a run file or a flag fixes of the plan in every combination.
    pub(crate) fn said(&self) -> PlanSpec {
        self.settings.first().map(|setting| setting.spec.plan.clone()).unwrap_or_default()
    }

    /// The command line that estimates the plan.
    pub(crate) fn command(&self, setting: &Setting, plan: &Plan) -> Result<String, Problem> {
        let arguments = self.arguments;
        let mut line = "railwright estimate".to_owned();
        let mut word = |text: &str| {
            // Writing to a String cannot fail.
            let _ = write!(line, " {}", quoted(text));
        };
        let file = arguments.run.as_deref().map(run::from_file).transpose()?;
        arguments.model.iter().for_each(|model| word(model));
        if let Some(path) = &arguments.run {
            word("--run");
            word(path);
        }
        if !arguments.cluster.is_empty() {
            word("--cluster");
            word(&setting.word);
        }
        word("--gpus");
        word(&setting.run.cluster.devices.to_string());
        for (flag, path, value) in &arguments.flags.settings {
            if path != DEVICES && !path.starts_with("plan.") {
                word(&format!("{flag}={value}"));
            }
        }
        for set in &arguments.set {
            let path = set.split('=').next().unwrap_or_default().trim();
            // Settings win over flags, so those of the plan become flags with what was found.
            if !path.starts_with("plan.") && keys().iter().any(|key| key.path() == path) {
                word("--set");
                word(set);
            }
        }
        let short = written::shortest(&setting.spec.plan, plan, &setting.run.model, &setting.run.cluster);
        let _ = write!(line, " {}", plan_flags(&short, file.as_ref().map(|spec| &spec.plan)));
        Ok(line.trim_end().to_owned())
    }
}

/// Tells what a launch file in the place of the model says and leaves open, as `estimate` does.
pub(crate) fn tell_launch(arguments: &OpenRun, printer: &Printer) -> Result<(), Failure> {
    let closed = RunArguments {
        model: arguments.model.clone(),
        launch: None,
        run: None,
        cluster: None,
        set: Vec::new(),
        fsdp: arguments.fsdp,
        hsdp: arguments.hsdp,
        flags: RunFlags { settings: Vec::new() },
    };
    if let Some(launch) = run::launch::find(&closed)? {
        run::launch::tell(&launch, printer);
    }
    Ok(())
}

/// Tokens of a sequence: what was said, else what the model declares, at most 8192.
pub(crate) fn sequence_length(asked: &Asked<'_>) -> u64 {
    let declared = asked.settings.first().map_or(0, |setting| setting.run.model.max_positions);
    let usual = if declared == 0 { 4096 } else { declared.min(8192) };
    asked.said().sequence_length.unwrap_or(usual).max(1)
}

/// Tokens of a global batch where nobody says it: what trainings of a few billion parameters and more use at least.
const USUAL_TOKENS: u64 = 4 * 1_048_576;
/// The most that is chosen for somebody: Llama 3 405B's. Beyond it many models learn less per token.
const MOST_TOKENS: u64 = 16 * 1_048_576;

/// Sequences for a number of tokens, such that many numbers of replicas divide them: a million tokens in sequences of 8192 are 120, not
/// 122. It departs from the tokens by a sixteenth at most.
pub(crate) fn divisible_batch(tokens: f64, sequence_length: u64, devices: u64) -> u64 {
    let wanted = (tokens / sequence_length.max(1) as f64).round().max(1.0);
    let most = ((wanted / 8.0) as u64).min(devices).max(1);
    let unit = 1_u64 << most.ilog2();
    ((wanted / unit as f64).round() as u64).max(1).saturating_mul(unit)
}

/// Sequences of a global batch where nobody says it: a sequence for every eighth device, as Llama 3 405B had (2,048 on 16,384), within what
/// is usual.
pub(crate) fn usual_batch(sequence_length: u64, devices: u64) -> u64 {
    let least = (USUAL_TOKENS / sequence_length.max(1)).max(1);
    let most = (MOST_TOKENS / sequence_length.max(1)).max(1);
    least.max(devices / 8).min(most).next_power_of_two()
}

/// The usual batch as a number that the odd part of each number of devices divides: a power of two leaves 1,000 GPUs without any layout,
/// because the factor 125 ends up in the replicas. One batch for all where it departs from the usual by less than a factor of two;
/// otherwise `None`, and each number of devices has its own.
pub(crate) fn divided_batch(usual: u64, devices: &[u64]) -> Option<u64> {
    let unit = devices.iter().try_fold(1, |common, &n| {
        let factor = odd_factor(n, usual);
        Some(factor / greatest_common_divisor(common, factor) * common).filter(|unit| *unit <= 2 * usual)
    })?;
    let mut batch = unit;
    // The nearest in ratio of the unit times a power of two, which divides further best.
    while batch as f64 * std::f64::consts::SQRT_2 < usual as f64 {
        batch *= 2;
    }
    Some(batch)
}

/// The odd part of a number of devices; where that is beyond twice the batch, the largest of its divisors that is not.
fn odd_factor(devices: u64, batch: u64) -> u64 {
    let odd = devices >> devices.trailing_zeros().min(63);
    if odd <= 2 * batch {
        return odd.max(1);
    }
    (1..=2 * batch).rev().find(|n| odd.is_multiple_of(*n)).unwrap_or(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// A dimension of the plan and what it may be, from `tp=2..8` or `plan.micro_batch=1,2`: the key without `plan.`, and the text behind `=`.
pub(crate) fn dimension(text: &str) -> Result<(String, &str), Problem> {
    let shown = human::shorten(text);
    let Some((word, values)) = text.split_once('=') else {
        return Err(Problem::new(format!("`{shown}` has no `=`"))
            .in_file("--space")
            .hint("write --space tp=2..8"));
    };
    let key = plan_key(word.trim()).map_err(|problem| problem.in_file("--space"))?;
    Ok((key, values))
}

/// The key of `plan` that a word means: `tp`, `tensor-parallel`, `tensor_parallel`, `plan.tensor_parallel`.
pub(crate) fn plan_key(word: &str) -> Result<String, Problem> {
    let plain = word.trim().trim_start_matches("--").to_ascii_lowercase().replace('-', "_");
    let plain = plain.strip_prefix("plan.").unwrap_or(&plain).to_owned();
    let mut known: Vec<(String, String)> = Vec::new();
    for key in keys().into_iter().filter(|key| key.section == "plan") {
        known.push((key.name.to_owned(), key.name.to_owned()));
        known.push((key.name.replace('.', "_"), key.name.to_owned()));
        known.extend(flag_of(&key).map(|flag| (flag.replace('-', "_"), key.name.to_owned())));
        known.extend(aliases_of(&key).iter().map(|alias| (alias.replace('-', "_"), key.name.to_owned())));
    }
    known.extend(DIMENSIONS.iter().map(|name| ((*name).to_owned(), (*name).to_owned())));
    if let Some((_, key)) = known.iter().find(|(name, _)| *name == plain) {
        return Ok(key.clone());
    }
    let shown = human::shorten(word);
    let names = known.iter().map(|(name, _)| name.as_str());
    Err(Problem::new(format!("`{shown}` is no dimension of a plan")).hint(did_you_mean(
        &plain,
        names,
        "dimensions are named as flags or as keys of `plan`: `tp`, `micro_batch`",
    )))
}

/// A plan's settings as flags, but for those that `known` has already.
fn plan_flags(spec: &PlanSpec, known: Option<&PlanSpec>) -> String {
    use railwright_spec::run::Section;
    let mut parts = Vec::new();
    for key in keys().into_iter().filter(|key| key.section == "plan") {
        let Some(value) = spec.get(key.name) else { continue };
        if known.and_then(|known| known.get(key.name)).as_ref() == Some(&value) {
            continue;
        }
        let Some(flag) = short_flag_of(&key).or_else(|| flag_of(&key)) else { continue };
        parts.push(match value {
            Value::Flag(true) => format!("--{flag}"),
            Value::Flag(false) => format!("--{flag}=false"),
            Value::List(list) => {
                let items: Vec<String> = list.iter().map(plain).collect();
                format!("--{flag} {}", items.join(","))
            }
            other => format!("--{flag} {}", quoted(&plain(&other))),
        });
    }
    parts.join(" ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_toml(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_in_tokens_can_be_divided() {
        assert_eq!(divisible_batch(1e6, 8192, 8), 120);
        assert_eq!(divisible_batch(4_194_304.0, 8192, 1024), 512);
        assert_eq!(divisible_batch(1.0, 8192, 8), 1);
        for tokens in [1e5, 3e6, 16e6, 1e9] {
            let batch = divisible_batch(tokens, 4096, 4096) as f64 * 4096.0;
            assert!((batch / tokens - 1.0).abs() <= 1.0 / 16.0, "{tokens}: {batch}");
        }
    }

    #[test]
    fn a_default_batch_is_divided_by_odd_numbers_of_replicas() {
        assert_eq!(divided_batch(512, &[1024]), Some(512));
        assert_eq!(divided_batch(512, &[1000]), Some(500));
        assert_eq!(divided_batch(512, &[72]), Some(576));
        assert_eq!(divided_batch(512, &[3000]), Some(375));
        assert_eq!(divided_batch(2048, &[10_000]), Some(2500));
        assert_eq!(divided_batch(512, &[72, 64, 1000]), None);
        assert_eq!(divided_batch(512, &[64, 72, 96]), Some(576));
        // A prime beyond all batches: nothing helps, so nothing changes.
        assert_eq!(divided_batch(512, &[8 * 10_007]), Some(512));
        assert_eq!(divided_batch(1, &[u64::MAX, 0]).map(|n| n <= 2), Some(true));
    }

    #[test]
    fn shells_read_back_what_was_quoted() {
        assert_eq!(quoted("dgx-h100"), "dgx-h100");
        assert_eq!(quoted("my file's"), "'my file'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
