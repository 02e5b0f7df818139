//! The fastest layout of every class of networks.
//!
//! Responsible for: selection of the searched classes. The layouts found there are priced on all others ([`Survey`]), which need no search
//! if these are close to the fastest by a bound. Does not compute prices: see the tuner.

use super::of_cluster;
use crate::exit::Failure;
use railwright_answers::{Ran, Searcher, Setting};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_tuner::codesign::fabric::network_share;
use railwright_tuner::codesign::{Fastest, Found, LISTED, Memo, NoPlan, SPREAD, Survey, is_at_least_as_good};
use railwright_tuner::search::{Options, Search};
use std::collections::BTreeMap;

/// A plan, or the reason for its absence.
type Planned = Result<Found, NoPlan>;

/// Searches of classes, by size of scale-up domain: layouts that fit on one also fit on other networks.
pub(super) struct Classes<'a> {
    searcher: &'a Searcher<'a>,
    setting: &'a Setting,
    specified: &'a PlanSpec,
    surveys: BTreeMap<u64, Survey>,
    memo: Memo,
    /// Reason why no training is possible on domains of a size.
    nothing: BTreeMap<u64, String>,
    /// The largest bound of the gap to the fastest layout, as a share.
    gap: f64,
    is_stopped: bool,
}

impl<'a> Classes<'a> {
    pub(super) fn new(searcher: &'a Searcher<'a>, setting: &'a Setting, specified: &'a PlanSpec) -> Self {
        Self {
            searcher,
            setting,
            specified,
            surveys: BTreeMap::new(),
            memo: Memo::default(),
            nothing: BTreeMap::new(),
            gap: 0.0,
            is_stopped: false,
        }
    }

    /// Tests whether the search ran to its end.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_stopped
    }

    /// Number of searched classes, in words.
    pub(super) fn summary(&self, classes: usize) -> Option<String> {
        let searched: usize = self.surveys.values().map(Survey::len).sum();
        (self.is_complete() && searched > 0 && searched < classes).then(|| {
            format!(
                "layouts searched on {} of {} classes of networks and priced on the others, at most {} above the fastest step",
                human::whole(searched as u64),
                human::whole(classes as u64),
                human::percent(self.gap),
            )
        })
    }

    /// The fastest layout of every class. Better networks come first: their layouts bound those of worse ones.
    pub(super) fn plans(
        &mut self,
        clusters: &[Cluster],
        best_first: &[usize],
    ) -> Result<Vec<Planned>, Failure> {
        let mut plans: Vec<Planned> = vec![Err(NoPlan::NotSearched); clusters.len()];
        for (turn, &index) in best_first.iter().enumerate() {
            let cluster = &clusters[index];
            let is_worse = |later: &&usize| is_at_least_as_good(cluster, &clusters[**later]);
            let bounds_others = best_first[turn + 1..].iter().any(|later| is_worse(&later));
            plans[index] = self.plan(cluster, bounds_others)?;
        }
        Ok(plans)
    }

    /// Searches a network unless the layouts of better ones are close to its fastest by the bound.
    fn plan(&mut self, cluster: &Cluster, bounds_others: bool) -> Result<Planned, Failure> {
        let domain = cluster.scale_up.domain_size;
        if let Some(reason) = self.nothing.get(&domain) {
            return Ok(Err(NoPlan::NothingFits(reason.clone())));
        }
        let known = self.known(cluster)?;
        if let Some(enough) = known.as_ref().filter(|known| known.is_enough()) {
            return self.found(cluster, enough).map(Ok);
        }
        self.is_stopped |= self.searcher.is_stopped();
        if self.is_stopped {
            return Ok(Err(NoPlan::NotSearched));
        }
        let setting = of_cluster(self.setting, cluster);
        let options = Options { keep: 1, ..Options::default() };
        let mut search = match self.searcher.prepare(&setting, self.specified, options) {
            Ok(search) => search,
            Err(problems) => {
                let first = problems.into_iter().next().map_or_else(String::new, |problem| problem.message);
                return Ok(Err(self.nothing_fits(domain, first)));
            }
        };
        let listing = Options { keep: LISTED, every_detail: true, ..search.options };
        // Slightly above the known time, so that a tie is found again.
        let mut reached = known.as_ref().map_or(f64::INFINITY, |known| known.step_time.get() * (1.0 + 1e-9));
        // A known step time bounds the list without a search for the fastest.
        let lists_at_once = bounds_others && reached.is_finite();
        if lists_at_once {
            search.options = listing;
            reached *= SPREAD;
        }
        let Some(ran) = self.run(&search, reached) else { return Ok(Err(NoPlan::NotSearched)) };
        // Otherwise the fastest layout bounds the list of layouts that are not much slower.
        let limit = match ran.results.best.entries().first() {
            Some(entry) => entry.time * SPREAD,
            // No layout is faster than the known one.
            None if reached.is_finite() => reached,
            None => {
                let reason = match search.outcome(&ran.results).nearest_misses.first() {
                    Some(miss) => {
                        format!("nothing fits; the closest layout lacks {}", human::bytes(miss.missing))
                    }
                    None => "no layout divides the devices and the batch".to_owned(),
                };
                return Ok(Err(self.nothing_fits(domain, reason)));
            }
        };
        let mut list = None;
        if bounds_others && !lists_at_once {
            search.options = listing;
            list = self.run(&search, limit).map(|list| (list, limit));
        }
        let (list, limit) = list.unwrap_or((ran, reached));
        self.surveys.entry(domain).or_default().add(&search, &list.results, limit);
        match self.known(cluster)? {
            Some(fastest) => self.found(cluster, &fastest).map(Ok),
            None => Ok(Err(NoPlan::NotSearched)),
        }
    }

    /// The fastest layout of a network among those found on others.
    fn known(&mut self, cluster: &Cluster) -> Result<Option<Fastest>, Failure> {
        let Some(survey) = self.surveys.get(&cluster.scale_up.domain_size) else { return Ok(None) };
        Ok(survey.fastest(&self.setting.run.model, cluster, &mut self.memo)?)
    }

    fn nothing_fits(&mut self, domain: u64, reason: String) -> NoPlan {
        self.nothing.insert(domain, reason.clone());
        NoPlan::NothingFits(reason)
    }

    /// A search of layouts up to a time; `None` after cancellation.
    fn run(&mut self, search: &Search<'_>, limit: f64) -> Option<Ran> {
        let ran = self.searcher.run_below(std::slice::from_ref(search), &[limit]).into_iter().next();
        let ran = ran.filter(|ran| ran.is_complete);
        self.is_stopped |= ran.is_none();
        ran
    }

    fn found(&mut self, cluster: &Cluster, fastest: &Fastest) -> Result<Found, Failure> {
        self.gap = self.gap.max(fastest.gap());
        Ok(Found {
            step_time: fastest.step_time,
            fresh_step_time: fastest.fresh_step_time,
            tokens_per_second: fastest.plan.tokens_per_step() as f64 / fastest.step_time.get(),
            network_share: network_share(&self.setting.run.model, cluster, &fastest.plan)?,
            plan: fastest.plan.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
