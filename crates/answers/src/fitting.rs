//! A run that fits, if devices or layout are open and the default layout does not fit.
//!
//! Responsible for: the smallest number of devices on which a common layout fits, if none is set (for every resolved run), else a layout of
//! the search (for `estimate`). Specified settings never change.

use crate::pricing::Pricing;
use crate::resolve::unspecified;
use crate::searcher::{Effort, Searcher};
use crate::setting::Setting;
use crate::watch::Watch;
use crate::{Refused, Resolved, Texts, resolve};
use railwright_calculator::defaults;
use railwright_calculator::memory::{Fit, MemoryInput, MemoryReport, SoftwareCatalogue, report};
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::search::Options;

/// A run with its open settings filled in.
#[derive(Clone, Debug)]
pub enum Filled {
    /// The run fits, or all of it was specified.
    Run(Box<Resolved>),
    /// No layout fits; the run has the default layout.
    NothingFits(Box<Resolved>),
}

/// Maximum number of doublings of the devices: from 8 to 16,384.
const DOUBLINGS: u32 = 11;

/// Fills open settings so that the run fits.
pub fn fill(
    first: Resolved,
    texts: &dyn Texts,
    pricing: &dyn Pricing,
    watch: &dyn Watch,
) -> Result<Filled, Refused> {
    let is_closed = !defaults::is_open(&first.spec.plan) || first.spec.cluster.devices.is_none();
    if is_closed || fit(&first.run)? == Fit::Fits {
        return Ok(Filled::Run(Box::new(first)));
    }
    by_search(first, texts, pricing, watch)
}

/// Memory of every stage of a run, with the verdict.
pub fn memory_report(run: &Run) -> Result<MemoryReport, Problem> {
    let software = SoftwareCatalogue::shared()?.get(&run.plan.software);
    let (model, cluster, plan) = (&run.model, &run.cluster, &run.plan);
    Ok(report(&MemoryInput { model, cluster, plan, software, in_flight: None }))
}

fn fit(run: &Run) -> Result<Fit, Problem> {
    memory_report(run).map(|report| report.fit)
}

/// Verdict in words.
pub const fn fit_words(fit: Fit) -> &'static str {
    match fit {
        Fit::DoesNotFit => "does not fit",
        Fit::AtRisk => "at risk",
        Fit::Fits => "fits",
    }
}

/// Run on the smallest number of devices that fits, by doubling whole machines. Unchanged if devices or layout are specified, if it fits, or
/// if no number fits.
pub(crate) fn on_fewest(first: Resolved, texts: &dyn Texts) -> Result<Resolved, Refused> {
    let is_open = first.spec.cluster.devices.is_none() && defaults::is_open(&first.spec.plan);
    if !is_open || fit(&first.run)? == Fit::Fits {
        return Ok(first);
    }
    for doubling in 1..=DOUBLINGS {
        let devices = first.run.cluster.devices.saturating_mul(1 << doubling);
        let mut spec = first.spec.clone();
        spec.cluster.devices = Some(devices);
        // A batch or a cluster may be invalid for some numbers of devices.
        let Ok(mut resolved) = resolve(spec, texts) else { continue };
        if fit(&resolved.run)? == Fit::Fits {
            let words = format!("{} GPUs: the smallest power of two that fits", human::whole(devices));
            resolved.chosen.insert(0, words);
            return Ok(resolved);
        }
    }
    Ok(first)
}

/// Run with the first layout of the search.
fn by_search(
    mut first: Resolved,
    texts: &dyn Texts,
    pricing: &dyn Pricing,
    watch: &dyn Watch,
) -> Result<Filled, Refused> {
    let setting = Setting::new(first.spec.clone(), texts)?;
    let searcher = Searcher::new(Effort::default(), watch)?.priced(pricing);
    let batch = first.run.plan.global_batch;
    let specified = PlanSpec { global_batch: Some(batch), batch_tokens: None, ..setting.spec.plan.clone() };
    let options = Options { keep: 1, ..Options::default() };
    let search = searcher.prepare(&setting, &specified, options)?;
    let first_row = searcher.first_row(&search)?;
    if let Some(found) = first_row.and_then(|(outcome, _)| outcome.candidates.into_iter().next()) {
        first.run.plan = found.plan;
        first.chosen = unspecified(&first.spec, &first.run);
        first.chosen.insert(
            0,
            "layout: first result of `railwright search`, because no common layout fits".to_owned(),
        );
        return Ok(Filled::Run(Box::new(first)));
    }
    // A default layout may fit where no layout fits with the certainty that a search asks for.
    if fit(&first.run)?.is_possible() {
        return Ok(Filled::Run(Box::new(first)));
    }
    Ok(Filled::NothingFits(Box::new(first)))
}
