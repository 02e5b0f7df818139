//! `goodput`: share of the calendar time with training progress, with failures, checkpoints and restarts.
//!
//! Responsible for: conversion of arguments in words to a request of the calculator, and its result as
//! tables. Chooses no setting itself except the cluster and one NIC per GPU; both are listed.

use railwright_calculator::goodput::answer::{Goodput, Scaled};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// A job's goodput with the machine that it runs on.
pub struct Answered {
    /// Accelerator of the job.
    pub machine: String,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// The goodput.
    pub answer: Goodput,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoodputFields<'a> {
    #[serde(flatten)]
    answer: &'a Goodput,
    /// Accelerator of the job.
    machine: &'a str,
    /// Settings that were not specified.
    chosen: &'a [String],
}

impl Answer for Answered {
    const KIND: &'static str = "goodput";

    type Json<'a> = GoodputFields<'a>;

    fn json(&self) -> GoodputFields<'_> {
        GoodputFields { answer: &self.answer, machine: &self.machine, chosen: &self.chosen }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let counts = self.answer.counts;
        let hosts = human::whole(counts.hosts);
        let title = format!(
            "goodput {}: {} x {} on {hosts} hosts",
            human::percent(self.answer.goodput),
            human::whole(counts.devices),
            self.machine
        );
        document.spans(vec![Cell::new(title, Tone::Strong)]);
        document.chosen(&self.chosen);
        self.summary(&mut document);
        document.heading("shares of calendar time");
        document.table(self.split());
        if !self.answer.rates.is_empty() {
            document.heading("failures");
            document.table(self.rates());
        }
        if !self.answer.published.is_empty() {
            document.detail("published failure rates, scaled to this job", "", self.published());
        }
        if !self.answer.assumed.is_empty() {
            document.heading("assumed");
            let line = |one: &railwright_calculator::goodput::answer::Assumed| {
                Cell::from(format!("{}: {} ({})", one.setting, one.value, one.source))
            };
            document.blocks.push(Block::Bullets(self.answer.assumed.iter().map(line).collect()));
        }
        document.next_step(format!(
            "`--availability {:.3}` applies this goodput in `railwright estimate` and `railwright size`",
            self.answer.goodput
        ));
        document
    }
}

impl Answered {
    fn summary(&self, document: &mut Document) {
        let answer = &self.answer;
        let interval = &answer.interval;
        let ettr = answer.range.map_or_else(String::new, |range| {
            let (low, high) = (range.lowest_ettr / answer.slowdown, range.highest_ettr / answer.slowdown);
            format!(", {} to {} over published failure rates", human::percent(low), human::percent(high))
        });
        let mtbf = answer.range.map_or_else(String::new, |range| {
            format!(", {} to {}", human::seconds(range.shortest_mtbf), human::seconds(range.longest_mtbf))
        });
        let every = if interval.is_specified {
            let best = interval.optimal.zip(interval.optimal_ettr);
            best.map_or_else(String::new, |(optimal, ettr)| {
                format!(
                    "; best: {} (goodput {})",
                    human::seconds(optimal),
                    human::percent(ettr / answer.slowdown)
                )
            })
        } else {
            ", the one with the highest goodput".to_owned()
        };
        let approximations = if answer.job.stall > Seconds::ZERO {
            format!("Young {}, Daly {}", human::seconds(interval.young), human::seconds(interval.daly))
        } else {
            String::new()
        };
        let slow = if answer.slowdown > 1.0 {
            format!("{:.3} due to slow hosts, stalls and slow parts", answer.slowdown)
        } else {
            String::new()
        };
        let price = answer.price.map_or_else(String::new, |price| {
            format!("{} ({} without failures)", human::dollars(price.useful_hour), human::dollars(price.hour))
        });
        document.pairs(vec![
            ("goodput", Cell::new(format!("{}{ettr}", human::percent(answer.goodput)), Tone::Strong)),
            ("MTBF of the job", format!("{}{mtbf}", human::seconds(answer.job.mtbf)).into()),
            ("failures per calendar day", format!("{:.2}", answer.failures_per_day).into()),
            ("checkpoint interval", format!("{}{every}", human::seconds(interval.used)).into()),
            ("approximations", approximations.into()),
            ("step slowdown", slow.into()),
            ("cost per productive hour", price.into()),
        ]);
    }

    fn split(&self) -> Table {
        let split = self.answer.split;
        let rows = [
            ("useful training (ETTR)", split.training),
            ("checkpoint stalls", split.checkpoints),
            ("work lost since the last checkpoint", split.lost_work),
            ("detection and replacement of hosts", split.detection),
            ("restart and loading", split.restart),
            ("waiting for a spare host", split.spares),
        ];
        Table {
            columns: vec![Column::words("time"), Column::numbers("share"), Column::numbers("time per day")],
            // Without a number of spares, there is no wait for one.
            rows: rows
                .into_iter()
                .filter(|(_, share)| *share > 0.0)
                .map(|(name, share)| {
                    vec![name.into(), Cell::percent(share), Cell::seconds(Seconds::new(share * 86_400.0))]
                })
                .collect(),
        }
    }

    fn rates(&self) -> Table {
        let row = |rate: &railwright_calculator::goodput::rates::Rate| {
            vec![
                rate.component.name().into(),
                Cell::whole(rate.count),
                Cell::number(human::count(rate.mtbf_hours), rate.mtbf_hours),
                Cell::number(format!("{:.3}", 24.0 * rate.per_hour()), 24.0 * rate.per_hour()),
                Cell::percent(rate.takes_host),
                if rate.is_specified { "specified" } else { "published" }.into(),
            ]
        };
        Table {
            columns: vec![
                Column::words("component"),
                Column::numbers("count"),
                Column::numbers("MTBF of one component, h"),
                Column::numbers("failures per day of operation"),
                Column::numbers("host replaced").expendable(1),
                Column::words("rate").expendable(2),
            ],
            rows: self.answer.rates.iter().map(row).collect(),
        }
    }

    fn published(&self) -> Table {
        let row = |one: &Scaled| {
            let Scaled { published, mtbf } = one;
            vec![
                published.cluster.as_str().into(),
                Cell::number(
                    format!("{:.2}", published.failures_per_thousand_node_days),
                    published.failures_per_thousand_node_days,
                ),
                Cell::seconds(*mtbf),
                if published.confidence == "retrieved" { "from the source" } else { "source not checked" }
                    .into(),
            ]
        };
        Table {
            columns: vec![
                Column::words("cluster"),
                Column::numbers("per 1,000 node-days"),
                Column::numbers("MTBF of the job"),
                Column::words("figure"),
            ],
            rows: self.answer.published.iter().map(row).collect(),
        }
    }
}
