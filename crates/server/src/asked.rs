//! Bodies to questions: what a page sends, over HTTP or to the program inside it.
//!
//! Responsible for: the form of a question in JSON. Refuses keys that it does not have.

use crate::desk::Question;
use railwright_spec::problem::Problem;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The body of a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    format: Option<String>,
    /// For jobs, if the URL does not have it: words separated by slashes.
    #[serde(default)]
    command: Option<String>,
}

impl Question {
    /// The question of a request body; `command` is from the URL.
    pub fn read(command: Option<&str>, bytes: &[u8]) -> Result<Self, Problem> {
        let asked: Asked = if bytes.is_empty() {
            Asked { arguments: Map::new(), format: None, command: None }
        } else {
            let text = std::str::from_utf8(bytes).map_err(|_| Problem::new("the request is not UTF-8"))?;
            // An object first: a list would pass for one whose fields come in order.
            let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| no_form(&error))?;
            serde_json::from_value(Value::Object(object)).map_err(|error| no_form(&error))?
        };
        let command = match (command, &asked.command) {
            (Some(command), None) => command,
            (None, Some(command)) => command.as_str(),
            (Some(_), Some(_)) => {
                return Err(Problem::new("the URL already names the command").at_key("command"));
            }
            (None, None) => {
                return Err(Problem::new("the command is missing")
                    .at_key("command")
                    .hint("such as `\"command\": \"search\"`"));
            }
        };
        let words: Vec<String> = command.split('/').map(str::to_owned).collect();
        Ok(Question { command: words, arguments: asked.arguments, format: asked.format })
    }
}

/// What is no question.
fn no_form(error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let message = message.split(" at line").next().unwrap_or_default();
    let mut problem = Problem::new(format!("the request body is invalid: {message}"))
        .in_file("request")
        .hint("expected a form like `{\"arguments\": {\"model\": \"llama-3.1-8b\"}, \"format\": \"json\"}`");
    if let Some(place) = problem.place.as_mut().filter(|_| error.line() > 0) {
        place.line = Some(error.line());
        place.column = Some(error.column());
    }
    problem
}
