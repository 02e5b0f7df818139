//! Other jobs on the network, and storage, as traffic that never ends.
//!
//! Responsible for: senders, receivers and rates. No task depends on them.

use crate::collective::Network;
use railwright_network::simulate::{Class, Edge};
use railwright_network::traffic::RankPlacement;
use railwright_spec::human;
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Devices that send continuously.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Background {
    /// Maximum share of its network bandwidth that each uses.
    pub load: f64,
    /// True for only those devices that the run does not use, false for all, including the run's own.
    pub spare_only: bool,
}

impl Background {
    /// Reads `0.2` or `spare=0.5`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let (spare_only, number) = match text.trim().split_once('=') {
            Some(("spare", number)) => (true, number),
            None => (false, text.trim()),
            Some(_) => (false, ""),
        };
        match number.trim().parse::<f64>() {
            Ok(load) if load > 0.0 && load <= 1.0 => Ok(Self { load, spare_only }),
            _ => Err(Problem::new(format!("invalid background load `{}`", human::shorten(text))).hint(
                "use a share of the network bandwidth of every device, as in `0.2`, or of unused \
                    devices, as in `spare=0.5`",
            )),
        }
    }

    /// Pairs on a network of `devices` of which a run uses the first `ranks`, or those of its seats: each
    /// sends to the one that is half of their number away.
    pub fn pairs(
        self,
        devices: u32,
        ranks: u32,
        seats: Option<&RankPlacement>,
    ) -> Result<Vec<(u32, u32)>, Problem> {
        let is_used = |device: u32| seats.map_or(device, |seats| seats.rank(device)) < ranks;
        let senders: Vec<u32> = (0..devices).filter(|device| !self.spare_only || !is_used(*device)).collect();
        let count = senders.len();
        if count < 2 {
            return Err(Problem::new("there are no unused devices for background load")
                .hint("use a larger network with `design.gpus`, or load all devices"));
        }
        Ok((0..count).map(|n| (senders[n], senders[(n + count / 2) % count])).collect())
    }
}

/// Adds the class of the traffic of other jobs. Returns its index, and the share of bandwidth that each of
/// their devices uses.
pub(super) fn add(
    background: Background,
    classes: &mut Vec<Class>,
    network: Network<'_>,
    (ranks, seats): (u64, Option<&RankPlacement>),
) -> Result<(u32, f64), Problem> {
    // The devices of a file are all that there are.
    let on_file = |problem: Problem| match network {
        Network::Design(_) => problem,
        Network::Imported(_) => {
            problem.hint("load all devices, as in `0.2`, or use a fabric with more devices")
        }
    };
    let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
    let pairs = background.pairs(network.devices(), ranks, seats).map_err(on_file)?;
    let design = &network.frame()?;
    let across =
        |&(from, to): &(u32, u32)| u64::from(from) / design.domain.size != u64::from(to) / design.domain.size;
    let members: Vec<Vec<Edge>> =
        pairs.into_iter().filter(across).map(|(from, to)| vec![Edge { from, to, bytes: 1.0 }]).collect();
    if members.is_empty() {
        return Err(on_file(
            Problem::new(
                "background load has no network traffic: the unused devices are in one scale-up domain",
            )
            .hint("use a larger network with `design.gpus`, or load all devices"),
        ));
    }
    // No task depends on the slowest of them.
    classes.push(Class { apart: true, ..Class::new("other jobs", members, 1.0, design) });
    Ok((classes.len() as u32 - 1, background.load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_shares() {
        assert_eq!(Background::parse("0.2"), Ok(Background { load: 0.2, spare_only: false }));
        assert_eq!(Background::parse("spare=1"), Ok(Background { load: 1.0, spare_only: true }));
        for bad in ["0", "1.5", "-1", "nan", "all=0.2", "spare", ""] {
            assert!(Background::parse(bad).is_err(), "{bad}");
        }
        let spare = Background { load: 0.5, spare_only: true };
        assert_eq!(spare.pairs(8, 4, None).expect("four left"), [(4, 6), (5, 7), (6, 4), (7, 5)]);
        assert!(spare.pairs(8, 8, None).is_err());
        let seats = RankPlacement::new(vec![0, 2, 4, 6]).expect("each once");
        assert_eq!(spare.pairs(8, 4, Some(&seats)).expect("four left"), [(1, 5), (3, 7), (5, 1), (7, 3)]);
    }
}
