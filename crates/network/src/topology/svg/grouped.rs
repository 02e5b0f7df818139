//! Groups on a circle, and tori as grids.
//!
//! Responsible for: dragonflies and related topologies, in which every group is joined to every other.

use super::super::graph::Layer;
use super::super::torus::Torus;
use super::canvas::{Canvas, LEFT, RIGHT, WIDTH, shown};
use railwright_spec::{Portable as _, human};
use std::f64::consts::TAU;

/// `count` groups on a circle (or `noun`, if they have another name), all joined or all separate.
pub(super) fn circle(count: u64, noun: &str, is_joined: bool, remarks: &[String], canvas: &mut Canvas) {
    let (x, y, radius) = ((LEFT + WIDTH - RIGHT) / 2.0, 260.0, 160.0);
    let list = shown(count, 12);
    let layer = if noun == "router" { Layer::Local } else { Layer::Global };
    let at = |place: usize| {
        let angle = TAU * place as f64 / list.len() as f64 - TAU / 4.0;
        (x + radius * angle.portable_cos(), y + radius * angle.portable_sin())
    };
    let remarks: Vec<&str> = remarks.iter().map(String::as_str).collect();
    canvas.row(&human::several(count, noun), &[], 100.0);
    for (n, remark) in remarks.iter().enumerate() {
        canvas.text(16.0, 118.0 + 15.0 * n as f64, "s", remark);
    }
    for (n, group) in list.iter().enumerate() {
        let (from_x, from_y) = at(n);
        if group.is_none() {
            canvas.text(from_x, from_y + 4.0, "m", "\u{2026}");
            continue;
        }
        for (m, other) in list.iter().enumerate().skip(n + 1) {
            if other.is_some() && is_joined {
                let (to_x, to_y) = at(m);
                canvas.line(layer, (from_x, from_y), (to_x, to_y));
            }
        }
    }
    for (n, group) in list.iter().enumerate() {
        if let Some(group) = group {
            let (x, y) = at(n);
            canvas.circle(x, y, 22.0, "l", &format!("{noun} {group}"));
            canvas.text(x, y + 4.0, "i", &group.to_string());
        }
    }
}

/// A grid of the first two dimensions, with further layers in the background.
pub(super) fn torus(torus: &Torus, canvas: &mut Canvas) {
    let size = |n: usize| torus.dimensions.get(n).copied().unwrap_or(1);
    let (columns, rows) = (shown(size(0), 9), shown(size(1), 7));
    let layers = size(2).min(3);
    let (left, top, pitch) = (LEFT + 60.0, 96.0, 62.0);
    let sizes: Vec<String> = torus.dimensions.iter().map(u64::to_string).collect();
    canvas.row(&sizes.join(" x "), &["each connected to its neighbours", "ends connected to ends"], 110.0);
    if let Some(cube) = torus.cube {
        canvas.text(16.0, 160.0, "s", &format!("copper in cubes with an edge of {cube}"));
    }
    for layer in (0..layers).rev() {
        let shift = layer as f64 * 14.0;
        let at = |column: usize, row: usize| {
            (left + column as f64 * pitch + shift, top + row as f64 * 50.0 - shift)
        };
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in columns.iter().enumerate() {
                let (x, y) = at(c, r);
                let (Some(row), Some(column)) = (row, column) else {
                    if layer == 0 {
                        canvas.text(x, y + 4.0, "m", "\u{2026}");
                    }
                    continue;
                };
                // To the next of each dimension; the link of the last one wraps around.
                if c + 1 < columns.len() {
                    let (to_x, to_y) = at(c + 1, r);
                    canvas.line(Layer::Torus, (x, y), (to_x, to_y));
                } else if size(0) > 1 {
                    canvas.line(Layer::Torus, (x, y), (x + pitch / 2.0, y));
                }
                if r + 1 < rows.len() {
                    let (to_x, to_y) = at(c, r + 1);
                    canvas.line(Layer::Torus, (x, y), (to_x, to_y));
                } else if size(1) > 1 {
                    canvas.line(Layer::Torus, (x, y), (x, y + 22.0));
                }
                if layer + 1 < layers {
                    canvas.line(Layer::Torus, (x, y), (x + 14.0, y - 14.0));
                }
                canvas.circle(x, y, 6.0, "d", &format!("device at {column}, {row}, {layer}"));
            }
        }
    }
}
