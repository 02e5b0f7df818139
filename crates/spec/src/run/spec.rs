//! A run as written by the user, in layers: a file, then settings of the command line.

use super::section::{Key, Section};
use super::text::{self, Keys, from_words};
use super::value::{Kind, Value};
use super::{CostSpec, ModelSpec, Run, SoftwareOrigin, TrainingSpec, Unspecified};
use crate::cluster::ClusterSpec;
use crate::human::shorten;
use crate::plan::{PlanSpec, validate, warnings};
use crate::problem::{Place, Problem, Warning};
use crate::software::{FrontEnd, front_end};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// All settings of a run; open ones have a default or follow from others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSpec {
    /// Trained model.
    pub model: ModelSpec,
    /// Cluster that trains it.
    pub cluster: ClusterSpec,
    /// Training plan.
    pub plan: PlanSpec,
    /// Amount of training.
    pub training: TrainingSpec,
    /// Prices.
    pub cost: CostSpec,
    /// Reason for an unspecified software generation. `Inferred` without a generation: only the framework
    /// was inferred, and its generation is assumed. `None`: a named generation is specified, an unnamed
    /// one assumed.
    pub unspecified_software: Option<Unspecified>,
    /// Program of the launch file, if it passes on only a part of its generation's choices
    /// ([`crate::software::front_end`]). Not a key of run files.
    pub front_end: Option<String>,
    /// Place of each key, for later messages about its value.
    places: BTreeMap<String, Place>,
}

/// All keys of a run file, in the order of the documentation.
pub fn keys() -> Vec<Key> {
    sections().concat()
}

fn sections() -> Vec<&'static [Key]> {
    vec![ModelSpec::KEYS, ClusterSpec::KEYS, PlanSpec::KEYS, TrainingSpec::KEYS, CostSpec::KEYS]
}

/// Reads a run file. Errors have line, column and the nearest valid key. Returns the first error in the text.
pub fn parse(text: &str, file: &str) -> Result<RunSpec, Problem> {
    let mut spec = RunSpec::default();
    for entry in text::read(text, file, "", &Keys(sections()))? {
        let here = Problem::new("").in_file(file).at_key(&entry.path).at_offset(text, entry.span.start);
        let place = here.place.map_or_else(Place::default, |place| *place);
        spec.set_at(&entry.path, &entry.value, place)?;
    }
    Ok(spec)
}

/// Key of a dotted path or of its alias (`plan.tp`), or the problem of the path.
pub fn key(path: &str) -> Result<Key, Problem> {
    let keys = Keys(sections());
    let path = keys.real(path.trim());
    keys.find(path).cloned().ok_or_else(|| keys.unknown(path))
}

/// Key of the software generation.
const SOFTWARE: &str = "plan.software";

impl RunSpec {
    /// Program of the launch file, if it passes on only a part of its generation's choices.
    pub fn front_end(&self) -> Option<&'static FrontEnd> {
        self.front_end.as_deref().and_then(front_end)
    }

    /// Sets one key from `key=value`, as in `--set`: `plan.tensor_parallel=8`, `model.name=llama-3.1-8b`.
    pub fn set(&mut self, assignment: &str) -> Result<(), Problem> {
        let file = "--set";
        let shown = shorten(assignment);
        let Some((path, value)) = assignment.split_once('=') else {
            return Err(Problem::new(format!("`{shown}` has no `=`"))
                .in_file(file)
                .hint(format!("use `--set {shown}=VALUE`")));
        };
        self.assign(file, path.trim(), value, true).map_err(|problem| problem.in_file(file))
    }

    /// Sets one key from a flag: `--tensor-parallel 8`. Messages contain the flag.
    pub fn set_flag(&mut self, flag: &str, path: &str, value: &str) -> Result<(), Problem> {
        self.assign(flag, path, value, false)
    }

    fn assign(&mut self, file: &str, path: &str, value: &str, with_key: bool) -> Result<(), Problem> {
        let keys = Keys(sections());
        let path = keys.real(path);
        let Some(key) = keys.find(path) else {
            return Err(keys.unknown(path));
        };
        let value = value.trim();
        let place = Place {
            file: file.to_owned(),
            key: with_key.then(|| path.to_owned()),
            text: Some(shorten(&format!("{path}={value}"))),
            ..Place::default()
        };
        if value.is_empty() {
            let problem = Problem::new(format!("no value, expected {}", key.kind.expects()));
            return Err(Problem { place: Some(Box::new(place)), ..problem });
        }
        let set = self.set_at(path, &from_words(value, key.kind), place);
        set.map_err(|problem| match key.kind {
            Kind::Count if problem.hint.is_none() => problem.hint(COUNTS),
            _ => problem,
        })
    }

    /// Place of a key; `None` if the key is not set or its place is unknown.
    pub fn place_of(&self, path: &str) -> Option<&Place> {
        self.places.get(path)
    }

    /// Value of a dotted key; `None` if it is not set.
    pub fn get(&self, path: &str) -> Option<Value> {
        let (section, name) = path.split_once('.')?;
        match section {
            "model" => self.model.get(name),
            "cluster" => self.cluster.get(name),
            "plan" => self.plan.get(name),
            "training" => self.training.get(name),
            "cost" => self.cost.get(name),
            _ => None,
        }
    }

    /// Sets everything that is set in `other`.
    pub fn overlay(&mut self, other: &Self) {
        self.model.overlay(&other.model);
        self.cluster.overlay(&other.cluster);
        if other.plan.software.is_some() {
            self.unspecified_software = other.unspecified_software;
        } else if self.plan.software.is_none() {
            self.unspecified_software = other.unspecified_software.or(self.unspecified_software);
        }
        if other.front_end.is_some() {
            self.front_end.clone_from(&other.front_end);
        }
        self.plan.overlay_sizes(&other.plan);
        self.training.overlay(&other.training);
        self.cost.overlay(&other.cost);
        self.places.extend(other.places.iter().map(|(key, place)| (key.clone(), place.clone())));
    }

    /// Replaces the cluster by one from a file or a name, with the places of its settings.
    pub fn use_cluster(&mut self, cluster: super::Sheet<ClusterSpec>) {
        self.places.retain(|key, _| !key.starts_with("cluster."));
        self.places.extend(cluster.places);
        self.cluster = cluster.spec;
    }

    /// Value as in a run file, with the origin of an inferred or assumed generation.
    #[must_use]
    pub fn written(&self, key: &Key, value: Value) -> Value {
        match value {
            Value::Text(id) if key.path() == SOFTWARE => Value::Text(self.software_origin().written(&id)),
            value => value,
        }
    }

    /// Equivalent run file.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for section in sections() {
            let set: Vec<(&Key, Value)> =
                section.iter().filter_map(|key| Some((key, self.get(&key.path())?))).collect();
            let Some((first, _)) = set.first() else { continue };
            if !out.is_empty() {
                out.push('\n');
            }
            let _ = writeln!(out, "[{}]", first.section);
            let is_preset_alone =
                set.iter().filter(|(key, _)| key.name.starts_with("precision.")).count() == 1;
            for (key, value) in set {
                let name =
                    if key.name == "precision.preset" && is_preset_alone { "precision" } else { key.name };
                let _ = writeln!(out, "{name} = {}", self.written(key, value).to_toml());
            }
        }
        out
    }

    /// Fills in all open settings. Rejects contradictions. `read` returns the text of the model's
    /// `config.json` and of a calibration by path. Does not validate the plan; see
    /// [`RunSpec::resolve_valid`]. Chooses no layout and no recompute: these need prices and memory,
    /// see `defaults::resolve_run` of the crate `railwright-calculator`.
    pub fn resolve(&self, read: impl Fn(&str) -> Result<String, Problem>) -> Result<Run, Problem> {
        let placed = |problem| self.placed(problem);
        let model = self.model.resolve(&read).map_err(placed)?;
        let cluster = self.cluster.resolve_calibrated(&read).map_err(placed)?;
        let plan = self.plan.resolve(&model, &cluster).map_err(placed)?;
        let training = self.training.resolve().map_err(placed)?;
        let cost = self.cost.resolve().map_err(placed)?;
        let (software_origin, open_settings) = (self.software_origin(), self.plan.open_settings());
        Ok(Run { model, cluster, plan, training, cost, software_origin, open_settings })
    }

    /// Origin of the software generation.
    pub const fn software_origin(&self) -> SoftwareOrigin {
        match (&self.plan.software, self.unspecified_software) {
            (_, Some(Unspecified::Inferred)) => SoftwareOrigin::Inferred,
            (_, Some(Unspecified::Assumed)) | (None, None) => SoftwareOrigin::Assumed,
            (Some(_), None) => SoftwareOrigin::Specified,
        }
    }

    /// Resolves and validates the run. Returns all problems, or the run with its warnings.
    pub fn resolve_valid(
        &self,
        read: impl Fn(&str) -> Result<String, Problem>,
    ) -> Result<(Run, Vec<Warning>), Vec<Problem>> {
        self.validated(self.resolve(read).map_err(|problem| vec![problem])?)
    }

    /// Validates a run of this specification. Returns all problems, placed, or the run with its warnings.
    pub fn validated(&self, run: Run) -> Result<(Run, Vec<Warning>), Vec<Problem>> {
        let problems = validate(&run.model, &run.cluster, &run.plan);
        if problems.is_empty() {
            let warnings = warnings(&run.model, &run.cluster, &run.plan);
            Ok((run, warnings))
        } else {
            Err(problems.into_iter().map(|problem| self.placed(problem)).collect())
        }
    }

    /// Adds the place of the key to a problem with a key.
    pub fn placed(&self, mut problem: Problem) -> Problem {
        if let Some(place) = problem.place.as_mut()
            && place.line.is_none()
            && place.file.is_empty()
            && let Some(known) = place.key.as_deref().and_then(|key| self.places.get(key))
        {
            **place = known.clone();
        }
        problem
    }

    /// Sets one value by its dotted key (not an alias), with its `place` for later messages.
    pub fn set_at(&mut self, path: &str, value: &Value, place: Place) -> Result<(), Problem> {
        let (section, name) = path.split_once('.').unwrap_or((path, ""));
        let unspecified = match value {
            Value::Text(text) if path == SOFTWARE => Unspecified::read(text),
            _ => None,
        };
        let bare = unspecified.map(|(_, id)| Value::Text(id.to_owned()));
        let value = bare.as_ref().unwrap_or(value);
        let done = match section {
            "model" => self.model.set(name, value),
            "cluster" => self.cluster.set(name, value),
            "plan" => self.plan.set_later(name, value),
            "training" => self.training.set(name, value),
            "cost" => self.cost.set(name, value),
            _ => None,
        };
        let done = done.unwrap_or_else(|| Err(Keys(sections()).unknown(path)));
        done.map_err(|problem| Problem { place: Some(Box::new(place.clone())), ..problem })?;
        if path == SOFTWARE {
            self.unspecified_software = unspecified.map(|(why, _)| why);
        }
        self.places.insert(path.to_owned(), place);
        Ok(())
    }

    /// Place of a key; `None` if the key is not set or its place is unknown.
    pub fn place(&self, path: &str) -> Option<&Place> {
        self.places.get(path)
    }
}

/// Hint for a value that is not a count.
const COUNTS: &str = "write a count as in `8192`, `8k` or `1M`";
