use super::*;
use crate::exchanges::traffic_of;
use railwright_network::chakra::{Program, read, write};
use railwright_network::flow::listed::play;
use railwright_spec::cluster;
use railwright_spec::model::by_name;
use railwright_spec::plan::PlanSpec;

fn run(name: &str, devices: u64, change: &dyn Fn(&mut PlanSpec)) -> Run {
    let model = by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    Run { model, cluster, plan, ..Run::example() }
}

/// The traces move the bytes of the traffic between ranks, and played on a network that never blocks they take the step's time within what
/// measured efficiencies of collectives are below those of links.
#[test]
fn traces_move_the_bytes_of_the_step() {
    let dense = |p: &mut PlanSpec| {
        (p.tensor_parallel, p.pipeline_parallel, p.virtual_stages) = (Some(4), Some(2), Some(2));
        (p.global_batch, p.micro_batch) = (Some(16), Some(1));
    };
    let sharded = |p: &mut PlanSpec| p.global_batch = Some(32);
    let experts = |p: &mut PlanSpec| {
        (p.pipeline_parallel, p.expert_parallel, p.global_batch) = (Some(2), Some(8), Some(32));
    };
    let cases: [(&str, &dyn Fn(&mut PlanSpec)); 3] =
        [("llama-3-8b", &dense), ("llama-3-8b", &sharded), ("mixtral-8x7b", &experts)];
    for (name, change) in cases {
        let run = run(name, 32, change);
        let traced = Traced::new(&run).expect("possible");
        let sums = total_bytes(&traced);
        let mut expected: BTreeMap<CollectiveKind, f64> = BTreeMap::new();
        for exchange in traffic_of(&run).expect("possible").exchanges {
            if exchange.groups.members.extent > 1 {
                *expected.entry(exchange.kind).or_insert(0.0) += exchange.called().get();
            }
        }
        for (kind, bytes) in &expected {
            // Not priced, and so not in the traces: the norm of gradients and a tied embedding.
            let own = sums.get(kind).copied().unwrap_or(0.0);
            let unpriced = if *kind == CollectiveKind::AllReduce { bytes - own } else { 0.0 };
            assert!(
                (own + unpriced) / bytes - 1.0 < 1e-6 && own <= bytes * (1.0 + 1e-6),
                "{name} {kind:?}: {own} of {bytes}"
            );
            assert!(
                *kind == CollectiveKind::AllReduce || (own / bytes - 1.0).abs() < 1e-6,
                "{name} {kind:?}: {own} of {bytes}"
            );
        }
        let traces: Vec<Trace> = (0..traced.ranks())
            .map(|rank| read(&write(&traced.rank(rank)), "t.et").expect("a trace"))
            .collect();
        let groups: BTreeMap<String, Vec<u32>> =
            traced.groups().into_iter().map(|(name, members)| (name.to_string(), members.to_vec())).collect();
        let program = Program::new(&traces, &groups, 8).expect("they match");
        let wiring = crate::flows::wiring(&run.cluster, &Default::default(), &[]).expect("a network");
        let (_, outcome) = play(&wiring, &program.flows, 0).expect("it ends");
        let machine = Machine::new(&run.cluster);
        let costing = Costing::new(&run.model, &run.cluster, &run.plan, &machine).expect("known");
        let closed = evaluate(&costing).expect("possible").time.total.get();
        let played = outcome.duration.get();
        assert!(played < closed * 1.02 && played > closed * 0.75, "{name}: {played} of {closed}");
    }
}
