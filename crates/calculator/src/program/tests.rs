//! Operations and exchanges of a layer compared with published counts.

use super::*;
use crate::collectives::Collective;
use crate::costing::Machine;
use crate::exchanges::ProcessGroup;
use crate::work::Family;
use railwright_spec::plan::{ContextKind, Plan, PlanSpec, Sharding};
use railwright_spec::{cluster, model};
use railwright_step::Phase;

/// Operation, group, phase, count and bytes of one exchange.
type Made = (Collective, ProcessGroup, Phase, f64, f64);

/// Exchanges of the last kind of layer.
fn exchanges_of(name: &str, devices: u64, change: &dyn Fn(&mut PlanSpec)) -> (Plan, Vec<Made>) {
    let model = model::by_name(name).expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", devices).expect("a preset");
    let mut spec = PlanSpec::default();
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let mut list = Vec::new();
    exchanges(&costing, model.layer_kinds.last().expect("a layer"), &mut |exchange| {
        for operation in exchange.operations() {
            let (process_group, bytes) = (exchange.process_group, exchange.bytes.get());
            list.extend(exchange.turns().map(|t| (operation, process_group, t.phase, t.count, bytes)));
        }
    });
    drop(costing);
    (plan, list)
}

/// GPT-3 175B with one sequence of 2,048 tokens over 8 tensor ranks.
fn gpt_3(sequence_parallel: bool) -> Vec<Made> {
    let change = |p: &mut PlanSpec| {
        p.tensor_parallel = Some(8);
        p.pipeline_parallel = Some(8);
        p.micro_batch = Some(1);
        p.sequence_length = Some(2048);
        p.sequence_parallel = Some(sequence_parallel);
    };
    exchanges_of("gpt3-175b", 64, &change).1
}

/// Bytes of the hidden states: `s b h` elements of 2 bytes.
const HIDDEN: f64 = 2048.0 * 12_288.0 * 2.0;

/// Shoeybi et al. (2019, section 3): two all-reduces in the forward pass of a layer and two in the backward
/// pass.
#[test]
fn tensor_parallelism_reduces_twice_in_each_direction() {
    let one = |phase| (Collective::AllReduce, ProcessGroup::Tensor, phase, 2.0, HIDDEN);
    assert_eq!(gpt_3(false), [one(Phase::Forward), one(Phase::BackwardInput)]);
}

/// Korthikanti et al. (2022, section 4.2.2): four gathers and four reduce-scatters in a layer instead of the
/// four all-reduces. Each of the two weight gradients whose input was sharded has a further gather.
#[test]
fn sequence_parallelism_gathers_and_scatters_four_times_and_gathers_twice_again() {
    let list = gpt_3(true);
    let count = |operation, phases: &[Phase]| -> f64 {
        list.iter().filter(|e| e.0 == operation && phases.contains(&e.2)).map(|e| e.3).sum()
    };
    let passes = [Phase::Forward, Phase::BackwardInput];
    assert_eq!(count(Collective::AllGather, &passes), 4.0);
    assert_eq!(count(Collective::ReduceScatter, &passes), 4.0);
    assert_eq!(count(Collective::AllGather, &[Phase::BackwardWeight]), 2.0);
    assert_eq!(count(Collective::AllReduce, &passes), 0.0);
    assert!(list.iter().all(|e| e.1 == ProcessGroup::Tensor && e.4 == HIDDEN));
}

/// DeepSeek-V3 (report, sections 2.1.2 and 4.2): each of 4,096 tokens of width 7,168 is sent to 8 experts and
/// back, in both passes: in two bytes `4096 x 8 x 7168 x 2 = 469,762,048` bytes each way.
#[test]
fn tokens_go_to_eight_experts_and_come_back_in_both_passes() {
    let (plan, list) = exchanges_of("deepseek-v3", 512, &|p| {
        p.tensor_parallel = Some(1);
        p.pipeline_parallel = Some(8);
        p.expert_parallel = Some(64);
        p.micro_batch = Some(1);
        p.sequence_length = Some(4096);
        p.layers_per_stage = Some(vec![7, 8, 8, 8, 8, 8, 7, 7]);
    });
    let load = plan.expert_capacity.map_or(plan.expert_imbalance, |c| plan.expert_imbalance.min(c));
    let own: Vec<_> = list.iter().filter(|e| e.1 == ProcessGroup::Expert).collect();
    assert_eq!(
        own.iter().map(|e| (e.2, e.3)).collect::<Vec<_>>(),
        [(Phase::Forward, 2.0), (Phase::BackwardInput, 2.0)]
    );
    assert!(own.iter().all(|e| (e.4 / load / 469_762_048.0 - 1.0).abs() < 1e-9), "{own:?}");
}

/// Arithmetic of a layer's GEMMs: `24 s b h^2` forward (Narayanan et al. 2021, section 3, without attention's
/// own), and the same for inputs and for weights.
#[test]
fn products_have_the_published_arithmetic_in_every_phase() {
    let model = model::by_name("gpt3-175b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(8),
        pipeline_parallel: Some(8),
        micro_batch: Some(1),
        sequence_length: Some(2048),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    for phase in [Phase::Forward, Phase::BackwardInput, Phase::BackwardWeight] {
        let mut flop = 0.0;
        operations(&costing, &model.layer_kinds[0], &mut |operation| {
            if let (Kernel::Product { m, n, k, .. }, true) = (operation.kernel, operation.phase == phase) {
                flop += 2.0 * m * n * k;
            }
        });
        let published = 24.0 * 2048.0 * 12_288.0 * 12_288.0 / 8.0;
        assert!((flop / published - 1.0).abs() < 1e-9, "{phase:?}: {flop} against {published}");
    }
}

/// DeepSeek-V3 (report, section 3.2.2): a token is sent to 8 experts on at most 4 nodes. A fused dispatch
/// therefore sends at most 4 copies of it between nodes, and combine returns them.
#[test]
fn tokens_travel_to_at_most_four_nodes() {
    let (_, list) = exchanges_of("deepseek-v3", 512, &|p| {
        p.tensor_parallel = Some(1);
        p.pipeline_parallel = Some(8);
        p.expert_parallel = Some(64);
        p.software = Some("megatron-core-2026".to_owned());
        p.layers_per_stage = Some(vec![7, 8, 8, 8, 8, 8, 7, 7]);
    });
    let own: Vec<_> = list.iter().filter(|e| e.1 == ProcessGroup::Expert).collect();
    assert!(!own.is_empty());
    assert!(
        own.iter().all(|e| e.0 == Collective::ExpertDispatch { copies: 8, most_domains: 4 } && e.3 == 2.0),
        "{own:?}"
    );
}

/// Megatron-LM's `allgather` dispatcher for Mixtral with TP 2 and EP 8: each rank gathers `8 x 2,048` tokens
/// of 4,096 values in 16 bits, 134 MB, and reduce-scatters as many.
#[test]
fn a_gathering_dispatcher_moves_the_tokens_of_all_ranks() {
    let (_, list) = exchanges_of("mixtral-8x7b", 16, &|p| {
        (p.tensor_parallel, p.pipeline_parallel, p.expert_parallel) = (Some(2), Some(1), Some(8));
        (p.micro_batch, p.sequence_length) = (Some(1), Some(4096));
        p.expert_tensor_parallel = Some(1);
        p.software = Some("megatron-core-2024+allgather-dispatch".to_owned());
    });
    let own: Vec<_> = list.iter().filter(|e| e.1 == ProcessGroup::Expert).collect();
    assert_eq!(own.len(), 4, "{own:?}");
    for each in own {
        assert!(matches!(each.0, Collective::AllGather | Collective::ReduceScatter) && each.3 == 1.0);
        assert!((each.4 - 134_217_728.0).abs() < 1.0, "{each:?}");
    }
}

/// Traffic of operations of a family with memory-bound kernels, in bytes, for 8B with TP 8 on 8 H100.
fn streamed(software: &str, family: Family, change: &dyn Fn(&mut PlanSpec)) -> f64 {
    let model = model::by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    let mut spec = PlanSpec {
        tensor_parallel: Some(8),
        micro_batch: Some(1),
        sequence_length: Some(4096),
        software: Some(software.to_owned()),
        ..PlanSpec::default()
    };
    change(&mut spec);
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let mut sum = 0.0;
    let mut add = |operation: Operation<'_>| {
        if operation.family == family
            && let Kernel::Stream { bytes, .. } | Kernel::Roofline { bytes, .. } = operation.kernel
        {
            sum += bytes.get();
        }
    };
    operations(&costing, &model.layer_kinds[0], &mut add);
    head(&costing, &mut add);
    sum
}

/// Separate operators of the loss move 48 bytes per logit, one compiled function 8 (measured here on H100). A
/// loss on gathered logits does the work of all ranks of the tensor group on each.
#[test]
fn features_of_the_loss_change_its_traffic() {
    let of = |software: &str| streamed(software, Family::Loss, &|_| {});
    let logits = 4096.0 * 128_256.0 / 8.0;
    let base = "torchtitan-2024-compile";
    let per_logit = |feature: &str| of(&format!("{base}+{feature}")) / logits;
    assert!((per_logit("plain-loss") - 48.0).abs() < 0.5, "{}", per_logit("plain-loss"));
    assert!((per_logit("compiled-loss") - 8.0).abs() < 0.1);
    assert!((of(&format!("{base}+gathered-loss")) / of(base) - 8.0).abs() < 1e-9);
}

/// An RMSNorm of separate operators moves 36 and 80 bytes an element with a 16-bit residual stream (FSDP
/// casts its shards), and 83 and 197 with the fp32 stream of autocast.
#[test]
fn composed_norms_move_the_stream_of_their_weights() {
    let own = |zero_stage: u8| {
        streamed("transformers-2026", Family::Norm, &|p| {
            (p.tensor_parallel, p.data_parallel) = (Some(1), Some(8));
            p.sharding = Some(Sharding::zero(zero_stage));
        })
    };
    let elements = 2.0 * 4096.0 * 4096.0;
    let more = own(0) - own(3);
    assert!((more / elements - (83.0 + 197.0 - 36.0 - 80.0)).abs() < 0.1, "{}", more / elements);
}

/// Attention of packed documents compared with the sum over documents: 8,192 tokens as two documents of 1,000
/// tokens and two of 3,096.
#[test]
fn packed_documents_have_the_attention_of_each_document() {
    let lengths = [1000.0_f64, 3096.0, 1000.0, 3096.0];
    let mean = lengths.iter().sum::<f64>() / 4.0;
    let variance = lengths.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 4.0;
    let model = model::by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    // Query and key pairs of the first operation of attention, masks apart.
    let pairs = |documents: Option<(f64, f64)>| {
        let spec = PlanSpec {
            micro_batch: Some(1),
            sequence_length: Some(8192),
            document_length: documents.map(|(mean, _)| mean as u64),
            document_length_cv: documents.map(|(_, cv)| cv),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let mut found = None;
        operations(&costing, &model.layer_kinds[0], &mut |operation| {
            if let Kernel::Attention { shape, .. } = operation.kernel {
                found.get_or_insert(shape.batch * shape.query_length * shape.key_length);
            }
        });
        found.expect("attention")
    };
    let own: f64 = lengths.iter().map(|d| d * d).sum();
    let packed = pairs(Some((mean, variance.sqrt() / mean)));
    assert!((packed / own - 1.0).abs() < 1e-9, "{packed} against {own}");
    // No document exceeds its sequence, at any variation.
    assert_eq!(pairs(Some((mean, 50.0))), pairs(None));
}

/// Over contiguous parts of a causal sequence, the last rank has `(2c - 1)/c` times the pairs of the mean:
/// counted one by one. Ulysses divides heads, and documents that end within a part leave every part as many.
#[test]
fn contiguous_context_leaves_the_last_rank_twice_the_attention() {
    let model = model::by_name("llama-3-8b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let machine = Machine::new(&cluster);
    let dividing = |software: &str, c: u64, kind: ContextKind, document_length: Option<u64>| {
        let spec = PlanSpec {
            software: Some(software.into()),
            context_parallel: Some(c),
            context_kind: Some(kind),
            sequence_length: Some(8192),
            document_length,
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let mut found = None;
        operations(&costing, &model.layer_kinds[0], &mut |operation| {
            if let Kernel::Attention { ranks, .. } = operation.kernel {
                found.get_or_insert(ranks);
            }
        });
        found.expect("attention")
    };
    let contiguous = "megatron-core-2025+contiguous-context";
    for c in [2, 4, 8] {
        let part = 64 / c;
        let of_rank =
            |rank: u64| (rank * part..(rank + 1) * part).map(|query| query as f64 + 0.5).sum::<f64>();
        let counted: f64 = (0..c).map(of_rank).sum::<f64>() / of_rank(c - 1);
        let ring = dividing(contiguous, c, ContextKind::Ring, None);
        assert!((ring - counted).abs() < 1e-9, "{c}: {ring} against {counted}");
        let whole = c as f64;
        assert_eq!(dividing("megatron-core-2025", c, ContextKind::Ring, None), whole);
        assert_eq!(dividing(contiguous, c, ContextKind::Ulysses, None), whole);
        assert_eq!(dividing(contiguous, c, ContextKind::Ring, Some(512)), whole);
    }
}

/// gpt-oss on Megatron-Core: the clamps move 16 bytes per element forward and 20 backward
/// (`fused_bias_geglu.py`), and the biases of the experts' outputs 28 and 40 (`TEGroupedMLP._apply_bias`).
/// Both widths are 2,880, and each of 16 local experts has its own kernels.
#[test]
fn biased_and_clamped_experts_move_the_bytes_of_their_code() {
    let model = model::by_name("gpt-oss-120b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec {
        tensor_parallel: Some(1),
        pipeline_parallel: Some(4),
        expert_parallel: Some(8),
        micro_batch: Some(1),
        sequence_length: Some(4096),
        software: Some("megatron-core-2025".to_owned()),
        ..PlanSpec::default()
    };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let elements = 4096.0 * 4.0 * plan.expert_load() * 2880.0;
    let fused = 2.0 * costing.software.elementwise_passes;
    for (phase, expected, launches) in [
        (Phase::Forward, 3.0 * fused + 16.0 + 28.0, 1.0 + 2.0 * 16.0 + 2.0),
        (Phase::BackwardInput, 5.0 * fused + 20.0 + 40.0, 1.0 + 6.0 * 16.0 + 2.0),
    ] {
        let (mut bytes, mut count) = (0.0, 0.0);
        operations(&costing, model.layer(0), &mut |operation| {
            if operation.family == Family::Activation && operation.phase == phase {
                let Kernel::Stream { bytes: moved, .. } = operation.kernel else {
                    panic!("{:?}", operation.kernel)
                };
                bytes += moved.get();
                count += operation.launches;
            }
        });
        assert!(
            (bytes / elements / expected - 1.0).abs() < 1e-9,
            "{phase:?}: {} {expected}",
            bytes / elements
        );
        assert_eq!(count, launches, "{phase:?}");
    }
}

/// Attention with a learned index runs in the multi-query form of latent attention (DeepSeek-V3.2, section
/// 2.1): one key of 512 + 64 elements for all heads, 2,048 of them per query. The index has 64 heads of 128
/// and one key per token (`index_n_heads`, `index_head_dim` and `index_topk` of its configuration).
#[test]
fn an_indexed_latent_is_the_one_key_of_all_heads() {
    let attention = |name: &str, tensor_parallel: u64| {
        let model = model::by_name(name).expect("in the catalogue");
        let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
        let spec = PlanSpec {
            tensor_parallel: Some(tensor_parallel),
            sequence_length: Some(65536),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let mut found = Vec::new();
        operations(&costing, model.layer_kinds.last().expect("a layer"), &mut |operation| {
            if let (Phase::Forward, Kernel::Attention { shape, .. }) = (operation.phase, operation.kernel) {
                found.push(shape);
            }
        });
        found
    };
    let [index, sparse] = attention("deepseek-v3.2-685b", 2)[..] else { panic!("index and attention") };
    assert_eq!((sparse.heads, sparse.kv_heads, sparse.head_dim, sparse.value_dim), (64.0, 1.0, 576.0, 512.0));
    assert_eq!(sparse.most_keys(), 2048.0);
    // The index is the same on each tensor-parallel rank, and sees half of all keys on average.
    assert_eq!((index.heads, index.head_dim, index.mean_keys()), (64.0, 128.0, 32768.0));
    let [dense] = attention("deepseek-v3-671b", 2)[..] else { panic!("one attention") };
    assert_eq!((dense.heads, dense.kv_heads, dense.head_dim, dense.value_dim), (64.0, 64.0, 192.0, 128.0));

    // A ring cannot select among keys that it has not seen: they are gathered, with those of the index.
    let gathered = |name: &str| {
        let (_, list) = exchanges_of(name, 64, &|spec| {
            spec.context_parallel = Some(8);
            spec.context_kind = Some(ContextKind::Ring);
            spec.sequence_length = Some(65536);
        });
        let context = list.into_iter().find(|made| made.1 == ProcessGroup::Context).expect("exchanged");
        (context.0, context.4)
    };
    let bytes = 65536.0 * (512.0 + 64.0 + 128.0) * 2.0;
    assert_eq!(gathered("deepseek-v3.2-685b"), (Collective::AllGather, bytes));
    assert_eq!(gathered("deepseek-v3-671b").0, Collective::SendReceive);
}

/// DeepSeek-V4 (`deepseek_v4` of transformers): a query sees the last 128 tokens and entries of 4 tokens, of
/// which its index keeps 512, or all entries of 128 tokens. The index scores each entry.
#[test]
fn a_compressed_past_is_seen_besides_the_window() {
    let model = model::by_name("deepseek-v4-flash").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 64).expect("a preset");
    let spec = PlanSpec { sequence_length: Some(65536), ..PlanSpec::default() };
    let plan = spec.resolve(&model, &cluster).expect("resolves");
    let machine = Machine::new(&cluster);
    let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
    let mut found = std::collections::BTreeSet::new();
    for kind in &model.layer_kinds {
        let mut index = None;
        operations(&costing, kind, &mut |operation| match operation.kernel {
            Kernel::Attention { shape, .. }
                if operation.phase == Phase::Forward && shape.value_dim == 0.0 =>
            {
                index = Some((shape.batch * shape.query_length * shape.mean_keys()) as u64);
            }
            Kernel::Attention { shape, .. } if operation.phase == Phase::Forward => {
                found.insert((shape.most_keys() as u64, index));
            }
            _ => {}
        });
    }
    let pairs = plan.micro_batch * 65536 * (65536 / 4) / 2;
    // 512 entries of 128 tokens, of which a causal query sees half on average.
    let expected = [(128, None), (128 + 256, None), (128 + 512, Some(pairs))];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}

/// PyTorch's indexing reads and writes a routed copy 11 times forward and 29 times backward, counted operator
/// by operator; its gradients alone take longer than a fused dispatch, which moves each copy twice each way.
#[test]
fn tokens_permuted_by_indexing_move_the_bytes_of_its_operators() {
    let model = model::by_name("qwen3-30b-a3b").expect("in the catalogue");
    let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
    let bytes = |software: &str, expert_parallel: u64| {
        let spec = PlanSpec {
            expert_parallel: Some(expert_parallel),
            micro_batch: Some(1),
            sequence_length: Some(4096),
            software: Some(software.to_owned()),
            ..PlanSpec::default()
        };
        let plan = spec.resolve(&model, &cluster).expect("resolves");
        let machine = Machine::new(&cluster);
        let costing = Costing::new(&model, &cluster, &plan, &machine).expect("known software");
        let mut moved = [0.0; 2];
        operations(&costing, model.layer(0), &mut |operation| {
            if let (Family::Router, Kernel::Stream { bytes, .. }) = (operation.family, operation.kernel) {
                moved[usize::from(operation.phase != Phase::Forward)] += bytes.get();
            }
        });
        moved
    };
    let copies = 4096.0 * 8.0 * 2048.0 * 2.0;
    let scores = 4096.0 * 128.0 * 4.0 * 6.0;
    assert_eq!(bytes("transformers-2026", 1), [11.0, 29.0].map(|passes| passes * copies + scores));
    assert_eq!(bytes("transformers-2026+fused-dispatch", 8), [2.0 * copies + scores; 2]);
    let general = bytes("torchtitan-2025", 1);
    assert_eq!(general[0], general[1]);
}
