//! A description applied to a configuration: its values by name.
//!
//! Responsible for: the names common to all descriptions (`layers`, `hidden`, `vocabulary`, `norms`, ...) and
//! their bounds. Independent of families.

use super::evaluate::{Scope, Value};
use super::families::{Family, Place};
use crate::model::bounds::Bound;
use crate::model::build::{NormShape, matrix, vector};
use crate::model::{Activation, Cut, Module, Usage, Weight};
use crate::problem::Problem;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;

/// A description applied to a configuration.
pub(super) struct Stack<'a> {
    pub(super) scope: Scope<'a>,
    family: &'static Family,
    /// Assumptions, shown with the model.
    pub(super) notes: RefCell<Vec<String>>,
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

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Problem {
        self.at_key(Problem::new(format!("expected {expected}, found {}", found.shown())), name)
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
            other => return Err(self.wrong(name, "a whole number", &other)),
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
            other => Err(self.wrong(name, "a string", &other)),
        }
    }

    /// A text or a list of strings.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Problem> {
        match self.get(name)? {
            Value::List(items) => items
                .into_iter()
                .map(|item| match item {
                    Value::Text(text) => Ok(text),
                    other => Err(self.wrong(name, "a name", &other)),
                })
                .collect(),
            Value::Text(text) => Ok(vec![text]),
            Value::Missing(key) => Err(Problem::new(format!("`{key}` is missing"))),
            other => Err(self.wrong(name, "a name", &other)),
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
