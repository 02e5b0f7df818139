//! The program inside a web page: WebAssembly that handles requests like the server, without a server.
//!
//! Responsible for: bytes across the boundary. The page writes a message into [`railwright_buffer`], calls a
//! function with its length, and reads the reply at [`railwright_reply`]. Requests use the same desk as those
//! of `railwright serve`. Computes nothing itself.

#![expect(unsafe_code, reason = "names of exported functions; no pointer is followed here")]

use crate::commands::{page_desk, run};
use crate::input::disk;
use crate::page;
use railwright_server::{Backend, Progress, Question, Reply, Watch};
use serde_json::{Value, json};
use std::path::{Component, Path};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Folder of uploads in memory.
const UPLOADS: &str = "uploads";

/// Request of the page, and its response.
static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static REPLY: Mutex<Vec<u8>> = Mutex::new(Vec::new());

static DESK: LazyLock<Box<dyn Backend>> = LazyLock::new(|| {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        page::failed(text.as_ptr(), text.len());
    }));
    let desk: Box<dyn Backend> = Box::new(page_desk(run));
    desk.uploads(Path::new(UPLOADS));
    desk
});

fn report(progress: &Progress) {
    let Progress { done, total, message, best } = progress;
    let text = json!({ "done": done, "total": total, "message": message, "best": best }).to_string();
    page::progress(text.as_ptr(), text.len());
}

/// A buffer for a message of that length.
#[unsafe(no_mangle)]
extern "C" fn railwright_buffer(length: usize) -> *mut u8 {
    let mut buffer = BUFFER.lock().unwrap_or_else(PoisonError::into_inner);
    buffer.clear();
    buffer.resize(length, 0);
    buffer.as_mut_ptr()
}

/// Address of the last reply: a line of JSON with its properties, then its bytes.
#[unsafe(no_mangle)]
extern "C" fn railwright_reply() -> *const u8 {
    REPLY.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

fn message() -> Vec<u8> {
    std::mem::take(&mut BUFFER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps a reply for the page, and returns its length.
fn reply(about: &Value, body: &[u8]) -> usize {
    let mut bytes = about.to_string().into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    let length = bytes.len();
    *REPLY.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
    length
}

/// Handles the request in the buffer: `{"command": "network/cost", "arguments": {}, "format": "json"}`.
/// Returns the length of the reply.
#[unsafe(no_mangle)]
extern "C" fn railwright_ask() -> usize {
    let watch = Arc::new(Watch::reported_to(report));
    let answered = match Question::read(None, &message()) {
        Ok(question) => DESK.ask(&question, &watch),
        Err(problem) => {
            Reply::Problems { problems: vec![problem.in_file("request")], command: String::new() }
        }
    };
    match answered {
        Reply::Answer { outcome, media, body, command, notes } => {
            let about = json!({ "status": 200, "outcome": outcome.name(), "media": media, "command": command, "notes": notes });
            reply(&about, &body)
        }
        Reply::Problems { problems, command } => {
            problem(422, &json!({ "problems": problems, "command": command }))
        }
        Reply::Unknown(one) => problem(404, &json!({ "problems": [one] })),
        Reply::Broken(one) => problem(500, &json!({ "problems": [one] })),
    }
}

/// Initial state of the page. Returns the length of the reply.
#[unsafe(no_mangle)]
extern "C" fn railwright_start() -> usize {
    reply(&json!({ "status": 200, "media": "application/json" }), DESK.start().to_string().as_bytes())
}

/// Takes a file over: the name's length, then name and bytes in the buffer. Whether the name is one that
/// files can have.
#[unsafe(no_mangle)]
extern "C" fn railwright_file(name: usize) -> bool {
    let mut bytes = message();
    let Some((head, _)) = bytes.split_at_checked(name) else { return false };
    let Ok(path) = std::str::from_utf8(head).map(str::to_owned) else { return false };
    let is_plain = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || !is_plain {
        return false;
    }
    bytes.drain(..name);
    disk::put(path.into(), bytes);
    true
}

/// Keeps the functions of this file in a program that links the library.
pub(crate) fn exported() {
    std::hint::black_box((
        railwright_buffer as *const (),
        railwright_reply as *const (),
        railwright_ask as *const (),
        railwright_start as *const (),
        railwright_file as *const (),
    ));
}

fn problem(status: u16, body: &Value) -> usize {
    reply(&json!({ "status": status, "media": "application/json" }), body.to_string().as_bytes())
}
