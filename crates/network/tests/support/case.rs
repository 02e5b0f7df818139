//! Flow programs in a text format, with the time at which every flow ends.
//!
//! Lines: `case ID NAME`, `share 0`, `links N` and for each `bytes/s latency`, `hosts N`, `routes R` and for
//! each `from to latency k (link share) x k`, `flows M` and for each `from to bytes delay end k dependency x
//! k`. A flow begins `delay` and the latency of its route after its last dependency has ended.

use railwright_network::flow::listed::{Listed, Routes};
use railwright_network::simulate::LinkPath;
use railwright_spec::quantity::{Bytes, Seconds};
use std::collections::BTreeMap;

/// A program on a network.
pub(crate) struct Case {
    pub(crate) name: String,
    capacities: Vec<f64>,
    routes: BTreeMap<(u32, u32), LinkPath>,
    pub(crate) flows: Vec<Listed>,
    /// End of each flow, in seconds.
    pub(crate) ends: Vec<f64>,
}

impl Routes for Case {
    fn capacities(&self) -> Vec<f64> {
        self.capacities.clone()
    }

    fn link_path(&self, from: u32, to: u32, _: u64) -> Option<LinkPath> {
        self.routes.get(&(from, to)).cloned()
    }
}

pub(crate) type Failure = Box<dyn std::error::Error>;

impl Case {
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let mut lines = text.lines();
        let mut next = || lines.next().ok_or("the file ends too early");
        let name = next()?.to_owned();
        next()?;
        let count =
            |line: &str| line.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).ok_or("a count");
        let mut capacities = Vec::new();
        for _ in 0..count(next()?)? {
            capacities.push(next()?.split(' ').next().unwrap_or_default().parse()?);
        }
        next()?;
        let mut routes = BTreeMap::new();
        for _ in 0..count(next()?)? {
            let cells: Vec<&str> = next()?.split_whitespace().collect();
            let [from, to, latency, _, own @ ..] = cells.as_slice() else { return Err("a route".into()) };
            let mut links = Vec::new();
            for link in own.chunks_exact(2) {
                links.push((link[0].parse()?, link[1].parse()?));
            }
            routes.insert((from.parse()?, to.parse()?), LinkPath { links, latency: latency.parse()? });
        }
        let (mut flows, mut ends) = (Vec::new(), Vec::new());
        for n in 0..count(next()?)? {
            let cells: Vec<&str> = next()?.split_whitespace().collect();
            let [from, to, bytes, delay, end, _, before @ ..] = cells.as_slice() else {
                return Err("a flow".into());
            };
            ends.push(end.parse()?);
            flows.push(Listed {
                name: n.to_string(),
                from: from.parse()?,
                to: to.parse()?,
                bytes: Bytes::new(bytes.parse()?),
                start: Seconds::new(delay.parse()?),
                after: before.iter().map(|before| before.parse()).collect::<Result<_, _>>()?,
            });
        }
        Ok(Self { name, capacities, routes, flows, ends })
    }

    /// The largest relative distance between the ends of flows and those of the file.
    pub(crate) fn worst(&self, ends: impl Iterator<Item = f64>) -> f64 {
        ends.zip(&self.ends)
            .map(|(end, expected)| (end - expected).abs() / expected.max(1e-12))
            .fold(0.0, f64::max)
    }
}
