//! Groups with slow links, and stages with more work.
//!
//! Responsible for: groups and stages named by the straggler report, with their cost by replay. Excludes
//! groups whose slow transfers cost the step nothing.

use super::words::time;
use super::{Context, Rule};
use crate::attribution::{Kind, Named};
use crate::groups::RankSet;
use crate::profile::{Explained, Finding, Subject};
use railwright_spec::human;
use railwright_step::columns::Class;

/// Spans of transfers, whatever their dimension.
const COMMUNICATION: [Class; 6] =
    [Class::Tensor, Class::Context, Class::Data, Class::Pipeline, Class::Expert, Class::Communication];

pub(super) struct SlowLink;

impl Rule for SlowLink {
    fn id(&self) -> &'static str {
        "slow-group"
    }

    fn title(&self) -> &'static str {
        "Slow link or pipeline stage"
    }

    fn text(&self) -> &'static str {
        "A process group with transfers 20% slower than those of its peers at the same size (50% in single steps); or a pipeline stage with \
         compute 10% slower than the median stage. Cost: by replay with transfers or compute at \
         the speed of the peers. Reported if it is above the noise of steps and above 0.5% of the step."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(report) = context.stragglers else { return Vec::new() };
        let tell = |named: &Named| {
            let cost = named.cost_s * 1e9;
            let ranks = RankSet::new(&named.ranks).to_string();
            let transfers = report.slow_groups.iter().filter(|group| group.ranks == ranks).take(3);
            let (message, evidence, advice) = match named.stage {
                Some(stage) => (
                    format!(
                        "stage {stage} ({}) takes longer to compute than the other stages ({})",
                        human::ranks(&named.ranks),
                        named.cause
                    ),
                    vec![format!("{} per step by replay", time(cost))],
                    if named.is_unclear() {
                        "compare its shapes, clocks and temperature with the other stages; then move layers \
                         (`railwright balance`) or replace the device"
                    } else {
                        "move layers to other stages, with embedding and head included (`railwright balance`)"
                    },
                ),
                None => (
                    format!("transfers between {} are slow", RankSet::new(&named.ranks).words()),
                    transfers
                        .map(|group| {
                            let operation = group.operation.map_or("unknown", |operation| operation.name());
                            let (own, peers) = (time(group.transfer as f64), time(group.peers as f64));
                            let within = if group.steps.is_empty() {
                                String::new()
                            } else {
                                format!(" in {}", human::steps(&group.steps))
                            };
                            format!(
                                "{operation} of {} bytes{within}: {own}, median of its peers {peers}",
                                group.bytes
                            )
                        })
                        .collect(),
                    if on_one_host(context, &named.ranks) {
                        "these ranks are on one host: check its links (NVLink, PCIe; shared memory for gloo), the topology (`nvidia-smi topo -m`) \
                         and the load of its CPUs"
                    } else {
                        "check the NICs, cables and switch ports that these ranks share; compare with nccl-tests on the same nodes"
                    },
                ),
            };
            Finding {
                id: self.id().to_owned(),
                message,
                cost: Some(cost),
                explained: Explained::Whole,
                certainty: report.bounds_only.as_ref().map(|_| named.certainty),
                subject: Subject::of_ranks(
                    named.ranks.clone(),
                    if named.stage.is_some() { Subject::COMPUTE.to_vec() } else { COMMUNICATION.to_vec() },
                ),
                evidence,
                advice: advice.to_owned(),
                ..Finding::default()
            }
        };
        let is_own = |named: &&Named| named.kind != Kind::Rank && named.work().is_none();
        report.culprits.iter().filter(is_own).map(tell).collect()
    }
}

/// Tests whether the traces show one host for all of these ranks.
fn on_one_host(context: &Context<'_>, ranks: &[u32]) -> bool {
    let host = |rank: &u32| {
        let member = context.job.members.get(context.job.position(*rank)?)?;
        member.trace.identity.host.as_deref()
    };
    let mut hosts = ranks.iter().map(host);
    let first = hosts.next().flatten();
    first.is_some() && hosts.all(|host| host == first)
}
