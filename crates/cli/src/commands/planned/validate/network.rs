//! `validate --network`: published collectives of clusters, predicted, with the errors.

use crate::args::{NetworkModel, Output};
use crate::commands::planned::validate::BAR;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_reports::validate::network::Measured;
use railwright_spec::problem::Problem;
use railwright_tuner::collective::{Predictor, validate_network};

/// Validates a table of collectives.
pub(crate) fn run(
    (text, label): (&str, &str),
    model: NetworkModel,
    printer: &Printer,
    output: &Output,
) -> Result<Outcome, Failure> {
    let predictor = match model {
        NetworkModel::Closed => Predictor::Closed,
        NetworkModel::Flow => Predictor::Flow,
    };
    let watching = printer.watching(BAR, "predicting");
    let validation = validate_network(text, label, predictor, &mut |done, all| watching.advance(done, all));
    watching.finish();
    match validation {
        Ok(validation) if validation.rows.is_empty() => {
            Err(Problem::new("the table has a header and no rows").in_file(label).into())
        }
        Ok(validation) => {
            printer.answer(&Measured(validation), output)?;
            Ok(Outcome::Yes)
        }
        Err(problem) if watching.is_stopped() => printer.stopped(problem),
        Err(problem) => Err(problem.into()),
    }
}
