//! Report of `network failures`: designs side by side, classes of parts, states.

use super::{Answered, Failing};
use crate::printer::document::{Block, Cell, Column, Document, Table, Tone};
use crate::printer::{Answer, Terminal, words};
use railwright_network::failures::expected::Expectation;
use railwright_network::failures::expected::Job;
use railwright_network::failures::expected::{ClassLoss, MONTH, Response};
use railwright_network::failures::sample::{Draw, Sampled};
use railwright_network::failures::state::Part;
use railwright_network::failures::state::{Range, State};
use railwright_network::topology::Design;
use railwright_spec::human;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FailuresFields<'a> {
    job: &'a Job,
    /// The run in one line.
    run: Option<&'a str>,
    designs: Vec<FailingFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FailingFields<'a> {
    design: &'a Design,
    /// One part fails, for each class of parts.
    expected: &'a Expectation,
    /// Several parts fail at random.
    sampled: Option<&'a Sampled>,
    /// The parts that were named.
    named: Option<NamedFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NamedFields<'a> {
    failed: &'a [Part],
    state: &'a State,
    /// Step time relative to the whole network; `None` if the job cannot finish.
    slowdown: Option<f64>,
    finishes: bool,
}

impl Answer for Answered {
    const KIND: &'static str = "network_failures";

    type Json<'a> = FailuresFields<'a>;

    fn json(&self) -> FailuresFields<'_> {
        let designs = self.list.iter().map(|failing| FailingFields {
            design: &failing.design,
            expected: &failing.expectation,
            sampled: failing.sampled.as_ref(),
            named: failing.named.as_ref().map(|(failed, state, slowdown)| NamedFields {
                failed,
                state,
                slowdown: *slowdown,
                finishes: slowdown.is_some(),
            }),
        });
        FailuresFields { job: &self.job, run: self.run.as_deref(), designs: designs.collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let lost = |one: &&Failing| one.expectation.lost_share;
        if let Some(least) = self.list.iter().min_by(|a, b| lost(a).total_cmp(&lost(b))) {
            let (name, share) = (&least.design.name, human::percent(lost(&least)));
            let least = if self.list.len() > 1 { "least loss: " } else { "" };
            document.verdict(format!("{least}failures cost {share} of the GPU-hours of {name}"));
        }
        if let [one] = self.list.as_slice() {
            document.pairs(expected(one));
        }
        if self.list.len() > 1 {
            document.heading_with("failures", "comparison of designs, per month of 730 hours");
            document.table(self.designs());
        }
        for failing in &self.list {
            let design = &failing.design;
            let size =
                format!("{} devices in domains of {}", human::whole(design.devices), design.domain.size);
            if let Some((_, state, factor)) = &failing.named {
                document.heading_with(format!("{} without {}", design.name, failing.missing()), size.clone());
                document.pairs(named(state, *factor));
            }
            if let Some(sampled) = &failing.sampled {
                document.heading_with(format!("{} with {}", design.name, drawn(&sampled.draw)), size.clone());
                document.pairs(sample(sampled));
            }
            document.heading_with(format!("failures of {}", design.name), format!("{size}; one part fails"));
            document.table(classes(failing));
        }
        document.blocks.push(Block::Bullets(self.remarks()));
        document.next_step("`railwright network cost` compares the prices of designs");
        document
    }
}

/// A rate or a count, which may be fractional.
fn amount(value: f64) -> Cell {
    let text = if value >= 99.95 {
        human::whole(value.round() as u64)
    } else if value >= 0.995 || value == 0.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    Cell::number(text, value)
}

fn factor(factor: Option<f64>) -> Cell {
    factor.map_or_else(
        || Cell::new("stops", Tone::Bad),
        |factor| Cell::number(format!("+{:.2}%", (factor - 1.0) * 100.0), factor),
    )
}

fn ranges(list: &[Range]) -> String {
    const SHOWN: usize = 6;
    let one = |r: &Range| {
        if r.first == r.last { r.first.to_string() } else { format!("{} to {}", r.first, r.last) }
    };
    let mut text: Vec<String> = list.iter().take(SHOWN).map(one).collect();
    if list.len() > SHOWN {
        text.push(format!("and {} more", human::whole((list.len() - SHOWN) as u64)));
    }
    let count = State::devices(list);
    if count == 0 { "none".to_owned() } else { format!("{}: {}", human::whole(count), text.join(", ")) }
}

fn drawn(draw: &Draw) -> String {
    match draw {
        Draw::Moments => "expected failures".to_owned(),
        Draw::Together(list) => {
            let parts: Vec<String> = list.iter().map(|(part, n)| human::several(*n, part)).collect();
            format!("any {} down", parts.join(" and "))
        }
    }
}

impl Failing {
    /// The parts that were named.
    fn missing(&self) -> String {
        let parts = self.named.as_ref().map_or(&[][..], |(parts, ..)| parts.as_slice());
        let parts: Vec<String> = parts.iter().take(6).map(|p| format!("{} {}", p.class, p.number)).collect();
        parts.join(", ")
    }
}

fn named(state: &State, slower: Option<f64>) -> Vec<(&'static str, Cell)> {
    let apart = if state.is_connected || !state.stranded.is_empty() {
        Cell::default()
    } else {
        Cell::new("some domains have no common rail or plane left", Tone::Bad)
    };
    let cut = Cell::from(ranges(&state.cut_off));
    let stranded = Cell::from(ranges(&state.stranded));
    vec![
        ("devices cut off", cut),
        ("stranded", if state.stranded.is_empty() { stranded } else { stranded.toned(Tone::Bad) }),
        ("apart", apart),
        ("kept alone", Cell::percent(state.kept_alone)),
        ("kept, neighbour", Cell::percent(state.kept_neighbour)),
        ("kept spread", Cell::percent(state.kept_spread)),
        (
            "step",
            match slower {
                None => Cell::new("cannot finish", Tone::Bad),
                some => factor(some),
            },
        ),
    ]
}

fn sample(sampled: &Sampled) -> Vec<(&'static str, Cell)> {
    let percent = |value: f64| format!("{:.3}%", value * 100.0);
    let error = percent(sampled.stopped_error);
    let stopped = if sampled.stopped <= 0.0 {
        format!("none observed: below {error} with 95% confidence")
    } else if sampled.stopped >= 1.0 {
        format!("all states: above {} with 95% confidence", percent(1.0 - sampled.stopped_error))
    } else {
        format!("{} of states, standard error {error}", percent(sampled.stopped))
    };
    let slower = if sampled.mean_slowdown.is_finite() {
        format!(
            "+{} on average, standard error {}; +{} at worst",
            percent(sampled.mean_slowdown - 1.0),
            percent(sampled.mean_slowdown_error),
            percent(sampled.worst_slowdown - 1.0)
        )
    } else {
        "no state can finish the step".to_owned()
    };
    vec![
        ("sampled states", format!("{} (seed {})", human::whole(sampled.samples), sampled.seed).into()),
        ("step", slower.into()),
        ("cannot finish", stopped.into()),
        ("devices cut off", format!("{:.2} on average", sampled.mean_cut_off).into()),
        ("nothing missing", format!("{} of states", percent(sampled.whole)).into()),
    ]
}

fn classes(failing: &Failing) -> Table {
    let columns = vec![
        Column::words("part"),
        Column::numbers("count").expendable(5),
        Column::numbers("cut off").expendable(1),
        Column::numbers("stranded").expendable(3),
        Column::numbers("slowed").expendable(7),
        Column::numbers("kept alone").expendable(6),
        Column::numbers("neighbour").expendable(8),
        Column::numbers("kept spread").expendable(2),
        Column::numbers("step"),
        Column::numbers("failures/month"),
        Column::words("action"),
        Column::numbers("GPU-hours per failure").expendable(4),
        Column::numbers("GPU-hours/month"),
    ];
    let all = &failing.expectation.classes;
    let rows = all.iter().map(|loss| {
        let class = &loss.class;
        let stranded = Cell::whole(class.stranded);
        // Parts of one name have different places: over more devices or fewer.
        let is_one_of_several = all.iter().filter(|other| other.class.part == class.part).count() > 1;
        let part = if is_one_of_several {
            format!("{} over {}", class.part, human::whole(class.slowed.max(class.cut_off)))
        } else {
            class.part.to_owned()
        };
        vec![
            part.into(),
            Cell::whole(class.count),
            Cell::whole(class.cut_off),
            if class.stranded > 0 { stranded.toned(Tone::Bad) } else { stranded },
            Cell::whole(class.slowed),
            Cell::percent(class.kept_alone),
            Cell::percent(class.kept_neighbour),
            Cell::percent(class.kept_spread),
            factor(loss.slowdown),
            amount(loss.failures_per_month),
            then(loss).into(),
            amount(loss.lost_hours),
            amount(loss.lost_hours_per_month),
        ]
    });
    Table { columns, rows: rows.collect() }
}

fn then(loss: &ClassLoss) -> String {
    match loss.response {
        Response::GoWithout => format!("drop {}", human::whole(loss.class.touched)),
        Response::RunOn if loss.interrupts => "restart, continue".to_owned(),
        Response::RunOn => "continue".to_owned(),
        Response::Wait => "wait".to_owned(),
    }
}

fn expected(failing: &Failing) -> Vec<(&'static str, Cell)> {
    let e = &failing.expectation;
    vec![
        (
            "failures",
            format!(
                "{} per month, {} of them stop the job",
                amount(e.failures_per_month).text,
                amount(e.interruptions_per_month).text
            )
            .into(),
        ),
        (
            "lost",
            format!(
                "{} GPU-hours per month, {} of all: as if {} GPUs were missing",
                amount(e.lost_hours_per_month).text,
                human::percent(e.lost_share),
                amount(e.mean_lost_devices).text
            )
            .into(),
        ),
        (
            "step",
            format!("+{:.3}% on average, without interruptions", (e.mean_slowdown - 1.0) * 100.0).into(),
        ),
    ]
}

impl Answered {
    fn designs(&self) -> Table {
        let columns = vec![
            Column::words("design"),
            Column::numbers("failures"),
            Column::numbers("stop the job"),
            Column::numbers("GPU-hours lost"),
            Column::numbers("of all"),
            Column::numbers("mean step").expendable(1),
            Column::words("most by").expendable(2),
        ];
        let rows = self.list.iter().map(|failing| {
            let e = &failing.expectation;
            let most =
                e.classes.iter().max_by(|a, b| a.lost_hours_per_month.total_cmp(&b.lost_hours_per_month));
            vec![
                Cell::new(e.design.as_str(), Tone::Name),
                amount(e.failures_per_month),
                amount(e.interruptions_per_month),
                amount(e.lost_hours_per_month),
                Cell::number(format!("{:.3}%", e.lost_share * 100.0), e.lost_share),
                Cell::number(format!("+{:.3}%", (e.mean_slowdown - 1.0) * 100.0), e.mean_slowdown),
                most.map_or("", |loss| loss.class.part).into(),
            ]
        });
        Table { columns, rows: rows.collect() }
    }

    fn remarks(&self) -> Vec<Cell> {
        let mut remarks = vec![
            Cell::from(
                "cut off: devices with a disconnected NIC; stranded: not reachable through their domain either, so the step cannot finish",
            ),
            Cell::from(
                "kept: network bandwidth left to the most affected device with its own NIC (alone), with a \
                 NIC shared with one neighbour (neighbour), or with the remaining NICs of its domain (spread)",
            ),
        ];
        for failing in &self.list {
            for loss in failing.expectation.classes.iter().filter(|loss| !loss.class.remark.is_empty()) {
                let remark = Cell::from(format!("{}: {}", loss.class.part, loss.class.remark));
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            }
        }
        remarks.push(Cell::from(match &self.run {
            Some(run) => format!(
                "step: of `{}`, with the remaining NIC bandwidth on every device ({}): an upper bound; `network simulate --fail` simulates the part",
                human::shorten(run),
                words(self.job.recovery)
            ),
            None => format!(
                "step: the exposed network time, {} of the step{}, grows with the lost bandwidth ({})",
                human::percent(self.job.exposed_share),
                if self.share_given { "" } else { " (default; set --exposed-share or --run)" },
                words(self.job.recovery)
            ),
        }));
        remarks.push(Cell::from(format!(
            "action: cheapest of continue, drop affected domains, and wait for repair; a restart costs {} h of all devices, a month has {MONTH} h",
            self.job.interruption_hours
        )));
        remarks.push(Cell::from(
            "rates and repair times: catalog/network/failure_rates.csv and --rates; sources in `--json`",
        ));
        remarks
    }
}
