//! Tests of calibrations as values and as files.

use super::*;
use crate::cluster::by_name;
use std::sync::Arc;

fn evidence(samples: u64) -> Evidence {
    Evidence {
        from: "a".into(),
        samples,
        spread: 0.02,
        error_before: 0.3,
        error_after: 0.01,
        uncertainty: 0.02,
    }
}

fn sample() -> Calibration {
    let rate = Rate {
        operators: Operators::Products(DataType::Bf16),
        regime: Regime::Sustained,
        points: vec![(1e9, 0.5), (1e11, 0.9)],
        evidence: evidence(120),
    };
    let law = CollectiveLaw {
        operation: Collective::AllReduce,
        ranks: 8,
        regime: Regime::Burst,
        base_us: 14.0,
        bandwidth_gb: 480.0,
        ramp_ns: 10.0,
        from_bytes: 1024.0,
        to_bytes: 1e9,
        evidence: evidence(20),
    };
    Calibration {
        software: "megatron-core-2024".into(),
        link: "NVLink4".into(),
        rates: vec![rate],
        collectives: vec![law],
        ..Calibration::empty("h100-sxm5-80gb")
    }
}

#[test]
fn a_rate_is_linear_in_the_logarithm_of_work_and_stays_beyond_its_points() {
    let rate = &sample().rates[0];
    assert!((rate.at(1e10) - 0.7).abs() < 1e-12);
    assert_eq!((rate.at(1.0), rate.at(1e15), rate.range()), (0.5, 0.9, (1e9, 1e11)));
    assert_eq!(rate_at(&[], 5.0), 1.0);
}

#[test]
fn what_was_written_is_read_back() {
    let mut before = sample();
    before.host = Some(HostCosts {
        us_per_kernel: 7.0,
        us_per_micro_batch: 0.0,
        ms_per_step: 3.0,
        evidence: evidence(4),
    });
    before.collective_rate = Some(CollectiveRate { rate: 0.8, evidence: evidence(9) });
    before.network = Some(NetworkLaw {
        ring_share: 0.9,
        spread_share: 0.8,
        latency: 1.2,
        from_ranks: 16,
        to_ranks: 64,
        from_domains: 2,
        to_domains: 8,
        from_bytes: 8.0,
        to_bytes: 1e9,
        evidence: evidence(40),
    });
    before.collectives.push(CollectiveLaw { regime: Regime::Sustained, ..before.collectives[0].clone() });
    let text = before.to_toml().expect("it can be written");
    let after = Calibration::parse(&text, "c.toml").expect("it can be read");
    assert_eq!(Calibration { file: "c.toml".into(), ..before.clone() }, after);
    assert!(text.contains("points = [[1000000000.0, 0.5], [100000000000.0, 0.9]]"), "{text}");
    // Sustained laws precede burst laws.
    let law = after.collective(Collective::AllReduce, 8).expect("two laws");
    assert_eq!(law.regime, Regime::Sustained);
    let network = after.network.as_ref().expect("a network");
    assert!(network.covers(2) && network.covers(8) && !network.covers(9));
    // Files without a count of domains apply at any scale, and files without uncertainty are readable.
    let old = text.lines().filter(|line| !line.contains("_domains") && !line.contains("uncertainty"));
    let old = Calibration::parse(&old.collect::<Vec<_>>().join("\n"), "c.toml").expect("an older file");
    assert!(old.network.expect("a network").covers(1000) && old.rates[0].evidence.uncertainty == 0.0);
    // A sustained link model requires the common rate of collectives.
    let alone = Calibration { collective_rate: None, ..after };
    assert!(alone.to_toml().expect_err("no rate").to_string().contains("collective_rate"));
}

#[test]
fn mistakes_are_reported_at_their_place() {
    let good = sample().to_toml().expect("written");
    let bad = |from: &str, to: &str| {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        Calibration::parse(&text, "c.toml").expect_err(to).to_string()
    };
    assert_eq!(
        bad("version = 1", "version = 9"),
        "c.toml `version`: the file has version 9, but this program reads version 1"
    );
    assert!(
        bad("[1000000000.0, 0.5]", "[1000000000.0, -0.5]").starts_with("c.toml `rate.0.points`: work must")
    );
    assert!(
        bad("[1000000000.0, 0.5]", "[1e13, 0.5]").ends_with("points must be in increasing order of work")
    );
    assert!(bad("ranks = 8", "ranks = 1").contains("a link model requires at least 2 ranks, times from 0 to 1 s and a bandwidth above 0 and up to 100,000 GB/s"));
    assert!(bad("bandwidth_gb = 480.0", "bandwith_gb = 480.0").starts_with("c.toml:"));
}

#[test]
fn another_accelerators_calibration_is_refused_and_another_generations_is_doubted() {
    let calibration = Arc::new(Calibration { file: "c.toml".into(), ..sample() });
    let h100 = by_name("dgx-h100", 8).expect("known");
    let cluster = calibration.clone().applied(h100.clone()).expect("it fits");
    assert!(cluster.calibration.is_some());
    let other = calibration.clone().applied(by_name("dgx-b200", 8).expect("known")).expect_err("another");
    assert!(other.to_string().contains("is for `h100-sxm5-80gb`"), "{other}");
    let ids = |software: &str| -> Vec<String> {
        calibration.warnings(&h100, software).into_iter().map(|w| w.id).collect()
    };
    assert_eq!(ids("megatron-core-2024"), Vec::<String>::new());
    assert_eq!(ids("torchtitan-2024"), ["calibration-software"]);
    let few = Calibration {
        host: Some(HostCosts {
            us_per_kernel: 1.0,
            us_per_micro_batch: 0.0,
            ms_per_step: 0.0,
            evidence: evidence(2),
        }),
        ..(*calibration).clone()
    };
    assert_eq!(few.warnings(&h100, "megatron-core-2024")[0].id, "calibration-few-samples");
}

/// A matrix with a correlation above one is not a covariance, even with positive variances; rounding errors
/// of a covariance are accepted.
#[test]
fn covariances_that_are_none_are_refused() {
    let steps = |off: f64, other: f64| {
        let mut covariance = [[0.0; PARTS]; PARTS];
        for (at, row) in covariance.iter_mut().enumerate() {
            row[at] = 0.04;
        }
        (covariance[0][1], covariance[1][0]) = (off, other);
        let factors = [1.0; PARTS];
        let (model, format) = (String::new(), DataType::Bf16);
        let own = OwnRuns { model, parameters: 1, format, factors, covariance };
        let evidence = evidence(1);
        StepTimes {
            factors,
            covariance,
            residual: 0.05,
            freedom: IgnoredAny,
            layouts: 1,
            evidence,
            own: vec![own],
            measured: Vec::new(),
        }
    };
    assert!(steps(0.03, 0.03).is_sound() && steps(0.040_001, 0.040_001).is_sound());
    assert!(!steps(0.05, 0.05).is_sound() && !steps(0.03, -0.03).is_sound());
    let file = Calibration { steps: Some(steps(0.05, 0.05)), ..sample() };
    let refused = file.to_toml().expect_err("no covariance").to_string();
    assert!(refused.contains("positive semi-definite"), "{refused}");
    // The corrections of a single model are checked too.
    let mut own = steps(0.0, 0.0);
    own.own[0].covariance[2][2] = -0.01;
    assert!(!own.is_sound());
}

/// Files of earlier versions have degrees of freedom.
#[test]
fn degrees_of_freedom_are_read_and_forgotten() {
    let (factors, covariance) = ([1.1; PARTS], [[0.0; PARTS]; PARTS]);
    let evidence = evidence(1);
    let steps = StepTimes {
        factors,
        covariance,
        residual: 0.05,
        freedom: IgnoredAny,
        layouts: 1,
        evidence,
        own: Vec::new(),
        measured: Vec::new(),
    };
    let text = Calibration { steps: Some(steps), ..sample() }.to_toml().expect("sound");
    assert!(!text.contains("freedom"), "{text}");
    let old = text.replace("residual = 0.05", "residual = 0.05\nfreedom = 3.5");
    assert_ne!(old, text);
    let read = |text: &str| Calibration::parse(text, "own.toml").expect("reads").steps;
    assert_eq!(read(&old), read(&text));
}
