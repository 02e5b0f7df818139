//! `network sites`: traffic between sites of one training run, and the time that it leaves for compute.

use crate::args::network::Sites;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_network::sites::{Question, sites};
use railwright_reports::network::sites::Answered;
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
    printer.answer(&Answered(sites(&question, &arguments.local_steps)?), &arguments.output)?;
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
