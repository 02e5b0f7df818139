//! Peak rate for the utilization of a job.
//!
//! Responsible for: the format of its GEMMs, by the names of their kernels, and the accelerator's rate in it.
//! If the chip lacks the format, another one is used: fp16 for bf16.

use super::Options;
use super::report::device;
use crate::samples::format;
use crate::waterfall::{Peak, RankWaterfall};
use crate::{Job, Names};
use railwright_spec::cluster::{Accelerator, accelerator_by_name};
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, Warning};
use railwright_step::OperatorFamily;
use std::collections::BTreeMap;

/// Format with most of the GEMM time, if kernel names contain it.
fn format_of(ranks: &[RankWaterfall], names: &[&Names]) -> Option<DataType> {
    let mut times: BTreeMap<DataType, i64> = BTreeMap::new();
    for (rank, names) in ranks.iter().zip(names) {
        for kernel in rank.kernels.iter().filter(|k| k.family == OperatorFamily::MatrixProduct) {
            if let Some(data_type) = format(names.get(kernel.name)) {
                *times.entry(data_type).or_default() += kernel.duration;
            }
        }
    }
    times.into_iter().max_by_key(|(_, time)| *time).map(|(data_type, _)| data_type)
}

/// The first supported format of the wanted one and its equivalents.
fn supported(accelerator: &Accelerator, wanted: DataType) -> Option<DataType> {
    [wanted, DataType::Bf16, DataType::Fp16, DataType::Tf32, DataType::Fp32]
        .into_iter()
        .find(|data_type| accelerator.peak.contains_key(data_type))
}

/// Device name in a trace.
pub(super) fn recorded(job: &Job) -> Option<&str> {
    job.members.iter().find_map(|member| device(&member.trace.identity))
}

/// The accelerator set by the user, otherwise that of the traces; `None` if it is not in the catalogue.
pub(super) fn accelerator(job: &Job, options: &Options) -> Result<Option<Accelerator>, Problem> {
    match &options.accelerator {
        Some(name) => accelerator_by_name(name).map(Some).map_err(|problem| problem.in_file("--accelerator")),
        None => Ok(recorded(job).and_then(|device| accelerator_by_name(device).ok())),
    }
}

/// Peak of the accelerator, from the user or from the traces. It is required only if the model's operations
/// are known.
pub(super) fn peak(
    job: &Job,
    options: &Options,
    ranks: &[RankWaterfall],
    names: &[&Names],
    warnings: &mut Vec<Warning>,
) -> Result<Option<Peak>, Problem> {
    let recorded = recorded(job);
    let accelerator = accelerator(job, options)?;
    let Some(accelerator) = accelerator else {
        if options.flop_per_step.is_some() {
            let message = match recorded {
                Some(device) => {
                    format!("`{device}` is not in the catalogue: no peak FLOP/s and no MFU")
                }
                None => "the traces do not name the accelerator: no peak FLOP/s and no MFU".to_owned(),
            };
            warnings.push(Warning::new("trace-unknown-mfu", message));
        }
        return Ok(None);
    };
    let by_kernels = || {
        let wanted = format_of(ranks, names).unwrap_or(DataType::Bf16);
        supported(&accelerator, wanted).unwrap_or(wanted)
    };
    let data_type = options.data_type.unwrap_or_else(by_kernels);
    match accelerator.peak_rate(data_type) {
        Some(rate) => Ok(Some(Peak { accelerator: accelerator.name, data_type, rate })),
        None if options.data_type.is_some() && options.accelerator.is_some() => {
            let message = format!("{} has no peak in {data_type}", accelerator.name);
            Err(Problem::new(message).in_file("--precision").hint("use a format that it supports"))
        }
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Device;
    use crate::view::Role;
    use crate::waterfall::KernelUse;
    use crate::{RankTrace, job::Member};
    use railwright_step::Phase;

    fn peak_of(device: &str, kernels: &[(&str, i64)]) -> Peak {
        let mut names = Names::default();
        let kernels = kernels.iter().map(|&(name, duration)| KernelUse {
            name: names.intern(name),
            phase: Phase::Forward,
            family: OperatorFamily::MatrixProduct,
            role: Role::Compute,
            count: 1,
            duration,
            longest: duration,
        });
        let ranks = [RankWaterfall { kernels: kernels.collect(), ..RankWaterfall::default() }];
        let mut trace = RankTrace::default();
        trace.identity.devices = vec![Device { name: device.to_owned(), ..Device::default() }];
        let job = Job {
            members: vec![Member { rank: 0, trace }],
            world_size: 1,
            world_size_known: true,
            ..Job::default()
        };
        peak(&job, &Options::default(), &ranks, &[&names], &mut Vec::new())
            .expect("an answer")
            .expect("a peak")
    }

    #[test]
    fn the_kernels_and_the_chip_decide_on_the_format() {
        let of = |device: &str, kernels: &[(&str, i64)]| {
            let peak = peak_of(device, kernels);
            (peak.data_type, (peak.rate.get() / 1e12).round())
        };
        // NVIDIA's V100 datasheet: 125 TFLOP/s in tensor cores (fp16), 15.7 in fp32; there is no bf16.
        let v100 = "Tesla V100-SXM2-32GB";
        assert_eq!(of(v100, &[("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", 9)]), (DataType::Fp16, 125.0));
        assert_eq!(of(v100, &[("volta_sgemm_128x32_nn", 9)]), (DataType::Fp32, 16.0));
        assert_eq!(of(v100, &[("gemm", 9)]), (DataType::Fp16, 125.0));
        let h100 = "NVIDIA H100 80GB HBM3";
        assert_eq!(of(h100, &[]).0, DataType::Bf16);
        let mixed = [
            ("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", 10),
            ("nvjet_qqtst_192x192_128x4_2x1_v_bz_coopB_TNN", 3),
        ];
        assert_eq!(of(h100, &mixed).0, DataType::Bf16);
        assert_eq!(of(h100, &mixed[1..]).0, DataType::Fp8);
    }
}
