//! An estimate as a self-contained HTML page: the web UI of `railwright serve` with its results embedded.
//!
//! Responsible for: the requests that the web UI will send, their results, and its initial address. Does not
//! draw anything: the web UI draws the same results as with a server.

use crate::args::{self, By, Output, RunArguments};
use crate::commands::catalogues;
use crate::commands::planned::estimate::compared::Second;
use crate::commands::planned::memory;
use crate::commands::runner::Runner;
use crate::exit::{Failure, Outcome, of_fit};
#[cfg(target_family = "wasm")]
use crate::input;
use crate::printer::{Listener, Printer};
use crate::run;
use railwright_answers::spelled;
use railwright_report::{Answer as _, envelope};
use railwright_reports::estimate::Estimated;
use railwright_spec::problem::Problem;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Placeholder for the results in the web UI's page.
const PLACE: &str = "<script type=\"application/json\" id=\"railwright-report\">/*REPORT*/</script>";

/// A file of the web UI: part of the program, or in a browser passed by the page itself.
fn page_file(name: &str) -> Option<Vec<u8>> {
    #[cfg(not(target_family = "wasm"))]
    return railwright_server::page_file(name).map(std::borrow::Cow::into_owned);
    #[cfg(target_family = "wasm")]
    return input::disk::whole(&std::path::Path::new(input::access::PAGE).join(name))
        .map(|bytes| bytes.to_vec());
}

/// The HTML page.
pub(crate) fn page(
    estimated: &Estimated,
    arguments: &args::Estimate,
    commands: Runner,
) -> Result<String, Failure> {
    let file = page_file("report.html");
    let frame = file.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some((before, after)) = frame.and_then(|frame| frame.split_once(PLACE)) else {
        let problem = Problem::new("this program was built without the web UI");
        return Err(problem
            .hint("build it with `npm run build` in web/, then build the program again")
            .into());
    };
    let parameters = parameters(&arguments.run);
    let mut fragment = fragment(&parameters);
    let mut answers = answers(estimated, &arguments.run);
    if let Some(second) = Second::new(&parameters, &arguments.compare)? {
        for (name, value) in &second.changes {
            // Writing to a String cannot fail.
            let _ = write!(fragment, "&b.{name}={}", escaped(value));
        }
        fragment.push_str("&b.on=1");
        let known = |answers: &[Value], one: &Value| {
            answers.iter().any(|a| a["command"] == one["command"] && a["arguments"] == one["arguments"])
        };
        for one in second.answers(commands)? {
            if !known(&answers, &one) {
                answers.push(one);
            }
        }
    }
    let report = json!({
        "railwright": env!("CARGO_PKG_VERSION"),
        "title": format!("{} on {}", estimated.estimate.model.name, estimated.estimate.cluster.name),
        "fragment": fragment,
        "answers": answers,
    });
    // A `<` in the report could end the element.
    let report = report.to_string().replace('<', "\\u003c");
    let (open, close) = PLACE.split_once("/*REPORT*/").unwrap_or((PLACE, ""));
    Ok(format!("{before}{open}{report}{close}{after}"))
}

/// The settings under the names of the web UI: expanded if possible, else as typed.
fn parameters(run: &RunArguments) -> Map<String, Value> {
    let spelled = run::layered(run).ok().and_then(|spec| spelled(&spec));
    // A launch file may contain a custom model, which only the file can express.
    if let Some(given) = spelled.filter(|_| run.launch.is_none()) {
        return given.into_iter().map(|(name, value)| (name, json!(value))).collect();
    }
    let mut all = Map::new();
    let named =
        [("model", &run.model), ("cluster", &run.cluster), ("run", &run.run), ("launch", &run.launch)];
    for (name, value) in named {
        if let Some(value) = value {
            all.insert(name.to_owned(), json!(value));
        }
    }
    for (flag, _, value) in &run.flags.settings {
        all.insert(flag.trim_start_matches('-').to_owned(), json!(value));
    }
    all
}

/// The fragment of the address.
fn fragment(parameters: &Map<String, Value>) -> String {
    let mut text = "#/calculator".to_owned();
    for (at, (name, value)) in parameters.iter().enumerate() {
        let mark = if at == 0 { '?' } else { '&' };
        // Writing to a String cannot fail.
        let _ = write!(text, "{mark}{name}={}", escaped(value.as_str().unwrap_or_default()));
    }
    text
}

/// A value, escaped for an address.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/:,@$;".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Results for the web UI: the estimate, memory, the model, and explanations of warnings.
fn answers(estimated: &Estimated, run: &RunArguments) -> Vec<Value> {
    let parameters = parameters(run);
    let truths = |value: &Value| if value == "true" { json!(true) } else { value.clone() };
    let given: Map<String, Value> =
        parameters.iter().map(|(name, value)| (name.clone(), truths(value))).collect();
    let mut answers = Vec::new();
    let mut add = |command: &str, arguments: Map<String, Value>, outcome: Outcome, text: &str| {
        if let Ok(answer) = serde_json::from_str::<Value>(text) {
            answers.push(json!({
                "command": command, "arguments": arguments, "outcome": outcome.name(), "command_line": line(command, &parameters), "answer": answer,
            }));
        }
    };
    let fits = of_fit(estimated.estimate.memory.fit);
    add("estimate", given.clone(), fits, &envelope(Estimated::KIND, &estimated.json()));
    let json = || Output { json: true, ..Output::default() };
    // A failed result is omitted, and the web UI shows the omission.
    let memory = args::Memory { run: run.clone(), stage: None, by: By::Kind, svg: None, output: json() };
    if let Some((outcome, text)) = asked(|printer| memory::run(&memory, printer)) {
        // The web UI omits arguments that affect only cost from this request.
        let money = |name: &str| ["tokens", "availability"].contains(&name);
        let given =
            given.iter().filter(|(name, _)| !money(name)).map(|(name, value)| (name.clone(), value.clone()));
        add("memory", given.collect(), outcome, &text);
    }
    if let Some(name) = &run.model {
        let showing = args::Showing { name: name.clone(), output: json() };
        if let Some((outcome, text)) = asked(|printer| catalogues::model(&showing, printer)) {
            add("models/show", Map::from_iter([("name".to_owned(), json!(name))]), outcome, &text);
        }
    }
    for warning in &estimated.estimate.warnings {
        let explain = args::Explain { id: Some(warning.id.clone()), output: json() };
        if let Some((outcome, text)) = asked(|printer| catalogues::explain(&explain, printer)) {
            add("explain", Map::from_iter([("id".to_owned(), json!(warning.id))]), outcome, &text);
        }
    }
    answers
}

/// Output of a command.
fn asked(run: impl FnOnce(&Printer) -> Result<Outcome, Failure>) -> Option<(Outcome, String)> {
    let listener = Listener::new(std::sync::Arc::default());
    let outcome = run(&Printer::with_listener(std::sync::Arc::clone(&listener))).ok()?;
    Some((outcome, listener.take()))
}

/// The equivalent command line.
fn line(command: &str, parameters: &Map<String, Value>) -> String {
    let mut words = vec!["railwright".to_owned(), command.replace('/', " ")];
    for (name, value) in parameters {
        let value = value.as_str().unwrap_or_default();
        let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c));
        let value = if plain { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) };
        match (name.as_str(), value.as_str()) {
            ("model", value) => words.insert(2, value.to_owned()),
            (name, "true") => words.push(format!("--{name}")),
            (name, value) => words.push(format!("--{name} {value}")),
        }
    }
    words.join(" ")
}
