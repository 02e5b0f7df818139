//! A fabric as a file draws it: named nodes and cables.
//!
//! Responsible for: nodes by name, the meaning of attributes of nodes and cables, and problems with their
//! line. Independent of file formats.

use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use railwright_spec::run::{Field as _, Value};
use std::collections::BTreeMap;

/// Limits of a file: nodes and cables.
const MOST_NODES: usize = 200_000;
const MOST_CABLES: usize = 2_000_000;

/// Formats of a fabric, in words.
pub(super) const FORMATS: &str =
    "use a DOT graph, GraphML, the output of ibnetdiscover, cables of NetBox, or a network of ASTRA-sim";

/// Kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An accelerator, or the network interface of one.
    Device,
    /// A switch.
    Switch,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnNode {
    /// Its name in the file.
    pub name: String,
    /// Kind of the node, if recorded in the file.
    pub what: Option<What>,
    /// The host of a device, if it is in the file.
    pub host: Option<String>,
    /// Its first line, from 1.
    pub line: usize,
}

/// A cable, with the same bandwidth in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnCable {
    /// The nodes at its ends.
    pub ends: [u32; 2],
    /// Bandwidth in one direction.
    pub bandwidth: Option<BytesPerSecond>,
    /// Latency from entering the cable to entering the next.
    pub latency: Option<Seconds>,
    /// Its line, from 1.
    pub line: usize,
}

/// A fabric as a file draws it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Nodes in the order of the file.
    pub nodes: Vec<DrawnNode>,
    /// Cables in the order of the file.
    pub cables: Vec<DrawnCable>,
    /// Channel adapters that are part of switches, and neither devices nor switches.
    pub in_switches: Vec<String>,
    by_name: BTreeMap<String, u32>,
}

/// Keys of a node and of a cable.
const NODE_KEYS: [&str; 2] = ["type", "host"];
const CABLE_KEYS: [&str; 3] = ["bandwidth", "latency", "count"];

/// A problem in a line of a file.
pub(super) fn at(file: &str, line: usize, problem: Problem) -> Problem {
    problem.in_file(format!("{file}:{line}"))
}

impl Drawing {
    /// The number of a node, which is added if it is new.
    pub(super) fn node(&mut self, name: &str, line: usize) -> Result<u32, Problem> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        if self.nodes.len() == MOST_NODES {
            return Err(Problem::new(format!("the fabric has more than {MOST_NODES} nodes")));
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(DrawnNode { name: name.to_owned(), what: None, host: None, line });
        self.by_name.insert(name.to_owned(), number);
        Ok(number)
    }

    /// Sets the display name of a node. If another node has the same one, both keep it for display only.
    pub(super) fn describe(&mut self, node: u32, name: &str) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            name.clone_into(&mut node.name);
        }
    }

    /// Sets an attribute of a node. Attributes of other programs (`label`, `shape`, ...) have no effect.
    pub(super) fn set_node(&mut self, node: u32, key: &str, value: &str) -> Result<(), Problem> {
        let Some(node) = self.nodes.get_mut(node as usize) else { return Ok(()) };
        match key {
            "type" => {
                node.what = Some(match value.to_ascii_lowercase().as_str() {
                    "device" | "gpu" | "accelerator" | "nic" | "hca" => What::Device,
                    "switch" => What::Switch,
                    other => {
                        return Err(Problem::new(format!("`{}` is not a node type", shorten(other)))
                            .hint(did_you_mean(other, ["device", "switch"], "use `device` or `switch`")));
                    }
                });
            }
            "host" => node.host = Some(value.to_owned()),
            _ => near_miss(key, NODE_KEYS)?,
        }
        Ok(())
    }

    /// Adds a cable with its attributes; `count` is the number of parallel ones.
    pub(super) fn cable<'a>(
        &mut self,
        ends: [u32; 2],
        attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
        line: usize,
    ) -> Result<(), Problem> {
        let mut cable = DrawnCable { ends, bandwidth: None, latency: None, line };
        let mut count = 1_usize;
        if ends[0] == ends[1] {
            return Err(Problem::new("a cable connects a node to itself"));
        }
        for (key, value) in attributes {
            let text = Value::Text(value.to_owned());
            match key {
                "bandwidth" => cable.bandwidth = Some(positive(BytesPerSecond::read(&text)?)?),
                "latency" => cable.latency = Some(delay(Seconds::read(&text)?)?),
                "count" => {
                    count = value.parse().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(|| {
                        Problem::new(format!(
                            "`{}` is not a number of cables from 1 to 1,024",
                            shorten(value)
                        ))
                    })?;
                }
                _ => near_miss(key, CABLE_KEYS)?,
            }
        }
        if self.cables.len() + count > MOST_CABLES {
            return Err(Problem::new(format!("the fabric has more than {MOST_CABLES} cables")));
        }
        self.cables.extend(std::iter::repeat_n(cable, count));
        Ok(())
    }
}

/// Checks that a latency is finite and not negative.
fn delay(latency: Seconds) -> Result<Seconds, Problem> {
    if latency.get() >= 0.0 && latency.is_finite() {
        return Ok(latency);
    }
    Err(Problem::new("a latency cannot be negative"))
}

fn positive(bandwidth: BytesPerSecond) -> Result<BytesPerSecond, Problem> {
    if bandwidth.get() > 0.0 && bandwidth.get() <= 1e15 {
        Ok(bandwidth)
    } else {
        Err(Problem::new("a bandwidth must be above 0 and at most 1 PB/s"))
    }
}

/// Number of differing letters of two keys of nearly equal length, after their common start and end.
fn distance(a: &str, b: &str) -> usize {
    let begin = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let end = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    a.len().max(b.len()).saturating_sub(begin + end)
}

/// An unknown key one letter from a known one is an error; all others belong to other programs.
fn near_miss<const N: usize>(key: &str, known: [&str; N]) -> Result<(), Problem> {
    // A slip of one letter in a key of four letters or more.
    let slipped =
        |known: &&&str| key.len() > 3 && known.len().abs_diff(key.len()) <= 1 && distance(key, known) == 1;
    match known.iter().find(slipped) {
        Some(nearest) => Err(Problem::new(format!("unknown attribute `{}`", shorten(key)))
            .hint(format!("did you mean `{nearest}`?"))),
        None => Ok(()),
    }
}
