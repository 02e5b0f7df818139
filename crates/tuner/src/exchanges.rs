//! Conversion of the calculator's exchanges of a step to the network designer's traffic.
//!
//! Responsible for: mapping a plan's groups to ranks, and selecting an algorithm for each exchange. Computes
//! nothing: bytes and counts are the calculator's.

use railwright_calculator::collectives::Collective;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::evaluate::{Evaluation, evaluate};
use railwright_calculator::exchanges::{ProcessGroup, StageExchange, of_step};
use railwright_network::exported;
use railwright_network::topology::Design;
use railwright_network::traffic::{Algorithm, Exchange, Groups, Numbering, Place, Traffic};
use railwright_spec::plan::{Plan, RankOrder};
use railwright_spec::problem::{ALWAYS, Problem};
use railwright_spec::run::Run;

/// Numbering of the ranks of a plan.
pub fn numbering(plan: &Plan) -> Numbering {
    let inner = plan.tensor_parallel * plan.context_parallel;
    let stage_ranks = inner * plan.data_parallel;
    let block = match plan.rank_order {
        RankOrder::TensorContextDataPipeline => stage_ranks,
        RankOrder::TensorContextPipelineData => inner,
    };
    Numbering { stages: plan.pipeline_parallel, stage_ranks, block }
}

/// Traffic between ranks in a step of a run. Fails if the plan is invalid or cannot be priced.
pub fn traffic_of(run: &Run) -> Result<Traffic, Problem> {
    run.cluster.require_one_kind("traffic between ranks")?;
    let machine = Machine::new(&run.cluster);
    let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine)?;
    Ok(traffic(&costing, &evaluate(&costing)?))
}

/// Fabric of pods whose circuits match the bytes of a run's step between them, as DOT ([`exported::fabric`]).
pub fn circuits_of(run: &Run, design: &Design) -> Result<String, Problem> {
    let traffic = traffic_of(run)?;
    let place = Place::on(design, traffic.numbering.ranks())?;
    let bytes = exported::between_pods(design, |flow| {
        let Ok(()) = traffic.flows(&place, ALWAYS, |from, to, bytes| {
            flow(place.device(from), place.device(to), bytes);
        });
    });
    exported::fabric(design, &bytes)
}

/// Traffic between ranks in a step. Gathers and reductions use rings, an all-to-all is direct.
pub fn traffic(costing: &Costing<'_>, evaluation: &Evaluation) -> Traffic {
    let numbering = numbering(costing.plan);
    let exchanges = of_step(costing, evaluation)
        .into_iter()
        .map(|exchange| convert(costing, &numbering, exchange))
        .collect();
    Traffic { numbering, exchanges }
}

/// The algorithm of an operation inside a group: gathers and reductions use rings, an all-to-all is direct.
pub(crate) const fn algorithm(operation: Collective) -> Algorithm {
    match operation {
        Collective::AllToAll => Algorithm::Direct,
        Collective::ExpertDispatch { copies, most_domains } => Algorithm::Dispatch { copies, most_domains },
        _ => Algorithm::Ring,
    }
}

/// Converts an exchange of the calculator, with its groups on ranks and its algorithm.
pub(crate) fn convert(costing: &Costing<'_>, numbering: &Numbering, exchange: StageExchange) -> Exchange {
    let algorithm = match exchange.operation {
        // Between stages a message has one receiver; inside a group every rank sends to the next.
        Collective::SendReceive if matches!(exchange.process_group, ProcessGroup::Stages(_)) => {
            Algorithm::Message
        }
        operation => algorithm(operation),
    };
    let groups = match (exchange.process_group, exchange.process_group.axis(costing.plan, &costing.layout)) {
        (ProcessGroup::Stages(offset), _) => Groups::between(numbering, exchange.stages, offset),
        (_, Some((extent, stride))) => Groups::within(numbering, exchange.stages, extent, stride),
        (_, None) => Groups::all(numbering),
    };
    let StageExchange { dimension, purpose, phase, bytes, count, operation, .. } = exchange;
    Exchange { dimension, purpose, phase, kind: operation.into(), algorithm, bytes, count, groups }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::PlanSpec;

    fn with_traffic(
        name: &str,
        devices: u64,
        change: &dyn Fn(&mut PlanSpec),
        check: &dyn Fn(&Costing<'_>, &Traffic),
    ) {
        let model = by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
        let mut spec = PlanSpec::default();
        change(&mut spec);
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let traffic = traffic(&costing, &evaluate(&costing).expect("possible"));
        check(&costing, &traffic);
    }

    /// The calculator's closed form for fused dispatch and the flows agree on the bytes that a rank sends
    /// into its domain and through its NIC.
    #[test]
    fn dispatch_sends_what_the_calculator_prices() {
        let change = |p: &mut PlanSpec| {
            p.pipeline_parallel = Some(4);
            p.expert_parallel = Some(64);
            p.software = Some("megatron-core-2026".to_owned());
            p.layers_per_stage = Some(vec![15, 16, 15, 15]);
        };
        with_traffic("deepseek-v3", 256, &change, &|costing, traffic| {
            let exchange = traffic.exchanges.iter().find(|e| e.purpose == "tokens").expect("experts");
            let Algorithm::Dispatch { copies, most_domains } = exchange.algorithm else {
                panic!("not fused: {:?}", exchange.algorithm)
            };
            let operation = Collective::ExpertDispatch { copies, most_domains };
            let group = costing.layout.expert;
            let cost = costing.machine.fabric.time(operation, exchange.bytes, &group, 1.0);
            let mut members = Vec::new();
            exchange.groups.members(&traffic.numbering, 0, &mut members);
            let mut sent = [0.0; 2];
            exchange.flows(&members, 8, &mut |from, to, bytes| {
                if from == 0 {
                    sent[usize::from(to >= 8)] += bytes;
                }
            });
            assert!((sent[0] / cost.wire_bytes_scale_up.get() - 1.0).abs() < 1e-9, "{sent:?} {cost:?}");
            assert!((sent[1] / cost.wire_bytes_network.get() - 1.0).abs() < 1e-9, "{sent:?} {cost:?}");
        });
    }

    #[test]
    fn groups_lie_where_the_rank_order_puts_them() {
        let change = |order: RankOrder| {
            move |p: &mut PlanSpec| {
                p.tensor_parallel = Some(4);
                p.pipeline_parallel = Some(2);
                p.rank_order = Some(order);
            }
        };
        let first = |traffic: &Traffic, purpose: &str| {
            let mut members = Vec::new();
            let exchange = traffic.exchanges.iter().find(|e| e.purpose == purpose).expect("there");
            exchange.groups.members(&traffic.numbering, 1, &mut members);
            members
        };
        with_traffic("llama-3-8b", 32, &change(RankOrder::TensorContextDataPipeline), &|_, traffic| {
            assert_eq!(first(traffic, "parameters"), [1, 5, 9, 13]);
            assert_eq!(first(traffic, "gradients of activations"), [17, 1]);
        });
        with_traffic("llama-3-8b", 32, &change(RankOrder::TensorContextPipelineData), &|_, traffic| {
            assert_eq!(first(traffic, "parameters"), [1, 9, 17, 25]);
            assert_eq!(first(traffic, "gradients of activations"), [5, 1]);
        });
    }

    /// The layout's description of a group, used for its price, and its ranks agree on the number per domain.
    #[test]
    fn groups_share_domains_as_in_the_layout() {
        for order in [RankOrder::TensorContextDataPipeline, RankOrder::TensorContextPipelineData] {
            for (tensor, context, pipeline, expert) in [
                (1, 1, 1, 8),
                (2, 1, 4, 4),
                (2, 2, 2, 4),
                (4, 1, 8, 8),
                (1, 4, 2, 2),
                (8, 1, 4, 8),
                (1, 1, 8, 16),
            ] {
                let change = |p: &mut PlanSpec| {
                    p.tensor_parallel = Some(tensor);
                    p.context_parallel = Some(context);
                    p.pipeline_parallel = Some(pipeline);
                    p.expert_parallel = Some(expert);
                    p.expert_tensor_parallel = Some(1);
                    p.rank_order = Some(order);
                };
                with_traffic("mixtral-8x22b", 512, &change, &|costing, traffic| {
                    let mut members = Vec::new();
                    for exchange in of_step(costing, &evaluate(costing).expect("possible")) {
                        if matches!(exchange.process_group, ProcessGroup::Stages(_) | ProcessGroup::All) {
                            continue;
                        }
                        let group = exchange.process_group.group(&costing.layout);
                        let converted = convert(costing, &traffic.numbering, exchange.clone());
                        converted.groups.members(&traffic.numbering, 0, &mut members);
                        let near = members.iter().filter(|rank| *rank / 8 == members[0] / 8).count() as u64;
                        let what = (order, exchange.process_group, tensor, context, pipeline, expert);
                        assert_eq!((members.len() as u64, near), (group.ranks, group.per_domain), "{what:?}");
                    }
                });
            }
        }
    }
}
