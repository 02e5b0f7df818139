//! `railwright serve`: requests over HTTP have the meaning of command lines, and access only given files.

use crate::support::run;
use crate::support::served::Served;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const TRACES: &str = "../../../../fixtures/traces";
const RUNS: &str = "../../../../examples/runs";

/// A request, and the words of the equivalent command line.
struct Same {
    command: &'static str,
    arguments: Value,
    words: &'static [&'static str],
}

fn same(command: &'static str, arguments: Value, words: &'static [&'static str]) -> Same {
    Same { command, arguments, words }
}

/// The numbers of `estimate llama-3.1-8b` on 8 devices.
fn small() -> Value {
    json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "tp": 2, "pp": 2 })
}

#[test]
fn answers_are_the_bytes_of_the_command_line() {
    let server = Served::new(&[RUNS, TRACES]);
    let questions = [
        same(
            "estimate",
            small(),
            &["estimate", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--pp", "2"],
        ),
        same(
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": "8", "why": true }),
            &["estimate", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--why"],
        ),
        same(
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "why": "compute" }),
            &["estimate", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--why", "compute"],
        ),
        same(
            "estimate",
            json!({ "run": "../../../../examples/runs/deepseek-v3.toml", "set": ["plan.micro_batch=1", "plan.precision=bf16"] }),
            &[
                "estimate",
                "--run",
                "../../../../examples/runs/deepseek-v3.toml",
                "--set",
                "plan.micro_batch=1",
                "--set",
                "plan.precision=bf16",
            ],
        ),
        same(
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "pp": 2, "layers-per-stage": [15, 17], "sequence-parallel": false, "fsdp": false }),
            &[
                "estimate",
                "llama-3.1-8b",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "8",
                "--pp",
                "2",
                "--layers-per-stage",
                "15,17",
                "--sequence-parallel=false",
            ],
        ),
        same(
            "memory",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "by": "layer", "stage": 0 }),
            &[
                "memory",
                "llama-3.1-8b",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "8",
                "--by",
                "layer",
                "--stage",
                "0",
            ],
        ),
        same(
            "whatif",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "change": ["plan.micro_batch=2"] }),
            &[
                "whatif",
                "llama-3.1-8b",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "8",
                "--change",
                "plan.micro_batch=2",
            ],
        ),
        same(
            "sensitivity",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8 }),
            &["sensitivity", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8"],
        ),
        same(
            "balance",
            small(),
            &["balance", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--pp", "2"],
        ),
        same(
            "recompute",
            small(),
            &["recompute", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--pp", "2"],
        ),
        same(
            "export",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "to": "megatron" }),
            &["export", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--to", "megatron"],
        ),
        same(
            "search",
            json!({ "model": "llama-3.1-8b", "cluster": ["dgx-h100"], "gpus": 8, "top": 3, "space": ["tp=1,2", "pp=1"] }),
            &[
                "search",
                "llama-3.1-8b",
                "--cluster",
                "dgx-h100",
                "--gpus",
                "8",
                "--top",
                "3",
                "--space",
                "tp=1,2",
                "--space",
                "pp=1",
            ],
        ),
        same("models/list", json!({}), &["models", "list"]),
        same(
            "models/list",
            json!({ "patterns": ["llama-3*", "mixtral"] }),
            &["models", "list", "llama-3*", "mixtral"],
        ),
        same("models/show", json!({ "name": "llama-3.1-8b" }), &["models", "show", "llama-3.1-8b"]),
        same("gpus/list", json!({}), &["gpus", "list"]),
        same("clusters/show", json!({ "name": "dgx-h100" }), &["clusters", "show", "dgx-h100"]),
        same("keys", json!({}), &["keys"]),
        same("explain", json!({}), &["explain"]),
        same("explain", json!({ "id": "compute.mlp" }), &["explain", "compute.mlp"]),
        same(
            "detect",
            json!({ "file": "../../../../examples/runs/llama-3.1-405b.toml" }),
            &["detect", "../../../../examples/runs/llama-3.1-405b.toml"],
        ),
        same("network/topologies", json!({}), &["network", "topologies"]),
        same(
            "network/show",
            json!({ "design": "rail-optimized", "gpus": 1024 }),
            &["network", "show", "rail-optimized", "--gpus", "1024"],
        ),
        same(
            "network/cost",
            json!({ "designs": ["rail-optimized", "rail-only"], "gpus": 1024, "share-switches": true }),
            &[
                "network",
                "cost",
                "--designs",
                "rail-optimized,rail-only",
                "--gpus",
                "1024",
                "--share-switches",
                "true",
            ],
        ),
        same("network/rail-only", json!({}), &["network", "rail-only"]),
        same(
            "profile",
            json!({ "paths": ["../../../../fixtures/traces/megatron_tp2_v100"], "top": 3 }),
            &["profile", "../../../../fixtures/traces/megatron_tp2_v100", "--top", "3"],
        ),
        same(
            "comm",
            json!({ "paths": ["../../../../fixtures/traces/megatron_tp2_v100"] }),
            &["comm", "../../../../fixtures/traces/megatron_tp2_v100"],
        ),
        same(
            "stragglers",
            json!({ "paths": "../../../../fixtures/traces/megatron_tp2_v100" }),
            &["stragglers", "../../../../fixtures/traces/megatron_tp2_v100"],
        ),
        same(
            "query",
            json!({ "sql": "SELECT -1, count(*) FROM gpu", "paths": ["../../../../fixtures/traces/megatron_tp2_v100"] }),
            &["query", "SELECT -1, count(*) FROM gpu", "../../../../fixtures/traces/megatron_tp2_v100"],
        ),
        same("query", json!({ "schema": true }), &["query", "--schema"]),
    ];
    for Same { command, arguments, words } in &questions {
        let typed = run(&[*words, &["--json"]].concat());
        let reply = server.ask(command, arguments);
        let outcome = match typed.code {
            0 => "yes",
            1 => "no",
            4 => "at-risk",
            code => panic!("{words:?} ended with {code}: {}", typed.stderr),
        };
        assert_eq!(reply.status, 200, "{command} {arguments}: {}", reply.text);
        assert_eq!(reply.text, typed.stdout, "{command} {arguments}");
        assert_eq!(reply.header("railwright-outcome"), Some(outcome), "{command} {arguments}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        // The second request returns the same, cached reply.
        assert_eq!(server.ask(command, arguments).text, typed.stdout, "{command} {arguments}, again");
    }
    assert!(questions.len() >= 25);
}

#[test]
fn other_forms_are_those_of_the_command_line() {
    let server = Served::new(&[]);
    let line = ["estimate", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--tp", "2", "--pp", "2"];
    for (format, media) in [("csv", "text/csv; charset=utf-8"), ("md", "text/markdown; charset=utf-8")] {
        let reply = server.ask_as("estimate", &small(), format);
        assert_eq!(reply.text, run(&[&line[..], &["--format", format]].concat()).stdout);
        assert_eq!(reply.header("content-type"), Some(media));
    }
    let picture = server.ask_as("timeline", &small(), "svg");
    assert_eq!(picture.text, run(&[&["timeline"], &line[1..], &["--svg"]].concat()).stdout);
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    let trace = server.ask("timeline", &small());
    assert_eq!(trace.text, run(&[&["timeline"], &line[1..]].concat()).stdout);
    let none = server.ask_as("estimate", &small(), "svg");
    assert_eq!(none.status, 422);
    assert!(none.problems().contains("no format `svg`") && none.problems().contains("csv"), "{}", none.text);
}

#[test]
fn the_command_line_of_a_question_is_reported() {
    let server = Served::new(&[]);
    let reply = server.ask("estimate", &small());
    assert_eq!(
        reply.header("railwright-command"),
        Some("railwright estimate llama-3.1-8b --cluster dgx-h100 --gpus 8 --tp 2 --pp 2")
    );
    let expected =
        |command: &str, arguments: Value| server.ask(command, &arguments).json()["command"].clone();
    // Also for an invalid request, quoted for a shell.
    assert_eq!(
        expected("query", json!({ "sql": "SELECT 'a b'", "paths": ["x y"] })),
        r"railwright query 'SELECT '\''a b'\''' 'x y'"
    );
    assert_eq!(expected("models/show", json!({ "name": "-x" })), "railwright models show -- -x");
    let upload = server.upload("my%20config.json", b"{}");
    assert_eq!(expected("models/show", json!({ "name": upload })), "railwright models show my_config.json");
}

#[test]
fn what_is_wrong_is_reported_as_at_the_terminal() {
    let server = Served::new(&[]);
    for (command, arguments, status, words) in [
        ("estimat", json!({}), 404, "`estimate`"),
        ("network", json!({}), 404, "rail-only"),
        ("network/designs", json!({}), 404, "`design`"),
        ("estimate/x", json!({}), 404, "unknown command"),
        ("estimate", json!({ "model": "llama-3.1-9b", "cluster": "dgx-h100" }), 422, "llama-3.1-8b"),
        ("estimate", json!({ "modle": "llama-3.1-8b" }), 422, "`model`"),
        (
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "tensor-paralel": 2 }),
            422,
            "`tensor-parallel`",
        ),
        (
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "tp": 3 }),
            422,
            "--tensor-parallel",
        ),
        (
            "estimate",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": [8, 16] }),
            422,
            "whole number",
        ),
        (
            "estimate",
            json!({ "model": { "name": "llama" } }),
            422,
            "expected a string, a number, or a list of these",
        ),
        ("estimate", json!({ "model": "llama-3.1-8b", "tp": 2, "tensor-parallel": 4 }), 422, "twice"),
        ("estimate", json!({ "model": "llama-3.1-8b", "fsdp": "yes" }), 422, "true or false"),
        ("memory", json!({ "model": "llama-3.1-8b", "by": "colour" }), 422, "invalid value 'colour'"),
        ("memory", json!({ "model": "llama-3.1-8b", "stage": -1 }), 422, "--stage"),
        ("compare", json!({ "second": "x" }), 422, "`first` is required"),
        ("query", json!({ "sql": "DROP TABLE gpu", "paths": ["x"] }), 422, "SELECT"),
        ("models/show", json!({ "name": "llama\u{0}" }), 422, "zero byte"),
        ("models/show", json!({ "name": ["gpt2", "llama-3.1-8b"] }), 422, "takes one value"),
        ("models/list", json!({ "patterns": vec!["x"; 20_000] }), 422, "at most"),
    ] {
        let reply = server.ask(command, &arguments);
        assert_eq!(reply.status, status, "{command} {arguments}: {}", reply.text);
        assert!(reply.problems().contains(words), "{command} {arguments}: {}", reply.text);
    }
}

#[test]
fn a_search_is_followed_and_stopped() {
    let server = Served::new(&[]);
    let start = |arguments: Value| {
        let body = json!({ "command": "search", "arguments": arguments }).to_string();
        let reply = server.send("POST", "api/v1/jobs", body.as_bytes());
        assert_eq!(reply.status, 202, "{}", reply.text);
        reply.json()["job"].as_str().expect("a number").to_owned()
    };
    let job = start(json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "top": 3 }));
    let events = server.events(&job);
    let (name, data) = events.last().expect("an end");
    assert_eq!((name.as_str(), data["outcome"].as_str()), ("answer", Some("yes")));
    let typed =
        run(&["search", "llama-3.1-8b", "--cluster", "dgx-h100", "--gpus", "8", "--top", "3", "--json"]);
    assert_eq!(data["answer"], serde_json::from_str::<Value>(&typed.stdout).expect("JSON"));
    assert!(data["command"].as_str().expect("a command").starts_with("railwright search llama-3.1-8b"));
    // A space that takes minutes, on one thread.
    let long = start(
        json!({ "model": "deepseek-v3", "cluster": "dgx-h100", "gpus": [2048, 4096, 8192, 16384], "unlimited": true, "threads": 1 }),
    );
    std::thread::sleep(Duration::from_millis(700));
    let begin = Instant::now();
    assert_eq!(server.send("DELETE", &format!("api/v1/jobs/{long}"), b"").status, 204);
    let events = server.events(&long);
    assert!(begin.elapsed() < Duration::from_secs(60), "it took {:?} to stop", begin.elapsed());
    let (_, data) = events.last().expect("an end");
    assert_eq!(data["outcome"], "interrupted", "{data}");
    let progress: Vec<&Value> =
        events.iter().filter(|(name, _)| name == "progress").map(|(_, data)| data).collect();
    assert!(progress.iter().any(|data| data["total"].as_u64() > Some(0)), "{progress:?}");
    assert_eq!(server.ask("estimate", &small()).status, 200);
}

#[test]
fn a_question_without_end_is_given_up() {
    let server = Served::new(&[TRACES]);
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let arguments = json!({ "sql": sql, "paths": ["../../../../fixtures/traces/megatron_tp2_v100"] });
    let body = json!({ "command": "query", "arguments": arguments }).to_string();
    let job = server.send("POST", "api/v1/jobs", body.as_bytes()).json()["job"]
        .as_str()
        .expect("a number")
        .to_owned();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.send("DELETE", &format!("api/v1/jobs/{job}"), b"").status, 204);
    let begin = Instant::now();
    let events = server.events(&job);
    assert_eq!(events.last().expect("an end").0, "problems", "{events:?}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // A query whose rows would fill the memory ends by itself.
    let sql = sql.replace("count(*)", "i");
    let arguments =
        json!({ "sql": sql, "paths": ["../../../../fixtures/traces/megatron_tp2_v100"], "limit": 0 });
    let reply = server.ask_as("query", &arguments, "csv");
    assert_eq!((reply.status, reply.text.lines().count()), (200, 1_000_001));
}

#[test]
fn the_report_names_its_input() {
    let run_file = "../../../../examples/runs/llama-3-8b-fsdp.toml";
    let server = Served::new(&[run_file, "../../../../fixtures/traces/megatron_tp2_v100"]);
    assert!(server.url.ends_with("#/calculator"), "{}", server.url);
    let start = server.send("GET", "api/v1/start", b"").json();
    // Spelled out, so that one argument can be changed; and the same run.
    assert_eq!(start["run"]["model"], "llama-3-8b");
    assert_eq!(start["run"]["gpus"], "8");
    let of_file = run(&["estimate", "--run", run_file, "--json"]);
    let spelled = server.ask("estimate", &start["run"]).json();
    let of_file: Value = serde_json::from_str(&of_file.stdout).expect("JSON");
    assert!(spelled["step_time"].is_number(), "{spelled}");
    assert_eq!((&spelled["plan"], &spelled["step_time"]), (&of_file["plan"], &of_file["step_time"]));
    assert_eq!(start["api"], 1);
    let folder = start["folder_of_traces"].as_str().expect("a folder");
    assert!(folder.starts_with('/') && folder.ends_with("megatron_tp2_v100"), "{folder}");
    assert_eq!(start["traces"], json!([folder]));
    assert!(start["examples"].as_array().is_some_and(|all| all.len() >= 4 && all[0]["about"].is_string()));
    // The listed names are readable.
    assert_eq!(server.ask("estimate", &start["run"]).status, 200);
    assert_eq!(server.ask("profile", &json!({ "paths": start["traces"] })).status, 200);
    let traces = Served::new(&["../../../../fixtures/traces/megatron_tp2_v100"]);
    assert!(traces.url.ends_with("#/traces"), "{}", traces.url);
    let launch = Served::new(&["../../../../examples/launch/llama3_70b.sh"]);
    let start = launch.send("GET", "api/v1/start", b"").json();
    assert!(start["run"]["tp"].is_string() && start["run"]["launch"].is_null(), "{start}");
    // Messages on stderr are also returned.
    let file = "../../../../examples/launch/llama3_70b.sh";
    let reply = launch.ask("estimate", &json!({ "launch": file, "cluster": "dgx-h100", "gpus": 64 }));
    let notes = reply.header("railwright-notes").expect("notes");
    assert!(notes.starts_with('[') && notes.contains("railwright detect"), "{notes}");
    for example in start["examples"].as_array().expect("examples") {
        assert_eq!(server.ask("estimate", &example["run"]).status, 200, "{example}");
    }
    let missing = run(&["serve", "--no-open", "no-such-folder"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("no-such-folder"), "{}", missing.stderr);
}

/// The properties of an operation's arguments, those of the sections that it refers to among them.
fn arguments_of(described: &Value, operation: &Value) -> Value {
    let arguments =
        &operation["requestBody"]["content"]["application/json"]["schema"]["properties"]["arguments"];
    let mut all = arguments["properties"].as_object().expect("properties").clone();
    for section in arguments["allOf"].as_array().into_iter().flatten() {
        let place = section["$ref"].as_str().expect("a place").trim_start_matches('#');
        let section = described.pointer(place).expect("what it refers to");
        all.extend(section["properties"].as_object().expect("properties").clone());
    }
    Value::Object(all)
}

#[test]
fn the_interface_is_described_as_it_is() {
    let text = run(&["serve", "--openapi"]).stdout;
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json"))
        .unwrap_or_default();
    assert!(text == page, "docs/reference/openapi.json is stale; run `cargo run -p xtask -- docs`");
    for part in text.split("\"schema/").skip(1) {
        let name = part.split('"').next().unwrap_or_default();
        let file = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/schema/{}"), name);
        assert!(
            fs::exists(&file).expect("the folder is read"),
            "the description refers to {name}, which has no file"
        );
    }
    let described: Value = serde_json::from_str(&text).expect("JSON");
    let server = Served::new(&[]);
    assert_eq!(server.send("GET", "api/v1/openapi.json", b"").text, text);
    let paths = described["paths"].as_object().expect("paths");
    assert!(paths.len() > 35, "{}", paths.len());
    for (path, methods) in paths {
        let Some(operation) =
            methods.get("post").filter(|_| !path.contains("/jobs") && !path.contains("/uploads"))
        else {
            continue;
        };
        // Every described command exists: it returns a result, or the missing arguments are reported.
        let reply = server.send("POST", path.trim_start_matches('/'), b"{}");
        assert!([200, 422].contains(&reply.status), "{path}: {} {}", reply.status, reply.text);
        let arguments = arguments_of(&described, operation);
        for (name, property) in arguments.as_object().expect("arguments") {
            let help = property["description"].as_str().unwrap_or_default();
            assert!(!help.is_empty(), "{path} {name} has no help");
            assert!(
                !["Write", "Draw", "Where to"].iter().any(|word| help.starts_with(word)),
                "{path} {name} writes: {help}"
            );
            assert!(
                property.get("type").is_some() || property.get("anyOf").is_some(),
                "{path} {name} has no type"
            );
        }
    }
    let run = arguments_of(&described, &paths["/api/v1/estimate"]["post"]);
    assert_eq!(run["tensor-parallel"]["type"], json!(["integer", "string"]));
    assert_eq!(run["tensor-parallel"]["x-aliases"], json!(["tp"]));
    assert_eq!(run["uneven-stages"]["type"], json!(["boolean", "string"]));
    assert_eq!(run["model"]["x-position"], 1);
    assert!(run.get("output").is_none() && run.get("json").is_none());
}

#[test]
fn an_interrupt_ends_it_in_good_order() {
    let mut server = Served::new(&[]);
    let path = server.upload("x.json", b"{}");
    assert_eq!(path, "upload:44136fa355b3678a1146/x.json");
    let ours = |at: &PathBuf| at.join("44136fa355b3678a1146/x.json").exists();
    let folders: Vec<PathBuf> = fs::read_dir(std::env::temp_dir())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("railwright-")))
        .filter(ours)
        .collect();
    assert!(!folders.is_empty(), "the upload is nowhere");
    server.interrupt();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = server.child.try_wait().expect("a child") {
            break status;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
    // Other tests have folders of the same form; at least one of those seen is removed, which was this
    // server's.
    assert!(folders.iter().any(|folder| !folder.exists()), "{folders:?}");
}

#[test]
fn a_taken_port_is_reported() {
    let server = Served::new(&[]);
    let port = server.url.split([':', '/']).nth(4).expect("a port").to_owned();
    let ended = run(&["serve", "--no-open", "--port", &port]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("--port") && ended.stderr.contains("omit it"), "{}", ended.stderr);
}

/// Unusual values, one for each argument of each command in turn: each gives a result or an error.
#[test]
fn absurd_values_are_answered_or_refused() {
    let server = Served::new(&[TRACES]);
    let described = server.send("GET", "api/v1/openapi.json", b"").json();
    let absurd = [
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.5),
        json!("nan"),
        json!("-inf"),
        json!(""),
        json!("x".repeat(5000)),
        json!("\u{1f980}\u{202e}"),
        json!("../../../../etc/passwd"),
        json!("--output=x"),
        json!(["a", 1]),
        json!([]),
        json!(true),
        json!("1e400"),
    ];
    // Commands that search for long with any values are left out.
    let long = ["search", "size", "validate", "network/design", "network/simulate", "network/rail-only"];
    let mut next = absurd.iter().cycle();
    let mut asked = 0;
    for (path, methods) in described["paths"].as_object().expect("paths") {
        let command = path.trim_start_matches("/api/v1/");
        let Some(operation) =
            methods.get("post").filter(|_| !command.contains("jobs") && command != "uploads")
        else {
            continue;
        };
        if long.contains(&command) {
            continue;
        }
        let arguments = arguments_of(&described, operation);
        let arguments = arguments.as_object().expect("arguments");
        for name in arguments.keys() {
            let mut question = json!({});
            let usual = [
                ("model", json!("llama-3.1-8b")),
                ("cluster", json!("dgx-h100")),
                ("gpus", json!(8)),
                ("name", json!("dgx-h100")),
                ("paths", json!(["../../../../fixtures/traces/megatron_tp2_v100"])),
                ("sql", json!("SELECT 1")),
                ("to", json!("megatron")),
                ("change", json!(["plan.micro_batch=2"])),
                ("design", json!("clos")),
            ];
            for (known, value) in usual.into_iter().filter(|(known, _)| arguments.contains_key(*known)) {
                question[known] = value;
            }
            question[name] = next.next().expect("a cycle").clone();
            let reply = server.ask(command, &question);
            assert!(
                [200, 422].contains(&reply.status),
                "{command} {question}: {} {}",
                reply.status,
                reply.text
            );
            assert!(!reply.text.contains("root:"), "{command} {question}");
            asked += 1;
        }
    }
    assert!(asked > 600, "only {asked} were asked");
    assert_eq!(server.ask("estimate", &small()).status, 200);
}
