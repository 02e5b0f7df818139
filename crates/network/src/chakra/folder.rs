//! Execution traces of all ranks, by the names of their files.
//!
//! Responsible for: the assignment of files to ranks, and missing ranks. Does not read files.

use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::path::Path;

const NAMES: &str = "files are NAME.RANK.et, one for each rank from 0";

/// Files `NAME.RANK.et` of one name, in the order of their ranks from 0. Other files are ignored.
pub fn by_rank(files: Vec<String>) -> Result<Vec<String>, Problem> {
    let mut found: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for path in files {
        let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(stem) = name.as_deref().and_then(|name| name.strip_suffix(".et")) else { continue };
        let Some((name, rank)) = stem.rsplit_once('.') else { continue };
        if let Ok(rank) = rank.parse() {
            found.entry(name.to_owned()).or_default().insert(rank, path);
        }
    }
    if found.len() > 1 {
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        return Err(Problem::new(format!(
            "the folder contains traces of several runs: {}",
            names.join(", ")
        ))
        .hint("put each run into its own folder"));
    }
    let Some(ranks) = found.into_values().next() else {
        return Err(Problem::new("no Chakra execution traces").hint(NAMES));
    };
    if let Some((missing, _)) = ranks.keys().enumerate().find(|(place, rank)| **rank as usize != *place) {
        return Err(Problem::new(format!("the trace of rank {missing} is missing")).hint(NAMES));
    }
    Ok(ranks.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[&str]) -> Result<Vec<String>, String> {
        by_rank(files.iter().map(|file| (*file).to_owned()).collect()).map_err(|problem| problem.message)
    }

    #[test]
    fn files_are_in_the_order_of_ranks() {
        let all = ["f/step.10.et", "f/step.2.et", "f/step.1.et", "f/step.0.et", "f/network.yml", "f/x.et"];
        assert_eq!(of(&all[1..]).expect("three"), ["f/step.0.et", "f/step.1.et", "f/step.2.et"]);
        assert_eq!(of(&all).expect_err("a gap"), "the trace of rank 3 is missing");
        assert_eq!(
            of(&["f/a.0.et", "f/b.0.et"]).expect_err("two"),
            "the folder contains traces of several runs: a, b"
        );
        assert_eq!(of(&["f/network.yml"]).expect_err("none"), "no Chakra execution traces");
    }
}
