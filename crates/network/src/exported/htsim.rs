//! Flows as a connection matrix of htsim (csg-htsim, sim/datacenter).
//!
//! Responsible for: connections with sizes, starts in picoseconds, and triggers for flows that wait for
//! others. A connection starts one trigger when its last byte is sent and one when it is received. Here both
//! mean its end. Flows with more sets of followers are rejected.

use crate::flow::listed::Listed;
use railwright_spec::problem::Problem;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Sizes above this do not fit the integers of the format.
const MOST_BYTES: f64 = 2_147_483_647.0;

/// A trigger: the flows that it waits for.
type Before<'a> = &'a [u32];

/// The matrix of flows between `devices` devices.
pub fn connection_matrix(flows: &[Listed], devices: u32) -> Result<String, Problem> {
    let mut triggers: BTreeMap<Before<'_>, u32> = BTreeMap::new();
    let mut after: Vec<Vec<u32>> = flows.iter().map(|flow| flow.after.clone()).collect();
    for list in &mut after {
        list.sort_unstable();
    }
    for list in after.iter().filter(|list| !list.is_empty()) {
        let next = triggers.len() as u32 + 1;
        triggers.entry(list.as_slice()).or_insert(next);
    }
    // Triggers that each flow fires at its end.
    let mut started: Vec<Vec<u32>> = vec![Vec::new(); flows.len()];
    for (before, trigger) in &triggers {
        for flow in *before {
            if let Some(own) = started.get_mut(*flow as usize) {
                own.push(*trigger);
            }
        }
    }
    let mut text = format!("Nodes {devices}\nConnections {}\nTriggers {}\n", flows.len(), triggers.len());
    for (number, flow) in flows.iter().enumerate() {
        let refused = |message: String| {
            Problem::new(format!("flow `{}`: {message}", flow.name)).in_file("connection matrix")
        };
        let bytes = flow.bytes.get().round();
        if flow.from == flow.to || bytes < 1.0 {
            return Err(refused(
                "htsim supports neither messages from a device to itself nor empty messages".to_owned(),
            ));
        }
        if bytes > MOST_BYTES {
            return Err(refused(format!("{bytes} bytes exceed the limit of {MOST_BYTES}"))
                .hint("split the flow: the sizes of a connection matrix are 32-bit integers"));
        }
        let own = started.get(number).map_or(&[][..], Vec::as_slice);
        if own.len() > 2 {
            return Err(refused(format!(
                "{} sets of flows depend on this flow, but a connection starts at most two triggers",
                own.len()
            )));
        }
        let _ = write!(text, "{}->{} id {}", flow.from, flow.to, number + 1);
        match after.get(number).and_then(|list| triggers.get(list.as_slice())) {
            Some(trigger) => {
                if flow.start.get() > 0.0 {
                    return Err(refused(
                        "this flow depends on others and has a delay, but a connection supports only one of these"
                            .to_owned(),
                    ));
                }
                let _ = write!(text, " trigger {trigger}");
            }
            None => {
                let _ = write!(text, " start {}", (flow.start.get() * 1e12).round());
            }
        }
        let _ = write!(text, " size {bytes}");
        for (word, trigger) in ["send_done_trigger", "recv_done_trigger"].iter().zip(own) {
            let _ = write!(text, " {word} {trigger}");
        }
        text.push('\n');
    }
    let mut numbered: Vec<(u32, usize)> =
        triggers.iter().map(|(before, trigger)| (*trigger, before.len())).collect();
    numbered.sort_unstable();
    for (trigger, count) in numbered {
        let _ = match count {
            1 => writeln!(text, "trigger id {trigger} oneshot"),
            _ => writeln!(text, "trigger id {trigger} barrier count {count}"),
        };
    }
    Ok(text)
}
