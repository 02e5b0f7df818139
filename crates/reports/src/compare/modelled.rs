//! Comparison of a prediction with traces.

use crate::compare::{change, relative, value, verdicts};
use crate::profile::time;
use railwright_profiler::compare::{Comparison, Verdict};
use railwright_profiler::profile::Profile;
use railwright_profiler::waterfall::{Label, Share};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use serde::Serialize;

/// Number of operators shown per family and side; `--json` has more.
const SHOWN: usize = 3;

/// A prediction and a measurement.
pub struct Against {
    /// Names of both sides.
    pub titles: [String; 2],
    /// Differences.
    pub comparison: Comparison,
    /// Waits of the recording.
    pub waiting: Waiting,
    /// Exceeded limits.
    pub verdicts: Vec<Verdict>,
}

/// Waits for other ranks in the measured step.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    /// Awaited ranks, largest wait first: overlapped or not, over all ranks.
    waited_for: Vec<WaitedFor>,
    /// Exposed communication of the mean rank without a split into waiting and transfer, in nanoseconds,
    /// because other ranks were not traced.
    #[serde(rename = "undivided_ns")]
    undivided: f64,
}

/// A rank that delays the others.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WaitedFor {
    rank: u32,
    /// The waits of all ranks that it is the root of in this step, in nanoseconds.
    #[serde(rename = "time_ns")]
    time: i64,
}

/// Maximum number of listed ranks that cause waits.
const WAITED_FOR: usize = 4;

impl Waiting {
    /// Result for one step of a profile, by its index.
    pub fn of(profile: &Profile, at: usize) -> Self {
        let mut waited_for: Vec<WaitedFor> = profile
            .report
            .rank_steps
            .iter()
            .flat_map(|all| all.ranks.iter().zip(&all.waiting_caused))
            .filter_map(|(&rank, steps)| Some(WaitedFor { rank, time: (*steps.get(at)?)? }))
            .filter(|one| one.time > 0)
            .collect();
        waited_for.sort_by_key(|one| (std::cmp::Reverse(one.time), one.rank));
        let ranks = &profile.waterfall.ranks;
        let undivided = |label: Label| label.is_exposed(Share::Undivided);
        let sum: i64 = ranks.iter().filter_map(|rank| Some(rank.steps.get(at)?.sum(undivided))).sum();
        Self { waited_for, undivided: sum as f64 / ranks.len().max(1) as f64 }
    }

    /// Remarks in words, given the wait of the mean rank.
    fn remarks(&self, waiting: f64) -> Vec<String> {
        let mut lines = Vec::new();
        if waiting > 0.0 {
            lines.push(if self.waited_for.is_empty() {
                format!("waits for untraced ranks, {}, cannot be attributed", time(waiting))
            } else {
                let shown = self.waited_for.iter().take(WAITED_FOR);
                let ranks: Vec<String> =
                    shown.map(|one| format!("rank {} ({})", one.rank, time(one.time as f64))).collect();
                format!(
                    "waits of all ranks (overlapped included), by the rank that causes them: {}",
                    ranks.join(", ")
                )
            });
        }
        if self.undivided > 0.0 {
            lines.push(format!(
                "{} of the measured exposed communication may be waits, because the other ranks were not traced",
                time(self.undivided)
            ));
        }
        lines
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgainstFields<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(flatten)]
    waiting: &'a Waiting,
    titles: &'a [String; 2],
    verdicts: &'a [Verdict],
}

impl Answer for Against {
    const KIND: &'static str = "compare";

    type Json<'a> = AgainstFields<'a>;

    fn json(&self) -> AgainstFields<'_> {
        AgainstFields {
            comparison: &self.comparison,
            waiting: &self.waiting,
            titles: &self.titles,
            verdicts: &self.verdicts,
        }
    }

    fn document(&self, terminal: Terminal) -> Document {
        let Self { comparison, titles, .. } = self;
        let mut document = Document::default();
        let step = &comparison.step_time;
        let relative = step.relative.map_or_else(String::new, |share| format!(": {:+.1}%", share * 100.0));
        document.spans(vec![
            Cell::new(format!("step times {} and {}", time(step.first), time(step.second)), Tone::Strong),
            relative.into(),
        ]);
        document.pairs(vec![("A", Cell::from(titles[0].as_str())), ("B", Cell::from(titles[1].as_str()))]);
        verdicts(&mut document, &self.verdicts);
        document.heading_with("step breakdown", "mean over the shown ranks, largest difference first");
        document.table(crate::compare::differences("part", comparison.labels.iter()));
        let waiting = comparison.figures.iter().find(|figure| figure.name == "waiting");
        let remarks = self.waiting.remarks(waiting.map_or(0.0, |figure| figure.first.max(figure.second)));
        if !remarks.is_empty() {
            document.blocks.push(Block::Bullets(remarks.into_iter().map(Cell::from).collect()));
        }
        self.operators(&mut document, terminal);
        if !comparison.warnings.is_empty() {
            document.heading("warnings");
            document.warnings(&comparison.warnings);
        }
        document.next_step("`railwright calibrate` fits the cost model to the measurement");
        document
    }
}

impl Against {
    /// Families with the values of both sides, one below the other: formulas and devices have different
    /// operator names.
    fn operators(&self, document: &mut Document, terminal: Terminal) {
        document.heading_with(
            "operators",
            "time per rank by family and phase, largest difference first; indented: longest operator of A and of B with its calls",
        );
        let columns = vec![
            Column::words("operator"),
            Column::numbers("A"),
            Column::numbers("B"),
            Column::numbers("change"),
            Column::numbers("share of A"),
        ];
        let room = terminal.width.saturating_sub(58).clamp(24, 90);
        let most = self.comparison.step_time.first.max(self.comparison.step_time.second);
        let mut rows = Vec::new();
        for family in &self.comparison.operators {
            let d = &family.time;
            rows.push(vec![
                Cell::new(human::part(&d.name), Tone::Strong),
                value(d.first),
                value(d.second),
                change(d),
                relative(d),
            ]);
            let sides = [("A", &family.first_operators), ("B", &family.second_operators)];
            for (side, operators) in sides {
                for one in operators.iter().filter(|one| one.time >= 0.002 * most).take(SHOWN) {
                    let calls = human::count((one.calls * 10.0).round() / 10.0);
                    let name =
                        format!("  {side}: {} x {calls}", crate::profile::cut(&one.name, room, terminal));
                    let name = Cell { text: name, tone: Tone::Plain, raw: Some(one.name.clone()) };
                    let own = |wanted: &str| if side == wanted { value(one.time) } else { Cell::default() };
                    rows.push(vec![name, own("A"), own("B"), Cell::default(), Cell::default()]);
                }
            }
        }
        document.table(Table { columns, rows });
    }
}
