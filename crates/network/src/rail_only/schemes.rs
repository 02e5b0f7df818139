//! Schemes of the paper: the route of a message between rails (section 3.1), and traffic between pairs of
//! devices (figure 4).
//!
//! Responsible for: diagrams without axes. The pairs are those of [`super::traffic`] at a size that a reader
//! can count.

use super::figure::Figure;
use crate::picture::{legend, open};
use railwright_spec::human::markup;
use std::fmt::Write as _;

const NAMES: [&str; 3] = ["model parallel", "data in domain", "data on rails"];

/// Figure 4 c and d in principle: domains of 16 devices with model-parallel groups of 4, by class of pair.
pub(super) fn classes(domains: u32) -> Figure {
    const DOMAIN: u32 = 16;
    const GROUP: u32 = 4;
    const CELL: f64 = 9.0;
    let side = domains * DOMAIN;
    let (left, top) = (48.0, 66.0);
    let size = f64::from(side) * CELL;
    let title =
        format!("Figure 4 in principle: {domains} domains of {DOMAIN}, model-parallel groups of {GROUP}");
    let mut out = open(left + size + 24.0, top + size + 44.0, &title);
    legend(&mut out, &NAMES, 16.0, 48.0);
    for from in 0..side {
        for to in (0..side).filter(|to| *to != from) {
            let same = from / DOMAIN == to / DOMAIN;
            let class = match same {
                true if from / GROUP == to / GROUP => 0,
                true if from % GROUP == to % GROUP => 1,
                false if from % DOMAIN == to % DOMAIN => 2,
                _ => continue,
            };
            let (x, y) = (left + f64::from(to) * CELL, top + f64::from(from) * CELL);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{w:.1}\" fill=\"var(--s{class})\"/>",
                w = CELL - 1.0
            );
        }
    }
    for line in 0..=domains {
        let at = f64::from(line * DOMAIN) * CELL;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{foot:.1}\"/>\
             <line class=\"grid\" x1=\"{left}\" x2=\"{edge:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            x = left + at,
            foot = top + size,
            edge = left + size,
            y = top + at
        );
    }
    let _ = write!(
        out,
        "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">receiver</text>\n\
         <text class=\"faint\" transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">sender</text>\n</svg>\n",
        left + size / 2.0,
        top + size + 24.0,
        top + size / 2.0
    );
    Figure { file: format!("figure-4-classes-{domains}.svg"), svg: out }
}

/// Section 3.1: a message to a device of another domain and another rail uses its own domain to reach the
/// rail, and then the rail.
pub(super) fn path() -> Figure {
    const DEVICES: usize = 4;
    let (wide, tall, left, gap) = (72.0, 34.0, 110.0, 16.0);
    let x = |device: usize| left + device as f64 * (wide + gap);
    let mut out = open(560.0, 320.0, "Section 3.1: a message between rails");
    let rows = [("domain A", 210.0), ("domain B", 90.0)];
    for (name, y) in rows {
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\" fill=\"none\" class=\"grid\"/>\
             <text class=\"faint\" x=\"16\" y=\"{:.1}\">{}</text>",
            left - 12.0,
            y - 14.0,
            4.0 * (wide + gap) + 8.0,
            tall + 28.0,
            y + 21.0,
            markup(name)
        );
        for device in 0..DEVICES {
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide}\" height=\"{tall}\" rx=\"4\" fill=\"var(--s5)\" fill-opacity=\"0.25\"/>\
                 <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">rail {}</text>",
                x(device),
                x(device) + wide / 2.0,
                y + 21.0,
                device + 1
            );
        }
    }
    for device in 0..DEVICES {
        let middle = x(device) + wide / 2.0;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"138\" y2=\"196\" stroke-width=\"2\"/>"
        );
    }
    let middle = |device: usize| x(device) + wide / 2.0;
    let _ = write!(
        out,
        "<defs><marker id=\"tip\" orient=\"auto\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"3\"><path d=\"M0,0 L6,3 L0,6 z\" \
         fill=\"var(--s1)\"/></marker></defs>\n\
         <path d=\"M{a:.1},244 C{a:.1},280 {b:.1},280 {b:.1},246\" fill=\"none\" stroke=\"var(--s0)\" stroke-width=\"3\" \
         marker-end=\"url(#tip)\"/>\n\
         <line x1=\"{c:.1}\" x2=\"{c:.1}\" y1=\"208\" y2=\"128\" stroke=\"var(--s1)\" stroke-width=\"3\" marker-end=\"url(#tip)\"/>\n\
         <text class=\"ink\" x=\"{t:.1}\" y=\"292\" text-anchor=\"middle\">1. through the domain to the receiver's rail, B_F</text>\n\
         <text class=\"ink\" x=\"{c2:.1}\" y=\"172\">2. along the rail, B_S</text>\n\
         <text class=\"faint\" x=\"16\" y=\"48\">No switch joins rails. An all-to-all pays both steps where they do not overlap.</text>\n</svg>\n",
        a = middle(0),
        b = middle(2),
        c = middle(2) + 8.0,
        t = f64::midpoint(middle(0), middle(2)),
        c2 = middle(2) + 20.0
    );
    Figure { file: "section-3.1-path.svg".to_owned(), svg: out }
}
