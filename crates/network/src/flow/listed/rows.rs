//! Rows of a flow program in text form, from a table or from JSON.
//!
//! Responsible for: devices, sizes, delays and preceding flows, with the place and reason of every error.
//! Sizes and times have units (`4 MiB`, `20 us`), or are bytes and seconds. Flows without names are numbered
//! from 0.

use super::row::Row;
use super::{Listed, json, table};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::run::{Field, Value};
use std::collections::BTreeMap;

/// Limits of a program: bytes and flows.
const LONGEST: usize = 256 << 20;
const MOST: usize = 2_000_000;

/// Reads a program from a CSV table or from JSON; `device` resolves the name or number of a device.
pub fn parse(text: &str, file: &str, device: &dyn Fn(&str) -> Option<u32>) -> Result<Vec<Listed>, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new("longer than 256 MiB").in_file(file));
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut rows = Rows { device, flows: Vec::new(), places: Vec::new(), names: BTreeMap::new() };
    let is_json = text.trim_start().starts_with(['[', '{']);
    let place = |number: u64| {
        if is_json { format!("{file}: flow {number}") } else { format!("{file}:{number}") }
    };
    let read = if is_json { json::read } else { table::read };
    read(text, file, &mut |number, row| {
        rows.add(number, &row).map_err(|problem| problem.in_file(place(number)))
    })?;
    rows.finish().map_err(|(number, problem)| match number {
        Some(number) => problem.in_file(place(number)),
        None => problem.in_file(file),
    })
}

struct Rows<'a> {
    device: &'a dyn Fn(&str) -> Option<u32>,
    flows: Vec<Listed>,
    /// Number of the row, and names of the preceding flows.
    places: Vec<(u64, Vec<String>)>,
    names: BTreeMap<String, u32>,
}

impl Rows<'_> {
    fn add(&mut self, number: u64, row: &Row<'_>) -> Result<(), Problem> {
        if self.flows.len() == MOST {
            return Err(Problem::new(format!("the list has more than {MOST} flows")));
        }
        let of = |word: &str| {
            (self.device)(word).ok_or_else(|| Problem::new(format!("there is no device `{}`", shorten(word))))
        };
        let (from, to) = (of(&row.source)?, of(&row.destination)?);
        let bytes = quantity::<Bytes>(&row.bytes, Bytes::new)?.get();
        let start =
            if row.start.is_empty() { 0.0 } else { quantity::<Seconds>(&row.start, Seconds::new)?.get() };
        // The latency of a route would otherwise be lost in rounding.
        if !(0.0..=1e18).contains(&bytes) || !(0.0..=1e9).contains(&start) {
            return Err(Problem::new("bytes are from 0 to 1e18, and starts from 0 to 1e9 s"));
        }
        let own = self.flows.len();
        let name = if row.name.is_empty() { own.to_string() } else { row.name.to_string() };
        if self.names.insert(name.clone(), own as u32).is_some() {
            return Err(Problem::new(format!("the flow `{}` occurs twice", shorten(&name))));
        }
        self.places.push((number, row.after.clone()));
        let (bytes, start) = (Bytes::new(bytes), Seconds::new(start));
        self.flows.push(Listed { name, from, to, bytes, start, after: Vec::new() });
        Ok(())
    }

    /// The flows, after their predecessors are known.
    fn finish(mut self) -> Result<Vec<Listed>, (Option<u64>, Problem)> {
        for (flow, (number, after)) in self.flows.iter_mut().zip(&self.places) {
            for name in after {
                let Some(before) = self.names.get(name) else {
                    let problem = Problem::new(format!("there is no flow `{}`", shorten(name)));
                    return Err((Some(*number), problem));
                };
                if !flow.after.contains(before) {
                    flow.after.push(*before);
                }
            }
        }
        match in_circle(&self.flows) {
            Some(flow) => {
                let number = self.places.get(flow).map(|(number, _)| *number);
                Err((number, Problem::new("the flow depends on itself")))
            }
            None if self.flows.is_empty() => Err((None, Problem::new("the list has no flows"))),
            None => Ok(self.flows),
        }
    }
}

/// A quantity with its unit, or a plain number in the base unit.
fn quantity<Q: Field>(word: &str, plain: fn(f64) -> Q) -> Result<Q, Problem> {
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
    // Of the flows that never start, one that only waits for others is not in the cycle: walk back until one
    // repeats.
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
