//! Host names: node lists as Slurm writes them.
//!
//! Responsible for: every name of a list in its order. Lists without an end, and more names than a network
//! has devices, are errors.

use railwright_spec::human::{self, shorten};
use railwright_spec::problem::Problem;

/// Maximum number of hosts: more than the devices of any network that can be simulated.
const MOST: usize = 1 << 22;

/// Names of a node list such as `gpu[001-004,007],login1`, in this order. Brackets may occur anywhere, and
/// several times; numbers keep their zeros.
pub fn host_names(text: &str) -> Result<Vec<String>, Problem> {
    let mut all = Vec::new();
    for part in split(text) {
        let mut names = vec![String::new()];
        let mut rest = part;
        while let Some((before, behind)) = rest.split_once('[') {
            let (list, after) = behind.split_once(']').ok_or_else(|| bad(part))?;
            let numbers = numbers(list).ok_or_else(|| bad(part))??;
            if all.len() + names.len().saturating_mul(numbers.len()) > MOST {
                return Err(too_many());
            }
            names = names
                .iter()
                .flat_map(|name| numbers.iter().map(move |number| format!("{name}{before}{number}")))
                .collect();
            rest = after;
        }
        if rest.contains(']') || part.is_empty() || part.contains(char::is_whitespace) {
            return Err(bad(part));
        }
        all.extend(names.into_iter().map(|name| name + rest));
    }
    Ok(all)
}

fn too_many() -> Problem {
    Problem::new(format!("the list has more than {} hosts", human::whole(MOST as u64)))
        .hint("list only the hosts of the run")
}

/// The last number in a host's name. If the name has a domain, as `gpu07.example.com`, the last number of its
/// first label.
pub fn number_of(name: &str) -> Result<u32, Problem> {
    let is_digit = |c: char| c.is_ascii_digit();
    let label = name.split('.').next().unwrap_or_default();
    let is_named = label.contains(is_digit) && label.contains(|c: char| c.is_ascii_alphabetic());
    let (whole, name) = (name, if is_named { label } else { name });
    let end = name.rfind(is_digit).map_or(0, |last| last + 1);
    let head = name.get(..end).unwrap_or_default();
    let start = head.rfind(|c: char| !is_digit(c)).map_or(0, |last| last + 1);
    head.get(start..).and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        Problem::new(format!("`{}` is not a node with a number", shorten(whole)))
            .hint("use a Slurm node list such as `gpu[001-004,007]`")
    })
}

/// The problem of two hosts that their numbers do not distinguish, as `r1n1` and `r2n1`. `option` sets the
/// devices without names.
pub fn same_number(one: &str, other: &str, option: &str) -> Problem {
    Problem::new(format!("hosts `{}` and `{}` have the same number", shorten(one), shorten(other))).hint(format!(
        "hosts are identified by the last number in their names: use names with one number each, or {option}"
    ))
}

fn bad(part: &str) -> Problem {
    Problem::new(format!("`{}` is not a node list", shorten(part)))
        .hint("use a Slurm node list such as `gpu[001-004,007],gpu010`")
}

/// Parts between commas outside brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
    .map(str::trim)
}

/// `001-003,007` with their zeros; `0-63:8` is every eighth.
///
/// Numbers of a list. `None` if it is not a list; an error if it is too long.
fn numbers(list: &str) -> Option<Result<Vec<String>, Problem>> {
    // Maximum number of digits: numbers of 32 bits have fewer, except for leading zeros.
    const MOST_DIGITS: usize = 20;
    let mut all = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let step = number(step).filter(|step| *step > 0)?;
        let width = first.len();
        let (from, to) = (number(first)?, number(last)?);
        if to < from || width > MOST_DIGITS {
            return None;
        }
        if all.len() as u64 + u64::from((to - from) / step) >= MOST as u64 {
            return Some(Err(too_many()));
        }
        all.extend((from..=to).step_by(step as usize).map(|n| format!("{n:0width$}")));
    }
    Some(Ok(all))
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}
