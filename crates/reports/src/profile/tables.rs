//! The sections of a profile.

use crate::profile::{Shown, time};
use railwright_profiler::job::extent;
use railwright_profiler::profile::{Finding, Part, Repair};
use railwright_profiler::tree::{Level, Node};
use railwright_profiler::waterfall::Group;
use railwright_report::Terminal;
use railwright_report::document::{Bar, Block, Cell, Column, Document, Table, Tone};
pub(crate) use railwright_report::text::cut;
use railwright_spec::human;

/// Parts smaller than this share of the step are left to the machines' formats.
const SMALLEST: f64 = 0.0005;

/// Nodes of the tree smaller than this share of the step are left out.
const SMALLEST_NODE: f64 = 0.005;

/// Columns of groups: short names for narrow tables.
const SHORT: [&str; 7] = ["MFU", "compute", "comm.", "copies", "bubble", "host", "other"];

fn bar(depth: usize, part: &Part, tone: Tone) -> Bar {
    Bar { depth, label: human::part(&part.name), value: time(part.mean), share: part.share, tone }
}

/// Hours per day: one decimal below a hundred.
fn hours(amount: f64) -> String {
    if amount < 99.95 { format!("{amount:.1}") } else { human::whole(amount.round() as u64) }
}

impl Shown {
    pub(super) fn lines(&self, document: &mut Document) {
        let report = &self.report;
        document.heading_with("step breakdown", "mean over ranks and steps; the parts add up to the step");
        let mut bars = Vec::new();
        for line in &report.lines {
            bars.push(bar(1, &line.part, Tone::Strong));
            let shown = line.parts.iter().filter(|part| part.share >= SMALLEST);
            bars.extend(shown.map(|part| bar(2, part, Tone::Plain)));
        }
        document.blocks.push(Block::Bars(bars));
        let by: Vec<String> = report
            .hardware
            .iter()
            .filter(|part| part.share >= SMALLEST)
            .map(|part| format!("{} {}", human::part(&part.name), human::percent(part.share)))
            .collect();
        let phases: Vec<String> = report
            .phases
            .iter()
            .filter(|part| part.share >= SMALLEST)
            .map(|part| format!("{} {}", part.name.replace('_', " "), human::percent(part.share)))
            .collect();
        let mut pairs = vec![
            ("limited by", Cell::from(by.join(", "))),
            ("compute by phase", Cell::from(phases.join(", "))),
        ];
        if let Some(peak) = &report.peak
            && report.utilisation.is_some()
        {
            pairs.push((
                "peak",
                Cell::from(format!(
                    "{} in {} ({})",
                    human::flop_rate(peak.rate),
                    peak.data_type,
                    peak.accelerator
                )),
            ));
        }
        document.pairs(pairs);
    }

    pub(super) fn findings(&self, document: &mut Document, terminal: Terminal) {
        const MOST: usize = 8;
        /// Findings in full without `-v`, and their lines of evidence.
        const WHOLE: (usize, usize) = (3, 2);
        let findings = &self.report.findings;
        if findings.is_empty() {
            return;
        }
        let remark = if findings.len() > MOST {
            format!("the {MOST} most expensive of {}; all with --json", findings.len())
        } else {
            String::new()
        };
        document.heading_with("findings", remark);
        let mut short: Vec<Cell> = Vec::new();
        for (at, finding) in findings.iter().take(MOST).enumerate() {
            let repeats = is_symptom_of_others(finding, findings);
            let contained = if repeats { "; contained in the findings above" } else { "" };
            let text = format!("{}{}{contained}", finding.message, self.cost(finding));
            let id = format!(" [{}]", finding.id);
            if at >= WHOLE.0 && !terminal.verbose {
                short.push((text + &id).into());
                continue;
            }
            document.spans(vec![Cell::new(text, Tone::Strong), Cell::new(id, Tone::Name)]);
            if repeats {
                let first = finding.evidence.iter().take(1).map(|line| line.as_str().into());
                document.blocks.push(Block::Bullets(first.collect()));
                continue;
            }
            let kept = if terminal.verbose { finding.evidence.len() } else { WHOLE.1 };
            let mut lines: Vec<Cell> =
                finding.evidence.iter().take(kept).map(|line| line.as_str().into()).collect();
            if let Some(more) = finding.evidence.len().checked_sub(kept).filter(|more| *more > 0) {
                lines.push(format!("{more} more with `-v`").into());
            }
            if finding.shared > 0.0 {
                lines.push(format!("{} of this cost is also in other findings", time(finding.shared)).into());
            }
            if let Some(hours) = finding.gpu_hours_per_day {
                lines.push(format!("lost: {} {} per day", self::hours(hours), self.report.hours()).into());
            }
            lines.push(format!("fix: {}", finding.advice).into());
            document.blocks.push(Block::Bullets(lines));
        }
        if !short.is_empty() {
            document.paragraph("further findings, in full with `-v`:");
            document.blocks.push(Block::Bullets(short));
        }
        if let Some(joint) = self.report.joint {
            let step = self.report.step_time.max(1.0);
            let twice = if joint.shared > 0.0 {
                format!("; the {} that they share counts once", time(joint.shared))
            } else {
                String::new()
            };
            document.paragraph(format!(
                "all {} findings combined: at most {} per step ({}){twice}",
                joint.findings,
                time(joint.cost),
                human::percent(joint.cost / step)
            ));
        }
    }

    /// Cost of a finding, after its message.
    pub(super) fn cost(&self, finding: &Finding) -> String {
        finding.cost.map_or_else(String::new, |cost| {
            let shown = finding.certainty.unwrap_or_default().worded(&time(cost));
            format!(": {shown} per step, {}", human::percent(cost / self.report.step_time.max(1.0)))
        })
    }

    /// Indices in [`Group::ALL`] of groups with any value.
    fn groups(&self) -> Vec<usize> {
        let has = |group: &Group| {
            self.report.lines.iter().any(|line| line.group == *group && line.part.share >= SMALLEST)
        };
        Group::ALL.iter().enumerate().filter(|(_, group)| has(group)).map(|(at, _)| at).collect()
    }

    pub(super) fn steps(&self, document: &mut Document) {
        const MOST: usize = 12;
        let report = &self.report;
        if report.steps.len() < 2 {
            return;
        }
        let cut = report.cut_by.map(railwright_report::words).unwrap_or_default();
        document.heading_with(
            "steps",
            match report.step_spread {
                0 => format!("boundaries from {cut}"),
                spread => {
                    let spread = time(spread as f64);
                    format!("boundaries from {cut}; step times of ranks differ by up to {spread}")
                }
            },
        );
        let groups = self.groups();
        let mut columns = vec![Column::numbers("step"), Column::numbers("time")];
        columns.extend(groups.iter().map(|&at| Column::numbers(SHORT[at])));
        let row = |step: &railwright_profiler::profile::StepRow| {
            let duration = step.duration.max(1) as f64;
            let mut row = vec![Cell::from(step.step.clone()), Cell::number(time(duration), duration * 1e-9)];
            row.extend(
                groups
                    .iter()
                    .map(|&at| Cell::percent(step.groups.get(at).copied().unwrap_or(0.0) / duration)),
            );
            row
        };
        document.table(Table { columns, rows: report.steps.iter().take(MOST).map(row).collect() });
        if report.steps.len() > MOST {
            document.paragraph(Cell::new(format!("and {} more", report.steps.len() - MOST), Tone::Faint));
        }
    }

    pub(super) fn ranks(&self, document: &mut Document) {
        let report = &self.report;
        if report.ranks < 2 {
            return;
        }
        if report.rows.is_empty() || report.rows.len() > 16 {
            self.spreads(document);
        }
        if report.rows.is_empty() {
            return;
        }
        document.heading_with(
            "ranks",
            "shares of the step; comm.: exposed only; waiting: caused by other ranks; bubbles excluded",
        );
        let groups = self.groups();
        let mut columns = vec![Column::numbers("rank")];
        columns.extend(groups.iter().map(|&at| Column::numbers(SHORT[at])));
        columns.push(Column::numbers("waiting"));
        let row = |rank: &railwright_profiler::profile::RankRow| {
            let mut row = vec![Cell::whole(u64::from(rank.rank))];
            row.extend(groups.iter().map(|&at| Cell::percent(rank.shares.get(at).copied().unwrap_or(0.0))));
            row.push(Cell::percent(rank.waiting));
            row
        };
        document.table(Table { columns, rows: report.rows.iter().map(row).collect() });
        for (rank, factor) in &report.slower_chips {
            let text = format!(
                "rank {rank} takes {:.1}% longer than the median rank for the same kernels",
                (factor - 1.0) * 100.0
            );
            document.paragraph(Cell::new(text, Tone::Doubtful));
        }
    }

    fn spreads(&self, document: &mut Document) {
        document.heading_with("spread over ranks", "time per step");
        let steps = self.report.steps.len().max(1) as f64;
        let columns = vec![
            Column::words("part"),
            Column::numbers("minimum"),
            Column::numbers("median"),
            Column::numbers("maximum"),
            Column::words("maximum on ranks"),
        ];
        let time_cell = |value: i64| Cell::number(time(value as f64 / steps), value as f64 / steps * 1e-9);
        let rows = self.report.spreads.iter().map(|spread| {
            let worst: Vec<String> = spread.worst.iter().map(u32::to_string).collect();
            vec![
                Cell::from(human::part(&spread.label.name())),
                time_cell(spread.least),
                time_cell(spread.median),
                time_cell(spread.most),
                Cell::from(worst.join(", ")),
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }

    pub(super) fn tree(&self, document: &mut Document, terminal: Terminal) {
        if self.depth < 2 {
            return;
        }
        let samples = self.report.samples.max(1) as f64;
        let step = self.report.step_time.max(1.0);
        let mut bars = Vec::new();
        // Bars give half of the line to labels.
        let room = terminal.width / 2;
        let mut walk: Vec<(usize, &Node)> = self.report.tree.iter().rev().map(|node| (1, node)).collect();
        while let Some((depth, node)) = walk.pop() {
            let mean = node.time as f64 / samples;
            if mean / step < SMALLEST_NODE {
                continue;
            }
            let label = match node.level {
                Level::Kernel => cut(&node.name, room.saturating_sub(2 * depth), terminal),
                _ => human::part(&node.name).replace('_', " "),
            };
            let tone = if depth == 1 { Tone::Strong } else { Tone::Plain };
            bars.push(Bar { depth, label, value: time(mean), share: mean / step, tone });
            if depth < usize::from(self.depth) {
                walk.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
            }
        }
        document.heading_with("hierarchical breakdown", "label, phase, operator family; at least 0.5%");
        document.blocks.push(Block::Bars(bars));
    }

    pub(super) fn kernels(&self, document: &mut Document, terminal: Terminal) {
        let report = &self.report;
        if self.top == 0 || report.kernels.is_empty() {
            return;
        }
        let shown = self.top.min(report.kernels.len());
        document.heading_with(
            "kernels",
            format!(
                "{shown} of {}, by time per rank and step; overlapped time included",
                report.kernels.len()
            ),
        );
        let samples = report.samples.max(1) as f64;
        let columns = vec![
            Column::numbers("time"),
            Column::numbers("share"),
            Column::numbers("calls"),
            Column::numbers("mean"),
            Column::words("phase").expendable(1),
            Column::words("kernel"),
        ];
        let room = terminal.width.saturating_sub(48).clamp(20, 90);
        let rows = report.kernels.iter().take(shown).map(|kernel| {
            vec![
                Cell::number(time(kernel.per_step), kernel.per_step * 1e-9),
                Cell::percent(kernel.per_step / report.step_time.max(1.0)),
                Cell::number(format!("{:.0}", kernel.count as f64 / samples), kernel.count as f64 / samples),
                Cell::number(time(kernel.mean as f64), kernel.mean as f64 * 1e-9),
                Cell::from(kernel.phase.name().replace('_', " ")),
                Cell {
                    text: cut(&kernel.name, room, terminal),
                    tone: Tone::Plain,
                    raw: Some(kernel.name.clone()),
                },
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
    }

    pub(super) fn recorded(&self, document: &mut Document) {
        let all = &self.report.recorded;
        document.heading_with(
            "common recording",
            "time in which all ranks have device activity; mean over ranks",
        );
        let share = |part: f64| format!("{} ({})", time(part), human::percent(part / all.window.max(1.0)));
        document.pairs(vec![
            ("window", Cell::from(time(all.window))),
            ("compute", Cell::from(share(all.compute))),
            (
                "communication",
                Cell::from(format!("{}, of which exposed {}", share(all.communication), share(all.exposed))),
            ),
            ("exposed copies", Cell::from(share(all.copies))),
            ("idle", Cell::from(share(all.idle))),
            ("clocks", Cell::from(self.report.clocks.trim_start_matches("clocks "))),
        ]);
    }

    pub(super) fn doubts(&self, document: &mut Document) {
        let report = &self.report;
        if report.missing > 0 {
            let mut missing: Vec<String> = report.missing_ranks.iter().map(u32::to_string).collect();
            if report.missing as usize > missing.len() {
                missing.push("...".to_owned());
            }
            document.heading("unrecorded ranks");
            document.paragraph(format!(
                "{}: {}",
                extent(report.missing as usize, report.world_size, report.world_size_known),
                missing.join(", ")
            ));
        }
        if !report.repairs.is_empty() {
            document.heading("repairs while reading");
            let lines = Repair::listed(&report.repairs, 8).into_iter().map(Cell::from);
            document.blocks.push(Block::Bullets(lines.collect()));
        }
        if !report.warnings.is_empty() {
            document.heading_with("warnings", "run `railwright explain ID` for details");
            document.warnings(&report.warnings);
        }
    }
}

/// Minimum share of a symptom's cost in findings above it at which it is one line.
const CONTAINED: f64 = 0.95;

/// Tests whether a finding is a symptom whose cost the findings above it explain, or a delay of the same
/// ranks as one of them: its advice applies.
fn is_symptom_of_others(finding: &Finding, all: &[Finding]) -> bool {
    let is_contained = finding.cost.is_some_and(|cost| finding.shared >= CONTAINED * cost);
    let is_of_ranks =
        |one: &Finding| matches!(one.id.as_str(), "straggler" | "slow-chip" | "unbalanced-experts");
    let has_ranks = |one: &Finding| finding.subject.ranks.iter().any(|rank| one.subject.ranks.contains(rank));
    is_contained
        && match finding.id.as_str() {
            "varying-steps" | "host-pauses" | "step-time-drift" => true,
            "straggler" | "slow-chip" => {
                let above = all.iter().take_while(|one| !std::ptr::eq(*one, finding));
                above.into_iter().any(|one| is_of_ranks(one) && has_ranks(one))
            }
            _ => false,
        }
}
