//! Objects of an address, in the order that a folder of files has.

use crate::traces::{extent, globs};
use railwright_remote::Found;
use railwright_spec::Scheme;
use railwright_spec::problem::Problem;

pub(super) use railwright_remote::write;
pub(crate) use railwright_remote::{Failure, Object, Reader};

/// The objects of an address; true if it is the address of exactly one.
pub(super) fn find(path: &str) -> Result<(Vec<Object>, bool), Problem> {
    // In a web address `?` begins the query.
    let is_web = matches!(Scheme::of(path), Some((Scheme::Http, _)));
    let pattern = if is_web { path.contains(['*', '[']) } else { globs::is_pattern(path) };
    let (found, matches) = if pattern {
        let fixed = path.find(['*', '?', '[']).unwrap_or(path.len());
        let folder = path[..fixed].rfind('/').map_or(path, |at| &path[..=at]);
        (railwright_remote::find(folder, MOST)?, Some(globs::Like::new(path)?))
    } else {
        (railwright_remote::find(path, MOST)?, None)
    };
    let all = match found {
        Found::One(object) => return Ok((vec![object], true)),
        Found::Below(all) => all,
    };
    let keep = |(place, object): &(String, Object)| match &matches {
        // As on a disk, a matching folder represents its files.
        Some(like) => like.matches_above(object.address()),
        None => {
            place.split('/').count() <= DEEPEST + 1 && !place.split('/').any(|part| part.starts_with('.'))
        }
    };
    let mut kept: Vec<(String, Object)> = all.into_iter().filter(keep).collect();
    kept.sort_by_cached_key(|(place, _)| order(place));
    if kept.is_empty() {
        let what = if pattern { "no object matches this pattern" } else { "no object at this address" };
        return Err(Problem::new(what).in_file(path).hint("check the bucket and the prefix"));
    }
    Ok((kept.into_iter().map(|(_, object)| object).collect(), false))
}

/// Maximum number of objects of one address.
const MOST: usize = extent::MOST;
/// Maximum depth of prefixes.
const DEEPEST: usize = extent::DEEPEST as usize;

/// Sort key in the order of folders: the files of a folder before its subfolders, numbers by their value.
fn order(place: &str) -> Vec<(bool, Vec<(u128, String)>)> {
    let parts: Vec<&str> = place.split('/').collect();
    let last = parts.len() - 1;
    parts.iter().enumerate().map(|(at, part)| (at < last, extent::natural(part))).collect()
}
