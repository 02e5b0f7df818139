//! A launch under construction: what every reader fills in.
//!
//! Responsible for: keeping a value, its origin and the place for later messages together, and bounding what a hostile file can
//! make it hold. Refuses to know any framework.

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
    /// Which file a line lies in, where the launch has several.
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

    /// The program that the file is for passes on only a part of its generation's choices.
    pub(crate) fn front_end(&mut self, id: &str) {
        self.launch.spec.front_end = Some(id.to_owned());
    }

    /// From now on lines count through several files.
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
    /// Some(12))`. `source` is the text of the file, or the default, then without a line. Later values
    /// override.
    pub fn set<T: Field>(&mut self, key: &str, value: &T, source: &str, line: Option<usize>) {
        self.set_value(key, &value.write(), source, line);
    }

    /// The same with a value without a type, as a file has it: whether it fits the key is checked.
    pub fn set_value(&mut self, key: &str, value: &Value, source: &str, line: Option<usize>) {
        let (file, line) = self.spot(line);
        let own = file.clone().unwrap_or_else(|| self.launch.file.clone());
        let place = Place { file: own, line, key: Some(shorten(source)), ..Place::default() };
        match self.launch.spec.set_at(key, value, place) {
            Ok(()) => {
                self.launch.origins.retain(|origin| origin.key != key);
                self.launch.origins.push(Origin {
                    key: key.to_owned(),
                    value: value.to_toml(),
                    source: shorten(source),
                    line,
                    file,
                });
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Whether a value comes from a line.
    pub fn is_origin(&self, source: &str, line: Option<usize>) -> bool {
        let source = shorten(source);
        let (file, line) = self.spot(line);
        let is_here = |origin: &Origin| origin.line == line && origin.file == file && origin.source == source;
        self.launch.origins.iter().any(is_here)
    }

    /// Where each value comes from.
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

    /// Whether the file shows only a part of the run.
    pub(crate) fn is_partial(&self) -> bool {
        self.launch.partial.is_some()
    }

    /// The file names a model that the catalogue does not have.
    pub(crate) fn unknown_model(&mut self, name: &str, source: &str, line: Option<usize>) {
        let message = "not in the catalogue, so the model is open: pass its config.json";
        self.remark(RemarkKind::Unresolved, source, line, message);
        self.leave_open("model.name", source, line, format!("`{}` is not in the catalogue", shorten(name)));
    }

    /// Whether a value was left open.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        self.launch.open.iter().any(|open| open.key == key)
    }

    /// Takes values back.
    pub(crate) fn take_back(&mut self, keys: &[String]) {
        let open = self.launch.open.len();
        for key in keys {
            self.leave_open(key, "", None, "");
        }
        self.launch.open.truncate(open);
    }

    /// A value stays open: what was set for it is taken back.
    pub(crate) fn leave_open(
        &mut self,
        key: &str,
        source: &str,
        line: Option<usize>,
        why: impl Into<String>,
    ) {
        let (file, line) = self.spot(line);
        if self.launch.open.len() < MOST && !self.launch.open.iter().any(|open| open.key == key) {
            let source = shorten(source);
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
                // It was set before, so it fits.
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

    /// What was set so far.
    pub fn spec(&self) -> &RunSpec {
        &self.launch.spec
    }

    /// The `config.json` of a model that keys cannot express.
    pub fn model_config(&mut self, text: String, source: &str, line: Option<usize>) {
        self.set("model.config", &self.launch.file.clone(), source, line);
        self.launch.model_config = Some(text);
    }

    /// Adds a remark; see [`Remark`].
    pub fn remark(
        &mut self,
        kind: RemarkKind,
        source: &str,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        if self.launch.remarks.len() < MOST {
            let (file, line) = self.spot(line);
            let remark = Remark { kind, source: shorten(source), line, message: message.into(), file };
            if !self.launch.remarks.contains(&remark) {
                self.launch.remarks.push(remark);
            }
        }
    }

    /// Takes back that these words are unknown.
    pub(crate) fn forget_unknown(&mut self, source: &[&str]) {
        self.launch
            .remarks
            .retain(|remark| remark.kind != RemarkKind::Unknown || !source.contains(&remark.source.as_str()));
    }

    /// Removes remarks on a subject that was resolved later: those equal to or beginning with a text.
    pub fn forget(&mut self, source: &[&str]) {
        self.launch.remarks.retain(|remark| !source.iter().any(|source| remark.source.starts_with(source)));
    }

    /// Takes back what was concluded without a line of the file: a partial file concludes nothing.
    pub(crate) fn forget_conclusions(&mut self) {
        self.launch.remarks.retain(|remark| remark.kind != RemarkKind::Assumed || remark.line.is_some());
    }

    /// Takes assumptions back that were settled later: those whose message holds a text.
    pub fn forget_assumptions(&mut self, text: &str) {
        self.launch
            .remarks
            .retain(|remark| remark.kind != RemarkKind::Assumed || !remark.message.contains(text));
    }

    /// Something that makes the file useless. It gets the file's name.
    pub fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MOST {
            self.problems.push(problem.in_file(self.launch.file.clone()));
        }
    }

    /// What a log reports that the run took.
    pub fn measured(&mut self, measured: Measured) {
        self.launch.measured = Some(measured);
    }

    /// A model with dimensions but without a vocabulary gets that of its style, with a remark.
    fn vocabulary(&mut self) {
        let model = &self.launch.spec.model;
        let is_given = self.launch.partial.is_some()
            || self.launch.open.iter().any(|open| open.key == "model.vocab")
            || model.vocab.is_some()
            || model.name.is_some()
            || model.config.is_some();
        if is_given || model.layers.is_none() || model.hidden.is_none() {
            return;
        }
        if let Ok(model) = model.resolve(|_| Err(Problem::new("no file"))) {
            let message = format!(
                "no vocabulary size is set: {} rows are assumed; `--vocab` sets it",
                model.vocabulary
            );
            self.remark(RemarkKind::Assumed, "model.vocab", None, message);
        }
    }

    /// Whether a file without a date is of the framework whose generation the calculator assumes for its plan: Megatron's arguments and
    /// configurations, unless they ask for full sharding, for which another framework is assumed.
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

    /// The launch, or all that is wrong with it. Remarks come in the order of what weighs most, then of lines.
    pub fn finish(mut self) -> Result<Launch, Vec<Problem>> {
        if self.problems.is_empty() {
            self.vocabulary();
            // No launch file names a generation: what is set of it was inferred.
            let is_inferred = self.launch.spec.plan.software.is_some() || self.is_of_assumed_framework();
            self.launch.spec.unspecified_software = is_inferred.then_some(Unspecified::Inferred);
            self.launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
            Ok(self.launch)
        } else {
            Err(self.problems)
        }
    }
}
