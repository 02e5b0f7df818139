//! The space of a search: settings and their origin.
//!
//! Responsible for: the interface between searches and a front end: other numbers of devices, and the flags
//! of a run.

use crate::resolve::{Resolved, resolve};
use crate::setting::Setting;
use crate::{Refused, Texts};
use railwright_spec::human;
use railwright_spec::model::PublishedTraining;
use railwright_spec::plan::{Plan, PlanSpec};
use railwright_spec::problem::Problem;
use railwright_spec::run::RunSpec;
use railwright_tuner::size::numbers;

/// Settings whose best plans a search finds.
pub trait Question {
    /// Settings by cluster in the specified order, then by number of devices.
    fn settings(&self) -> &[Setting];

    /// True if numbers of devices were specified.
    fn has_devices(&self) -> bool;

    /// Same cluster with a different number of devices.
    fn resized(&self, setting: &Setting, devices: u64) -> Result<Setting, Refused>;

    /// Command line that estimates a plan.
    fn command(&self, setting: &Setting, plan: &Plan) -> Result<String, Problem>;

    /// Rewrites a problem with the flags of the user.
    fn in_words_of_asker(&self, problem: Problem) -> Problem {
        problem
    }

    /// True if a setting of a launch file was freed by name.
    fn frees(&self, _key: &str) -> bool {
        false
    }

    /// Launch file with free settings, as named by the user; `None` without one.
    fn launch(&self) -> Option<String> {
        None
    }

    /// Plan settings that are fixed in every setting.
    fn specified(&self) -> PlanSpec {
        self.settings().first().map(|setting| setting.spec.plan.clone()).unwrap_or_default()
    }

    /// Sequence length in tokens: specified, else the default of plans.
    fn sequence_length(&self) -> u64 {
        let first = self.settings().first();
        first.map_or(1, |setting| setting.spec.plan.tokens_per_sequence(&setting.run.model)).max(1)
    }

    /// Published training of the model. `None` without one.
    fn published(&self) -> Option<&'static PublishedTraining> {
        let first = self.settings().first()?;
        first.spec.plan.published_training(&first.run.model)
    }
}

/// Maximum number of compared cluster sizes.
pub const MOST_NUMBERS: usize = 64;

/// Cluster sizes from text: `512`, `512,1024`, `512..4096` (powers of two of a node between).
pub fn cluster_sizes(text: &str, per_node: u64) -> Result<Vec<u64>, Problem> {
    let mut list = Vec::new();
    let one = |word: &str| -> Result<u64, Problem> {
        let word = word.trim();
        // Parsed like every count, so that `16k` has the same meaning everywhere.
        let mut spec = RunSpec::default();
        let number = spec
            .set_flag("--gpus", "cluster.devices", word)
            .ok()
            .and(spec.cluster.devices)
            .filter(|n| *n > 0);
        number.ok_or_else(|| {
            Problem::new(format!("expected cluster sizes of 1 or more, found `{}`", human::shorten(word)))
                .in_file("--gpus")
                .hint("use one size (`1024`), a list (`512,1024`) or a range (`512..4096`)")
        })
    };
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (one(from)?, one(to.trim_start_matches('='))?);
                let found = numbers(per_node, from, to, false);
                if found.is_empty() {
                    let problem = Problem::new(format!(
                        "`{part}` contains no power-of-two multiple of a node of {per_node}"
                    ));
                    return Err(problem.in_file("--gpus").hint("list the sizes, as in `512,1024`"));
                }
                list.extend(found);
            }
            None => list.push(one(part)?),
        }
    }
    list.sort_unstable();
    list.dedup();
    if list.len() > MOST_NUMBERS {
        let problem = Problem::new(format!("{} cluster sizes exceed the limit", list.len()));
        return Err(problem.in_file("--gpus").hint(format!("pass at most {MOST_NUMBERS}")));
    }
    Ok(list)
}

/// The settings of a question without a number of devices, by index, with the number that [`resolve`] chooses
/// and with its words.
pub fn fitted_devices(asked: &dyn Question, texts: &dyn Texts) -> Vec<(usize, Setting, String)> {
    let mut out = Vec::new();
    for (at, setting) in asked.settings().iter().enumerate() {
        if setting.spec.cluster.devices.is_some() {
            continue;
        }
        // A specification that does not resolve keeps the default number; the search reports its problems.
        let Ok(Resolved { run, chosen, .. }) = resolve(setting.spec.clone(), texts) else { continue };
        let devices = run.cluster.devices;
        if devices == setting.run.cluster.devices {
            out.push((at, setting.clone(), format!("{} devices", human::whole(devices))));
        } else if let Ok(resized) = asked.resized(setting, devices) {
            out.push((at, resized, chosen.into_iter().next().unwrap_or_default()));
        }
    }
    out
}

/// Settings from specifications, for front ends without a command line.
pub struct Settings<'a> {
    list: Vec<Setting>,
    has_devices: bool,
    texts: &'a dyn Texts,
}

impl<'a> Settings<'a> {
    /// One setting per specification and number of devices. Without `devices`, the specification's own
    /// number.
    pub fn new(specs: &[RunSpec], devices: &[u64], texts: &'a dyn Texts) -> Result<Self, Refused> {
        if specs.is_empty() {
            return Err(Problem::new("no cluster is set").into());
        }
        let mut devices = devices.to_vec();
        devices.sort_unstable();
        devices.dedup();
        if devices.len() > MOST_NUMBERS {
            let problem = Problem::new(format!("{} cluster sizes exceed the limit", devices.len()));
            return Err(problem
                .at_key("cluster.devices")
                .hint(format!("pass at most {MOST_NUMBERS}"))
                .into());
        }
        let mut list: Vec<Setting> = Vec::new();
        for spec in specs {
            let word = word_of(spec);
            if devices.is_empty() {
                list.push(named(Setting::new(spec.clone(), texts)?, word));
                continue;
            }
            for &devices in &devices {
                let mut spec = spec.clone();
                spec.cluster.devices = Some(devices);
                list.push(named(Setting::new(spec, texts)?, word.clone()));
            }
        }
        list.dedup_by(|a, b| a.spec == b.spec);
        let has_devices = !devices.is_empty() || specs.iter().any(|spec| spec.cluster.devices.is_some());
        Ok(Self { list, has_devices, texts })
    }
}

/// Name of the cluster; `None` if it has none.
fn word_of(spec: &RunSpec) -> Option<String> {
    spec.cluster.preset.clone()
}

fn named(setting: Setting, word: Option<String>) -> Setting {
    match word {
        Some(word) => Setting { word, ..setting },
        None => setting,
    }
}

impl Question for Settings<'_> {
    fn settings(&self) -> &[Setting] {
        &self.list
    }

    fn has_devices(&self) -> bool {
        self.has_devices
    }

    fn resized(&self, setting: &Setting, devices: u64) -> Result<Setting, Refused> {
        let mut spec = setting.spec.clone();
        spec.cluster.devices = Some(devices);
        Ok(named(Setting::new(spec, self.texts)?, Some(setting.word.clone())))
    }

    /// Command with the keys of a run file as flags.
    fn command(&self, setting: &Setting, plan: &Plan) -> Result<String, Problem> {
        let model = setting.spec.model.name.as_deref().unwrap_or(&setting.run.model.name);
        Ok(format!(
            "railwright estimate {} --cluster {} --gpus {} {}",
            crate::setting::quoted(model),
            crate::setting::quoted(&setting.word),
            setting.run.cluster.devices,
            setting.layout(plan)
        ))
    }
}
