//! A second scenario in a report: the run with some arguments changed, as scenario B of the web UI.
//!
//! Responsible for: the second scenario under names of the web UI, and its results, by running the commands.
//! Does not compare: the web UI shows both.

use crate::commands::runner::Runner;
use crate::commands::serve::{self, Caller};
use crate::exit::Failure;
use crate::printer::{Listener, Printer};
use railwright_answers::called;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Marker that removes an argument.
const NONE: &str = "-";
/// Arguments that affect only cost, which the web UI omits from the memory request.
const MONEY: [&str; 2] = ["tokens", "availability"];

/// The differences of the second scenario, and all its settings.
pub(crate) struct Second {
    pub(crate) changes: Vec<(String, String)>,
    parameters: Map<String, Value>,
}

impl Second {
    /// The first scenario with `NAME=VALUE` instead, `NAME=-` to remove; `None` without a difference.
    pub(crate) fn new(first: &Map<String, Value>, compare: &[String]) -> Result<Option<Self>, Problem> {
        let mut parameters = first.clone();
        let mut changes: Vec<(String, String)> = Vec::new();
        for text in compare {
            let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
                let problem =
                    Problem::new(format!("`{}` is not an argument with a value", human::shorten(text)));
                return Err(problem.in_file("--compare").hint("use `tp=4`, or `tp=-` to remove it"));
            };
            let name = called(name.trim().trim_start_matches('-'));
            let value = value.trim();
            if value == NONE {
                parameters.remove(&name);
            } else {
                parameters.insert(name.clone(), json!(value));
            }
            changes.retain(|(known, _)| *known != name);
            changes.push((name, value.to_owned()));
        }
        Ok((!changes.is_empty()).then_some(Self { changes, parameters }))
    }

    /// The results that the web UI requests for it: the estimate first.
    pub(crate) fn answers(&self, commands: Runner) -> Result<Vec<Value>, Failure> {
        let given: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, value)| (name.clone(), if value == "true" { json!(true) } else { value.clone() }))
            .collect();
        let estimate = asked(commands, &["estimate"], &given)?;
        let warnings: Vec<Value> = estimate["answer"]["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| one["id"].clone())
            .collect();
        let mut answers = vec![estimate];
        let lasting = given.iter().filter(|(name, _)| !MONEY.contains(&name.as_str()));
        let lasting: Map<String, Value> =
            lasting.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut more = vec![(vec!["memory"], lasting)];
        if let Some(model) = given.get("model") {
            more.push((vec!["models", "show"], Map::from_iter([("name".to_owned(), model.clone())])));
        }
        let explain = |id| (vec!["explain"], Map::from_iter([("id".to_owned(), id)]));
        more.extend(warnings.into_iter().map(explain));
        // Failed results are omitted; the web UI reports that.
        answers.extend(more.iter().filter_map(|(words, given)| asked(commands, words, given).ok()));
        Ok(answers)
    }
}

/// A request of the web UI, with its result from the commands.
fn asked(run: Runner, words: &[&str], given: &Map<String, Value>) -> Result<Value, Failure> {
    let refused = |problems: Vec<Problem>| {
        let place =
            |problem: Problem| if problem.place.is_some() { problem } else { problem.in_file("--compare") };
        Failure::Input(problems.into_iter().map(place).collect())
    };
    let (command, request) = serve::asked(words, given, None, Caller::Page).map_err(refused)?;
    let listener = Listener::new(Arc::default());
    let outcome = run(&command, &Printer::with_listener(Arc::clone(&listener)))?;
    let answer: Value = serde_json::from_str(&listener.take())
        .map_err(|error| Problem::new(format!("the second scenario failed: {error}")))?;
    Ok(json!({
        "command": words.join("/"),
        "arguments": given,
        "outcome": outcome.name(),
        "command_line": request.line,
        "answer": answer,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_scenario_is_the_first_with_changes() {
        let first = Map::from_iter([("model".to_owned(), json!("m")), ("tp".to_owned(), json!("8"))]);
        let second = |compare: &[&str]| {
            let compare: Vec<String> = compare.iter().map(|text| (*text).to_owned()).collect();
            Second::new(&first, &compare)
        };
        assert!(second(&[]).expect("fine").is_none());
        // By any name of a flag.
        let changed =
            second(&["tensor-parallel=4", "--pp=2", "micro-batch-size=1"]).expect("fine").expect("changes");
        assert_eq!(
            json!(changed.parameters),
            json!({ "model": "m", "tp": "4", "pp": "2", "micro-batch": "1" })
        );
        let without = second(&["tp=2", "tp=-"]).expect("fine").expect("changes");
        assert_eq!(json!(without.parameters), json!({ "model": "m" }));
        assert_eq!(without.changes, [("tp".to_owned(), "-".to_owned())]);
        for wrong in ["tp", "=4", ""] {
            let problem = second(&[wrong]).err().expect("refused");
            assert!(problem.hint.is_some_and(|hint| hint.contains("tp=4")), "{wrong}");
        }
    }
}
