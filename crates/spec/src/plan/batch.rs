//! The default global batch: one rule for all commands.
//!
//! Responsible for: the default number of sequences per step, that of the published training or a usual one,
//! divisible by common layouts. Independent of a layout.

use crate::greatest_common_divisor;
use crate::model::PublishedTraining;

/// Default tokens per global batch: the lower end of published trainings with several billion parameters.
const USUAL_TOKENS: u64 = 4 * 1_048_576;
/// Upper limit of the default in tokens: that of Llama 3 405B. Larger batches reduce progress per token for
/// many models.
const MOST_TOKENS: u64 = 16 * 1_048_576;

/// Sequences for a number of tokens, rounded so that many numbers of replicas divide them: a million tokens
/// in sequences of 8192 are 120, not 122. The result differs from the tokens by a sixteenth at most.
pub fn divisible_batch(tokens: f64, sequence_length: u64, devices: u64) -> u64 {
    let wanted = (tokens / sequence_length.max(1) as f64).round().max(1.0);
    let most = ((wanted / 8.0) as u64).min(devices).max(1);
    let unit = 1_u64 << most.ilog2();
    ((wanted / unit as f64).round() as u64).max(1).saturating_mul(unit)
}

/// Default sequences of a global batch: one per eight devices, as in Llama 3 405B (2,048 on 16,384), within
/// the limits above.
pub fn usual_batch(sequence_length: u64, devices: u64) -> u64 {
    let least = (USUAL_TOKENS / sequence_length.max(1)).max(1);
    let most = (MOST_TOKENS / sequence_length.max(1)).max(1);
    least.max(devices / 8).min(most).next_power_of_two()
}

/// Default batch, rounded to a multiple of the odd part of each number of devices. Without this, 1,000 GPUs
/// have no layout, because the factor 125 is left for the replicas. One batch for all numbers of devices if
/// it differs from the default by less than a factor of two; otherwise `None`, and each number has its own.
pub fn divided_batch(usual: u64, devices: &[u64]) -> Option<u64> {
    let unit = devices.iter().try_fold(1, |common, &n| {
        let factor = odd_factor(n, usual);
        Some(factor / greatest_common_divisor(common, factor) * common).filter(|unit| *unit <= 2 * usual)
    })?;
    let mut batch = unit;
    // Nearest in ratio: the unit times a power of two, which has the most further divisors.
    while batch as f64 * std::f64::consts::SQRT_2 < usual as f64 {
        batch *= 2;
    }
    Some(batch)
}

/// True if the odd part of a number of devices divides a batch: layouts without odd parallel sizes exist.
pub fn is_divided(batch: u64, devices: u64) -> bool {
    batch.is_multiple_of(odd_factor(devices, batch))
}

/// The default batch for a number of devices, a multiple of their odd part: that of the published training of
/// the model, else the usual one.
pub fn default_batch(published: Option<&PublishedTraining>, sequence_length: u64, devices: u64) -> u64 {
    if let Some(training) = published {
        return published_batch(training, sequence_length, devices);
    }
    let usual = usual_batch(sequence_length, devices);
    divided_batch(usual, &[devices]).unwrap_or(usual)
}

/// Sequences of the published batch. For another sequence length, the number with equal tokens, rounded to
/// one with many divisors.
pub fn published_sequences(training: &PublishedTraining, length: u64) -> u64 {
    if training.sequence_length == length {
        return training.global_batch;
    }
    let tokens = training.global_batch.saturating_mul(training.sequence_length);
    divisible_batch(tokens as f64, length, 1024)
}

/// Published batch on a number of devices, rounded to the nearest that divides among them.
pub fn published_batch(training: &PublishedTraining, length: u64, devices: u64) -> u64 {
    let wanted = published_sequences(training, length);
    if is_divided(wanted, devices) { wanted } else { divided_batch(wanted, &[devices]).unwrap_or(wanted) }
}

/// Odd part of a number of devices. If it exceeds twice the batch, its largest divisor that does not.
fn odd_factor(devices: u64, batch: u64) -> u64 {
    let odd = devices >> devices.trailing_zeros().min(63);
    if odd <= 2 * batch {
        return odd.max(1);
    }
    (1..=2 * batch).rev().find(|n| odd.is_multiple_of(*n)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_in_tokens_can_be_divided() {
        assert_eq!(divisible_batch(1e6, 8192, 8), 120);
        assert_eq!(divisible_batch(4_194_304.0, 8192, 1024), 512);
        assert_eq!(divisible_batch(1.0, 8192, 8), 1);
        for tokens in [1e5, 3e6, 16e6, 1e9] {
            let batch = divisible_batch(tokens, 4096, 4096) as f64 * 4096.0;
            assert!((batch / tokens - 1.0).abs() <= 1.0 / 16.0, "{tokens}: {batch}");
        }
    }

    #[test]
    fn a_default_batch_is_divided_by_odd_numbers_of_replicas() {
        assert_eq!(divided_batch(512, &[1024]), Some(512));
        assert_eq!(divided_batch(512, &[1000]), Some(500));
        assert_eq!(divided_batch(512, &[72]), Some(576));
        assert_eq!(divided_batch(512, &[3000]), Some(375));
        assert_eq!(divided_batch(2048, &[10_000]), Some(2500));
        assert_eq!(divided_batch(512, &[72, 64, 1000]), None);
        assert_eq!(divided_batch(512, &[64, 72, 96]), Some(576));
        // A prime above all batches cannot divide them, so nothing changes.
        assert_eq!(divided_batch(512, &[8 * 10_007]), Some(512));
        assert_eq!(divided_batch(1, &[u64::MAX, 0]).map(|n| n <= 2), Some(true));
    }
}
