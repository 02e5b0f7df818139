//! A launch under construction: what every reader fills in.
//!
//! Responsible for: keeping a value, its origin and the place for later messages together, and bounding what a hostile file can
//! make it hold. Refuses to know any framework.

use crate::launch::{Measured, Remark, RemarkKind};
use crate::{Format, Launch, Origin};
use railwright_spec::human::shorten;
use railwright_spec::problem::{Place, Problem};
use railwright_spec::run::{Field, RunSpec, Value};

/// Remarks and problems that are kept of one file; more help nobody.
const MOST: usize = 500;

/// A launch under construction.
#[derive(Debug)]
pub struct Draft {
    launch: Launch,
    problems: Vec<Problem>,
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
            measured: None,
        };
        Self { launch, problems: Vec::new() }
    }

    /// Sets a key of a run file: `draft.set("plan.tensor_parallel", &8, "--tensor-model-parallel-size 8", Some(12))`. `said` is
    /// what the file says, or which default holds; then there is no line. Later wins.
    pub fn set<T: Field>(&mut self, key: &str, value: &T, said: &str, line: Option<usize>) {
        self.set_value(key, &value.write(), said, line);
    }

    /// The same with a value without a type, as a file has it: whether it fits the key is checked.
    pub fn set_value(&mut self, key: &str, value: &Value, said: &str, line: Option<usize>) {
        let place =
            Place { file: self.launch.file.clone(), line, key: Some(shorten(said)), ..Place::default() };
        match self.launch.spec.set_at(key, value, place) {
            Ok(()) => {
                self.launch.origins.retain(|origin| origin.key != key);
                self.launch.origins.push(Origin {
                    key: key.to_owned(),
                    value: value.to_toml(),
                    said: shorten(said),
                    line,
                });
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Whether a value comes from what is said at a line.
    pub fn is_origin(&self, said: &str, line: Option<usize>) -> bool {
        let said = shorten(said);
        self.launch.origins.iter().any(|origin| origin.line == line && origin.said == said)
    }

    /// The value of a key, if it was set.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.launch.spec.get(key)
    }

    /// What was set so far.
    pub fn spec(&self) -> &RunSpec {
        &self.launch.spec
    }

    /// The text of a `config.json` that says what the model is, where keys cannot.
    pub fn model_config(&mut self, text: String, said: &str, line: Option<usize>) {
        self.set("model.config", &self.launch.file.clone(), said, line);
        self.launch.model_config = Some(text);
    }

    /// Says something about the reading; see [`Remark`].
    pub fn remark(&mut self, kind: RemarkKind, said: &str, line: Option<usize>, message: impl Into<String>) {
        if self.launch.remarks.len() < MOST {
            let remark = Remark { kind, said: shorten(said), line, message: message.into() };
            if !self.launch.remarks.contains(&remark) {
                self.launch.remarks.push(remark);
            }
        }
    }

    /// Takes remarks back whose subject was settled later: those of what is said or begins with it.
    pub fn forget(&mut self, said: &[&str]) {
        self.launch.remarks.retain(|remark| !said.iter().any(|said| remark.said.starts_with(said)));
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

    /// A model whose dimensions are given without a vocabulary gets that of its style, and that is said.
    fn vocabulary(&mut self) {
        let model = &self.launch.spec.model;
        let is_given = model.vocab.is_some() || model.name.is_some() || model.config.is_some();
        if is_given || model.layers.is_none() || model.hidden.is_none() {
            return;
        }
        if let Ok(model) = model.resolve(|_| Err(Problem::new("no file"))) {
            let message =
                format!("no vocabulary is given: {} rows are taken; give it with --vocab", model.vocabulary);
            self.remark(RemarkKind::Assumed, "model.vocab", None, message);
        }
    }

    /// The launch, or all that is wrong with it. Remarks come in the order of what weighs most, then of lines.
    pub fn finish(mut self) -> Result<Launch, Vec<Problem>> {
        if self.problems.is_empty() {
            self.vocabulary();
            self.launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
            Ok(self.launch)
        } else {
            Err(self.problems)
        }
    }
}
