//! The report of `balance`.

use crate::recompute::{choices, framework_flags};
use crate::stage_memory::fits;
use railwright_answers::Balanced;
use railwright_calculator::memory::unless_it_fits;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_tuner::balance::{Division, StageRow};

/// Gain that prints as 0.0%.
const SAME: f64 = 5e-4;

/// A division of the layers with the question.
pub struct Balance {
    /// The solution.
    pub solved: Balanced,
    /// True if recompute is chosen with the division.
    pub with_recompute: bool,
}

impl Answer for Balance {
    const KIND: &'static str = "balance";

    type Json<'a> = &'a Balanced;

    fn json(&self) -> &Balanced {
        &self.solved
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        self.verdict(&mut document);
        document.spans(vec![Cell::new(self.solved.title.as_str(), Tone::Strong)]);
        document.chosen(&self.solved.chosen);
        self.divisions(&mut document);
        self.stages(&mut document);
        framework_flags(&mut document, &self.solved.flags);
        document.next_step("`railwright search` compares this layout with others");
        document
    }

    /// The stages, for spreadsheets.
    fn csv(&self) -> String {
        let mut document = Document::default();
        self.stages(&mut document);
        railwright_report::csv(&document)
    }
}

impl Balance {
    fn verdict(&self, document: &mut Document) {
        let answer = &self.solved.answer;
        let Some(best) = &answer.best else {
            let hint = if self.with_recompute {
                "use more sharding, larger parallel sizes or smaller micro-batches"
            } else {
                "pass --with-recompute to choose recompute as well"
            };
            document.spans(vec![
                Cell::new(format!("no layer assignment {}", self.solved.fit().none()), Tone::Bad),
                format!(
                    ": the fullest stage currently uses {} of {} (limit for a fit probability of {}: {}); {hint}",
                    human::bytes(answer.before.memory),
                    human::bytes(answer.device_memory),
                    human::percent(answer.probability),
                    human::bytes(answer.limit)
                )
                .into(),
            ]);
            return;
        };
        let gain = answer.gain.unwrap_or(0.0);
        let optimal = match answer.gap {
            Some(gap) if gap < 5e-6 => "no other assignment is faster".to_owned(),
            Some(gap) => format!("within {} of the optimum", human::percent(gap)),
            None => "the distance to the optimum is unknown".to_owned(),
        };
        let (head, rest) = if gain.abs() < SAME && answer.before.fits {
            ("already balanced".to_owned(), format!("; {optimal}"))
        } else {
            let before = human::seconds(answer.before.step_time);
            let compared = match human::percent(gain.abs()) {
                more if gain < 0.0 => format!("{more} longer"),
                less => format!("{less} shorter"),
            };
            let fits = unless_it_fits(answer.before.probability_of_fitting, answer.probability);
            let faster = format!("{compared} than before ({before}{fits})");
            (format!("step {}", human::seconds(best.step_time)), format!(": {faster}; {optimal}"))
        };
        document.spans(vec![Cell::new(head, Tone::Good), rest.into()]);
    }

    fn divisions(&self, document: &mut Document) {
        let answer = &self.solved.answer;
        document.heading_with(
            "layer assignments",
            format!(
                "{2} evaluated; memory limit for a fit probability of {0}: {1}",
                human::percent(answer.probability),
                human::bytes(answer.limit),
                human::whole(answer.priced)
            ),
        );
        let row = |(name, division): (&str, &Division)| {
            vec![
                Cell::from(name),
                Cell::from(human::counts(&division.layers)),
                Cell::number(human::seconds(division.step_time), division.step_time.get()),
                Cell::percent(division.idle),
                Cell::percent(division.imbalance),
                Cell::number(format!("{:.1}", division.memory.gib()), division.memory.get()),
                fits(division.probability_of_fitting, answer.probability),
            ]
        };
        let rows = [Some(("before", &answer.before)), answer.best.as_ref().map(|best| ("best", best))];
        document.table(Table {
            columns: vec![
                Column::words("assignment"),
                Column::prose("layers"),
                Column::numbers("step"),
                Column::numbers("mean idle").expendable(1),
                Column::numbers("slowest vs. mean"),
                Column::numbers("memory, GiB"),
                Column::words("fits"),
            ],
            rows: rows.into_iter().flatten().map(row).collect(),
        });
    }

    fn stages(&self, document: &mut Document) {
        let title = if self.solved.answer.best.is_some() {
            "stages before and with the best assignment"
        } else {
            "stages"
        };
        self.table(document, title, &self.solved.answer.before, self.solved.answer.best.as_ref());
    }

    fn table(&self, document: &mut Document, title: &str, before: &Division, best: Option<&Division>) {
        document.heading_with(
            title,
            "time of one micro-batch; idle: share of the pipeline's time; memory in GiB",
        );
        let also = |row: &StageRow| match (row.embedding, row.head) {
            (true, true) => "embedding, head",
            (true, false) => "embedding",
            (false, true) => "head",
            (false, false) => "",
        };
        let rows = before.stages.iter().enumerate().map(|(stage, old)| {
            let new = best.and_then(|best| best.stages.get(stage));
            let mut cells =
                vec![Cell::number(old.stage.to_string(), old.stage as f64), Cell::from(also(old))];
            for row in [Some(old), new].into_iter().flatten() {
                cells.push(human::counts(&row.layers).into());
                cells.push(Cell::number(human::seconds(row.time), row.time.get()));
                cells.push(Cell::percent(row.idle));
            }
            for row in [Some(old), new].into_iter().flatten() {
                cells.push(Cell::number(format!("{:.1}", row.memory.gib()), row.memory.get()));
            }
            if let Some(new) = new.filter(|_| self.with_recompute) {
                cells.push(choices(&new.recompute).into());
            }
            cells
        });
        let mut columns = vec![Column::numbers("stage"), Column::words("remark").expendable(4)];
        let [layers, time, idle] = ["layers", "time", "idle"].map(Column::numbers);
        columns.extend([layers, time, idle.expendable(3)]);
        if best.is_some() {
            columns.extend(["best: layers", "best: time", "best: idle"].map(Column::numbers));
        }
        // The shorter name would otherwise stay alone on a narrow terminal.
        let before = if best.is_some() { "memory before" } else { "memory" };
        columns.push(Column::numbers(before).expendable(2));
        if best.is_some() {
            columns.push(Column::numbers("best: memory"));
        }
        if best.is_some() && self.with_recompute {
            columns.push(Column::prose("recomputed"));
        }
        document.table(Table { columns, rows: rows.collect() });
    }
}
