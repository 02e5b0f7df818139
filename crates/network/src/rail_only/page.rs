//! The paper on one page: every claim with its status, next to the figure or table that it belongs to.
//!
//! Responsible for: assignment of claims to figures, and self-contained HTML. Every claim and every figure
//! appears once (a test).

use super::figures::{Figure, figures};
use super::report::RailOnlyReport;
use super::targets::{Kind, Status, Target};
use railwright_spec::Portable as _;
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// A section: its heading, a sentence, and the prefixes of the names of its claims and figures.
struct Section {
    heading: &'static str,
    text: &'static str,
    claims: &'static [&'static str],
    figures: &'static [&'static str],
}

const SECTIONS: [Section; 9] = [
    Section {
        heading: "Setting (sections 1 and 2)",
        text: "Training time at full utilization and the ratio of the two bandwidths.",
        claims: &["v1-days", "v1-ratio"],
        figures: &[],
    },
    Section {
        heading: "Design and forwarding (section 3.1)",
        text: "Rails are networks of their own. A message to another rail goes through the scale-up domain first.",
        claims: &["v1-links", "v5-a2a", "v4-a2a"],
        figures: &["section-3.1"],
    },
    Section {
        heading: "Optimal model parallelism (section 3.2)",
        text: "Equation 8: N_M follows from model, devices and batch alone.",
        claims: &["v1-nm"],
        figures: &[],
    },
    Section {
        heading: "Traffic (figure 3)",
        text: "Pairs with traffic, and bytes by kind, for 32,768 devices and domains of 256.",
        claims: &["v1-f3"],
        figures: &["figure-3"],
    },
    Section {
        heading: "Heat maps (figure 4)",
        text: "Bytes from device to device. The group sizes are the powers of two next to the optimum.",
        claims: &["v1-f4"],
        figures: &["figure-4"],
    },
    Section {
        heading: "Iteration time (figure 5)",
        text: "Rail-only, the full Clos and the trimmed Clos take the same time: these models have no traffic between rails.",
        claims: &["v1-f5"],
        figures: &["figure-5"],
    },
    Section {
        heading: "Size of the scale-up domain (figure 7)",
        text: "Iteration time over the devices of a domain. Points are missing where the optimal group exceeds the domain.",
        claims: &["v1-f7"],
        figures: &["figure-7"],
    },
    Section {
        heading: "Batch (figure 8)",
        text: "Time, and performance relative to one domain of all devices.",
        claims: &["v1-f8"],
        figures: &["figure-8"],
    },
    Section {
        heading: "Cost, power and robustness (table 2, section 5)",
        text: "Switches and transceivers without blocking. Failures of switches fall with their number, as each has the same rate.",
        claims: &["v1-cost", "v1-sw", "v5-cost", "v5-power", "v5-153M", "v5-4.7MW", "v3-hfu"],
        figures: &["table-2"],
    },
];

/// Page as HTML.
pub fn page(report: &RailOnlyReport) -> String {
    let all = figures(report);
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Rail-only networks: claims of the paper and computed values</title>\n<style>\n\
         body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}\n\
         table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid #d9dde3;\
         vertical-align:top}td.n{text-align:right;white-space:nowrap}\n\
         .good{color:#1f6b4d}.bad{color:#a4321f}.doubt{color:#8a5a00}.faint{color:#5b6470}figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;height:auto}\n\
         @media (prefers-color-scheme:dark){body{color:#e6e9ee;background:#14181d}th,td{border-color:#343b45}.good{color:#55b894}.bad{color:#f0907c}\
         .doubt{color:#e0b45c}.faint{color:#9aa3af}}\n</style></head><body>\n\
         <h1>Rail-only networks: claims and computed values</h1>\n\
         <p>arXiv 2307.12169, versions 1 to 5. Each number of the paper is next to the number computed here.",
    );
    let count = |status: Status| report.targets.iter().filter(|target| target.status == status).count();
    let _ = writeln!(
        out,
        " Of {} claims, {} are reproduced, {} by construction, {} by a documented variant, {} not reproduced, {} not attempted.</p>",
        report.targets.len(),
        count(Status::Reproduced),
        count(Status::ByConstruction),
        count(Status::Variant),
        count(Status::NotReproduced),
        count(Status::NotAttempted)
    );
    for section in &SECTIONS {
        let _ =
            write!(out, "<section>\n<h2>{}</h2>\n<p>{}</p>\n", markup(section.heading), markup(section.text));
        claims(&mut out, report.targets.iter().filter(|target| section.has_claim(target)));
        if section.heading.starts_with("Cost") {
            table_2(&mut out, report);
        }
        for figure in all.iter().filter(|figure| section.has_figure(figure)) {
            let _ = writeln!(out, "<figure>{}</figure>", figure.svg);
        }
        out.push_str("</section>\n");
    }
    out.push_str("</body></html>\n");
    out
}

impl Section {
    fn has_claim(&self, target: &Target) -> bool {
        self.claims.iter().any(|begin| target.claim.id.starts_with(begin))
    }

    fn has_figure(&self, figure: &Figure) -> bool {
        self.figures.iter().any(|begin| figure.file.starts_with(begin))
    }
}

fn claims<'a>(out: &mut String, targets: impl Iterator<Item = &'a Target>) {
    let mut targets = targets.peekable();
    if targets.peek().is_none() {
        return;
    }
    out.push_str("<table><thead><tr><th>claim</th><th>paper</th><th>here</th><th>status</th><th>configuration and remark</th></tr></thead><tbody>\n");
    for target in targets {
        let claim = &target.claim;
        let number = |value: f64| markup(&format!("{} {}", digits(value), claim.unit)).trim_end().to_owned();
        let bound = match claim.kind {
            Kind::Above => "&gt; ",
            Kind::Below => "&lt; ",
            _ => "",
        };
        let (class, status) = match target.status {
            Status::Reproduced => ("good", "reproduced"),
            Status::ByConstruction => ("faint", "by construction"),
            Status::Variant => ("doubt", "with a variant"),
            Status::NotReproduced => ("bad", "not reproduced"),
            Status::NotAttempted => ("faint", "not attempted"),
        };
        let variants: Vec<String> = target
            .variants
            .iter()
            .zip(&target.variant_names)
            .filter(|_| claim.variant.is_some())
            .map(|(value, name)| format!("{}: {}", markup(name), number(*value)))
            .collect();
        let remarks = [markup(&claim.configuration), markup(&claim.reason), variants.join("; ")];
        let remarks: Vec<String> = remarks.into_iter().filter(|text| !text.is_empty()).collect();
        let _ = writeln!(
            out,
            "<tr id=\"{}\"><td>{}</td><td class=\"n\">{bound}{}</td><td class=\"n\">{}</td><td class=\"{class}\">{status}</td><td>{}</td></tr>",
            markup(&claim.id),
            markup(&claim.claim),
            claim.paper.map_or_else(String::new, number),
            target.here.map_or_else(String::new, number),
            remarks.join(". ")
        );
    }
    out.push_str("</tbody></table>\n");
}

fn table_2(out: &mut String, report: &RailOnlyReport) {
    out.push_str("<h3>Table 2</h3>\n<table><thead><tr><th>devices</th><th>radix</th><th>Clos switches</th><th>transceivers</th><th>rail-only switches</th><th>transceivers</th>");
    for ratio in &report.price_ratios {
        let _ = write!(out, "<th>saved at {ratio:.2}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &report.costs {
        let _ = write!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
            row.devices,
            row.radix,
            row.clos.switches,
            row.clos.transceivers,
            row.rail_only.switches,
            row.rail_only.transceivers
        );
        for saving in &row.savings {
            let _ = write!(out, "<td class=\"n\">{:.1}%</td>", saving * 100.0);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n<p class=\"faint\">Savings by the price of a switch port over that of a transceiver; 1.89 is the paper's.</p>\n");
}

/// Four digits, of any size.
pub fn digits(value: f64) -> String {
    let decimals =
        if value == 0.0 { 0 } else { (3 - value.abs().portable_log10().floor() as i32).clamp(0, 6) };
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::report::report;
    use super::*;

    #[test]
    fn every_claim_and_every_figure_has_one_place() {
        let report = report().expect("computes");
        for target in &report.targets {
            let places = SECTIONS.iter().filter(|section| section.has_claim(target)).count();
            assert_eq!(places, 1, "{}", target.claim.id);
        }
        let all = figures(&report);
        for figure in &all {
            let places = SECTIONS.iter().filter(|section| section.has_figure(figure)).count();
            assert_eq!(places, 1, "{}", figure.file);
        }
        let page = page(&report);
        assert_eq!(page.matches("<figure>").count(), all.len());
        assert_eq!(page.matches("<tr id=").count(), report.targets.len());
        assert!(
            !page.contains("http://")
                || page.matches("http://").count() == page.matches("http://www.w3.org").count()
        );
    }
}
