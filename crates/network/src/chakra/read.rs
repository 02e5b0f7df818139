//! A trace from bytes.
//!
//! Responsible for: strict reading, with the number of the message in errors. Unknown attributes are skipped:
//! they have no effect on communication. Nodes of unknown types and collectives of unknown kinds are errors.

use super::wire::{Broken, Fields, Value, take, take_varint};
use super::{KINDS, Node, Trace, Work, node_type};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Seconds};
use std::collections::BTreeMap;

/// Maximum number of nodes of one rank; larger traces are rejected.
const MOST_NODES: usize = 4_000_000;

/// Reads a file.
pub fn read(data: &[u8], file: &str) -> Result<Trace, Problem> {
    let mut rest = data;
    let mut trace = Trace::default();
    let broken = |number: usize| {
        Problem::new(format!("message {number} is not a Chakra message: damaged or truncated"))
            .in_file(file)
            .hint("write the trace again; files are length-delimited `ChakraProtoMsg` messages")
    };
    let mut number = 0_usize;
    while !rest.is_empty() {
        let message = take_varint(&mut rest).and_then(|length| take(&mut rest, length));
        let message = message.map_err(|Broken| broken(number))?;
        if number == 0 {
            trace.version = version(message).map_err(|Broken| broken(0))?;
        } else {
            if trace.nodes.len() == MOST_NODES {
                return Err(Problem::new(format!("the trace has more than {MOST_NODES} nodes")).in_file(file));
            }
            let raw = Raw::read(message).map_err(|Broken| broken(number))?;
            let node = raw.node(&mut trace.groups).map_err(|problem| problem.in_file(file))?;
            trace.nodes.push(node);
        }
        number += 1;
    }
    if trace.nodes.is_empty() {
        return Err(Problem::new("the trace has no nodes")
            .in_file(file)
            .hint("a trace begins with `GlobalMetadata`, followed by nodes"));
    }
    Ok(trace)
}

fn version(message: &[u8]) -> Result<String, Broken> {
    let mut fields = Fields(message);
    while let Some((field, value)) = fields.next()? {
        if let (1, Some(text)) = (field, value.text()) {
            return Ok(text);
        }
        if field == 1 {
            return Err(Broken);
        }
    }
    Ok(String::new())
}

/// A node as encoded in the file.
#[derive(Default)]
struct Raw {
    id: u64,
    name: String,
    kind: u64,
    after: Vec<u64>,
    micros: u64,
    values: Option<String>,
    numbers: BTreeMap<String, u64>,
    group: Option<String>,
}

impl Raw {
    fn read(message: &[u8]) -> Result<Self, Broken> {
        let mut raw = Self::default();
        let mut fields = Fields(message);
        while let Some((field, value)) = fields.next()? {
            match (field, value) {
                (1, Value::Varint(id)) => raw.id = id,
                (2, value) => raw.name = value.text().ok_or(Broken)?,
                (3, Value::Varint(kind)) => raw.kind = kind,
                (4 | 5, Value::Varint(before)) => raw.after.push(before),
                (4 | 5, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        raw.after.push(take_varint(&mut packed)?);
                    }
                }
                (7, Value::Varint(micros)) => raw.micros = micros,
                (8, Value::Bytes(inner)) => {
                    let mut inner = Fields(inner);
                    while let Some((field, value)) = inner.next()? {
                        if field == 1 {
                            raw.values = value.text();
                        }
                    }
                }
                (10, Value::Bytes(inner)) => raw.attribute(inner)?,
                _ => {}
            }
        }
        raw.after.sort_unstable();
        raw.after.dedup();
        Ok(raw)
    }

    fn attribute(&mut self, message: &[u8]) -> Result<(), Broken> {
        let (mut name, mut number, mut text) = (String::new(), None, None);
        let mut fields = Fields(message);
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => name = value.text().ok_or(Broken)?,
                // Unsigned and signed integers, and booleans; those with a sign in the lowest bit.
                7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27 => number = value.number(),
                15 | 17 => number = value.number().map(|zigzag| zigzag >> 1),
                29 => text = value.text(),
                _ => {}
            }
        }
        if let Some(number) = number {
            self.numbers.insert(name, number);
        } else if let Some(text) = text
            && name == "pg_name"
        {
            self.group = Some(text);
        }
        Ok(())
    }

    /// The node; groups that a metadata node defines are added.
    fn node(self, groups: &mut BTreeMap<String, Vec<u32>>) -> Result<Node, Problem> {
        let here = || format!("node {} (`{}`)", self.id, shorten(&self.name));
        let number = |name: &str| {
            self.numbers
                .get(name)
                .copied()
                .ok_or_else(|| Problem::new(format!("{} has no attribute `{name}`", here())))
        };
        let small = |name: &str| {
            let value = self.numbers.get(name).copied().unwrap_or(0);
            u32::try_from(value)
                .map_err(|_| Problem::new(format!("{}: `{name}` is {value}, not 0 to 2^32", here())))
        };
        let bytes = || number("comm_size").map(|size| Bytes::new(size as f64));
        let work = match self.kind {
            node_type::COMPUTE => Work::Compute(Seconds::from_micros(self.micros as f64)),
            node_type::SEND => {
                number("comm_dst")?;
                Work::Send { to: small("comm_dst")?, bytes: bytes()?, tag: small("comm_tag")? }
            }
            node_type::RECEIVE => {
                number("comm_src")?;
                Work::Receive { from: small("comm_src")?, bytes: bytes()?, tag: small("comm_tag")? }
            }
            node_type::COLLECTIVE => {
                let kind = number("comm_type")?;
                let Some(kind) = KINDS.iter().find(|known| known.0 == kind).and_then(|known| known.1) else {
                    return Err(Problem::new(format!(
                        "{} is a collective of kind {kind}, which cannot be simulated",
                        here()
                    ))
                    .hint("kinds are all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce and barrier"));
                };
                // A barrier has no bytes.
                let input =
                    if kind == railwright_step::CollectiveKind::Barrier { Bytes::ZERO } else { bytes()? };
                let group = self.group.clone().filter(|name| name != "0").unwrap_or_default();
                Work::Collective { kind, input, group }
            }
            node_type::METADATA => {
                if let Some(values) = &self.values {
                    groups.extend(process_groups(values));
                }
                Work::Nothing("metadata")
            }
            node_type::MEMORY_LOAD => Work::Nothing("memory load"),
            node_type::MEMORY_STORE => Work::Nothing("memory store"),
            other => {
                return Err(Problem::new(format!("{} has the unknown type {other}", here()))
                    .hint("types are 1 to 7 of `NodeType` in et_def.proto"));
            }
        };
        Ok(Node { id: self.id, name: self.name, after: self.after, work })
    }
}

/// Groups of PyTorch's `## process_group:init ##` node: JSON in the only element of a list. Other values
/// define none.
fn process_groups(values: &str) -> BTreeMap<String, Vec<u32>> {
    #[derive(serde::Deserialize)]
    struct Group {
        pg_name: String,
        #[serde(default)]
        ranks: Vec<u32>,
    }
    let (Some(begin), Some(end)) = (values.find("[{"), values.rfind("}]")) else { return BTreeMap::new() };
    let Some(inner) = values.get(begin..end + 2) else { return BTreeMap::new() };
    let unescaped = inner.replace("\\\"", "\"");
    let groups: Vec<Group> = serde_json::from_str(&unescaped).unwrap_or_default();
    groups.into_iter().map(|group| (group.pg_name, group.ranks)).collect()
}
