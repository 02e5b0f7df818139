//! From request bodies to questions, over HTTP or from an embedded web UI.
//!
//! Responsible for: the JSON format of a question. Rejects unknown keys.

use crate::desk::Question;
use railwright_spec::problem::Problem;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Body of a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    format: Option<String>,
    /// Command of a job, if it is not in the URL: words separated by slashes.
    #[serde(default)]
    command: Option<String>,
}

impl Question {
    /// Question of a request body; `command` is from the URL.
    pub fn read(command: Option<&str>, bytes: &[u8]) -> Result<Self, Problem> {
        let asked: Asked = if bytes.is_empty() {
            Asked { arguments: Map::new(), format: None, command: None }
        } else {
            let text = std::str::from_utf8(bytes).map_err(|_| Problem::new("the request is not UTF-8"))?;
            // An object first: serde would accept a list with the fields in order.
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

/// Problem of a body that is not a question.
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
