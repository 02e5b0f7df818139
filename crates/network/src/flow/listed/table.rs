//! A program of flows as CSV: `source,destination,bytes,start[,after][,name]`.
//!
//! Responsible for: strict reading with line and reason. Sizes and times have units (`4 MiB`, `20 us`), or are bytes and seconds.
//! `after` has the names of earlier flows, with blanks between them; flows without names are numbered from 0.

use super::Listed;
use crate::records;
use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::Value;
use std::collections::BTreeMap;

/// Limits of a table: bytes and flows.
const LONGEST: usize = 256 << 20;
const MOST: usize = 2_000_000;
const COLUMNS: [&str; 6] = ["source", "destination", "bytes", "start", "after", "name"];
/// Number of required columns.
const NEEDED: usize = 3;

/// Reads a table; `device` resolves the name or number of a device.
pub fn parse(text: &str, file: &str, device: &dyn Fn(&str) -> Option<u32>) -> Result<Vec<Listed>, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new("longer than 256 MiB").in_file(file));
    }
    let text = text.trim_start_matches('\u{feff}');
    let broken = |error: &csv::Error| {
        let problem = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                Problem::new(format!("{len} cells in a line, but the header has {expected_len}"))
            }
            _ => Problem::new("not a table of comma-separated values"),
        };
        match error.position() {
            Some(position) => problem.in_file(format!("{file}:{}", records::line(text, position))),
            None => problem.in_file(file),
        }
    };
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    for (place, name) in header.iter().enumerate() {
        if !COLUMNS.contains(&name) {
            let list = format!("columns are {}", COLUMNS.join(", "));
            return Err(Problem::new(format!("unknown column `{}`", shorten(name)))
                .in_file(format!("{file}:1"))
                .hint(did_you_mean(name, COLUMNS, &list)));
        }
        if header.iter().take(place).any(|earlier| earlier == name) {
            return Err(
                Problem::new(format!("the column `{name}` occurs twice")).in_file(format!("{file}:1"))
            );
        }
    }
    let column = |name: &str| header.iter().position(|known| known == name);
    if let Some(missing) = COLUMNS.iter().take(NEEDED).find(|name| column(name).is_none()) {
        return Err(Problem::new(format!("the column `{missing}` is missing")).in_file(format!("{file}:1")));
    }
    let columns = COLUMNS.map(column);
    let (mut flows, mut lines, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let line = record.position().map_or(0, |position| records::line(text, position));
        let cell =
            |n: usize| columns.get(n).copied().flatten().and_then(|at| record.get(at)).unwrap_or_default();
        let placed = |problem: Problem| problem.in_file(format!("{file}:{line}"));
        if flows.len() == MOST {
            return Err(placed(Problem::new(format!("more than {MOST} flows"))));
        }
        let of = |n: usize| {
            let word = cell(n);
            device(word)
                .ok_or_else(|| placed(Problem::new(format!("there is no device `{}`", shorten(word)))))
        };
        let (from, to) = (of(0)?, of(1)?);
        let bytes = number::<Bytes>(cell(2), Bytes::new).map_err(placed)?.get();
        let start = if cell(3).is_empty() {
            0.0
        } else {
            number::<Seconds>(cell(3), Seconds::new).map_err(placed)?.get()
        };
        // The latency of a route would otherwise be lost in rounding.
        if !(0.0..=1e18).contains(&bytes) || !(0.0..=1e9).contains(&start) {
            return Err(placed(Problem::new("bytes are 0 to 1e18, and a start 0 to 1e9 s")));
        }
        let name = if cell(5).is_empty() { flows.len().to_string() } else { cell(5).to_owned() };
        if names.insert(name.clone(), flows.len() as u32).is_some() {
            return Err(placed(Problem::new(format!("the flow `{}` occurs twice", shorten(&name)))));
        }
        let after = cell(4).split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        lines.push((line, after));
        flows.push(Listed {
            name,
            from,
            to,
            bytes: Bytes::new(bytes),
            start: Seconds::new(start),
            after: Vec::new(),
        });
    }
    for (flow, (line, after)) in flows.iter_mut().zip(&lines) {
        for name in after {
            let Some(before) = names.get(name) else {
                let problem = Problem::new(format!("there is no flow `{}`", shorten(name)));
                return Err(problem.in_file(format!("{file}:{line}")));
            };
            if !flow.after.contains(before) {
                flow.after.push(*before);
            }
        }
    }
    match in_circle(&flows) {
        Some(flow) => {
            let line = lines.get(flow).map_or(0, |(line, _)| *line);
            Err(Problem::new("the flow waits for itself").in_file(format!("{file}:{line}")))
        }
        None if flows.is_empty() => Err(Problem::new("no flows").in_file(file)),
        None => Ok(flows),
    }
}

/// A quantity with its unit, or a plain number in the base unit.
fn number<Q: railwright_spec::run::Field>(word: &str, plain: fn(f64) -> Q) -> Result<Q, Problem> {
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(plain(number)),
        _ => Q::read(&Value::Text(word.to_owned())),
    }
}

/// A flow that waits for itself, directly or through others; `None` without a cycle.
fn in_circle(flows: &[Listed]) -> Option<usize> {
    let mut waits: Vec<usize> = flows.iter().map(|flow| flow.after.len()).collect();
    let mut followers = vec![Vec::new(); flows.len()];
    for (number, flow) in flows.iter().enumerate() {
        for before in &flow.after {
            followers.get_mut(*before as usize)?.push(number);
        }
    }
    let mut open: Vec<usize> = (0..flows.len()).filter(|n| waits.get(*n) == Some(&0)).collect();
    while let Some(done) = open.pop() {
        for &next in followers.get(done).map_or(&[][..], Vec::as_slice) {
            if let Some(left) = waits.get_mut(next) {
                *left -= 1;
                if *left == 0 {
                    open.push(next);
                }
            }
        }
    }
    // Of the flows that never start, one that only waits for others is not in the cycle: walk back until one repeats.
    let mut at = waits.iter().position(|left| *left > 0)?;
    let mut seen = vec![false; flows.len()];
    while !seen.get(at).copied().unwrap_or(true) {
        if let Some(seen) = seen.get_mut(at) {
            *seen = true;
        }
        let stuck = |before: &&u32| waits.get(**before as usize).is_some_and(|left| *left > 0);
        at = flows.get(at)?.after.iter().find(stuck).map_or(at, |before| *before as usize);
    }
    Some(at)
}
