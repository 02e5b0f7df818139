//! A design as a diagram that is readable from 8 to 65,536 devices.
//!
//! Responsible for: a self-contained SVG (no script, font or link) with dark mode and labels. Equal parts are
//! drawn a few times with a gap, and counted. Does not draw every link of a large network.

mod clos;
mod grouped;

use super::design::{Design, Fabric};
use super::graph::Layer;
use crate::simulate::layer_name;
use railwright_spec::human::{self, markup};
use railwright_spec::quantity::BytesPerSecond;
use railwright_step::svg::open;
use std::fmt::Write;

/// Width of every diagram.
const WIDTH: f64 = 960.0;
/// Margin at the left for the names of rows.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 16.0;

/// Draws a design.
pub fn draw(design: &Design) -> String {
    let mut canvas = Canvas::default();
    canvas.text(16.0, 26.0, "t", &format!("{}: {}", design.name, devices(design)));
    canvas.text(16.0, 46.0, "s", design.kind.about());
    match &design.fabric {
        Fabric::Clos(network) => clos::draw(design, network, &mut canvas),
        Fabric::Dragonfly(dragonfly) => {
            let below =
                format!("{} devices and {} global links at each router", dragonfly.hosts, dragonfly.globals);
            if dragonfly.groups == 1 {
                let inside = "one group, fully connected".to_owned();
                grouped::circle(dragonfly.routers, "router", true, &[inside, below], &mut canvas);
            } else {
                let inside = format!("{} routers, fully connected", dragonfly.routers);
                grouped::circle(dragonfly.groups, "group", true, &[inside, below], &mut canvas);
            }
        }
        Fabric::DragonflyPlus(plus) => {
            let inside = format!("{} leaves, each connected to {} spines", plus.leaves, plus.spines);
            let below = format!("{} devices at a leaf, {} global links at a spine", plus.hosts, plus.globals);
            grouped::circle(plus.groups, "group", true, &[inside, below], &mut canvas);
        }
        Fabric::SlimFly(slim) => {
            let inside =
                format!("{} routers of {} links and {} devices each", slim.q, slim.degree, slim.hosts);
            grouped::circle(
                2 * slim.q,
                "group",
                false,
                &[inside, "two sets of columns of routers".to_owned()],
                &mut canvas,
            );
        }
        Fabric::Torus(torus) => grouped::torus(torus, &mut canvas),
        Fabric::None => {
            let band = Band { top: 70.0, height: 44.0 };
            canvas.row("devices", &[&devices(design)], band.top + 14.0);
            boxes(
                design.devices,
                24,
                LEFT,
                WIDTH - RIGHT,
                4.0,
                |_, x, width, canvas| {
                    canvas.rect(x, band.top, width, band.height, "d", "a device");
                },
                &mut canvas,
            );
            canvas.rect(LEFT, 140.0, WIDTH - RIGHT - LEFT, 30.0, "u", "the scale-up domain");
            canvas.row("one scale-up domain", &[&human::bandwidth(design.domain.bandwidth)], 154.0);
        }
    }
    canvas.finish(&design.name)
}

fn devices(design: &Design) -> String {
    let all = human::several(design.devices, "device");
    match design.domain.size {
        1 => all,
        size => format!("{all} in {} of {}", human::several(design.domains(), "domain"), human::whole(size)),
    }
}

fn gigabits(speed: BytesPerSecond) -> String {
    format!("{} Gbit/s", speed.get() * 8.0 / 1e9)
}

/// A horizontal strip.
#[derive(Clone, Copy)]
struct Band {
    top: f64,
    height: f64,
}

/// Drawn indices of `n` equal parts: all, or the first ones, a gap (`None`) and the last.
fn shown(n: u64, most: usize) -> Vec<Option<u64>> {
    let most = most.max(3);
    if n <= most as u64 {
        return (0..n).map(Some).collect();
    }
    let mut list: Vec<Option<u64>> = (0..most as u64 - 2).map(Some).collect();
    list.extend([None, Some(n - 1)]);
    list
}

/// Places equal parts between two edges, calls back for each drawn part, and marks the gap. Returns the
/// centres with part numbers.
fn boxes(
    n: u64,
    most: usize,
    from: f64,
    to: f64,
    space: f64,
    mut each: impl FnMut(u64, f64, f64, &mut Canvas),
    canvas: &mut Canvas,
) -> Vec<(u64, f64)> {
    let list = shown(n, most);
    let pitch = (to - from) / list.len().max(1) as f64;
    let mut middles = Vec::new();
    for (place, part) in list.iter().enumerate() {
        let x = from + place as f64 * pitch;
        if let Some(part) = part {
            each(*part, x + space / 2.0, (pitch - space).max(1.0), canvas);
            middles.push((*part, x + pitch / 2.0));
        } else {
            canvas.gaps.push(x + pitch / 2.0);
        }
    }
    middles
}

/// An SVG in the making.
#[derive(Default)]
struct Canvas {
    lines: String,
    body: String,
    bottom: f64,
    gaps: Vec<f64>,
}

impl Canvas {
    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str, title: &str) {
        self.bottom = self.bottom.max(y + height);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"><title>{}</title></rect>",
            markup(title)
        );
    }

    fn circle(&mut self, x: f64, y: f64, radius: f64, class: &str, title: &str) {
        self.bottom = self.bottom.max(y + radius);
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            markup(title)
        );
    }

    /// A link. `data-layer` has the layer's name in loads and failures, for callers that colour it.
    fn line(&mut self, layer: Layer, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) {
        let layer = layer_name(layer);
        let _ =
            writeln!(self.lines, "<path data-layer=\"{layer}\" d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\"/>");
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.bottom = self.bottom.max(y + 4.0);
        let _ =
            writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", markup(text));
    }

    /// The name of a row at the left, with remarks below it.
    fn row(&mut self, name: &str, remarks: &[&str], middle: f64) {
        self.text(16.0, middle, "n", name);
        for (n, remark) in remarks.iter().enumerate() {
            self.text(16.0, middle + 15.0 * (n + 1) as f64, "s", remark);
        }
    }

    /// Marks the gaps of the last boxes with an ellipsis.
    fn mark_gaps(&mut self, middle: f64) {
        for x in std::mem::take(&mut self.gaps) {
            self.text(x, middle + 4.0, "m", "\u{2026}");
        }
    }

    fn finish(mut self, title: &str) -> String {
        self.gaps.clear();
        let height = self.bottom + 18.0;
        format!(
            "{}<title>{}</title>\n{STYLE}<g>\n{}</g>\n{}</svg>\n",
            open(WIDTH, height, ""),
            markup(title),
            self.lines,
            self.body
        )
    }
}

const STYLE: &str = "<style>svg{background:#fff;font:12px sans-serif}text{fill:#222}.t{font-size:16px;font-weight:bold}\
.s{fill:#666;font-size:11px}.n{font-weight:bold}.m{text-anchor:middle}.i{text-anchor:middle;font-size:10px;fill:#fff}\
path{stroke:#8a8f98;stroke-width:.7;fill:none;stroke-opacity:.65}.c{fill:#7a5aa8}.p{fill:#2c7f64}.l{fill:#3b78bd}.d{fill:#8a8f98}\
.u{fill:#c9803a}.f{fill:none;stroke:#8a8f98;stroke-dasharray:3 3}\
@media(prefers-color-scheme:dark){svg{background:#15181c}text{fill:#ddd}.s{fill:#999}.i{fill:#fff}}</style>\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{DesignSpec, Kind};

    #[test]
    fn every_kind_is_drawn_small_and_large_and_stays_readable() {
        for kind in Kind::ALL {
            for devices in [8_u64, 1024, 65_536] {
                let domain = (!matches!(kind, Kind::ScaleUp | Kind::Torus)).then_some(8);
                let spec = DesignSpec {
                    kind: Some(kind),
                    devices: Some(devices),
                    domain,
                    radix: Some(128),
                    ..DesignSpec::default()
                };
                let text = draw(&spec.resolve().expect("it is built"));
                assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{kind:?}");
                assert!(text.len() < 120_000, "{kind:?} {devices}: {} bytes", text.len());
                assert!(text.contains(&human::whole(devices)), "{kind:?} {devices}");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{kind:?} {devices}");
                assert_eq!(text.matches("<g>").count(), text.matches("</g>").count());
            }
        }
    }

    #[test]
    fn links_carry_the_layer_that_loads_name() {
        let spec = DesignSpec {
            kind: Some(Kind::Clos),
            devices: Some(1024),
            domain: Some(8),
            radix: Some(16),
            ..DesignSpec::default()
        };
        let text = draw(&spec.resolve().expect("a clos"));
        for layer in ["access", "leaf-spine", "spine-core"] {
            assert!(text.contains(&format!("<path data-layer=\"{layer}\"")), "{layer}");
        }
        assert_eq!(text.matches("<path ").count(), text.matches("<path data-layer=").count());
    }

    #[test]
    fn names_cannot_break_out() {
        let name = Some("</title><script>&\u{1}".to_owned());
        let text = draw(&DesignSpec { name, ..DesignSpec::default() }.resolve().expect("a clos"));
        assert!(!text.contains("<script>") && !text.contains('\u{1}'));
    }

    #[test]
    fn a_gap_stands_for_the_middle() {
        assert_eq!(shown(3, 5), [Some(0), Some(1), Some(2)]);
        assert_eq!(shown(100, 5), [Some(0), Some(1), Some(2), None, Some(99)]);
    }

    #[test]
    fn one_group_of_a_dragonfly_shows_its_routers() {
        let drawn = |devices: u64, radix: u64| {
            let sizes = DesignSpec { devices: Some(devices), radix: Some(radix), ..DesignSpec::default() };
            draw(&DesignSpec { kind: Some(Kind::Dragonfly), ..sizes }.resolve().expect("a dragonfly"))
        };
        let (one, many) = (drawn(512, 64), drawn(4096, 32));
        assert!(one.contains(">32 routers<") && one.contains("<title>router 31</title>"), "{one}");
        assert!(many.contains("<title>group 0</title>") && !many.contains("1 groups"), "{many}");
    }
}
