//! Questions that are too long, invalid, nested, slow or unknown; and many of them concurrently.

mod support;

use railwright_server::Settings;
use std::io::{Read, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::{Answer, Running, soon};

/// Limits that a test reaches quickly.
fn small() -> Settings {
    Settings {
        question_bytes: 1 << 16,
        upload_bytes: 1 << 20,
        all_upload_bytes: 3 << 19,
        patience: Duration::from_millis(800),
        longest_question: Duration::from_millis(1500),
        ..Settings::default()
    }
}

#[test]
fn a_question_is_a_command_with_arguments() {
    let server = Running::new();
    let answer =
        server.post("/api/v1/deep/echo", r#"{"arguments": {"a": [1, "x"], "b": true}, "format": "csv"}"#);
    assert_eq!(answer.status, 200);
    let expected = serde_json::json!({ "arguments": { "a": [1, "x"], "b": true }, "format": "csv" });
    assert_eq!(answer.json(), expected);
    assert_eq!(answer.header("railwright-outcome"), Some("yes"));
    assert_eq!(answer.header("railwright-command"), Some("railwright deep echo --name '%C3%A4 5%25'"));
    assert_eq!(answer.header("railwright-notes"), Some("[\"left out: %C3%BC\"]"));
    assert_eq!(server.post("/api/v1/no", "").header("railwright-outcome"), Some("no"));
    let refused = server.post("/api/v1/refuse", "{}");
    assert_eq!((refused.status, refused.problem().as_str()), (422, "this is wrong"));
    assert_eq!(refused.json()["problems"][0]["place"]["key"], "x");
    assert_eq!(refused.json()["command"], "railwright refuse");
    assert_eq!(server.post("/api/v1/unheard-of", "{}").status, 404);
    assert_eq!(server.get("/api/v1/echo").status, 405);
    assert_eq!(server.get("/api/v1/openapi.json").json()["openapi"], "3.1.0");
    assert_eq!(server.post("/api/v1/start", "{}").status, 405);
}

#[test]
fn broken_questions_are_refused() {
    let server = Running::with(small());
    let deep = format!("{{\"arguments\": {{\"a\": {}{} }}}}", "[".repeat(10_000), "]".repeat(10_000));
    let objects = format!("{}1{}", "{\"arguments\":".repeat(2_000), "}".repeat(2_000));
    for body in [
        "{",
        "[]",
        "null",
        "\"x\"",
        "{\"arguments\": []}",
        "{\"arguments\": {}, \"extra\": 1}",
        "{\"command\": \"echo\"}",
        "{\"arguments\": {\"a\": 1e999}}",
        "{\"arguments\": {\"a\": NaN}}",
        "{}{}",
        "\u{feff}{}",
        &deep,
        &objects,
    ] {
        let answer = server.post("/api/v1/echo", body);
        assert_eq!(answer.status, 400, "{}", &body[..body.len().min(60)]);
        assert!(!answer.problem().is_empty());
    }
    let head = server.head("POST", "/api/v1/echo");
    let answer =
        server.raw(&[format!("{head}Content-Length: 4\r\n\r\n").as_bytes(), &[0xff, 0xfe, 0, 1]].concat());
    assert_eq!((answer.status, answer.problem().as_str()), (400, "the request is not UTF-8"));
    assert_eq!(server.desk.asked.load(Ordering::SeqCst), 0, "a broken question was asked");
    server.is_well();
}

#[test]
fn broken_requests_are_refused() {
    let server = Running::with(small());
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    ] {
        let answer = server.raw(bytes);
        assert!((400..500).contains(&answer.status), "{}", answer.status);
    }
    let head = server.head("POST", "/api/v1/echo");
    for lengths in [
        "Content-Length: -1\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: 99999999999999999999\r\n",
    ] {
        assert_eq!(server.raw(format!("{head}{lengths}\r\n{{}}").as_bytes()).status, 400, "{lengths}");
    }
    let long = server.get(&format!("/{}", "a".repeat(200_000)));
    assert!((400..500).contains(&long.status), "{}", long.status);
    let many = (0..500).fold(String::new(), |text, n| format!("{text}X-{n}: y\r\n"));
    assert_eq!(server.raw(format!("{}{many}\r\n", server.head("GET", "/")).as_bytes()).status, 431);
    server.is_well();
}

#[test]
fn oversized_questions_are_refused_declared_or_not() {
    let server = Running::with(small());
    let long = format!("{{\"arguments\": {{\"a\": \"{}\"}}}}", "x".repeat(1 << 16));
    let declared = server.post("/api/v1/echo", &long);
    assert_eq!((declared.status, declared.problem().as_str()), (413, "a request has at most 65536 bytes"));
    let head = server.head("POST", "/api/v1/echo");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(40));
    assert_eq!(server.raw(chunked.as_bytes()).status, 413);
    // A question within the limits is answered.
    let fits = format!("{{\"arguments\": {{\"a\": \"{}\"}}}}", "x".repeat(60_000));
    assert_eq!(server.post("/api/v1/echo", &fits).status, 200);
    server.is_well();
}

#[test]
fn many_large_questions_do_not_fill_the_memory() {
    let server = Running::with(Settings { all_question_bytes: 100_000, questions: 4, ..Settings::default() });
    let body = format!("{{\"arguments\": {{\"ms\": 60000, \"x\": \"{}\"}}}}", "x".repeat(60_000));
    let mut first = server.connect();
    let head = server.head("POST", "/api/v1/wait");
    first.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).expect("sent");
    soon("the first", || server.desk.at_once.load(Ordering::SeqCst) == 1);
    let second = server.post("/api/v1/echo", &body);
    assert_eq!((second.status, second.problem().as_str()), (503, "too many requests at once"));
    server.is_well();
    drop(first);
    soon("the room", || server.post("/api/v1/echo", &body).status == 200);
}

#[test]
fn uploads_are_kept_bounded_and_removed() {
    let mut server = Running::with(small());
    let kept = server.post("/api/v1/uploads?name=..%2F..%2Fetc%2Fconfig.json", "{\"a\": 1}");
    assert_eq!(kept.status, 201, "{}", kept.text());
    assert_eq!(
        kept.json(),
        serde_json::json!({ "path": "upload:f9d86028c6e0d64e2251/config.json", "name": "config.json", "bytes": 8 })
    );
    let folder = server.desk.uploads.lock().expect("a lock").clone();
    assert_eq!(
        std::fs::read_to_string(folder.join("f9d86028c6e0d64e2251/config.json")).expect("kept"),
        "{\"a\": 1}"
    );
    let head = server.head("POST", "/api/v1/uploads?name=big");
    let declared = server.raw(format!("{head}Content-Length: 999999999999\r\n\r\n").as_bytes());
    assert_eq!(declared.status, 413);
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
    let chunked =
        server.raw(format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(20)).as_bytes());
    assert_eq!(chunked.status, 413);
    let files = || std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(files(), 1, "a rejected file was kept");
    // An incomplete file is neither kept nor counted.
    for _ in 0..4 {
        let mut stream = server.connect();
        stream
            .write_all(format!("{head}Content-Length: 900000\r\n\r\n{}", "y".repeat(800_000)).as_bytes())
            .expect("sent");
        drop(stream);
    }
    let most = "z".repeat(1 << 20);
    soon("the room that broken uploads took", || server.post("/api/v1/uploads?name=a", &most).status == 201);
    soon("the removal of broken uploads", || files() == 2);
    let both = server.post("/api/v1/uploads?name=b", &most);
    assert_eq!(both.status, 413, "all of them together are bounded");
    server.is_well();
    server.stop();
    assert!(!folder.exists(), "the folder stayed");
}

#[test]
fn a_handle_means_one_content() {
    let of = |server: &mut Running, body: &str| {
        let kept = server.post("/api/v1/uploads?name=config.json", body);
        assert_eq!(kept.status, 201, "{}", kept.text());
        kept.json()["path"].as_str().expect("a path").to_owned()
    };
    let mut first = Running::with(small());
    let mut second = Running::with(small());
    let one = of(&mut first, "{\"layers\": 1}");
    let other = of(&mut second, "{\"layers\": 2}");
    assert_ne!(one, other, "a link of the first server would mean another model on the second");
    assert_eq!(of(&mut second, "{\"layers\": 1}"), one);
    let present = |server: &Running| server.get("/api/v1/uploads").json()["paths"].clone();
    assert_eq!(present(&first), serde_json::json!([one]));
    assert_eq!(present(&second).as_array().map(Vec::len), Some(2));
    // The same file again takes no further space.
    let large = "z".repeat(400_000);
    let handles: Vec<String> = (0..8).map(|_| of(&mut first, &large)).collect();
    assert!(handles.iter().all(|one| *one == handles[0]), "{handles:?}");
    first.is_well();
}

#[test]
fn slow_clients_wait_alone() {
    let server = Running::with(small());
    let begin = Instant::now();
    // One with an endless header, one with an endless body, and many that send nothing.
    let mut head = server.connect();
    head.write_all(format!("GET /{}/ HTTP/1.1\r\n", server.token).as_bytes()).expect("sent");
    let mut body = server.connect();
    body.write_all(
        format!("{}Content-Length: 100\r\n\r\n{{", server.head("POST", "/api/v1/echo")).as_bytes(),
    )
    .expect("sent");
    let silent: Vec<_> = (0..100).map(|_| server.connect()).collect();
    server.is_well();
    let answer = Answer::read(body);
    assert_eq!((answer.status, answer.problem().as_str()), (408, "the request is incomplete: timeout"));
    let mut rest = Vec::new();
    let _ = head.read_to_end(&mut rest);
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&rest));
    for mut stream in silent {
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    server.is_well();
}

#[test]
fn questions_that_take_too_long_are_stopped() {
    let server = Running::with(small());
    let answer = server.post("/api/v1/wait", r#"{"arguments": {"ms": 20000}}"#);
    assert_eq!(answer.status, 504);
    assert!(answer.json()["problems"][0]["hint"].as_str().expect("a hint").contains("job"));
    soon("the stop", || server.desk.stopped.load(Ordering::SeqCst) == 1);
    // This question is abandoned.
    let mut gone = server.connect();
    let body = r#"{"arguments": {"ms": 20000}}"#;
    let head = server.head("POST", "/api/v1/wait");
    gone.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).expect("sent");
    soon("the question", || server.desk.at_once.load(Ordering::SeqCst) == 1);
    drop(gone);
    soon("the second stop", || server.desk.stopped.load(Ordering::SeqCst) == 2);
    server.is_well();
}

#[test]
fn work_that_ignores_a_stop_blocks_no_client() {
    let server = Running::with(Settings { questions: 1, given_up: 2, ..Settings::default() });
    for waited in 1..=2 {
        let mut gone = server.connect();
        let head = server.head("POST", "/api/v1/stubborn");
        gone.write_all(format!("{head}Content-Length: 2\r\n\r\n{{}}").as_bytes()).expect("sent");
        soon("the question", || server.desk.at_once.load(Ordering::SeqCst) == waited);
        drop(gone);
    }
    let begin = Instant::now();
    soon("the turn", || server.post("/api/v1/echo", "{}").status == 200);
    assert!(begin.elapsed() < Duration::from_secs(1), "it waited for the stubborn");
    assert_eq!(server.desk.at_once.load(Ordering::SeqCst), 2, "they are still at it");
    // Further ones are not started, because they would occupy the machine.
    let mut third = server.connect();
    let head = server.head("POST", "/api/v1/stubborn");
    third.write_all(format!("{head}Content-Length: 2\r\n\r\n{{}}").as_bytes()).expect("sent");
    soon("the third", || server.desk.at_once.load(Ordering::SeqCst) == 3);
    drop(third);
    soon("the refusal", || server.post("/api/v1/echo", "{}").status == 503);
    soon("the end of the stubborn", || server.post("/api/v1/echo", "{}").status == 200);
}

#[test]
fn a_panic_is_an_answer() {
    let server = Running::new();
    for _ in 0..20 {
        let answer = server.post("/api/v1/panic", "{}");
        assert_eq!(answer.status, 500);
        assert!(answer.problem().contains("bug"), "{}", answer.problem());
        assert!(!answer.text().contains("as the test wants it"));
    }
    server.is_well();
}

#[test]
fn two_hundred_at_once_are_all_served() {
    let server = Running::with(Settings { questions: 3, ..Settings::default() });
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..200)
            .map(|n| {
                let server = &server;
                scope.spawn(move || {
                    let answer = server.post("/api/v1/wait", r#"{"arguments": {"ms": 5}}"#);
                    assert_eq!(answer.status, 200, "{n}: {}", answer.text());
                })
            })
            .collect();
        for one in all {
            one.join().expect("served");
        }
    });
    assert_eq!(server.desk.asked.load(Ordering::SeqCst), 200);
    let most = server.desk.most_at_once.load(Ordering::SeqCst);
    assert!((1..=3).contains(&most), "{most} at once");
    server.is_well();
}

#[test]
fn more_than_may_wait_are_refused() {
    let server = Running::with(Settings { questions: 1, waiting: 4, ..Settings::default() });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..60)
            .map(|_| scope.spawn(|| server.post("/api/v1/wait", r#"{"arguments": {"ms": 100}}"#).status))
            .collect();
        all.into_iter().map(|one| one.join().expect("answered")).collect()
    });
    let served = statuses.iter().filter(|status| **status == 200).count();
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!((1..60).contains(&served), "{served} were served");
    server.is_well();
}
