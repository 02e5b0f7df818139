//! Undecided branches: the state after each, and the values left open.
//!
//! Responsible for: one value from several outcomes, keeping their common start and leaving the rest open
//! with its alternatives. Prefers no outcome.

use super::run::Walker;
use super::values::{Piece, Value, split};
use super::{Choice, Why, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Variables at one time; copies share their values.
pub(super) type State = BTreeMap<String, Rc<Value>>;

/// Choices that are kept.
const MOST_CHOICES: usize = 2000;

impl Walker<'_> {
    /// A copy of the variables.
    pub(super) fn state(&mut self) -> State {
        self.steps = self.steps.saturating_sub(self.variables.values.len() / 16);
        self.variables.values.clone()
    }

    /// Continues with several outcomes of a branch: their differences are open.
    pub(super) fn merge(&mut self, outcomes: &[State], line: usize) {
        let Some((first, rest)) = outcomes.split_first() else { return };
        let mut merged = first.clone();
        let names: BTreeSet<&String> = outcomes.iter().flat_map(BTreeMap::keys).collect();
        for name in names {
            let values: Vec<Option<&Rc<Value>>> = outcomes.iter().map(|state| state.get(name)).collect();
            let is_same = |other: Option<&Rc<Value>>| match (values[0], other) {
                (Some(a), Some(b)) => Rc::ptr_eq(a, b) || is_equal(a, b),
                (None, None) => true,
                _ => false,
            };
            if rest.is_empty() || values.iter().copied().all(is_same) {
                continue;
            }
            let value = self.either(name, &values, line);
            merged.insert(name.clone(), Rc::new(value));
        }
        self.variables.values = merged;
    }

    /// Common start of several values, then the open part.
    fn either(&mut self, name: &str, values: &[Option<&Rc<Value>>], line: usize) -> Value {
        let lists: Vec<Vec<Vec<Piece>>> = values
            .iter()
            .map(|value| match value.map(Rc::as_ref) {
                Some(Value::Array(elements)) => elements.clone(),
                Some(Value::Text(pieces)) => pieces.iter().map(|piece| vec![piece.clone()]).collect(),
                Some(Value::Map(map)) => map.values().cloned().collect(),
                Some(Value::Name(_)) | None => Vec::new(),
            })
            .collect();
        let is_array = values.iter().flatten().any(|value| matches!(value.as_ref(), Value::Array(_)));
        let is_map = values.iter().flatten().any(|value| matches!(value.as_ref(), Value::Map(_)));
        let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
        let is_common = |at: &usize| lists.iter().all(|list| text_of(&list[*at]) == text_of(&lists[0][*at]));
        let common = if is_map { 0 } else { (0..shortest).take_while(is_common).count() };
        let mut alternatives = Vec::new();
        for list in &lists {
            let words = if is_array {
                list[common..].iter().map(|element| super::values::word(element)).collect()
            } else {
                split(&list[common..].concat())
            };
            // The same text in several branches is one alternative.
            let is_same = |old: &Vec<Word>| {
                old.len() == words.len()
                    && old.iter().zip(&words).all(|(a, b)| a.text == b.text && a.unknown == b.unknown)
            };
            if !alternatives.iter().any(is_same) {
                alternatives.push(words);
            }
        }
        // One word each: an ordinary value. Otherwise any number of words, marked by a space in its name.
        let is_single = !is_array && alternatives.iter().all(|words| words.len() <= 1 && common == 0);
        let is_flag = alternatives.iter().flatten().any(|word| word.text.starts_with('-'));
        let text = if is_single && !is_flag { format!("${{{name}}}") } else { format!("${{ {name} }}") };
        let why = if self.script.choices.len() < MOST_CHOICES {
            self.script.choices.push(Choice { line, alternatives });
            Why::Either(self.script.choices.len() - 1)
        } else {
            Why::Undecidable
        };
        let open = Piece { text, line, quoted: false, unknown: Some(why) };
        let mut list = lists.into_iter().next().unwrap_or_default();
        list.truncate(common);
        if is_array {
            list.push(vec![open]);
            return Value::Array(list);
        }
        let mut pieces = list.concat();
        pieces.push(open);
        Value::Text(pieces)
    }
}

fn text_of(pieces: &[Piece]) -> (String, Option<Why>) {
    (pieces.iter().map(|piece| piece.text.as_str()).collect(), pieces.iter().find_map(|piece| piece.unknown))
}

/// Tests whether two values have the same text, regardless of their lines.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => text_of(a) == text_of(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| text_of(a) == text_of(b))
        }
        _ => a == b,
    }
}
