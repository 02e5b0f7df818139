//! All-to-alls by counting, compared with pair by pair.

use super::*;
use crate::simulate::Edge;
use crate::topology::Forwarding;
use proptest::prelude::*;

/// The class pair by pair.
fn in_pairs(class: &Class, design: &Design) -> Class {
    let pairs = |blocks: &Vec<crate::simulate::Block>| {
        let mut edges: Vec<Edge> = Vec::new();
        for block in blocks {
            block.for_each(|edge| edges.push(edge));
        }
        edges
    };
    Class::new(class.name.clone(), class.blocks.iter().map(pairs).collect(), class.steps, design)
}

proptest! {
    #![proptest_config(railwright_cases::cases(48))]

    /// Every kind of tree, every forwarding, groups at any stride: 64 to 256 members.
    #[test]
    fn counting_gives_what_pairs_give(
        kind in proptest::sample::select(vec![
            Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::Trimmed, Kind::DualPlane, Kind::MultiPlane,
        ]),
        domain in prop_oneof![Just(1_u64), Just(4), Just(8), Just(12)],
        radix in prop_oneof![Just(8_u64), Just(12), Just(16), Just(64)],
        forwarding in proptest::sample::select(vec![None, Some(Forwarding::Before), Some(Forwarding::After)]),
        (n, stride) in prop_oneof![Just((64_u64, 1_u64)), Just((64, 2)), Just((96, 1)), Just((72, 3)), Just((128, 1)), Just((256, 1))],
        shape in proptest::sample::select(vec![Shape::Everyone, Shape::Dispatch]),
        ratio in prop_oneof![Just(1.0), Just(3.0)],
        zones in proptest::option::weighted(0.3, 1_u64..5),
    ) {
        let devices = (n * stride).next_multiple_of(domain);
        let spec = DesignSpec {
            routing: Some(Routing::Spray),
            forwarding: if domain > 1 { forwarding } else { None },
            leaf_oversubscription: (ratio > 1.0).then_some(ratio),
            zones: zones.filter(|_| kind != Kind::Trimmed),
            core_oversubscription: zones.filter(|_| kind != Kind::Trimmed).map(|_| ratio),
            ..spec(kind, devices, domain, radix)
        };
        let Ok(design) = spec.resolve() else { return Ok(()) };
        let wiring = Wiring::new(&design, &[]).expect("built");
        let (numbering, exchange) = exchange(n * stride, shape, n, stride, 1e9);
        let counted = Class::of(&exchange, &numbering, None, &design);
        if counted.blocks.is_empty() {
            return Ok(());
        }
        let pairs = in_pairs(&counted, &design);
        prop_assert!((counted.ideal / pairs.ideal - 1.0).abs() < 1e-12, "{} {}", counted.ideal, pairs.ideal);
        let (here, there) = (
            class_time(&wiring, &[counted]).expect("joined"),
            class_time(&wiring, &[pairs]).expect("joined"),
        );
        prop_assert!((here.duration / there.duration - 1.0).abs() < 1e-9, "{:?} {:?}", here.duration, there.duration);
        prop_assert!((here.exchanges[0].latency / there.exchanges[0].latency - 1.0).abs() < 1e-9);
        for (a, b) in here.layers.iter().zip(&there.layers) {
            prop_assert!((a.mean - b.mean).abs() < 1e-9 && (a.busiest - b.busiest).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
}

/// All-to-all of 16,384 ranks, 268 million pairs: the bound of their NICs on a full tree, the
/// oversubscription ratio on a thin one.
#[test]
fn thousands_of_ranks_are_no_matter_of_pairs() {
    let slow = |kind, ratio: f64, n| {
        let design = DesignSpec {
            routing: Some(Routing::Spray),
            leaf_oversubscription: (ratio > 1.0).then_some(ratio),
            hosts_per_leaf: (ratio > 1.0).then_some(32),
            ..spec(kind, n, 8, 64)
        };
        alone(&wiring(&design, &[]), &exchange(n, Shape::Everyone, n, 1, 1e9)).exchanges[0].slowdown
    };
    for n in [4096, 16_384] {
        near(slow(Kind::Clos, 1.0, n), 1.0, 1e-9);
        near(slow(Kind::RailOptimized, 1.0, n), 1.0, 1e-9);
        near(slow(Kind::RailOnly, 1.0, n), 1.0, 1e-9);
    }
    // Of the bytes that leave a domain, all but 24 of 4,088 climb, through half of the bandwidth.
    near(slow(Kind::Clos, 2.0, 4096), 2.0 * 4064.0 / 4088.0, 1e-9);
}
