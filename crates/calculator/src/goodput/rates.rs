//! Interruption rates of components, and their spread over published clusters.
//!
//! Responsible for: reading `catalog/reliability`, and scaling it to a number of components. The causes of
//! one published run give the middle and its breakdown; the totals of all published clusters give the range.
//! Excludes numbers of switches and cables: their interruptions are scaled by NICs, each with one link.

use railwright_spec::choice;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::{Deserialize, Serialize};

/// Source of the causes.
pub const CAUSES_SOURCE: &str =
    "arXiv 2407.21783, Table 5: 419 unexpected interruptions in 54 days on 16,384 H100 in 2,048 hosts";
/// Size of the observed run: 54 days of 16,384 accelerators with one NIC each, in 2,048 hosts.
const OBSERVED: Counts = Counts { devices: 16_384, hosts: 2048, nics: 16_384 };
const OBSERVED_HOURS: f64 = 54.0 * 24.0;

/// Scale of an interruption rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// Accelerators, with their memory.
    Gpu,
    /// Everything else in a host: CPU, memory, power, storage, maintenance.
    Host,
    /// Network interfaces.
    Nic,
    /// Links and switches, by the number of NICs.
    Network,
    /// Software, by the number of accelerators.
    Software,
}

choice!(Component {
    "gpu" => Self::Gpu,
    "host" => Self::Host,
    "nic" => Self::Nic,
    "network" => Self::Network,
    "software" => Self::Software,
});

impl Component {
    /// All components, the most frequent cause first.
    pub const ALL: [Self; 5] = [Self::Gpu, Self::Software, Self::Host, Self::Network, Self::Nic];

    /// Identifier.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Host => "host",
            Self::Nic => "nic",
            Self::Network => "network",
            Self::Software => "software",
        }
    }
}

/// Number of components of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Accelerators.
    pub devices: u64,
    /// Servers.
    pub hosts: u64,
    /// Network interfaces, each with one link to a switch.
    pub nics: u64,
}

impl Counts {
    /// Components of a cluster, with one NIC per device.
    pub fn of_cluster(cluster: &Cluster) -> Self {
        let hosts = cluster.devices.div_ceil(cluster.devices_per_node.max(1));
        Self { devices: cluster.devices, hosts, nics: cluster.devices }
    }

    /// Number of units by which a component's rate is scaled.
    pub const fn of(&self, component: Component) -> u64 {
        match component {
            Component::Gpu | Component::Software => self.devices,
            Component::Host => self.hosts,
            Component::Nic | Component::Network => self.nics,
        }
    }
}

/// Evaluated columns of one line of `interruptions.csv`; its cause and its confidence are documentation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Cause {
    component: Component,
    interruptions: f64,
    takes_host: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
}

/// The failure rate of a published cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Name of the cluster or run.
    pub cluster: String,
    /// Interruptions per thousand servers and day.
    pub failures_per_thousand_node_days: f64,
    /// Accelerators per server.
    pub devices_per_node: f64,
    /// Source of the publication.
    pub source: String,
    /// `retrieved` or `recalled`.
    pub confidence: String,
}

impl Published {
    /// Mean time between failures of a job: `1000 x 86400 / (rate x devices / devices per node)`, in seconds.
    pub fn mtbf(&self, devices: u64) -> Seconds {
        let nodes = devices as f64 / self.devices_per_node;
        Seconds::new(1000.0 * 86_400.0 / (self.failures_per_thousand_node_days * nodes))
    }
}

/// Failures of one component in a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// The component.
    pub component: Component,
    /// Number of this component in the job.
    pub count: u64,
    /// Mean hours between failures of one.
    pub mtbf_hours: f64,
    /// Share of the failures that take a host out of the job until it is repaired.
    pub takes_host: f64,
    /// True if the rate was specified, false if it is from the catalogue.
    pub is_specified: bool,
}

impl Rate {
    /// Failures per hour of all components: `count / MTBF`.
    pub fn per_hour(&self) -> f64 {
        self.count as f64 / self.mtbf_hours
    }
}

/// The catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    causes: Vec<Cause>,
    /// Totals of published clusters.
    pub published: Vec<Published>,
}

fn rows<T: for<'a> Deserialize<'a>>(text: &str, file: &str) -> Result<Vec<T>, Problem> {
    let lines = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<Vec<T>, _>>();
    lines.map_err(|error| Problem::new(error.to_string()).in_file(file))
}

impl Reliability {
    /// Reads the catalogue's tables.
    pub fn catalogue() -> Result<Self, Problem> {
        Ok(Self {
            causes: rows(railwright_catalog::INTERRUPTIONS, "catalog/reliability/interruptions.csv")?,
            published: rows(railwright_catalog::RELIABLE_CLUSTERS, "catalog/reliability/clusters.csv")?,
        })
    }

    /// Rates of the components of a job. `specified` has hours between failures of one component and
    /// overrides the catalogue.
    pub fn rates(&self, counts: &Counts, specified: &[(Component, f64)]) -> Vec<Rate> {
        let rate = |component: Component| {
            let causes = || self.causes.iter().filter(move |cause| cause.component == component);
            let seen: f64 = causes().map(|cause| cause.interruptions).sum();
            let out: f64 =
                causes().filter(|c| c.takes_host == Answer::Yes).map(|cause| cause.interruptions).sum();
            let own = specified.iter().rev().find(|(named, _)| *named == component).map(|(_, hours)| *hours);
            Rate {
                component,
                count: counts.of(component),
                mtbf_hours: own.unwrap_or(OBSERVED.of(component) as f64 * OBSERVED_HOURS / seen),
                takes_host: out / seen,
                is_specified: own.is_some(),
            }
        };
        Component::ALL.into_iter().map(rate).collect()
    }

    /// Failure rate per device of a published cluster, relative to the run with known causes: 1 for that run.
    pub fn factor(&self, one: &Published) -> f64 {
        let all: f64 = self.causes.iter().map(|cause| cause.interruptions).sum();
        let own = 1000.0 * 24.0 * all / (OBSERVED_HOURS * OBSERVED.hosts as f64);
        let observed = OBSERVED.devices as f64 / OBSERVED.hosts as f64;
        one.failures_per_thousand_node_days * observed / one.devices_per_node / own
    }

    /// The lowest and the highest [factor](Self::factor) of all published clusters.
    pub fn range(&self) -> (f64, f64) {
        let factors = self.published.iter().map(|one| self.factor(one));
        factors.fold((1.0, 1.0), |(low, high), factor| (factor.min(low), factor.max(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_run_gives_its_own_interruptions() {
        let catalogue = Reliability::catalogue().expect("well formed");
        let rates = catalogue.rates(&OBSERVED, &[]);
        let in_all: f64 = rates.iter().map(|rate| rate.per_hour() * OBSERVED_HOURS).sum();
        assert!((in_all - 419.0).abs() < 1e-9, "{in_all}");
        // The counts sum to 419 with 148 faulty accelerators; the table's 30.1% for them is inconsistent (148
        // / 419 is 35.3%).
        let gpu = &rates[0];
        assert_eq!((gpu.component, gpu.takes_host), (Component::Gpu, 1.0));
        let share = gpu.per_hour() / rates.iter().map(Rate::per_hour).sum::<f64>();
        assert!((share - 0.64).abs() < 0.005, "{share}");
        let network = rates.iter().find(|rate| rate.component == Component::Network).expect("there");
        assert!((network.per_hour() * OBSERVED_HOURS / 419.0 - 0.084).abs() < 0.001);
    }

    #[test]
    fn published_times_between_failures() {
        let catalogue = Reliability::catalogue().expect("well formed");
        let of =
            |name: &str| catalogue.published.iter().find(|one| one.cluster == name).expect("there").clone();
        // arXiv 2410.21680: 1.8 hours at 16,384 accelerators, 0.23 hours at 131,072.
        let rsc = of("RSC-1");
        assert!((rsc.mtbf(16_384).get() / 3600.0 - 1.8).abs() < 0.05);
        assert!((rsc.mtbf(131_072).get() / 3600.0 - 0.23).abs() < 0.01);
        let llama = of("Llama 3 405B");
        assert!((llama.mtbf(16_384).get() / 3600.0 - OBSERVED_HOURS / 419.0).abs() < 0.001);
        let (low, high) = catalogue.range();
        assert!((low - 2.34 / 3.789).abs() < 1e-3 && (high - 6.5 / 3.789).abs() < 1e-3);
    }

    #[test]
    fn specified_rates_win() {
        let catalogue = Reliability::catalogue().expect("well formed");
        let counts = Counts { devices: 1000, hosts: 125, nics: 500 };
        let rates = catalogue.rates(&counts, &[(Component::Gpu, 50_000.0)]);
        assert!(rates[0].is_specified && (rates[0].per_hour() - 0.02).abs() < 1e-12);
        assert!(rates[1..].iter().all(|rate| !rate.is_specified));
        assert_eq!(rates.last().map(|rate| rate.count), Some(500));
    }
}
