//! A run that fits, if devices or layout are open and the default layout does not fit.
//!
//! Responsible for: a layout of the search, if the number of devices is set. Otherwise [`crate::resolve`]
//! takes the smallest number that fits. Specified settings never change.

use crate::fits::fit;
use crate::pricing::Pricing;
use crate::resolve::unspecified;
use crate::searcher::{Effort, Searcher};
use crate::setting::Setting;
use crate::watch::Watch;
use crate::{Refused, Resolved, Texts};
use railwright_calculator::defaults;
use railwright_calculator::memory::Fit;
use railwright_spec::plan::PlanSpec;
use railwright_tuner::search::Options;

/// A run with its open settings filled in.
#[derive(Clone, Debug)]
pub enum Filled {
    /// The run fits, or all of it was specified.
    Run(Box<Resolved>),
    /// No layout fits; the run has the default layout.
    NothingFits(Box<Resolved>),
}

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
    let specified = PlanSpec {
        global_batch: Some(batch),
        batch_tokens: None,
        ..setting.spec.plan.with_other_sizes_set()
    };
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
