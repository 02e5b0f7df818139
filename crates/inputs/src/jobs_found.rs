//! Jobs in the folders passed to the server.
//!
//! Responsible for: bounds on folders, files and heads, so that folders of any size are listed quickly; jobs
//! are those of [`jobs`], so that the list agrees with the commands. Does not follow links out of the
//! folders, read traces or unpack archives.

use super::kept::Kept;
use super::traces::sources::{self, Stream};
use super::{access, disk, jobs, tabular};
use railwright_profiler::job::Found;
use railwright_profiler::readers;
use railwright_spec::problem::Problem;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Maximum depth of folders.
const DEPTH: usize = 6;
/// Files and folders that are looked at, at most.
const ENTRIES: usize = 20_000;
/// Maximum number of files whose heads are read.
const HEADS: usize = 8_192;
/// Maximum number of listed jobs.
const JOBS: usize = 2_000;
/// Maximum number of paths that represent a job that is not a whole folder.
const PATHS: usize = 8_192;

/// Result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobList {
    /// Jobs, by folder and name.
    pub jobs: Vec<Job>,
    /// True if the list is truncated.
    pub more: bool,
}

/// Files of one job, according to their headers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// Title: its path below the given one.
    pub name: String,
    /// The folder that contains it.
    pub folder: String,
    /// Paths for the commands that read it.
    pub paths: Vec<String>,
    /// The format, by its reader's name.
    pub format: String,
    /// Number of recorded ranks, if known.
    pub ranks: Option<u32>,
    /// World size recorded by the job.
    pub world_size: Option<u32>,
    /// Number of files.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

/// Lists the jobs of files and folders in `given`, with their given names.
pub fn list(given: &[String]) -> JobList {
    if !super::FILES {
        return JobList::default();
    }
    let mut look = Look { entries: ENTRIES, more: false };
    let mut files = Vec::new();
    for path in given {
        let root = PathBuf::from(path);
        if access::is_folder(&root) {
            look.folder(&root, 0, &mut files);
        } else {
            files.push(root);
        }
    }
    look.more |= files.len() > HEADS;
    files.truncate(HEADS);
    // Heads of unchanged files are read once.
    let key = (given.to_vec(), files);
    let serves = |of: &Listed, _: &JobList| *of == key;
    let make = || -> Result<_, Problem> { Ok((of_files(&key.1, given, look.more), Some(1 << 20))) };
    LISTED.or_make(&key, serves, || Ok(()), make).map(|list| list.as_ref().clone()).unwrap_or_default()
}

/// Given paths, and the files below them.
type Listed = (Vec<String>, Vec<PathBuf>);

static LISTED: Kept<Listed, JobList> = Kept::new(4, 64);

/// The jobs of files, from their heads.
fn of_files(files: &[PathBuf], given: &[String], more: bool) -> JobList {
    let (packed, streams): (Vec<Stream>, Vec<Stream>) = files
        .iter()
        .flat_map(|path| sources::of(&path.display().to_string()).unwrap_or_default())
        .partition(Stream::is_packed);
    let found = jobs::part(&streams).jobs;
    let mut jobs: Vec<Job> = found.iter().map(|job| of(job, given)).map(snapshot_or_same).collect();
    jobs.extend(packed.iter().map(|stream| archive(stream, given)));
    jobs.sort_by(|a, b| (&a.folder, &a.name, &a.format).cmp(&(&b.folder, &b.name, &b.format)));
    jobs.dedup();
    let more = more || jobs.len() > JOBS || jobs.iter().any(|job| job.paths.len() > PATHS);
    jobs.truncate(JOBS);
    for job in &mut jobs {
        job.paths.truncate(PATHS);
    }
    JobList { jobs, more }
}

/// Remaining budget of the search.
struct Look {
    entries: usize,
    more: bool,
}

impl Look {
    /// The files of a folder and of its folders.
    fn folder(&mut self, folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
        let Ok(real) = access::to_read(folder) else { return };
        let Ok(entries) = disk::read_dir(real) else { return };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            if self.entries == 0 {
                self.more = true;
                break;
            }
            self.entries -= 1;
            let path = folder.join(entry.file_name());
            // Documents may quote the reports of a log.
            let is_document = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
            if !entry.file_name().to_string_lossy().starts_with('.') && !is_document {
                names.push(path);
            }
        }
        names.sort();
        let (folders, inner): (Vec<_>, Vec<_>) = names.into_iter().partition(|path| access::is_folder(path));
        files.extend(inner.into_iter().filter(|path| access::is_file(path)));
        for inner in folders {
            if depth + 1 >= DEPTH {
                self.more = true;
                return;
            }
            self.folder(&inner, depth + 1, files);
        }
    }
}

fn of(job: &Found, given: &[String]) -> Job {
    // Members of an archive are opened with the whole archive, which then lists the others.
    let path = if job.path.is_empty() { job.paths.first().map_or("", String::as_str) } else { &job.path };
    let is_folder = job.paths.len() == 1 && access::is_folder(Path::new(&job.paths[0]));
    let folder = if is_folder { job.paths[0].clone() } else { above(path) };
    let name = if job.path.is_empty() {
        format!("{}: {}", within(&folder, given), job.name)
    } else {
        within(path, given)
    };
    Job {
        name,
        folder,
        paths: job.paths.clone(),
        format: job.format.clone(),
        ranks: job.ranks,
        world_size: job.world_size,
        files: job.files,
        bytes: job.bytes,
    }
}

/// A memory snapshot is a pickle like a flight record, and has no ranks.
fn snapshot_or_same(job: Job) -> Job {
    let [path] = job.paths.as_slice() else { return job };
    let is_snapshot = job.files == 1
        && job.format == "flight record"
        && head(path).is_some_and(|head| railwright_profiler::snapshot::is_snapshot(&head));
    if is_snapshot {
        Job { format: "memory snapshot".to_owned(), ranks: None, world_size: None, ..job }
    } else {
        job
    }
}

/// The first bytes of a file that may be read.
fn head(path: &str) -> Option<Vec<u8>> {
    let streams = sources::of(path).ok()?;
    Some(streams.first().filter(|stream| !stream.is_packed())?.heads().pop()?.1)
}

fn archive(stream: &Stream, given: &[String]) -> Job {
    let path = stream.archive().unwrap_or_default();
    Job {
        name: within(&path, given),
        folder: above(&path),
        paths: vec![path],
        format: "archive".to_owned(),
        ranks: None,
        world_size: None,
        files: 1,
        bytes: stream.bytes(),
    }
}

/// The folder of a path.
fn above(path: &str) -> String {
    Path::new(path).parent().map(|folder| folder.display().to_string()).unwrap_or_default()
}

/// A path relative to the given one, or its last name if both are the same.
fn within(path: &str, given: &[String]) -> String {
    let path = Path::new(path);
    let place = given
        .iter()
        .filter_map(|root| path.strip_prefix(root).ok())
        .min_by_key(|place| place.as_os_str().len());
    let place = place.filter(|place| *place != Path::new(""));
    let name = || path.file_name().map(PathBuf::from).unwrap_or_default();
    place.map_or_else(name, Path::to_owned).display().to_string()
}

/// The format of a readable file; `None` if no reader of records recognizes it.
pub fn format(path: &str) -> Option<&'static str> {
    super::FILES.then_some(())?;
    let head = head(path)?;
    let reader = tabular::detect(&head).or_else(|| readers::detect(&head))?;
    Some(reader.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fixtures() -> String {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces").to_owned()
    }

    #[test]
    fn memory_snapshots_are_no_flight_records() {
        let jobs_found =
            list(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/memory_snapshot").to_owned()]);
        let [job] = jobs_found.jobs.as_slice() else { panic!("{jobs_found:?}") };
        assert_eq!(
            (job.name.as_str(), job.format.as_str(), job.ranks),
            ("training.pickle", "memory snapshot", None)
        );
    }

    #[test]
    fn jobs_are_found_below_a_folder() {
        let jobs_found = list(&[fixtures()]);
        assert!(!jobs_found.more);
        let named = |name: &str| jobs_found.jobs.iter().find(|job| job.name == name);
        let dlrm = named("param_dlrm_8r").expect("a job");
        assert_eq!(
            (dlrm.files, dlrm.format.as_str(), dlrm.ranks, dlrm.paths.len()),
            (8, "PyTorch profiler", Some(8), 1)
        );
        assert!(dlrm.paths[0].ends_with("param_dlrm_8r") && dlrm.bytes > 400_000, "{dlrm:?}");
        // A folder with two kinds of records is two jobs, each by its files.
        let of_gloo =
            || jobs_found.jobs.iter().filter(|job| job.folder.ends_with("generated_torch215_gloo_pp2dp2"));
        assert!(of_gloo().any(|job| job.format == "flight record"));
        let traces = of_gloo().find(|job| job.format == "PyTorch profiler").expect("a job");
        assert_eq!((traces.files, traces.ranks, traces.paths.len()), (4, Some(4), 4));
        // Nested folders, by their path.
        assert!(named("torchrec_v100_4r/resnet18").is_some());
        assert!(
            jobs_found
                .jobs
                .iter()
                .all(|job| job.files > 0 && !job.name.contains(".csv") && !job.name.contains(".png"))
        );
        // A document beside logs quotes their reports.
        let logs = list(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/logs").to_owned()]);
        assert!(logs.jobs.len() > 4 && logs.jobs.iter().all(|job| !job.name.contains("README")));
        let one = list(&[format!("{}/logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz", fixtures())]);
        assert_eq!(one.jobs.len(), 1);
        assert_eq!((one.jobs[0].format.as_str(), one.jobs[0].files), ("training log", 1));
    }

    #[test]
    fn a_list_of_jobs_of_any_size_is_bounded() {
        let top = std::env::temp_dir().join(format!("railwright-shelf-{}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        let mut deep = top.clone();
        for _ in 0..DEPTH + 2 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).expect("made");
        let trace = r#"{"schemaVersion": 1, "traceEvents": []}"#;
        fs::write(deep.join("rank0.json"), trace).expect("written");
        for job in 0..JOBS + 5 {
            let folder = top.join(format!("run{job}"));
            fs::create_dir_all(&folder).expect("made");
            fs::write(folder.join("rank0.json"), trace).expect("written");
        }
        let jobs_found = list(&[top.display().to_string()]);
        assert_eq!((jobs_found.jobs.len(), jobs_found.more), (JOBS, true));
        let _ = fs::remove_dir_all(&top);
    }
}
