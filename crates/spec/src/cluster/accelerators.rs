//! The catalogue of accelerators, from `catalog/accelerators.csv`.
//!
//! Responsible for: finding an accelerator by its names in data sheets, drivers and tables. Does not guess:
//! an unknown name is rejected, with the nearest ones.
//!
//! **Memory** is the total reported by the device (column `reported_gib`, with its source). If that is
//! unknown, the label is read as decimal gigabytes, the lower of its two readings, so that memory is never
//! overestimated.

use super::links::pcie_port;
use super::table::{Record, fields};
use super::{Accelerator, HourlyPrice};
use crate::human::shorten;
use crate::precision::DataType;
use crate::problem::{Problem, did_you_mean};
use crate::quantity::{Bytes, BytesPerSecond, Dollars, FlopPerSecond, Watts};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const CATALOGUE: &str = railwright_catalog::ACCELERATORS;

/// The catalogue by name, because tables of runs look up the same few accelerators in every row.
struct Index {
    all: Vec<Accelerator>,
    /// Identifiers, names and aliases. They precede patterns: a driver's name such as `NVIDIA H100` may
    /// match two accelerators.
    names: BTreeMap<String, usize>,
    /// Patterns of driver names.
    patterns: BTreeMap<String, usize>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let index = |columns: &[&str]| {
        let mut found = BTreeMap::new();
        let rows = records(|record| {
            Some(
                columns.iter().flat_map(|column| record.list(column)).map(|n| normal(&n)).collect::<Vec<_>>(),
            )
        });
        for (at, names) in rows.into_iter().enumerate() {
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                found.entry(name).or_insert(at);
            }
        }
        found
    };
    Index {
        all: accelerators(),
        names: index(&["id", "name", "aliases"]),
        patterns: index(&["device_name_patterns"]),
    }
});

/// Every accelerator of the catalogue, in its order.
pub fn accelerators() -> Vec<Accelerator> {
    records(|record| Some(accelerator(record)))
}

/// Identifiers of the catalogue, in its order.
pub fn accelerator_ids() -> Vec<String> {
    records(|record| Some(record.text("id").to_owned()))
}

/// Finds an accelerator by identifier, name, alias (`h100`, `A100-80G-SXM`) or driver name.
///
/// Ignores case, spaces and punctuation. A short name means the most common part in training: `a100` is the
/// SXM4 part of 80 GB, `h100` the SXM5 part of 80 GB, `v100` the SXM2 part of 32 GB.
pub fn accelerator_by_name(name: &str) -> Result<Accelerator, Problem> {
    // An exact identifier, as in all presets, requires parsing of a single line.
    if let Some(line) = CATALOGUE.lines().skip(1).find(|line| line.split(',').next() == Some(name)) {
        let header = fields(CATALOGUE.lines().next().unwrap_or_default());
        return Ok(accelerator(&Record::new(&header, line)));
    }
    let wanted = normal(name);
    // Virtual machines with AMD devices have a virtual function of each, with the same rates.
    let names = [wanted.as_str(), wanted.strip_suffix("vf").unwrap_or(&wanted)];
    let known = [&INDEX.names, &INDEX.patterns];
    let found = names.iter().find_map(|name| known.iter().find_map(|list| list.get(*name)));
    if let Some(at) = found {
        return Ok(INDEX.all[*at].clone());
    }
    if name.parse::<u64>().is_ok() {
        let problem = Problem::new(format!("unknown accelerator `{}`", shorten(name)));
        return Err(problem.hint(format!("`--gpus {}` sets the number of GPUs", shorten(name))));
    }
    let ids = accelerator_ids();
    let aliases = records(|record| Some(record.list("aliases"))).concat();
    let known = ids.iter().chain(&aliases).map(String::as_str);
    Err(Problem::new(format!("unknown accelerator `{}`", shorten(name))).hint(did_you_mean(
        name,
        known,
        "`railwright gpus list` lists the catalogue",
    )))
}

fn records<T>(mut make: impl FnMut(&Record<'_>) -> Option<T>) -> Vec<T> {
    let mut lines = CATALOGUE.lines();
    let header = fields(lines.next().unwrap_or_default());
    lines.filter(|line| !line.is_empty()).filter_map(|line| make(&Record::new(&header, line))).collect()
}

/// A name without case, punctuation and vendor.
fn normal(name: &str) -> String {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(200).collect();
    ["nvidia", "amdinstinct", "amd", "instinct", "google", "intel", "aws", "huawei", "geforce"]
        .iter()
        .fold(plain, |text, vendor| text.strip_prefix(vendor).map_or(text.clone(), str::to_owned))
}

fn accelerator(record: &Record<'_>) -> Accelerator {
    let tera = |column| record.number(column).map(FlopPerSecond::from_tera);
    let architecture = record.text("arch").to_owned();
    let mut peak = BTreeMap::new();
    let columns = [
        (DataType::Fp32, "fp32_tflops"),
        (DataType::Tf32, "tf32_tflops"),
        (DataType::Fp16, "fp16_tflops"),
        (DataType::Bf16, "bf16_tflops"),
        (DataType::Fp8, "fp8_tflops"),
        (DataType::Int8, "int8_tops"),
        (DataType::Nvfp4, "fp4_tflops"),
    ];
    for (data_type, column) in columns {
        if let Some(rate) = tera(column) {
            peak.insert(data_type, rate);
        }
    }
    // Block scales of 32 elements are in hardware since Blackwell and CDNA4; older parts would have to
    // emulate them.
    let has_block_scales =
        ["Blackwell", "Rubin", "CDNA4", "CDNA5"].iter().any(|a| architecture.starts_with(a));
    if let (true, Some(&rate)) = (has_block_scales, peak.get(&DataType::Fp8)) {
        peak.insert(DataType::Mxfp8, rate);
    }
    let memory = match record.number("reported_gib") {
        Some(gib) => Bytes::from_gib(gib),
        None => Bytes::new(record.number("mem_gb_label").unwrap_or(0.0) * 1e9),
    };
    let price = record.number("usd_hr_typ").or(record.number("usd_hr_low")).map(|typical| HourlyPrice {
        low: record.number("usd_hr_low").map(Dollars::new),
        typical: Dollars::new(typical),
        high: record.number("usd_hr_high").map(Dollars::new),
        source: record.text("price_prov").to_owned(),
    });
    Accelerator {
        id: record.text("id").to_owned(),
        name: record.text("name").to_owned(),
        vendor: record.text("vendor").to_owned(),
        architecture,
        year: record.count("year").unwrap_or(0) as u32,
        compute_units: record.count("compute_units").map(|n| n as u32),
        memory,
        memory_bandwidth: BytesPerSecond::from_gb(record.number("mem_bw_gbps").unwrap_or(0.0)),
        peak,
        measured_matmul: tera("mamf_bf16_tflops"),
        scale_up_link: record.text("scaleup_link").to_owned(),
        scale_up_bandwidth: BytesPerSecond::from_gb(record.number("scaleup_uni_gbps").unwrap_or(0.0)),
        scale_up_domain: record.count("scaleup_domain").unwrap_or(1).max(1),
        network_bandwidth: record.number("nic_gbit_per_dev").map(BytesPerSecond::from_gbit),
        host_bandwidth: record.number("host_uni_gbps").map(BytesPerSecond::from_gb),
        port_bandwidth: pcie_port(record.text("host_link")),
        power: record.number("tdp_w").map(Watts::new),
        price,
        device_name_patterns: record.list("device_name_patterns"),
        source: format!("{} ({})", record.text("spec_source"), record.text("spec_prov")),
        notes: record.text("notes").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete_and_found_by_all_its_names() {
        let all = accelerators();
        assert_eq!(all.len(), 101);
        for accelerator in &all {
            assert!(accelerator.memory.gib() > 9.0, "{}", accelerator.id);
            assert!(accelerator.memory_bandwidth.gb() > 200.0, "{}", accelerator.id);
            assert!(!accelerator.peak.is_empty() && accelerator.source.len() > 5, "{}", accelerator.id);
        }
        let pairs = records(|record| {
            let mut names = record.list("aliases");
            names.push(record.text("id").to_owned());
            names.push(record.text("name").to_owned());
            Some((record.text("id").to_owned(), names))
        });
        for (id, names) in pairs {
            for name in names {
                assert_eq!(accelerator_by_name(&name).map(|a| a.id), Ok(id.clone()), "{name}");
            }
        }
    }

    #[test]
    fn no_two_rows_share_a_name() {
        let mut seen = BTreeMap::new();
        for (id, names) in records(|r| Some((r.text("id").to_owned(), r.list("aliases")))) {
            for name in names.iter().chain([&id]) {
                let before = seen.insert(normal(name), id.clone());
                assert!(before.is_none() || before.as_ref() == Some(&id), "{name}: {before:?} and {id}");
            }
        }
    }

    #[test]
    fn names_of_published_measurements_resolve() {
        // Every value of the column `gpu` in the tables of measured runs.
        for (name, id) in [
            ("A100-40G-SXM", "a100-sxm4-40gb"),
            ("A100-80G-SXM", "a100-sxm4-80gb"),
            ("A100-SXM", "a100-sxm4-80gb"),
            ("B200", "b200-sxm-180gb"),
            ("B300", "b300-sxm-288gb"),
            ("GB200", "gb200-nvl72"),
            ("GB300", "gb300-nvl72"),
            ("H100-80G-SXM", "h100-sxm5-80gb"),
            ("H100-96G-SXM", "h100-sxm5-96gb"),
            ("H200-141G-SXM", "h200-sxm-141gb"),
            ("MI300X", "mi300x"),
            ("TPUv4", "tpu-v4"),
            ("TPUv5e", "tpu-v5e"),
            ("TPUv5p", "tpu-v5p"),
            ("TPUv7x", "tpu-v7x"),
            ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
            ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
            ("Tesla V100-SXM2-32GB", "v100-sxm2-32gb"),
            ("AMD Instinct MI300X", "mi300x"),
            ("AMD Instinct MI300X VF", "mi300x"),
            ("h 100", "h100-sxm5-80gb"),
            ("A6000-48G", "rtxa6000-48gb"),
            ("RTX5060Ti-16G", "rtx5060ti-16gb"),
        ] {
            assert_eq!(accelerator_by_name(name).map(|a| a.id), Ok(id.to_owned()), "{name}");
        }
    }

    #[test]
    fn graphics_cards_are_found_as_people_write_them() {
        for (id, names) in [
            ("rtxa6000-48gb", &["A6000", "RTX A6000", "NVIDIA RTX A6000"][..]),
            ("rtx3090-24gb", &["3090", "rtx-3090", "NVIDIA GeForce RTX 3090"]),
            ("rtx5060ti-16gb", &["RTX 5060 Ti", "NVIDIA GeForce RTX 5060 Ti"]),
            ("quadro-rtx8000-48gb", &["RTX 8000", "Quadro RTX 8000"]),
            ("t4-16gb", &["T4", "Tesla T4"]),
            ("rtxpro6000-server", &["NVIDIA RTX PRO 6000 Blackwell Server Edition"]),
        ] {
            for name in names {
                assert_eq!(accelerator_by_name(name).map(|a| a.id), Ok(id.to_owned()), "{name}");
            }
        }
        // Two generations have the name, with different rates.
        assert!(accelerator_by_name("RTX 6000").is_err());
    }

    /// GeForce cards accumulate in fp32 at half the rate of their professional siblings with the same chip.
    #[test]
    fn graphics_cards_have_their_rates_with_accumulation_in_fp32() {
        let peak = |name: &str| {
            let found = accelerator_by_name(name).expect("known");
            found.peak_rate(DataType::Bf16).map(FlopPerSecond::tera)
        };
        // NVIDIA GA102 whitepaper v2, tables of the RTX 3090 and of the RTX A6000.
        assert_eq!((peak("rtx-3090"), peak("a6000")), (Some(71.0), Some(154.8)));
        // 759 "AI TOPS" are fp4 with sparsity: 759 / 16.
        assert_eq!(peak("rtx-5060-ti"), Some(47.4));
        // Turing has no bf16, and P100 no matrix units.
        for (name, rate) in [("t4", 65.0), ("p100", 10.6)] {
            let found = accelerator_by_name(name).expect("known");
            assert!(!found.peak.contains_key(&DataType::Bf16), "{name}");
            assert_eq!(found.peak.get(&DataType::Fp16).map(|peak| peak.tera()), Some(rate), "{name}");
        }
    }

    #[test]
    fn figures_equal_their_data_sheets() {
        // NVIDIA H100 data sheet: 989.4 TFLOP/s bf16 dense, 3.35 TB/s, NVLink 900 GB/s both directions.
        let h100 = accelerator_by_name("h100").expect("known");
        assert_eq!(h100.peak_rate(DataType::Bf16).map(FlopPerSecond::tera), Some(989.4));
        assert_eq!((h100.memory_bandwidth.gb(), h100.scale_up_bandwidth.gb()), (3350.0, 450.0));
        assert_eq!(h100.network_bandwidth.map(BytesPerSecond::gb), Some(50.0));
        // Source: `totalGlobalMem` is 84990623744 in a trace of an A100-SXM4-80GB.
        let a100 = accelerator_by_name("a100").expect("known");
        assert!((a100.memory.get() - 84_990_623_744.0).abs() < 1e6);
        // Volta has no bf16 and Hopper no block scales in hardware.
        assert!(!accelerator_by_name("v100").expect("known").peak.contains_key(&DataType::Bf16));
        assert!(!h100.peak.contains_key(&DataType::Mxfp8));
        assert!(accelerator_by_name("b200").expect("known").peak.contains_key(&DataType::Mxfp8));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let problem = accelerator_by_name("H1000").expect_err("unknown");
        assert_eq!(problem.message, "unknown accelerator `H1000`");
        assert!(problem.hint.as_deref().is_some_and(|h| h.contains("`H100`")), "{:?}", problem.hint);
        assert!(accelerator_by_name("").is_err());
        let number = accelerator_by_name("64").expect_err("a number of GPUs");
        assert!(number.hint.is_some_and(|hint| hint.contains("`--gpus 64`")));
        assert!(accelerator_by_name(&"x".repeat(100_000)).expect_err("long").message.len() < 200);
    }
}
