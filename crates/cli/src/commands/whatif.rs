//! `whatif`: what changes would make of a run, each alone and all together.

mod report;

use super::network::simulate::on_topology;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::printer::document::Document;
use crate::printer::{Answer, Printer, Terminal};
use crate::run::{self, Resolved};
use railwright_spec::problem::Problem;
use railwright_tuner::whatif::{Baseline, Change, WhatIf, rehearse};
use serde_json::{Map, Value, json};

/// Rehearsals with what was chosen for their author.
pub(crate) struct Rehearsed {
    pub(crate) answer: WhatIf,
    pub(crate) chosen: Vec<String>,
}

/// Rehearses. The answer is no when the run with all changes is impossible or does not fit.
pub(crate) fn run(arguments: &args::WhatIf, printer: &Printer) -> Result<Outcome, Failure> {
    let launch = run::launch::find(&arguments.run)?;
    let Resolved { run, spec, mut chosen, .. } = run::resolve(&arguments.run)?;
    if let Some(launch) = &launch {
        run::launch::tell(launch, printer);
    }
    let mut problems: Vec<Problem> = Vec::new();
    let mut changes = Vec::new();
    for text in &arguments.change {
        match Change::parse(text) {
            Ok(change) => changes.push(change),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let network = on_topology(&arguments.pricing, &run.cluster)?.map(|(network, said)| {
        chosen.push(said);
        network
    });
    let baseline = Baseline { spec: &spec, run: &run, read: &input::config_text, network: network.as_ref() };
    let answer = rehearse(&baseline, &changes)?;
    let fit = answer.fit();
    printer.answer(&Rehearsed { answer, chosen }, &arguments.output)?;
    Ok(fit.into())
}

impl Answer for Rehearsed {
    const KIND: &'static str = "whatif";

    fn json(&self) -> Map<String, Value> {
        let mut fields = crate::printer::fields(&self.answer);
        fields.insert("chosen".to_owned(), json!(self.chosen));
        fields
    }

    fn document(&self, _: Terminal) -> Document {
        report::document(self)
    }
}
