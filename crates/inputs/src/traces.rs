//! Traces from the disk: files, folders, globs and archives to recordings, on all cores.
//!
//! Responsible for: the selected files ([`sources`]), reading them concurrently, and the progress bar. An
//! unreadable file does not affect others. Only a window of each file is in memory while it is read; memory
//! is bounded by the recordings kept.

pub mod extent;
pub mod globs;
pub mod kept;
mod loaded;
pub mod sources;

use super::jobs::{self, Wanted};
use super::{cannot, launch_files, tabular};
use crate::Caller;
use crate::limits::Bounded;
pub use loaded::Loaded;
use railwright_launch::Format;
use railwright_profiler::job::skeleton;
use railwright_profiler::readers::{self, Keep};
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
use railwright_profiler::trace::Source;
use railwright_spec::problem::Problem;
use rayon::prelude::*;
use sources::{Content, HEAD, Stream};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const BAR: &str = "reading {bar:30} {percent}% {decimal_bytes_per_sec}, {eta} left";

/// The files of the job that `paths` name, before they are read.
pub struct Selected<'a> {
    paths: &'a [String],
    streams: Vec<Stream>,
    left_out: BTreeSet<String>,
    problems: Vec<Problem>,
    /// Label of each in errors.
    pub labels: Vec<String>,
}

/// Reads the job of the given `paths`: files, folders, globs, archives. Fails if none of it can be read, or
/// if there are several jobs.
pub fn load(paths: &[String], wanted: Wanted, keep: Keep, printer: &dyn Caller) -> Result<Loaded, Problem> {
    select(paths, wanted, printer)?.load(keep, printer)
}

/// The files of the job that `paths` name. Fails when they are several jobs.
pub fn select<'a>(
    paths: &'a [String],
    wanted: Wanted,
    printer: &dyn Caller,
) -> Result<Selected<'a>, Problem> {
    let found = kept::or_find(paths, printer, || {
        let (mut problems, mut streams) = (Vec::new(), Vec::new());
        for path in paths {
            match sources::of(path) {
                Ok(found) => streams.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        let parted = jobs::part(&streams);
        kept::Found { streams, problems, parted }
    })?;
    let left_out = jobs::left_out(&found.parted, wanted, paths, printer)?;
    let (labels, streams) = found
        .streams
        .iter()
        .map(|stream| (stream.label(), stream.clone()))
        .filter(|(label, _)| !left_out.contains(label))
        .unzip();
    Ok(Selected { paths, streams, left_out, problems: found.problems.clone(), labels })
}

impl Selected<'_> {
    /// Bytes on the disk.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(Stream::bytes).sum()
    }

    /// Reads them.
    pub fn load(&self, keep: Keep, printer: &dyn Caller) -> Result<Loaded, Problem> {
        let read = || {
            let loaded =
                load_now(self.paths, &self.streams, &self.left_out, self.problems.clone(), keep, printer)?;
            Ok((loaded, self.bytes()))
        };
        kept::or_read(&self.labels, keep, printer, read)
    }
}

/// Reads streams from the disk.
fn load_now(
    paths: &[String],
    sources: &[Stream],
    left_out: &BTreeSet<String>,
    mut problems: Vec<Problem>,
    keep: Keep,
    printer: &dyn Caller,
) -> Result<Loaded, Problem> {
    let bytes = sources.iter().map(Stream::bytes).sum();
    let progress = printer.progress(BAR, "reading", bytes);
    let (all, done) = (sources.len(), AtomicUsize::new(0));
    let files = |done: usize| format!("reading: {done} of {all} files");
    if all > 1 {
        progress.advance_to(0, &|| Some(files(0)));
    }
    // Each job is one file or one member; collecting keeps the order of the paths regardless of the order of
    // completion.
    let read: Vec<Vec<Result<Content, Problem>>> = sources
        .par_iter()
        .with_max_len(1)
        .map(|source| {
            if printer.is_quiet() {
                return Vec::new();
            }
            let read = source.each(progress.as_ref(), &|label, stream| {
                // A member of an archive that is read as a whole.
                if left_out.contains(label) { Ok(Content::OfAnother) } else { read(label, stream, keep) }
            });
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if all > 1 {
                progress.advance_to(0, &|| Some(files(done)));
            }
            read
        })
        .collect();
    progress.advance_to(0, &|| Some("analysing".to_owned()));
    progress.finish();
    if printer.is_quiet() {
        return Err(Problem::new("stopped while reading traces"));
    }
    let mut loaded = Loaded::default();
    let (mut strange, mut companions, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for (source, results) in sources.iter().zip(read) {
        for result in results {
            let result = match result {
                Ok(Content::Companion { label, bytes }) => {
                    companions.push((label, bytes));
                    continue;
                }
                Ok(Content::OfAnother) => continue,
                Ok(Content::Description(kind)) if source.named() => Err(misplaced(&source.label(), kind)),
                Ok(Content::Description(_)) => Ok(Vec::new()),
                Ok(Content::Recordings(recordings)) => Ok(recordings),
                Err(problem) => Err(problem),
            };
            match result {
                // A folder may contain other files: unknown ones are ignored unless named like a trace.
                Ok(recordings) if recordings.is_empty() && !source.named() => {
                    if called_trace(&source.label()) {
                        strange.push(unknown(&source.label()));
                    } else {
                        others.push(source.label());
                    }
                }
                Ok(recordings) if recordings.is_empty() => {
                    loaded.files += 1;
                    problems.push(unknown(&source.label()));
                }
                Ok(recordings) => {
                    loaded.files += 1;
                    names.insert(skeleton(&source.label()));
                    loaded.recordings.extend(recordings);
                }
                Err(problem) => {
                    loaded.files += 1;
                    problems.push(problem);
                }
            }
        }
    }
    if loaded.recordings.is_empty() {
        let nothing = || {
            Problem::new("no trace found")
                .in_file(paths.join(" "))
                .hint("pass files, folders, globs or archives with traces")
        };
        return Err(problems.into_iter().next().unwrap_or_else(nothing));
    }
    // Unread files with a name like those of the read traces are reported.
    strange
        .extend(others.iter().filter(|label| names.contains(&skeleton(label))).map(|label| unknown(label)));
    problems.extend(strange);
    #[cfg(all(feature = "tables", not(target_family = "wasm")))]
    problems.extend(companions.iter().filter_map(|(label, bytes)| describe(&mut loaded, label, bytes).err()));
    loaded.problems = problems;
    Ok(loaded)
}

/// The folder of a label.
fn folder_of(label: &str) -> &str {
    label.rfind(['/', '\\']).map_or("", |at| &label[..at])
}

#[cfg(all(feature = "tables", not(target_family = "wasm")))]
/// Passes a file's information about its neighbours to the traces in the same folder.
fn describe(loaded: &mut Loaded, label: &str, bytes: &[u8]) -> Result<(), Problem> {
    for recording in &mut loaded.recordings {
        if let readers::Recording::Rank(trace) = recording
            && trace.identity.source == Source::NsightSystems
            && folder_of(&trace.identity.label) == folder_of(label)
        {
            tabular::describe(trace, label, bytes)?;
        }
    }
    Ok(())
}

/// Tests whether a file name is that of PyTorch's profiler, or of a rank's trace.
fn called_trace(label: &str) -> bool {
    let name = label.rsplit(['/', '\\']).next().unwrap_or(label);
    let plain = Path::new(name.trim_end_matches(".gz").trim_end_matches(".zst"));
    plain.extension().is_some_and(|suffix| suffix == "json")
        && ["trace", "rank", "worker"].iter().any(|word| name.contains(word))
}

/// The problem of a format that is known but not read: the JSON of rocprofv3, whose database has the same
/// rows.
fn unread(head: &[u8]) -> Option<Problem> {
    let text = head.utf8_chunks().next()?.valid().trim_start();
    text.strip_prefix('{')?.trim_start().strip_prefix("\"rocprofiler-sdk-tool\"")?;
    let problem = Problem::new("JSON of rocprofv3 is not supported");
    Some(problem.hint("record with `rocprofv3 --output-format rocpd`, and pass the database (`.db`)"))
}

fn unknown(label: &str) -> Problem {
    Problem::new("unknown format").in_file(label).hint(format!(
        "use a file in one of these formats: {}",
        tabular::readers().iter().chain(readers::all()).map(|r| r.name()).collect::<Vec<_>>().join(", ")
    ))
}

/// The kind of a file that describes a run or a network, by its start.
fn description(head: &[u8]) -> Option<&'static str> {
    // The last character may be cut.
    let text = head.utf8_chunks().next()?.valid();
    let format = launch_files::format(text)?;
    let describes = !matches!(format, Format::Trace | Format::Topology);
    describes.then(|| format.title())
}

fn misplaced(label: &str, kind: &str) -> Problem {
    let hint = if kind == Format::NcclTests.title() {
        "pass it to `railwright calibrate` with `--nccl-tests`"
    } else {
        "pass traces or logs of a run; `railwright estimate` predicts from a description of the run"
    };
    Problem::new(format!("expected a trace or a log, found {kind}")).in_file(label).hint(hint)
}

/// Reads one file's stream; nothing if no reader recognizes it.
fn read(label: &str, stream: &mut dyn Read, keep: Keep) -> Result<Content, Problem> {
    let failed = |error: &std::io::Error| cannot(error, label);
    let mut stream = Bounded::new(readers::open(stream).map_err(|e| failed(&e))?);
    let read = read_bounded(label, &mut stream, keep);
    stream.end().map_err(|problem| problem.in_file(label))?;
    read
}

fn read_bounded(label: &str, mut stream: &mut dyn Read, keep: Keep) -> Result<Content, Problem> {
    let failed = |error: &std::io::Error| cannot(error, label);
    let mut head = Vec::new();
    // The content before a damaged end is sufficient for detection; the reader reports the damage.
    let taken = (&mut stream).take(HEAD).read_to_end(&mut head);
    if head.is_empty() {
        let empty = || Problem::new("the file is empty").in_file(label);
        return Err(taken.err().map_or_else(empty, |error| failed(&error)));
    }
    // Tables begin with unmistakable bytes.
    if let Some(problem) = tabular::refused(&head) {
        return Err(problem.in_file(label));
    }
    let Some(reader) = tabular::detect(&head).or_else(|| readers::detect(&head)) else {
        if let Some(problem) = unread(&head) {
            return Err(problem.in_file(label));
        }
        return Ok(description(&head).map_or(Content::Recordings(Vec::new()), Content::Description));
    };
    let mut whole = head.as_slice().chain(stream);
    #[cfg(all(feature = "tables", not(target_family = "wasm")))]
    if tabular::is_store(&head) || head.starts_with(b"PAR1") {
        let mut bytes = Vec::new();
        whole.read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        if tabular::is_store(&head) {
            return super::profile::unpack(label, bytes).map(Content::Recordings);
        }
        if tabular::describes(&bytes) {
            return Ok(Content::Companion { label: label.to_owned(), bytes });
        }
        return reader
            .read(label, &bytes, keep)
            .map(Content::Recordings)
            .map_err(|problem| problem.in_file(label));
    }
    reader
        .read_stream(label, &mut whole, keep)
        .map(Content::Recordings)
        .map_err(|problem| problem.in_file(label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_profiler::job::Family;
    use std::io::Write as _;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("railwright-traces-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
        folder
    }

    fn trace(rank: u32) -> String {
        format!(
            r#"{{"schemaVersion": 1, "distributedInfo": {{"rank": {rank}, "world_size": 4}}, "traceEvents": [
            {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {{"stream": 7}}}}]}}"#
        )
    }

    fn ranks(loaded: Loaded) -> Vec<Option<u32>> {
        loaded.into_ranks().iter().map(|t| t.identity.rank).collect()
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut out = flate2_encoder();
        let _ = out.write_all(text.as_bytes());
        out.finish().unwrap_or_default()
    }

    fn flate2_encoder() -> flate2::write::GzEncoder<Vec<u8>> {
        flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast())
    }

    #[test]
    fn the_json_of_rocprofv3_is_named() {
        let problem = unread(br#"{"rocprofiler-sdk-tool":[{"metadata":{}}]}"#);
        assert!(problem.is_some_and(|problem| problem.to_string().contains("rocprofv3")));
        assert!(unread(br#"{"traceEvents": []}"#).is_none());
    }

    #[test]
    fn files_folders_globs_and_archives_are_read_in_order_and_bad_files_cost_themselves() {
        let folder = folder("mixed");
        let at = |name: &str| folder.join(name).display().to_string();
        let put = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.join(name), bytes).unwrap_or_else(|e| panic!("{e}"));
        };
        put("rank10.json", trace(3).as_bytes());
        put("rank2.json.gz", &gzip(&trace(2)));
        put("empty.json", b"");
        put("notes.txt", b"nothing of interest");
        put("config.json", b"{}");
        put("trace-of-nothing.json", b"not a trace");
        let mut archive = tar::Builder::new(Vec::new());
        for rank in 0..2_u32 {
            let bytes = if rank == 0 { trace(0).into_bytes() } else { gzip(&trace(1)) };
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            let _ = archive.append_data(&mut header, format!("r{rank}.json"), bytes.as_slice());
        }
        let archive = archive.into_inner().unwrap_or_default();
        put("both.tar", &archive);
        let load = |paths: &[String]| {
            load(paths, Wanted::one("profile", &[&[Family::Ranks]]), Keep::default(), &crate::Silent)
                .unwrap_or_else(|e| panic!("{e}"))
        };

        let all = load(&[folder.display().to_string()]);
        assert_eq!(
            all.problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(),
            ["the file is empty", "unknown format"]
        );
        // In order of name, numbers by their value: both.tar, rank2, rank10.
        assert_eq!(ranks(all), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(ranks(load(&[at("rank*")])), [Some(2), Some(3)]);
        assert_eq!(ranks(load(&[at("both.tar"), at("rank10.json")])), [Some(0), Some(1), Some(3)]);
        put("both.tar.gz", &{
            let mut out = flate2_encoder();
            let _ = out.write_all(&archive);
            out.finish().unwrap_or_default()
        });
        assert_eq!(ranks(load(&[at("both.tar.gz")])), [Some(0), Some(1)]);
        let named = load(&[at("notes.txt"), at("rank10.json"), at("missing.json")]);
        assert_eq!((named.problems.len(), named.files), (2, 2));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
