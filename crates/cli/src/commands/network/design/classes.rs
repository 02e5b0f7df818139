//! The fastest layout of every class of networks.
//!
//! Responsible for: which classes are searched. The layouts found there are priced on all others ([`Survey`]), which need no search where these
//! are close to the fastest by a bound. It holds where no layout is faster on a worse network. Does not price: see the tuner.

use super::of_cluster;
use crate::exit::Failure;
use railwright_answers::{Ran, Searcher, Setting};
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_tuner::codesign::fabric::network_share;
use railwright_tuner::codesign::{Fastest, Found, LISTED, SPREAD, Survey};
use railwright_tuner::search::Options;
use std::collections::BTreeMap;

/// Searches of classes, by size of scale-up domain: layouts that fit there fit on other networks, too.
pub(super) struct Classes<'a> {
    searcher: &'a Searcher<'a>,
    setting: &'a Setting,
    said: &'a PlanSpec,
    surveys: BTreeMap<u64, Survey>,
    /// Why nothing can be trained on domains of a size.
    nothing: BTreeMap<u64, String>,
    /// The largest bound of the gap to the fastest layout, as a share.
    gap: f64,
    is_stopped: bool,
}

impl<'a> Classes<'a> {
    pub(super) fn new(searcher: &'a Searcher<'a>, setting: &'a Setting, said: &'a PlanSpec) -> Self {
        let (surveys, nothing) = (BTreeMap::new(), BTreeMap::new());
        Self { searcher, setting, said, surveys, nothing, gap: 0.0, is_stopped: false }
    }

    /// Whether nothing was cut short.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_stopped
    }

    /// How many classes were searched, in words.
    pub(super) fn said(&self, classes: usize) -> Option<String> {
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

    /// Searches a network unless the layouts of better ones are close to its fastest by the bound.
    pub(super) fn survey(&mut self, cluster: &Cluster) -> Result<(), Failure> {
        let domain = cluster.scale_up.domain_size;
        self.is_stopped |= self.searcher.is_stopped();
        if self.is_stopped || self.nothing.contains_key(&domain) {
            return Ok(());
        }
        let survey = self.surveys.entry(domain).or_default();
        let known = survey.fastest(&self.setting.run.model, cluster)?;
        if known.as_ref().is_some_and(Fastest::is_enough) {
            return Ok(());
        }
        let setting = of_cluster(self.setting, cluster);
        let options = Options { keep: 1, ..Options::default() };
        let mut search = match self.searcher.prepare(&setting, self.said, options) {
            Ok(search) => search,
            Err(problems) => {
                let first = problems.into_iter().next().map_or_else(String::new, |problem| problem.message);
                self.nothing.insert(domain, first);
                return Ok(());
            }
        };
        let reached = known.map_or(f64::INFINITY, |known| known.step_time.get());
        // The fastest first: it bounds the list of all that is not much slower. A hair above, so that a tie is found again.
        let Some(ran) = self.run(&search, reached * (1.0 + 1e-9)) else { return Ok(()) };
        let Some(fastest) = ran.results.best.entries().first().map(|entry| entry.time) else {
            let reason = match search.outcome(&ran.results).nearest_misses.first() {
                Some(miss) => {
                    format!("nothing fits; the closest layout lacks {}", human::bytes(miss.missing))
                }
                None => "no layout divides the devices and the batch".to_owned(),
            };
            self.nothing.insert(domain, reason);
            return Ok(());
        };
        let limit = fastest * SPREAD;
        search.options = Options { keep: LISTED, every_detail: true, ..search.options };
        if let Some(ran) = self.run(&search, limit) {
            self.surveys.entry(domain).or_default().add(&search, &ran.results, limit);
        }
        Ok(())
    }

    /// A search among layouts up to a time; none if it was stopped.
    fn run(&mut self, search: &railwright_tuner::search::Search<'_>, limit: f64) -> Option<Ran> {
        let ran = self.searcher.run_below(std::slice::from_ref(search), &[limit]).into_iter().next();
        let ran = ran.filter(|ran| ran.is_complete);
        self.is_stopped |= ran.is_none();
        ran
    }

    /// The fastest known layout of a network, once all were surveyed.
    pub(super) fn fastest(&mut self, cluster: &Cluster) -> Result<Result<Found, String>, Failure> {
        let domain = cluster.scale_up.domain_size;
        if let Some(reason) = self.nothing.get(&domain) {
            return Ok(Err(reason.clone()));
        }
        let model = &self.setting.run.model;
        let known =
            self.surveys.get(&domain).map(|survey| survey.fastest(model, cluster)).transpose()?.flatten();
        // After a stop, only networks that need no further search have an answer.
        let known = known.filter(|fastest| !self.is_stopped || fastest.is_enough());
        let Some(fastest) = known else { return Ok(Err("stopped".to_owned())) };
        self.gap = self.gap.max(fastest.gap());
        Ok(Ok(Found {
            step_time: fastest.step_time,
            fresh_step_time: fastest.fresh_step_time,
            tokens_per_second: fastest.plan.tokens_per_step() as f64 / fastest.step_time.get(),
            network_share: network_share(model, cluster, &fastest.plan)?,
            plan: fastest.plan,
        }))
    }
}
