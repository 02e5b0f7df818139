//! Slow chips of stages with one rank.
//!
//! Responsible for: separating a slow chip from more work where a stage has no replica. Kernels of one name
//! and number are compared with the other stages. A slow chip lengthens all of them by one factor. With more
//! work, GEMMs, attention and element-wise kernels grow by different factors. If the heavy kernels alone grow
//! by one factor, both are possible: a lower clock does not affect memory-bound kernels. Excludes kernels
//! that only some stages have (embedding, head).

use super::uneven::Taken;
use crate::kernels::KernelTable;
use railwright_spec::median;
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

/// Compute kernels of a rank by name.
pub(super) type Kernels = BTreeMap<String, Taken>;

/// Minimum number of other stages: of two, the slower one may be either normal or slow.
const OTHERS: usize = 2;

/// Minimum factor of the kernels; chips of one model differ by some percent.
const LONGER: f64 = 1.03;

/// Maximum relative difference between the numbers of calls of the same work: a step's edge divides few.
const CALLS: f64 = 0.02;

/// Minimum share of compute time in comparable kernels.
const COMPARED: f64 = 0.75;

/// A kernel grew like all of them if its growth is within this share of theirs.
const ALIKE: f64 = 0.5;

/// Minimum share of the time of heavy kernels that grew by one factor; a majority of the other ones.
const HEAVY: f64 = 0.9;
const LIGHT: f64 = 0.5;

/// Minimum share of kernels other than GEMMs and attention for a decision.
const VISIBLE: f64 = 0.01;

/// Longer kernels of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Longer {
    /// Time of its comparable kernels, and that with durations as on the other stages, in nanoseconds.
    pub own: i64,
    pub usual: i64,
    /// True if all kinds of kernels grew by one factor: the chip is slow. Otherwise the heavy ones alone
    /// did.
    pub is_chip: bool,
}

/// A kernel: own and usual time in nanoseconds, own to usual duration, and whether it is a GEMM or attention.
struct Kernel {
    own: f64,
    usual: f64,
    factor: f64,
    is_heavy: bool,
}

/// Comparison of a rank with ranks of the other stages. `None` if its kernels are not longer, not comparable,
/// or grew by different factors.
pub(super) fn longer(own: &Kernels, others: &[&Kernels]) -> Option<Longer> {
    if others.len() < OTHERS {
        return None;
    }
    let all: f64 = own.values().map(|kernel| kernel.total).sum();
    let kernels: Vec<Kernel> = own.iter().filter_map(|(name, own)| compared(name, own, others)).collect();
    let sum = |of: &dyn Fn(&Kernel) -> f64| kernels.iter().map(of).sum::<f64>();
    let (compared, usual) = (sum(&|kernel| kernel.own), sum(&|kernel| kernel.usual));
    if usual <= 0.0 || compared < COMPARED * all || compared < LONGER * usual {
        return None;
    }
    let growth = compared / usual - 1.0;
    let is_alike = |kernel: &Kernel| (kernel.factor - 1.0 - growth).abs() <= ALIKE * growth;
    let share = |heavy: bool| {
        let of = |kernel: &Kernel| if kernel.is_heavy == heavy { kernel.usual } else { 0.0 };
        let time = sum(&of);
        (time, sum(&|kernel| if is_alike(kernel) { of(kernel) } else { 0.0 }) / time.max(1.0))
    };
    let ((_, heavy), (visible, light)) = (share(true), share(false));
    (heavy >= HEAVY).then_some(Longer {
        own: compared as i64,
        usual: usual as i64,
        is_chip: visible >= VISIBLE * usual && light >= LIGHT,
    })
}

/// A kernel relative to the stages that call it as often; `None` if most others do not.
fn compared(name: &str, own: &Taken, others: &[&Kernels]) -> Option<Kernel> {
    let calls = own.count as f64;
    let is_same = |other: &&Taken| (other.count as f64 - calls).abs() <= (CALLS * calls).max(1.0);
    let same: Vec<&Taken> = others.iter().filter_map(|other| other.get(name)).filter(is_same).collect();
    if same.is_empty() || same.len() * 2 < others.len() {
        return None;
    }
    let middle = |of: &dyn Fn(&Taken) -> f64| median(&mut same.iter().map(|one| of(one)).collect::<Vec<_>>());
    let mean = middle(&|one| one.total / one.count.max(1) as f64);
    let usual = Taken::usual(own.count, mean * calls, &middle);
    let family = KernelTable::shipped().family(name);
    Some(Kernel {
        own: own.total,
        usual: usual.total,
        factor: own.factor(&usual),
        is_heavy: matches!(family, OperatorFamily::MatrixProduct | OperatorFamily::Attention),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stage: GEMMs, attention and element-wise kernels, each longer by its factor, with this number of
    /// calls.
    fn stage(calls: usize, factors: [f64; 3]) -> Kernels {
        let names = ["sm90_gemm_nn", "flash_fwd_kernel", "void vectorized_elementwise_kernel"];
        let durations = [200e3, 150e3, 20e3];
        let kernel = |((name, duration), factor): ((&str, f64), f64)| {
            let mut calls: Vec<f64> =
                (0..calls).map(|at| duration * factor * (1.0 + 0.001 * (at % 7) as f64)).collect();
            (name.to_owned(), Taken::of(&mut calls))
        };
        names.into_iter().zip(durations).zip(factors).map(kernel).collect()
    }

    #[test]
    fn a_chip_slows_all_kernels_and_more_work_some() {
        let usual = stage(100, [1.0; 3]);
        let others = [&usual, &usual, &usual];
        let found = |factors| longer(&stage(100, factors), &others);
        let chip = found([1.08; 3]).expect("longer");
        assert!(chip.is_chip && (chip.own as f64 / chip.usual as f64 - 1.08).abs() < 1e-3, "{chip:?}");
        // A lower clock, or larger GEMMs and longer sequences.
        assert_eq!(found([1.2, 1.2, 1.0]).map(|one| one.is_chip), Some(false));
        // Longer sequences, a wider layer.
        assert_eq!(found([1.0, 1.5, 1.0]), None);
        assert_eq!(found([1.3, 1.0, 1.1]), None);
        assert_eq!(found([1.01; 3]), None);
        // More layers: the kernels are not comparable, however long they are.
        assert_eq!(longer(&stage(120, [1.08; 3]), &others), None);
        assert_eq!(longer(&stage(100, [1.08; 3]), &others[..1]), None);
    }
}
