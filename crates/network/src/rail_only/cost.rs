//! Cost of a non-blocking network, counted in switch ports and transceivers.
//!
//! Responsible for: tiers, switches and transceivers of a Clos for all devices and of one Clos for each rail,
//! and the share that rail-only saves. Excludes list prices: only the ratio of a port to a transceiver
//! matters here. Bills with prices are in the crate's `bill`.

use crate::bill::savings::{self, Parts};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Counts of one or several folded Clos networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Tiers of switches.
    pub tiers: u64,
    /// Switches.
    pub switches: u64,
    /// Ports of switches in use: `2 t - 1` for each device.
    pub ports: u64,
    /// Transceivers, two for each link: `2 t` for each device.
    pub transceivers: u64,
}

/// Minimum number of tiers for a non-blocking network of a number of devices: `k`, `k^2 / 2`, `k^3 / 4` for
/// 1, 2, 3.
fn tiers(devices: u64, radix: u64) -> Result<u64, Problem> {
    let most = [radix, radix.saturating_mul(radix) / 2, radix.saturating_pow(3) / 4];
    most.iter().position(|&most| devices <= most).map(|tier| tier as u64 + 1).ok_or_else(|| {
        Problem::new(format!(
            "{devices} devices require more than three tiers of switches with {radix} ports"
        ))
        .at_key("radix")
        .hint(format!("three tiers connect at most {}: use a larger radix", most[2]))
    })
}

/// Switches of a Clos by number of tiers: `N / k`, `3 N / k`, `5 N / k`, in whole switches.
fn switches(devices: u64, radix: u64, tiers: u64) -> u64 {
    (devices * (2 * tiers - 1)).div_ceil(radix)
}

/// One Clos for all devices.
pub fn clos(devices: u64, radix: u64) -> Result<Counts, Problem> {
    check(devices, 1, radix)?;
    let tiers = tiers(devices, radix)?;
    Ok(counts(devices, switches(devices, radix, tiers), tiers))
}

/// Counts of one Clos for each of `domain` rails; rails share a switch if several fit.
pub fn rail_only(devices: u64, domain: u64, radix: u64) -> Result<Counts, Problem> {
    check(devices, domain, radix)?;
    let rail = devices / domain;
    let tiers = tiers(rail, radix)?;
    let all = if tiers == 1 { domain.div_ceil(radix / rail) } else { domain * switches(rail, radix, tiers) };
    Ok(counts(devices, all, tiers))
}

fn counts(devices: u64, switches: u64, tiers: u64) -> Counts {
    Counts { tiers, switches, ports: devices * (2 * tiers - 1), transceivers: devices * 2 * tiers }
}

fn check(devices: u64, domain: u64, radix: u64) -> Result<(), Problem> {
    if radix < 2 {
        return Err(Problem::new(format!("a switch has at least 2 ports, found {radix}")).at_key("radix"));
    }
    if devices == 0 || domain == 0 || !devices.is_multiple_of(domain) {
        return Err(Problem::new(format!("domains of {domain} do not divide {devices} devices"))
            .at_key("domain")
            .hint("rails need equal domains"));
    }
    Ok(())
}

impl Counts {
    fn parts(&self) -> Parts {
        Parts { ports: self.ports as f64, transceivers: self.transceivers as f64 }
    }
}

/// Share of the cost that the second saves over the first, with a port price of `ratio` transceivers.
pub fn saving(before: &Counts, after: &Counts, ratio: f64) -> f64 {
    savings::saving(after.parts(), before.parts(), ratio)
}

/// Price of a 100 Gb/s switch port over that of a transceiver in the table that the paper cites (TopoOpt):
/// 187 and 99 dollars.
pub const PAPER_RATIO: f64 = 187.0 / 99.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2 of version 1 as derived: N, radix, counts of both, saving in percent at three price ratios.
    #[test]
    fn counts_and_savings_are_those_of_the_derivation() {
        for (n, radix, clos_tiers, clos_switches, clos_tr, rail_tiers, rail_switches, rail_tr, savings) in [
            (32768, 64, 3, 2560, 196_608, 2, 1536, 131_072, [37.4, 37.2, 38.3]),
            (32768, 128, 3, 1280, 196_608, 1, 256, 65_536, [74.8, 74.4, 76.7]),
            (32768, 256, 2, 384, 131_072, 1, 128, 65_536, [59.8, 59.2, 62.2]),
            (65536, 64, 3, 5120, 393_216, 2, 3072, 262_144, [37.4, 37.2, 38.3]),
            (65536, 128, 3, 2560, 393_216, 2, 1536, 262_144, [37.4, 37.2, 38.3]),
            (65536, 256, 3, 1280, 393_216, 1, 256, 131_072, [74.8, 74.4, 76.7]),
        ] {
            let (full, rail) = (clos(n, radix).expect("fits"), rail_only(n, 256, radix).expect("fits"));
            assert_eq!((full.tiers, full.switches, full.transceivers), (clos_tiers, clos_switches, clos_tr));
            assert_eq!((rail.tiers, rail.switches, rail.transceivers), (rail_tiers, rail_switches, rail_tr));
            for (ratio, percent) in [PAPER_RATIO, 1090.0 / 659.0, 700.0 / 195.0].into_iter().zip(savings) {
                let here = saving(&full, &rail, ratio) * 100.0;
                assert!((here - percent).abs() < 0.06, "{n} {radix}: {here} {percent}");
            }
        }
    }

    #[test]
    fn savings_are_the_closed_forms() {
        let of = |tiers| counts(1024, 1, tiers);
        for r in [0.5, 1.0, PAPER_RATIO, 4.0] {
            let same = |before, after, closed: f64| {
                assert!((saving(&of(before), &of(after), r) - closed).abs() < 1e-12);
            };
            same(3, 2, (2.0 * r + 2.0) / (5.0 * r + 6.0));
            same(3, 1, (4.0 * r + 4.0) / (5.0 * r + 6.0));
            same(2, 1, (2.0 * r + 2.0) / (3.0 * r + 4.0));
        }
    }

    #[test]
    fn what_cannot_be_built_is_reported() {
        assert!(clos(65536, 16).expect_err("1024 at most").hint.is_some_and(|h| h.contains("1024")));
        assert!(rail_only(1000, 16, 64).is_err());
        assert!(clos(8, 0).is_err());
    }
}
