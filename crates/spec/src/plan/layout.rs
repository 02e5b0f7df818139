//! Placement of process groups: number of ranks of a group in each scale-up domain.

use super::{Plan, RankOrder};
use crate::greatest_common_divisor;
use serde::Serialize;

/// A process group and its placement: `ranks` ranks, of which `per_domain` are in one scale-up domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Ranks in the group.
    pub ranks: u64,
    /// Most ranks of a group in one scale-up domain (1 to `ranks`).
    pub per_domain: u64,
    /// Fewest ranks of a group in one domain, if groups span domains: these ranks receive all data of the
    /// other domains. Less than `ranks` although `per_domain` equals it, if groups fit into a domain but
    /// some span two.
    pub least: u64,
    /// Distance between neighbouring ranks of the group, in ranks.
    pub stride: u64,
}

impl Group {
    /// A group of `ranks` at a stride, on domains of `domain` ranks, in a run large enough for every
    /// alignment of groups and domains.
    pub fn new(ranks: u64, stride: u64, domain: u64) -> Self {
        Self::strided(ranks, stride, domain, u64::MAX)
    }

    /// A group of `ranks` at a stride in a run of `world` ranks that consists of such groups: `stride` groups
    /// interleaved, and blocks of them in sequence.
    pub fn strided(ranks: u64, stride: u64, domain: u64, world: u64) -> Self {
        let (ranks, stride) = (ranks.max(1), stride.max(1));
        let per_domain = (domain / stride).clamp(1, ranks);
        let least = if world <= domain { per_domain } else { fewest(ranks, stride, domain.max(1), world) };
        Self { ranks, per_domain, least, stride }
    }

    /// Replaces each member by `times` neighbours in one domain; `ranks` of them are in the group.
    fn times(self, times: u64, ranks: u64, stride: u64) -> Self {
        let of = |members: u64| (members * times).clamp(1, ranks.max(1));
        Self { ranks, per_domain: of(self.per_domain), least: of(self.least), stride }
    }

    /// Number of domains that the group spans.
    pub fn domains(&self) -> u64 {
        if self.straddles_domains() { 2 } else { self.ranks.div_ceil(self.per_domain) }
    }

    /// True if every group of this kind is inside one domain.
    pub fn is_inside_domain(&self) -> bool {
        self.least >= self.ranks
    }

    /// True if groups of this kind fit into a domain but some span two.
    pub fn straddles_domains(&self) -> bool {
        self.per_domain >= self.ranks && !self.is_inside_domain()
    }
}

/// Fewest members of any group in a domain. The first and the last domain of a group may be partly filled.
fn fewest(ranks: u64, stride: u64, domain: u64, world: u64) -> u64 {
    if stride >= domain {
        return 1;
    }
    let (fits, whole) = (domain / stride, ranks.saturating_mul(stride));
    // Groups start at domain boundaries, or divide domains evenly.
    if domain.is_multiple_of(stride) && (ranks.is_multiple_of(fits) || fits.is_multiple_of(ranks)) {
        return fits.min(ranks);
    }
    // Among interleaved groups, the extreme ones start or end nearest to a domain boundary. If the boundary
    // is between them, `edge` is the extreme. If groups are aligned with domains, all of them are
    // equivalent.
    let is_aligned = domain.is_multiple_of(stride);
    let nearest = |first: u64, members: &dyn Fn(u64) -> u64, edge: u64| {
        if is_aligned {
            members(first)
        } else if first + stride > domain {
            members(edge)
        } else {
            members(first).min(members(first + stride - 1))
        }
    };
    let in_first = |begin: u64| nearest(begin, &|at| (domain - at).div_ceil(stride), domain - 1).max(1);
    let in_last = |end: u64| nearest(end, &|at| at / stride + 1, 0).max(1);
    // Groups start at multiples of the greatest common divisor of their extent and the domain.
    let step = whole % domain;
    let divisor = greatest_common_divisor(domain, step);
    let to_last = (ranks - 1) % domain * stride % domain;
    let groups = (world / whole.max(1)).max(1);
    if groups >= domain / divisor {
        // All multiples occur: the latest start, and the earliest and the latest end.
        let (latest, earliest_end) = (domain - divisor, to_last % divisor);
        let ends = in_last(earliest_end).min(in_last(latest + earliest_end));
        return fits.min(ranks).min(in_first(latest)).min(ends);
    }
    let (mut least, mut begin) = (fits.min(ranks), 0);
    for _ in 0..groups {
        least = least.min(in_first(begin)).min(in_last((begin + to_last) % domain));
        if least == 1 {
            break;
        }
        begin = (begin + step) % domain;
    }
    least
}

/// All process groups of a plan on domains of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layout {
    /// Tensor-parallel group.
    pub tensor: Group,
    /// Context-parallel group.
    pub context: Group,
    /// Data-parallel group with context ranks, which reduces the gradients of dense weights.
    pub data: Group,
    /// Ranks that share one copy of sharded dense weights.
    pub shard: Group,
    /// Replicas of the shard group (hybrid sharding); one rank if sharding spans all replicas.
    pub replicate: Group,
    /// Expert-parallel group.
    pub expert: Group,
    /// Expert tensor-parallel group.
    pub expert_tensor: Group,
    /// Replicas of an expert's weights.
    pub expert_data: Group,
    /// Ranks that share one copy of sharded expert weights.
    pub expert_shard: Group,
    /// Replicas of the expert shard group.
    pub expert_replicate: Group,
    /// Neighbouring pipeline stages.
    pub pipeline: Group,
}

/// Largest scale-up domain, in devices, that is searched for segments.
const MOST_SEGMENTED: u64 = 1024;

/// First `ranks` ranks of a group, as a group.
fn part(whole: Group, ranks: u64, group: &impl Fn(u64, u64) -> Group) -> Group {
    let ranks = ranks.max(1);
    let per_domain = whole.per_domain.min(ranks);
    let own = if ranks == whole.ranks { whole } else { group(ranks, whole.stride) };
    Group { ranks, per_domain, least: own.least.min(per_domain).max(1), stride: whole.stride }
}

impl Layout {
    /// Groups with communication in every layer that fit into a scale-up domain but of which some span two,
    /// with their names.
    pub fn torn(&self) -> impl Iterator<Item = (&'static str, Group)> {
        [
            ("tensor", self.tensor),
            ("context", self.context),
            ("expert", self.expert),
            ("expert tensor", self.expert_tensor),
        ]
        .into_iter()
        .filter(|(_, group)| group.straddles_domains())
    }

    /// Largest number of devices per scale-up domain with which no group spans two domains (the segment of
    /// schedulers). `None` if no group spans two, or if groups would no longer fit.
    pub fn segment(plan: &Plan, domain: u64) -> Option<u64> {
        let own = Self::new(plan, domain);
        let most = own.torn().map(|(_, group)| group.ranks * group.stride).max()?;
        // Idle devices are considered only up to a few racks.
        let widest = domain.min(MOST_SEGMENTED);
        (most..widest).rev().find(|size| {
            let laid = Self::new(plan, *size);
            laid.torn().next().is_none() && own.torn().all(|(name, _)| laid.is_inside(name))
        })
    }

    fn is_inside(&self, name: &str) -> bool {
        match name {
            "tensor" => self.tensor.is_inside_domain(),
            "context" => self.context.is_inside_domain(),
            "expert" => self.expert.is_inside_domain(),
            _ => self.expert_tensor.is_inside_domain(),
        }
    }

    /// Places a plan on scale-up domains of `domain` ranks.
    pub fn new(plan: &Plan, domain: u64) -> Self {
        let tp = plan.tensor_parallel;
        let cp = plan.context_parallel;
        let pp = plan.pipeline_parallel;
        let (data_stride, pipeline_stride) = match plan.rank_order {
            RankOrder::TensorContextDataPipeline => (tp * cp, tp * cp * plan.data_parallel),
            RankOrder::TensorContextPipelineData => (tp * cp * pp, tp * cp),
        };
        let world = plan.world_size();
        let group = |ranks, stride| Group::strided(ranks, stride, domain, world);
        // Context ranks neighbour data ranks in the gradient reduction. With the pipeline between them they
        // do not, but the pair (context, data) still has the tensor stride.
        let data = match plan.rank_order {
            RankOrder::TensorContextDataPipeline => group(plan.data_parallel * cp, tp),
            RankOrder::TensorContextPipelineData if cp == 1 => group(plan.data_parallel, data_stride),
            RankOrder::TensorContextPipelineData => {
                let inner = group(cp, tp).per_domain;
                group(plan.data_parallel, data_stride).times(inner, plan.data_parallel * cp, tp)
            }
        };
        let shard_ranks = plan.shard_group();
        let shard = part(data, shard_ranks, &group);
        let replicas = (data.ranks / shard_ranks).max(1);
        let etp = plan.expert_tensor_parallel.max(1);
        let ep = plan.expert_parallel.max(1);
        // Experts are spread over tensor ranks first, then over context and data ranks.
        let beyond_tensor = (etp * ep).div_ceil(tp.max(1));
        let (expert, expert_data) = match plan.rank_order {
            RankOrder::TensorContextPipelineData if ep > 1 && beyond_tensor > cp => {
                let inside = (tp * cp / etp).clamp(1, ep);
                let near = group(inside, etp).per_domain;
                let expert = group(ep.div_ceil(inside), data_stride).times(near, ep, etp);
                let beyond = data_stride * beyond_tensor.div_ceil(cp.max(1));
                (expert, group(plan.expert_data_parallel(), beyond))
            }
            // Replicas of experts inside a block of tensor and context ranks: those in the block, and those
            // in the blocks of other replicas. Pipeline stages separate these blocks (Megatron's
            // order `tp-cp-ep-pp-dp`).
            RankOrder::TensorContextPipelineData if pp > 1 => {
                let (replicas, inside) = (plan.expert_data_parallel(), (tp * cp / (etp * ep)).max(1));
                let far = group(replicas.div_ceil(inside), data_stride);
                let expert_data = if inside > 1 {
                    far.times(group(inside, etp * ep).per_domain, replicas, etp * ep)
                } else {
                    far
                };
                (group(ep, etp), expert_data)
            }
            _ => (group(ep, etp), group(plan.expert_data_parallel(), etp * ep)),
        };
        // Hybrid sharding keeps equally many copies of experts and of dense weights.
        let expert_shard_ranks =
            if plan.sharding.zero_stage == 0 { 1 } else { (expert_data.ranks / replicas).max(1) };
        let expert_shard = part(expert_data, expert_shard_ranks, &group);
        let expert_copies = (expert_data.ranks / expert_shard_ranks).max(1);
        let expert_replicate = group(expert_copies, expert_data.stride * expert_shard_ranks);
        Self {
            tensor: group(tp, 1),
            context: group(cp, tp),
            data,
            shard,
            replicate: group(replicas, data.stride * shard_ranks),
            expert,
            expert_tensor: group(etp, 1),
            expert_data,
            expert_shard,
            expert_replicate,
            pipeline: group(pp, pipeline_stride),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_counts_its_neighbours_in_a_domain() {
        assert_eq!(Group::new(8, 1, 8).per_domain, 8);
        assert_eq!(Group::new(16, 4, 8).per_domain, 2);
        assert_eq!(Group::new(16, 8, 8).per_domain, 1);
        assert_eq!(Group::new(16, 8, 72).per_domain, 9);
        assert!(Group::new(4, 2, 8).is_inside_domain());
    }

    /// Megatron's `initialize_model_parallel` with `order="tp-cp-ep-pp-dp"`, 16 ranks, tensor 2, pipeline 2,
    /// experts 2: experts are neighbours, their replicas are ranks 0, 4, 8, 12, because stages are
    /// between them.
    #[test]
    fn replicas_of_experts_lie_behind_the_pipeline() {
        let plan = Plan {
            tensor_parallel: 2,
            context_parallel: 1,
            pipeline_parallel: 2,
            data_parallel: 4,
            expert_parallel: 2,
            expert_tensor_parallel: 1,
            rank_order: RankOrder::TensorContextPipelineData,
            ..plan()
        };
        let layout = Layout::new(&plan, 8);
        assert_eq!((layout.expert.ranks, layout.expert.stride, layout.expert.per_domain), (2, 1, 2));
        let replicas = layout.expert_data;
        assert_eq!((replicas.ranks, replicas.stride, replicas.per_domain), (4, 4, 2));
        // With the pipeline outermost, replicas are consecutive.
        let outer = Plan { rank_order: RankOrder::TensorContextDataPipeline, ..plan };
        let replicas = Layout::new(&outer, 8).expert_data;
        assert_eq!((replicas.ranks, replicas.stride, replicas.per_domain), (4, 2, 4));
    }

    fn plan() -> Plan {
        let model = crate::model::by_name("mixtral-8x7b").expect("in the catalogue");
        let cluster = crate::cluster::by_name("dgx-h100", 16).expect("a preset");
        Plan::default_for(&model, &cluster).expect("possible")
    }

    /// Compares with a count over every group of a run, domain by domain.
    #[test]
    fn the_fewest_members_of_a_domain_are_counted() {
        let (mut seen, mut torn) = (0, 0);
        for (ranks, stride, domain) in (2..40).flat_map(|n| {
            (1..20).flat_map(move |stride| [4, 8, 9, 16, 18, 36, 72].map(|domain| (n, stride, domain)))
        }) {
            for groups in [1, 2, 3, 10] {
                let world = ranks * stride * groups;
                let group = Group::strided(ranks, stride, domain, world);
                let mut least = u64::MAX;
                for first in (0..groups).flat_map(|n| (0..stride).map(move |m| n * ranks * stride + m)) {
                    let members: Vec<u64> = (0..ranks).map(|n| (first + n * stride) / domain).collect();
                    let own = members.chunk_by(|a, b| a == b).map(|part| part.len() as u64).min();
                    least = least.min(own.expect("members"));
                }
                assert_eq!(group.least, least, "{ranks} at {stride} on {domain}, {groups} groups");
                torn += u32::from(group.straddles_domains());
                seen += 1;
            }
        }
        assert!(seen > 15_000 && torn > 500, "{seen} {torn}");
    }

    /// Racks of 72: sixteen tensor ranks fit, but the fifth group starts with the last eight of a rack.
    #[test]
    fn groups_that_fit_and_lie_across_two_domains_are_torn() {
        assert!(Group::strided(16, 1, 72, 64).is_inside_domain());
        let torn = Group::strided(16, 1, 72, 144);
        assert!(torn.straddles_domains() && !torn.is_inside_domain());
        assert_eq!((torn.per_domain, torn.least, torn.domains()), (16, 8, 2));
        assert!(
            !Group::strided(8, 1, 72, 144).straddles_domains()
                && !Group::strided(144, 1, 72, 144).straddles_domains()
        );
        let plan = Plan { tensor_parallel: 16, pipeline_parallel: 1, data_parallel: 9, ..plan() };
        let layout = Layout::new(&plan, 72);
        assert_eq!(layout.torn().map(|(name, _)| name).collect::<Vec<_>>(), ["tensor"]);
        assert_eq!((Layout::segment(&plan, 72), Layout::segment(&plan, 64)), (Some(64), None));
    }
}
