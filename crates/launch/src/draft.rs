//! A launch under construction, filled by the readers.
//!
//! Responsible for: a value with its origin and its place for later messages, and bounds on the memory that a
//! hostile file can use. Independent of frameworks.

use crate::context::Sources;
use crate::launch::{Measured, Open, Remark, RemarkKind};
use crate::{Format, Launch, Origin};
use railwright_spec::human::shorten;
use railwright_spec::problem::{Place, Problem};
use railwright_spec::run::{Field, RunSpec, Unspecified, Value};

/// Maximum number of kept remarks and problems of one file.
const MOST: usize = 500;

/// A launch under construction.
#[derive(Clone, Debug)]
pub struct Draft {
    launch: Launch,
    problems: Vec<Problem>,
    /// Mapping of lines to files, for a launch with several.
    sources: Option<Sources>,
}

impl Draft {
    /// An empty launch.
    pub fn new(format: Format, file: &str) -> Self {
        let launch = Launch {
            format,
            file: file.to_owned(),
            spec: RunSpec::default(),
            model_config: None,
            origins: Vec::new(),
            remarks: Vec::new(),
            partial: None,
            open: Vec::new(),
            measured: None,
        };
        Self { launch, problems: Vec::new(), sources: None }
    }

    /// Sets the program of the file, which passes on only a part of its generation's choices.
    pub(crate) fn front_end(&mut self, id: &str) {
        self.launch.spec.front_end = Some(id.to_owned());
        debug_assert!(self.launch.spec.front_end().is_some(), "{id} is not in catalog/front_ends.toml");
    }

    /// Numbers lines through several files from now on.
    pub(crate) fn lines_of(&mut self, sources: Sources) {
        self.sources = Some(sources);
    }

    /// The file of a line, unless it is the launch file, and the line in it.
    pub(crate) fn spot(&self, line: Option<usize>) -> (Option<String>, Option<usize>) {
        match (line, &self.sources) {
            (Some(line), Some(sources)) => {
                let (file, line) = sources.place(line);
                (file, Some(line))
            }
            (line, _) => (None, line),
        }
    }

    /// Sets a key of a run file: `draft.set("plan.tensor_parallel", &8, "--tensor-model-parallel-size 8",
    /// Some(12))`. `source` is the text of the file, or the default, which has no line. Later values
    /// override.
    pub fn set<T: Field>(&mut self, key: &str, value: &T, source: &str, line: Option<usize>) {
        self.set_value(key, &value.write(), source, line);
    }

    /// The same for an untyped value of a file, with a check of its type.
    pub fn set_value(&mut self, key: &str, value: &Value, source: &str, line: Option<usize>) {
        let (file, line) = self.spot(line);
        let own = file.clone().unwrap_or_else(|| self.launch.file.clone());
        let place = Place { file: own, line, key: Some(shown(source)), ..Place::default() };
        match self.launch.spec.set_at(key, value, place) {
            Ok(()) => {
                self.launch.origins.retain(|origin| origin.key != key);
                self.launch.origins.push(Origin {
                    key: key.to_owned(),
                    value: value.to_toml(),
                    source: shown(source),
                    line,
                    file,
                });
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Tests whether a value comes from a line.
    pub fn is_origin(&self, source: &str, line: Option<usize>) -> bool {
        let source = shown(source);
        let (file, line) = self.spot(line);
        let is_here = |origin: &Origin| origin.line == line && origin.file == file && origin.source == source;
        self.launch.origins.iter().any(is_here)
    }

    /// Tests whether a remark is about a text or the flag of it.
    pub(crate) fn is_remarked(&self, source: &str) -> bool {
        let flag = source.split_whitespace().next().unwrap_or(source);
        self.launch.remarks.iter().any(|remark| remark.source == source || remark.source == flag)
    }

    /// The messages of all remarks but those on values that no option accepts.
    pub(crate) fn messages(&self) -> Vec<String> {
        let valid = self.launch.remarks.iter().filter(|remark| remark.kind != RemarkKind::Invalid);
        valid.map(|remark| format!("{:?} {}", remark.kind, remark.message)).collect()
    }

    /// Origin of each value.
    pub(crate) fn origins(&self) -> &[Origin] {
        &self.launch.origins
    }

    /// The kind of file.
    pub(crate) fn format(&self) -> Format {
        self.launch.format
    }

    /// The file shows only a part of the run.
    pub(crate) fn partial(&mut self, why: &str) {
        self.launch.partial.get_or_insert_with(|| why.to_owned());
    }

    /// Tests whether the file shows only a part of the run.
    pub(crate) fn is_partial(&self) -> bool {
        self.launch.partial.is_some()
    }

    /// Records a model name that is not in the catalogue.
    pub(crate) fn unknown_model(&mut self, name: &str, source: &str, line: Option<usize>) {
        let message = "not in the catalogue, so the model is unknown: pass its config.json";
        self.remark(RemarkKind::Unresolved, source, line, message);
        self.leave_open("model.name", source, line, format!("`{}` is not in the catalogue", shorten(name)));
    }

    /// Tests whether a value was left open.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        self.launch.open.iter().any(|open| open.key == key)
    }

    /// Closes a value that another source gives.
    pub(crate) fn settle(&mut self, key: &str) {
        self.launch.open.retain(|open| open.key != key);
    }

    /// Removes values.
    pub(crate) fn take_back(&mut self, keys: &[String]) {
        let open = self.launch.open.len();
        for key in keys {
            self.leave_open(key, "", None, "");
        }
        self.launch.open.truncate(open);
    }

    /// Leaves a value open and removes its previous setting.
    pub(crate) fn leave_open(
        &mut self,
        key: &str,
        source: &str,
        line: Option<usize>,
        why: impl Into<String>,
    ) {
        let (file, line) = self.spot(line);
        if self.launch.open.len() < MOST && !self.launch.open.iter().any(|open| open.key == key) {
            let source = shown(source);
            self.launch.open.push(Open { key: key.to_owned(), source, line, file, why: why.into() });
        }
        if !self.launch.origins.iter().any(|origin| origin.key == key) {
            return;
        }
        let mut spec = RunSpec::default();
        self.launch.origins.retain(|origin| origin.key != key);
        for origin in &self.launch.origins {
            if let Some(value) = self.launch.spec.get(&origin.key) {
                let file = origin.file.clone().unwrap_or_else(|| self.launch.file.clone());
                let source = Some(origin.source.clone());
                let place = Place { file, line: origin.line, key: source, ..Place::default() };
                // It was set before, so it is valid.
                let _ = spec.set_at(&origin.key, &value, place);
            }
        }
        self.launch.spec = spec;
        if key == "model.config" {
            self.launch.model_config = None;
        }
    }

    /// The value of a key, if it was set.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.launch.spec.get(key)
    }

    /// Settings so far.
    pub fn spec(&self) -> &RunSpec {
        &self.launch.spec
    }

    /// The configuration of the model that a file describes.
    pub(crate) fn config_text(&self) -> Option<&str> {
        self.launch.model_config.as_deref()
    }

    /// The `config.json` of a model that keys cannot express.
    pub fn model_config(&mut self, text: String, source: &str, line: Option<usize>) {
        self.set("model.config", &self.launch.file.clone(), source, line);
        self.launch.model_config = Some(text);
    }

    /// Adds a remark; see [`Remark`]. The source is removed from a message that begins with it: printers add
    /// the source.
    pub fn remark(
        &mut self,
        kind: RemarkKind,
        source: &str,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        if self.launch.remarks.len() < MOST {
            let (file, line) = self.spot(line);
            let message = message.into();
            // Behind a colon, "has no value" and "is known" read "no value" and "known".
            let message = match message.strip_prefix(&format!("`{source}` ")) {
                Some(rest) => {
                    ["has ", "is "].iter().find_map(|verb| rest.strip_prefix(verb)).unwrap_or(rest).to_owned()
                }
                None => message,
            };
            let remark = Remark { kind, source: shown(source), line, message, file };
            if !self.launch.remarks.contains(&remark) {
                self.launch.remarks.push(remark);
            }
        }
    }

    /// Removes the remark that these words are unknown.
    pub(crate) fn forget_unknown(&mut self, source: &[&str]) {
        self.launch
            .remarks
            .retain(|remark| remark.kind != RemarkKind::Unknown || !source.contains(&remark.source.as_str()));
    }

    /// Removes remarks on a subject that was resolved later: those equal to or beginning with a text.
    pub fn forget(&mut self, source: &[&str]) {
        self.launch.remarks.retain(|remark| !source.iter().any(|source| remark.source.starts_with(source)));
    }

    /// Removes conclusions without a line of the file: a partial file allows none.
    pub(crate) fn forget_conclusions(&mut self) {
        self.launch.remarks.retain(|remark| remark.kind != RemarkKind::Assumed || remark.line.is_some());
    }

    /// Removes assumptions from a text of the file that were settled later.
    pub fn forget_assumptions(&mut self, source: &str) {
        let source = shown(source);
        self.launch.remarks.retain(|remark| remark.kind != RemarkKind::Assumed || remark.source != source);
    }

    /// Adds an error that makes the file unusable. Its file name is added.
    pub fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MOST {
            self.problems.push(problem.in_file(self.launch.file.clone()));
        }
    }

    /// Sets the measurements that a log contains.
    pub fn measured(&mut self, measured: Measured) {
        self.launch.measured = Some(measured);
    }

    /// Sets the vocabulary of a model with dimensions but without one to that of its style, with a remark.
    fn vocabulary(&mut self) {
        let model = &self.launch.spec.model;
        let is_given = self.launch.partial.is_some()
            || model.vocab.is_some()
            || model.name.is_some()
            || model.config.is_some();
        if is_given || model.layers.is_none() || model.hidden.is_none() {
            return;
        }
        if let Ok(model) = model.resolve(|_| Err(Problem::new("no file"))) {
            let is_open = self.launch.open.iter().any(|open| open.key == "model.vocab");
            let why = if is_open { "the vocabulary size is unknown" } else { "no vocabulary size is set" };
            let message = format!("{why}: {} rows are assumed; `--vocab` sets it", model.vocabulary);
            self.remark(RemarkKind::Assumed, "model.vocab", None, message);
        }
    }

    /// Tests whether an undated file belongs to the framework whose generation the calculator assumes for its
    /// plan. These are Megatron's arguments and configurations, except with full sharding, for which
    /// another framework is assumed.
    fn is_of_assumed_framework(&self) -> bool {
        let is_megatron = matches!(
            self.launch.format,
            Format::MegatronLog
                | Format::MegatronScript
                | Format::MegatronCommand
                | Format::MegatronYaml
                | Format::MegatronArgsYaml
                | Format::MegatronBridge
                | Format::Nemo
                // Modules of other frameworks set their generation.
                | Format::Primus
        );
        is_megatron && self.launch.spec.plan.sharding.is_none_or(|sharding| sharding.zero_stage < 3)
    }

    /// The launch, or all errors. Remarks are sorted by importance, then by line.
    pub fn finish(mut self) -> Result<Launch, Vec<Problem>> {
        if self.problems.is_empty() {
            self.vocabulary();
            // No launch file names a generation: it is inferred.
            let is_inferred = self.launch.spec.plan.software.is_some() || self.is_of_assumed_framework();
            self.launch.spec.unspecified_software = is_inferred.then_some(Unspecified::Inferred);
            self.launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
            Ok(self.launch)
        } else {
            Err(self.problems)
        }
    }
}

/// Ends of keys whose values give access to an account.
const SECRETS: [&str; 11] = [
    "access_token",
    "auth_token",
    "hub_token",
    "hf_token",
    "swanlab_token",
    "wandb_token",
    "wandb_key",
    "access_key",
    "api_key",
    "password",
    "secret",
];

/// Switches of trackers that some programs give an access key instead of a truth value.
const TRACKERS: [&str; 2] = ["use_wandb", "use_swanlab"];
/// Length of a value from which it is no truth value.
const KEY_LENGTH: usize = 16;

/// The source of a value as reports show it: short, and without values of secrets.
pub(crate) fn shown(source: &str) -> String {
    let key = source.split(['=', ' ']).next().unwrap_or_default();
    let plain = key.trim_start_matches('-').to_ascii_lowercase().replace('-', "_");
    let value = source.get(key.len()..).unwrap_or_default().trim_matches(['=', ' ']);
    let is_tracked = TRACKERS.contains(&plain.as_str()) && value.len() >= KEY_LENGTH;
    let names_secret = plain == "token" || SECRETS.iter().any(|end| plain.ends_with(end));
    let is_secret = is_tracked || (names_secret && !value.is_empty());
    if is_secret { format!("{} = ...", shorten(key)) } else { shorten(source) }
}
