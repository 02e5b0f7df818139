//! All reads from and writes to the disk. The libraries do no I/O.
//!
//! Responsible for: bounded reads and errors with the file, the reason and the nearest name. Does not
//! interpret content.
//!
//! ```
//! // A word of the command line: a name of the catalogue, else a `config.json`, a folder with one, or a launch file.
//! let model = railwright_inputs::model("llama-3-8b")?;
//! assert_eq!(model.parameters().total, 8_030_261_248);
//! // Errors name the file.
//! let missing = railwright_inputs::read("no-such-run.toml", railwright_inputs::CONFIG_LIMIT).unwrap_err();
//! assert_eq!(missing.place.unwrap().file, "no-such-run.toml");
//! # Ok::<(), railwright_spec::problem::Problem>(())
//! ```

// Some of the readers serve tables alone.
#![cfg_attr(any(target_family = "wasm", not(feature = "tables")), allow(dead_code))]

pub mod access;
mod caller;
pub mod chakra;
pub mod claims;
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub mod digest;
pub mod disk;
pub mod given;
pub mod jobs;
pub mod jobs_found;
pub mod kept;
pub mod kind;
pub mod launch_files;
pub mod limits;
pub mod measured;
#[cfg(any(test, target_family = "wasm"))]
#[cfg_attr(test, allow(unreachable_pub))]
mod memory;
mod model;
mod names;
pub mod networks;
pub mod open_run;
pub mod opened;
mod part;
pub mod perfetto;
pub mod profile;
pub mod remote;
pub mod rewrite;
pub mod run;
pub mod same_run;
pub mod steps;
mod system;
pub mod tabular;
pub mod traces;
pub mod trials;
pub mod writing;

pub use caller::{Caller, Progress, Silent};
pub use model::{config_text, model, path_of};
pub use names::Pattern;

use crate::limits::Bounded;
use disk::File;
pub use railwright_answers::Refused;
use railwright_answers::Texts;
use railwright_profiler::readers;
use railwright_spec::human;
use railwright_spec::problem::{Problem, either, nearest};
use railwright_spec::quantity::Bytes;
use std::cell::RefCell;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Title of paths.
pub fn title(paths: &[String]) -> String {
    match paths {
        [one] => remote::without_query(one).to_owned(),
        [first, .., last] => {
            format!(
                "{} ... {} ({} paths)",
                remote::without_query(first),
                remote::without_query(last),
                paths.len()
            )
        }
        [] => String::new(),
    }
}

/// True if files are read. A page without a file loads a program without readers.
pub const FILES: bool = cfg!(any(not(target_family = "wasm"), feature = "files"));

/// Maximum length of a configuration file.
pub const CONFIG_LIMIT: u64 = 64 << 20;
/// Maximum length of a table.
pub const TABLE_LIMIT: u64 = 1 << 30;

/// Maximum length of a log.
pub const LOG_LIMIT: u64 = 1 << 30;

/// Content of standard input, which cannot be read twice; a launch file may be.
static STDIN: OnceLock<String> = OnceLock::new();

thread_local! {
    /// A text that is read in place of a file, during a trial.
    static INSTEAD: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Calls `work` with a text in place of a file's content: an edit is tried before it is written.
pub fn instead<T>(path: &str, text: &str, work: impl FnOnce() -> T) -> T {
    let before = INSTEAD.replace(Some((path.to_owned(), text.to_owned())));
    crate::run::launch::forget();
    let out = work();
    INSTEAD.set(before);
    crate::run::launch::forget();
    out
}

/// Access of `railwright-answers` to the disk.
pub struct Disk;

impl Texts for Disk {
    fn text(&self, path: &str) -> Result<String, Problem> {
        read(path, CONFIG_LIMIT)
    }

    fn model_config(&self, path: &str) -> Result<String, Problem> {
        config_text(path)
    }

    fn is_file(&self, path: &str) -> bool {
        access::is_file(Path::new(path))
    }
}

/// Tests whether a path is a file that the caller may read.
pub fn is_file(path: &str) -> bool {
    access::is_file(Path::new(path))
}

/// Reads a text file, `-` being standard input. Compressed ones are inflated, up to the same limit.
pub fn read(path: &str, limit: u64) -> Result<String, Problem> {
    let tried = INSTEAD.with_borrow(|tried| {
        tried.as_ref().filter(|(instead, _)| instead == path).map(|(_, text)| text.clone())
    });
    if let Some(text) = tried {
        return Ok(text);
    }
    if let Some((file, name)) = part::split(path) {
        return Ok(part::choose(&read_once(file, limit)?, name));
    }
    if path != "-" {
        return read_once(path, limit);
    }
    if let Some(text) = STDIN.get() {
        return Ok(text.clone());
    }
    let text = read_once(path, limit)?;
    Ok(STDIN.get_or_init(|| text).clone())
}

/// Reads a file that need not be text, `-` being standard input. Compressed ones are inflated, up to the same
/// limit.
pub fn read_bytes(path: &str, limit: u64) -> Result<Vec<u8>, Problem> {
    if path == "-" {
        access::to_listen()?;
        bounded(std::io::stdin().lock(), limit, "standard input")
    } else {
        let name = access::to_read(Path::new(path))?;
        let name = name.as_path();
        let about = disk::metadata(name).map_err(|error| cannot(&error, path))?;
        if about.is_dir() {
            return Err(Problem::new("this is a directory, not a file").in_file(path).hint(inside(name)));
        }
        if about.is_file() && about.len() > limit {
            return Err(too_long(about.len(), limit, path));
        }
        let file = File::open(name).map_err(|error| cannot(&error, path))?;
        bounded(file, limit, path)
    }
}

fn read_once(path: &str, limit: u64) -> Result<String, Problem> {
    let bytes = read_bytes(path, limit)?;
    let label = if path == "-" { "standard input" } else { path };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let problem = Problem::new(format!("not a text file: byte {at} is not UTF-8")).in_file(label);
        if bytes.starts_with(&[0x1f, 0x8b]) {
            problem.hint("the file is compressed twice: decompress it once")
        } else if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            problem.hint("the file is UTF-16: save it as UTF-8")
        } else if bytes.contains(&0) {
            problem
        } else {
            problem.hint("save it as UTF-8")
        }
    })
}

/// Paths in a folder, in order.
pub fn files_in(path: &str) -> Result<Vec<String>, Problem> {
    let entries = disk::read_dir(access::to_read(Path::new(path))?).map_err(|error| cannot(&error, path))?;
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let folder = path.trim_end_matches('/');
    let mut paths: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    paths.sort_unstable();
    Ok(paths)
}

/// Creates a folder, unless it exists.
pub fn make_folder(path: &str) -> Result<(), Problem> {
    access::to_write(path)?;
    // Object stores have no folders.
    if remote::is_address(path) {
        return Ok(());
    }
    fs::create_dir_all(path)
        .map_err(|error| Problem::new(format!("cannot create the folder: {}", cause(&error))).in_file(path))
}

/// Writes a file.
pub fn write(path: &str, text: &str) -> Result<(), Problem> {
    write_with(path, |out| out.write_all(text.as_bytes()))
}

/// Writes a file piece by piece, as it is made.
pub fn write_with(
    path: &str,
    make: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Problem> {
    access::to_write(path)?;
    if remote::is_address(path) {
        let mut bytes = Vec::new();
        make(&mut bytes).map_err(|error| cannot_write(&error, path))?;
        return remote::write(path, bytes);
    }
    writing::replace(Path::new(path), make).map_err(|error| cannot_write(&error, path))
}

fn cannot_write(error: &std::io::Error, path: &str) -> Problem {
    let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
    let problem = Problem::new(format!("cannot write: {}", cause(error))).in_file(path);
    match parent {
        Some(parent) if !parent.exists() => {
            Problem::new(format!("cannot write: the folder `{}` does not exist", parent.display()))
                .in_file(path)
        }
        _ if Path::new(path).is_dir() => problem.hint("it is a folder: pass a file in it"),
        _ => problem,
    }
}

/// Reason why an existing file cannot be read to its end. Plain files never end too early or contain invalid
/// data: only packed ones do.
fn unread(error: &std::io::Error, label: &str) -> Problem {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput => {
            Problem::new(format!("cannot be decompressed: {error}"))
                .in_file(label)
                .hint("the compressed file is truncated or damaged: copy it again")
        }
        _ => cannot(error, label),
    }
}

/// The inflated bytes of a source. A longer source is an error before it is in memory.
fn bounded(source: impl Read, limit: u64, label: &str) -> Result<Vec<u8>, Problem> {
    if !FILES {
        return Err(no_readers(label));
    }
    let mut bytes = Vec::new();
    let inflated = Bounded::new(readers::open(source).map_err(|error| unread(&error, label))?);
    inflated.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unread(&error, label))?;
    if bytes.len() as u64 > limit { Err(too_long(bytes.len() as u64, limit, label)) } else { Ok(bytes) }
}

/// The error of a program without readers; a page asks the one with readers. Callers test `FILES` themselves,
/// so that the compiler drops what follows.
fn no_readers(label: &str) -> Problem {
    Problem::new("this program does not read files").in_file(label)
}

fn too_long(length: u64, limit: u64, path: &str) -> Problem {
    let size = |n: u64| human::bytes(Bytes::new(n as f64));
    Problem::new(format!("the file is too large: {} or more (limit: {})", size(length), size(limit)))
        .in_file(path)
}

/// The cause without the number that the operating system gives it.
fn cause(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "file not found".to_owned(),
        ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text);
            // A message is a fragment; units and names in it keep their letters.
            let mut letters = text.chars();
            letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        }
    }
}

/// The error of a path that cannot be read.
pub fn cannot(error: &std::io::Error, path: &str) -> Problem {
    // A failed request has its own place and hint.
    if let Some(problem) = error.get_ref().and_then(|inner| inner.downcast_ref::<Problem>()) {
        return problem.clone();
    }
    let problem = Problem::new(format!("cannot read: {}", cause(error))).in_file(path);
    let hint = if error.kind() == ErrorKind::NotFound { missing(Path::new(path)) } else { String::new() };
    if hint.is_empty() { problem } else { problem.hint(hint) }
}

/// Suggestions for a missing file; empty without one.
fn missing(path: &Path) -> String {
    if cfg!(target_family = "wasm") {
        return "drop the file on the web UI".to_owned();
    }
    if access::is_restricted() {
        return "drop the file on the web UI, or start the server with its path".to_owned();
    }
    if path.to_str().is_some_and(remote::is_address) {
        return "only traces, logs and digests are read from addresses: download the file".to_owned();
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("the folder `{}` does not exist either", folder.display());
    }
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let names = listing(folder);
    let near = nearest(&wanted, names.iter().map(String::as_str));
    if near.is_empty() {
        String::new()
    } else {
        let near: Vec<String> =
            near.iter().map(|name| format!("`{}`", folder.join(name).display())).collect();
        format!("did you mean {}?", either(&near))
    }
}

/// Names in a folder, sorted; limited to the number that a hint can use.
fn listing(folder: &Path) -> Vec<String> {
    let Ok(entries) = disk::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.take(5000).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Contents of a directory in place of a file.
fn inside(folder: &Path) -> String {
    let files: Vec<String> = listing(folder)
        .into_iter()
        .filter(|name| [".json", ".toml", ".csv"].iter().any(|suffix| name.ends_with(suffix)))
        .take(4)
        .map(|name| format!("`{name}`"))
        .collect();
    if files.is_empty() {
        "pass a file in it".to_owned()
    } else {
        format!("pass a file in it, such as {}", files.join(", "))
    }
}
