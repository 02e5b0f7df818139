//! Time of an iteration by term, its optimum, and the ideal network.
//!
//! Responsible for: equations (2) to (12). Excludes constraints that the paper does not state (whole numbers,
//! memory): the optimum is continuous, and the curve is convex, so a whole optimum is one of its neighbours.

use super::Parameters;
use railwright_spec::quantity::{Flop, Seconds};
use serde::Serialize;

/// An iteration, term by term.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Iteration {
    /// Accelerators of a model-parallel group, N_M.
    pub model_parallel: f64,
    /// (2) Arithmetic: `6 P tau / (N C)`.
    pub compute: Seconds,
    /// (3) Model-parallel all-reduces inside the domain.
    pub model_parallel_time: Seconds,
    /// (4) Gradients inside the domain.
    pub data_in_domain: Seconds,
    /// (5) Gradients on the rails.
    pub data_on_rails: Seconds,
}

impl Iteration {
    /// (1) The sum of the terms: nothing overlaps.
    pub fn total(&self) -> Seconds {
        self.compute + self.model_parallel_time + self.data_in_domain + self.data_on_rails
    }
}

/// Bytes of all gradients, `P e`.
fn gradients(p: &Parameters) -> f64 {
    p.model.parameters * p.element.get()
}

/// (2) `T_C = 6 P tau / (N C)`: two operations for each parameter and token forward, four backward.
fn compute(p: &Parameters) -> Seconds {
    Flop::new(6.0 * p.model.parameters * p.tokens / p.devices) / p.compute
}

/// Bytes that a member of a model-parallel group sends to each other member in an iteration: `2 a l h e tau /
/// N`, a all-reduces per layer, each a reduce-scatter and an all-gather.
pub fn model_parallel_pair(p: &Parameters) -> f64 {
    2.0 * p.all_reduces * p.model.layers * p.model.hidden * p.element.get() * p.tokens / p.devices
}

/// (3) `T_MP = 2 a l h e tau (N_M - 1) / (N B_F)`, a = 4.
fn model_parallel_time(p: &Parameters, model_parallel: f64) -> Seconds {
    Seconds::new(model_parallel_pair(p) * (model_parallel - 1.0) / p.scale_up.get())
}

/// (4) `T_DP,in = 2 P e (1/N_M - 1/K) / B_F`: reduce-scatter and all-gather among the replicas of a domain.
fn data_in_domain(p: &Parameters, model_parallel: f64) -> Seconds {
    Seconds::new(2.0 * gradients(p) * (1.0 / model_parallel - 1.0 / p.domain) / p.scale_up.get())
}

/// (5) `T_DP,x = 2 P e (1/K - 1/N) / B_S`: the members of a domain own the gradient once, 1/K each, and send
/// it over their rails.
fn data_on_rails(p: &Parameters) -> Seconds {
    Seconds::new(2.0 * gradients(p) * (1.0 / p.domain - 1.0 / p.devices) / p.network.get())
}

/// (8) `N_M* = sqrt(P N / (a l h tau))`: balance of the two terms inside the domain. Independent of
/// bandwidths and domain size.
pub fn optimum(p: &Parameters) -> f64 {
    let Parameters { model, .. } = p;
    (model.parameters * p.devices / (p.all_reduces * model.layers * model.hidden * p.tokens)).sqrt()
}

/// (6) An iteration with model-parallel groups of any size.
pub fn iteration_with(p: &Parameters, model_parallel: f64) -> Iteration {
    Iteration {
        model_parallel,
        compute: compute(p),
        model_parallel_time: model_parallel_time(p, model_parallel),
        data_in_domain: data_in_domain(p, model_parallel),
        data_on_rails: data_on_rails(p),
    }
}

/// An iteration at the optimum, times the factor of the parameters.
pub fn iteration(p: &Parameters) -> Iteration {
    iteration_with(p, optimum(p) * p.model_parallel_factor)
}

/// (10) All accelerators in one domain: `T_C + T_MP + 2 P e (1/N_M - 1/N) / B_F`.
pub fn ideal(p: &Parameters) -> Iteration {
    iteration(&Parameters { domain: p.devices, ..*p })
}

/// Ideal over real time: the paper's relative performance (figure 8).
pub fn relative_performance(p: &Parameters) -> f64 {
    ideal(p).total() / iteration(p).total()
}

/// The smallest iteration time by golden-section search over `1 <= N_M <= K`, for comparison with the closed
/// form: the size and the time.
pub fn optimum_by_search(p: &Parameters) -> (f64, Seconds) {
    let ratio = (5_f64.sqrt() - 1.0) / 2.0;
    let time = |n: f64| iteration_with(p, n).total();
    let (mut low, mut high) = (1.0, p.domain.max(1.0));
    for _ in 0..200 {
        let (a, b) = (high - (high - low) * ratio, low + (high - low) * ratio);
        if time(a) <= time(b) {
            high = b;
        } else {
            low = a;
        }
    }
    let best = f64::midpoint(low, high);
    (best, time(best))
}

#[cfg(test)]
mod tests {
    use super::super::{GPT3, OPT3, PALM};
    use super::*;
    use proptest::prelude::*;

    /// The table of section 3 of the derivation, N = 16,384: model, tokens, N_M*, T_C, T_MP, then K, T_DP,in,
    /// T_DP,x, T.
    #[test]
    fn terms_are_those_of_the_derivation() {
        let models = [(GPT3, 32e6, 4.36, 2.0728, 0.2579), (OPT3, 2e6, 17.43, 0.1296, 0.0789)];
        let rows = [
            (32.0, [(0.2891, 0.8733, 3.4930), (0.0381, 0.8733, 1.1198)]),
            (64.0, [(0.3119, 0.4358, 3.0783), (0.0609, 0.4358, 0.7051)]),
            (512.0, [(0.3318, 0.0530, 2.7154), (0.0808, 0.0530, 0.3422)]),
            (1024.0, [(0.3332, 0.0256, 2.6895), (0.0822, 0.0256, 0.3163)]),
        ];
        for (domain, columns) in rows {
            for ((model, tokens, n_m, t_c, t_mp), (inside, across, total)) in models.iter().zip(columns) {
                let it = iteration(&Parameters::paper(*model, *tokens, 16384.0, domain));
                // Four decimals are printed.
                for (here, there) in [
                    (it.compute.get(), *t_c),
                    (it.model_parallel_time.get(), *t_mp),
                    (it.data_in_domain.get(), inside),
                    (it.data_on_rails.get(), across),
                    (it.total().get(), total),
                ] {
                    assert!((here - there).abs() < 0.6e-4, "{} K={domain}: {here} {there}", model.name);
                }
                assert!((it.model_parallel - n_m).abs() < 0.005, "{}", it.model_parallel);
            }
        }
    }

    /// Figure 7's curves: N, model, K = 32 to 1024 and the ideal.
    #[test]
    fn curves_are_those_of_the_derivation() {
        let rows: [(f64, super::super::Model, f64, [f64; 7]); 5] = [
            (16384.0, GPT3, 32e6, [3.4930, 3.0783, 2.8709, 2.7672, 2.7154, 2.6895, 2.6652]),
            (16384.0, OPT3, 2e6, [1.1198, 0.7051, 0.4977, 0.3940, 0.3422, 0.3163, 0.2920]),
            (32768.0, GPT3, 32e6, [2.2998, 1.8851, 1.6778, 1.5741, 1.5222, 1.4963, 1.4712]),
            (32768.0, OPT3, 2e6, [1.0093, 0.5946, 0.3872, 0.2835, 0.2317, 0.2058, 0.1807]),
            (65536.0, GPT3, 32e6, [1.6627, 1.2479, 1.0406, 0.9369, 0.8851, 0.8591, 0.8336]),
        ];
        for (devices, model, tokens, curve) in rows {
            for (domain, there) in [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0].into_iter().zip(curve) {
                let here = iteration(&Parameters::paper(model, tokens, devices, domain)).total().get();
                assert!((here - there).abs() < 0.6e-4, "{} {devices} {domain}: {here} {there}", model.name);
            }
            let here = ideal(&Parameters::paper(model, tokens, devices, 256.0)).total().get();
            assert!((here - curve[6]).abs() < 0.6e-4, "{here} {}", curve[6]);
        }
        let palm =
            [(256.0, [0.624, 0.811, 1.136]), (512.0, [0.464, 0.651, 0.976]), (1024.0, [0.384, 0.571, 0.896])];
        for (domain, times) in palm {
            for (sequences, there) in [512.0, 1024.0, 2048.0].into_iter().zip(times) {
                let here =
                    iteration(&Parameters::paper(PALM, sequences * 2048.0, 32768.0, domain)).total().get();
                assert!((here - there).abs() < 0.6e-3, "{domain} {sequences}: {here} {there}");
            }
        }
    }

    fn any() -> impl Strategy<Value = Parameters> {
        (1_u32..6, 1_u32..6, 1e8_f64..1e12, 1e5_f64..1e8, 1e9_f64..1e12, 1e9_f64..1e11).prop_map(
            |(domain, domains, parameters, tokens, scale_up, network)| {
                let domain = f64::from(1 << (domain + 2));
                let devices = domain * f64::from(1 << (domains + 3));
                let model = super::super::Model { parameters, ..GPT3 };
                Parameters {
                    scale_up: railwright_spec::quantity::BytesPerSecond::new(scale_up),
                    network: railwright_spec::quantity::BytesPerSecond::new(network),
                    ..Parameters::paper(model, tokens, devices, domain)
                }
            },
        )
    }

    proptest! {
        /// (11) T(K) - T_ideal = 2 P e (1/K - 1/N)(1/B_S - 1/B_F), for any model-parallel group.
        #[test]
        fn distance_from_the_ideal(p in any()) {
            let rails = 1.0 / p.network.get() - 1.0 / p.scale_up.get();
            let there = 2.0 * gradients(&p) * (1.0 / p.domain - 1.0 / p.devices) * rails;
            let here = (iteration(&p).total() - ideal(&p).total()).get();
            prop_assert!((here - there).abs() <= 1e-9 * iteration(&p).total().get().abs().max(there.abs()));
        }

        /// (12) T(K) - T(2K) = (P e / K)(1/B_S - 1/B_F).
        #[test]
        fn a_domain_of_twice_the_size(p in any()) {
            let double = Parameters { domain: 2.0 * p.domain, ..p };
            let there = gradients(&p) / p.domain * (1.0 / p.network.get() - 1.0 / p.scale_up.get());
            let here = (iteration(&p).total() - iteration(&double).total()).get();
            prop_assert!((here - there).abs() <= 1e-9 * iteration(&p).total().get().abs().max(there.abs()));
        }

        /// (8) is the minimum, and depends on neither bandwidths nor the domain.
        #[test]
        fn the_closed_optimum_is_the_minimum(p in any()) {
            let closed = optimum(&p);
            prop_assert_eq!(closed, optimum(&Parameters { domain: 8.0, scale_up: p.network, network: p.scale_up, ..p }));
            if closed > 1.0 && closed < p.domain {
                let (_, time) = optimum_by_search(&p);
                prop_assert!((iteration_with(&p, closed).total() / time - 1.0).abs() < 1e-9);
            }
        }
    }
}
