//! NICs that lost ports: `simulate` and `failures` recover equally, and a smaller loss is never worse.

use super::agreement::designs;
use super::broken::neighbours;
use super::*;
use crate::failures::{Recovery, classes};
use crate::topology::{Detail, Kind, Layer, LinkId, Routing, Topology};
use proptest::prelude::*;

/// Time of an exchange with failed parts under a recovery; `None` if ranks are disconnected.
fn time(
    spec: &DesignSpec,
    failed: &[&str],
    recovery: Recovery,
    traffic: &(Numbering, Exchange),
) -> Option<f64> {
    let wiring = wiring(spec, failed).recovering(recovery);
    let outcome = exchange_time(&wiring, &traffic.0, std::slice::from_ref(&traffic.1)).ok()?;
    Some(outcome.duration.get())
}

/// Rings along all rails, under each recovery, compared with the class of the failed part: the same remaining
/// bandwidth, even if the step cannot finish.
#[test]
fn one_recovery_for_failures_and_simulate() {
    let ring = neighbours(256, 8);
    for kind in [Kind::RailOnly, Kind::RailOptimized, Kind::DualPlane, Kind::Clos] {
        let spec = DesignSpec { routing: Some(Routing::Spray), ..spec(kind, 256, 8, 64) };
        let known = classes(&resolve(&spec));
        let whole = time(&spec, &[], Recovery::Spread, &ring).expect("whole");
        for (part, class) in [("nic:3", "NIC"), ("link:access:3", "NIC-leaf link"), ("leaf:0", "leaf")] {
            let class = known.iter().find(|known| known.part == class).expect(class);
            if class.stranded > 0 {
                continue;
            }
            for recovery in [Recovery::Alone, Recovery::Neighbour, Recovery::Spread] {
                let kept = time(&spec, &[part], recovery, &ring).map_or(0.0, |broken| whole / broken);
                assert!(
                    (kept - class.kept(recovery)).abs() < 1e-9,
                    "{kind:?} {part} {recovery:?}: {kept} {class:?}"
                );
            }
        }
    }
}

/// Loss of one port of a NIC, all of its ports, and its leaf in one plane: 15/16 and 7/8 of a server with two
/// planes, and 15/16 again if a leaf serves one rail (HPN: one NIC-ToR link costs 6.25%,
/// 10.1145/3651890.3672265).
#[test]
fn half_a_nic_costs_half_as_much_as_a_whole_one() {
    let dual = DesignSpec { routing: Some(Routing::Ecmp), ..spec(Kind::DualPlane, 256, 8, 64) };
    let ring = neighbours(256, 8);
    let slow = |part: &str| slow(&dual, part, &ring);
    near(slow("link:access:3"), 16.0 / 15.0, 1e-9);
    near(slow("nic:3"), 8.0 / 7.0, 1e-9);
}

fn slow(spec: &DesignSpec, part: &str, traffic: &(Numbering, Exchange)) -> f64 {
    let at = |failed: &[&str]| time(spec, failed, Recovery::Spread, traffic).expect("joined");
    at(&[part]) / at(&[])
}

/// The name of a device's port in the first plane.
fn port_of(design: &Design, device: u32) -> String {
    let topology = Topology::build(design, Detail::Links).expect("small");
    let port = topology.access_link(device, 0).expect("a port");
    let cables = (0..topology.graph.link_count() as u32).step_by(2).map(LinkId);
    let mut access = cables.filter(|link| topology.graph.class(*link).layer == Layer::Access);
    format!("link:access:{}", access.position(|link| link == port).expect("it is there"))
}

proptest! {
    #![proptest_config(railwright_cases::cases(256))]

    /// For any traffic, a NIC with a failed port is no slower than no NIC. It may be faster than a whole one
    /// on oversubscribed trees: traffic along other rails passes fewer congested links.
    #[test]
    fn losing_less_is_never_worse(
        spec in designs(),
        planes in 2_u64..4,
        device in 0_u32..8,
        shape in proptest::sample::select(vec![Shape::Gather, Shape::Reduce, Shape::Everyone, Shape::Dispatch, Shape::Next]),
        stride in 1_u64..5,
        recovery in 0_usize..3,
    ) {
        let spec = DesignSpec { planes: Some(planes), routing: Some(Routing::Spray), ..spec };
        let Ok(design) = spec.resolve() else { return Ok(()) };
        if design.planes < 2 || !design.devices.is_multiple_of(stride) || u64::from(device) >= design.devices {
            return Ok(());
        }
        let recovery = [Recovery::Alone, Recovery::Neighbour, Recovery::Spread][recovery];
        let traffic = exchange(design.devices, shape, design.devices / stride, stride, 1e9);
        let port = port_of(&design, device);
        let nic = format!("nic:{device}");
        let at = |failed: &[&str]| time(&spec, failed, recovery, &traffic).unwrap_or(f64::INFINITY);
        let (less, none) = (at(&[&port]), at(&[&nic]));
prop_assert!(less <= none * (1.0 + 1e-9), "{spec:?} {recovery:?}: one port lost {less}, all {none}");
    }
}
