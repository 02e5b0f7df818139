//! Failed links, switches and trays within scale-up domains.
//!
//! Responsible for: their classes, if the parts of the domains are known ([`crate::topology::scale_up`]). No
//! failure rate of such a part was found in public: without one in a user's table, a class has its effect and
//! no cost.

use super::class::Class;
use crate::topology::Design;
use crate::topology::scale_up::{DomainPart, ScaleUp, WithoutPart};
use std::collections::{BTreeMap, BTreeSet};

/// Classes of the parts of domains.
pub(super) fn classes(design: &Design) -> Vec<Class> {
    let Some(parts) = design.domain.parts else { return Vec::new() };
    let is_part = |part: &DomainPart| *part != DomainPart::Tray || parts.per_tray > 1;
    DomainPart::ALL.into_iter().filter(is_part).map(|part| class(design, &parts, part)).collect()
}

fn class(design: &Design, parts: &ScaleUp, part: DomainPart) -> Class {
    let size = design.domain.size;
    let hit = if part == DomainPart::Link { 1 } else { size };
    let class = Class {
        part: part.name(),
        count: design.domains() * parts.count(part, size),
        touched: size,
        remark: "no published failure rate, so the effect has no cost; set a rate with --rates",
        ..Class::default()
    };
    match parts.without_part {
        WithoutPart::RunOn => Class { slowed: hit, kept_domain: 1.0 - parts.lost(part), ..class },
        // A device without its domain is of no use to a job that has it in a group there.
        WithoutPart::Drain => Class { cut_off: hit, stranded: hit, kept_domain: 0.0, ..class },
    }
}

/// Shares of scale-up bandwidth that failed parts take, by domain: from all of its devices (`None`), and from
/// one of them on top. A chip that fails alone and with its tray counts once. In two racks the shares of both
/// add up, as for traffic between them.
pub(crate) fn lost(
    design: &Design,
    parts: &ScaleUp,
    failed: impl Iterator<Item = (DomainPart, u64)>,
) -> BTreeMap<(u64, Option<u64>), f64> {
    let (mut chips, mut links) = (BTreeSet::new(), BTreeSet::new());
    for (part, number) in failed {
        match part {
            DomainPart::Link => {
                links.insert(number);
            }
            DomainPart::Switch => {
                chips.insert(number);
            }
            DomainPart::Tray => chips.extend(number * parts.per_tray..(number + 1) * parts.per_tray),
        }
    }
    let mut lost: BTreeMap<(u64, Option<u64>), f64> = BTreeMap::new();
    for chip in chips {
        *lost.entry((chip / parts.switches, None)).or_default() += parts.lost(DomainPart::Switch);
    }
    for device in links.into_iter().map(|link| link / parts.links) {
        let place = (device / design.domain.size, Some(device));
        *lost.entry(place).or_default() += parts.lost(DomainPart::Link);
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::super::expected::{Job, Response, expectation};
    use super::super::rates::Rates;
    use super::super::state::{Part, States};
    use super::super::{Recovery, classes, slowdown};
    use crate::topology::scale_up::WithoutPart;
    use crate::topology::{Design, DesignSpec, Kind};

    fn racks(without: WithoutPart, spares: u64) -> Design {
        let spec = DesignSpec {
            domain_parts: Some("gb200-nvl72".to_owned()),
            domain_without_part: Some(without),
            domain_spares: Some(spares),
            rails: Some(4),
            ..DesignSpec::of(Kind::RailOptimized, 1152, 72, 64)
        };
        spec.resolve().expect("it is built")
    }

    const JOB: Job = Job {
        exposed_share: 0.2,
        exposed_domain_share: 0.3,
        interruption_hours: 0.25,
        recovery: Recovery::Spread,
    };

    fn expected(design: &Design, table: &str) -> Vec<super::super::expected::ClassLoss> {
        let mut rates = Rates::catalogue().expect("well formed");
        if !table.is_empty() {
            rates.overlay(table, "own.csv").expect("valid");
        }
        expectation(design, &rates, &JOB, &|kept| slowdown(kept, JOB.exposed_share)).expect("known").classes
    }

    const OWN: &str = "part,fit,repair_hours\ndomain-link,100,8\ndomain-switch,9224,24\ndomain-tray,500,24\n";

    /// 16 racks of 18 chips in 9 trays, with 1,296 links: without rates, the effect alone.
    #[test]
    fn a_rack_is_drained_or_runs_on() {
        let drained = classes(&racks(WithoutPart::Drain, 0));
        let of = |list: &[super::Class], name: &str| {
            list.iter().find(|class| class.part == name).expect("there").clone()
        };
        let (link, chip, tray) =
            (of(&drained, "domain link"), of(&drained, "domain switch"), of(&drained, "domain tray"));
        assert_eq!((link.count, chip.count, tray.count), (16 * 1296, 16 * 18, 16 * 9));
        assert_eq!((link.stranded, chip.stranded, tray.stranded), (1, 72, 72));
        let slowed = classes(&racks(WithoutPart::RunOn, 0));
        let kept = |name: &str| of(&slowed, name).kept_domain;
        assert!((kept("domain link") - 17.0 / 18.0).abs() < 1e-12);
        assert!((kept("domain tray") - 16.0 / 18.0).abs() < 1e-12);
        assert!(
            expected(&racks(WithoutPart::Drain, 0), "")
                .iter()
                .all(|loss| { !loss.class.part.starts_with("domain") || loss.lost_hours_per_month == 0.0 })
        );
    }

    /// By hand: a chip takes the rack out for 24 h, or 1/18 of the bandwidth of 30% of the step; a link takes
    /// a GPU, for which a spare stands by.
    #[test]
    fn the_cost_of_a_response_is_that_of_its_class() {
        let of = |without, spares, part: &str| {
            let list = expected(&racks(without, spares), OWN);
            list.into_iter().find(|loss| loss.class.part == part).expect("there")
        };
        let restart = 1152.0 * JOB.interruption_hours;
        let chip = of(WithoutPart::Drain, 0, "domain switch");
        assert_eq!((chip.response, chip.slowdown, chip.interrupts), (Response::GoWithout, None, true));
        assert!((chip.lost_hours - (restart + 72.0 * 24.0)).abs() < 1e-9);
        let slower = of(WithoutPart::RunOn, 0, "domain switch");
        let s = 1.0 + 0.3 * (18.0 / 17.0 - 1.0);
        assert_eq!((slower.response, slower.interrupts), (Response::RunOn, false));
        assert!((slower.slowdown.expect("it runs on") - s).abs() < 1e-12);
        assert!((slower.lost_hours - 1152.0 * (1.0 - 1.0 / s) * 24.0).abs() < 1e-9);
        let link = of(WithoutPart::Drain, 0, "domain link");
        assert!((link.lost_hours - (restart + 72.0 * 8.0)).abs() < 1e-9);
        let spare = of(WithoutPart::Drain, 8, "domain link");
        assert_eq!(spare.response, Response::Swap);
        assert!((spare.lost_hours - restart).abs() < 1e-9);
        // No spare replaces a switch.
        assert_eq!(of(WithoutPart::Drain, 8, "domain switch").response, Response::GoWithout);
    }

    /// A link at half speed halves the scale-up bandwidth of its GPU, over which packets are spread evenly.
    #[test]
    fn slow_links_of_a_domain_slow_its_exposed_time() {
        let mut rates = Rates::catalogue().expect("well formed");
        let table =
            "part,fit,repair_hours,slow_per_month,slow_hours,slow_kept\ndomain-link,0,0,0.001,24,0.5\n";
        rates.overlay(table, "own.csv").expect("valid");
        let design = racks(WithoutPart::Drain, 0);
        let all =
            expectation(&design, &rates, &JOB, &|kept| slowdown(kept, JOB.exposed_share)).expect("known");
        assert_eq!(all.brief.len(), 1);
        let slow = all.brief[0].slow.as_ref().expect("a rate");
        assert_eq!((slow.kept, slow.slowdown), (0.5, Some(1.3)));
    }

    #[test]
    fn states_have_parts_of_domains() {
        let part = |class, number| Part { class, number };
        let drained = racks(WithoutPart::Drain, 0);
        let state = States::new(&drained).expect("a Clos").state(&[part("domain switch", 18)]);
        assert_eq!((state.stranded[0].first, state.stranded[0].last), (72, 143));
        assert!(!state.is_connected);
        let slowed = racks(WithoutPart::RunOn, 0);
        let states = States::new(&slowed).expect("a Clos");
        assert_eq!(states.count("domain tray"), 144);
        let state = states.state(&[part("domain switch", 0), part("domain tray", 1)]);
        assert!((state.kept_domain - 15.0 / 18.0).abs() < 1e-12 && state.is_connected);
        // A chip of a failed tray counts once, and a link on top.
        let all = [part("domain switch", 2), part("domain tray", 1), part("domain link", 5)];
        assert!((states.state(&all).kept_domain - 15.0 / 18.0).abs() < 1e-12);
        // Losses of different domains do not add up.
        let apart = states.state(&[part("domain switch", 0), part("domain switch", 18)]);
        assert!((apart.kept_domain - 17.0 / 18.0).abs() < 1e-12);
    }
}
