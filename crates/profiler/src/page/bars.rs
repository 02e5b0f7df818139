//! Stacked bars of the HTML report.
//!
//! Responsible for: one bar for the job, each step and each rank, as SVG with the colours of the report.
//! Computes nothing.

use super::format::{class, percent, time};
use crate::profile::Report;
use crate::waterfall::Group;
use railwright_spec::human::markup;
use std::fmt::Write;

const WIDTH: f64 = 1040.0;
const LABEL: f64 = 90.0;
const ROW: f64 = 20.0;

/// A group, its name, and its share (0 to 1).
type Share<'a> = (Group, &'a str, f64);

/// Draws shares next to each other, from `x` over `width`.
fn stack(out: &mut String, shares: &[Share<'_>], place: (f64, f64, f64, f64), named: bool) {
    let (mut x, y, width, height) = place;
    for &(group, name, share) in shares.iter().filter(|(.., share)| *share > 0.0) {
        let part = share * width;
        // Writing to a string never fails.
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{part:.2}\" height=\"{height:.1}\"><title>{}: {}</title></rect>",
            class(group),
            markup(name),
            percent(share)
        );
        if named && part > 60.0 {
            let _ = write!(
                out,
                "<text class=\"on\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 8.0,
                y + height / 2.0 + 4.0,
                percent(share)
            );
        }
        x += part;
    }
}

fn open(out: &mut String, height: f64, title: &str) {
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        markup(title)
    );
}

/// Draws the whole job in one bar.
pub(super) fn whole(out: &mut String, report: &Report) {
    open(out, 44.0, "where a step goes");
    let shares: Vec<Share<'_>> =
        report.lines.iter().map(|line| (line.group, line.part.name.as_str(), line.part.share)).collect();
    stack(out, &shares, (0.0, 2.0, WIDTH, 40.0), true);
    let _ = writeln!(out, "</svg>");
}

fn row(out: &mut String, at: usize, label: &str, behind: &str, shares: &[Share<'_>], scale: f64) {
    let y = at as f64 * (ROW + 4.0);
    let _ = write!(out, "<text x=\"0\" y=\"{:.1}\">{}</text>", y + 15.0, markup(label));
    stack(out, shares, (LABEL, y, (WIDTH - LABEL - 90.0) * scale, ROW), false);
    let _ = write!(
        out,
        "<text class=\"faint\" x=\"{WIDTH}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        y + 15.0,
        markup(behind)
    );
}

/// Shares with their names in the order of [`Group::ALL`].
fn shares(report: &Report, shares: impl Iterator<Item = f64>) -> Vec<Share<'static>> {
    let known = report.utilisation.is_some();
    Group::ALL.into_iter().zip(shares).map(|(group, share)| (group, group.name(known), share)).collect()
}

/// Draws a bar for each step, with the length of the step.
pub(super) fn steps(out: &mut String, report: &Report) {
    open(out, report.steps.len() as f64 * (ROW + 4.0), "steps");
    let longest = report.steps.iter().map(|step| step.duration).max().unwrap_or(1).max(1) as f64;
    for (at, step) in report.steps.iter().enumerate() {
        let duration = step.duration.max(1) as f64;
        let shares = shares(report, step.groups.iter().map(|time| time / duration));
        row(out, at, &format!("step {}", step.step), &time(duration), &shares, duration / longest);
    }
    let _ = writeln!(out, "</svg>");
}

/// Draws a bar for each rank.
pub(super) fn ranks(out: &mut String, report: &Report) {
    open(out, report.rows.len() as f64 * (ROW + 4.0), "ranks");
    for (at, rank) in report.rows.iter().enumerate() {
        let shares = shares(report, rank.shares.iter().copied());
        row(
            out,
            at,
            &format!("rank {}", rank.rank),
            &format!("waits {}", percent(rank.waiting)),
            &shares,
            1.0,
        );
    }
    let _ = writeln!(out, "</svg>");
}
