//! The fastest layout of every class of networks.
//!
//! Responsible for: selection of the searched classes. The layouts found there are priced on all other
//! classes ([`Survey`]). A class needs no search if a bound shows that they are close to its fastest. A
//! search of an ideal network comes first: its bounds exclude most parallel sizes from all later searches.
//! Classes that hardly differ share one search, of a network at least as good as each. Does not compute
//! prices: see the tuner.

use crate::searcher::{SearchResults, Searcher};
use crate::setting::Setting;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_tuner::codesign::fabric::network_share;
use railwright_tuner::codesign::{
    Fastest, Found, LISTED, Memo, NoPlan, SPREAD, Survey, ideal, is_alike, is_at_least_as_good,
};
use railwright_tuner::search::{Degrees, Options, Search};
use std::collections::BTreeMap;

/// A plan, or the reason for its absence.
type Planned = Result<Found, NoPlan>;

/// Searches of classes, by size of scale-up domain: layouts that fit on one also fit on other networks.
pub struct NetworkClasses<'a> {
    searcher: &'a Searcher<'a>,
    setting: &'a Setting,
    specified: &'a PlanSpec,
    surveys: BTreeMap<u64, Survey>,
    /// Searches of ideal networks: bounds only, their layouts are not in the surveys.
    ideals: BTreeMap<u64, Survey>,
    memo: Memo,
    /// Number of searched classes.
    searched: usize,
    /// Networks searched for several classes.
    common: Vec<Cluster>,
    /// Reason why no training is possible on domains of a size.
    nothing: BTreeMap<u64, String>,
    /// The largest bound of the gap to the fastest layout, as a share.
    gap: f64,
    is_stopped: bool,
}

impl<'a> NetworkClasses<'a> {
    /// No class is searched yet. `specified` is the plan's specification for all of them.
    pub fn new(searcher: &'a Searcher<'a>, setting: &'a Setting, specified: &'a PlanSpec) -> Self {
        Self {
            searcher,
            setting,
            specified,
            surveys: BTreeMap::new(),
            ideals: BTreeMap::new(),
            memo: Memo::default(),
            searched: 0,
            common: Vec::new(),
            nothing: BTreeMap::new(),
            gap: 0.0,
            is_stopped: false,
        }
    }

    /// Tests whether the search ran to its end.
    pub fn is_complete(&self) -> bool {
        !self.is_stopped
    }

    /// Number of searched classes, in words.
    pub fn summary(&self, classes: usize) -> Option<String> {
        let networks: usize = self.surveys.values().map(Survey::len).sum();
        (self.is_complete() && networks > 0 && (self.searched < classes)).then(|| {
            format!(
                "layouts were searched on {} and evaluated on {} classes of equivalent networks; steps are at most {} above the fastest",
                human::several(networks as u64, "network"),
                human::whole(classes as u64),
                human::percent(self.gap),
            )
        })
    }

    /// The fastest layout of every class, or the reason for its absence. `best_first` are the indices of
    /// `clusters`, better networks first: their layouts bound those of worse ones. `watch` receives the
    /// number of finished classes. Fails if a layout cannot be priced.
    pub fn plans(
        &mut self,
        clusters: &[Cluster],
        best_first: &[usize],
        watch: &dyn Fn(usize),
    ) -> Result<Vec<Planned>, Problem> {
        let mut plans: Vec<Planned> = vec![Err(NoPlan::NotSearched); clusters.len()];
        for (turn, &index) in best_first.iter().enumerate() {
            let cluster = &clusters[index];
            watch(turn);
            self.bound(clusters, cluster.scale_up.domain_size);
            let later: Vec<&Cluster> = best_first[turn + 1..].iter().map(|later| &clusters[*later]).collect();
            plans[index] = self.plan(cluster, &later)?;
        }
        Ok(plans)
    }

    /// Searches the ideal network of several classes with domains of a size, once. A problem or a stop is
    /// left to the search of a class.
    fn bound(&mut self, clusters: &[Cluster], domain: u64) {
        if self.ideals.contains_key(&domain) || self.nothing.contains_key(&domain) {
            return;
        }
        let mut survey = Survey::default();
        let alike: Vec<&Cluster> = clusters.iter().filter(|one| one.scale_up.domain_size == domain).collect();
        if alike.len() > 1
            && let Some(best) = ideal(alike.iter().copied())
        {
            let setting = self.setting.on_cluster(&best);
            let options = Options { keep: 1, ..Options::default() };
            if let Ok(search) = self.searcher.prepare(&setting, self.specified, options)
                && let Some(ran) = self.run(&search, f64::INFINITY)
            {
                survey.add(&search, &ran.results, f64::INFINITY);
            }
        }
        self.ideals.insert(domain, survey);
    }

    /// Lower bounds on the time of all layouts on a network, by parallel sizes, in seconds.
    fn least(&self, cluster: &Cluster) -> BTreeMap<Degrees, f64> {
        let domain = cluster.scale_up.domain_size;
        let mut least = BTreeMap::new();
        for survey in [self.surveys.get(&domain), self.ideals.get(&domain)].into_iter().flatten() {
            survey.raise(&mut least, cluster);
        }
        least
    }

    /// The fastest layout of a network. It is searched unless the layouts of better ones are close to its
    /// fastest by the bound. `later` are the networks that follow.
    fn plan(&mut self, cluster: &Cluster, later: &[&Cluster]) -> Result<Planned, Problem> {
        if let Some(reason) = self.nothing.get(&cluster.scale_up.domain_size) {
            return Ok(Err(NoPlan::NothingFits(reason.clone())));
        }
        if let Some(enough) = self.enough(cluster)? {
            return self.found(cluster, &enough).map(Ok);
        }
        // One search may be enough for all classes with these NICs, or for those with the same
        // oversubscription as well.
        let has_nics = |other: &&Cluster| {
            cluster.scale_up == other.scale_up && cluster.network.bandwidth == other.network.bandwidth
        };
        let with_nics: Vec<&Cluster> = later.iter().copied().filter(has_nics).collect();
        let is_first = !self.common.iter().any(|common| has_nics(&common));
        let alike = with_nics.iter().copied().filter(|other| is_alike(cluster, other)).collect();
        for others in [if is_first { with_nics } else { Vec::new() }, alike] {
            let Some(common) = ideal(std::iter::once(cluster).chain(others.iter().copied())) else {
                continue;
            };
            let is_own = common.network == cluster.network;
            if others.is_empty() || is_own || self.common.iter().any(|known| known.network == common.network)
            {
                continue;
            }
            let searched = self.search(&common, true)?;
            self.common.push(common);
            if let Err(reason) = searched {
                return Ok(Err(reason));
            }
            if let Some(enough) = self.enough(cluster)? {
                return self.found(cluster, &enough).map(Ok);
            }
        }
        self.searched += 1;
        let bounds_others = later.iter().any(|later| is_at_least_as_good(cluster, later));
        if let Err(reason) = self.search(cluster, bounds_others)? {
            return Ok(Err(reason));
        }
        match self.known(cluster)? {
            Some(fastest) => self.found(cluster, &fastest).map(Ok),
            None => Ok(Err(NoPlan::NotSearched)),
        }
    }

    /// The fastest known layout of a network, if it is close to the fastest of all by a bound.
    fn enough(&mut self, cluster: &Cluster) -> Result<Option<Fastest>, Problem> {
        let Some(mut known) = self.known(cluster)? else { return Ok(None) };
        // No layout is faster than all layouts of the ideal network.
        if let Some(there) = self.on_ideal(cluster)? {
            known.least = known.least.max(there.least);
        }
        Ok(Some(known).filter(Fastest::is_enough))
    }

    /// The fastest layout of the ideal network on a network, with the bound of all layouts.
    fn on_ideal(&mut self, cluster: &Cluster) -> Result<Option<Fastest>, Problem> {
        let Some(ideal) = self.ideals.get(&cluster.scale_up.domain_size) else { return Ok(None) };
        ideal.fastest(&self.setting.run.model, cluster, &mut self.memo)
    }

    /// Searches a network, and lists its fastest layouts if they bound others.
    fn search(&mut self, cluster: &Cluster, bounds_others: bool) -> Result<Result<(), NoPlan>, Problem> {
        let domain = cluster.scale_up.domain_size;
        self.is_stopped |= self.searcher.is_stopped();
        if self.is_stopped {
            return Ok(Err(NoPlan::NotSearched));
        }
        let known = self.known(cluster)?;
        let setting = self.setting.on_cluster(cluster);
        let options = Options { keep: 1, ..Options::default() };
        // Slightly above the known time, so that a tie is found again.
        let above = |time: f64| time * (1.0 + 1e-9);
        let mut reached = known.as_ref().map_or(f64::INFINITY, |known| above(known.step_time.get()));
        // A known step time bounds the list without a search for the fastest.
        let lists_at_once = bounds_others && reached.is_finite();
        // The fastest layout of the ideal network is one of this network as well.
        let there = self.on_ideal(cluster)?;
        reached = there.map_or(reached, |there| reached.min(above(there.step_time.get())));
        if lists_at_once {
            reached *= SPREAD;
        }
        let least = self.least(cluster);
        let least = |degrees: &Degrees| least.get(degrees).copied().unwrap_or(0.0);
        let prepared = self.searcher.prepare_within(&setting, self.specified, options, (reached, &least));
        let mut search = match prepared {
            Ok(search) => search,
            Err(problems) => {
                let first = problems.into_iter().next().map_or_else(String::new, |problem| problem.message);
                return Ok(Err(self.nothing_fits(domain, first)));
            }
        };
        let listing = Options { keep: LISTED, every_detail: true, ..search.options };
        if lists_at_once {
            search.options = listing;
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
                        format!(
                            "nothing fits; the closest layout needs {} more memory",
                            human::bytes(miss.missing)
                        )
                    }
                    None => "no layout divides the devices and the batch".to_owned(),
                };
                return Ok(Err(self.nothing_fits(domain, reason)));
            }
        };
        let mut list = None;
        if bounds_others && !lists_at_once {
            let prepared = self.searcher.prepare_within(&setting, self.specified, listing, (limit, &least));
            // The same settings were prepared above.
            if let Ok(search) = prepared {
                list = self.run(&search, limit).map(|list| (list, limit));
            }
        }
        let (list, limit) = list.unwrap_or((ran, reached));
        self.surveys.entry(domain).or_default().add(&search, &list.results, limit);
        Ok(Ok(()))
    }

    /// The fastest layout of a network among those found on others.
    fn known(&mut self, cluster: &Cluster) -> Result<Option<Fastest>, Problem> {
        let Some(survey) = self.surveys.get(&cluster.scale_up.domain_size) else { return Ok(None) };
        survey.fastest(&self.setting.run.model, cluster, &mut self.memo)
    }

    fn nothing_fits(&mut self, domain: u64, reason: String) -> NoPlan {
        self.nothing.insert(domain, reason.clone());
        NoPlan::NothingFits(reason)
    }

    /// A search of layouts up to a time; `None` after cancellation.
    fn run(&mut self, search: &Search<'_>, limit: f64) -> Option<SearchResults> {
        let ran = self.searcher.run_below(std::slice::from_ref(search), &[limit]).into_iter().next();
        let ran = ran.filter(|ran| ran.is_complete);
        self.is_stopped |= ran.is_none();
        ran
    }

    fn found(&mut self, cluster: &Cluster, fastest: &Fastest) -> Result<Found, Problem> {
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
