//! Output formats of `tune`.

use crate::stage_memory;
use railwright_calculator::estimate::{Interval, plan_degrees};
use railwright_calculator::memory::{Fit, chance};
use railwright_launch::{Change, Edited, Format, Launch, Original, Refused, RemarkKind};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_spec::{Portable as _, human};
use railwright_tuner::ranking::Ranked;
use railwright_tuner::search::difference_band;
use railwright_tuner::tuning::{FREE, Level};
use serde::Serialize;

/// Maximum number of shown layouts.
pub const MOST_SHOWN: usize = 50;

/// A layout in the table.
pub struct Row {
    /// The layout with its results.
    pub ranked: Ranked,
    /// Its settings as flags.
    pub layout: String,
    /// Step time over that of the user's own layout, less 1.
    pub change: f64,
    /// Seconds of a step that a run of it measured, and the log.
    pub measured: Option<(f64, String)>,
    /// Expected seconds of its run at the level of the measured ones, with their bounds.
    pub expected: Option<(f64, (f64, f64))>,
    /// The file with this layout; `None` for the user's own.
    pub edited: Option<Result<Edited, Refused>>,
}

/// Result of `tune`.
pub struct Tuned {
    /// Model and machine.
    pub title: String,
    /// The file.
    pub file: Original,
    /// Its settings.
    pub launch: Option<Launch>,
    /// The layout of the file.
    pub own: Row,
    /// Other layouts, best first.
    pub rows: Vec<Row>,
    /// Kept settings.
    pub kept: Vec<String>,
    /// Settings that are kept because leaving them seldom pays.
    pub structural_keys: Vec<&'static str>,
    /// Level of measured over predicted times.
    pub level: Option<Level>,
    /// Index of the row to run next; `None` if the measured best is not expected to be beaten.
    pub next: Option<usize>,
    /// Probability that counts as fitting.
    pub fit_probability: f64,
    /// False after a cancellation.
    pub is_complete: bool,
    /// Settings that flags fix.
    pub pinned: Vec<String>,
}

/// Maximum number of named flags among the untouched ones.
const MOST_NAMED: usize = 8;

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TunedFields<'a> {
    /// The file that is tuned.
    file: &'a str,
    /// Its format.
    format: Option<&'static str>,
    title: &'a str,
    /// Settings that are kept.
    kept: &'a [String],
    /// Rarely changed framework settings that the search keeps.
    structural_keys: &'a [&'static str],
    /// True if the search covered everything.
    is_complete: bool,
    /// Minimum probability of fitting.
    fit_probability: f64,
    /// Relative difference of step times within which layouts tie.
    tie_band: f64,
    /// The layout of the file.
    own: RowFields<'a>,
    /// Places of the freed settings in the file.
    origins: Vec<OriginFields<'a>>,
    /// Layouts, best first.
    layouts: Vec<RowFields<'a>>,
    /// Lines of the file that stay unchanged because they are not supported.
    untouched: Vec<&'a str>,
    /// Ratio of measured to predicted step times of the logs.
    level: Option<&'a Level>,
    /// Rank of the layout whose measurement reduces the uncertainty most.
    run_next: Option<usize>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct OriginFields<'a> {
    key: &'a str,
    value: &'a str,
    /// The text of the file.
    source: &'a str,
    line: Option<usize>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct RowFields<'a> {
    rank: usize,
    layout: &'a str,
    step_time: Seconds,
    step_time_interval: &'a Interval,
    /// Relative change of the step time from the file's layout.
    change: f64,
    /// Memory of the fullest device.
    memory: Bytes,
    device_memory: Bytes,
    probability_of_fitting: f64,
    mfu: Option<f64>,
    plan: &'a Plan,
    measured: Option<MeasuredField<'a>>,
    expected: Option<ExpectedField>,
    /// Changes of the file; `None` if it cannot be changed.
    changes: Option<&'a [Change]>,
    /// Reason why the file cannot be changed.
    refused: Option<&'a Refused>,
    warnings: &'a [Warning],
}

/// Step time in a log.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct MeasuredField<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    seconds: f64,
    log: &'a str,
}

/// Step time after reading the logs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ExpectedField {
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    seconds: f64,
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    low: f64,
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "s")))]
    high: f64,
}

impl Answer for Tuned {
    const KIND: &'static str = "tune";

    type Json<'a> = TunedFields<'a>;

    fn json(&self) -> TunedFields<'_> {
        TunedFields {
            file: &self.file.path,
            format: self.file.format.map(Format::name),
            title: &self.title,
            kept: &self.kept,
            structural_keys: &self.structural_keys,
            is_complete: self.is_complete,
            fit_probability: self.fit_probability,
            tie_band: self.band(),
            own: RowFields::of(&self.own),
            origins: self
                .pinned()
                .map(|o| OriginFields { key: &o.key, value: &o.value, source: &o.source, line: o.line })
                .collect(),
            layouts: self.rows.iter().map(RowFields::of).collect(),
            untouched: self.untouched(),
            level: self.level.as_ref(),
            run_next: self.next.map(|at| self.rows[at].ranked.rank),
        }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        self.verdict(&mut document);
        document.spans(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        if !self.is_complete {
            let text = "stopped early: best of the layouts searched so far";
            document.paragraph(Cell::new(text, Tone::Doubtful));
        }
        document.paragraph(format!("fixed: {}; all other settings are tuned", self.kept.join(", ")).as_str());
        if !self.structural_keys.is_empty() {
            let text = format!(
                "not tuned by default: {}; `--free {}` includes them",
                self.structural_keys.iter().map(|key| what(key)).collect::<Vec<_>>().join(", "),
                self.structural_keys.join(",")
            );
            document.paragraph(Cell::new(text, Tone::Faint));
        }
        let is_measured = self.level.is_some();
        let order =
            if is_measured { "by time" } else { "ties: fewest changes first; `search`: simplest first" };
        document.heading_with("layouts", order);
        document.table(self.table());
        document.details(|details| self.origins_of_own(details));
        self.change(&mut document);
        let untouched = self.untouched();
        if !untouched.is_empty() {
            let more = untouched.len().saturating_sub(MOST_NAMED);
            let named =
                untouched.iter().take(MOST_NAMED).map(|source| format!("`{source}`")).collect::<Vec<_>>();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            document.paragraph(Cell::new(
                format!("unknown, left unchanged: {}{more}", named.join(", ")),
                Tone::Doubtful,
            ));
        }
        self.next_step(&mut document);
        document
    }
}

/// The manual change, as an error of the file.
pub fn by_hand(refused: &Refused, path: &str) -> Problem {
    let problem = Problem::new(format!("the file was not changed, because {}", refused.reason)).in_file(path);
    if refused.by_hand.is_empty() {
        return problem.hint("`railwright export` writes a new launch file for a layout");
    }
    problem.hint(format!("make these changes by hand: {}", listed(refused)))
}

/// Changes that must be made by hand, in parentheses; empty if there are none.
pub fn manual(refused: &Refused) -> String {
    if refused.by_hand.is_empty() { String::new() } else { format!(" (change by hand: {})", listed(refused)) }
}

fn listed(refused: &Refused) -> String {
    refused.by_hand.iter().map(change).collect::<Vec<_>>().join("; ")
}

/// `--micro-batch-size 1 -> 2`, `add --x 3`, `remove --y`.
fn change(change: &Change) -> String {
    let value = |text: &str| if text == "True" { String::new() } else { format!(" {text}") };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("{} {before} -> {after}", change.name),
        (None, Some(after)) => format!("add {}{}", change.name, value(after)),
        _ => format!("remove {}", change.name),
    }
}

impl<'a> RowFields<'a> {
    fn of(row: &'a Row) -> Self {
        let (changes, refused) = match &row.edited {
            Some(Ok(edited)) => (Some(edited.changes.as_slice()), None),
            Some(Err(refused)) => (None, Some(refused)),
            None => (None, None),
        };
        let Ranked { candidate, rank, step_time_interval, mfu, warnings, .. } = &row.ranked;
        Self {
            rank: *rank,
            layout: &row.layout,
            step_time: candidate.step_time,
            step_time_interval,
            change: row.change,
            memory: candidate.memory.device,
            device_memory: candidate.device_memory,
            probability_of_fitting: candidate.probability_of_fitting,
            mfu: *mfu,
            plan: &candidate.plan,
            measured: row.measured.as_ref().map(|(seconds, log)| MeasuredField { seconds: *seconds, log }),
            expected: row.expected.map(|(seconds, (low, high))| ExpectedField { seconds, low, high }),
            changes,
            refused,
            warnings,
        }
    }
}

fn seconds(time: f64) -> String {
    human::seconds(Seconds::new(time))
}

impl Tuned {
    /// Uncertainty of the difference of two layouts.
    pub fn band(&self) -> f64 {
        difference_band(&self.own.ranked.candidate.plan.software)
    }

    fn table(&self) -> Table {
        let is_measured = self.level.is_some();
        let mut columns = vec![
            Column::words("#"),
            Column::prose("layout").below(),
            Column::numbers("step time"),
            Column::numbers("change"),
        ];
        if is_measured {
            columns.push(Column::numbers("measured"));
            columns.push(Column::numbers("expected").expendable(1));
        } else {
            columns.push(Column::numbers("90% interval").expendable(2));
        }
        columns.push(Column::numbers("memory").expendable(3));
        columns.push(Column::words("fits"));
        columns.push(Column::words("file").expendable(1));
        let rows = std::iter::once(&self.own).chain(&self.rows).map(|row| self.cells(row, is_measured));
        Table { columns, rows: rows.collect() }
    }

    fn cells(&self, row: &Row, is_measured: bool) -> Vec<Cell> {
        let is_own = row.ranked.rank == 0;
        let candidate = &row.ranked.candidate;
        let name = if is_own { "yours".to_owned() } else { row.ranked.rank.to_string() };
        let mut cells = vec![
            Cell::new(name, if is_own { Tone::Strong } else { Tone::Plain }),
            row.layout.as_str().into(),
            Cell::seconds(candidate.step_time),
            if is_own { "".into() } else { self.gain(row.change) },
        ];
        if is_measured {
            cells.push(
                row.measured
                    .as_ref()
                    .map_or_else(Cell::default, |(time, _)| Cell::number(seconds(*time), *time)),
            );
            let expected = row.expected.filter(|_| row.measured.is_none());
            cells.push(expected.map_or_else(Cell::default, |(center, (low, high))| {
                Cell::number(format!("{} ({}..{})", seconds(center), seconds(low), seconds(high)), center)
            }));
        } else {
            let interval = &row.ranked.step_time_interval;
            let text = format!("{}..{}", human::seconds(interval.low), human::seconds(interval.high));
            cells.push(text.into());
        }
        cells.push(Cell::number(human::bytes(candidate.memory.device), candidate.memory.device.get()));
        cells.push(stage_memory::fits(candidate.probability_of_fitting, self.fit_probability));
        cells.push(match &row.edited {
            Some(Ok(edited)) => Cell::new(plural(edited.changes.len()), Tone::Good),
            Some(Err(_)) => Cell::new("by hand", Tone::Doubtful),
            None => Cell::default(),
        });
        cells
    }

    fn gain(&self, change: f64) -> Cell {
        let is_tie = change.abs() < self.band();
        let text = format!("{:+.1}%{}", change * 100.0, if is_tie { ", tie" } else { "" });
        let tone = match change {
            _ if is_tie => Tone::Plain,
            change if change < 0.0 => Tone::Good,
            _ => Tone::Bad,
        };
        Cell::number(text, change).toned(tone)
    }

    /// Result without another layout, by the fit of the current one.
    pub fn none_fits(&self) -> String {
        match (self.is_at_risk(), self.pinned.as_slice()) {
            (true, []) => format!("no layout {}", self.fit().none()),
            (true, pinned) => {
                format!("no layout {} with {} fixed by flags", self.fit().none(), pinned.join(", "))
            }
            (false, []) => "no other layout fits".to_owned(),
            (false, pinned) => {
                format!("the current layout fits; flags fix {}, so no other exists", pinned.join(", "))
            }
        }
    }

    /// True if the current layout is less likely to fit than a search requires.
    pub fn is_at_risk(&self) -> bool {
        self.own.ranked.candidate.probability_of_fitting < self.fit_probability
    }

    /// Fit of the first layout; if none fits, that of the current one.
    pub fn fit(&self) -> Fit {
        let of = |row: &Row| row.ranked.candidate.probability_of_fitting;
        Fit::of_choice(self.rows.first().map(of), [of(&self.own)])
    }

    fn verdict(&self, document: &mut Document) {
        let band = self.band() * 100.0;
        let Some(best) = self.rows.first() else {
            document.paragraph(Cell::new(self.none_fits().as_str(), Tone::Doubtful));
            return;
        };
        // Rows within the model error are in order of simplicity, so the fastest may be below the first.
        let fastest = self.rows.iter().min_by(|a, b| a.change.total_cmp(&b.change));
        let faster = if best.change < 0.0 { best } else { fastest.unwrap_or(best) };
        let rank = faster.ranked.rank;
        let measured = best.measured.as_ref().zip(self.own.measured.as_ref());
        let text = match measured {
            Some(((best, _), (own, _))) => {
                format!("measured: {} with layout 1, {} with the current one", seconds(*best), seconds(*own))
            }
            None if faster.change >= 0.0 && self.is_at_risk() => format!(
                "layout 1 fits; its predicted step is {:.1}% longer than that of the current layout",
                best.change * 100.0
            ),
            None if faster.change >= 0.0 => {
                "no other layout is predicted to be faster than the current layout".to_owned()
            }
            None => format!(
                "predicted: layout {rank}, {}: {} -> {} per step ({:+.1}%){}",
                plan_degrees(&faster.ranked.candidate.plan).as_deref().unwrap_or(&faster.layout),
                seconds(self.own.ranked.candidate.step_time.get()),
                seconds(faster.ranked.candidate.step_time.get()),
                faster.change * 100.0,
                if faster.change.abs() < self.band() { ", within the model error" } else { "" }
            ),
        };
        if self.is_at_risk() {
            let likely = chance(self.own.ranked.candidate.probability_of_fitting);
            let text = format!("the current layout is {likely} likely to fit in memory");
            document.paragraph(Cell::new(text, Tone::Doubtful));
        }
        document.paragraph(text.as_str());
        if measured.is_none() && faster.change < 0.0 {
            let remark = format!(
                "model error between two layouts: ±{band:.0}% (68% level); benchmark before you decide"
            );
            document.paragraph(Cell::new(remark, Tone::Faint));
        }
        if let Some(level) = &self.level {
            document.paragraph(
                format!(
                    "{} measured: step times are {:.2} times the predictions, with {} deviation of {:.0}% per layout",
                    if level.layouts == 1 {
                        "1 layout".to_owned()
                    } else {
                        format!("{} layouts", level.layouts)
                    },
                    level.factor,
                    if level.layouts == 1 { "an assumed" } else { "a" },
                    level.departure.portable_exp_m1() * 100.0
                )
                .as_str(),
            );
            if level.departure.portable_exp_m1() > DOUBTFUL_DEPARTURE {
                let text = "layouts of one job rarely deviate that much from their predictions: check that each log belongs to \
                            the layout to which it is mapped (`--measured FILE=LOG`)";
                document.paragraph(Cell::new(text, Tone::Doubtful));
            }
        }
    }

    /// Places of the freed settings in the file.
    fn pinned(&self) -> impl Iterator<Item = &railwright_launch::Origin> {
        let origins = self.launch.as_ref().map_or(&[][..], |launch| &launch.origins);
        origins.iter().filter(|origin| {
            origin.line.is_some() && origin.key.strip_prefix("plan.").is_some_and(|key| FREE.contains(&key))
        })
    }

    fn origins_of_own(&self, document: &mut Document) {
        let pairs: Vec<(String, Vec<Cell>)> = self
            .pinned()
            .map(|origin| {
                let key = origin.key.trim_start_matches("plan.").to_owned();
                let line = origin.line.map_or_else(String::new, |line| format!(":{line}"));
                let file = origin.file.as_ref().unwrap_or(&self.file.path);
                let place = format!("{file}{line}  {}", origin.source);
                (
                    key,
                    vec![
                        Cell::new(format!("{:12} ", origin.value), Tone::Strong),
                        Cell::new(place, Tone::Faint),
                    ],
                )
            })
            .collect();
        if !pairs.is_empty() {
            document.heading("your layout");
            document.blocks.push(Block::Pairs(pairs));
        }
    }

    fn change(&self, document: &mut Document) {
        let Some(best) = self.rows.first() else { return };
        match &best.edited {
            Some(Ok(edited)) => {
                document.heading_with("change for layout 1", "`--diff` prints it as a patch");
                let bullets = edited.changes.iter().map(|one| Cell::from(change(one))).collect();
                document.blocks.push(Block::Bullets(bullets));
            }
            Some(Err(refused)) => {
                document.heading_with("change for layout 1", refused.reason.as_str());
                let bullets = refused.by_hand.iter().map(|one| Cell::from(change(one))).collect();
                document.blocks.push(Block::Bullets(bullets));
            }
            None => {}
        }
    }

    /// Unknown entries of the file.
    fn untouched(&self) -> Vec<&str> {
        self.launch.as_ref().map_or_else(Vec::new, |launch| {
            launch.remarks_of(RemarkKind::Unknown).map(|remark| remark.source.as_str()).collect()
        })
    }

    fn next_step(&self, document: &mut Document) {
        let path = &self.file.path;
        let text = match (self.next, self.level.is_some()) {
            (Some(at), true) => {
                let row = &self.rows[at];
                format!(
                    "run layout {}, which may be faster than the best measured one",
                    row.ranked.rank
                )
            }
            (None, true) => {
                "no unmeasured layout is expected to be faster than the best measured one".to_owned()
            }
            (_, false) if self.rows.is_empty() && !self.pinned.is_empty() => {
                format!("`--free {}` searches the settings that flags fix", self.pinned.join(","))
            }
            (None, false) => "`railwright whatif` estimates single changes; `railwright search` compares other numbers of GPUs".to_owned(),
            (Some(_), false) if self.rows.iter().any(|row| matches!(row.edited, Some(Ok(_)))) => format!(
                "`--in-place` or `-o FILE` writes layout 1, `-o variants/` writes all; run 20 steps, then `railwright tune {path} ... \
                 --measured variants/FILE=LOG ...`"
            ),
            _ => "`railwright estimate` with the settings of layout 1 estimates it in detail".to_owned(),
        };
        document.next_step(text);
    }
}

/// Deviation between layouts of one job beyond which logs are probably mixed up: three times the usual 10%.
const DOUBTFUL_DEPARTURE: f64 = 0.3;

/// Description of such a setting.
fn what(key: &str) -> &'static str {
    match key {
        "uneven_stages" => "uneven stages",
        _ => "context parallelism for short sequences",
    }
}

fn plural(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}
