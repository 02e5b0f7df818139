//! Default batch of each setting of a search.

use crate::question::Question;
use crate::setting::Setting;
use railwright_spec::human;
use railwright_spec::model::PublishedTraining;
use railwright_spec::plan::{PlanSpec, divided_batch, divisible_batch, published_batch, usual_batch};

/// Default batch of each setting; `None` if it is specified. The published batch, or the usual one for all
/// cluster sizes if they divide it.
pub(super) fn batches(
    asked: &dyn Question,
    published: Option<&PublishedTraining>,
    chosen: &mut Vec<String>,
) -> Vec<Option<u64>> {
    let specified = asked.specified();
    let devices: Vec<u64> = asked.settings().iter().map(|setting| setting.run.cluster.devices).collect();
    let largest = devices.iter().copied().max().unwrap_or(1);
    let length = asked.sequence_length();
    let all = |batch| vec![batch; devices.len()];
    if specified.global_batch.is_some() || specified.micro_batches.is_some() {
        return all(None);
    }
    if let Some(tokens) = specified.batch_tokens {
        let batch = divisible_batch(tokens.0, length, largest);
        chosen.push(format!("global batch {} for {} tokens", human::whole(batch), human::count(tokens.0)));
        return all(Some(batch));
    }
    if let Some(training) = published {
        let own: Vec<u64> = devices.iter().map(|&n| published_batch(training, length, n)).collect();
        let mut remarks: Vec<String> =
            own.iter().map(|batch| format!("global batch {}", human::whole(*batch))).collect();
        remarks.dedup();
        chosen.push(format!("{}, from the published training: {}", remarks.join(", "), training.source));
        return own.into_iter().map(Some).collect();
    }
    let usual = usual_batch(length, largest);
    if let Some(batch) = divided_batch(usual, &devices) {
        let for_all = if devices.iter().all(|n| *n == largest) { "" } else { " for all" };
        chosen.push(format!("global batch {}{for_all}", human::whole(batch)));
        return all(Some(batch));
    }
    let own = devices.iter().map(|&n| divided_batch(usual, &[n]));
    let own: Vec<u64> = own.map(|batch| batch.unwrap_or(usual)).collect();
    let mut remarks: Vec<String> = own
        .iter()
        .zip(&devices)
        .map(|(batch, n)| format!("global batch {} on {} GPUs", human::whole(*batch), human::whole(*n)))
        .collect();
    remarks.dedup();
    chosen.push(format!(
        "{}, because no single batch near {} is divisible for all sizes",
        remarks.join(", "),
        human::whole(usual)
    ));
    own.into_iter().map(Some).collect()
}

pub(super) fn plan_of(setting: &Setting, batch: Option<u64>) -> PlanSpec {
    let plan = setting.spec.plan.clone();
    let batch_tokens = if batch.is_some() { None } else { plan.batch_tokens };
    PlanSpec { global_batch: batch.or(plan.global_batch), batch_tokens, ..plan }
}
