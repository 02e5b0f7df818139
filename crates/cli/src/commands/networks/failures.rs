//! `network failures`: the effect of failed parts.

use crate::args::network::Failures as Arguments;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use railwright_commands::{Failures, FailuresAnswer, failures};

/// Reports the effect of failures.
pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Outcome, Failure> {
    let request = Failures {
        designs: arguments.designs.iter().chain(&arguments.listed_designs).cloned().collect(),
        settings: arguments.flags.settings.clone(),
        exposed_share: arguments.exposed_share,
        exposed_domain_share: arguments.exposed_domain_share,
        run: arguments.run.clone(),
        set: arguments.set.clone(),
        interruption_hours: arguments.interruption_hours,
        recovery: arguments.recovery.clone(),
        rates: arguments.rates.clone(),
        fail: arguments.fail.clone(),
        samples: arguments.samples,
        sample_seed: arguments.sample_seed,
    };
    let FailuresAnswer { answered, is_complete, is_cut } = match failures(&request, printer) {
        Ok(answer) => answer,
        Err(ended) => return printer.ended(ended),
    };
    printer.answer(&answered, &arguments.output)?;
    Ok(match (is_complete, is_cut) {
        (false, _) => Outcome::Interrupted,
        (true, true) => Outcome::No,
        (true, false) => Outcome::Yes,
    })
}
