//! Nodes of other kinds in the same job.
//!
//! Responsible for: the text form of pools, `CLUSTER:DEVICES`, and the ranks of each. Excludes which stages
//! run on them.

use super::Cluster;
use crate::human;
use crate::problem::Problem;
use crate::run::{Field, Kind, Value};
use serde::Serialize;
use std::ops::Range;

/// Devices of a different kind, as written: `dgx-a100:32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSpec {
    /// Cluster or accelerator of the catalogue.
    pub name: String,
    /// Number of devices.
    pub devices: u64,
}

/// Pools of a job in rank order, each written `CLUSTER:DEVICES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pools(pub Vec<PoolSpec>);

impl Field for Pools {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        Vec::<String>::read(value)?.iter().map(|text| read_pool(text)).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|p| Value::Text(format!("{}:{}", p.name, p.devices))).collect())
    }
}

fn read_pool(text: &str) -> Result<PoolSpec, Problem> {
    let wrong = |what: &str| {
        Problem::new(format!("pool `{}`: {what}", human::shorten(text)))
            .hint("use `CLUSTER:DEVICES`, such as `dgx-a100:32`")
    };
    let (name, devices) = text.rsplit_once(':').ok_or_else(|| wrong("the number of devices is missing"))?;
    let devices = devices.trim().parse::<u64>().ok().filter(|n| *n > 0);
    let devices = devices.ok_or_else(|| wrong("the number of devices is not a whole number of 1 or more"))?;
    Ok(PoolSpec { name: name.trim().to_owned(), devices })
}

/// Devices of a different kind in the same job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pool {
    /// Name of the cluster or accelerator.
    pub name: String,
    /// First rank on these devices.
    pub first_rank: u64,
    /// Number of devices.
    pub devices: u64,
    /// Nodes and links of the pool. Its number of devices is that of the whole job.
    #[serde(skip)]
    pub cluster: Box<Cluster>,
}

impl Pool {
    /// Ranks on these devices.
    pub const fn ranks(&self) -> Range<u64> {
        self.first_rank..self.first_rank + self.devices
    }
}

impl Cluster {
    /// Number of devices of the main kind: those in no pool.
    pub fn main_devices(&self) -> u64 {
        self.devices.saturating_sub(self.pools.iter().map(|pool| pool.devices).sum())
    }

    /// Every kind of device with its number, the main kind first.
    pub fn kinds(&self) -> impl Iterator<Item = (&Self, u64)> {
        std::iter::once((self, self.main_devices()))
            .chain(self.pools.iter().map(|pool| (pool.cluster.as_ref(), pool.devices)))
    }

    /// Devices by kind: `64 x H100 SXM5 80GB + 32 x A100 SXM4 80GB`.
    pub fn devices_by_kind(&self) -> String {
        human::devices(self.kinds().map(|(kind, n)| (n, kind.accelerator.name.as_str())))
    }

    /// Mean of a figure over all devices: `sum(devices_i x figure_i) / sum(devices_i)`, if all kinds have it.
    pub fn mean_over_devices(&self, figure: impl Fn(&Self) -> Option<f64>) -> Option<f64> {
        if self.pools.is_empty() {
            return figure(self);
        }
        let sum = self.kinds().try_fold(0.0, |sum, (kind, n)| Some(sum + figure(kind)? * n as f64))?;
        Some(sum / self.devices as f64)
    }

    /// Refuses devices of several kinds. `question` is what they are not supported for.
    pub fn require_one_kind(&self, question: &str) -> Result<(), Problem> {
        if self.pools.is_empty() {
            return Ok(());
        }
        Err(Problem::new(format!("{question} is not supported for devices of several kinds"))
            .at_key("cluster.pools")
            .hint("remove cluster.pools, or run the command for each kind of device separately"))
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster::ClusterSpec;
    use crate::run::{Section, Value};

    fn spec(devices: u64, pools: &str) -> ClusterSpec {
        let mut spec = ClusterSpec::default();
        spec.set("preset", &Value::Text("dgx-h100".to_owned())).expect("a key").expect("a value");
        spec.devices = Some(devices);
        spec.set("pools", &Value::List(vec![Value::Text(pools.to_owned())]))
            .expect("a key")
            .expect("a value");
        spec
    }

    #[test]
    fn pools_follow_the_main_kind_in_rank_order() {
        let cluster = spec(96, "dgx-a100:32").resolve().expect("sound");
        assert_eq!((cluster.devices, cluster.main_devices()), (96, 64));
        assert_eq!(cluster.pools[0].ranks(), 64..96);
        assert_eq!(cluster.pools[0].cluster.devices, 96);
        // NVIDIA's data sheets: 989 and 312 TFLOP/s dense bf16; (64 x 989.4 + 32 x 312) / 96 = 763.6.
        let peak = cluster.mean_over_devices(|kind| {
            kind.accelerator
                .peak_rate(crate::precision::DataType::Bf16)
                .map(crate::quantity::FlopPerSecond::tera)
        });
        assert!((peak.expect("known") - 763.6).abs() < 1.0, "{peak:?}");
    }

    #[test]
    fn pools_are_fewer_than_all_devices_and_have_a_known_name() {
        let place = |spec: ClusterSpec| spec.resolve().expect_err("wrong").place.and_then(|place| place.key);
        assert_eq!(place(spec(32, "dgx-a100:32")).as_deref(), Some("cluster.pools"));
        assert_eq!(place(spec(64, "dgx-a10:32")).as_deref(), Some("cluster.pools"));
        let mut spec = ClusterSpec::default();
        for wrong in ["dgx-a100", "dgx-a100:0", "dgx-a100:x"] {
            let value = Value::List(vec![Value::Text(wrong.to_owned())]);
            assert!(spec.set("pools", &value).expect("a key").is_err(), "{wrong}");
        }
    }
}
