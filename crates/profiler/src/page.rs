//! A profile as a self-contained HTML report.
//!
//! Responsible for: HTML without script, font or link, with embedded charts, in a light and a dark theme.
//! Computes nothing: numbers come from the report.

mod bars;
mod format;

pub(crate) use self::format::class;

use self::format::{percent, time};
use crate::profile::{Part, Report};
use crate::tree::{Level, Node};
use crate::waterfall::Group;
use railwright_spec::human::{self, markup};
use std::fmt::Write;

/// Maximum number of kernels in the table.
const KERNELS: usize = 30;

/// Formats a report as HTML.
pub fn page(title: &str, report: &Report) -> String {
    let mut out = String::with_capacity(64 * 1024);
    let name = markup(title);
    // Writing to a string never fails.
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{name}</title><style>{STYLE}</style></head><body><main>\n<h1>{name}</h1>\n"
    );
    head(&mut out, report);
    let _ = writeln!(out, "<h2>Step breakdown</h2>");
    bars::whole(&mut out, report);
    lines(&mut out, report);
    if report.steps.len() > 1 {
        let _ = writeln!(out, "<h2>Steps</h2>");
        bars::steps(&mut out, report);
    }
    if report.rows.len() > 1 {
        let _ = writeln!(out, "<h2>Ranks</h2>");
        bars::ranks(&mut out, report);
    }
    spreads(&mut out, report);
    let _ = writeln!(out, "<h2>Top down</h2><div class=\"tree\">");
    let samples = report.samples.max(1) as f64;
    for node in &report.tree {
        tree(&mut out, node, samples, report.step_time, 0);
    }
    let _ = writeln!(out, "</div>");
    hardware(&mut out, &report.hardware);
    kernels(&mut out, report);
    notes(&mut out, report);
    let _ = writeln!(out, "</main></body></html>");
    out
}

fn head(out: &mut String, report: &Report) {
    let mut facts: Vec<(String, &str)> = Vec::new();
    if let Some(utilisation) = report.utilisation {
        facts.push((percent(utilisation), "model FLOPs utilization"));
    }
    facts.push((time(report.step_time), "a step"));
    let least = if report.world_size_known || report.missing == 0 { "" } else { "at least " };
    // If only one of several recorded ranks is shown, the others are not missing.
    let is_part = report.ranks < report.world_size.saturating_sub(report.missing) as usize;
    let what = if is_part { "ranks shown" } else { "ranks" };
    facts.push((format!("{} of {least}{}", report.ranks, report.world_size), what));
    facts.push((report.steps.len().to_string(), "steps"));
    let largest = report
        .lines
        .iter()
        .filter(|line| line.group != Group::Ideal)
        .max_by(|a, b| a.part.share.total_cmp(&b.part.share));
    if let Some(line) = largest {
        facts.push((percent(line.part.share), line.part.name.as_str()));
    }
    let _ = write!(
        out,
        "<p class=\"faint\">{}</p><div class=\"facts\">",
        markup(report.device.as_deref().unwrap_or(""))
    );
    for (value, what) in facts {
        let _ = write!(out, "<div><b>{}</b><span>{}</span></div>", markup(&value), markup(what));
    }
    let _ = writeln!(out, "</div>");
}

fn lines(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "<table><thead><tr><th></th><th class=\"n\">time</th><th class=\"n\">share</th><th class=\"n\">{}/day</th></tr></thead><tbody>",
        report.hours()
    );
    for line in &report.lines {
        let _ = writeln!(
            out,
            "<tr class=\"line\"><td><i class=\"{}\"></i>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            class(line.group),
            markup(&human::part(&line.part.name)),
            time(line.part.mean),
            percent(line.part.share),
            line.gpu_hours_per_day.map_or_else(String::new, |hours| format!("{hours:.1}"))
        );
        for part in &line.parts {
            row(out, part);
        }
    }
    let _ = writeln!(out, "</tbody></table>");
}

fn row(out: &mut String, part: &Part) {
    let _ = writeln!(
        out,
        "<tr><td class=\"in\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td></td></tr>",
        markup(&human::part(&part.name)),
        time(part.mean),
        percent(part.share)
    );
}

fn spreads(out: &mut String, report: &Report) {
    if report.spreads.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h2>Over ranks</h2><table><thead><tr><th></th><th class=\"n\">least</th><th class=\"n\">median</th><th class=\"n\">most</th>\
         <th>most on ranks</th></tr></thead><tbody>"
    );
    let steps = report.steps.len().max(1) as f64;
    for spread in &report.spreads {
        let worst: Vec<String> = spread.worst.iter().map(u32::to_string).collect();
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            markup(&human::part(&spread.label.name())),
            time(spread.least as f64 / steps),
            time(spread.median as f64 / steps),
            time(spread.most as f64 / steps),
            worst.join(", ")
        );
    }
    let _ = writeln!(out, "</tbody></table>");
}

fn tree(out: &mut String, node: &Node, samples: f64, step: f64, depth: usize) {
    let mean = node.time as f64 / samples;
    let share = if step > 0.0 { mean / step } else { 0.0 };
    if share < 0.0005 {
        return;
    }
    let width = (share * 100.0).clamp(0.0, 100.0);
    let label = format!(
        "<span class=\"name\" title=\"{0}\">{0}</span><span class=\"meter\"><i style=\"width:{width:.2}%\"></i></span><span \
         class=\"n\">{1}</span><span class=\"n\">{2}</span><span class=\"n faint\">{3}</span>",
        markup(&human::part(&node.name)),
        time(mean),
        percent(share),
        if node.level == Level::Kernel {
            format!("{:.1} x {}", node.count as f64 / samples, time(node.mean as f64))
        } else {
            String::new()
        }
    );
    let _ = if node.children.is_empty() {
        writeln!(out, "<div class=\"leaf\">{label}</div>")
    } else {
        writeln!(
            out,
            "<details{}><summary>{label}</summary>",
            if depth == 0 && share > 0.1 { " open" } else { "" }
        )
    };
    if !node.children.is_empty() {
        for child in &node.children {
            tree(out, child, samples, step, depth + 1);
        }
        let _ = writeln!(out, "</details>");
    }
}

fn hardware(out: &mut String, parts: &[Part]) {
    let _ = writeln!(out, "<h2>Findings</h2><table><tbody>");
    for part in parts {
        row(out, part);
    }
    let _ = writeln!(out, "</tbody></table>");
}

fn kernels(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "<h2>Kernels</h2><table><thead><tr><th>kernel</th><th>phase</th><th>family</th><th class=\"n\">a step</th>\
         <th class=\"n\">calls</th><th class=\"n\">mean</th><th class=\"n\">longest</th></tr></thead><tbody>"
    );
    let samples = report.samples.max(1) as f64;
    for kernel in report.kernels.iter().take(KERNELS) {
        let _ = writeln!(
            out,
            "<tr><td class=\"kernel\" title=\"{0}\">{0}</td><td>{1}</td><td>{2}</td><td class=\"n\">{3}</td><td class=\"n\">{4:.1}</td>\
             <td class=\"n\">{5}</td><td class=\"n\">{6}</td></tr>",
            markup(&kernel.name),
            kernel.phase.name(),
            kernel.family.name().replace('_', " "),
            time(kernel.per_step),
            kernel.count as f64 / samples,
            time(kernel.mean as f64),
            time(kernel.longest as f64)
        );
    }
    let _ = writeln!(out, "</tbody></table>");
}

fn notes(out: &mut String, report: &Report) {
    let mut list = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            let _ = writeln!(out, "<h2>{title}</h2><ul>");
            for item in items {
                let _ = writeln!(out, "<li>{}</li>", markup(&item));
            }
            let _ = writeln!(out, "</ul>");
        }
    };
    list("Findings", report.findings.iter().map(|f| format!("{}. {}", f.message, f.advice)).collect());
    list("Doubts", report.warnings.iter().map(|w| format!("{} ({})", w.message, w.id)).collect());
    list("Repaired", crate::profile::Repair::listed(&report.repairs, usize::MAX));
}

const STYLE: &str = "\
:root{--bg:#fbfbf9;--fg:#1d2126;--faint:#6a727c;--rule:#dfe1e4;--ideal:#2f7d5b;--compute:#4c8dd6;--communication:#d2534f;--copy:#8f6bb8;\
--bubble:#d59a3c;--host:#c9803a;--rest:#9aa1ab}\
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e4e7ea;--faint:#98a1ab;--rule:#2c3137;--ideal:#43a479;--compute:#5b9ae2;\
--communication:#e0655f;--copy:#a483cc;--bubble:#dca84f;--host:#d8924e;--rest:#6d757f}}\
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}\
main{max-width:1080px;margin:0 auto;padding:32px 20px 80px}h1{font-size:24px;margin:0;overflow-wrap:anywhere}h2{font-size:17px;margin:40px 0 10px}\
p{margin:4px 0}.faint{color:var(--faint)}.facts{display:flex;flex-wrap:wrap;gap:28px;margin:20px 0}.facts b{display:block;font-size:24px;font-weight:600}\
.facts span{color:var(--faint)}table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--faint);font-weight:500}\
td,th{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
td.in{padding-left:24px;color:var(--faint)}tr.line td{font-weight:600}td i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:10px}\
.ideal{background:var(--ideal);fill:var(--ideal)}.compute{background:var(--compute);fill:var(--compute)}\
.communication{background:var(--communication);fill:var(--communication)}.copy{background:var(--copy);fill:var(--copy)}\
.bubble{background:var(--bubble);fill:var(--bubble)}.host{background:var(--host);fill:var(--host)}.rest{background:var(--rest);fill:var(--rest)}\
svg{display:block;width:100%;height:auto;margin:8px 0 16px}svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg .on{fill:#fff}svg .faint{fill:var(--faint)}\
.kernel{max-width:420px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-family:ui-monospace,monospace;font-size:12.5px}\
.tree details,.tree .leaf{margin-left:16px}.tree>details,.tree>.leaf{margin-left:0}\
.tree summary,.tree .leaf{display:grid;grid-template-columns:minmax(0,1fr) 120px 90px 64px 130px;gap:10px;padding:3px 0;border-bottom:1px solid var(--rule)}\
.tree summary{cursor:pointer}.tree .name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.tree summary .name::before{content:'\\25b8\\a0';color:var(--faint)}\
.tree details[open]>summary .name::before{content:'\\25be\\a0'}.meter{align-self:center;height:8px;background:var(--rule);border-radius:2px}\
.meter i{display:block;height:100%;background:var(--compute);border-radius:2px}.n+td:not(.n),.n+th:not(.n){padding-left:14px}\
@media(max-width:700px){table{display:block;overflow-x:auto}.facts{gap:16px 24px}\
.tree summary,.tree .leaf{grid-template-columns:minmax(0,1fr) 80px 60px}.tree summary>:nth-child(2),.tree summary>:nth-child(n+5),\
.tree .leaf>:nth-child(2),.tree .leaf>:nth-child(n+5){display:none}}";

#[cfg(test)]
mod tests;
