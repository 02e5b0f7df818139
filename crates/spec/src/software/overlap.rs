//! Overlap of a framework's arguments, where a plan assumes the overlap of its recipes.
//!
//! Responsible for: the other overlap that a plan may have while its switches are unspecified. Excludes the
//! price of either.

use super::Software;
use crate::plan::Overlap;

impl Software {
    /// The overlap of a plan if its open switches have the values of the framework's arguments. `None` if
    /// nothing changes. The arguments never add overlap to a plan.
    pub fn overlap_by_arguments(&self, assumed: Overlap, open: Overlap) -> Option<Overlap> {
        let own = self.overlap_of_arguments?;
        let of = |assumed: bool, open: bool, own: bool| assumed && (own || !open);
        let other = Overlap {
            gradient_reduce: of(assumed.gradient_reduce, open.gradient_reduce, own.gradient_reduce),
            parameter_gather: of(assumed.parameter_gather, open.parameter_gather, own.parameter_gather),
            tensor: of(assumed.tensor, open.tensor, own.tensor),
            pipeline: of(assumed.pipeline, open.pipeline, own.pipeline),
            expert: of(assumed.expert, open.expert, own.expert),
        };
        (other != assumed).then_some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::by_id;

    const ALL: Overlap =
        Overlap { gradient_reduce: true, parameter_gather: true, tensor: true, pipeline: true, expert: true };
    const NONE: Overlap = Overlap {
        gradient_reduce: false,
        parameter_gather: false,
        tensor: false,
        pipeline: false,
        expert: false,
    };

    /// Megatron-LM overlaps transfers between stages alone by default. A specified switch stays as it is.
    #[test]
    fn open_switches_have_the_values_of_the_arguments() {
        let core = by_id("megatron-core-2025").expect("known");
        let arguments = Overlap { pipeline: true, ..NONE };
        assert_eq!(core.overlap_by_arguments(ALL, ALL), Some(arguments));
        assert_eq!(core.overlap_by_arguments(ALL, NONE), None);
        assert_eq!(core.overlap_by_arguments(NONE, ALL), None);
        let open = Overlap { tensor: true, ..NONE };
        assert_eq!(core.overlap_by_arguments(ALL, open), Some(Overlap { tensor: false, ..ALL }));
    }

    /// FSDP overlaps by construction, and torchtitan's other switches are off already.
    #[test]
    fn a_framework_without_recipes_has_one_overlap() {
        for id in ["torchtitan-2025", "fsdp1-2023", "megatron-mlperf", "fused-cards-2025"] {
            let software = by_id(id).expect("known");
            assert_eq!(software.overlap_by_arguments(software.overlap, ALL), None, "{id}");
        }
    }
}
