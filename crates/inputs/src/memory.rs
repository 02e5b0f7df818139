//! Files in memory, for a program in a browser: the files dropped on the web UI.
//!
//! Responsible for: the calls of `std::fs` that readers use, on a table of paths and bytes. A folder exists
//! if a file is below it. Does not write: files only come from the web UI.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// All files.
static FILES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<[u8]>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

/// Stores a file at a path, replacing any previous one.
pub fn put(path: PathBuf, bytes: Vec<u8>) {
    files().insert(path, bytes.into());
}

/// The bytes of a file.
pub fn whole(path: &Path) -> Option<Arc<[u8]>> {
    files().get(path).cloned()
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct File(Cursor<Arc<[u8]>>);

impl File {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        whole(path.as_ref()).map(|bytes| Self(Cursor::new(bytes))).ok_or_else(missing)
    }

    /// Its kind and length.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of `std::fs::File`")]
    pub fn metadata(&self) -> io::Result<About> {
        Ok(About { length: Some(self.0.get_ref().len() as u64) })
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Kind and length of a path.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The length of a file; `None` for folders.
    length: Option<u64>,
}

impl About {
    /// Tests whether it is a file.
    pub fn is_file(self) -> bool {
        self.length.is_some()
    }

    /// Tests whether it is a folder.
    pub fn is_dir(self) -> bool {
        self.length.is_none()
    }

    /// Time of modification: constant, because the web UI gives every file a separate path.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the signature of `std::fs::Metadata`")]
    pub fn modified(self) -> io::Result<SystemTime> {
        Ok(SystemTime::UNIX_EPOCH)
    }

    /// Bytes of the file.
    pub fn len(self) -> u64 {
        self.length.unwrap_or_default()
    }
}

/// Kind and length of a path.
pub fn metadata(path: impl AsRef<Path>) -> io::Result<About> {
    let path = path.as_ref();
    let files = files();
    if let Some(bytes) = files.get(path) {
        return Ok(About { length: Some(bytes.len() as u64) });
    }
    let is_folder = files.keys().any(|file| file.starts_with(path));
    if is_folder { Ok(About { length: None }) } else { Err(missing()) }
}

/// The path itself, if it exists: there are no links in memory.
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    metadata(&path).map(|_| path.as_ref().to_owned())
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub struct Entry(OsString);

impl Entry {
    /// The name.
    pub fn file_name(&self) -> OsString {
        self.0.clone()
    }
}

/// The names in a folder, in order.
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<impl Iterator<Item = io::Result<Entry>>> {
    let path = path.as_ref();
    if !metadata(path)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    let below = |file: &PathBuf| Some(file.strip_prefix(path).ok()?.iter().next()?.to_owned());
    let names: BTreeSet<OsString> = files().keys().filter_map(below).collect();
    Ok(names.into_iter().map(|name| Ok(Entry(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_make_their_folders() {
        put("memory-test/1/a.json".into(), b"first".to_vec());
        put("memory-test/1/b/c.json".into(), b"{}".to_vec());
        put("memory-test/1/a.json".into(), b"second".to_vec());
        let mut text = String::new();
        let mut file = File::open("memory-test/1/a.json").expect("there");
        assert_eq!(file.metadata().expect("a file").len(), 6);
        file.seek(SeekFrom::Start(3)).expect("inside");
        file.read_to_string(&mut text).expect("text");
        assert_eq!(text, "ond");
        let names = read_dir("memory-test/1").expect("a folder").flatten();
        assert_eq!(names.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["a.json", "b"]);
        assert!(metadata("memory-test/1/b").expect("there").is_dir());
        assert!(metadata("memory-test/1/a.json").expect("there").is_file());
        assert_eq!(metadata("memory-test/2").expect_err("not there").kind(), ErrorKind::NotFound);
        assert!(read_dir("memory-test/1/a.json").is_err() && File::open("memory-test/1").is_err());
        assert_eq!(canonicalize("memory-test/1").expect("a folder"), Path::new("memory-test/1"));
        let changed = metadata("memory-test/1/a.json").and_then(About::modified);
        assert_eq!(changed.expect("a time"), SystemTime::UNIX_EPOCH);
        assert_eq!(whole(Path::new("memory-test/1/b/c.json")).as_deref(), Some(b"{}".as_slice()));
    }
}
