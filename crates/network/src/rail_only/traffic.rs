//! Traffic of an iteration (figures 3 and 4).
//!
//! Responsible for: partners and bytes of each class of pairs, shares of silent pairs and of bytes inside
//! domains. Numbering is contiguous: rank in domain = device mod K, model-parallel groups are blocks of N_M.
//! Does not draw.

use super::Parameters;
use super::time::{model_parallel_pair, optimum};
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// A class of pairs, seen from one accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Class {
    /// Partners of an accelerator.
    pub partners: f64,
    /// Bytes that it sends to each in an iteration.
    pub bytes: Bytes,
}

impl Class {
    /// Bytes to all of them.
    pub fn total(&self) -> Bytes {
        self.bytes * self.partners
    }
}

/// The traffic of one accelerator; all are equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// With the members of its model-parallel group.
    pub model_parallel: Class,
    /// With the replicas in its domain.
    pub data_in_domain: Class,
    /// With the members of its rail.
    pub data_on_rails: Class,
    /// Accelerators that it could talk to.
    pub others: f64,
}

/// Section 4: (N_M - 1) partners at `8 l h e tau / N`, (K / N_M - 1) at `2 P e / K`, (N / K - 1) at `2 P e /
/// N`.
pub fn traffic(p: &Parameters) -> Traffic {
    let group = optimum(p) * p.model_parallel_factor;
    let gradients = p.model.parameters * p.element.get();
    Traffic {
        model_parallel: Class { partners: group - 1.0, bytes: Bytes::new(model_parallel_pair(p)) },
        data_in_domain: Class {
            partners: p.domain / group - 1.0,
            bytes: Bytes::new(2.0 * gradients / p.domain),
        },
        data_on_rails: Class { partners: p.domains() - 1.0, bytes: Bytes::new(2.0 * gradients / p.devices) },
        others: p.devices - 1.0,
    }
}

impl Traffic {
    /// Share of pairs with any traffic inside domains (0 to 1).
    pub fn pairs_in_domain(&self) -> f64 {
        (self.model_parallel.partners + self.data_in_domain.partners) / self.others
    }

    /// Share of pairs without any traffic (0 to 1).
    pub fn silent_pairs(&self) -> f64 {
        1.0 - self.pairs_in_domain() - self.data_on_rails.partners / self.others
    }

    /// Share of the bytes that stays inside domains.
    pub fn bytes_in_domain(&self) -> f64 {
        let inside = self.model_parallel.total() + self.data_in_domain.total();
        inside / (inside + self.data_on_rails.total())
    }
}

#[cfg(test)]
mod tests {
    use super::super::time::iteration;
    use super::super::{GPT3, OPT3, PALM};
    use super::*;
    use railwright_spec::quantity::{BytesPerSecond, Seconds};

    /// The table of section 4: pairs inside, pairs with any traffic, bytes inside; N = 32,768, K = 256.
    #[test]
    fn shares_are_those_of_the_derivation() {
        let palm = |sequences: f64| (PALM, sequences * 2048.0);
        for ((model, tokens), inside, any, bytes) in [
            ((GPT3, 32e6), 0.139, 0.527, 98.7),
            ((OPT3, 2e6), 0.101, 0.488, 95.1),
            (palm(512.0), 0.146, 0.534, 91.4),
            (palm(1024.0), 0.114, 0.502, 93.9),
            (palm(2048.0), 0.097, 0.484, 95.6),
        ] {
            let t = traffic(&Parameters::paper(model, tokens, 32768.0, 256.0));
            assert!((t.pairs_in_domain() * 100.0 - inside).abs() < 6e-4, "{}", t.pairs_in_domain());
            assert!(((1.0 - t.silent_pairs()) * 100.0 - any).abs() < 6e-4);
            assert!((t.bytes_in_domain() * 100.0 - bytes).abs() < 0.06, "{}", t.bytes_in_domain());
        }
    }

    #[test]
    fn bytes_over_bandwidths_are_the_terms_of_the_time() {
        let p = Parameters::paper(OPT3, 2e6, 16384.0, 64.0);
        let (t, it) = (traffic(&p), iteration(&p));
        let same = |bytes: Bytes, bandwidth: BytesPerSecond, time: Seconds| {
            assert!((bytes / bandwidth / time - 1.0).abs() < 1e-12);
        };
        same(t.model_parallel.total(), p.scale_up, it.model_parallel_time);
        same(t.data_in_domain.total(), p.scale_up, it.data_in_domain);
        same(t.data_on_rails.total(), p.network, it.data_on_rails);
    }
}
