//! Ranks of a job: lists of devices, and Slurm's node lists.

use railwright_network::placement::{host_names, number_of, same_number};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// Maximum number of ranks: larger networks cannot be simulated.
const MOST: u64 = 1 << 22;

/// Parses a list of ranks: `0-7,16,24-31`, in this order; `0-63:8` is every eighth.
pub fn ranks(text: &str) -> Result<Vec<u32>, Problem> {
    let bad = |part: &str| {
        Problem::new(format!("`{}` is not a list of ranks", shorten(part)))
            .hint("use ranks and ranges such as `0-7,16,24-31`, or `0-63:8` for every eighth rank")
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad(part));
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (part, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        if step == 0 || last < first {
            return Err(bad(part));
        }
        if all.len() as u64 + u64::from((last - first) / step) >= MOST {
            return Err(Problem::new(format!("more than {MOST} ranks")));
        }
        all.extend((first..=last).step_by(step as usize));
    }
    Ok(all)
}

/// Numbers of the nodes of a Slurm node list such as `gpu[001-004,007],gpu010`, in this order: the last
/// number of each name.
pub fn nodes(text: &str) -> Result<Vec<u32>, Problem> {
    let names = host_names(text)?;
    let mut seen: BTreeMap<u32, &str> = BTreeMap::new();
    let mut all = Vec::with_capacity(names.len());
    for name in &names {
        let number = number_of(name)?;
        match seen.insert(number, name) {
            Some(before) if before == name => {
                return Err(Problem::new(format!("node `{}` is listed twice", shorten(name))));
            }
            Some(before) => return Err(same_number(before, name, "--ranks")),
            None => all.push(number),
        }
    }
    Ok(all)
}
