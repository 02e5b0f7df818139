//! Report of `network failures`: designs side by side, classes of parts, states.

use crate::network::tables::failures as tables;
use railwright_network::failures::expected::{Expectation, Job, MONTH};
use railwright_network::failures::sample::Sampled;
use railwright_network::failures::state::{Part, State};
use railwright_network::topology::Design;
use railwright_report::document::{Block, Cell, Document};
use railwright_report::{Answer, Terminal, words};
use railwright_spec::human;
use serde::Serialize;

/// Request for one design.
pub struct Failing {
    /// The network.
    pub design: Design,
    /// Expected effect.
    pub expectation: Expectation,
    /// Effect in sampled states.
    pub sampled: Option<Sampled>,
    /// Named parts, and the network without them.
    pub named: Option<(Vec<Part>, State, Option<f64>)>,
}

/// Requests, one per design.
pub struct Answered {
    /// Results, one per design.
    pub list: Vec<Failing>,
    /// The job on the network.
    pub job: Job,
    /// The run of the slowed steps.
    pub run: Option<String>,
    /// True if the exposed share is set by the user.
    pub share_given: bool,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailuresFields<'a> {
    job: &'a Job,
    /// The run in one line.
    run: Option<&'a str>,
    designs: Vec<FailingFields<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
            let least = if self.list.len() > 1 { "lowest loss: " } else { "" };
            document.verdict(format!("{least}failures cost {share} of GPU-hours with {name}"));
        }
        if let [one] = self.list.as_slice() {
            document.pairs(tables::expected(&one.expectation));
        }
        if self.list.len() > 1 {
            document.heading_with("failures", "comparison of designs, per month of 730 hours");
            document.table(tables::designs(self.list.iter().map(|failing| &failing.expectation)));
        }
        for failing in &self.list {
            let design = &failing.design;
            let size =
                format!("{} devices in domains of {}", human::whole(design.devices), design.domain.size);
            if let Some((_, state, factor)) = &failing.named {
                document.heading_with(format!("{} without {}", design.name, failing.missing()), size.clone());
                document.pairs(tables::named(state, *factor));
            }
            if let Some(sampled) = &failing.sampled {
                document.heading_with(
                    format!("{} with {}", design.name, tables::drawn(&sampled.draw)),
                    size.clone(),
                );
                document.pairs(tables::sample(sampled));
            }
            document.heading_with(format!("failures of {}", design.name), format!("{size}; one failed part"));
            document.table(tables::classes(&failing.expectation));
            if !failing.expectation.brief.is_empty() {
                document.heading_with("flaps and slow parts", "one part at a time");
                document.table(tables::brief(&failing.expectation.brief));
            }
        }
        document.blocks.push(Block::Bullets(self.remarks()));
        document.next_step("`railwright network cost` compares the prices of designs");
        document
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

impl Answered {
    /// Parts whose factor is not that of a simulated step.
    fn bounds(&self) -> String {
        let all = self.list.iter().flat_map(|failing| &failing.expectation.classes);
        let open = all.filter(|loss| !loss.is_simulated && loss.slowdown.is_some_and(|factor| factor > 1.0));
        let mut parts: Vec<&str> = open.map(|loss| loss.class.part).collect();
        parts.sort_unstable();
        parts.dedup();
        if self.list.iter().any(|failing| failing.sampled.is_some()) {
            parts.push("sampled states");
        }
        if parts.is_empty() {
            return String::new();
        }
        let how = words(self.job.recovery);
        format!("; {}: as if every device had the remaining bandwidth ({how})", parts.join(", "))
    }

    fn remarks(&self) -> Vec<Cell> {
        let mut remarks = vec![
            Cell::from(
                "disconnected: devices whose NIC has no connection; stranded: devices without a route through their domain either, so the step cannot finish",
            ),
            Cell::from(
                "left: remaining network bandwidth of the most affected device over its own NIC (alone), over a \
                 NIC shared with one neighbour (neighbour), or over the remaining NICs of its domain (spread)",
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
                "step: of `{}`, simulated without one part, as by `network simulate --fail`{}",
                human::shorten(run),
                self.bounds()
            ),
            None => format!(
                "step: the exposed network time, {} of the step{}, grows with the lost bandwidth ({})",
                human::percent(self.job.exposed_share),
                if self.share_given { "" } else { " (default; set --exposed-share or --run)" },
                words(self.job.recovery)
            ),
        }));
        if self.run.is_some() && self.list.iter().any(|failing| failing.design.routing.is_hashed()) {
            remarks.push(Cell::from(
                "step without a part: of the first part of its class; with hashed routes, others may cost more or less",
            ));
        }
        remarks.push(Cell::from(format!(
            "action: cheapest of continuing, dropping the affected domains, and waiting for repair; a restart costs {} h of all devices, a month has {MONTH} h",
            self.job.interruption_hours
        )));
        remarks.push(Cell::from(
            "rates and repair times: catalog/network/failure_rates.csv and --rates; sources in `--json`",
        ));
        remarks
    }
}
