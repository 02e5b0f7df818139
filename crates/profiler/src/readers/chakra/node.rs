//! One node of an execution trace.
//!
//! Responsible for: the fields and attributes of a node. Excludes relations between nodes.

use crate::readers::wire::{Fields, Value};
use railwright_step::CollectiveKind;

/// Type of a node (`NodeType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Type {
    Metadata,
    Memory,
    #[default]
    Compute,
    Send,
    Receive,
    Collective,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) kind: Type,
    /// Identifiers of the nodes that it depends on.
    pub(super) dependencies: Vec<u64>,
    /// Start time, in microseconds.
    start: u64,
    duration: u64,
    /// Shapes of its inputs, as written.
    pub(super) shapes: String,
    /// True if the host runs it.
    pub(super) is_cpu: bool,
    pub(super) thread: i64,
    pub(super) stream: Option<u32>,
    /// `CollectiveCommType`.
    communication: Option<u64>,
    /// Communicated bytes.
    pub(super) bytes: Option<u64>,
    pub(super) group: String,
    pub(super) peer: Option<u32>,
}

/// Adds the integers of a repeated field, packed or not.
fn numbers(into: &mut Vec<u64>, value: Value<'_>) {
    match value {
        Value::Number(number) => into.push(number),
        Value::Bytes(mut packed) => {
            // A packed list is read integer by integer.
            while let Some((number, rest)) = crate::readers::wire::varint(packed) {
                into.push(number);
                packed = rest;
            }
        }
        Value::Double(_) => {}
    }
}

impl Node {
    /// Reads a node; `None` for a damaged message or one without a name.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let mut node = Self::default();
        let mut on_host = None;
        let mut fields = Fields::new(message);
        for (field, value) in fields.by_ref() {
            match field {
                1 => node.id = value.number(),
                2 => node.name = value.text(),
                3 => {
                    node.kind = match value.number() {
                        0 | 1 => Type::Metadata,
                        2 | 3 => Type::Memory,
                        5 => Type::Send,
                        6 => Type::Receive,
                        7 => Type::Collective,
                        _ => Type::Compute,
                    }
                }
                4 | 5 => numbers(&mut node.dependencies, value),
                6 => node.start = value.number(),
                7 => node.duration = value.number(),
                8 => {
                    let shapes = Fields::new(value.bytes()).find(|(field, _)| *field == 2);
                    node.shapes = shapes.map(|(_, value)| value.text()).unwrap_or_default();
                }
                10 => node.attribute(value.bytes(), &mut on_host),
                _ => {}
            }
        }
        // Without the attribute, communication runs on the device and other nodes on the host.
        let communicates = matches!(node.kind, Type::Send | Type::Receive | Type::Collective);
        node.is_cpu = on_host.unwrap_or(!communicates);
        (!fields.is_damaged() && !node.name.is_empty()).then_some(node)
    }

    fn attribute(&mut self, message: &[u8], on_host: &mut Option<bool>) {
        let (mut name, mut number, mut text) = (String::new(), None, None);
        for (field, value) in Fields::new(message) {
            match (field, value) {
                (1, value) => name = value.text(),
                // int32, int64, uint32, uint64, bool.
                (7 | 9 | 11 | 13 | 27, Value::Number(value)) => number = Some(value),
                // sint32, sint64 are written as zigzag.
                (15 | 17, Value::Number(value)) => number = Some((value >> 1) ^ (value & 1).wrapping_neg()),
                (29, value) => text = Some(value.text()),
                _ => {}
            }
        }
        let small = number.and_then(|number| u32::try_from(number).ok());
        match name.as_str() {
            "is_cpu_op" => *on_host = number.map(|number| number != 0),
            "comm_type" => self.communication = number,
            "comm_size" => self.bytes = number,
            "tid" => self.thread = number.unwrap_or(0) as i64,
            "stream" => self.stream = small,
            "pg_name" => {
                self.group = text.or_else(|| number.map(|number| number.to_string())).unwrap_or_default();
            }
            "comm_src" if self.kind == Type::Receive => self.peer = small,
            "comm_dst" if self.kind == Type::Send => self.peer = small,
            _ => {}
        }
    }

    /// Start and end, in nanoseconds; `None` without a duration.
    pub(super) fn times(&self) -> Option<(i64, i64)> {
        let nanoseconds = |micros: u64| i64::try_from(micros).ok()?.checked_mul(1_000);
        let start = nanoseconds(self.start)?;
        let end = start.checked_add(nanoseconds(self.duration)?)?;
        (self.duration > 0).then_some((start, end))
    }

    /// Kind of collective (`CollectiveCommType`); `None` if it is no communication.
    pub(super) fn collective(&self) -> Option<CollectiveKind> {
        match self.kind {
            Type::Send => Some(CollectiveKind::Send),
            Type::Receive => Some(CollectiveKind::Receive),
            _ => Some(match self.communication? {
                0 => CollectiveKind::AllReduce,
                1 => CollectiveKind::Reduce,
                2 => CollectiveKind::AllGather,
                5 => CollectiveKind::Broadcast,
                6 => CollectiveKind::AllToAll,
                7 | 8 => CollectiveKind::ReduceScatter,
                _ => return None,
            }),
        }
    }
}
