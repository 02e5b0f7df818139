//! The calibration file: TOML.
//!
//! Responsible for: strict reading with places and hints, and writing for human readers. Rejects physically
//! impossible figures.

use super::{Calibration, Operators, Regime, VERSION};
use crate::cluster::Cluster;
use crate::problem::{Problem, Warning};
use std::sync::Arc;

/// The first lines of a file.
const HEAD: &str = "# Written by `railwright calibrate`. A rate is modelled over measured time: below 1 is \
    slower than the cost model.\n\
    # `burst`: measured alone; `sustained`: measured within a training run. Points are [work, rate]: FLOPs of \
    a GEMM or of attention, bytes of an element-wise kernel.\n\n";

impl Calibration {
    /// Reads a file.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problem> {
        let mut read: Self = toml::from_str(text).map_err(|error| {
            let problem = Problem::new(error.message().trim().to_owned()).in_file(file);
            let problem = match error.span() {
                Some(span) => problem.at_offset(text, span.start),
                None => problem,
            };
            problem.hint("create a calibration with `railwright calibrate TRACES -o FILE`")
        })?;
        file.clone_into(&mut read.file);
        read.check().map_err(|problem| problem.in_file(file))?;
        Ok(read)
    }

    /// Equivalent file. Fails if the reader would reject it.
    pub fn to_toml(&self) -> Result<String, Problem> {
        self.check()?;
        let body = toml::to_string(self)
            .map_err(|error| Problem::new(format!("the calibration cannot be written: {error}")))?;
        Ok(format!("{HEAD}{body}"))
    }

    fn check(&self) -> Result<(), Problem> {
        if self.version != VERSION {
            return Err(Problem::new(format!(
                "the file has version {}, but this program reads version {VERSION}",
                self.version
            ))
            .at_key("version")
            .hint("create it again with `railwright calibrate`"));
        }
        let wrong = |key: String, what: &str| Err(Problem::new(what).at_key(key));
        let share = |value: f64| value.is_finite() && (1e-6..=1e3).contains(&value);
        for (at, rate) in self.rates.iter().enumerate() {
            let key = || format!("rate.{at}.points");
            if rate.points.is_empty() {
                return wrong(key(), "a rate needs at least one point");
            }
            if !rate.points.windows(2).all(|pair| pair[0].0 < pair[1].0) {
                return wrong(key(), "points must be in increasing order of work");
            }
            if !rate.points.iter().all(|(work, rate)| work.is_finite() && *work > 0.0 && share(*rate)) {
                return wrong(key(), "work must be positive, and rates between 0.000001 and 1000");
            }
            if self.rates[..at].iter().any(|r| (r.operators, r.regime) == (rate.operators, rate.regime)) {
                return wrong(format!("rate.{at}.operators"), "the same operators and regime occur twice");
            }
        }
        for (at, law) in self.collectives.iter().enumerate() {
            if !law.is_sound() {
                return wrong(
                    format!("collective.{at}"),
                    "a link model requires at least 2 ranks, times from 0 to 1 s and a bandwidth above 0 and up to 100,000 GB/s",
                );
            }
        }
        if self.collectives.iter().any(|law| law.regime == Regime::Sustained)
            && self.collective_rate.is_none()
        {
            return wrong(
                "collective_rate".to_owned(),
                "link models of collectives within a run also require the common rate of collectives in the run",
            );
        }
        if let Some(network) = &self.network
            && ![network.ring_share, network.spread_share, network.latency].into_iter().all(share)
        {
            return wrong("network".to_owned(), "shares and latency must be positive");
        }
        if let Some(rate) = &self.collective_rate
            && !share(rate.rate)
        {
            return wrong("collective_rate.rate".to_owned(), "rates must be between 0.000001 and 1000");
        }
        if let Some(host) = &self.host
            && ![host.us_per_kernel, host.us_per_micro_batch, host.ms_per_step]
                .into_iter()
                .all(|value| (0.0..=1e7).contains(&value))
        {
            return wrong("host".to_owned(), "host times must be from 0 to 10,000,000");
        }
        if self.steps.as_ref().is_some_and(|steps| !steps.is_sound()) {
            return wrong(
                "steps".to_owned(),
                "factors must be between 0.01 and 100, covariances symmetric and positive semi-definite, and the residual not negative",
            );
        }
        if self.steps.is_some() && self.software.is_empty() {
            return wrong(
                "software".to_owned(),
                "step times require the software generation of the measurement",
            );
        }
        Ok(())
    }

    /// Cluster with this calibration. Fails for a calibration of another accelerator.
    pub fn applied(self: Arc<Self>, cluster: Cluster) -> Result<Cluster, Problem> {
        if self.accelerator != cluster.accelerator.id {
            return Err(Problem::new(format!(
                "the calibration `{}` is for `{}`, but the cluster has `{}`",
                self.file, self.accelerator, cluster.accelerator.id
            ))
            .at_key("cluster.calibration")
            .hint("omit the calibration, or create one for this accelerator with `railwright calibrate`"));
        }
        Ok(Cluster { calibration: Some(self), ..cluster })
    }

    /// Warnings for the use of this calibration by a run of this software generation on this cluster.
    pub fn warnings(&self, cluster: &Cluster, software: &str) -> Vec<Warning> {
        let mut list = Vec::new();
        let name = if self.file.is_empty() {
            "the calibration".to_owned()
        } else {
            format!("the calibration `{}`", self.file)
        };
        let sustained = || self.evidence().into_iter().filter(|(_, regime, _)| *regime == Regime::Sustained);
        if !self.software.is_empty() && self.software != software && sustained().next().is_some() {
            list.push(Warning::new(
                "calibration-software",
                format!(
                    "{name} was fitted with the generation `{}`, but this run has `{software}`: only its rates of GEMMs and attention are used, not those of element-wise kernels or host times",
                    self.software
                ),
            ));
        }
        if !self.link.is_empty() && !self.collectives.is_empty() && self.link != cluster.scale_up.link {
            list.push(Warning::new(
                "calibration-link",
                format!(
                    "collectives of {name} were measured over {}, but the cluster has {}, so they are not used",
                    self.link, cluster.scale_up.link
                ),
            ));
        }
        let few: Vec<String> = self
            .evidence()
            .into_iter()
            // One step time is enough: the interval already reflects the small sample.
            .filter(|(name, _, evidence)| name != "step times" && evidence.samples < super::FEW)
            .map(|(name, _, evidence)| format!("{name} ({})", evidence.samples))
            .collect();
        if !few.is_empty() {
            list.push(Warning::new(
                "calibration-few-samples",
                format!(
                    "constants of {name} with fewer than {} measurements: {}",
                    super::FEW,
                    few.join(", ")
                ),
            ));
        }
        list
    }

    /// True if rates of GEMMs or attention were measured within a run.
    pub fn is_sustained(&self, operators: Operators) -> bool {
        self.rates.iter().any(|rate| rate.operators == operators && rate.regime == Regime::Sustained)
    }
}
