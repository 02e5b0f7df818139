//! A folder of Chakra execution traces as a program of flows.
//!
//! Responsible for: the assignment of files to ranks, and the process groups next to them. Excludes the content of nodes
//! ([`railwright_network::chakra`]).

use super::super::export::GROUPS;
use crate::input;
use railwright_network::chakra::{Program, Trace, read};
use railwright_network::exported::read_comm_groups;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum size of a file, in bytes.
const LIMIT: u64 = 1 << 30;
const GROUPS_LIMIT: u64 = 64 << 20;

/// Tests whether a path is a folder of traces.
pub(super) fn is_folder(path: &str) -> bool {
    input::access::is_folder(Path::new(path))
}

/// The program of the traces in a folder on scale-up domains of `domain` devices, with remarks.
pub(super) fn program(folder: &str, domain: u64) -> Result<(Program, Vec<String>), Problem> {
    let files = files(folder)?;
    let mut traces: Vec<Trace> = Vec::with_capacity(files.len());
    for (rank, path) in &files {
        if *rank as usize != traces.len() {
            return Err(Problem::new(format!("the trace of rank {} is missing", traces.len()))
                .in_file(folder)
                .hint("files are NAME.RANK.et, one for each rank from 0"));
        }
        traces.push(read(&input::read_bytes(path, LIMIT)?, path)?);
    }
    let group_file = format!("{}/{GROUPS}", folder.trim_end_matches('/'));
    let groups = if input::access::is_file(Path::new(&group_file)) {
        read_comm_groups(&input::read(&group_file, GROUPS_LIMIT)?, &group_file)?
    } else {
        BTreeMap::new()
    };
    let program = Program::new(&traces, &groups, domain).map_err(|problem| problem.in_file(folder))?;
    let mut remarks =
        vec![format!("{} traces, a collective is one ring or one direct exchange", traces.len())];
    for (what, count) in &program.without_time {
        remarks.push(format!("{count} nodes of type {what} take no time"));
    }
    Ok((program, remarks))
}

/// Files `NAME.RANK.et` of one name, by rank.
fn files(folder: &str) -> Result<BTreeMap<u32, String>, Problem> {
    let mut found: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for path in input::files_in(folder)? {
        let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(stem) = name.as_deref().and_then(|name| name.strip_suffix(".et")) else { continue };
        let Some((name, rank)) = stem.rsplit_once('.') else { continue };
        if let Ok(rank) = rank.parse() {
            found.entry(name.to_owned()).or_default().insert(rank, path);
        }
    }
    match found.len() {
        1 => Ok(found.into_values().next().unwrap_or_default()),
        0 => Err(Problem::new("no Chakra execution traces")
            .in_file(folder)
            .hint("files are NAME.RANK.et, one for each rank from 0")),
        _ => {
            let names: Vec<&str> = found.keys().map(String::as_str).collect();
            Err(Problem::new(format!("traces of several runs: {}", names.join(", ")))
                .in_file(folder)
                .hint("put each run into a folder of its own"))
        }
    }
}
