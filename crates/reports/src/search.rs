//! Output formats of `search`.

mod fields;
mod map;

use crate::stage_memory;
use railwright_answers::{Missed, Nothing, Remedied, Searched, Shown, WhyNotAnswer};
use railwright_calculator::estimate::{Interval, plan_degrees};
use railwright_calculator::memory::chance;
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::{Bytes, Seconds};
use railwright_tuner::ranking::{Ranked, Share};
use railwright_tuner::remedies::Change;
use railwright_tuner::search::{Miss, Objective, difference_band};
use railwright_tuner::simplicity::UnusualFeature;
use railwright_tuner::why_not::WhyNot;

/// A printable result.
pub struct Answered(pub Searched);

impl std::ops::Deref for Answered {
    type Target = Searched;

    fn deref(&self) -> &Searched {
        &self.0
    }
}

impl Answer for Answered {
    const KIND: &'static str = "search";

    type Json<'a> = &'a Searched;

    fn json(&self) -> &Searched {
        &self.0
    }

    fn document(&self, terminal: Terminal) -> Document {
        let mut document = Document::default();
        if !self.is_complete {
            document
                .paragraph(Cell::new("stopped early: best of the layouts searched so far", Tone::Doubtful));
        }
        self.head(&mut document);
        let title = Block::Paragraph(vec![Cell::new(self.title.as_str(), Tone::Strong)]);
        document.blocks.insert(1, title);
        if let Some(freed) = &self.freed {
            document.paragraph(Cell::new(freed.as_str(), Tone::Faint));
        }
        document.chosen(&self.chosen);
        if let Some(remark) = self.one_sided() {
            document.paragraph(Cell::new(remark, Tone::Faint));
        }
        for doubt in &self.doubts {
            document.paragraph(Cell::new(doubt.as_str(), Tone::Doubtful));
        }
        if !self.shown.is_empty() {
            self.ranking(&mut document, terminal);
        }
        if let Some(nothing) = &self.nothing {
            nothing_fits(nothing, self.fit_probability, &mut document);
        }
        for none in &self.impossible {
            document.paragraph(Cell::new(
                format!(
                    "impossible on {} GPUs of {}: {}",
                    human::whole(none.devices),
                    none.cluster,
                    none.reason
                ),
                Tone::Faint,
            ));
        }
        map::tables(&self.map, &mut document);
        self.why_not.iter().for_each(|answer| why(answer, self.fit_probability, &mut document));
        if let Some(best) = self.shown.first() {
            if !best.ranked.warnings.is_empty() {
                document.heading("warnings for the best layout");
                let bullets = best.ranked.warnings.iter().map(|w| format!("{} [{}]", w.message, w.id).into());
                document.blocks.push(Block::Bullets(bullets.collect()));
            }
            document.heading(if self.pareto.is_some() { "first layout" } else { "best layout" });
            document.paragraph(Cell::new(best.command.as_str(), Tone::Name));
            document.details(|details| self.measure_next(details));
            document.next_step(self.export_hint());
        } else if self.nothing.as_ref().is_some_and(|nothing| !nothing.remedies.is_empty()) {
            document.next_step("repeat the command with one of the changes that make the run fit");
        }
        document
    }

    fn csv(&self) -> String {
        let (header, rows) = fields::rows(self);
        railwright_report::csv_lines(&header, rows)
    }
}

impl Answered {
    /// The command for a launch file of the best layout, and its limits.
    fn export_hint(&self) -> String {
        let run = |writer: &str, file: &str| {
            format!("run `railwright export --to {writer}` with the same flags for a launch {file}")
        };
        if let Some((writer, keys)) = &self.own_writer {
            let hint = run(writer, "file");
            return if keys.is_empty() {
                hint
            } else {
                format!("{hint}; it has no setting for {}", keys.join(", "))
            };
        }
        match (self.not_expressed.join(", "), self.expressed_by.first()) {
            (keys, _) if keys.is_empty() => run("megatron", "command"),
            (keys, Some(writer)) => format!("{}; Megatron-LM has no flag for {keys}", run(writer, "file")),
            (keys, None) => format!("Megatron-LM has no flag for {keys}"),
        }
    }

    /// The layouts whose measured step time would narrow the intervals most.
    fn measure_next(&self, document: &mut Document) {
        let Some(first) = self.measure_next.first() else { return };
        document.heading_with(
            "measure next",
            format!(
                "10 measured steps of one layout narrow the 90% interval of step time (upper end now {:.2} times the lower end); pass the time to `railwright calibrate --run FILE`",
                first.width_now
            ),
        );
        let bullets = self.measure_next.iter().map(|measure| {
            Cell::from(format!(
                "layout {} would narrow the ratio to {:.2}: pass --step \"{}=SECONDS\"",
                measure.rank, measure.width_afterwards, measure.layout
            ))
        });
        document.blocks.push(Block::Bullets(bullets.collect()));
    }

    fn head(&self, document: &mut Document) {
        let fitting = format!("with a fit probability of at least {}", self.fit_probability);
        let Some(best) = self.shown.first() else {
            let none = format!("nothing {}", self.fit().none());
            let verdict = if self.is_complete { none.as_str() } else { "nothing found yet" };
            document.spans(vec![Cell::new(verdict, Tone::Bad), format!(": no layout {fitting}").into()]);
            return;
        };
        if let Some((first, second)) = self.pareto {
            let (shown, found) = (self.shown.len() as u64, self.found as u64);
            let layouts = if shown < found {
                format!("{} of {} layouts", human::whole(shown), human::whole(found))
            } else {
                counted_as(found, "layout", "layouts")
            };
            let text = format!(" on the Pareto front of {} and {}", objective(first), objective(second));
            document.spans(vec![Cell::new(layouts, Tone::Good), text.into()]);
            let spread = if shown < found { "spread evenly over the front, " } else { "" };
            document.paragraph(format!("{spread}{fitting}"));
            return;
        }
        let ranked = &best.ranked;
        let interval = &ranked.step_time_interval;
        let likely = chance(ranked.candidate.probability_of_fitting);
        let time = format!("{} per step", human::seconds(ranked.candidate.step_time));
        let layout = plan_degrees(&ranked.candidate.plan).unwrap_or_else(|| best.short_layout.clone());
        let layout = Cell::new(layout, Tone::Strong);
        let rest = format!(", {likely} likely to fit");
        document.spans(vec![layout, ": ".into(), Cell::new(time, Tone::Good), rest.into()]);
        document.paragraph(format!(
            "50% interval {} to {}, 90% {} to {}; {}",
            human::seconds(interval.half_low),
            human::seconds(interval.half_high),
            human::seconds(interval.low),
            human::seconds(interval.high),
            ranked.plan_summary
        ));
        document.paragraph(format!("best by {}, {fitting}", objective(self.objective)));
        self.ties(document);
    }

    /// Remark on ties with the first row, and the fastest layout.
    fn ties(&self, document: &mut Document) {
        let Some(best) = self.shown.first().filter(|_| self.is_by_family) else { return };
        let ties = self.shown.iter().filter(|shown| shown.ranked.candidate.tied_with_best).count();
        if ties < 2 && self.fastest.is_none() {
            return;
        }
        let software = &best.ranked.candidate.plan.software;
        let band = human::percent(difference_band(software));
        document.paragraph(format!(
            "Step times within {band} of the fastest are a tie: they differ by less than the model error (68% of measured pairs). Ties are ordered by step time, with 1% for each feature in use, unusual layouts last; benchmark the first few."
        ));
        if let Some(fastest) = &self.fastest {
            let odd = objections(&fastest.ranked);
            let why = if odd.is_empty() { "with more features".to_owned() } else { odd };
            document.paragraph(Cell::new(
                format!(
                    "fastest predicted layout, {} ({why}): {}",
                    human::seconds(fastest.ranked.candidate.step_time),
                    fastest.short_layout
                ),
                Tone::Faint,
            ));
        }
    }

    /// Searches with one number of devices of one kind.
    fn one_sided(&self) -> Option<&'static str> {
        if self.several_settings {
            return None;
        }
        let follows =
            |goal: Objective| matches!(goal, Objective::Time | Objective::Dollars | Objective::Devices);
        match (self.pareto, self.objective) {
            (Some((first, second)), _) if follows(first) && follows(second) => Some(
                "time and cost rank layouts of one cluster size equally: compare several sizes with --gpus or --cluster",
            ),
            (None, Objective::Devices) => {
                Some("only one cluster size was compared: pass several with --gpus")
            }
            _ => None,
        }
    }

    fn ranking(&self, document: &mut Document, terminal: Terminal) {
        let remark = match self.pareto {
            Some((first, _)) => format!("by {}; best variant of each layout", objective(first)),
            None if self.is_by_family => {
                format!(
                    "by {}, ties with 1% for each feature; one row per combination of TP, PP, CP, EP and sharding",
                    objective(self.objective)
                )
            }
            None => format!("by {}; best variant of each layout", objective(self.objective)),
        };
        document.heading_with("ranking", remark);
        let mut columns = vec![Column::numbers("#")];
        if self.several_settings {
            columns.extend([Column::words("cluster"), Column::numbers("GPUs")]);
        }
        // Layouts need the width more than intervals that all have the same relative width.
        let has_interval = terminal.width >= WIDE;
        columns.push(Column::numbers("step time"));
        if has_interval {
            columns.push(Column::numbers("90% interval"));
        }
        columns.extend([
            Column::numbers("MFU").expendable(4),
            Column::numbers("memory").expendable(3),
            Column::words("fits"),
            Column::numbers("$/T tokens").expendable(5),
            Column::words(match self.objective {
                Objective::Time if self.is_by_family => "vs. fastest",
                Objective::Dollars if self.is_by_family => "vs. cheapest",
                _ => "vs. best",
            }),
            Column::prose("layout").below(),
        ]);
        let rows = self.rows().map(|shown| self.row(shown, has_interval)).collect();
        document.table(Table { columns, rows });
        self.odd_rows(document);
        document.detail("step breakdown", "in percent of the step, on the critical stage", self.shares());
        self.timeline(document);
    }

    /// The file's own layout, then the found ones.
    fn rows(&self) -> impl Iterator<Item = &Shown> {
        self.own.iter().chain(&self.shown)
    }

    /// Unusual features of rows.
    fn odd_rows(&self, document: &mut Document) {
        let mut features: Vec<(String, Vec<String>)> = Vec::new();
        for shown in self.shown.iter().filter(|shown| !shown.ranked.candidate.oddities.is_empty()) {
            let (named, rank) = (objections(&shown.ranked), shown.ranked.rank.to_string());
            match features.iter_mut().find(|(feature, _)| *feature == named) {
                Some((_, ranks)) => ranks.push(rank),
                None => features.push((named, vec![rank])),
            }
        }
        let odd: Vec<String> =
            features.iter().map(|(feature, ranks)| format!("{feature} ({})", ranks.join(", "))).collect();
        if !odd.is_empty() && self.is_by_family {
            document.paragraph(Cell::new(format!("unusual features: {}", odd.join("; ")), Tone::Faint));
        }
    }

    fn row(&self, shown: &Shown, has_interval: bool) -> Vec<Cell> {
        let ranked = &shown.ranked;
        let candidate = &ranked.candidate;
        let mut cells = vec![number(ranked)];
        if self.several_settings {
            cells.push(Cell::new(shown.cluster.as_str(), Tone::Name));
            cells.push(Cell::whole(candidate.devices));
        }
        let interval = &ranked.step_time_interval;
        let price = ranked.dollars_per_trillion_tokens;
        cells.push(Cell::number(human::seconds(candidate.step_time), candidate.step_time.get()));
        if has_interval {
            cells.push(between(interval).into());
        }
        cells.extend([
            ranked.mfu.map_or_else(Cell::default, Cell::percent),
            Cell::number(human::bytes(candidate.memory.device), candidate.memory.device.get()),
            stage_memory::fits(candidate.probability_of_fitting, self.fit_probability),
            price.map_or_else(Cell::default, Cell::dollars),
            self.against(ranked),
            Cell::new(shown.short_layout.as_str(), if ranked.rank == 1 { Tone::Strong } else { Tone::Plain }),
        ]);
        cells
    }

    /// Time (or cost) over that of the first row, less 1.
    fn lag(&self, ranked: &Ranked) -> f64 {
        let by_cost = self.objective == Objective::Dollars && self.pareto.is_none();
        ranked.costlier.filter(|_| by_cost).unwrap_or(ranked.behind)
    }

    /// Difference from the fastest layout, the reference of ties. It is not always the first row.
    fn against(&self, ranked: &Ranked) -> Cell {
        let slow = ranked.candidate.expected_time / ranked.candidate.step_time;
        let near_limit = if slow > 1.005 { " (near the memory limit)" } else { "" };
        let fastest = self.fastest.as_ref().map_or(0.0, |fastest| self.lag(&fastest.ranked));
        let lag = (1.0 + self.lag(ranked)) / (1.0 + fastest) - 1.0;
        let lag = format!("{:+.1}%", unsigned_zero(lag * 100.0, 0.05));
        match () {
            () if ranked.rank == 1 && self.fastest.is_none() => {
                Cell::new(format!("best{near_limit}"), Tone::Good)
            }
            () if self.pareto.is_none() && ranked.candidate.tied_with_best => {
                Cell::new(format!("{lag}, tie{near_limit}"), Tone::Doubtful)
            }
            () => format!("{lag}{near_limit}").into(),
        }
    }

    /// Shares of the step; parts without time have no column.
    fn shares(&self) -> Table {
        const LEAST: f64 = 0.0005;
        let of =
            |ranked: &Ranked, on: Share| ranked.spent.iter().find(|s| s.on == on).map_or(0.0, |s| s.share);
        let used: Vec<Share> = Share::ALL
            .into_iter()
            .filter(|&on| self.rows().any(|shown| of(&shown.ranked, on).abs() > LEAST))
            .collect();
        let mut columns = vec![Column::numbers("#")];
        columns.extend(used.iter().map(|&on| Column::numbers(label(on))));
        let rows = self.rows().map(|shown| {
            let mut cells = vec![number(&shown.ranked)];
            cells.extend(used.iter().map(|&on| {
                let share = of(&shown.ranked, on);
                let percent = (share * 1000.0).round() / 10.0;
                // Rounding may leave a zero with a sign.
                Cell::number(format!("{:.1}", percent + 0.0), share)
            }));
            cells
        });
        Table { rows: rows.collect(), columns }
    }

    fn timeline(&self, document: &mut Document) {
        /// Threshold above which the two forms of a step differ.
        const AGREE: f64 = 0.01;
        for shown in &self.shown {
            let Some(retimed) = shown.ranked.retimed else { continue };
            let lag = format!("{:+.2}%", unsigned_zero(retimed.difference * 100.0, 0.005));
            let rank = shown.ranked.rank;
            if retimed.difference.abs() <= AGREE {
                continue;
            }
            if retimed.steps_overlap {
                document.paragraph(Cell::new(
                    format!(
                        "layout {rank} takes {} as a single step on the timeline ({lag}); its schedule overlaps consecutive steps, so steps follow each other faster",
                        human::seconds(retimed.timeline)
                    ),
                    Tone::Faint,
                ));
            } else {
                document.paragraph(Cell::new(
                    format!(
                        "layout {rank} takes {} on the timeline ({lag}): closed form and timeline disagree; please report this",
                        human::seconds(retimed.timeline)
                    ),
                    Tone::Doubtful,
                ));
            }
        }
    }
}

/// The number of a row; the file's own layout has none.
fn number(ranked: &Ranked) -> Cell {
    if ranked.rank == 0 {
        return Cell::new("yours", Tone::Name);
    }
    Cell::number(ranked.rank.to_string(), ranked.rank as f64)
}

/// Unusual features of a layout, in words.
fn objections(ranked: &Ranked) -> String {
    let words = ranked.candidate.oddities.iter().map(|oddity| match oddity {
        UnusualFeature::UnequalChunks => "unequal chunks",
        UnusualFeature::TornGroup => "groups across scale-up domains",
        UnusualFeature::ShortContext => "context parallelism on short sequences",
        UnusualFeature::ScatteredExperts => "expert parallelism over several scale-up domains",
        UnusualFeature::PartialSharding => "sharding over a subset of the ranks",
        UnusualFeature::WholeOptimizer => "optimizer states not sharded",
        UnusualFeature::TightMemory => "nearly full memory",
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A number that rounds to zero loses its sign.
fn unsigned_zero(x: f64, half: f64) -> f64 {
    if x.abs() < half { 0.0 } else { x }
}

/// `1 strategy`, `3.850M strategies`.
fn counted_as(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", human::count(number as f64), if number == 1 { one } else { more })
}

fn label(on: Share) -> &'static str {
    match on {
        Share::Compute => "compute",
        Share::Recompute => "recompute",
        Share::Tensor => "TP",
        Share::Context => "CP",
        Share::Expert => "EP",
        Share::Data => "DP",
        Share::Bubble => "bubble",
        Share::Host => "host",
        Share::Optimizer => "optimizer",
        Share::Other => "other",
    }
}

/// Minimum terminal width for intervals.
const WIDE: usize = 120;

fn between(interval: &Interval) -> String {
    format!("{} .. {}", human::seconds(interval.low), human::seconds(interval.high))
}

fn nothing_fits(nothing: &Nothing, fit_probability: f64, document: &mut Document) {
    if !nothing.misses.is_empty() {
        document.heading("closest layouts");
        let rows = nothing.misses.iter().map(|Missed { miss, layout }| {
            vec![
                Cell::number(human::bytes(needs(miss)), needs(miss).get()),
                Cell::number(human::bytes(miss.device_memory), miss.device_memory.get()),
                Cell::number(human::bytes(miss.missing), miss.missing.get()),
                Cell::number(miss.memory.stage.to_string(), miss.memory.stage as f64),
                Cell::new(layout.as_str(), Tone::Plain),
            ]
        });
        let columns = vec![
            Column::numbers(&format!("memory for {} fit", chance(fit_probability))),
            Column::numbers("capacity"),
            Column::numbers("missing"),
            Column::numbers("stage"),
            Column::prose("layout"),
        ];
        document.table(Table { rows: rows.collect(), columns });
    }
    document.heading("changes that make the run fit");
    if nothing.remedies.is_empty() {
        document.paragraph(format!(
            "none of {}{}",
            counted_as(nothing.tried as u64, "change that was tried makes it fit", "changes that were tried makes it fit"),
            if nothing.is_complete {
                " (a fused loss, full sharding, offload, up to 64 times the devices); use a smaller model, shorter sequences or devices with more memory"
            } else {
                "; the search was stopped before the others were tried"
            }
        ));
        return;
    }
    let rows = nothing.remedies.iter().map(|remedy| {
        vec![
            remedy_words(remedy).into(),
            Cell::number(human::seconds(remedy.step_time), remedy.step_time.get()),
            Cell::new(remedy.layout.as_str(), Tone::Plain),
        ]
    });
    let columns = vec![Column::words("change"), Column::numbers("step time"), Column::prose("layout")];
    document.table(Table { rows: rows.collect(), columns });
}

/// The device memory that gives a layout the required probability of fitting.
fn needs(miss: &Miss) -> Bytes {
    miss.device_memory + miss.missing
}

fn remedy_words(remedy: &Remedied) -> String {
    match remedy.change {
        Change::FreeDegrees => "search the parallel sizes".to_owned(),
        Change::FreeMicroBatch => "search the micro-batch size".to_owned(),
        Change::FreeRecompute => "search the recompute policy".to_owned(),
        Change::FusedLoss => format!("--software {}", remedy.software.as_deref().unwrap_or_default()),
        Change::ShardEverything => "--sharding fsdp".to_owned(),
        Change::OffloadOptimizer => "--offload-optimizer 1".to_owned(),
        Change::OffloadActivations => "--offload-activations 1".to_owned(),
        Change::OffloadBoth => "both offloads".to_owned(),
        Change::MoreDevices => format!("--gpus {}", remedy.devices),
    }
}

fn why(answer: &WhyNotAnswer, fit_probability: f64, document: &mut Document) {
    document.heading(format!("why not {}", answer.text));
    if let Some(outside) = &answer.outside {
        document.paragraph(outside.as_str());
    }
    match &answer.verdict {
        WhyNot::Unanswered => {
            document
                .spans(vec![Cell::new("not answered", Tone::Doubtful), ": the search was stopped".into()]);
        }
        WhyNot::Impossible { problems } => {
            document.spans(vec![Cell::new("the layout is not valid", Tone::Bad), ":".into()]);
            for problem in problems {
                let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
                document.paragraph(format!("{}{hint}", problem.message));
            }
        }
        WhyNot::TooLarge(large) => {
            let miss = &large.miss;
            let text = format!(
                ": stage {} needs {} for a fit probability of {}; a device has {}, which is {} too little",
                large.stage,
                human::bytes(needs(miss)),
                chance(fit_probability),
                human::bytes(miss.device_memory),
                human::bytes(large.lacks)
            );
            document.spans(vec![Cell::new("the layout does not fit", Tone::Bad), text.into()]);
            document
                .paragraph(Cell::new(format!("smallest matching layout: {}", answer.layout), Tone::Faint));
        }
        WhyNot::Best(_) => {
            document
                .spans(vec![Cell::new("the best layout", Tone::Good), format!(": {}", answer.layout).into()]);
        }
        WhyNot::Slower(slower) => {
            let step = human::seconds(slower.candidate.step_time);
            let lag = human::percent(slower.behind.abs());
            let (word, tone) = match () {
                () if slower.is_tie => ("the layout ties with the best", Tone::Doubtful),
                () if slower.behind < 0.0 => ("the layout is faster than the best", Tone::Doubtful),
                () => ("the layout is slower than the best", Tone::Bad),
            };
            let more = if slower.behind < 0.0 { "less" } else { "more" };
            document.spans(vec![
                Cell::new(word, tone),
                format!(": {step} per step, {lag} {more} per token, with {}", answer.layout).into(),
            ]);
            let parts: Vec<String> = slower
                .differences
                .iter()
                .take(5)
                .map(|d| {
                    let sign = if d.more.get() < 0.0 { "-" } else { "+" };
                    let size = human::seconds(Seconds::new(d.more.get().abs()));
                    format!("{} {sign}{size}", label(d.on))
                })
                .collect();
            if !parts.is_empty() {
                document.paragraph(format!("differences from the best: {}", parts.join(", ")));
            }
        }
    }
}

/// Name of an objective in the report.
const fn objective(objective: Objective) -> &'static str {
    match objective {
        Objective::Time => "step time",
        Objective::Dollars => "cost per token",
        Objective::Devices => "number of devices",
        Objective::Headroom => "memory per device",
    }
}
