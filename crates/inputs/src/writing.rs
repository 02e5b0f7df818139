//! Atomic writing of all output files.
//!
//! Responsible for: a temporary file in the same folder, synced before it replaces the old one, so that
//! readers always find one complete file; and its removal if the program is stopped. Outputs other than plain
//! files (a pipe, a terminal, `/dev/stdout`) are written directly.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Files being written, to be removed if the program ends early.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Work before the first file, such as a handler of Ctrl-C that removes unfinished files.
static BEFORE: OnceLock<fn()> = OnceLock::new();
/// Numbers the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);
/// Prefix of unfinished files.
const START: &str = ".railwright-";
/// Maximum number of names checked for files of killed processes.
const MOST_NAMES: usize = 10_000;
/// Number of files above which a folder is listed once.
const FEW: usize = 256;
/// Names of unfinished files of folders with many files, by folder, when they were listed.
static LARGE: Mutex<BTreeMap<PathBuf, Vec<String>>> = Mutex::new(BTreeMap::new());
/// Maximum number of followed links.
const LINKS: usize = 16;

/// Sets work to run before a file is written.
pub fn prepare_with(work: fn()) {
    // The first one stays.
    let _ = BEFORE.set(work);
}

/// Removes partly written files.
pub fn remove_unfinished() {
    // The list stays valid if a thread panicked while it held the lock.
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Writes a complete file; the old one stays until the new one is on the disk.
pub(super) fn replace(path: &Path, make: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link in `/dev` or `/proc` may lead to a pipe, which has no path.
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return through(OpenOptions::new().write(true).open(path)?, make);
    }
    let target = linked(path);
    let old = match fs::metadata(&target) {
        Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A pipe or a device has only the content written to it.
        Ok(about) if !about.is_file() => return through(OpenOptions::new().write(true).open(&target)?, make),
        Ok(about) => Some(about),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // Permissions of the folder would allow to replace a file that is protected itself.
    if let Some(about) = &old
        && about.permissions().readonly()
    {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut unfinished = Unfinished::next_to(&target)?;
    through(&mut unfinished.file, make)?;
    unfinished.file.sync_all()?;
    if let Some(about) = old {
        // A file system without modes keeps none.
        let _ = fs::set_permissions(&unfinished.path, about.permissions());
    }
    unfinished.take_the_place_of(&target)
}

fn through<W: Write>(file: W, make: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    make(&mut file)?;
    file.flush()
}

/// The target of links: it is replaced, and the links stay.
fn linked(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    path
}

/// A temporary file next to its target, removed unless it replaces the target.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn next_to(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(prepare) = BEFORE.get() {
            prepare();
        }
        let end = format!("-{}.tmp", name.to_string_lossy().chars().take(64).collect::<String>());
        remove_abandoned(target, &end);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        // Hidden, and short enough for any name.
        let path = target.with_file_name(format!("{START}{}-{number}{end}", std::process::id()));
        // Registered first: the program may be stopped between making it and remembering it.
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => {
                forget(&path);
                Err(error)
            }
        }
    }

    fn take_the_place_of(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        forget(&self.path);
        // The name is on the disk with its folder; not every system can write a folder.
        if let Some(folder) = target.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if forget(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes temporary files of this target left by killed processes, if the system lists processes.
fn remove_abandoned(target: &Path, end: &str) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for name in unfinished_in(folder) {
        let inner = name.strip_prefix(START).and_then(|rest| rest.strip_suffix(end));
        let process = inner.and_then(|inner| inner.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            let _ = fs::remove_file(folder.join(&name));
        }
    }
}

/// Names of temporary files in a folder. A folder with more than [`FEW`] files is listed once: with one
/// listing for each of thousands of files, the time grows with their square.
fn unfinished_in(folder: &Path) -> Vec<String> {
    if let Some(known) = LARGE.lock().unwrap_or_else(PoisonError::into_inner).get(folder) {
        return known.clone();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut count = 0;
    let names = entries.take(MOST_NAMES).flatten().inspect(|_| count += 1);
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let unfinished: Vec<String> = names.filter(|name| name.starts_with(START)).collect();
    if count > FEW {
        let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        large.insert(folder.to_owned(), unfinished.clone());
    }
    unfinished
}

/// Removes a file from the list of unfinished ones; true if it was there.
fn forget(path: &Path) -> bool {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = unfinished.iter().position(|known| known == path);
    at.map(|at| unfinished.swap_remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("railwright-writing-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("made");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let folder = folder("whole");
        let path = folder.join("a.json");
        fs::write(&path, "old").expect("written");
        let broken = replace(&path, |out| {
            out.write_all(&vec![b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(broken.expect_err("full").kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).expect("whole"), "old");
        assert_eq!(names(&folder), ["a.json"]);
        // Process numbers are far below this one.
        fs::write(folder.join(".railwright-4294967295-0-a.json.tmp"), "half").expect("written");
        replace(&path, |out| out.write_all(b"new")).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("whole"), "new");
        assert!(replace(&folder.join("no/such.json"), |_| Ok(())).is_err());
        assert!(replace(&folder, |_| Ok(())).is_err());
        assert_eq!(names(&folder), ["a.json"]);
        let _ = fs::remove_dir_all(&folder);
    }

    /// Thousands of digests go into one folder.
    #[test]
    fn a_folder_of_many_files_is_listed_once() {
        let folder = folder("many");
        for number in 0..=FEW {
            fs::write(folder.join(number.to_string()), "").expect("written");
        }
        let abandoned = folder.join(".railwright-4294967295-0-a.json.tmp");
        fs::write(&abandoned, "half").expect("written");
        replace(&folder.join("a.json"), |out| out.write_all(b"new")).expect("written");
        assert!(!abandoned.exists());
        fs::write(&abandoned, "half").expect("written");
        replace(&folder.join("a.json"), |out| out.write_all(b"newer")).expect("written");
        assert!(!abandoned.exists(), "its name is known from the first list");
        let other = folder.join(".railwright-4294967295-1-a.json.tmp");
        fs::write(&other, "half").expect("written");
        replace(&folder.join("a.json"), |out| out.write_all(b"newest")).expect("written");
        assert!(other.exists(), "no second list");
        let _ = fs::remove_dir_all(&folder);
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_stay_what_they_are() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder("modes");
        let (file, link) = (folder.join("real"), folder.join("link"));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink("real", &link).expect("linked");
        replace(&link, |out| out.write_all(b"new")).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("whole"), "new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        replace(Path::new("/dev/null"), |out| out.write_all(b"gone")).expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).expect("set");
        let kept = replace(&file, |out| out.write_all(b"newer")).expect_err("protected");
        assert_eq!(kept.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(names(&folder), ["link", "real"]);
        let _ = fs::remove_dir_all(&folder);
    }
}
