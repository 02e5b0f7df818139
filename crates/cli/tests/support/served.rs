//! A `railwright serve` that runs as long as a test needs it, and a client for it.

use super::program;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The program, serving.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) url: String,
    host: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.interrupt();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Serves these paths.
    pub(crate) fn new(paths: &[&str]) -> Self {
        let arguments = [&["serve", "--no-open"], paths].concat();
        let mut child = program(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("an address");
        let url = line.trim().to_owned();
        let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("no address: {url}"));
        let mut parts = rest.split('/');
        let host = parts.next().expect("a host").to_owned();
        let token = parts.next().expect("a token").to_owned();
        Self { child, url, host, token }
    }

    /// Stops it like Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let _ = std::process::Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .stderr(Stdio::null())
            .status();
    }

    /// Sends a request and reads the reply to its end.
    pub(crate) fn send(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time-out");
        let head = format!(
            "{method} /{}/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.token,
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        Reply::parse(&bytes)
    }

    /// Sends a command.
    pub(crate) fn ask(&self, command: &str, arguments: &Value) -> Reply {
        let body = json!({ "arguments": arguments }).to_string();
        self.send("POST", &format!("api/v1/{command}"), body.as_bytes())
    }

    /// Sends a command and does not wait for the reply; it is cancelled when the connection is dropped.
    pub(crate) fn begin(&self, command: &str, arguments: &Value) -> TcpStream {
        let body = json!({ "arguments": arguments }).to_string();
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        let head = format!(
            "POST /{}/api/v1/{command} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        stream
    }

    /// Sends a command with a different format of its result.
    pub(crate) fn ask_as(&self, command: &str, arguments: &Value, format: &str) -> Reply {
        let body = json!({ "arguments": arguments, "format": format }).to_string();
        self.send("POST", &format!("api/v1/{command}"), body.as_bytes())
    }

    /// Uploads a file; returns its name for later requests.
    pub(crate) fn upload(&self, name: &str, bytes: &[u8]) -> String {
        let reply = self.send("POST", &format!("api/v1/uploads?name={name}"), bytes);
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json()["path"].as_str().expect("a path").to_owned()
    }

    /// Waits until a job reports progress with a known total; false if it ends first.
    pub(crate) fn waits_for_progress(&self, job: &str) -> bool {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let head = format!(
            "GET /{}/api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.token, self.host
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        for line in lines.filter(|line| line.starts_with("data: ")) {
            let data: Value = serde_json::from_str(&line[6..]).unwrap_or_default();
            if data["done"].as_u64() > Some(0) && data["total"].as_u64() > Some(0) {
                return true;
            }
        }
        false
    }

    /// The events of a job to its end.
    pub(crate) fn events(&self, job: &str) -> Vec<(String, Value)> {
        let reply = self.send("GET", &format!("api/v1/jobs/{job}/events"), b"");
        let event = |text: &str| {
            let name = text.lines().find_map(|line| line.strip_prefix("event: "))?;
            let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            Some((name.to_owned(), serde_json::from_str(&data.join("\n")).expect("JSON")))
        };
        reply.text.split("\n\n").filter_map(event).collect()
    }
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: String,
    pub(crate) text: String,
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let headers = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = headers.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        let mut body = bytes[end + 4..].to_vec();
        if headers.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            let mut rest = body.as_slice();
            let mut whole = Vec::new();
            while let Some(at) = rest.windows(2).position(|w| w == b"\r\n") {
                let length = std::str::from_utf8(&rest[..at]).expect("a length");
                let length = usize::from_str_radix(length, 16).expect("a length");
                if length == 0 {
                    break;
                }
                whole.extend_from_slice(&rest[at + 2..at + 2 + length]);
                rest = &rest[at + 4 + length..];
            }
            body = whole;
        }
        Self { status, headers, text: String::from_utf8(body).expect("UTF-8") }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Messages, keys and hints of all problems.
    pub(crate) fn problems(&self) -> String {
        self.json()["problems"].to_string()
    }
}
