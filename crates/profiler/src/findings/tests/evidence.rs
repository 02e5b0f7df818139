//! Findings are printed only with sufficient evidence.

use super::*;
use crate::profile::Explained;

#[test]
fn evidence_that_explains_too_little_is_no_finding() {
    // The device is idle for two milliseconds of a step while its host is blocked in a call.
    let idle = |call: i64| {
        one_rank(|_, r| {
            r.host_busy(HostKind::Runtime, "cudaStreamSynchronize", call * MICROSECOND);
            r.host_busy(HostKind::Operator, "python", (2_000 - call) * MICROSECOND);
        })
    };
    assert!(ids(&idle(1_900)).contains("synchronization"));
    for finding in idle(100) {
        assert_ne!(finding.explained, Explained::Unstated, "{finding:#?}");
    }
    let with = |explained: Explained| {
        super::super::supported(crate::profile::Finding {
            cost: Some(100.0),
            explained,
            ..Default::default()
        })
    };
    assert_eq!(with(Explained::Part(49.0)), None);
    assert!(with(Explained::Part(50.0)).is_some_and(|kept| kept.certainty.is_none()));
    assert!(with(Explained::Whole).is_some_and(|kept| kept.certainty.is_none()));
    // Evidence without a number makes the cost a bound.
    let bound = with(Explained::Unstated).and_then(|kept| kept.certainty);
    assert_eq!(bound, Some(crate::certainty::Certainty::AtMost));
}

#[test]
fn tables_of_embeddings_are_not_to_be_fused() {
    let step = |name: &'static str| {
        one_rank(move |_, r| {
            r.kernel(name, 5_000 * MICROSECOND);
        })
    };
    assert!(ids(&step("vectorized_elementwise_kernel")).contains("memory-bound"));
    assert!(
        !ids(&step("split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel"))
            .contains("memory-bound")
    );
}

#[test]
fn evidence_goes_on_until_it_holds_half_of_the_cost() {
    // Twenty kernels of the same length: six are listed, the others are one line.
    let found = one_rank(|_, r| {
        for at in 0..20 {
            r.kernel(&format!("vectorized_elementwise_kernel<{at}>"), 300 * MICROSECOND);
        }
    });
    let evidence = &the(&found, "memory-bound").evidence;
    assert_eq!(evidence.len(), 8, "{evidence:#?}");
    assert!(evidence[7].starts_with("14 others: "), "{evidence:#?}");
}
