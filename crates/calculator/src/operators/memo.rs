//! Cache of GEMM prices.
//!
//! Responsible for: a table of bounded size with bit-identical prices. A search prices the same few hundred
//! GEMMs for every combination of the other settings. Does not price: see the operator models.

use super::cost::{Cost, Pass};
use railwright_spec::precision::DataType;
use std::sync::{Mutex, PoisonError};

/// Number of entries; a power of two. A GEMM replaces another one at the same index.
const PLACES: usize = 4096;

/// Key of a GEMM's price: groups, rows, columns, inner dimension, format and pass.
type Key = ([u64; 4], DataType, Pass);

/// Prices of GEMMs on one device. Fastest with one per thread.
#[derive(Debug)]
pub struct ProductMemo(Mutex<Vec<Option<(Key, Cost)>>>);

impl Default for ProductMemo {
    fn default() -> Self {
        Self(Mutex::new(vec![None; PLACES]))
    }
}

impl ProductMemo {
    /// The price of `groups` GEMMs of m x k by k x n, calculated by `price` if it is not in the table.
    pub(crate) fn get(
        &self,
        sizes: [f64; 4],
        data_type: DataType,
        pass: Pass,
        price: impl FnOnce() -> Cost,
    ) -> Cost {
        let key = (sizes.map(f64::to_bits), data_type, pass);
        let mixed = key.0.iter().fold(data_type as u64 * 3 + pass as u64, |hash, bits| {
            (hash.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let place = (mixed >> 40) as usize % PLACES;
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match places.get_mut(place) {
            Some(Some((known, cost))) if *known == key => *cost,
            Some(slot) => {
                let cost = price();
                *slot = Some((key, cost));
                cost
            }
            None => price(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::Device;
    use railwright_spec::cluster;

    #[test]
    fn a_price_from_the_table_is_the_price() {
        let cluster = cluster::by_name("dgx-h100", 8).expect("known");
        let device = Device::new(&cluster.accelerator);
        let memo = ProductMemo::default();
        for _ in 0..2 {
            for size in 1..9000 {
                let (m, n, k) = (f64::from(size), 4096.0, f64::from(size % 7 + 1) * 128.0);
                let price = || device.gemm(m, n, k, DataType::Bf16, Pass::Forward);
                assert_eq!(memo.get([1.0, m, n, k], DataType::Bf16, Pass::Forward, price), price());
            }
        }
        let fp8 = || device.gemm(512.0, 4096.0, 128.0, DataType::Fp8, Pass::Forward);
        assert_eq!(memo.get([1.0, 512.0, 4096.0, 128.0], DataType::Fp8, Pass::Forward, fp8), fp8());
    }
}
