//! Tests of a step as execution traces: nodes, sizes and the played time are those of the modelled step.

use super::*;
use crate::exchanges::traffic_of;
use railwright_network::chakra::{Program, read, write};
use railwright_network::flow::listed::play;
use railwright_network::topology::DesignSpec;
use railwright_spec::run::RunSpec;

fn run(settings: &[&str]) -> Run {
    let mut spec = RunSpec::default();
    for setting in settings {
        spec.set(setting).expect(setting);
    }
    let model = spec.model.resolve(|_| Err(Problem::new("not read"))).expect("known");
    let cluster = spec.cluster.resolve().expect("known");
    let plan = spec.plan.resolve(&model, &cluster).expect("possible");
    let (training, cost) = (spec.training.resolve().expect("sound"), spec.cost.resolve().expect("sound"));
    Run {
        model,
        cluster,
        plan,
        training,
        cost,
        software_origin: spec.software_origin(),
        open_settings: spec.plan.open_settings(),
    }
}

/// The traces move the bytes of the traffic between ranks. On a non-blocking network they take the step's
/// time, except for the difference between measured efficiencies of collectives and those of links.
#[test]
fn traces_move_the_bytes_of_the_step() {
    let pipeline = [
        "model.name=llama-3-8b",
        "plan.tensor_parallel=4",
        "plan.pipeline_parallel=2",
        "plan.global_batch=16",
    ];
    let sharded = ["model.name=llama-3-8b", "plan.sharding=fsdp", "plan.global_batch=32"];
    let experts = [
        "model.name=mixtral-8x7b",
        "plan.pipeline_parallel=2",
        "plan.expert_parallel=8",
        "plan.global_batch=32",
    ];
    for settings in [&pipeline[..], &sharded, &experts] {
        let machine = ["cluster.preset=dgx-h100", "cluster.devices=32"];
        let run = run(&[&machine[..], settings].concat());
        let traced = Traced::new(&run).expect("possible");
        let sums = total_bytes(&traced);
        let mut expected: BTreeMap<CollectiveKind, f64> = BTreeMap::new();
        for exchange in traffic_of(&run).expect("possible").exchanges {
            if exchange.groups.members.extent > 1 {
                *expected.entry(exchange.kind).or_insert(0.0) += exchange.called().get();
            }
        }
        for (kind, bytes) in &expected {
            let own = sums.get(kind).copied().unwrap_or(0.0);
            assert!(own <= bytes * (1.0 + 1e-6), "{settings:?} {kind:?}: {own} of {bytes}");
            // All-reduces without a price are not in the traces: a tied embedding, and the norm of gradients.
            let all = *kind == CollectiveKind::AllReduce || own >= bytes * (1.0 - 1e-6);
            assert!(all, "{settings:?} {kind:?}: {own} of {bytes}");
        }
        let bytes = |rank| read(&write(&traced.rank(rank)), "t.et").expect("a trace");
        let traces: Vec<Trace> = (0..traced.ranks()).map(bytes).collect();
        let named = |(name, members): (u32, &[u32])| (name.to_string(), members.to_vec());
        let groups: BTreeMap<String, Vec<u32>> = traced.groups().into_iter().map(named).collect();
        let program = Program::new(&traces, &groups, 8).expect("they match");
        let wiring = crate::flows::wiring(&run.cluster, &DesignSpec::default(), &[]).expect("a network");
        let (_, outcome) = play(&wiring, &program.flows, 0).expect("it ends");
        let machine = Machine::new(&run.cluster);
        let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine).expect("known");
        let closed = evaluate(&costing).expect("possible").time.total.get();
        let played = outcome.duration.get();
        assert!(played < closed * 1.02 && played > closed * 0.7, "{settings:?}: {played} of {closed}");
    }
}
