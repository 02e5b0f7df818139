//! Failed parts within scale-up domains: the share of bandwidth that `network failures` has, in the
//! simulation.

use super::*;
use crate::failures::classes;
use crate::topology::scale_up::WithoutPart;

fn racks(without: WithoutPart) -> DesignSpec {
    DesignSpec {
        domain_parts: Some("gb200-nvl72".to_owned()),
        domain_without_part: Some(without),
        rails: Some(4),
        ..spec(Kind::RailOptimized, 288, 72, 64)
    }
}

/// An exchange in all domains takes as much longer as in the class of the part, under both kinds of routing;
/// traffic of the network is not affected.
#[test]
fn a_domain_that_runs_on_is_as_slow_as_its_class() {
    for routing in [Routing::Spray, Routing::Ecmp] {
        let spec = DesignSpec { routing: Some(routing), ..racks(WithoutPart::RunOn) };
        let list = classes(&resolve(&spec));
        let inside = exchange(288, Shape::Gather, 72, 1, 1e9);
        let across = exchange(288, Shape::Gather, 4, 72, 1e9);
        let time = |failed: &[&str], traffic| alone(&wiring(&spec, failed), traffic).duration.get();
        for (part, class) in [
            ("domain-link:7", "domain link"),
            ("domain-switch:20", "domain switch"),
            ("domain-tray:35", "domain tray"),
        ] {
            let class = list.iter().find(|known| known.part == class).expect("there");
            near(time(&[], &inside) / time(&[part], &inside), class.kept_domain, 1e-9);
            near(time(&[], &across), time(&[part], &across), 1e-9);
        }
        // Two chips of one domain; two of different ones.
        let whole = time(&[], &inside);
        near(whole / time(&["domain-switch:0", "domain-switch:1"], &inside), 16.0 / 18.0, 1e-9);
        near(whole / time(&["domain-switch:0", "domain-switch:18"], &inside), 17.0 / 18.0, 1e-9);
    }
}

#[test]
fn a_drained_domain_ends_the_step() {
    let design = resolve(&racks(WithoutPart::Drain));
    let error = |part: &str| {
        Wiring::new(&design, &[Part::parse(part).expect("a part")]).expect_err("out of service").message
    };
    assert_eq!(
        error("domain-tray:9"),
        "without `domain-tray:9`, domain 1 is out of service: the step cannot finish"
    );
    assert_eq!(
        error("domain-link:18"),
        "without `domain-link:18`, device 1 is out of service: the step cannot finish"
    );
    assert!(error("domain-switch:72").contains("there is no"));
    let none = resolve(&spec(Kind::RailOptimized, 288, 72, 64));
    assert!(Wiring::new(&none, &[Part::parse("domain-switch:0").expect("a part")]).is_err());
}
