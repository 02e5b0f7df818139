//! A folder of Chakra execution traces as a program of flows.
//!
//! Responsible for: reading the files, and the process groups next to them. Excludes their content
//! ([`railwright_network::chakra`]).

use crate::{FILES, no_readers};
use railwright_network::chakra::{Program, Trace, by_rank, read};
use railwright_network::exported::read_comm_groups;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum size of a file, in bytes.
const LIMIT: u64 = 1 << 30;

/// Name of the file with the process groups.
pub const GROUPS: &str = "comm_groups.json";

const GROUPS_LIMIT: u64 = 64 << 20;

/// Tests whether a path is a folder of traces.
pub fn is_folder(path: &str) -> bool {
    crate::access::is_folder(Path::new(path))
}

/// The program of the traces in a folder on scale-up domains of `domain` devices, with remarks.
pub fn program(folder: &str, domain: u64) -> Result<(Program, Vec<String>), Problem> {
    if !FILES {
        return Err(no_readers(folder));
    }
    let files = by_rank(crate::files_in(folder)?).map_err(|problem| problem.in_file(folder))?;
    let traces = files.iter().map(|path| read(&crate::read_bytes(path, LIMIT)?, path));
    let traces: Vec<Trace> = traces.collect::<Result<_, Problem>>()?;
    let group_file = format!("{}/{GROUPS}", folder.trim_end_matches('/'));
    let groups = if crate::access::is_file(Path::new(&group_file)) {
        read_comm_groups(&crate::read(&group_file, GROUPS_LIMIT)?, &group_file)?
    } else {
        BTreeMap::new()
    };
    let program = Program::new(&traces, &groups, domain).map_err(|problem| problem.in_file(folder))?;
    let mut remarks =
        vec![format!("{} traces; each collective is one ring or one direct transfer", traces.len())];
    for (what, count) in &program.without_time {
        remarks.push(format!("{count} nodes of type {what} are assumed to take no time"));
    }
    Ok((program, remarks))
}
