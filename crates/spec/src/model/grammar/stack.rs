//! From a description and a configuration to a stack: frame, blocks, towers.
//!
//! Responsible for: the names common to all descriptions (`layers`, `hidden`, `vocabulary`, `norms`, ...) and
//! their bounds. Independent of families.

use super::evaluate::{Scope, Value};
use super::families::{Family, Place};
use super::{feed_forwards, mixers};
use crate::model::bounds::{self, Bound};
use crate::model::build::{Block, Frame, MixerShape, NormShape, assemble, matrix, vector};
use crate::model::{Activation, Cut, Mixer, Model, Module, Position, Tower, Usage, Weight};
use crate::problem::Problem;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;

/// Names of a layer's norms for reports; a layer uses as many as it has norms.
const NORMS: &[&str] = &[
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
    "norm_5",
    "norm_6",
    "norm_7",
    "norm_8",
];

/// Suffix of a module that reuses the weights of an earlier layer.
const AGAIN: &str = " again";

/// A description applied to a configuration.
pub(super) struct Stack<'a> {
    scope: Scope<'a>,
    family: &'static Family,
    /// Assumptions, shown with the model.
    notes: RefCell<Vec<String>>,
}

impl<'a> Stack<'a> {
    pub(super) fn new(
        family: &'static Family,
        own: &'a Map<String, Json>,
        outer: &'a Map<String, Json>,
    ) -> Self {
        let (read, open) = (RefCell::default(), RefCell::default());
        let scope = Scope { own, outer, definitions: &family.definitions, layer: 0, read, open };
        Self { scope, family, notes: RefCell::default() }
    }

    pub(super) fn note(&self, note: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn at_key(&self, problem: Problem, name: &str) -> Problem {
        let read = self.scope.read.borrow();
        problem.at_key(if read.is_empty() { name.to_owned() } else { read.clone() })
    }

    fn get(&self, name: &str) -> Result<Value, Problem> {
        self.scope.read.borrow_mut().clear();
        self.scope.get(name).map_err(|problem| self.at_key(problem, name))
    }

    /// Required whole number.
    pub(super) fn count(&self, name: &str, bound: Bound) -> Result<u64, Problem> {
        self.optional(name, bound)?.ok_or_else(|| match self.get(name) {
            Ok(Value::Missing(key)) => {
                Problem::new(format!("`{key}` is missing")).hint("pass the complete config.json of the model")
            }
            _ => Problem::new(format!("`{name}` is missing")),
        })
    }

    /// Whole number, if present.
    pub(super) fn optional(&self, name: &str, bound: Bound) -> Result<Option<u64>, Problem> {
        let number = match self.get(name)? {
            Value::Missing(_) => return Ok(None),
            Value::Flag(flag) => i128::from(flag),
            Value::Whole(number) => number,
            Value::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => number as i128,
            other => {
                let problem = Problem::new(format!("expected a whole number, found {}", other.shown()));
                return Err(self.at_key(problem, name));
            }
        };
        let inside = u64::try_from(number).ok().filter(|n| bound.check(name, *n).is_ok());
        inside.map(Some).ok_or_else(|| self.at_key(bound.refuse(name, &number.to_string()), name))
    }

    /// True if the condition holds; false if it is missing.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name)? {
            Value::Text(text) => {
                let problem = Problem::new(format!("expected true or false, found {text:?}"));
                Err(self.at_key(problem, name))
            }
            other => Ok(other.is_true()),
        }
    }

    /// Text; empty if missing.
    pub(super) fn text(&self, name: &str) -> Result<String, Problem> {
        match self.get(name)? {
            Value::Text(text) => Ok(text),
            Value::Missing(_) => Ok(String::new()),
            other => {
                Err(self.at_key(Problem::new(format!("expected a string, found {}", other.shown())), name))
            }
        }
    }

    /// A text or a list of strings.
    fn texts(&self, name: &str) -> Result<Vec<String>, Problem> {
        match self.get(name)? {
            Value::List(items) => items
                .into_iter()
                .map(|item| match item {
                    Value::Text(text) => Ok(text),
                    other => {
                        let problem = Problem::new(format!("expected a name, found {}", other.shown()));
                        Err(self.at_key(problem, name))
                    }
                })
                .collect(),
            Value::Text(text) => Ok(vec![text]),
            Value::Missing(key) => Err(Problem::new(format!("`{key}` is missing"))),
            other => {
                Err(self.at_key(Problem::new(format!("expected a name, found {}", other.shown())), name))
            }
        }
    }

    /// Norm of that name.
    pub(super) fn norm(&self, name: &str) -> Result<NormShape, Problem> {
        match self.text(name)?.as_str() {
            "rms" => Ok(NormShape::RMS),
            "layer" => Ok(NormShape::LAYER),
            "scale" => Ok(NormShape { bias: false, ..NormShape::LAYER }),
            "bare" => Ok(NormShape { scale: false, bias: false, ..NormShape::LAYER }),
            "bare_rms" => Ok(NormShape { scale: false, bias: false, ..NormShape::RMS }),
            other => Err(Problem::new(format!("unknown norm `{other}`"))
                .hint("use one of rms, layer, scale, bare, bare_rms")),
        }
    }

    /// Activation by its name in configurations.
    pub(super) fn activation(&self) -> Result<Activation, Problem> {
        let name = self.text("activation")?;
        Ok(match name.as_str() {
            "silu" | "swish" | "swiglu" => Activation::Silu,
            "relu" => Activation::Relu,
            "relu2" | "squared_relu" | "relu_squared" => Activation::SquaredRelu,
            other => {
                if !other.contains("gelu") {
                    let shown: String = other.chars().take(40).collect();
                    self.note(format!(
                        "the activation `{shown}` is modelled as GELU: it moves the same bytes"
                    ));
                }
                Activation::Gelu
            }
        })
    }

    /// Weights of a place that no other name covers.
    pub(super) fn extra(&self, place: Place, module: Module) -> Result<Vec<Weight>, Problem> {
        let mut weights = Vec::new();
        for ((_, name), expression) in self.family.extra.iter().filter(|((p, _), _)| *p == place) {
            let value = self.scope.evaluate(expression).map_err(|problem| problem.at_key(name.clone()))?;
            weights.extend(extra(name, module, &value).map_err(|problem| problem.at_key(name.clone()))?);
        }
        Ok(weights)
    }

    fn block(&self, hidden: u64) -> Result<Block, Problem> {
        let mut mixer_weights: Vec<Weight> = Vec::new();
        let mut kinds: Vec<Mixer> = Vec::new();
        let names: Vec<String> = self.texts("mixer")?.into_iter().filter(|name| name != "none").collect();
        for (index, name) in names.iter().enumerate() {
            // Weights of an earlier layer that are executed again are not held twice.
            let (name, again) = name.strip_suffix(AGAIN).map_or((name.as_str(), false), |name| (name, true));
            let (mixer, mut weights) = mixers::mixer(self, name, hidden)?;
            for weight in weights.iter_mut().filter(|_| again) {
                weight.copies = 0;
            }
            // Parallel mixers have separate GEMMs.
            for weight in weights.iter_mut().filter(|_| index > 0) {
                if let Usage::Matmul { fused, .. } = &mut weight.usage {
                    *fused = format!("{fused}_{}", index + 1);
                }
            }
            kinds.push(mixer);
            mixer_weights.extend(weights);
        }
        mixer_weights.extend(self.extra(Place::Mixer, Module::AttentionInput)?);
        let mixer = match kinds.len() {
            0 => Mixer::None,
            1 => kinds.swap_remove(0),
            _ => Mixer::Several { mixers: kinds },
        };
        let mut weights = self.extra(Place::Layer, Module::Norm)?;
        weights.extend(self.extra(Place::FeedForward, Module::Mlp)?);
        let norms = self.count("norms", Bound::upto(NORMS.len() as u64))?;
        let feed_forward = self.text("feed_forward")?;
        let again = feed_forward.ends_with(AGAIN);
        Ok(Block {
            name: kind_name(&self.text("layer_name")?),
            mixer: MixerShape::Described { mixer, weights: mixer_weights },
            feed_forward: feed_forwards::feed_forward(
                self,
                feed_forward.strip_suffix(AGAIN).unwrap_or(&feed_forward),
            )?,
            again,
            norm: self.norm("norm")?,
            norms: NORMS.get(..norms as usize).unwrap_or_default(),
            parallel_residual: self.flag("parallel_residual")?,
            extra_vectors: Vec::new(),
            extra_matrices: Vec::new(),
            weights,
        })
    }

    /// Builds the whole stack.
    pub(super) fn model(mut self, name: &str, kind: &str, notes: Vec<String>) -> Result<Model, Problem> {
        let layers = self.count("layers", bounds::LAYERS)?;
        let hidden = self.count("hidden", bounds::HIDDEN)?;
        let vocabulary = self.optional("vocabulary", bounds::VOCABULARY_OR_NONE)?.unwrap_or(0);
        let position = match self.text("position")?.as_str() {
            "learned" => Position::Learned,
            "alibi" => Position::Alibi,
            "none" => Position::None,
            _ => Position::Rotary,
        };
        let final_norm = if self.text("final_norm")? == "none" {
            NormShape { scale: false, bias: false, ..NormShape::RMS }
        } else {
            self.norm("final_norm")?
        };
        let mut frame = Frame {
            name: name.to_owned(),
            family: kind.to_owned(),
            hidden,
            vocabulary,
            max_positions: self.optional("positions", bounds::POSITIONS)?.unwrap_or(0),
            tied: self.flag("tied")?,
            position,
            position_rows: self.count("position_rows", bounds::POSITIONS)?,
            embedding_width: self.optional("embedding_width", bounds::HIDDEN)?,
            embedding_norm: self.flag("embedding_norm")?,
            final_norm,
            head_bias: self.flag("head_bias")?,
            extra: self.extra(Place::Outside, Module::Embedding)?,
            head_extra: self.extra(Place::Head, Module::Head)?,
            prediction_depth: self.optional("prediction_depth", bounds::SMALL)?.unwrap_or(0),
            notes: Vec::new(),
        };
        let mut blocks = Vec::with_capacity(layers as usize);
        for index in 0..layers {
            self.scope.layer = i128::from(index);
            blocks.push(self.block(hidden)?);
        }
        frame.notes = notes;
        frame.notes.extend(self.notes.take());
        let mut blocks = blocks.into_iter();
        let missing = || Problem::new("a layer is missing");
        assemble(frame, layers, |_| blocks.next().ok_or_else(missing))
    }

    /// Tower with its positions and the positions passed on.
    pub(super) fn tower(self, name: &str, kind: &str) -> Result<Tower, Problem> {
        let tokens = self.optional("tokens", bounds::POSITIONS)?.filter(|&n| n > 0);
        let handed_on = self.optional("handed_on", bounds::POSITIONS)?.filter(|&n| n > 0).or(tokens);
        let stack = self.model(name, kind, Vec::new())?;
        Ok(Tower { name: name.to_owned(), tokens, handed_on, stack })
    }
}

/// Kind of a layer, as shown in reports.
fn kind_name(name: &str) -> &'static str {
    const KNOWN: &[&str] = &[
        "attention",
        "block",
        "convolution",
        "decoder",
        "dense",
        "encoder",
        "full",
        "hybrid",
        "joint",
        "linear",
        "mamba",
        "mlp",
        "moe",
        "recurrent",
        "sliding",
        "chunked",
        "cross",
    ];
    KNOWN.iter().find(|known| **known == name).copied().unwrap_or("decoder")
}

/// Weight from a value: a number is the length of a vector, a pair the rows and columns of a matrix. A third
/// entry has the words of the README (sharding, table, sample), a fourth the positions per sample.
fn extra(name: &str, module: Module, value: &Value) -> Result<Option<Weight>, Problem> {
    let size = |value: &Value| match value {
        Value::Whole(n) => u64::try_from(*n).ok().filter(|&n| n <= 1 << 40),
        Value::Flag(flag) => Some(u64::from(*flag)),
        _ => None,
    };
    let wrong = || Problem::new(format!("expected a length or [rows, columns], found {}", value.shown()));
    let list = match value {
        Value::Missing(key) => return Err(Problem::new(format!("`{key}` is missing"))),
        Value::List(list) => list,
        value => {
            let length = size(value).ok_or_else(wrong)?;
            return Ok((length > 0).then(|| vector(name, module, length, Cut::Replicated)));
        }
    };
    let (Some(rows), Some(columns)) = (list.first().and_then(size), list.get(1).and_then(size)) else {
        return Err(wrong());
    };
    if rows == 0 || columns == 0 {
        return Ok(None);
    }
    let mut weight = matrix(name, module, (rows, columns), Cut::Replicated, name);
    let matmul = |positions| Usage::Matmul { fused: name.to_owned(), positions };
    match list.get(2) {
        None => {}
        Some(Value::Text(how)) => {
            for word in how.split(' ') {
                match word {
                    "column" => weight.cut = Cut::Column,
                    "row" => weight.cut = Cut::Row,
                    "vocabulary" => (weight.cut, weight.usage) = (Cut::Vocabulary, Usage::Table),
                    "table" => weight.usage = Usage::Table,
                    "sample" => weight.usage = matmul(Some(1)),
                    _ => return Err(wrong()),
                }
            }
        }
        Some(_) => return Err(wrong()),
    }
    if let Some(positions) = list.get(3) {
        weight.usage = matmul(Some(size(positions).ok_or_else(wrong)?));
    }
    Ok(Some(weight))
}
