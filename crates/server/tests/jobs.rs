//! Jobs: start, events, cancellation, kept results; and the end of the server.

mod support;

use railwright_server::Settings;
use std::io::Read;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::{Answer, Running, soon};

fn begin(server: &Running, ms: u64) -> String {
    let answer =
        server.post("/api/v1/jobs", &format!(r#"{{"command": "wait", "arguments": {{"ms": {ms}}}}}"#));
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["job"].as_str().expect("a number").to_owned()
}

/// Events of a job: names and data, with lines joined as in a browser.
fn events(answer: &Answer) -> Vec<(String, serde_json::Value)> {
    answer
        .text()
        .split("\n\n")
        .filter_map(|event| {
            let name = event.lines().find_map(|line| line.strip_prefix("event: "))?;
            let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            Some((name.to_owned(), serde_json::from_str(&data.join("\n")).expect("JSON")))
        })
        .collect()
}

#[test]
fn a_job_reports_progress_and_outcome() {
    let server = Running::new();
    let job = begin(&server, 700);
    let answer = server.get(&format!("/api/v1/jobs/{job}/events"));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = events(&answer);
    let (last, progress) = events.split_last().expect("events");
    // At most ten per second.
    assert!((2..=9).contains(&progress.len()), "{} messages about progress", progress.len());
    let done: Vec<u64> = progress.iter().filter_map(|(_, data)| data["done"].as_u64()).collect();
    assert!(done.is_sorted() && progress.iter().all(|(name, _)| name == "progress"), "{done:?}");
    assert_eq!(progress[0].1["total"], 700);
    assert_eq!(last.0, "answer");
    assert_eq!(last.1["outcome"], "yes");
    assert!(last.1["answer"]["done"].as_u64() >= done.last().copied());
    assert!(last.1["command"].as_str().expect("a command").starts_with("railwright wait"));
    assert_eq!(last.1["notes"], serde_json::json!(["left out: ü"]));
    // Later listeners receive the result again.
    let again = server.get(&format!("/api/v1/jobs/{job}/events"));
    assert!(again.text().contains("event: answer"));
    server.is_well();
}

#[test]
fn a_stopped_job_answers_with_what_it_has() {
    let server = Running::new();
    let job = begin(&server, 60_000);
    soon("the job", || server.desk.at_once.load(Ordering::SeqCst) == 1);
    assert_eq!(server.delete(&format!("/api/v1/jobs/{job}")).status, 204);
    let answer = server.get(&format!("/api/v1/jobs/{job}/events"));
    let all = events(&answer);
    let (name, data) = all.last().expect("an end");
    assert_eq!((name.as_str(), data["outcome"].as_str()), ("answer", Some("interrupted")));
    assert_eq!(server.desk.stopped.load(Ordering::SeqCst), 1);
    // Stopping a finished job has no effect.
    assert_eq!(server.delete(&format!("/api/v1/jobs/{job}")).status, 204);
    server.is_well();
}

#[test]
fn jobs_end_with_problems_too() {
    let server = Running::new();
    for (command, words) in [("refuse", "this is wrong"), ("panic", "bug"), ("unheard-of", "no such command")]
    {
        let answer = server.post("/api/v1/jobs", &format!(r#"{{"command": "{command}"}}"#));
        let job = answer.json()["job"].as_str().expect("a number").to_owned();
        let all = events(&server.get(&format!("/api/v1/jobs/{job}/events")));
        let (name, data) = all.last().expect("an end");
        assert_eq!(name, "problems");
        assert!(data["problems"][0]["message"].as_str().expect("a message").contains(words), "{data}");
    }
    assert_eq!(server.post("/api/v1/jobs", "{}").status, 400);
    for job in ["99", "x", "-1", "..%2f1", "18446744073709551616"] {
        assert_eq!(server.get(&format!("/api/v1/jobs/{job}/events")).status, 404, "{job}");
        assert_eq!(server.delete(&format!("/api/v1/jobs/{job}")).status, 404, "{job}");
    }
    server.is_well();
}

#[test]
fn there_are_only_so_many() {
    let server = Running::with(Settings { jobs: 2, remembered: 3, ..Settings::default() });
    let first = begin(&server, 60_000);
    let second = begin(&server, 60_000);
    let third = server.post("/api/v1/jobs", r#"{"command": "wait"}"#);
    assert_eq!((third.status, third.problem().as_str()), (429, "2 jobs are already running"));
    server.delete(&format!("/api/v1/jobs/{first}"));
    server.get(&format!("/api/v1/jobs/{first}/events"));
    for _ in 0..5 {
        let job = begin(&server, 0);
        server.get(&format!("/api/v1/jobs/{job}/events"));
    }
    assert_eq!(server.get(&format!("/api/v1/jobs/{first}/events")).status, 404, "it should be forgotten");
    // Running jobs are never removed.
    assert_eq!(server.delete(&format!("/api/v1/jobs/{second}")).status, 204);
    server.is_well();
}

#[test]
fn a_listener_that_goes_leaves_the_job_alone() {
    let server = Running::new();
    let job = begin(&server, 500);
    let mut stream = server.connect();
    stream
        .write_all(format!("{}\r\n", server.head("GET", &format!("/api/v1/jobs/{job}/events"))).as_bytes())
        .expect("sent");
    let mut piece = [0; 64];
    assert!(stream.read(&mut piece).expect("something") > 0);
    drop(stream);
    let all = events(&server.get(&format!("/api/v1/jobs/{job}/events")));
    assert_eq!(all.last().expect("an end").1["outcome"], "yes");
}

#[test]
fn the_server_ends_in_good_order() {
    let mut server = Running::new();
    let job = begin(&server, 60_000);
    let mut listener = server.connect();
    listener
        .write_all(format!("{}\r\n", server.head("GET", &format!("/api/v1/jobs/{job}/events"))).as_bytes())
        .expect("sent");
    let mut waiting = server.connect();
    let body = r#"{"arguments": {"ms": 60000}}"#;
    waiting
        .write_all(
            format!("{}Content-Length: {}\r\n\r\n{body}", server.head("POST", "/api/v1/wait"), body.len())
                .as_bytes(),
        )
        .expect("sent");
    let idle = server.connect();
    soon("the work", || server.desk.at_once.load(Ordering::SeqCst) == 2);
    let begin = Instant::now();
    server.stop();
    assert!(begin.elapsed() < Duration::from_secs(3), "it took {:?}", begin.elapsed());
    let received = Answer::read(listener);
    assert_eq!(events(&received).last().expect("an end").1["outcome"], "interrupted");
    assert_eq!(Answer::read(waiting).status, 503);
    drop(idle);
    assert_eq!(server.desk.stopped.load(Ordering::SeqCst), 2);
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err());
}
