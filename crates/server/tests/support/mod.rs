//! A server with a desk of a few commands, and a client that sends exact bytes.
#![allow(dead_code, reason = "every test file uses a part of it")]

use bytes::Bytes;
use railwright_server::{Backend, Outcome, Question, Reply, Server, Settings, Stopper, Watch};
use railwright_spec::problem::Problem;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commands for tests: `echo` returns the question, `wait` runs until it is cancelled or `ms` have passed,
/// `stubborn` ignores cancellation, `panic` panics; `long/...` is the same as a long question.
#[derive(Default)]
pub(crate) struct Tester {
    pub(crate) asked: AtomicUsize,
    pub(crate) at_once: AtomicUsize,
    pub(crate) most_at_once: AtomicUsize,
    pub(crate) stopped: AtomicUsize,
    pub(crate) uploads: Mutex<PathBuf>,
}

impl Backend for Tester {
    fn ask(&self, question: &Question, watch: &Arc<Watch>) -> Reply {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        let reply = self.reply(question, watch);
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        reply
    }

    fn is_quick(&self, question: &Question) -> bool {
        question.command.first().is_some_and(|word| word != "long")
    }

    fn openapi(&self) -> Bytes {
        Bytes::from_static(b"{\"openapi\":\"3.1.0\"}")
    }

    fn start(&self) -> Value {
        json!({ "api": 1 })
    }

    fn traces(&self) -> Value {
        json!({ "jobs": [], "more": false })
    }

    fn uploads(&self, folder: &Path) {
        folder.clone_into(&mut self.uploads.lock().expect("a lock"));
    }
}

impl Tester {
    fn reply(&self, question: &Question, watch: &Arc<Watch>) -> Reply {
        let words: Vec<&str> =
            question.command.iter().map(String::as_str).skip_while(|word| *word == "long").collect();
        let answer = |outcome, body: String| Reply::Answer {
            outcome,
            media: "application/json",
            body: Bytes::from(body),
            command: format!("railwright {} --name 'ä 5%'", question.command.join(" ")),
            notes: vec!["left out: ü".to_owned()],
        };
        match words.as_slice() {
            ["echo"] | ["deep", "echo"] => {
                let body = json!({ "arguments": question.arguments, "format": question.format });
                answer(Outcome::Yes, serde_json::to_string_pretty(&body).expect("JSON"))
            }
            ["no"] => answer(Outcome::No, "{}".to_owned()),
            ["wait"] => {
                let ms = question.arguments.get("ms").and_then(Value::as_u64).unwrap_or(10_000);
                let begin = Instant::now();
                let mut done = 0;
                while begin.elapsed() < Duration::from_millis(ms) {
                    if watch.is_stopped() {
                        self.stopped.fetch_add(1, Ordering::SeqCst);
                        return answer(Outcome::Interrupted, format!("{{\n  \"done\": {done}\n}}\n"));
                    }
                    done += 1;
                    watch.report(|progress| {
                        progress.done = done;
                        progress.total = ms;
                        "waiting".clone_into(&mut progress.message);
                    });
                    std::thread::sleep(Duration::from_millis(1));
                }
                answer(Outcome::Yes, format!("{{\n  \"done\": {done}\n}}\n"))
            }
            ["stubborn"] => {
                std::thread::sleep(Duration::from_millis(1500));
                answer(Outcome::Yes, "{}".to_owned())
            }
            ["refuse"] => Reply::Problems {
                problems: vec![Problem::new("this is wrong").hint("do it otherwise").at_key("x")],
                command: "railwright refuse".to_owned(),
            },
            ["panic"] => panic!("as the test wants it"),
            _ => Reply::Unknown(Problem::new("no such command")),
        }
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) desk: Arc<Tester>,
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) ticket: String,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let server = Server::bind(settings).expect("a port");
        let url = server.url();
        let rest = url.strip_prefix("http://127.0.0.1:").expect("this machine's address");
        let (port, rest) = rest.split_once('/').expect("a port");
        let (port, token) = (port.parse().expect("a number"), rest.trim_end_matches('/').to_owned());
        let stopper = server.stopper();
        let ticket = server.ticket().expect("random bits");
        let desk = Arc::new(Tester::default());
        let shared = Arc::clone(&desk);
        let thread = std::thread::spawn(move || server.run(shared).expect("served"));
        Self { desk, port, token, ticket, stopper, thread: Some(thread) }
    }

    /// Stops the server and waits for its end.
    pub(crate) fn stop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("an orderly end");
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        stream
    }

    /// Head of a request by the web UI itself, without the empty line.
    pub(crate) fn head(&self, method: &str, rest: &str) -> String {
        format!(
            "{method} /{}{rest} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n",
            self.token, self.port
        )
    }

    /// Sends bytes and reads to the end.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has already rejected the request may have closed.
        let _ = stream.write_all(bytes);
        Answer::read(stream)
    }

    pub(crate) fn get(&self, rest: &str) -> Answer {
        self.raw(format!("{}\r\n", self.head("GET", rest)).as_bytes())
    }

    pub(crate) fn delete(&self, rest: &str) -> Answer {
        self.raw(format!("{}\r\n", self.head("DELETE", rest)).as_bytes())
    }

    pub(crate) fn post(&self, rest: &str, body: &str) -> Answer {
        let head = self.head("POST", rest);
        self.raw(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
    }

    /// Fails unless a simple question is answered as usual.
    pub(crate) fn is_well(&self) {
        let answer = self.post("/api/v1/echo", r#"{"arguments": {"a": 1}}"#);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.json()["arguments"]["a"], 1);
    }
}

/// Response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A reset after the response also ends it.
        let mut piece = [0; 1 << 13];
        loop {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
            }
        }
        Self::parse(&bytes)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no answer: {:?}", String::from_utf8_lossy(bytes));
        });
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().and_then(|l| l.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut body = bytes[end + 4..].to_vec();
        if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
            body = unchunked(&body);
        }
        Self { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Message of the first problem.
    pub(crate) fn problem(&self) -> String {
        self.json()["problems"][0]["message"].as_str().expect("a message").to_owned()
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|w| w == b"\r\n") {
        let length = std::str::from_utf8(&body[..end]).ok().and_then(|l| usize::from_str_radix(l, 16).ok());
        let Some(length) = length.filter(|length| *length > 0 && end + 4 + length <= body.len()) else {
            break;
        };
        whole.extend_from_slice(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    whole
}

/// Waits until a condition holds.
pub(crate) fn soon(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what} never came to be");
        std::thread::sleep(Duration::from_millis(5));
    }
}
