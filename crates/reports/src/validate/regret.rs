//! `validate --regret`: quality of the calculator's choice among measured layouts.
//!
//! Responsible for: the views of [`Regret`]. Computes no verdict.

use railwright_calculator::validation::Regret;
use railwright_calculator::validation::regret::{MemoryTotal, SweepRegret, Total};
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Number of sweeps in the report: the largest regrets.
const WORST: usize = 12;

/// Cost of choosing by prediction.
pub struct Judged(pub Regret);

impl Answer for Judged {
    const KIND: &'static str = "regret";

    type Json<'a> = &'a Regret;

    fn json(&self) -> &Regret {
        &self.0
    }

    /// The sweeps; the totals are only in the report and JSON.
    fn csv(&self) -> String {
        let mut document = Document::default();
        document.table(sweeps(self.0.sweeps.iter(), false));
        railwright_report::csv(&document)
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let Regret { sweeps: all, overall, sources, targets, .. } = &self.0;
        if overall.sweeps > 0 {
            document.verdict(format!(
                "median regret {}, {} in the worst of {}",
                human::percent(overall.median),
                human::percent(overall.worst),
                human::several(overall.sweeps as u64, "sweep")
            ));
        }
        document.heading_with(
            "regret of the predicted choice, by source",
            format!(
                "{} sweeps of {} layouts; regret: measured time of the layout predicted fastest over the fastest measured time, minus 1",
                human::whole(overall.sweeps as u64),
                human::whole(overall.layouts as u64)
            ),
        );
        let Some(met) = self.0.met else {
            document.paragraph(
                "no sweep: a sweep requires three rows with the same source, model, accelerator, devices, sequence, batch, framework and precision, and layouts that differ by 5% in time",
            );
            return document;
        };
        document.table(totals(sources.iter(), overall));
        document.paragraph(Cell::new(
            format!(
                "aim: median at most {}, and at most {} in {} of the sweeps: {}",
                human::percent(targets.median),
                human::percent(targets.tail),
                human::percent(targets.share),
                if met { "reached" } else { "missed" }
            ),
            if met { Tone::Good } else { Tone::Bad },
        ));
        let mut worst: Vec<&SweepRegret> = all.iter().filter(|s| s.regret > 0.0).collect();
        worst.sort_by(|a, b| b.regret.total_cmp(&a.regret).then(a.pick.cmp(&b.pick)));
        worst.truncate(WORST);
        if !worst.is_empty() {
            document.heading("sweeps with the largest regret");
            document.table(sweeps(worst.into_iter(), true));
        }
        document.heading_with("with memory", "choice: the layout predicted to be fastest and to fit");
        document.table(memory(&self.0.memory));
        document
            .next_step("`railwright tune FILE --measured VARIANT=LOG` ranks layouts by measured step times");
        document
    }
}

fn count(n: usize) -> Cell {
    Cell::number(human::whole(n as u64), n as f64)
}

fn totals<'a>(sets: impl Iterator<Item = (&'a String, &'a Total)>, overall: &Total) -> Table {
    let line = |name: &str, set: &Total, tone: Tone| {
        vec![
            Cell::new(human::shorten(name), tone),
            count(set.sweeps),
            count(set.layouts),
            Cell::percent(set.median),
            Cell::percent(set.p90),
            Cell::percent(set.worst),
            Cell::percent(set.within_median),
            Cell::percent(set.within_tail),
            set.pairs_right.map_or_else(Cell::default, Cell::percent),
            set.rank_correlation.map_or_else(Cell::default, |r| Cell::number(format!("{r:.2}"), r)),
            Cell::percent(set.random),
        ]
    };
    let mut rows: Vec<_> = sets.map(|(name, set)| line(name, set, Tone::Plain)).collect();
    rows.push(line("all", overall, Tone::Strong));
    Table {
        columns: vec![
            Column::prose("source"),
            Column::numbers("sweeps"),
            Column::numbers("layouts").expendable(4),
            Column::numbers("median"),
            Column::numbers("p90"),
            Column::numbers("worst").expendable(5),
            Column::numbers("within 3%").expendable(2),
            Column::numbers("within 10%"),
            Column::numbers("correct pairs").expendable(1),
            Column::numbers("rank").expendable(6),
            Column::numbers("random choice").expendable(3),
        ],
        rows,
    }
}

fn sweeps<'a>(list: impl Iterator<Item = &'a SweepRegret>, for_people: bool) -> Table {
    let mut columns = vec![
        Column::prose("source").expendable(9),
        Column::prose("model"),
        Column::words("accelerator").expendable(3),
        Column::numbers("devices"),
        Column::numbers("sequence_length").expendable(7),
        Column::numbers("global_batch"),
        Column::words("framework").expendable(8),
        Column::words("precision").expendable(6),
        Column::numbers("layouts"),
        Column::numbers("regret"),
        Column::prose("pick"),
        Column::numbers("pick_measured_s").expendable(1),
        Column::prose("best").expendable(2),
        Column::numbers("best_measured_s").expendable(1),
        Column::numbers("pairs").expendable(5),
        Column::numbers("pairs_right").expendable(5),
        Column::numbers("rank_correlation").expendable(9),
    ];
    if for_people {
        for (at, name) in
            [(4, "sequence"), (5, "batch"), (11, "took"), (13, "took"), (15, "right"), (16, "rank")]
        {
            name.clone_into(&mut columns[at].name);
        }
    }
    let time = |s: f64| Cell::number(human::seconds(Seconds::new(s)), s);
    let rows = list
        .map(|s| {
            vec![
                s.sweep.source.as_str().into(),
                s.sweep.model.as_str().into(),
                s.sweep.accelerator.as_str().into(),
                Cell::whole(s.sweep.devices),
                Cell::whole(s.sweep.sequence_length),
                Cell::whole(s.sweep.global_batch),
                s.sweep.framework.as_str().into(),
                s.sweep.precision.as_str().into(),
                count(s.layouts),
                Cell::percent(s.regret),
                s.pick.as_str().into(),
                time(s.pick_measured_s),
                s.best.as_str().into(),
                time(s.best_measured_s),
                count(s.pairs),
                count(s.pairs_right),
                s.rank_correlation.map_or_else(Cell::default, |r| Cell::number(format!("{r:.2}"), r)),
            ]
        })
        .collect();
    let mut table = Table { columns, rows };
    if for_people {
        // The source identifies the run.
        for row in &mut table.rows {
            row.remove(0);
        }
        table.columns.remove(0);
    }
    table
}

fn memory(total: &MemoryTotal) -> Table {
    Table {
        columns: vec![
            Column::numbers("sweeps"),
            Column::numbers("out-of-memory rows"),
            Column::numbers("out-of-memory choices"),
            Column::numbers("maximum tries").expendable(2),
            Column::numbers("nothing fits"),
            Column::numbers("false alarms").expendable(1),
            Column::numbers("median"),
            Column::numbers("p90"),
            Column::numbers("within 10%"),
        ],
        rows: vec![vec![
            count(total.sweeps),
            count(total.out_of_memory),
            count(total.picks_out_of_memory),
            count(total.most_tries),
            count(total.nothing_fits),
            count(total.false_alarms),
            Cell::percent(total.median),
            Cell::percent(total.p90),
            Cell::percent(total.within_tail),
        ]],
    }
}
