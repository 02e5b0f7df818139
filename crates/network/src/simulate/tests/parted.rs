//! Sprays past failed parts with switches pooled by class: the same as link by link, and as cheap at 32,768
//! devices.

use super::agreement::designs;
use super::broken::{neighbours, slowdown};
use super::*;
use crate::topology::{Detail, Topology};
use proptest::prelude::*;

proptest! {
    #![proptest_config(railwright_cases::cases(384))]

    /// Random trees with random failed parts: every exchange takes equally long on links pooled by class and on single links.
    #[test]
    fn classes_of_switches_carry_what_their_members_do(
        spec in designs(),
        shape in proptest::sample::select(vec![Shape::Gather, Shape::Everyone, Shape::Next]),
        stride in 1_u64..9,
        parts in proptest::collection::vec((0_usize..8, 0_u32..40), 1..5),
    ) {
        let spec = DesignSpec { routing: Some(Routing::Spray), ..spec };
        let Ok(design) = spec.resolve() else { return Ok(()) };
        if !design.kind.is_clos() || !design.devices.is_multiple_of(stride) || design.devices <= stride {
            return Ok(());
        }
        let whole = Topology::build(&design, Detail::Links).expect("small");
        let failed: Vec<Part> = parts
            .iter()
            .map(|&(kind, n)| match kind {
                0 => Part::Link(Layer::LeafSpine, n),
                1 => Part::Link(Layer::SpineCore, n),
                2 => Part::Nic(n),
                7 => Part::Link(Layer::CoreTop, n),
                tier => Part::Switch(tier as u8 - 2, n),
            })
            .filter(|part| part.cables(&whole).is_ok())
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        let full = Wiring::of(whole, &failed).expect("parts are there");
        let pooled = Wiring::new(&design, &failed).expect("parts are there");
        prop_assert_eq!(pooled.topology.detail, Detail::Parted);
        let traffic = exchange(design.devices, shape, design.devices / stride, stride, 1e9);
        let time = |wiring: &Wiring| exchange_time(wiring, &traffic.0, std::slice::from_ref(&traffic.1));
        match (time(&full), time(&pooled)) {
            (Ok(a), Ok(b)) => {
                let error = (b.duration / a.duration - 1.0).abs();
                prop_assert!(error < 1e-9, "{failed:?}: {:?} {:?}", a.duration, b.duration);
                prop_assert!(pooled.topology.graph.link_count() <= full.topology.graph.link_count());
            }
            (Err(a), Err(b)) => prop_assert_eq!(a.message, b.message),
            (a, b) => prop_assert!(false, "{failed:?}: {a:?} {b:?}"),
        }
    }
}

/// One part of 32,768 devices fails, packets are sprayed. The extra time of a ring along the rails is that of
/// its class in `network failures`: HPN's 1/16 of a host's ports costs the one device half of its planes; a
/// leaf, spine or NIC their shares.
#[test]
fn failures_at_32768_devices_cost_equals_their_class() {
    let sprayed = |kind, radix| DesignSpec { routing: Some(Routing::Spray), ..spec(kind, 32_768, 8, radix) };
    let ring = neighbours(32_768, 8);
    for (kind, radix) in [(Kind::RailOnly, 64), (Kind::RailOptimized, 64), (Kind::RailOnly, 128)] {
        let design = sprayed(kind, radix);
        let classes = crate::failures::classes(&resolve(&design));
        for (part, class) in [("nic:3", "NIC"), ("link:access:3", "NIC-leaf link"), ("leaf:0", "leaf")] {
            let class = classes.iter().find(|known| known.part == class).expect(class);
            near(slowdown(&design, &[part], &ring), 1.0 / class.kept_spread, 1e-9);
        }
    }
    // Rings that pass a leaf's boundary at every step load all of its uplinks: groups of 16 at 1,024 devices
    // apart.
    let design = sprayed(Kind::RailOptimized, 64);
    let far = exchange(32_768, Shape::Gather, 32, 1024, 1e9);
    let classes = crate::failures::classes(&resolve(&design));
    near(slowdown(&design, &[], &far), 1.0, 1e-9);
    for (part, class) in [("spine:0", "spine"), ("link:leaf-spine:0", "leaf-spine link")] {
        let class = classes.iter().find(|known| known.part == class).expect(class);
        near(slowdown(&design, &[part], &far), 1.0 / class.kept_alone, 1e-9);
    }
}
