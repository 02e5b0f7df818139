//! Settings of a question about networks.
//!
//! Responsible for: plan settings that are the same on all networks, prices of scale-up domains, and networks above a budget. Excludes the axes of the networks.

use crate::question::Question;
use crate::setting::Setting;
use railwright_spec::human;
use railwright_spec::plan::{PlanSpec, Segment, default_batch, divisible_batch};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Dollars;
use railwright_tuner::codesign::Point;
use std::collections::BTreeMap;

/// Plan settings that are the same on all networks, with a batch; and the defaults in words.
pub fn network_plan(asked: &dyn Question, setting: &Setting) -> (PlanSpec, Vec<String>) {
    // Networks consist of whole domains.
    let mut specified = asked.specified();
    specified.segment.get_or_insert(Segment::Whole);
    let mut chosen = Vec::new();
    let length = asked.sequence_length();
    if specified.sequence_length.is_none() {
        chosen.push(format!("sequences of {} tokens", human::whole(length)));
    }
    let devices = setting.run.cluster.devices;
    let sequences = match (specified.global_batch, specified.batch_tokens) {
        (Some(_), _) => specified.global_batch,
        (None, Some(tokens)) => Some(divisible_batch(tokens.0, length, devices)),
        (None, None) if specified.micro_batches.is_some() => None,
        (None, None) => Some(default_batch(asked.published(), length, devices)),
    };
    if let (Some(sequences), None) = (sequences, specified.global_batch) {
        chosen.push(format!("global batch {}", human::whole(sequences)));
    }
    (PlanSpec { global_batch: sequences, batch_tokens: None, ..specified }, chosen)
}

/// Prices of a device's part of larger scale-up domains, each as `72=3000`.
pub fn scale_up_prices(texts: &[String]) -> Result<BTreeMap<u64, Dollars>, Problem> {
    let mut list = BTreeMap::new();
    for text in texts {
        let read = text.split_once('=').and_then(|(size, price)| {
            let size = size.trim().parse::<u64>().ok().filter(|n| *n > 0)?;
            let price = price.trim().trim_start_matches('$').parse::<f64>().ok()?;
            (0.0..=1e9).contains(&price).then_some((size, Dollars::new(price)))
        });
        let Some((size, price)) = read else {
            let problem =
                Problem::new(format!("`{}` is not the price of a domain size", human::shorten(text)));
            return Err(problem.in_file("--scale-up-price").hint("use `72=3000`: dollars per device"));
        };
        list.insert(size, price);
    }
    Ok(list)
}

/// Networks above the budget, in words.
pub fn too_expensive(
    above: &[Point],
    budget: Dollars,
    scale_up_prices: &BTreeMap<u64, Dollars>,
) -> Option<String> {
    let prices = above.iter().map(|point| point.price(scale_up_prices));
    let least = prices.min_by(|a, b| a.get().total_cmp(&b.get()))?;
    Some(format!(
        "{} networks above {} are excluded; the cheapest of them costs {}",
        human::whole(above.len() as u64),
        human::dollars(budget),
        human::dollars(least)
    ))
}
