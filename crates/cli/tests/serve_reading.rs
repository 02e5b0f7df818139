//! Files read and written by `railwright serve`: only those given at the start or sent by the client.

use crate::support::program;
use crate::support::served::Served;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const TRACES: &str = "../../../../fixtures/traces";
const RUNS: &str = "../../../../examples/runs";

/// A served folder next to a file that is not served.
fn house(name: &str) -> PathBuf {
    let top = std::env::temp_dir().join(format!("railwright-serve-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&top);
    fs::create_dir_all(top.join("open/folder")).expect("made");
    for file in ["open/run.toml", "secret.toml"] {
        fs::copy("../../examples/runs/llama-3-8b-fsdp.toml", top.join(file)).expect("copied");
    }
    top.canonicalize().expect("real")
}

#[test]
fn nothing_is_written_and_nothing_of_the_terminal_is_set() {
    let server = Served::new(&[RUNS, TRACES]);
    let target = std::env::temp_dir().join(format!("railwright-written-{}", std::process::id()));
    let path = target.to_string_lossy().into_owned();
    let base = json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8 });
    let with = |name: &str, value: Value| {
        let mut arguments = base.clone();
        arguments[name] = value;
        arguments
    };
    let traces = json!(["../../../../fixtures/traces/megatron_tp2_v100"]);
    for (command, arguments) in [
        ("estimate", with("output", json!(path))),
        ("search", with("save", json!(path))),
        ("recompute", with("save", json!(path))),
        ("timeline", with("output", json!(path))),
        (
            "export",
            json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "to": "megatron", "output": path }),
        ),
        ("network/traffic", with("matrix", json!(path))),
        ("network/traffic", with("heat", json!(format!("{path}.svg")))),
        ("network/rail-only", json!({ "figures": path })),
        ("profile", json!({ "paths": traces, "html": path })),
        ("profile", json!({ "paths": traces, "output": format!("{path}.railwright") })),
        ("pipeline", json!({ "predict": "../../../../examples/runs/llama-3.1-405b.toml", "svg": path })),
        ("schema", json!({ "output": path })),
        ("examples", json!({ "name": "deepseek-v3", "output": path })),
    ] {
        let reply = server.ask(command, &arguments);
        assert_eq!(reply.status, 422, "{command} {arguments}: {}", reply.text);
        assert!(reply.problems().contains("the server writes no files"), "{command}: {}", reply.text);
        assert!(!target.exists(), "{command} wrote");
    }
    for command in ["save", "export-perfetto", "perfetto", "init", "serve", "completions", "man", "help"] {
        assert_eq!(server.ask(command, &json!({})).status, 404, "{command}");
    }
    for name in ["help", "version", "color", "quiet", "ascii", "json", "format"] {
        let reply = server.ask("estimate", &with(name, json!(true)));
        assert_eq!(reply.status, 422, "{name}: {}", reply.text);
    }
    // Values never become flags.
    let reply = server.ask("models/list", &json!({ "patterns": [format!("--output={path}")] }));
    assert_eq!((reply.status, reply.header("railwright-outcome")), (200, Some("no")));
    let reply = server.ask("estimate", &with("software", json!(format!("x --output {path}"))));
    assert_eq!(reply.status, 422);
    assert!(!target.exists());
}

#[test]
fn only_what_was_given_is_read() {
    let top = house("given");
    let at = |path: &str| top.join(path).to_string_lossy().into_owned();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("secret.toml"), at("open/link.toml")).expect("linked");
        std::os::unix::fs::symlink(&top, at("open/out")).expect("linked");
        std::os::unix::fs::symlink("/etc/passwd", at("open/folder/config.json")).expect("linked");
    }
    let server = Served::new(&[&at("open")]);
    assert_eq!(server.ask("estimate", &json!({ "run": at("open/run.toml") })).status, 200);
    let secret = at("secret.toml");
    let beside = at("open/../secret.toml");
    let encoded = at("open/..%2fsecret.toml");
    let twice = at("open/..%252fsecret.toml");
    let (link, out, folder) = (at("open/link.toml"), at("open/out/secret.toml"), at("open/folder"));
    let relative = "../../examples/runs/llama-3-8b-fsdp.toml".to_owned();
    for path in [
        &secret,
        &beside,
        &encoded,
        &twice,
        &link,
        &out,
        &relative,
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "-",
        "upload:1/x",
        "upload:../open/run.toml",
        "upload:/etc/passwd",
        "file:///etc/passwd",
        "~/.bashrc",
        "/etc/*",
    ] {
        for (command, arguments) in [
            ("estimate", json!({ "run": path })),
            ("estimate", json!({ "launch": path, "cluster": "dgx-h100" })),
            ("estimate", json!({ "model": path, "cluster": path })),
            (
                "estimate",
                json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "set": [format!("model.config={path}")] }),
            ),
            ("estimate", json!({ "model": "llama-3.1-8b", "cluster": path })),
            ("models/show", json!({ "name": path })),
            ("clusters/show", json!({ "name": path })),
            ("detect", json!({ "file": path })),
            ("log", json!({ "file": path })),
            ("profile", json!({ "paths": [path] })),
            ("profile", json!({ "paths": [at("open")], "families": path })),
            ("profile", json!({ "paths": [at("open")], "run": path })),
            ("comm", json!({ "paths": [path] })),
            ("comm", json!({ "paths": [at("open")], "kernels": path })),
            ("stragglers", json!({ "paths": [path] })),
            ("hang", json!({ "paths": [path] })),
            ("query", json!({ "sql": "SELECT 1", "paths": [path] })),
            ("compare", json!({ "first": path, "second": path })),
            ("pipeline", json!({ "predict": path })),
            ("pipeline", json!({ "paths": [path] })),
            ("validate", json!({ "table": path })),
            ("calibrate", json!({ "paths": [path] })),
            ("calibrate", json!({ "nccl-tests": [path], "cluster": "dgx-h100" })),
            ("calibrate", json!({ "operators": [path], "cluster": "dgx-h100" })),
            ("calibrate", json!({ "show": path })),
            (
                "estimate",
                json!({ "model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "calibration": path }),
            ),
            ("network/show", json!({ "design": path })),
            ("network/cost", json!({ "prices": [path], "devices": 64 })),
            ("network/cost", json!({ "run": path, "devices": 64 })),
            ("network/failures", json!({ "designs": ["clos"], "rates": [path], "devices": 64 })),
        ] {
            let reply = server.ask(command, &arguments);
            assert_eq!(reply.status, 422, "{command} {arguments}: {}", reply.text);
            for word in ["root:", "[model]", "PATH=", "sharding"] {
                assert!(!reply.problems().contains(word), "{command} {arguments}: {}", reply.text);
            }
        }
    }
    // SQL reaches no file either.
    for sql in ["ATTACH '/etc/passwd' AS x", "SELECT readfile('/etc/passwd')", "SELECT load_extension('x')"] {
        let reply = server.ask("query", &json!({ "sql": sql, "paths": [at("open")] }));
        assert_eq!(reply.status, 422, "{sql}: {}", reply.text);
    }
    // Links that lead out of a folder are excluded.
    let reply = server.ask("models/show", &json!({ "name": folder }));
    assert!(reply.status == 422 && !reply.text.contains("root:"), "{}", reply.text);
    // Its existence is not revealed.
    let expected = |path: String| {
        server.ask("detect", &json!({ "file": path })).json()["problems"][0]["message"].clone()
    };
    assert_eq!(expected(at("secret.toml")), expected(at("nothing.toml")));
    let _ = fs::remove_dir_all(top);
}

#[test]
fn uploaded_files_stand_in_the_place_of_paths() {
    let server = Served::new(&[]);
    let config = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/models/llama-3-8b.json"))
        .or_else(|_| {
            fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/models/llama-3-8b/config.json"))
        })
        .expect("a model");
    let path = server.upload("config.json", &config);
    let shown = server.ask("models/show", &json!({ "name": path }));
    assert_eq!(shown.status, 200, "{}", shown.text);
    let reply = server.ask("estimate", &json!({ "model": path, "cluster": "dgx-h100", "gpus": 8 }));
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(server.ask("detect", &json!({ "file": path })).status, 200);
    let run =
        server.upload("run.toml", &fs::read("../../examples/runs/llama-3-8b-fsdp.toml").expect("a run"));
    assert_eq!(server.ask("estimate", &json!({ "run": run })).status, 200);
    let rank = fs::read_dir("../../fixtures/traces/megatron_tp2_v100")
        .expect("traces")
        .flatten()
        .next()
        .expect("a trace")
        .path();
    let trace = server.upload("rank0.json.gz", &fs::read(rank).expect("a trace"));
    let profile = server.ask("profile", &json!({ "paths": [trace] }));
    assert_eq!(profile.status, 200, "{}", profile.text);
    let beside = server.ask("models/show", &json!({ "name": path.replace("config.json", "../2/run.toml") }));
    assert_eq!(beside.status, 422, "{}", beside.text);
}

#[test]
fn an_answer_follows_the_file_it_was_made_of() {
    let top = house("follows");
    let file = top.join("open/run.toml");
    let text = fs::read_to_string(&file).expect("a run");
    // Long ago, so that the result may be cached.
    let old = |text: &str| {
        fs::write(&file, text).expect("written");
        let at = std::time::SystemTime::now() - Duration::from_secs(3600);
        fs::File::options().append(true).open(&file).expect("open").set_modified(at).expect("dated");
    };
    old(&text);
    let server = Served::new(&[&top.join("open").to_string_lossy()]);
    let ask = || server.ask("estimate", &json!({ "run": file.to_string_lossy() })).text;
    let first = ask();
    assert_eq!(ask(), first);
    fs::write(&file, text.replace("\"llama-3-8b\"", "\"llama-3.2-3b\"")).expect("written");
    let second = ask();
    assert_ne!(second, first, "the old answer was given");
    // Changed just now: every result is computed again, even without a newer timestamp.
    old(&text);
    assert_eq!(ask(), first);
    fs::remove_file(&file).expect("removed");
    assert_eq!(server.ask("estimate", &json!({ "run": file.to_string_lossy() })).status, 422);
    let _ = fs::remove_dir_all(top);
}

#[test]
fn a_timeline_is_the_same_before_and_after_the_report_of_the_same_traces() {
    let fixtures = fs::canonicalize("../../fixtures/traces").expect("fixtures");
    let fixtures = fixtures.to_string_lossy();
    let with_python = format!("{fixtures}/tracelens_samples");
    for (folder, traces) in [
        (fixtures.to_string(), format!("{fixtures}/generated_torch215_gloo_pp2dp2")),
        (with_python.clone(), format!("{with_python}/torch_compile_triton_trace.json.gz")),
    ] {
        let columns = json!({ "paths": [traces], "columns": true, "host": true });
        let alone = Served::new(&[&folder]).ask("profile", &columns);
        let server = Served::new(&[&folder]);
        assert_eq!(server.ask("profile", &json!({ "paths": [traces] })).status, 200);
        let after = server.ask("profile", &columns);
        assert_eq!((alone.status, after.status), (200, 200), "{}", after.text);
        assert!(alone.text == after.text, "{traces}: the kept reading gives another timeline");
    }
}

#[test]
fn views_of_one_job_that_ask_together_are_answered_as_the_command_line_answers() {
    let folder = fs::canonicalize("../../fixtures/traces/generated_torch215_gloo_pp2dp2").expect("fixtures");
    let folder = folder.to_string_lossy().into_owned();
    let paths = json!([folder]);
    let layout = json!({ "paths": paths, "layout": "dp=2,pp=2" });
    let questions = [
        ("profile", json!({ "paths": paths }), vec!["profile"]),
        ("stragglers", json!({ "paths": paths }), vec!["stragglers"]),
        ("comm", json!({ "paths": paths }), vec!["comm"]),
        ("stragglers", layout, vec!["stragglers", "--layout", "dp=2,pp=2"]),
    ];
    let server = Served::new(&[&folder]);
    // Twice: from the disk and from the cache.
    for _ in 0..2 {
        let replies: Vec<String> = std::thread::scope(|scope| {
            let asked = questions.each_ref().map(|(command, arguments, _)| {
                let server = &server;
                scope.spawn(move || server.ask(command, arguments).text)
            });
            asked.into_iter().map(|reply| reply.join().expect("an answer")).collect()
        });
        for ((command, _, line), reply) in questions.iter().zip(replies) {
            let typed = program(&[line.as_slice(), &[&folder, "--json"]].concat()).output().expect("it runs");
            assert!(typed.stdout == reply.as_bytes(), "{command} {line:?} differs: {reply}");
        }
    }
}

#[test]
fn what_a_run_file_names_is_read_with_it_and_nothing_beside() {
    let top = house("named");
    let at = |path: &str| top.join(path).to_string_lossy().into_owned();
    fs::copy("../../catalog/models/llama-3-8b.json", at("open/config.json")).expect("copied");
    fs::copy("../../catalog/models/llama-3-8b.json", at("open/other.json")).expect("copied");
    let text = fs::read_to_string(at("open/run.toml")).expect("a run");
    fs::write(at("open/run.toml"), text.replace("name = \"llama-3-8b\"", "config = \"config.json\""))
        .expect("written");
    let server = Served::new(&[&at("open/run.toml")]);
    let start = server.send("GET", "api/v1/start", b"").json();
    let reply = server.ask("estimate", &start["run"]);
    assert_eq!(reply.status, 200, "{} {}", start["run"], reply.text);
    assert_eq!(server.ask("estimate", &json!({ "run": at("open/run.toml") })).status, 200);
    assert_eq!(server.ask("models/show", &json!({ "name": at("open/config.json") })).status, 200);
    for path in ["open/other.json", "open", "secret.toml"] {
        assert_eq!(server.ask("models/show", &json!({ "name": at(path) })).status, 422, "{path}");
        assert_eq!(server.ask("detect", &json!({ "file": at(path) })).status, 422, "{path}");
    }
    let _ = fs::remove_dir_all(top);
}
