//! A design as a diagram that is readable from 8 to 65,536 devices.
//!
//! Responsible for: a self-contained SVG (no script, font or link) with dark mode and labels. Equal parts are
//! drawn a few times with a gap, and counted. Does not draw every link of a large network.

mod canvas;
mod clos;
mod grouped;

use super::design::{Design, Fabric};
use canvas::{Band, Canvas, LEFT, RIGHT, WIDTH, boxes};
use railwright_spec::human;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::svg::canvas::shown;
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
