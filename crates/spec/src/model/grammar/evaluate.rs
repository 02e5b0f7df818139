//! Evaluates an expression of a family description for one configuration and one layer.
//!
//! Responsible for: names (definitions of the description, then keys of the configuration), arithmetic on
//! whole numbers without overflow, and missing values. A missing number stays missing unless `??` has a
//! default, and its use reports the key.

use super::expression::{Expression, Operator};
use crate::problem::Problem;
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum depth of nested definitions.
const DEPTH: usize = 40;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Whole(i128),
    Real(f64),
    Text(String),
    Flag(bool),
    List(Vec<Value>),
    /// Missing; contains the key that was looked up.
    Missing(String),
}

/// A configuration with a description's definitions.
pub(super) struct Scope<'a> {
    /// Object that describes the stack.
    pub(super) own: &'a serde_json::Map<String, Json>,
    /// Outermost object of the file, for keys at its top level.
    pub(super) outer: &'a serde_json::Map<String, Json>,
    pub(super) definitions: &'a BTreeMap<String, Expression>,
    /// Layer, counted from 0.
    pub(super) layer: i128,
    /// Last key that was read, which is the place of a wrong number.
    pub(super) read: RefCell<String>,
    /// Definitions under evaluation. A definition that refers to itself means the key of the configuration.
    pub(super) open: RefCell<Vec<String>>,
}

impl Scope<'_> {
    /// Value of a definition; missing if undefined.
    pub(super) fn get(&self, name: &str) -> Result<Value, Problem> {
        self.name(std::slice::from_ref(&name.to_owned()))
    }

    fn name(&self, path: &[String]) -> Result<Value, Problem> {
        let Some(first) = path.first() else { return Ok(Value::Missing(String::new())) };
        if first == "i" {
            return Ok(Value::Whole(self.layer));
        }
        let is_open = self.open.borrow().contains(first);
        if path.len() == 1
            && !is_open
            && let Some(expression) = self.definitions.get(first)
        {
            if self.open.borrow().len() > DEPTH {
                return Err(Problem::new(format!("the definition of `{first}` is nested too deeply")));
            }
            self.open.borrow_mut().push(first.clone());
            let value = self.evaluate(expression);
            self.open.borrow_mut().pop();
            return value;
        }
        let (first, map) = if first == "outer" { (path.get(1), self.outer) } else { (Some(first), self.own) };
        let skip = if path.first().is_some_and(|f| f == "outer") { 2 } else { 1 };
        let mut json = first.and_then(|key| map.get(key));
        for key in path.iter().skip(skip) {
            json = json.and_then(|value| value.get(key));
        }
        let joined = path.join(".");
        Ok(match json {
            None | Some(Json::Null) => Value::Missing(joined),
            Some(json) => {
                self.read.borrow_mut().clone_from(path.last().unwrap_or(&joined));
                from_json(json)
            }
        })
    }

    pub(super) fn evaluate(&self, expression: &Expression) -> Result<Value, Problem> {
        Ok(match expression {
            Expression::Whole(number) => Value::Whole(*number),
            Expression::Real(number) => Value::Real(*number),
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Flag(flag) => Value::Flag(*flag),
            Expression::Name(path) => self.name(path)?,
            Expression::List(items) => {
                Value::List(items.iter().map(|item| self.evaluate(item)).collect::<Result<_, _>>()?)
            }
            Expression::Index(list, index) => self.index(list, index)?,
            Expression::Call(name, arguments) => self.call(name, arguments)?,
            Expression::Not(inner) => Value::Flag(!self.evaluate(inner)?.is_true()),
            Expression::If(condition, then, other) => {
                self.evaluate(if self.evaluate(condition)?.is_true() { then } else { other })?
            }
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right)?,
        })
    }

    fn index(&self, list: &Expression, index: &Expression) -> Result<Value, Problem> {
        // Indexing does not copy the list.
        let at = match self.evaluate(index)? {
            Value::Whole(at) => usize::try_from(at).unwrap_or(usize::MAX),
            other => return Ok(other.or_missing("an index")),
        };
        if let Expression::Name(path) = list
            && let [key] = path.as_slice()
            && (self.open.borrow().contains(key) || !self.definitions.contains_key(key))
            && let Some(Json::Array(items)) = self.own.get(key)
        {
            self.read.borrow_mut().clone_from(key);
            let entry = items.get(at).filter(|entry| !entry.is_null());
            return Ok(entry.map_or_else(|| Value::Missing(format!("{key}[{at}]")), from_json));
        }
        Ok(match self.evaluate(list)? {
            Value::List(items) => {
                items.get(at).cloned().unwrap_or_else(|| Value::Missing(format!("entry {at}")))
            }
            Value::Text(text) => text
                .chars()
                .nth(at)
                .map_or_else(|| Value::Missing(format!("letter {at}")), |letter| Value::Text(letter.into())),
            Value::Missing(key) => Value::Missing(key),
            // A number instead of a list: `a[i] ?? a` accepts it.
            _ => Value::Missing("an entry".to_owned()),
        })
    }

    fn call(&self, name: &str, arguments: &[Expression]) -> Result<Value, Problem> {
        let values: Vec<Value> = arguments.iter().map(|a| self.evaluate(a)).collect::<Result<_, _>>()?;
        if let Some(missing @ Value::Missing(_)) = values.first().filter(|_| name != "has") {
            return Ok(missing.clone());
        }
        Ok(match (name, values.as_slice()) {
            ("has", [value]) => Value::Flag(!matches!(value, Value::Missing(_))),
            ("len", [Value::List(items)]) => Value::Whole(items.len() as i128),
            ("count", [Value::List(items), wanted]) => {
                Value::Whole(items.iter().filter(|item| *item == wanted).count() as i128)
            }
            ("count", [Value::Text(text), Value::Text(wanted)]) if !wanted.is_empty() => {
                Value::Whole(text.matches(wanted.as_str()).count() as i128)
            }
            ("contains", [Value::Text(text), Value::Text(part)]) => Value::Flag(text.contains(part.as_str())),
            ("without", [Value::Text(text), Value::Text(part)]) => {
                Value::Text(text.replace(part.as_str(), ""))
            }
            ("max", [Value::Whole(a), Value::Whole(b)]) => Value::Whole(*a.max(b)),
            ("min", [Value::Whole(a), Value::Whole(b)]) => Value::Whole(*a.min(b)),
            // Rounds up to the next multiple.
            ("round_up", [number, Value::Whole(multiple)]) if *multiple > 0 => {
                let whole = whole_of(number.real()?.ceil())?;
                Value::Whole(whole.saturating_add(multiple - 1) / multiple * multiple)
            }
            ("ceil", [number]) => Value::Whole(whole_of(number.real()?.ceil())?),
            ("floor", [number]) => Value::Whole(whole_of(number.real()?.floor())?),
            (_, values) => {
                let shown: Vec<String> = values.iter().map(Value::shown).collect();
                return Err(Problem::new(format!("`{name}` cannot take {}", shown.join(", "))));
            }
        })
    }

    fn binary(&self, operator: Operator, left: &Expression, right: &Expression) -> Result<Value, Problem> {
        let a = self.evaluate(left)?;
        match operator {
            Operator::Otherwise => {
                return if matches!(a, Value::Missing(_)) { self.evaluate(right) } else { Ok(a) };
            }
            Operator::Or => return Ok(Value::Flag(a.is_true() || self.evaluate(right)?.is_true())),
            Operator::And => return Ok(Value::Flag(a.is_true() && self.evaluate(right)?.is_true())),
            _ => {}
        }
        let b = self.evaluate(right)?;
        match operator {
            Operator::Equal => return Ok(Value::Flag(a == b)),
            Operator::Unequal => return Ok(Value::Flag(a != b)),
            Operator::In => {
                return Ok(Value::Flag(matches!(&b, Value::List(items) if items.contains(&a))));
            }
            _ => {}
        }
        for side in [&a, &b] {
            if let missing @ Value::Missing(_) = side {
                return Ok(missing.clone());
            }
        }
        match (&a, &b) {
            (Value::Whole(a), Value::Whole(b)) => whole(operator, *a, *b),
            _ => Ok(real(operator, a.real()?, b.real()?)),
        }
    }
}

fn whole(operator: Operator, a: i128, b: i128) -> Result<Value, Problem> {
    let number = match operator {
        Operator::Less => return Ok(Value::Flag(a < b)),
        Operator::LessOrEqual => return Ok(Value::Flag(a <= b)),
        Operator::More => return Ok(Value::Flag(a > b)),
        Operator::MoreOrEqual => return Ok(Value::Flag(a >= b)),
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div_euclid(b),
        _ => a.checked_rem_euclid(b),
    };
    number
        .map(Value::Whole)
        .ok_or_else(|| Problem::new(format!("the operation is undefined for {a} and {b}")))
}

fn real(operator: Operator, a: f64, b: f64) -> Value {
    match operator {
        Operator::Less => Value::Flag(a < b),
        Operator::LessOrEqual => Value::Flag(a <= b),
        Operator::More => Value::Flag(a > b),
        Operator::MoreOrEqual => Value::Flag(a >= b),
        Operator::Add => Value::Real(a + b),
        Operator::Subtract => Value::Real(a - b),
        Operator::Multiply => Value::Real(a * b),
        Operator::Divide => Value::Real(a / b),
        _ => Value::Real(a % b),
    }
}

/// Converts a float without a fraction to a whole number.
fn whole_of(number: f64) -> Result<i128, Problem> {
    if number.is_finite() && number.abs() < 1e15 {
        Ok(number as i128)
    } else {
        Err(Problem::new(format!("{number} is not a valid size")))
    }
}

impl Value {
    /// True unless the value is missing, false, zero or empty.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Flag(flag) => *flag,
            Self::Whole(number) => *number != 0,
            Self::Real(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Missing(_) => false,
        }
    }

    fn real(&self) -> Result<f64, Problem> {
        match self {
            Self::Whole(number) => Ok(*number as f64),
            Self::Real(number) => Ok(*number),
            other => Err(Problem::new(format!("expected a number, found {}", other.shown()))),
        }
    }

    fn or_missing(self, what: &str) -> Self {
        if matches!(self, Self::Missing(_)) { self } else { Self::Missing(what.to_owned()) }
    }

    /// Representation for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
            Self::Flag(flag) => flag.to_string(),
            Self::List(_) => "a list".to_owned(),
            Self::Missing(key) => format!("nothing (`{key}` is missing)"),
        }
    }
}

fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Missing("null".to_owned()),
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => number.as_i64().map_or_else(
            || Value::Real(number.as_f64().unwrap_or(f64::NAN)),
            |whole| Value::Whole(i128::from(whole)),
        ),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        // An object is true; paths read its contents.
        Json::Object(_) => Value::Flag(true),
    }
}
