//! Consistency of sums, over any traffic.

use super::*;
use crate::rail_only::time::optimum;
use crate::rail_only::{self, OPT3, Parameters};
use crate::topology::{DesignSpec, Detail, Forwarding, Kind, Layer, Topology};
use proptest::prelude::*;
use railwright_spec::problem::ALWAYS;
use railwright_spec::quantity::Bytes;
use railwright_step::{CollectiveKind, Dimension, Phase};
use std::collections::BTreeMap;

/// Exchanges of a plan, of any parallel sizes, rank order and algorithms.
fn any_traffic() -> impl Strategy<Value = (Traffic, u64)> {
    let kinds = prop::sample::select(vec![
        (CollectiveKind::AllReduce, Algorithm::Ring),
        (CollectiveKind::AllGather, Algorithm::Ring),
        (CollectiveKind::ReduceScatter, Algorithm::Direct),
        (CollectiveKind::AllReduce, Algorithm::Hierarchical),
        (CollectiveKind::AllToAll, Algorithm::Direct),
        (CollectiveKind::AllToAll, Algorithm::Hierarchical),
        (CollectiveKind::AllToAll, Algorithm::Dispatch { copies: 3, most_domains: 2 }),
        (CollectiveKind::Send, Algorithm::Ring),
        (CollectiveKind::Broadcast, Algorithm::Ring),
    ]);
    let degrees = (1_u64..5, 1_u64..4, 1_u64..4, 1_u64..25);
    let list = prop::collection::vec((kinds, 0_usize..5, 1_u32..1000, 1_u32..4), 1..7);
    (degrees, any::<bool>(), list, 1_u64..17).prop_map(
        |((tensor, context, stages, data), is_inside, list, domain)| {
            let stage_ranks = tensor * context * data;
            let block = if is_inside { tensor * context } else { stage_ranks };
            let numbering = Numbering { stages, stage_ranks, block };
            let all: Vec<u32> = (0..stages as u32).collect();
            let exchanges = list
                .into_iter()
                .map(|((kind, algorithm), among, bytes, count)| {
                    let groups = match among {
                        0 => Groups::within(&numbering, all.clone(), tensor, 1),
                        1 => Groups::within(&numbering, all.clone(), context * data, tensor),
                        2 => Groups::within(&numbering, vec![stages as u32 - 1], data, tensor * context),
                        3 => Groups::all(&numbering),
                        _ if stages > 1 => Groups::between(&numbering, all[1..].to_vec(), -1),
                        _ => Groups::within(&numbering, all.clone(), tensor * context, 1),
                    };
                    let (bytes, count) = (Bytes::new(f64::from(bytes)), f64::from(count));
                    let phase = Phase::Forward;
                    Exchange {
                        dimension: Dimension::Data,
                        purpose: "any",
                        phase,
                        kind,
                        algorithm,
                        bytes,
                        count,
                        groups,
                    }
                })
                .collect();
            (Traffic { numbering, exchanges }, domain)
        },
    )
}

fn by_hand(traffic: &Traffic, place: &Place) -> BTreeMap<(u32, u32), f64> {
    let mut sums = BTreeMap::new();
    let Ok(()) =
        traffic.flows(place, ALWAYS, |from, to, bytes| *sums.entry((from, to)).or_insert(0.0) += bytes);
    sums
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// All queries agree: by pair, by row, and in every sum.
    #[test]
    fn every_view_adds_up_to_the_flows((traffic, domain) in any_traffic()) {
        let ranks = traffic.numbering.ranks();
        let place = Place::new(ranks, domain);
        let expected = by_hand(&traffic, &place);
        let matrix = Matrix::new(&traffic, &place);
        for from in 0..ranks as u32 {
            let row = matrix.row(from);
            prop_assert!(row.is_sorted_by(|a, b| a.0 < b.0), "{row:?}");
            for to in 0..ranks as u32 {
                let bytes = expected.get(&(from, to)).copied().unwrap_or(0.0);
                let in_row = row.iter().find(|(partner, _)| *partner == to).map_or(0.0, |(_, bytes)| *bytes);
                prop_assert!(same(matrix.bytes(from, to), bytes), "{from} {to}: {} {bytes}", matrix.bytes(from, to));
                prop_assert!(same(in_row, bytes));
            }
        }
        let mut sums = ByClass::default();
        let mut talking = [0; 3];
        let mut most = [0.0_f64; 3];
        for ((from, to), bytes) in &expected {
            let class = place.class(*from, *to);
            sums.add(class, *bytes);
            talking[class as usize] += 1;
            most[class as usize] = most[class as usize].max(*bytes);
        }
        let summary = traffic.summary(&place);
        prop_assert!(same(summary.sent.get(), sums.total()));
        for row in &summary.pairs {
            prop_assert!(same(row.bytes.get(), sums.of(row.class)), "{row:?} {sums:?}");
            prop_assert_eq!(row.talking, talking[row.class as usize]);
            prop_assert!(same(row.most.get(), most[row.class as usize]), "{row:?} {most:?}");
        }
        let called: f64 = traffic.exchanges.iter().map(|e| e.called().get()).sum();
        let summed: f64 = summary.exchanges.iter().map(|row| row.bytes.get() * row.count * row.groups as f64).sum();
        prop_assert!(same(called, summed), "{called} {summed}");
        let rows: f64 = summary.exchanges.iter().map(|row| row.sent.get()).sum();
        prop_assert!(same(rows, sums.total()));
        let domains = by_domain(&matrix, &place);
        let inside: f64 = domains.iter().map(|row| row.inside.get()).sum();
        let (sent, received) =
            domains.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.sent.get(), sum.1 + row.received.get()));
        prop_assert!(same(inside, sums.same_domain) && same(sent, sums.across()) && same(received, sums.across()));
        let rails = by_rail(&matrix, &place);
        let along: f64 = rails.iter().map(|row| row.along.get()).sum();
        let (sent, received) =
            rails.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.sent.get(), sum.1 + row.received.get()));
        // Rails against rails: the diagonal is along rails, rows and columns are bytes that leave and reach them.
        let Ok(squares) = traffic.rail_squares(&place, ALWAYS);
        let cell = |keep: &dyn Fn(u64, u64) -> bool| -> f64 {
            squares[0].cells.iter().filter(|(i, j, _)| keep(u64::from(*i), u64::from(*j))).map(|cell| cell.2).sum()
        };
        for row in &rails {
            prop_assert!(same(cell(&|i, j| i == row.rail && j == row.rail), row.along.get()), "{squares:?} {rails:?}");
            prop_assert!(same(cell(&|i, j| i == row.rail && j != row.rail), row.sent.get()));
            prop_assert!(same(cell(&|i, j| i != row.rail && j == row.rail), row.received.get()));
        }
        prop_assert!(same(squares[0].bytes.get(), squares[1..].iter().map(|part| part.bytes.get()).sum()));
        prop_assert!(same(along, sums.same_rail) && same(sent, sums.other_rail) && same(received, sums.other_rail));
    }

    /// Cells are sums of pairs, and bytes that enter a network's links leave them again.
    #[test]
    fn cells_and_links_carry_the_same((traffic, domain) in any_traffic(), side in 1_u32..9, kind in 0_usize..4) {
        let ranks = traffic.numbering.ranks();
        let place = Place::new(ranks, domain);
        let matrix = Matrix::new(&traffic, &place);
        let cells = Cells::new(&matrix, side);
        let expected = by_hand(&traffic, &place);
        let mut sums = vec![0.0; (cells.side * cells.side) as usize];
        for ((from, to), bytes) in &expected {
            sums[(from / cells.per_cell * cells.side + to / cells.per_cell) as usize] += bytes;
        }
        for i in 0..cells.side {
            for j in 0..cells.side {
                prop_assert!(same(cells.sum(i, j), sums[(i * cells.side + j) as usize]));
            }
        }
        // The first square is the matrix, and those of the dimensions sum to it.
        let Ok(squares) = traffic.squares(&place, side, ALWAYS);
        let (whole, parts) = squares.squares.split_first().expect("the whole");
        prop_assert!(same(whole.bytes.get(), expected.values().sum()));
        prop_assert!(whole.cells.iter().all(|(i, j, mean)| same(*mean, cells.mean(*i, *j)) && *mean > 0.0));
        prop_assert!(same(whole.bytes.get(), parts.iter().map(|part| part.bytes.get()).sum()));
        for (i, j, mean) in &whole.cells {
            let of = |part: &Square| part.cells.iter().find(|cell| (cell.0, cell.1) == (*i, *j)).map_or(0.0, |cell| cell.2);
            prop_assert!(same(*mean, parts.iter().map(of).sum()));
        }
        let kind = [Kind::Clos, Kind::RailOnly, Kind::DualPlane, Kind::RailOptimized][kind];
        let devices = ranks.next_multiple_of(place.domain);
        let spec = DesignSpec { kind: Some(kind), devices: Some(devices), domain: Some(place.domain), radix: Some(8), ..DesignSpec::default() };
        let Ok(design) = spec.resolve() else { return Ok(()) };
        let place = Place::on(&design, ranks).expect("large enough");
        let topology = Topology::build(&design, Detail::Links).expect("small");
        let loads = Loads::new(&matrix, &place, &topology);
        prop_assert_eq!(loads.unjoined, 0.0);
        let mut by_class = ByClass::default();
        for ((from, to), bytes) in &expected {
            by_class.add(place.class(*from, *to), *bytes);
        }
        let rows = loads.rows(&topology.graph);
        let of = |layer: Layer, direction: Direction| {
            rows.iter().find(|row| (row.layer, row.direction) == (layer, direction)).map_or(0.0, |row| row.bytes.get())
        };
        for layer in [Layer::ScaleUp, Layer::Host, Layer::Access, Layer::LeafSpine, Layer::SpineCore] {
            prop_assert!(same(of(layer, Direction::Up), of(layer, Direction::Down)), "{layer:?} {rows:?}");
        }
        prop_assert!(same(of(Layer::Access, Direction::Up), by_class.across()));
        prop_assert!(same(of(Layer::Host, Direction::Up), by_class.across()));
        // Forwarded bytes also pass a domain.
        let forwarded = if design.joins_rails() && design.forwarding == Forwarding::None { 0.0 } else { by_class.other_rail };
        prop_assert!(same(of(Layer::ScaleUp, Direction::Up), by_class.same_domain + forwarded), "{rows:?} {by_class:?}");
        prop_assert!(of(Layer::LeafSpine, Direction::Up) <= by_class.across() * (1.0 + 1e-9));
        prop_assert!(of(Layer::SpineCore, Direction::Up) <= of(Layer::LeafSpine, Direction::Up) * (1.0 + 1e-9));
    }

    /// An all-to-all and traffic between all pairs are symmetric.
    #[test]
    fn exchanges_among_equals_are_symmetric((mut traffic, domain) in any_traffic()) {
        traffic.exchanges.retain(|exchange| {
            exchange.kind == CollectiveKind::AllToAll || exchange.algorithm == Algorithm::Direct
        });
        let sums = by_hand(&traffic, &Place::new(traffic.numbering.ranks(), domain));
        for ((from, to), bytes) in &sums {
            prop_assert!(sums.get(&(*to, *from)).is_some_and(|back| same(*back, *bytes)), "{from} {to}");
        }
    }

    /// The position of the pipeline among the digits of a rank only renumbers ranks, as long as no domain holds two of them.
    #[test]
    fn the_order_of_digits_only_renames_ranks((mut traffic, _) in any_traffic(), inner in 1_u64..100) {
        traffic.exchanges.retain(|exchange| exchange.groups.members.extent < traffic.numbering.ranks());
        let numbering = traffic.numbering;
        let divisors: Vec<u64> =
            (1..=numbering.stage_ranks).filter(|n| numbering.stage_ranks.is_multiple_of(*n)).collect();
        let block = divisors[inner as usize % divisors.len()];
        let apart = Place::new(numbering.ranks(), 1);
        let other = Traffic { numbering: Numbering { block, ..numbering }, exchanges: traffic.exchanges.clone() };
        let (here, there) = (Matrix::new(&traffic, &apart), Matrix::new(&other, &apart));
        for from in 0..numbering.ranks() {
            for to in 0..numbering.ranks() {
                let bytes = here.bytes(numbering.rank(from), numbering.rank(to));
                let renamed = there.bytes(other.numbering.rank(from), other.numbering.rank(to));
                prop_assert!(same(bytes, renamed), "{from} {to}: {bytes} {renamed}");
            }
        }
    }

    /// Stages that are listed in a different order, and exchanges in a different order, are the same traffic.
    #[test]
    fn order_does_not_matter((traffic, domain) in any_traffic()) {
        let mut turned = traffic.clone();
        turned.exchanges.reverse();
        for exchange in &mut turned.exchanges {
            exchange.groups.stages.reverse();
        }
        let (a, b) = (by_hand(&traffic, &Place::new(traffic.numbering.ranks(), domain)), by_hand(&turned, &Place::new(turned.numbering.ranks(), domain)));
        prop_assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        prop_assert!(a.values().zip(b.values()).all(|(a, b)| same(*a, *b)));
    }
}

/// Section 4 of the derivation: all pairs in blocks of 32, among the 8 replicas in a domain of 256 and on
/// rails of 128. Shares of pairs and bytes are those of the closed form, and so the paper's bounds apply.
#[test]
fn the_papers_shares_come_out_of_its_exchanges() {
    let plain = Parameters::paper(OPT3, 2e6, 32_768.0, 256.0);
    let p = Parameters { model_parallel_factor: 32.0 / optimum(&plain), ..plain };
    let expected = rail_only::traffic::traffic(&p);
    let numbering = Numbering::pipeline_outermost(1, 32_768);
    let exchange = |kind, per_pair: Bytes, extent: u64, stride: u64| {
        let volume = if kind == CollectiveKind::AllReduce { 2.0 } else { 1.0 };
        Exchange {
            dimension: Dimension::Other,
            purpose: "any",
            phase: Phase::Other,
            kind,
            algorithm: Algorithm::Direct,
            bytes: per_pair * (extent as f64 / volume),
            count: 1.0,
            groups: Groups::within(&numbering, vec![0], extent, stride),
        }
    };
    let exchanges = vec![
        exchange(CollectiveKind::AllReduce, expected.model_parallel.bytes, 32, 1),
        exchange(CollectiveKind::AllGather, expected.data_in_domain.bytes, 8, 32),
        exchange(CollectiveKind::AllReduce, expected.data_on_rails.bytes, 128, 256),
    ];
    let summary = Traffic { numbering, exchanges }.summary(&Place::new(32_768, 256));
    assert!((summary.silent_share - expected.silent_pairs()).abs() < 1e-12, "{summary:?}");
    assert!((summary.inside_share - expected.bytes_in_domain()).abs() < 1e-12);
    let inside = summary.pairs[0].talking as f64 / (32_768.0 * 32_767.0);
    assert!((inside - expected.pairs_in_domain()).abs() < 1e-12);
    assert!(summary.silent_share > 0.99 && inside < 0.0025 && summary.inside_share > 0.9);
    assert_eq!(summary.pairs[2].talking, 0);
}

#[test]
fn more_pairs_than_anybody_waits_for_are_refused() {
    let of = |ranks: u64, algorithm: Algorithm| {
        let numbering = Numbering::pipeline_outermost(1, ranks);
        let exchange = Exchange {
            dimension: Dimension::Data,
            purpose: "any",
            phase: Phase::Optimizer,
            kind: CollectiveKind::AllGather,
            algorithm,
            bytes: Bytes::new(1e9),
            count: 1.0,
            groups: Groups::all(&numbering),
        };
        Matrix::new(&Traffic { numbering, exchanges: vec![exchange] }, &Place::new(ranks, 8))
    };
    let (few, many) = (of(64, Algorithm::Direct), of(65_536, Algorithm::Direct));
    let mut visited = 0;
    few.for_each(|_, _, _| visited += 1);
    assert_eq!((few.pairs(), visited), (64 * 63, 64 * 63));
    assert_eq!(Loads::check(&few), Ok(()));
    assert_eq!(Loads::check(&of(65_536, Algorithm::Ring)), Ok(()));
    assert!(Loads::check(&many).expect_err("4 billion pairs").hint.is_some());
}

/// Cancellation: each sum ends at the next check, with the reason.
#[test]
fn sums_end_when_they_are_no_longer_wanted() {
    use std::cell::Cell;
    let numbering = Numbering::pipeline_outermost(1, 64);
    let traffic = Traffic {
        numbering,
        exchanges: vec![Exchange {
            dimension: Dimension::Data,
            purpose: "gradients",
            phase: Phase::Optimizer,
            kind: CollectiveKind::AllReduce,
            algorithm: Algorithm::Ring,
            bytes: Bytes::new(840.0),
            count: 1.0,
            groups: Groups::all(&numbering),
        }],
    };
    let left = Cell::new(0);
    let wanted = || {
        left.set(left.get() - 1);
        if left.get() < 0 { Err("gone") } else { Ok(()) }
    };
    let place = Place::new(64, 8);
    let matrix = Matrix::new(&traffic, &place);
    let topology =
        Topology::build(&DesignSpec::of(Kind::Clos, 64, 8, 64).resolve().expect("a design"), Detail::Links)
            .expect("built");
    for asked in 0..3 {
        let ends = |what: &str, ended: bool| assert!(ended, "{what} after {asked} questions");
        left.set(asked);
        ends("a matrix", Matrix::watched(&traffic, &place, &wanted) == Err("gone"));
        left.set(asked);
        ends("squares", traffic.squares(&place, 8, &wanted) == Err("gone"));
        left.set(asked);
        ends("rails", traffic.rail_squares(&place, &wanted) == Err("gone"));
    }
    left.set(0);
    assert_eq!(Loads::watched(&matrix, &place, &topology, &wanted), Err("gone"));
    left.set(1000);
    assert_eq!(Matrix::watched(&traffic, &place, &wanted), Ok(matrix));
}
