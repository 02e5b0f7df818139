//! Content of a truncated pickle.
//!
//! Responsible for: the complete values on the reader's stack. A pickle writes parts before their container,
//! so a value followed by another is complete. Excludes the last, incomplete value: part of an entry would
//! look like an entry with fewer fields.

use super::{Machine, Part};
use railwright_spec::problem::Problem;
use serde_json::{Map, Value};

impl Machine<'_> {
    /// Complete members of the outermost dictionary, and its complete entries.
    pub(super) fn salvage(&self, budget: &mut usize) -> Result<Value, Problem> {
        let mut members = Map::new();
        let Some((&root, above)) = self.stack.split_first() else { return Ok(Value::Null) };
        let Part::Dictionary(pairs) = &self.store[root] else { return Ok(Value::Null) };
        for &(key, value) in pairs {
            self.member(&mut members, key, value, budget)?;
        }
        let above = match above.split_first() {
            Some((&first, rest)) if matches!(self.store[first], Part::Mark) => rest,
            _ => above,
        };
        let mut at = 0;
        while let Some(&[key, value]) = above.get(at..at + 2) {
            let rest = above.get(at + 2..).unwrap_or_default();
            match (&self.store[key], &self.store[value]) {
                (Part::Plain(Value::String(name)), Part::List(list)) if name == "entries" => {
                    let added = self.complete_entries(rest);
                    let all = list.iter().chain(added);
                    let entries = all.map(|&at| self.value(at, 1, budget)).collect::<Result<_, _>>()?;
                    members.insert(name.clone(), Value::Array(entries));
                }
                (Part::Plain(_), Part::Plain(_)) => self.member(&mut members, key, value, budget)?,
                (Part::Plain(_), _) if self.is_followed(rest) => {
                    self.member(&mut members, key, value, budget)?;
                }
                _ => break,
            }
            at += 2;
        }
        Ok(Value::Object(members))
    }

    fn member(
        &self,
        members: &mut Map<String, Value>,
        key: usize,
        value: usize,
        budget: &mut usize,
    ) -> Result<(), Problem> {
        if let Part::Plain(Value::String(name)) = &self.store[key] {
            members.insert(name.clone(), self.value(value, 1, budget)?);
        }
        Ok(())
    }

    /// Tests whether the content before `rest` is complete: the next key follows.
    fn is_followed(&self, rest: &[usize]) -> bool {
        rest.first().is_some_and(|&next| matches!(self.store[next], Part::Plain(Value::String(_))))
    }

    /// Entries on the stack that are not yet in their list.
    fn complete_entries<'s>(&self, rest: &'s [usize]) -> &'s [usize] {
        let rest = match rest.split_first() {
            Some((&first, inner)) if matches!(self.store[first], Part::Mark) => inner,
            _ => rest,
        };
        let is_entry = |&&at: &&usize| matches!(self.store[at], Part::Dictionary(_));
        let count = rest.iter().take_while(is_entry).count();
        // The last one is incomplete, unless all its members were just set together.
        let is_open = count == rest.len() && self.done != b'u' || count < rest.len();
        &rest[..count.saturating_sub(usize::from(is_open))]
    }
}
