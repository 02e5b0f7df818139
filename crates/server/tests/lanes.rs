//! Concurrent long and quick questions.

mod support;

use railwright_server::Settings;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::{Running, soon};

#[test]
fn long_questions_keep_no_quick_one_waiting() {
    let server = Running::with(Settings { questions: 2, long_questions: 2, ..Settings::default() });
    let body = r#"{"arguments": {"ms": 60000}}"#;
    let head = server.head("POST", "/api/v1/long/wait");
    let ask = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let long = || {
        let mut stream = server.connect();
        stream.write_all(ask.as_bytes()).expect("sent");
        stream
    };
    // The first two run before the others arrive, for any order of accepted connections.
    let mut endless = vec![long(), long()];
    soon("two of them", || server.desk.at_once.load(Ordering::SeqCst) == 2);
    endless.extend((0..10).map(|_| long()));
    for _ in 0..20 {
        let begin = Instant::now();
        server.is_well();
        assert!(begin.elapsed() < Duration::from_secs(1), "it took {:?}", begin.elapsed());
    }
    assert_eq!(server.get("/api/v1/start").status, 200);
    assert_eq!(server.get("/api/v1/traces").status, 200);
    assert_eq!(server.desk.at_once.load(Ordering::SeqCst), 2, "more than two were worked on");
    // Abandoning a question frees its permit for the next one, and stops it.
    for gone in 1..=4 {
        drop(endless.remove(0));
        soon("the stop", || server.desk.stopped.load(Ordering::SeqCst) >= gone.min(2));
    }
    drop(endless);
    soon("the end of all", || server.desk.at_once.load(Ordering::SeqCst) == 0);
    server.is_well();
}
