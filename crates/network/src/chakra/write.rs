//! A trace as bytes.
//!
//! Responsible for: attributes and their types as the readers of the schema expect them (`comm_size` and
//! `comm_type` are `int64`, ranks and tags `int32`, `pg_name` is a string, `is_cpu_op` false on all nodes).
//! Times become whole microseconds. The rounding remainder of a compute node is added to the next, so that
//! the sum is correct.

use super::wire::Message;
use super::{KINDS, Trace, Work, node_type};
use railwright_spec::quantity::Bytes;

/// Version of the schema that is written.
pub const SCHEMA: &str = "1.0.0";

/// Numbers of the fields of an attribute.
const INT32: u64 = 7;
const INT64: u64 = 9;
const BOOL: u64 = 27;
const STRING: u64 = 29;

/// The bytes of a file.
pub fn write(trace: &Trace) -> Vec<u8> {
    let mut file = Vec::with_capacity(96 * trace.nodes.len() + 16);
    let mut metadata = Message::default();
    metadata.bytes(1, SCHEMA.as_bytes());
    metadata.append_to(&mut file);
    let mut left = 0.0;
    for node in &trace.nodes {
        let mut message = Message::default();
        message.number(1, node.id);
        message.bytes(2, node.name.as_bytes());
        let kind = match node.work {
            Work::Compute(_) => node_type::COMPUTE,
            Work::Send { .. } => node_type::SEND,
            Work::Receive { .. } => node_type::RECEIVE,
            Work::Collective { .. } => node_type::COLLECTIVE,
            Work::Nothing(_) => node_type::METADATA,
        };
        message.number(3, kind);
        message.packed(5, &node.after);
        if let Work::Compute(time) = node.work {
            let exact = (time.get() * 1e6 + left).max(0.0);
            left = exact - exact.round();
            message.number(7, exact.round() as u64);
        }
        let mut attribute = |name: &str, field: u64, value: u64| {
            let mut own = Message::default();
            own.bytes(1, name.as_bytes());
            own.number(field, value);
            message.message(10, &own);
        };
        attribute("is_cpu_op", BOOL, 0);
        match &node.work {
            Work::Send { to, bytes, tag } => {
                attribute("comm_dst", INT32, u64::from(*to));
                attribute("comm_size", INT64, whole(*bytes));
                attribute("comm_tag", INT32, u64::from(*tag));
            }
            Work::Receive { from, bytes, tag } => {
                attribute("comm_src", INT32, u64::from(*from));
                attribute("comm_size", INT64, whole(*bytes));
                attribute("comm_tag", INT32, u64::from(*tag));
            }
            Work::Collective { kind, input, group } => {
                let number = KINDS.iter().find(|known| known.1 == Some(*kind)).map_or(0, |known| known.0);
                attribute("comm_type", INT64, number);
                attribute("comm_size", INT64, whole(*input));
                if !group.is_empty() {
                    let mut own = Message::default();
                    own.bytes(1, b"pg_name");
                    own.bytes(STRING, group.as_bytes());
                    message.message(10, &own);
                }
            }
            Work::Compute(_) | Work::Nothing(_) => {}
        }
        message.append_to(&mut file);
    }
    file
}

fn whole(bytes: Bytes) -> u64 {
    bytes.get().round().max(0.0) as u64
}
