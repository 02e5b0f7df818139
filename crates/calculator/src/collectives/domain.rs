//! Link constants inside a domain, from the catalogue, interpolated between and extrapolated beyond the
//! measured rank counts.

use super::law::Law;
use super::link::{LinkClass, MESH_LINKS};
use super::{Collective, Source};
use railwright_spec::Portable as _;
use std::sync::OnceLock;

const TABLE: &str = railwright_catalog::COLLECTIVES;

/// Seconds that each further rank adds to a ring inside a domain: the slope of the measured floors from 2 to
/// 8 ranks (H100 0.86, A100 1.0, B200 1.2 us).
const RING_STEP: f64 = 1.0e-6;
/// Seconds that each further peer adds to an all-to-all inside a domain; from 2 to 8 ranks the measured floor
/// does not grow.
const PEER: f64 = 0.3e-6;
/// Seconds that each doubling adds beyond the measured ranks when the switch reduces or a tree is run.
const DOUBLING: f64 = 4.0e-6;

/// One line of the catalogue.
#[derive(Clone, Copy, Debug)]
struct Row {
    link: &'static str,
    op: Collective,
    ranks: u64,
    in_switch: bool,
    base: f64,
    share: f64,
    ramp: f64,
}

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| TABLE.lines().skip(1).filter_map(parse).collect())
}

fn parse(line: &'static str) -> Option<Row> {
    let mut cells = line.split(',');
    let link = cells.next()?;
    let op = Collective::by_name(cells.next()?)?;
    let ranks = cells.next()?.parse().ok()?;
    let in_switch = cells.next()? == "1";
    let mut number = || cells.next()?.parse::<f64>().ok();
    Some(Row { link, op, ranks, in_switch, base: number()? * 1e-6, share: number()?, ramp: number()? * 1e-9 })
}

/// Model of an operation among `ranks` ranks of one domain, with `bandwidth` in bytes per second per device.
///
/// `reduces` is true if the switch can reduce. Operations without curves use a similar one: broadcast that of
/// all-gather, expert dispatch that of all-to-all, and all others that of all-reduce.
pub(super) fn law(
    class: LinkClass,
    op: Collective,
    ranks: u64,
    bandwidth: f64,
    reduces: bool,
) -> (Law, Source) {
    let in_switch =
        op == Collective::AllReduce && reduces && class.in_switch_from().is_some_and(|from| ranks >= from);
    let of_kind = |row: &&Row, op| row.link == class.catalogue_name() && row.op == op;
    let wanted = match op {
        Collective::Broadcast | Collective::SendReceive => Collective::AllGather,
        Collective::ExpertDispatch { .. } => Collective::AllToAll,
        other => other,
    };
    let available =
        if rows().iter().any(|row| of_kind(&row, wanted)) { wanted } else { Collective::AllReduce };
    let mut low: Option<&Row> = None;
    let mut high: Option<&Row> = None;
    for row in rows().iter().filter(|row| of_kind(row, available) && row.in_switch == in_switch) {
        if row.ranks <= ranks {
            low = Some(row);
        }
        if row.ranks >= ranks && high.is_none() {
            high = Some(row);
        }
    }
    let (Some(low), Some(high)) = (low.or(high), high.or(low)) else {
        // Without a matching line, a data-sheet model applies.
        let law = Law { base: 12e-6, per_byte: 1.0 / (0.7 * bandwidth), ramp: 8e-9, in_switch: false };
        return (law, Source::Derived);
    };
    let place = if high.ranks > low.ranks {
        (ranks as f64 / low.ranks as f64).portable_log2()
            / (high.ranks as f64 / low.ranks as f64).portable_log2()
    } else {
        0.0
    };
    let between = |a: f64, b: f64| a + place * (b - a);
    let beyond = ranks.saturating_sub(high.ranks) as f64;
    let more = match available {
        Collective::AllReduce => (1.0 + beyond / high.ranks as f64).portable_log2() * DOUBLING,
        Collective::AllToAll => beyond * PEER,
        _ => beyond * RING_STEP,
    };
    let usable = match class {
        // Each pair of a mesh has one link: a group of n uses n - 1 of the 7.
        LinkClass::Mesh => bandwidth * ((ranks.max(2) - 1) as f64 / MESH_LINKS as f64).min(1.0),
        _ => bandwidth,
    };
    let law = Law {
        base: between(low.base, high.base) + more,
        per_byte: 1.0 / (between(low.share, high.share) * usable),
        ramp: between(low.ramp, high.ramp) * reference(class, bandwidth),
        in_switch,
    };
    let source = match class {
        LinkClass::Torus(_) | LinkClass::Other => Source::Derived,
        _ if low.ranks == ranks && high.ranks == ranks && available == wanted => Source::Measured,
        _ => Source::Interpolated,
    };
    (law, source)
}

/// Factor on the ramp of a link whose bandwidth differs from the measured one of its class: the pipeline of a
/// slower link fills more slowly.
fn reference(class: LinkClass, bandwidth: f64) -> f64 {
    let measured = match class {
        LinkClass::NvLink3 | LinkClass::Other | LinkClass::Torus(_) => 300e9,
        LinkClass::NvLink4 => 450e9,
        LinkClass::NvLink5 => 900e9,
        LinkClass::Mesh => 448e9,
        LinkClass::Pcie => 31e9,
    };
    (measured / bandwidth).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_catalogue_is_read() {
        assert_eq!(rows().len(), TABLE.lines().count() - 1);
        assert!(rows().len() >= 49);
        assert!(
            rows().iter().all(|row| row.share > 0.0 && row.share <= 1.0 && row.base > 0.0 && row.base < 1e-4)
        );
    }

    #[test]
    fn the_switch_reduces_from_five_ranks_on_hopper_and_six_on_blackwell() {
        let in_switch = |class, ranks| law(class, Collective::AllReduce, ranks, 450e9, true).0.in_switch;
        assert!(!in_switch(LinkClass::NvLink4, 4) && in_switch(LinkClass::NvLink4, 5));
        assert!(!in_switch(LinkClass::NvLink5, 5) && in_switch(LinkClass::NvLink5, 6));
        assert!(!in_switch(LinkClass::NvLink3, 8));
    }
}
