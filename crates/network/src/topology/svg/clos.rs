//! Folded Clos fabrics: tiers as rows, pods or fabrics in columns, domains as bars below.
//!
//! Responsible for: the shown parts, and the numbers of the rows.

use super::super::clos::Clos;
use super::super::design::{ClosNetwork, Design};
use super::super::graph::Layer;
use super::canvas::{Band, Canvas, LEFT, RIGHT, WIDTH, boxes, gigabits, shown};
use railwright_spec::human;

const BOX: f64 = 26.0;
const STEP: f64 = 92.0;

/// Positions of the drawn switches of one unit, by tier from the leaves.
type Middles = Vec<Vec<(u64, f64)>>;

struct Rows {
    leaf: Band,
    spine: Band,
    core: Band,
}

pub(super) fn draw(design: &Design, network: &ClosNetwork, canvas: &mut Canvas) {
    let clos = &network.clos;
    // The fourth tier is a number next to the third.
    let tiers = network.kept_tiers.min(clos.tiers).min(3);
    let fabrics = design.planes * network.fabrics_per_plane;
    // Pods of the only fabric, or fabrics: the units next to each other.
    let pods_are_units = fabrics == 1 && tiers == 3;
    let units = if pods_are_units { clos.pods } else { fabrics };
    // Frames bear names above them.
    let top = if units > 1 && !pods_are_units { 90.0 } else { 74.0 };
    let band = |row: u64| Band { top: top + row as f64 * STEP, height: BOX };
    let rows = Rows { leaf: band(tiers - 1), spine: band(tiers.saturating_sub(2)), core: band(0) };
    label(design, network, tiers, &rows, canvas);
    let (from, to) = (LEFT, WIDTH - RIGHT);
    let cores = if pods_are_units { Some(core_row(clos, from, to, &rows, canvas)) } else { None };
    let mut leaves: Vec<f64> = Vec::new();
    let many = if units == 1 { 12 } else { 4 };
    let mut parts = Vec::new();
    let per_pod = if pods_are_units { domains_per_pod(design, network) } else { None };
    let mut bars = Vec::new();
    boxes(units, 4, from, to, 14.0, |unit, x, width, _| parts.push((unit, x, width)), canvas);
    canvas.mark_gaps(rows.leaf.top + BOX / 2.0);
    for (unit, x, width) in parts {
        let name = unit_name(design, network, pods_are_units, unit);
        if units > 1 {
            let first = if pods_are_units { rows.spine.top } else { rows.core.top.min(rows.leaf.top) };
            let height = rows.leaf.top + BOX - first + 16.0;
            canvas.rect(x - 4.0, first - 8.0, width + 8.0, height, "f", &name);
            canvas.text(x + width / 2.0, first - 12.0, "m", &name);
        }
        let middles = unit_rows(clos, tiers, pods_are_units, (x, x + width), many, &rows, canvas);
        if let (Some(cores), Some(spines)) = (&cores, middles.get(1)) {
            for (_, spine) in spines {
                for core in cores {
                    canvas.line(Layer::SpineCore, (*spine, rows.spine.top), (*core, rows.core.top + BOX));
                }
            }
        }
        if let Some(each) = per_pod {
            let last = ((unit + 1) * each).min(design.domains()) - 1;
            bars.push((x, width, format!("domains {} to {last}", unit * each)));
        }
        leaves.extend(middles.first().into_iter().flatten().map(|(_, x)| *x));
    }
    below(design, &leaves, &bars, rows.leaf.top + BOX, canvas);
}

fn unit_name(design: &Design, network: &ClosNetwork, pods_are_units: bool, unit: u64) -> String {
    if pods_are_units {
        return format!("pod {unit}");
    }
    let (plane, fabric) = (unit / network.fabrics_per_plane, unit % network.fabrics_per_plane);
    match (design.planes > 1, network.fabrics_per_plane > 1) {
        (true, true) => format!("plane {plane}, rail {fabric}"),
        (true, false) => format!("plane {plane}"),
        (false, _) => format!("rail {fabric}"),
    }
}

/// Names of rows with their totals.
fn label(design: &Design, network: &ClosNetwork, tiers: u64, rows: &Rows, canvas: &mut Canvas) {
    let counts = design.counts();
    let clos = &network.clos;
    let tier = |name: &str| counts.tiers.iter().find(|t| t.name == name).map_or(0, |t| t.switches);
    let (leaves, spines, cores) = (tier("leaf"), tier("spine"), tier("core"));
    let port = gigabits(design.port_bandwidth);
    let hosts = format!("{} x {} down", clos.hosts_per_leaf, gigabits(design.nic_port_bandwidth()));
    let up = if tiers < 2 { String::new() } else { format!("{} x {port} up", clos.leaf_uplinks) };
    let shared = match network.fabrics_per_switch {
        1 => String::new(),
        n => format!("{n} rails on each switch"),
    };
    let title = if tiers == 1 { "switch" } else { "leaf" };
    canvas.row(&human::several(leaves, title), &[&hosts, &up, &shared], rows.leaf.top + 12.0);
    if tiers >= 2 {
        let down = clos.leaves_per_pod * clos.trunk();
        let up = if tiers < 3 { String::new() } else { format!("{} x {port} up", clos.spine_uplinks) };
        let name = human::several(spines, "spine");
        canvas.row(&name, &[&format!("{down} x {port} down"), &up], rows.spine.top + 12.0);
    }
    if tiers >= 3 {
        let groups = format!("in {} groups of {}", clos.zones() * clos.core_groups, clos.cores_per_group);
        let tops = match tier("top") {
            0 => String::new(),
            tops => format!("below {}", human::several(tops, "top switch")),
        };
        canvas.row(&human::several(cores, "core"), &[&groups, &tops], rows.core.top + 12.0);
    }
}

fn core_row(clos: &Clos, from: f64, to: f64, rows: &Rows, canvas: &mut Canvas) -> Vec<f64> {
    let draw = |core: u64, x: f64, width: f64, canvas: &mut Canvas| {
        canvas.rect(x, rows.core.top, width.min(60.0), BOX, "c", &format!("core {core}"));
    };
    let pitch = (to - from) / clos.cores().clamp(1, 8) as f64;
    let shift = ((pitch - 20.0) - (pitch - 20.0).min(60.0)) / 2.0;
    let middles = boxes(clos.cores(), 8, from, to, 20.0, draw, canvas);
    canvas.mark_gaps(rows.core.top + BOX / 2.0);
    middles.into_iter().map(|(_, x)| x - shift).collect()
}

/// The switches of a pod or a fabric, with the links between them.
fn unit_rows(
    clos: &Clos,
    tiers: u64,
    is_pod: bool,
    (from, to): (f64, f64),
    many: usize,
    rows: &Rows,
    canvas: &mut Canvas,
) -> Middles {
    let leaves = if is_pod { clos.leaves_per_pod } else { clos.leaves() };
    let spines = if is_pod { clos.spines_per_pod } else { clos.spines() };
    let mut middles = Vec::new();
    let mut tier = |n: u64, band: Band, class: &str, name: &str, canvas: &mut Canvas| {
        let draw = |part: u64, x: f64, width: f64, canvas: &mut Canvas| {
            canvas.rect(x, band.top, width, band.height, class, &format!("{name} {part}"));
        };
        let found = boxes(n, many, from, to, 6.0, draw, canvas);
        canvas.mark_gaps(band.top + BOX / 2.0);
        middles.push(found);
    };
    tier(leaves, rows.leaf, "l", "leaf", canvas);
    if tiers >= 2 {
        tier(spines, rows.spine, "p", "spine", canvas);
    }
    if tiers >= 3 && !is_pod {
        tier(clos.cores(), rows.core, "c", "core", canvas);
    }
    let bands = [rows.leaf, rows.spine, rows.core];
    for (n, pair) in middles.windows(2).enumerate() {
        let layer = if n == 0 { Layer::LeafSpine } else { Layer::SpineCore };
        for (_, lower) in &pair[0] {
            for (_, upper) in &pair[1] {
                canvas.line(layer, (*lower, bands[n].top), (*upper, bands[n + 1].top + BOX));
            }
        }
    }
    middles
}

/// Domains below each pod; `None` if pods do not contain whole ones.
fn domains_per_pod(design: &Design, network: &ClosNetwork) -> Option<u64> {
    let clos = &network.clos;
    let in_leaf = design.domain.size / design.rails * network.rails_per_group;
    let is_whole = clos.leaves_per_pod.is_multiple_of(clos.groups)
        && clos.hosts_per_leaf.is_multiple_of(in_leaf)
        && !clos.by_group
        && design.rails > 1;
    is_whole.then(|| clos.leaves_per_pod / clos.groups * (clos.hosts_per_leaf / in_leaf))
}

/// Draws devices: with rails, domains as bars that reach each of their leaves; else under their leaves.
fn below(design: &Design, leaves: &[f64], bars: &[(f64, f64, String)], from: f64, canvas: &mut Canvas) {
    let top = from + 44.0;
    let links = format!("{} a device", gigabits(design.nic_bandwidth));
    let domains = format!("domains of {}", human::whole(design.domain.size));
    let inside = format!("{} inside", human::bandwidth(design.domain.bandwidth));
    canvas.row(&human::several(design.devices, "device"), &[&links, &domains, &inside], top + 10.0);
    let is_across = design.rails > 1 || design.planes > 1;
    if !bars.is_empty() {
        for (x, width, name) in bars {
            canvas.rect(*x, top, *width, 20.0, "u", name);
            canvas.text(x + width / 2.0, top + 14.0, "i", name);
        }
        for x in leaves {
            canvas.line(Layer::Access, (*x, from), (*x, top));
        }
        return;
    }
    if is_across {
        let list = shown(design.domains(), 3);
        let mut y = top;
        for domain in list {
            if let Some(domain) = domain {
                canvas.rect(LEFT, y, WIDTH - RIGHT - LEFT, 20.0, "u", &format!("domain {domain}"));
                canvas.text((LEFT + WIDTH - RIGHT) / 2.0, y + 14.0, "i", &format!("domain {domain}"));
                y += 26.0;
            } else {
                canvas.text((LEFT + WIDTH - RIGHT) / 2.0, y + 8.0, "m", "\u{2026}");
                y += 16.0;
            }
        }
        for x in leaves {
            canvas.line(Layer::Access, (*x, from), (*x, top));
        }
        return;
    }
    for x in leaves {
        for n in 0..3_i32 {
            let place = x + f64::from(n - 1) * 7.0;
            canvas.line(Layer::Access, (*x, from), (place, top));
            canvas.rect(place - 2.5, top, 5.0, 14.0, "d", "a device");
        }
    }
}
