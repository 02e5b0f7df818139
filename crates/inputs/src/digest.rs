//! `digest`: the trace of a rank as a small file that is joined with those of other ranks.
//!
//! Responsible for: this process's share of the files, one digest per rank in a folder, so that memory is
//! bounded by one trace for each core. An unreadable file only removes its own rank. Recordings that are not
//! traces of a rank are rejected.

use crate::jobs::Wanted;
use crate::traces::{self, sources};
use crate::{Caller, make_folder, remote, write_with};
use railwright_profiler::digest::{SUFFIX, digest};
use railwright_profiler::job::Family;
use railwright_profiler::readers::{Keep, Recording};
use railwright_profiler::trace::Source;
use railwright_spec::problem::Problem;
use railwright_tables::digest::write_digest;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

const WANTED: Wanted = Wanted { command: "digest", kinds: &[&[Family::Ranks]], several: &[Family::Ranks] };
/// Result of one file: written digests with their sizes, or the reason why there are none.
pub type Written = Result<Vec<u64>, Problem>;

/// `3/16`: the fourth of sixteen parts.
pub fn share(text: &str) -> Result<(usize, usize), Problem> {
    let numbers =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    match numbers {
        Some((part, parts)) if part < parts => Ok((part, parts)),
        _ => Err(Problem::new(format!("invalid part `{text}`"))
            .in_file("--part")
            .hint("write `I/N` with I from 0 to N-1, such as `$SLURM_PROCID/$SLURM_NTASKS`")),
    }
}

/// The files of the given paths, each with the name of its digest: its path below the given one. Ordered by
/// path, so that shares are the same in every process.
pub fn files(paths: &[String]) -> Result<Vec<(PathBuf, String)>, Problem> {
    let mut all: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut names: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        for stream in sources::of(path)? {
            let file = stream.path().to_owned();
            let text = file.to_string_lossy();
            let bare = Path::new(remote::without_query(&text));
            let below = bare.strip_prefix(path).unwrap_or(bare);
            let place = if below.as_os_str().is_empty() || below == bare {
                Path::new(bare.file_name().unwrap_or_default())
            } else {
                below
            };
            let name = digest_name(place);
            match names.get(&name) {
                Some(other) if *other != file => {
                    let message = format!(
                        "{} and {} have the same output file {name}",
                        other.display(),
                        file.display()
                    );
                    return Err(Problem::new(message)
                        .in_file(path)
                        .hint("pass the folder that contains both"));
                }
                _ => {}
            }
            names.insert(name.clone(), file.clone());
            all.insert(file, name);
        }
    }
    Ok(all.into_iter().collect())
}

/// `node0/rank3.pt.trace.json.gz` to `node0/rank3.digest.parquet`.
fn digest_name(place: &Path) -> String {
    let plain = place.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let mut name = plain.collect::<Vec<_>>().join("/");
    for end in [".gz", ".zst", ".json", ".trace", ".pt", ".sqlite", ".tar"] {
        if let Some(short) = name.strip_suffix(end) {
            name.truncate(short.len());
        }
    }
    name + SUFFIX
}

/// The digests of one file.
pub fn one(path: &Path, target: &Path, printer: &dyn Caller) -> Written {
    let label = path.display().to_string();
    let loaded = traces::load(std::slice::from_ref(&label), WANTED, Keep { python: true }, printer)?;
    if let Some(problem) = loaded.problems.into_iter().next() {
        return Err(problem);
    }
    let mut ranks = Vec::new();
    for recording in loaded.recordings {
        match recording {
            Recording::Rank(trace) if trace.identity.digest => {
                return Err(Problem::new("this file is already a digest").in_file(label));
            }
            // Other tables of the same export contain the device and the host.
            Recording::Rank(trace)
                if trace.identity.source == Source::NsightSystems && trace.identity.device.is_none() =>
            {
                return Err(Problem::new("this table of Nsight Systems does not contain its device")
                    .in_file(label)
                    .hint("digest the SQLite export (`nsys export --type sqlite`), or analyse the folder itself"));
            }
            Recording::Rank(trace) => ranks.push(*trace),
            _ => {}
        }
    }
    if ranks.is_empty() {
        return Err(Problem::new("it contains no rank trace").in_file(label));
    }
    let several = ranks.len() > 1;
    let write = |(at, trace): (usize, &railwright_profiler::RankTrace)| {
        let bytes = write_digest(&digest(trace))?;
        let target = if several { numbered(target, at) } else { target.to_owned() };
        if let Some(folder) = target.parent() {
            make_folder(&folder.display().to_string())?;
        }
        write_with(&target.display().to_string(), |out| out.write_all(&bytes))?;
        Ok(bytes.len() as u64)
    };
    ranks.iter().enumerate().map(write).collect()
}

/// The name of one of several digests of a file.
fn numbered(target: &Path, at: usize) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(SUFFIX).unwrap_or(&name);
    target.with_file_name(format!("{stem}-{at:05}{SUFFIX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_called_like_their_traces() {
        assert_eq!(digest_name(Path::new("node0/rank3.pt.trace.json.gz")), "node0/rank3.digest.parquet");
        assert_eq!(digest_name(Path::new("../../etc/x.json")), "etc/x.digest.parquet");
        assert_eq!(numbered(Path::new("a/x.digest.parquet"), 7), Path::new("a/x-00007.digest.parquet"));
    }

    #[test]
    fn parts_are_numbers_below_their_count() {
        assert_eq!(share("3/16").ok(), Some((3, 16)));
        for text in ["16/16", "0/0", "-1/4", "3", "a/b", "1/2/3"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
