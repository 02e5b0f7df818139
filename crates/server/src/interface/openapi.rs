//! The interface in OpenAPI 3.1, generated from the definitions of the commands.
//!
//! Responsible for: a path for every command, its arguments as typed properties with their help, and the
//! other endpoints. Excludes fields of results: see their schemas in `docs/reference/schema`.

use super::offered::name_of;
use super::program::{Caller, Interface};
use clap::{Arg, ArgAction, Command};
use railwright_spec::run::{Key, Kind};
use serde_json::{Map, Value, json};
use std::any::TypeId;

/// Version of the interface. It increases if an address or a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

impl Interface {
    /// The whole description, as in `docs/reference/openapi.json`.
    pub fn openapi(&self, caller: Caller) -> String {
        let mut text = serde_json::to_string_pretty(&self.document(caller)).unwrap_or_default();
        text.push('\n');
        text
    }

    fn document(&self, caller: Caller) -> Value {
        let mut paths = Map::new();
        let mut schemas = schemas(self.program.schema_version);
        self.describe(&self.program.commands, caller, &mut Vec::new(), &mut paths, &mut schemas);
        paths.extend(fixed_paths());
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "railwright serve",
                "version": format!("{VERSION}"),
                "summary": "Every command of Railwright over HTTP, on localhost",
                "description": "A request names a command and its arguments; the response has the bytes that the \
                    command prints with `--json`. URLs are relative to `http://127.0.0.1:PORT/TOKEN/`, which \
                    `railwright serve` prints. Each start creates a new token.",
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{
                "url": "http://127.0.0.1:{port}/{token}",
                "variables": { "port": { "default": "8080" }, "token": { "default": "TOKEN" } },
            }],
            "paths": paths,
            "components": { "schemas": schemas, "headers": headers(), "responses": responses() },
        })
    }

    /// Adds the paths of a command and of its subcommands.
    fn describe(
        &self,
        command: &Command,
        caller: Caller,
        words: &mut Vec<String>,
        paths: &mut Map<String, Value>,
        schemas: &mut Value,
    ) {
        let mut inner = self.offered(command, caller).peekable();
        if inner.peek().is_none() && !words.is_empty() {
            paths.insert(
                format!("/api/v1/{}", words.join("/")),
                json!({ "post": self.operation(command, caller, words, schemas) }),
            );
        }
        for one in inner {
            words.push(one.get_name().to_owned());
            self.describe(one, caller, words, paths, schemas);
            words.pop();
        }
    }

    fn operation(&self, command: &Command, caller: Caller, words: &[String], schemas: &mut Value) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut sections: Vec<&str> = Vec::new();
        for argument in self.settable(command, caller) {
            match self.key_of(argument) {
                None => {
                    properties.insert(name_of(argument), described(argument, of_argument(argument), None));
                }
                Some(key) => {
                    if !sections.contains(&key.section) {
                        sections.push(key.section);
                    }
                    add(argument, key, schemas);
                }
            }
            if argument.is_required_set() {
                required.push(name_of(argument));
            }
        }
        let mut arguments = json!({ "type": "object", "properties": properties });
        if sections.is_empty() {
            arguments["additionalProperties"] = json!(false);
        } else {
            let section = |name: &&str| json!({ "$ref": format!("#/components/schemas/{name}") });
            arguments["allOf"] = sections.iter().map(section).collect();
            arguments["unevaluatedProperties"] = json!(false);
        }
        if !required.is_empty() {
            arguments["required"] = json!(required);
        }
        let mut forms = self.forms(command);
        // A command without JSON has one format, which is used.
        if !forms.iter().any(|form| form == "json") {
            forms.insert(0, "json".to_owned());
        }
        let mut question = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "arguments": arguments, "format": { "type": "string", "enum": forms, "default": "json" } },
        });
        if !required.is_empty() {
            question["required"] = json!(["arguments"]);
        }
        let help =
            |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string).unwrap_or_default();
        json!({
            "operationId": words.join("_").replace('-', "_"),
            "summary": help(command.get_about()),
            "requestBody": {
                "required": !required.is_empty(),
                "content": { "application/json": { "schema": question } },
            },
            "responses": {
                "200": self.answer(words),
                "422": { "$ref": "#/components/responses/Problems" },
                "default": { "$ref": "#/components/responses/Problems" },
            },
        })
    }

    /// The response of a command, with the schemas of its kinds of results.
    fn answer(&self, words: &[String]) -> Value {
        let command = words.join("/");
        let own = command.replace(['/', '-'], "_");
        let own = [own.as_str()];
        let kinds =
            self.program.kinds.iter().find(|(of, _)| *of == command).map_or(&own[..], |(_, kinds)| kinds);
        let schema = |kind: &&str| json!({ "$ref": format!("schema/{kind}.json") });
        match kinds {
            [] => json!({ "$ref": "#/components/responses/Answer" }),
            kinds => {
                let mut response = responses()["Answer"].take();
                response["content"]["application/json"]["schema"] =
                    json!({ "anyOf": kinds.iter().map(schema).collect::<Vec<_>>() });
                response
            }
        }
    }
}

/// Adds a key of a run file or a design to the schema of its section, which many commands share.
fn add(argument: &Arg, key: &Key, schemas: &mut Value) {
    if schemas.get(key.section).is_none() {
        let about = format!("Keys of `{}` as arguments", key.section);
        schemas[key.section] = json!({ "type": "object", "description": about, "properties": {} });
    }
    let name = name_of(argument);
    schemas[key.section]["properties"][name] = described(argument, of_key(key.kind), Some(key));
}

fn described(argument: &Arg, mut schema: Value, key: Option<&Key>) -> Value {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    schema["description"] = match key {
        Some(key) => json!(format!("{help}. Expects {}. [default: {}]", key.kind.expects(), key.default)),
        None => json!(help),
    };
    let aliases = argument.get_visible_aliases().unwrap_or_default();
    if !aliases.is_empty() {
        schema["x-aliases"] = json!(aliases);
    }
    if let Some(index) = argument.get_index() {
        schema["x-position"] = json!(index);
    }
    if let ([value], true) = (argument.get_default_values(), argument.get_action().takes_values()) {
        schema["default"] = json!(value.to_string_lossy());
    }
    schema
}

fn of_key(kind: Kind) -> Value {
    match kind {
        Kind::Count => json!({ "type": ["integer", "string"], "minimum": 0 }),
        Kind::Number => json!({ "type": ["number", "string"] }),
        Kind::Flag => json!({ "type": ["boolean", "string"] }),
        Kind::Choice(names) => json!({ "type": "string", "enum": names }),
        Kind::Form(examples) => json!({ "type": "string", "examples": examples }),
        Kind::Counts => json!({ "type": ["array", "string"], "items": { "type": "integer" } }),
        Kind::Texts => json!({ "type": ["array", "string"], "items": { "type": "string" } }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Quantity(examples) | Kind::Amount(examples) => {
            json!({ "type": ["string", "number"], "examples": examples })
        }
    }
}

fn of_argument(argument: &Arg) -> Value {
    if !argument.get_action().takes_values() {
        return json!({ "type": "boolean" });
    }
    let parser = argument.get_value_parser().type_id();
    let is = |types: &[TypeId]| types.iter().any(|one| parser == *one);
    let names: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let one = if !names.is_empty() {
        json!({ "type": "string", "enum": names })
    } else if is(&[TypeId::of::<u64>(), TypeId::of::<u32>(), TypeId::of::<u8>(), TypeId::of::<usize>()]) {
        json!({ "type": ["integer", "string"], "minimum": 0 })
    } else if is(&[TypeId::of::<f64>()]) {
        json!({ "type": ["number", "string"] })
    } else {
        json!({ "type": "string" })
    };
    let is_list = matches!(argument.get_action(), ArgAction::Append)
        || argument.get_num_args().is_some_and(|range| range.max_values() > 1);
    if is_list {
        return json!({ "anyOf": [{ "type": "array", "items": one.clone() }, one] });
    }
    if argument.get_num_args().is_some_and(|range| range.min_values() == 0) {
        return json!({ "anyOf": [one, { "const": true }] });
    }
    one
}

/// Endpoints other than commands.
fn fixed_paths() -> Map<String, Value> {
    let problems = json!({ "$ref": "#/components/responses/Problems" });
    let job = json!({ "name": "job", "in": "path", "required": true, "schema": { "type": "string" } });
    let content = |schema: Value| json!({ "application/json": { "schema": schema } });
    let paths = json!({
        "/api/v1/start": { "get": {
            "operationId": "start",
            "summary": "Paths passed at the start of the server",
            "responses": { "200": { "description": "Given", "content": content(json!({ "$ref": "#/components/schemas/Start" })) } },
        } },
        "/api/v1/traces": { "get": {
            "operationId": "traces",
            "summary": "Jobs below the paths passed at the start, as currently on disk",
            "responses": { "200": { "description": "Found", "content": content(json!({ "$ref": "#/components/schemas/Traces" })) } },
        } },
        "/api/v1/openapi.json": { "get": {
            "operationId": "openapi",
            "summary": "This description",
            "responses": { "200": { "description": "OpenAPI 3.1", "content": content(json!({ "type": "object" })) } },
        } },
        "/api/v1/uploads": { "get": {
            "operationId": "uploads",
            "summary": "Handles of the kept files; a handle has a digest of the content",
            "responses": { "200": { "description": "Kept", "content": content(json!({
                "type": "object", "required": ["paths"],
                "properties": { "paths": { "type": "array", "items": { "type": "string" } } } })) } },
        }, "post": {
            "operationId": "upload",
            "summary": "Keep a file, at most 512 MiB, until the server stops",
            "parameters": [{ "name": "name", "in": "query", "schema": { "type": "string" } }],
            "requestBody": { "required": true, "content": { "application/octet-stream": {} } },
            "responses": {
                "201": { "description": "Kept", "content": content(json!({ "$ref": "#/components/schemas/Upload" })) },
                "default": problems,
            },
        } },
        "/api/v1/jobs": { "post": {
            "operationId": "start_job",
            "summary": "Start a long-running request",
            "requestBody": { "required": true, "content": content(json!({ "$ref": "#/components/schemas/Job" })) },
            "responses": {
                "202": { "description": "Begun", "content": content(json!({
                    "type": "object", "properties": { "job": { "type": "string" } }, "required": ["job"] })) },
                "default": problems,
            },
        } },
        "/api/v1/jobs/{job}": {
            "parameters": [job],
            "delete": {
                "operationId": "stop_job",
                "summary": "Stop a job; its response has the results so far and the outcome `interrupted`",
                "responses": { "204": { "description": "Stopping" }, "default": problems },
            },
        },
        "/api/v1/jobs/{job}/events": {
            "parameters": [job],
            "get": {
                "operationId": "follow_job",
                "summary": "Server-sent events: `progress` (done, total, message, best) at most ten times a second, then one `answer` \
                    (outcome, command, notes, answer) or `problems` (problems, command)",
                "responses": { "200": { "description": "Events", "content": { "text/event-stream": {} } }, "default": problems },
            },
        },
    });
    match paths {
        Value::Object(paths) => paths,
        _ => Map::new(),
    }
}

fn schemas(schema_version: u32) -> Value {
    let text = || json!({ "type": ["string", "null"] });
    let count = || json!({ "type": ["integer", "null"] });
    json!({
        "Answer": {
            "type": "object",
            "description": "Output of the command with `--json`. New fields may be added at any time; \
                `schema_version` increases when a field changes or is removed.",
            "properties": {
                "schema_version": { "const": schema_version },
                "kind": { "type": "string" },
                "railwright": { "type": "string" },
            },
            "additionalProperties": true,
        },
        "Problems": {
            "type": "object",
            "properties": {
                "problems": { "type": "array", "items": { "$ref": "#/components/schemas/Problem" } },
                "command": { "type": "string", "description": "Equivalent command line" },
            },
            "required": ["problems"],
        },
        "Problem": {
            "type": "object",
            "properties": {
                "message": { "type": "string" },
                "hint": text(),
                "remedies": {
                    "type": "array",
                    "description": "Settings that each resolve the problem",
                    "items": {
                        "type": "object",
                        "properties": { "key": { "type": "string" }, "value": { "type": "string" } },
                        "required": ["key", "value"],
                    },
                },
                "place": {
                    "type": ["object", "null"],
                    "properties": { "file": { "type": "string" }, "line": count(), "column": count(), "key": text(), "text": text() },
                },
            },
            "required": ["message"],
        },
        "Start": {
            "type": "object",
            "properties": {
                "railwright": { "type": "string" },
                "api": { "const": VERSION },
                "run": { "type": ["object", "null"], "description": "Arguments of `estimate`" },
                "traces": { "type": "array", "items": { "type": "string" } },
                "folder_of_traces": text(),
                "jobs": { "type": "array", "items": { "$ref": "#/components/schemas/TracedJob" } },
                "more_jobs": { "type": "boolean", "description": "Whether the list is truncated" },
                "examples": { "type": "array", "items": {
                    "type": "object", "properties": { "name": { "type": "string" }, "about": { "type": "string" }, "run": { "type": "object" } } } },
            },
        },
        "Traces": {
            "type": "object",
            "properties": {
                "jobs": { "type": "array", "items": { "$ref": "#/components/schemas/TracedJob" } },
                "more": { "type": "boolean", "description": "Whether the list is truncated" },
            },
            "required": ["jobs", "more"],
        },
        "TracedJob": {
            "type": "object",
            "description": "Files of one job, as far as their headers show",
            "properties": {
                "name": { "type": "string", "description": "Path below those passed at the start" },
                "folder": { "type": "string" },
                "paths": { "type": "array", "items": { "type": "string" }, "description": "Value for the argument `paths` of a command" },
                "format": { "type": "string" },
                "ranks": count(),
                "files": { "type": "integer" },
                "bytes": { "type": "integer" },
            },
            "required": ["name", "folder", "paths", "format", "files", "bytes"],
        },
        "Upload": {
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Can be used wherever an argument takes a path", "examples": ["upload:44136fa355b3678a1146/config.json"] },
                "name": { "type": "string" },
                "bytes": { "type": "integer" },
            },
            "required": ["path", "name", "bytes"],
        },
        "Job": {
            "type": "object",
            "properties": {
                "command": { "type": "string", "examples": ["search", "network/design"] },
                "arguments": { "type": "object" },
                "format": { "type": "string" },
            },
            "required": ["command"],
        },
    })
}

fn headers() -> Value {
    json!({
        "Outcome": {
            "description": "Exit code as a word: 0, 1, 4, 5 or 130",
            "schema": { "enum": ["yes", "no", "at-risk", "cannot-tell", "interrupted"] },
        },
        "Notes": {
            "description": "Messages of the command, such as files that could not be read: a JSON list of strings, percent-encoded",
            "schema": { "type": "string" },
        },
        "Command": {
            "description": "Equivalent command line, percent-encoded UTF-8",
            "schema": { "type": "string" },
        },
    })
}

fn responses() -> Value {
    json!({
        "Answer": {
            "description": "The response, identical to the output of the command",
            "headers": {
                "Railwright-Outcome": { "$ref": "#/components/headers/Outcome" },
                "Railwright-Notes": { "$ref": "#/components/headers/Notes" },
                "Railwright-Command": { "$ref": "#/components/headers/Command" },
            },
            "content": {
                "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } },
                "text/csv": {}, "text/markdown": {}, "text/plain": {}, "image/svg+xml": {}, "text/html": {},
            },
        },
        "Problems": {
            "description": "422: invalid arguments. 400 malformed, 403 other origin, 404 unknown, 405 method, \
                408 request timeout, 413 too large, 421 other host, 429 and 503 too many requests, 500 \
                internal error, 504 timeout: start it as a job",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Problems" } } },
        },
    })
}
