//! `network sites`: traffic between sites of one training run, and the time that it leaves for compute.

use crate::args::network::Sites;
use crate::exit::{Failure, Outcome};
use crate::printer::document::{Block, Cell, Document};
use crate::printer::{Answer, Printer, Terminal};
use railwright_network::sites::{Answer as Answered, Question, sites};
use railwright_report::network::sites as tables;
use railwright_spec::human;
use railwright_spec::model::by_name;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Amount, Field, Value};

/// Computes the rows of all numbers of local steps.
pub(crate) fn run(arguments: &Sites, printer: &Printer) -> Result<Outcome, Failure> {
    let question = Question {
        parameters: parameters(&arguments.model)?,
        sites: arguments.count,
        bandwidth: read("--bandwidth", &arguments.bandwidth, "write a rate with a unit, as in `800 Gbit/s`")?,
        distance: arguments.distance,
        step: read("--step", &arguments.step, "write a time with a unit, as in `6.4s`")?,
        bits: arguments.bits,
        outer_bits: arguments.outer_bits.unwrap_or(arguments.bits),
        fragments: arguments.fragments,
        overlap: arguments.overlap,
    };
    printer.answer(&sites(&question, &arguments.local_steps)?, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// Trained parameters of a model of the catalogue, or the number itself.
fn parameters(model: &str) -> Result<f64, Problem> {
    if let Ok(Amount(number)) = Amount::read(&Value::Text(model.to_owned())) {
        return Ok(number);
    }
    let count = by_name(model)?.parameters();
    Ok((count.total + count.multi_token_prediction) as f64)
}

fn read<T: Field>(flag: &str, text: &str, hint: &str) -> Result<T, Problem> {
    T::read(&Value::Text(text.trim().to_owned()))
        .map_err(|problem| Problem::new(problem.message).in_file(flag).hint(hint))
}

impl Answer for Answered {
    const KIND: &'static str = "network_sites";

    type Json<'a> = &'a Self;

    fn json(&self) -> &Self {
        self
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let Question { parameters, sites, step, bandwidth, .. } = &self.question;
        if let Some(best) = self.rows.iter().max_by(|a, b| a.utilization.total_cmp(&b.utilization)) {
            let (share, steps) = (human::percent(best.utilization), human::whole(best.local_steps));
            document.verdict(format!("with {steps} local steps, {share} of the time is compute"));
        }
        let parameters = human::count(*parameters);
        let each = human::bandwidth(*bandwidth);
        document.heading_with(
            "sites",
            format!(
                "{sites} sites at {each} each, {parameters} parameters, {} per step",
                human::seconds(*step)
            ),
        );
        document.table(tables::rows(&self.rows));
        document.heading_with("bandwidth of a site", "by share of time available for compute");
        document.table(tables::needed(&self.rows));
        document.blocks.push(Block::Bullets(vec![
            Cell::from("bytes per sync: sent by each site for the whole model (ring all-reduce over sites)"),
            Cell::from("one local step is plain data parallelism over sites; overlap with the backward pass, which hides at most two thirds of a step, is not modelled"),
            Cell::from("more local steps affect convergence, which is not predicted"),
        ]));
        document.next_step("`railwright estimate` computes the step within a site");
        document
    }
}
