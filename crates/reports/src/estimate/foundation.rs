//! The end of a report: cost of the training, and evidence of the numbers.

use crate::cells::grouped;
use railwright_calculator::estimate::Estimate;
use railwright_calculator::money::Bill;
use railwright_report::document::{Cell, Document, Tone};
use railwright_spec::human;

/// Days, device-hours, rent, energy.
pub(super) fn money(document: &mut Document, bill: &Bill) {
    document.heading_with(
        "cost",
        format!("for {} tokens in {} steps", human::count(bill.tokens), grouped(bill.steps)),
    );
    let lost = match bill.availability {
        share if share < 1.0 => {
            let steps = human::seconds(bill.productive);
            format!(": {steps} of steps at an availability of {}", human::percent(share))
        }
        _ => String::new(),
    };
    let mut pairs = vec![
        ("duration", Cell::new(format!("{}{lost}", human::seconds(bill.calendar)), Tone::Strong)),
        ("GPU-hours", human::count(bill.device_hours.0).into()),
    ];
    if let Some(failures) = &bill.failures {
        let text = format!(
            "{}, {} to {} over published failure rates; a failure every {}, a checkpoint of {} every {}",
            human::percent(bill.availability),
            human::percent(failures.lowest),
            human::percent(failures.highest),
            human::seconds(failures.mtbf),
            human::seconds(failures.checkpoint),
            human::seconds(failures.interval),
        );
        pairs.push(("goodput", text.into()));
    }
    let mut sources = Vec::new();
    if let (Some(rent), Some(price)) = (bill.rent, &bill.device_price) {
        let range = price.range.map_or_else(String::new, |(low, high)| {
            format!(
                " ({} to {} at {} to {})",
                human::dollars(low * bill.device_hours.0),
                human::dollars(high * bill.device_hours.0),
                human::dollars(low),
                human::dollars(high)
            )
        });
        let text =
            format!("{} at {} per GPU-hour{range}", human::dollars(rent), human::dollars(price.amount));
        pairs.push(("rent", text.into()));
        sources.push(format!("GPU-hour, {}", first_source(&price.source)));
    }
    let electricity = &bill.electricity_price;
    document.pairs(pairs);
    let energy = (
        "energy",
        format!(
            "{} at {}: {} at ${:.3} per kWh (usually included in the rental price)",
            human::energy(bill.energy),
            human::watts(bill.power),
            human::dollars(bill.electricity),
            electricity.amount.get(),
        )
        .into(),
    );
    sources.push(format!("kWh, {}", first_source(&electricity.source)));
    let prices = ("prices", Cell::new(sources.join("; "), Tone::Faint));
    document.details(|details| {
        details.heading("energy and prices");
        details.pairs(vec![energy, prices]);
    });
}

/// The first of several sources; `--why cost` has all.
fn first_source(source: &str) -> &str {
    let first = source.split("; ").next().unwrap_or(source);
    first.trim_end_matches(", read")
}

/// Shares of the time by evidence, and the origin of constants and interval.
pub(super) fn provenance(document: &mut Document, estimate: &Estimate) {
    let rests_on: Vec<String> = estimate
        .provenance
        .iter()
        .filter(|foundation| foundation.share >= 0.01)
        .map(|foundation| format!("{:.0}% {}", foundation.share * 100.0, foundation.title))
        .collect();
    let software = &estimate.software;
    let faint = |text: String| Cell::new(text, Tone::Faint);
    document.heading_with("evidence", "`--why` shows formulas, inputs and sources");
    document.pairs(vec![
        ("time", faint(rests_on.join("; "))),
        ("constants", faint(format!("{}: {}", software.id, software.source))),
        ("interval", faint(estimate.step_time_interval.source.clone())),
        ("version", faint(format!("railwright {}", env!("CARGO_PKG_VERSION")))),
    ]);
}
