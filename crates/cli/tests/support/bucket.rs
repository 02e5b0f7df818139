//! A server of objects on this machine: S3 at `/BUCKET/KEY`, files at `/web/KEY`, files without parts at
//! `/plain/KEY` and without their length at `/unsized/KEY`, with faults.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The only key that may read and write.
const KEY: &str = "AKIATEST";
/// Number of keys on a page of a list.
const PAGE: usize = 3;

/// Fault of requests for an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Sends a few bytes at a time.
    Slow,
    /// This many transfers end in the middle.
    Cut(u32),
    /// This many requests fail with 503.
    Unavailable(u32),
    /// Every request fails with this status.
    Refused(u16),
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    faults: BTreeMap<String, Fault>,
    requests: Vec<String>,
}

/// A running server.
pub(crate) struct Bucket {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Bucket {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// The address of a path: `web/rank0.json`.
    pub(crate) fn http(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        self.state().objects.insert(key.to_owned(), bytes.to_vec());
    }

    /// Stores the files of a folder below a key.
    pub(crate) fn put_folder(&self, key: &str, folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let name = format!("{key}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.put_folder(&name, &entry.path());
            } else {
                self.put(&name, &std::fs::read(entry.path()).expect("a file"));
            }
        }
    }

    pub(crate) fn fault(&self, key: &str, fault: Fault) {
        self.state().faults.insert(key.to_owned(), fault);
    }

    /// The keys with a prefix, and their bytes.
    pub(crate) fn objects(&self, start: &str) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        state
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(start))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    /// Number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.state().requests.len()
    }

    /// The program with this server as its S3.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = super::program(arguments);
        command
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port))
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "us-east-1");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> super::Outcome {
        super::outcome(
            &self.program(arguments).stdin(std::process::Stdio::null()).output().expect("the program starts"),
        )
    }
}

struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code =
            (*first == b'%').then(|| after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok())).flatten();
        if let Some(byte) = code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    Some(Request { method, path: decoded(path.trim_start_matches('/')), query, headers, body })
}

fn answer(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

fn refuse(stream: &mut TcpStream, status: u16) {
    answer(stream, status, "", format!("<Error><Code>Test{status}</Code></Error>").as_bytes());
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some(request) = read(&stream) else { return };
    let mut now = state.lock().expect("no panic");
    now.requests.push(format!("{} {}", request.method, request.path));
    let (place, key) = request.path.split_once('/').unwrap_or((&request.path, ""));
    let signed =
        request.headers.get("authorization").is_some_and(|text| text.contains(&format!("Credential={KEY}/")));
    if !matches!(place, "web" | "plain" | "unsized") && !signed {
        return refuse(&mut stream, 403);
    }
    match request.method.as_str() {
        "PUT" => {
            now.objects.insert(key.to_owned(), request.body);
            return answer(&mut stream, 200, "ETag: \"new\"\r\n", b"");
        }
        "GET" if request.query.contains_key("list-type") => return list(&mut stream, &now, &request),
        "GET" => {}
        _ => return refuse(&mut stream, 405),
    }
    let fault = now.faults.get(key).copied();
    let (mut cut, mut slow) = (false, false);
    match fault {
        Some(Fault::Refused(status)) => return refuse(&mut stream, status),
        Some(Fault::Unavailable(left)) if left > 0 => {
            now.faults.insert(key.to_owned(), Fault::Unavailable(left - 1));
            return refuse(&mut stream, 503);
        }
        Some(Fault::Cut(left)) if left > 0 => {
            now.faults.insert(key.to_owned(), Fault::Cut(left - 1));
            cut = true;
        }
        Some(Fault::Slow) => slow = true,
        _ => {}
    }
    let Some(object) = now.objects.get(key).cloned() else { return refuse(&mut stream, 404) };
    drop(now);
    let part = request.headers.get("range").filter(|_| place == "web" || signed).and_then(|text| {
        let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
        let from: usize = from.parse().ok()?;
        Some((from, to.parse().unwrap_or(usize::MAX).min(object.len().saturating_sub(1))))
    });
    if part.is_some_and(|(from, _)| from >= object.len()) {
        return refuse(&mut stream, 416);
    }
    let (status, range, bytes) = match part {
        Some((from, to)) => {
            (206, format!("Content-Range: bytes {from}-{to}/{}\r\n", object.len()), &object[from..=to])
        }
        None => (200, String::new(), object.as_slice()),
    };
    let length =
        if place == "unsized" { String::new() } else { format!("Content-Length: {}\r\n", bytes.len()) };
    let head = format!(
        "HTTP/1.1 {status} X\r\n{length}Connection: close\r\nETag: \"{:x}\"\r\n\
        Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n{range}\r\n",
        object.len()
    );
    let _ = stream.write_all(head.as_bytes());
    if slow {
        for piece in bytes.chunks(bytes.len() / 5 + 1) {
            let _ = stream.write_all(piece);
            let _ = stream.flush();
            std::thread::sleep(Duration::from_millis(20));
        }
        return;
    }
    let _ = stream.write_all(if cut { &bytes[..bytes.len() / 2] } else { bytes });
}

/// One page of the keys below a prefix.
fn list(stream: &mut TcpStream, state: &State, request: &Request) {
    let prefix = request.query.get("prefix").map_or("", String::as_str);
    let after = request.query.get("continuation-token").map_or("", String::as_str);
    let all = state.objects.iter().filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
    let found: Vec<_> = all.take(PAGE + 1).collect();
    let mut text = format!(
        "<ListBucketResult><Prefix>{prefix}</Prefix><IsTruncated>{}</IsTruncated>",
        found.len() > PAGE
    );
    for (key, bytes) in found.iter().take(PAGE) {
        let _ = write!(
            text,
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
            <ETag>\"{:x}\"</ETag><Size>{}</Size></Contents>",
            bytes.len(),
            bytes.len()
        );
    }
    if let Some((key, _)) = found.get(PAGE - 1).filter(|_| found.len() > PAGE) {
        let _ = write!(text, "<NextContinuationToken>{key}</NextContinuationToken>");
    }
    answer(stream, 200, "", (text + "</ListBucketResult>").as_bytes());
}
