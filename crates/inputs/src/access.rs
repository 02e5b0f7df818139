//! Read access: unrestricted on the terminal, restricted for clients of the server.
//!
//! Responsible for: mapping an argument to the opened path. A server restricts the whole program to the paths
//! given at its start and to uploads, with symbolic links resolved before they are compared. It reads no
//! standard input and writes nothing. Does not reveal whether an inaccessible path exists.

use super::disk;
use railwright_spec::problem::Problem;
use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// Name of an uploaded file in an argument.
pub const UPLOAD: &str = "upload:";

/// Prefix of in-memory files of the web UI itself, separate from uploads.
#[cfg(target_family = "wasm")]
pub const PAGE: &str = "page";

/// The paths that may be read, if not all.
static ALLOWED: OnceLock<Allowed> = OnceLock::new();

#[derive(Debug)]
struct Allowed {
    /// Files and folders with their real paths, without links.
    roots: Vec<PathBuf>,
    uploads: PathBuf,
}

/// Restricts reading to `roots` and the paths below them, and to uploads, for the rest of the program's life.
pub fn restrict(roots: &[PathBuf], uploads: &Path) {
    let roots = roots.iter().filter_map(|root| disk::canonicalize(root).ok()).collect();
    let uploads = disk::canonicalize(uploads).unwrap_or_else(|_| uploads.to_owned());
    // A second restriction could only be an attempt to widen the first.
    let _ = ALLOWED.set(Allowed { roots, uploads });
}

/// Tests whether reading is restricted to given paths.
pub fn is_restricted() -> bool {
    ALLOWED.get().is_some()
}

/// The path to open for a given path.
pub fn to_read(path: &Path) -> Result<PathBuf, Problem> {
    match ALLOWED.get() {
        None => Ok(path.to_owned()),
        Some(allowed) => {
            let real = allowed.to_read(path);
            see(path, real.as_deref().ok());
            real
        }
    }
}

/// State of a path at the time of reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    path: PathBuf,
    state: Option<State>,
}

#[derive(Clone, Debug, PartialEq)]
struct State {
    real: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
}

/// A file that changed less than this before it was read may have changed again without a newer time.
const REST: Duration = Duration::from_secs(2);

thread_local! {
    /// Paths that a request has read so far, while recording is on. A request reads all its paths on its own thread.
    static NOTED: RefCell<Option<Vec<Seen>>> = const { RefCell::new(None) };
}

impl Seen {
    fn new(path: &Path, real: Option<&Path>) -> Self {
        let state = real.and_then(|real| {
            let about = disk::metadata(real).ok()?;
            Some(State { real: real.to_owned(), length: about.len(), changed: about.modified().ok() })
        });
        Self { path: path.to_owned(), state }
    }

    /// Tests whether the file is unchanged.
    pub fn is_still_so(&self) -> bool {
        let real = ALLOWED.get().and_then(|allowed| allowed.to_read(&self.path).ok());
        Self::new(&self.path, real.as_deref()) == *self
    }

    /// Tests whether any later change would be visible in the file's time stamp.
    fn is_at_rest(&self) -> bool {
        // Files in memory do not change, and WebAssembly has no clock.
        if cfg!(target_family = "wasm") {
            return true;
        }
        self.state.as_ref().is_none_or(|state| {
            let age = state.changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
            age.is_some_and(|age| age > REST)
        })
    }
}

fn see(path: &Path, real: Option<&Path>) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted
            && !noted.iter().rev().take(4).any(|seen| seen.path == path)
        {
            noted.push(Seen::new(path, real));
        }
    });
}

/// Starts recording the paths read on this thread.
pub fn note() {
    NOTED.set(Some(Vec::new()));
}

/// Ends the record: the accessed files, if none changed meanwhile; `None` without a record.
pub fn noted() -> Option<Vec<Seen>> {
    NOTED.take().filter(|noted| noted.iter().all(Seen::is_at_rest))
}

/// Continues recording with the paths recorded before and since; if either is lost, so is the whole.
pub fn note_all(before: Option<Vec<Seen>>, since: Option<&[Seen]>) {
    let whole = before.zip(since).map(|(mut before, since)| {
        before.extend_from_slice(since);
        before
    });
    NOTED.set(whole);
}

/// Records the paths read earlier for a cached value.
pub fn note_more(seen: &[Seen]) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted {
            noted.extend_from_slice(seen);
        }
    });
}

/// Returns an error for writing on requests through the server.
pub fn to_write(path: &str) -> Result<(), Problem> {
    if is_restricted() {
        return Err(Problem::new("the server writes no files").in_file(path));
    }
    Ok(())
}

/// Returns an error for standard input on requests through the server.
pub fn to_listen() -> Result<(), Problem> {
    if is_restricted() {
        return Err(Problem::new("the server has no standard input").in_file("-"));
    }
    Ok(())
}

/// Tests whether a path exists and may be read.
pub fn exists(path: &Path) -> bool {
    to_read(path).is_ok_and(|path| disk::exists(&path))
}

/// Tests whether a path is a folder that may be read.
pub fn is_folder(path: &Path) -> bool {
    to_read(path).is_ok_and(|path| disk::is_dir(&path))
}

/// Tests whether a path is a file that may be read.
pub fn is_file(path: &Path) -> bool {
    to_read(path).is_ok_and(|path| disk::is_file(&path))
}

impl Allowed {
    fn to_read(&self, path: &Path) -> Result<PathBuf, Problem> {
        let refused = || {
            let (problem, hint) = if cfg!(target_family = "wasm") {
                ("this file is not loaded", "drop the file on the web UI")
            } else {
                (
                    "this path was not passed at the start of the server",
                    "start it with the path, as in `railwright serve PATH`, or drop the file on the web UI",
                )
            };
            Problem::new(problem).in_file(path.display().to_string()).hint(hint)
        };
        let (place, root) = match path.to_str().and_then(|text| text.strip_prefix(UPLOAD)) {
            Some(name) => {
                let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
                if !plain || name.is_empty() {
                    return Err(refused());
                }
                (self.uploads.join(name), std::slice::from_ref(&self.uploads))
            }
            None => (path.to_owned(), self.roots.as_slice()),
        };
        let real = disk::canonicalize(&place).map_err(|_| refused())?;
        // Pipes and devices would block a request for ever.
        let about = disk::metadata(&real).map_err(|_| refused())?;
        if !(about.is_file() || about.is_dir()) || !root.iter().any(|root| real.starts_with(root)) {
            return Err(refused());
        }
        Ok(real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An accessible folder next to an inaccessible one, and the access rule.
    fn house(name: &str) -> (PathBuf, Allowed) {
        let top = std::env::temp_dir().join(format!("railwright-access-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        for folder in ["open/inner", "openly", "uploads/1", "uploads/2"] {
            fs::create_dir_all(top.join(folder)).expect("made");
        }
        for file in ["open/a.txt", "open/inner/b.txt", "openly/c.txt", "secret.txt", "uploads/1/d.json"] {
            fs::write(top.join(file), file).expect("written");
        }
        let top = top.canonicalize().expect("real");
        (top.clone(), Allowed { roots: vec![top.join("open")], uploads: top.join("uploads") })
    }

    #[test]
    fn only_what_was_given_is_read() {
        let (top, allowed) = house("given");
        let read = |path: &str| allowed.to_read(&top.join(path)).ok();
        assert_eq!(read("open/a.txt"), Some(top.join("open/a.txt")));
        assert_eq!(read("open/inner/b.txt"), Some(top.join("open/inner/b.txt")));
        assert_eq!(read("open"), Some(top.join("open")));
        assert_eq!(read("open/inner/../a.txt"), Some(top.join("open/a.txt")));
        for path in [
            "secret.txt",
            "openly/c.txt",
            "open/../secret.txt",
            "open/inner/../../secret.txt",
            "",
            "/etc/passwd",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        let refusal = |path: &str| allowed.to_read(&top.join(path)).expect_err("refused");
        let (there, not_there) = (refusal("secret.txt"), refusal("nothing.txt"));
        assert_eq!((there.message, there.hint), (not_there.message, not_there.hint), "it tells what exists");
        let _ = fs::remove_dir_all(top);
    }

    #[test]
    fn uploads_have_a_name_of_their_own() {
        let (top, allowed) = house("uploads");
        let read = |path: &str| allowed.to_read(Path::new(path)).ok();
        assert_eq!(read("upload:1/d.json"), Some(top.join("uploads/1/d.json")));
        assert_eq!(read("upload:1"), Some(top.join("uploads/1")));
        for path in [
            "upload:",
            "upload:/",
            "upload:..",
            "upload:1/../../secret.txt",
            "upload:../secret.txt",
            "upload:/etc/passwd",
            "upload:1/x",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        let _ = fs::remove_dir_all(top);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_they_are_judged() {
        let (top, allowed) = house("links");
        let link =
            |from: &str, to: &str| std::os::unix::fs::symlink(top.join(to), top.join(from)).expect("linked");
        link("open/out.txt", "secret.txt");
        link("open/away", "openly");
        link("open/round.txt", "open/inner/b.txt");
        link("uploads/2/out.json", "secret.txt");
        let read = |path: &str| allowed.to_read(&top.join(path)).ok();
        assert_eq!(read("open/out.txt"), None);
        assert_eq!(read("open/away/c.txt"), None);
        assert_eq!(read("open/round.txt"), Some(top.join("open/inner/b.txt")));
        assert_eq!(allowed.to_read(Path::new("upload:2/out.json")).ok(), None);
        let _ = fs::remove_dir_all(top);
    }
}
