//! The network file of ASTRA-sim's analytical backend: dimensions of devices.
//!
//! Responsible for: switches, rings and full meshes of each dimension as cables. Units are those of
//! [`crate::exported::network`]: a GB/s is 2^30 bytes per second, and a message over a switch has the latency
//! twice.
//!
//! Device `n` has the places `n % a`, `n / a % b` and so on in dimensions of `a`, `b`, ... members. A network
//! of one switch is a star. In all others, each device has a node of its own that forwards, as ASTRA-sim's
//! devices do. That node has no limit of its own and no latency.

use super::drawing::{Drawing, at};
use crate::exported::GB;
use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};

/// Keys with one value per dimension.
const KEYS: [&str; 4] = ["topology", "npus_count", "bandwidth", "latency"];

/// Maximum number of devices.
const MOST: usize = 65_536;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Switch,
    Ring,
    Mesh,
}

/// One dimension; bandwidth in bytes per second and latency in ns of each link.
#[derive(Clone, Copy)]
struct Dimension {
    shape: Shape,
    members: usize,
    bandwidth: f64,
    latency: f64,
}

/// Tests whether a text is such a file.
pub(super) fn is_network(text: &str) -> bool {
    let has = |key: &str| {
        text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')))
    };
    KEYS.iter().all(|key| has(key))
}

/// Reads a file.
pub(super) fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    let (dimensions, line) = dimensions(text, file)?;
    let placed = |problem| at(file, line, problem);
    let devices = dimensions
        .iter()
        .try_fold(1_usize, |product, one| product.checked_mul(one.members).filter(|n| *n <= MOST))
        .ok_or_else(|| placed(Problem::new(format!("the dimensions have more than {MOST} devices"))))?;
    let is_star = matches!(dimensions.as_slice(), [one] if one.shape == Shape::Switch);
    let mut drawing = Drawing::default();
    let mut nodes = Vec::with_capacity(devices);
    for n in 0..devices {
        // A host of its own: all links of a device are in the file.
        let name = format!("npu{n}");
        let device = drawing.node(&name, line).map_err(placed)?;
        drawing.set_node(device, "type", "device").map_err(placed)?;
        drawing.set_node(device, "host", &name).map_err(placed)?;
        nodes.push(device);
    }
    if !is_star {
        // As much as all links of a device carry.
        let links = |one: &Dimension| match one.shape {
            Shape::Switch => 1,
            Shape::Ring => 2,
            Shape::Mesh => one.members - 1,
        };
        let all = dimensions.iter().map(|one| one.bandwidth * links(one) as f64).sum();
        for (n, node) in nodes.iter_mut().enumerate() {
            let forwards = drawing.node(&format!("links of npu{n}"), line).map_err(placed)?;
            drawing.set_node(forwards, "type", "switch").map_err(placed)?;
            cable(&mut drawing, [*node, forwards], (all, 0.0), line).map_err(placed)?;
            *node = forwards;
        }
    }
    let mut below = 1;
    for (d, one) in dimensions.iter().enumerate() {
        for first in (0..devices).filter(|n| n / below % one.members == 0) {
            let members: Vec<u32> =
                (0..one.members).filter_map(|place| nodes.get(first + place * below).copied()).collect();
            let name = format!("dimension {d} of npu{first}");
            join(&mut drawing, *one, &members, &name, line).map_err(placed)?;
        }
        below *= one.members;
    }
    Ok(drawing)
}

/// Joins the members of one dimension.
fn join(
    drawing: &mut Drawing,
    dimension: Dimension,
    members: &[u32],
    name: &str,
    line: usize,
) -> Result<(), Problem> {
    let speed = (dimension.bandwidth, dimension.latency);
    match dimension.shape {
        Shape::Switch => {
            let switch = drawing.node(name, line)?;
            drawing.set_node(switch, "type", "switch")?;
            members.iter().try_for_each(|member| cable(drawing, [*member, switch], speed, line))
        }
        Shape::Ring => {
            let next = members.iter().cycle().skip(1);
            // The two members of a ring of two have both links.
            members.iter().zip(next).try_for_each(|(a, b)| cable(drawing, [*a, *b], speed, line))
        }
        Shape::Mesh => {
            let rest = |n: usize| members.iter().skip(n + 1);
            members
                .iter()
                .enumerate()
                .flat_map(|(n, a)| rest(n).map(move |b| [*a, *b]))
                .try_for_each(|ends| cable(drawing, ends, speed, line))
        }
    }
}

fn cable(
    drawing: &mut Drawing,
    ends: [u32; 2],
    (bandwidth, latency): (f64, f64),
    line: usize,
) -> Result<(), Problem> {
    let (bandwidth, latency) = (format!("{bandwidth} B/s"), format!("{latency} ns"));
    drawing.cable(ends, [("bandwidth", bandwidth.as_str()), ("latency", latency.as_str())], line)
}

/// Values of a key with its line.
type Values<'a> = (Vec<&'a str>, usize);

/// The dimensions, and the line of the first key.
fn dimensions(text: &str, file: &str) -> Result<(Vec<Dimension>, usize), Problem> {
    let mut found: [Option<Values<'_>>; KEYS.len()] = [const { None }; KEYS.len()];
    for (n, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let Some((key, values)) = content.split_once(':') else { continue };
        let known = KEYS.iter().zip(&mut found).find(|(known, _)| **known == key.trim());
        let Some((_, slot)) = known else { continue };
        let list = values.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let list = list.ok_or_else(|| {
            let problem = Problem::new(format!("`{}` has no list on its line", key.trim()));
            at(file, n + 1, problem.hint("write the values of all dimensions, as in `[ 8, 4 ]`"))
        })?;
        *slot = Some((list.split(',').map(str::trim).collect(), n + 1));
    }
    let [Some(shapes), Some(members), Some(bandwidths), Some(latencies)] = found else {
        return Err(Problem::new(format!("the network needs the keys {}", KEYS.join(", "))).in_file(file));
    };
    let count = shapes.0.len();
    for (key, (values, line)) in KEYS.iter().zip([&shapes, &members, &bandwidths, &latencies]) {
        if values.len() != count {
            let problem = Problem::new(format!(
                "`{key}` has {} values, but `topology` has {count} dimensions",
                values.len()
            ));
            return Err(at(file, *line, problem));
        }
    }
    let line = shapes.1;
    let number = |word: &str, line: usize, least: f64| {
        let number: Option<f64> = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.filter(|number| *number >= least).ok_or_else(|| {
            at(file, line, Problem::new(format!("`{}` is not a number of at least {least}", shorten(word))))
        })
    };
    let rows = shapes.0.iter().zip(&members.0).zip(bandwidths.0.iter().zip(&latencies.0));
    let rows = rows.map(|((shape, count), (bandwidth, latency))| {
        let shape = match *shape {
            "Switch" => Shape::Switch,
            "Ring" => Shape::Ring,
            "FullyConnected" => Shape::Mesh,
            other => {
                let names = ["Switch", "Ring", "FullyConnected"];
                let problem = Problem::new(format!("`{}` is not a topology of ASTRA-sim", shorten(other)));
                return Err(at(file, line, problem.hint(did_you_mean(other, names, "use `Switch`"))));
            }
        };
        let whole = number(count, members.1, 2.0)?;
        if whole.fract() != 0.0 || whole > MOST as f64 {
            let problem = Problem::new(format!("`{}` is not a whole number up to {MOST}", shorten(count)));
            return Err(at(file, members.1, problem));
        }
        let bandwidth = number(bandwidth, bandwidths.1, 0.0)? * GB;
        Ok(Dimension {
            shape,
            members: whole as usize,
            bandwidth,
            latency: number(latency, latencies.1, 0.0)?,
        })
    });
    Ok((rows.collect::<Result<_, _>>()?, line))
}
