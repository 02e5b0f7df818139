//! Output of `ibnetdiscover` (infiniband-diags): switches and channel adapters with the cables of their
//! ports.
//!
//! Responsible for: a device for every channel adapter, its host from the first word of the node description,
//! and the data rate of every port. Unknown widths and speeds are errors.
//!
//! Every cable is listed at both of its ends and counts once. Aggregation nodes (SHARP), channel adapters
//! inside switches, are left out with their internal links.

use super::drawing::{Drawing, at};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};

/// Gbit/s of a lane after coding, by the InfiniBand architecture specification (volume 2) and its
/// supplements.
const LANES: [(&str, f64); 9] = [
    ("SDR", 2.0),
    ("DDR", 4.0),
    ("QDR", 8.0),
    ("FDR10", 10.0),
    ("FDR", 13.64),
    ("EDR", 25.0),
    ("HDR", 50.0),
    ("NDR", 100.0),
    ("XDR", 200.0),
];
const WIDTHS: [(&str, f64); 5] = [("1x", 1.0), ("2x", 2.0), ("4x", 4.0), ("8x", 8.0), ("12x", 12.0)];

/// Part of the node description of an aggregation node: `Mellanox Technologies Aggregation Node` (SHARP).
const AGGREGATION: &str = "Aggregation Node";

/// The name and the node description of a node's first line; `None` for other lines.
fn begin(line: &str) -> Option<(&str, Option<&str>, Option<&str>)> {
    let (what, rest) = line.split_once(char::is_whitespace)?;
    let is_node = ["Switch", "Ca", "Rt"].contains(&what);
    is_node.then(|| (what, quoted(rest), rest.split_once('#').and_then(|(_, rest)| quoted(rest))))
}

/// Aggregation nodes by name, with their descriptions.
fn aggregation_nodes(text: &str) -> BTreeMap<&str, &str> {
    let nodes = text.lines().filter_map(|line| begin(line.trim()));
    nodes
        .filter_map(|(what, name, description)| {
            let description = description.filter(|text| what == "Ca" && text.contains(AGGREGATION))?;
            Some((name?, description))
        })
        .collect()
}

/// Reads a file.
pub(super) fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    let inside = aggregation_nodes(text);
    let mut drawing = Drawing::default();
    drawing.in_switches =
        inside.iter().map(|(name, description)| format!("{name} ({description})")).collect();
    let (mut own, mut is_inside): (Option<u32>, bool) = (None, false);
    let mut seen: BTreeSet<[(u32, &str); 2]> = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let placed = |problem| at(file, number + 1, problem);
        let trimmed = line.trim();
        if let Some((what, name, description)) = begin(trimmed) {
            let name = name.ok_or_else(|| placed(Problem::new(format!("`{what}` has no name in quotes"))))?;
            is_inside = inside.contains_key(name);
            if is_inside {
                continue;
            }
            let node = drawing.node(name, number + 1).map_err(placed)?;
            let set = |drawing: &mut Drawing, key: &str, value: &str| {
                drawing.set_node(node, key, value).map_err(placed)
            };
            set(&mut drawing, "type", if what == "Ca" { "device" } else { "switch" })?;
            if let Some(description) = description {
                if what == "Ca" {
                    set(&mut drawing, "host", description.split_whitespace().next().unwrap_or_default())?;
                }
                drawing.describe(node, description);
            }
            own = Some(node);
        } else if let Some(port) = trimmed.strip_prefix('[').filter(|_| !is_inside) {
            let Some(own) = own else {
                return Err(placed(Problem::new("a port precedes the first switch or channel adapter")));
            };
            let (port, rest) = port
                .split_once(']')
                .ok_or_else(|| placed(Problem::new(format!("`{}` is not a port", shorten(trimmed)))))?;
            let name = quoted(rest).ok_or_else(|| placed(Problem::new("a port has no node in quotes")))?;
            if inside.contains_key(name) {
                continue;
            }
            let other = drawing.node(name, number + 1).map_err(placed)?;
            let after = rest.splitn(3, '"').nth(2).unwrap_or_default();
            let far = after
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'))
                .map(|(port, _)| port)
                .ok_or_else(|| placed(Problem::new("the remote end of a port has no port number")))?;
            let (a, b) = ((own, port), (other, far));
            if seen.insert(if a <= b { [a, b] } else { [b, a] }) {
                let rate = rate(after).map_err(placed)?;
                let bandwidth = format!("{rate} Gbit/s");
                drawing
                    .cable([own, other], [("bandwidth", bandwidth.as_str())], number + 1)
                    .map_err(placed)?;
            }
        }
    }
    Ok(drawing)
}

/// The first text in quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1).filter(|name| !name.is_empty())
}

/// Bandwidth in Gbit/s of the last word, such as `4xNDR`.
fn rate(text: &str) -> Result<f64, Problem> {
    let word = text.split_whitespace().next_back().unwrap_or_default();
    let known = word.split_once('x').and_then(|(width, speed)| {
        let width = WIDTHS.iter().find(|(name, _)| name.strip_suffix('x') == Some(width))?;
        let lane = LANES.iter().find(|(name, _)| *name == speed)?;
        Some(width.1 * lane.1)
    });
    known.ok_or_else(|| {
        Problem::new(format!("`{}` is not a width and a speed, such as `4xNDR`", shorten(word)))
    })
}
