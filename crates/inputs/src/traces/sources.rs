//! Expansion of a path: a file, a folder, a glob, or an archive.
//!
//! Responsible for: the list of streams to read, in natural order (`rank2` before `rank10`). Members of a
//! plain archive are separate streams, which can be read in parallel. Reads content only to detect archives.

use super::extent::{DEEPEST, MOST, natural};
use super::globs;
use crate::caller::Watched;
use crate::disk::{self, File};
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
use crate::tabular;
use crate::{Progress, access, cannot, missing, remote};
use railwright_profiler::readers::{self, Recording};
use railwright_spec::problem::Problem;
use rayon::prelude::*;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// One source to read.
#[derive(Clone, Debug)]
pub struct Stream {
    path: PathBuf,
    /// Object of the path, if it is an address.
    object: Option<remote::Object>,
    bytes: u64,
    named: bool,
    part: Part,
}

#[derive(Clone, Debug)]
enum Part {
    /// The whole file.
    Whole,
    /// A database, read in place.
    Database,
    /// A member of a plain archive: its name and first byte.
    Member { name: String, offset: u64 },
    /// All members of a compressed archive, one after another.
    Archive,
    /// A file of a folder, or an object, that could not be opened.
    Failed(Problem),
}

/// Reader of a stream with a label.
type Reading<'a> = &'a (dyn Fn(&str, &mut dyn Read) -> Result<Content, Problem> + Sync);

impl Stream {
    /// The file that contains it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on the disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if the user named it, false if it was found in a folder.
    pub(super) fn named(&self) -> bool {
        self.named
    }

    /// Label in errors.
    pub(super) fn label(&self) -> String {
        // Without the query of an address, which may be a signature.
        let place = match &self.object {
            Some(object) => object.shown(),
            None => self.path.display().to_string(),
        };
        match &self.part {
            Part::Member { name, .. } => format!("{place}/{name}"),
            _ => place,
        }
    }

    /// Tests whether it must be decompressed from its beginning to list its content.
    pub fn is_packed(&self) -> bool {
        matches!(self.part, Part::Archive)
    }

    /// The archive that contains it, or the path itself if it is one.
    pub fn archive(&self) -> Option<String> {
        matches!(self.part, Part::Member { .. } | Part::Archive)
            .then(|| remote::without_query(&self.path.display().to_string()).to_owned())
    }

    /// The first inflated bytes of every stream in it, with its name in errors; none for an unreadable one.
    pub fn heads(&self) -> Vec<(String, Vec<u8>)> {
        let head = |stream: &mut dyn Read| {
            let mut bytes = Vec::new();
            // A broken end keeps the bytes before it.
            if let Ok(mut stream) = readers::open(stream) {
                let _ = (&mut stream).take(HEAD).read_to_end(&mut bytes);
            }
            bytes
        };
        let Ok(mut file) = self.open() else { return Vec::new() };
        let label = self.label();
        match &self.part {
            Part::Whole | Part::Database => vec![(label, head(&mut file))],
            Part::Member { offset, .. } => match file.seek(SeekFrom::Start(*offset)) {
                Ok(_) => vec![(label, head(&mut file.take(self.bytes)))],
                Err(_) => Vec::new(),
            },
            Part::Archive => {
                let mut heads = Vec::new();
                each_member(&label, &mut file, &mut |name, member| {
                    if let Ok(member) = member {
                        heads.push((name.to_owned(), head(member)));
                    }
                });
                heads
            }
            Part::Failed(_) => Vec::new(),
        }
    }

    /// The last mebibyte of the file; for a member of a compressed archive, only its head is available.
    pub fn tail(&self, head: &[u8]) -> Vec<u8> {
        const TAIL: u64 = 1 << 20;
        let from = match &self.part {
            Part::Whole | Part::Database => 0,
            Part::Member { offset, .. } => *offset,
            Part::Archive | Part::Failed(_) => return head.to_owned(),
        };
        let mut bytes = Vec::new();
        if let Ok(mut file) = self.open()
            && file.seek(SeekFrom::Start(from + self.bytes.saturating_sub(TAIL))).is_ok()
        {
            let _ = file.take(self.bytes.min(TAIL)).read_to_end(&mut bytes);
        }
        bytes
    }

    /// Reads every stream in it.
    pub(super) fn each(&self, progress: &dyn Progress, read: Reading<'_>) -> Vec<Result<Content, Problem>> {
        let label = self.label();
        if let Part::Failed(problem) = &self.part {
            return vec![Err(problem.clone())];
        }
        let mut file = match self.open() {
            Ok(file) => file,
            Err(error) => return vec![Err(cannot(&error, &label))],
        };
        let failure = file.failure();
        // An unclosed database cannot be opened without write access; its bytes can.
        #[cfg(all(feature = "tables", not(target_family = "wasm")))]
        if matches!(self.part, Part::Database)
            && self.object.is_none()
            && let Ok(found) = tabular::read_file(&label, &self.path)
        {
            return vec![Ok(Content::Recordings(found))];
        }
        let results = match &self.part {
            Part::Whole | Part::Database => vec![read(&label, &mut Watched { stream: file, progress })],
            Part::Member { offset, .. } => match file.seek(SeekFrom::Start(*offset)) {
                Ok(_) => vec![read(&label, &mut Watched { stream: file.take(self.bytes), progress })],
                Err(error) => vec![Err(cannot(&error, &label))],
            },
            Part::Archive => members(&label, &mut Watched { stream: file, progress }, read),
            Part::Failed(_) => Vec::new(),
        };
        // A failed transfer is not a file that ends early: no part of it is reported.
        match failure.as_ref().and_then(remote::Failure::problem) {
            Some(problem) => vec![Err(problem.clone())],
            None => results,
        }
    }

    fn open(&self) -> std::io::Result<Opened> {
        open(&self.path, self.object.as_ref())
    }
}

/// A file on the disk, or an object at an address.
enum Opened {
    File(File),
    Object(remote::Reader),
}

impl Opened {
    /// Storage for the reason of an early end.
    fn failure(&self) -> Option<remote::Failure> {
        match self {
            Self::File(_) => None,
            Self::Object(object) => Some(object.failure()),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Object(object) => object.read(buffer),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => object.seek(to),
        }
    }
}

/// The members of a compressed archive, one after another; after a broken end the rest is lost.
fn members(label: &str, stream: &mut dyn Read, read: Reading<'_>) -> Vec<Result<Content, Problem>> {
    let mut results = Vec::new();
    each_member(label, stream, &mut |name, member| {
        results.push(match member {
            Ok(member) => read(name, member),
            Err(error) => Err(cannot(&error, label)),
        });
    });
    results
}

/// Member of an archive: its name, and its bytes or the reason why they are missing.
type Taking<'a> = dyn FnMut(&str, Result<&mut dyn Read, std::io::Error>) + 'a;

/// Passes on the members of a compressed archive, or the reason why it could not be read further.
fn each_member(label: &str, stream: &mut dyn Read, take: &mut Taking<'_>) {
    let mut archive = match readers::open(stream) {
        Ok(stream) => tar::Archive::new(stream),
        Err(error) => return take(label, Err(error)),
    };
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return take(label, Err(error)),
    };
    for entry in entries {
        match entry {
            Ok(mut entry) if entry.header().entry_type().is_file() => {
                let name = entry.path().map(|p| p.display().to_string()).unwrap_or_default();
                if !hidden(Path::new(&name)) {
                    take(&format!("{label}/{name}"), Ok(&mut entry));
                }
            }
            Ok(_) => {}
            Err(error) => return take(label, Err(error)),
        }
    }
}

/// Streams of a path. A file of a folder that cannot be opened is skipped.
pub fn of(path: &str) -> Result<Vec<Stream>, Problem> {
    if remote::is_address(path) {
        return of_address(path);
    }
    let named = Path::new(path);
    let files = if access::is_folder(named) {
        folder(named, 0)?
    } else if access::exists(named) || !globs::is_pattern(path) {
        access::to_read(named)?;
        return file(named, None, true).map_err(|error| cannot(&error, path));
    } else {
        let mut found = globs::find(path)?;
        sort(&mut found);
        if found.is_empty() {
            return Err(Problem::new("no file matches this pattern").in_file(path).hint(missing(named)));
        }
        let mut files = Vec::new();
        for path in found {
            if access::is_folder(&path) { files.extend(folder(&path, 0)?) } else { files.push(path) }
        }
        files
    };
    if files.is_empty() {
        return Err(Problem::new("the folder contains no files").in_file(path));
    }
    let streams = |path: &PathBuf| {
        file(path, None, false).unwrap_or_else(|error| {
            let part = Part::Failed(cannot(&error, &path.display().to_string()));
            vec![Stream { path: path.clone(), object: None, bytes: 0, named: false, part }]
        })
    };
    let all: Vec<Vec<Stream>> = files.par_iter().map(streams).collect();
    Ok(all.into_iter().flatten().collect())
}

/// Streams of an address. An object of a prefix that cannot be opened is skipped.
fn of_address(path: &str) -> Result<Vec<Stream>, Problem> {
    let (objects, is_one) = remote::find(path)?;
    let streams = |object: &remote::Object| {
        let path = PathBuf::from(object.address());
        let failed = |problem| Stream {
            path: path.clone(),
            object: Some(object.clone()),
            bytes: object.size(),
            named: is_one,
            part: Part::Failed(problem),
        };
        match file(&path, Some(object), is_one).map_err(|error| cannot(&error, &object.shown())) {
            Ok(streams) => Ok(streams),
            Err(problem) if is_one => Err(problem),
            Err(problem) => Ok(vec![failed(problem)]),
        }
    };
    // Most of the time is spent waiting for responses.
    let all: Vec<Vec<Stream>> = objects.par_iter().map(streams).collect::<Result<_, Problem>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// Tests whether a path is neither a file nor a folder, such as a pipe.
fn is_special(path: &Path) -> bool {
    access::exists(path) && !access::is_file(path) && !access::is_folder(path)
}

/// The files of a folder and of the folders in it, its own first.
fn folder(path: &Path, depth: u32) -> Result<Vec<PathBuf>, Problem> {
    let entries = disk::read_dir(access::to_read(path)?)
        .map_err(|error| cannot(&error, &path.display().to_string()))?;
    let mut all: Vec<PathBuf> = entries
        .flatten()
        .map(|e| path.join(e.file_name()))
        // Opening a pipe or a socket would wait for a writer.
        .filter(|p| !hidden(p) && access::to_read(p).is_ok() && !is_special(p))
        .take(MOST)
        .collect();
    sort(&mut all);
    let (folders, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| access::is_folder(p));
    let mut files = files;
    for path in folders.iter().filter(|_| depth < DEEPEST) {
        // A folder that may not be looked into costs itself.
        files.extend(folder(path, depth + 1).unwrap_or_default());
        files.truncate(MOST);
    }
    Ok(files)
}

/// Opens a file that may be read, or an object.
fn open(path: &Path, object: Option<&remote::Object>) -> std::io::Result<Opened> {
    if let Some(object) = object {
        return object.open().map(Opened::Object).map_err(std::io::Error::other);
    }
    let path = access::to_read(path).map_err(|problem| std::io::Error::other(problem.message))?;
    File::open(path).map(Opened::File)
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// A file or an object as one stream, or an archive as its members.
fn file(path: &Path, object: Option<&remote::Object>, named: bool) -> std::io::Result<Vec<Stream>> {
    let mut file = open(path, object)?;
    let bytes = match &file {
        Opened::File(file) => file.metadata()?.len(),
        Opened::Object(_) => object.map_or(0, remote::Object::size),
    };
    let whole = |part| Stream { path: path.to_owned(), object: object.cloned(), bytes, named, part };
    let mut head = [0; 512];
    let filled = fill(&mut file, &mut head)?;
    // A saved profile is an archive too, but its members are not self-contained.
    #[cfg(all(feature = "tables", not(target_family = "wasm")))]
    if tabular::is_store(&head[..filled]) {
        return Ok(vec![whole(Part::Whole)]);
    }
    if head[..filled].starts_with(b"SQLite format 3\0") {
        return Ok(vec![whole(Part::Database)]);
    }
    if is_archive(&head[..filled]) {
        file.rewind()?;
        return Ok(index(file, path, object).unwrap_or_else(|| vec![whole(Part::Archive)]));
    }
    // A compressed archive shows itself only when inflated.
    file.rewind()?;
    let mut inner = [0; 512];
    let compressed = head.starts_with(&[0x1f, 0x8b]) || head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let inflated = if compressed {
        readers::open(&mut file).and_then(|mut s| fill(&mut s, &mut inner)).unwrap_or(0)
    } else {
        0
    };
    Ok(vec![whole(if is_archive(&inner[..inflated]) { Part::Archive } else { Part::Whole })])
}

fn fill(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if is_end(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn is_archive(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The members of a plain archive; `None` if its index is broken, so that it is read from the front as far as
/// possible.
fn index(file: Opened, path: &Path, object: Option<&remote::Object>) -> Option<Vec<Stream>> {
    let mut archive = tar::Archive::new(file);
    let mut members = Vec::new();
    for entry in archive.entries_with_seek().ok()?.take(MOST) {
        let entry = entry.ok()?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path().ok()?.display().to_string();
        if hidden(Path::new(&name)) {
            continue;
        }
        let part = Part::Member { name, offset: entry.raw_file_position() };
        // Members are not given by name, and archives may contain other files.
        members.push(Stream {
            path: path.to_owned(),
            object: object.cloned(),
            bytes: entry.size(),
            named: false,
            part,
        });
    }
    Some(members)
}

/// Sorts by name, with numbers by their value.
fn sort(paths: &mut [PathBuf]) {
    paths.sort_by_cached_key(|path| natural(&path.display().to_string()));
}

/// Contents of one stream.
pub(super) enum Content {
    /// Recording.
    Recordings(Vec<Recording>),
    /// Metadata of traces in the same folder.
    Companion { label: String, bytes: Vec<u8> },
    /// A member of an archive that belongs to another job.
    OfAnother,
    /// A file that describes a run, with its kind in words.
    Description(&'static str),
}

/// Number of bytes for format detection.
pub(super) const HEAD: u64 = 1 << 16;

/// Tests whether an error means the end of the readable data.
fn is_end(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof)
}
