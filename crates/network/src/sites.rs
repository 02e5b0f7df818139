//! Training across sites: bytes between them, and the share of time that remains for compute.
//!
//! Responsible for: data parallelism over sites with a synchronization of every step (hierarchical data
//! parallelism), and with several local steps between synchronizations, in fragments and with overlap.
//! Excludes the step within a site, which is an input, and the loss: more local steps change the
//! optimization.
//!
//! Sources: A. Douillard et al., DiLoCo (arXiv 2311.08105) and Streaming DiLoCo (arXiv 2501.18512) for local
//! steps, fragments, overlap and narrow outer gradients; Z. Charles et al. (arXiv 2503.09799), appendix A,
//! for the time of a synchronization.

use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, BytesPerSecond, Seconds};
use serde::Serialize;

/// Light in glass with a group index of 1.468 (ITU-T G.652 fibre at 1,550 nm): `1.468 / 299,792.458 km/s`, in
/// seconds per kilometre.
pub const SECONDS_PER_KILOMETRE: f64 = 1.468 / 299_792.458;

/// Shares of time for compute whose bandwidth is reported.
const UTILIZATIONS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// A job over several sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// Trained parameters.
    pub parameters: f64,
    /// Sites, each with a whole replica of the states or more.
    pub sites: u64,
    /// Bandwidth of a site to the others, one direction.
    pub bandwidth: BytesPerSecond,
    /// Kilometres of fibre between neighbouring sites of the ring.
    #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "km")))]
    pub distance: f64,
    /// Time of a step within a site.
    pub step: Seconds,
    /// Bits per gradient element, if every step is synchronized.
    pub bits: f64,
    /// Bits of a value of the outer gradient, after local steps.
    pub outer_bits: f64,
    /// Number of model fragments, synchronized one after another.
    pub fragments: u64,
    /// Local steps during which the synchronization of a fragment may continue.
    pub overlap: f64,
}

/// Bandwidth for a share of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needed {
    /// Share of time for compute (0 to 1).
    pub utilization: f64,
    /// Bandwidth of a site; `None` if the distance alone takes longer.
    pub bandwidth: Option<BytesPerSecond>,
}

/// A number of local steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Steps from one synchronization of a parameter to the next; 1 is data parallelism.
    pub local_steps: u64,
    /// Fragments.
    pub fragments: u64,
    /// Local steps during which a synchronization continues.
    pub overlap: f64,
    /// Bytes that each site sends in one synchronization of the whole model, and receives.
    pub bytes: Bytes,
    /// Time of one fragment's synchronization.
    pub transfer: Seconds,
    /// Time without compute per synchronization of the whole model.
    pub exposed: Seconds,
    /// Share of time for compute (0 to 1).
    pub utilization: f64,
    /// Mean bandwidth that a site uses.
    pub mean: BytesPerSecond,
    /// Bandwidths for shares of time.
    pub needed: Vec<Needed>,
}

/// Rows of several numbers of local steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The job.
    pub question: Question,
    /// One for each number of local steps.
    pub rows: Vec<Row>,
}

/// One row. Notation: `M` sites, `P` parameters of `b` bits, `F` fragments, `H` local steps of `t` seconds,
/// overlap of `o` steps, bandwidth `W` of a site, `l` seconds of light between neighbours.
///
/// * bytes of a site: `V = 2 (M - 1) / M P b / 8`, a ring all-reduce over sites; each site sends every byte
///   once, for any number of devices;
/// * time of a fragment: `T = V / (F W) + 2 (M - 1) l`, in seconds;
/// * share of time for compute: `H t / (H t + F max(0, T - o t))`;
/// * bandwidth for a share `u`: `V / F / (o t + H t (1 / u - 1) / F - 2 (M - 1) l)`.
///
/// Without local steps (`H = 1`) there is one fragment and no overlap: the update needs the sum of all
/// gradients. A reduction that overlaps with the backward pass hides at most two thirds of the step.
fn row(question: &Question, local_steps: u64) -> Result<Row, Problem> {
    let Question { parameters, sites, bandwidth, distance, step, .. } = question;
    let is_local = local_steps > 1;
    let (bits, fragments, overlap) = if is_local {
        (question.outer_bits, question.fragments, question.overlap)
    } else {
        (question.bits, 1, 0.0)
    };
    let (h, f, m, t) = (local_steps as f64, fragments as f64, *sites as f64, step.get());
    if overlap > h / f {
        return Err(Problem::new(format!(
            "an overlap of {overlap} steps is longer than the {} steps between two of {fragments} fragments",
            h / f
        ))
        .hint("use fewer fragments, a shorter overlap or more local steps"));
    }
    let bytes = 2.0 * (m - 1.0) / m * parameters * bits / 8.0;
    let light = 2.0 * (m - 1.0) * distance * SECONDS_PER_KILOMETRE;
    let transfer = bytes / f / bandwidth.get() + light;
    let exposed = f * (transfer - overlap * t).max(0.0);
    let period = h * t + exposed;
    let needed = UTILIZATIONS.map(|utilization| {
        let room = overlap * t + h * t * (1.0 / utilization - 1.0) / f - light;
        Needed { utilization, bandwidth: (room > 0.0).then(|| BytesPerSecond::new(bytes / f / room)) }
    });
    Ok(Row {
        local_steps,
        fragments,
        overlap,
        bytes: Bytes::new(bytes),
        transfer: Seconds::new(transfer),
        exposed: Seconds::new(exposed),
        utilization: h * t / period,
        mean: BytesPerSecond::new(bytes / period),
        needed: needed.to_vec(),
    })
}

/// Answers for several numbers of local steps.
pub fn sites(question: &Question, local_steps: &[u64]) -> Result<Answer, Problem> {
    let within = |what: &str, value: f64, least: f64, most: f64| {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(Problem::new(format!("{value} is not a valid {what}")).hint(format!("use {least} to {most:e}")))
    };
    within("number of parameters", question.parameters, 1.0, 1e15)?;
    within("number of sites", question.sites as f64, 2.0, 1e4)?;
    within("bandwidth of a site in bytes per second", question.bandwidth.get(), 1.0, 1e18)?;
    within("distance in kilometres", question.distance, 0.0, 1e5)?;
    within("step time in seconds", question.step.get(), 1e-9, 1e7)?;
    within("number of bits of a gradient", question.bits, 1.0, 64.0)?;
    within("number of bits of an outer gradient", question.outer_bits, 1.0, 64.0)?;
    within("number of fragments", question.fragments as f64, 1.0, 1e5)?;
    within("overlap in steps", question.overlap, 0.0, 1e6)?;
    for &steps in local_steps {
        within("number of local steps", steps as f64, 1.0, 1e6)?;
    }
    let rows = local_steps.iter().map(|steps| row(question, *steps)).collect::<Result<_, _>>()?;
    Ok(Answer { question: question.clone(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            parameters: 1e9,
            sites: 2,
            bandwidth: BytesPerSecond::from_gbit(1.0),
            distance: 0.0,
            step: Seconds::new(1.0),
            bits: 16.0,
            outer_bits: 16.0,
            fragments: 1,
            overlap: 0.0,
        }
    }

    fn one(question: &Question, steps: u64) -> Row {
        sites(question, &[steps]).expect("valid").rows.remove(0)
    }

    /// arXiv 2412.01152, table 2: 100 local steps in 38 minutes; synchronizations of 103, 382 and 469 s leave
    /// 95.7%, 85.6% and 83.0% of the time for compute. 10.2 billion parameters in int8 over 14 nodes.
    #[test]
    fn published_shares_of_compute_of_a_run_over_continents() {
        let published = Question {
            parameters: 10.2e9,
            sites: 14,
            step: Seconds::new(38.0 * 60.0 / 100.0),
            outer_bits: 8.0,
            ..question()
        };
        let bytes = one(&published, 100).bytes;
        for (seconds, utilization) in [(103.0, 0.957), (382.0, 0.856), (469.0, 0.830)] {
            let row = one(&Question { bandwidth: bytes / Seconds::new(seconds), ..published.clone() }, 100);
            assert!((row.transfer.get() - seconds).abs() < 1e-6);
            assert!((row.utilization - utilization).abs() < 1e-3, "{row:?}");
        }
    }

    /// arXiv 2501.18512, table 1: 441 TB and 1.10 TB for the same tokens, data parallel in bf16 and 100 local
    /// steps with 4 bits: 400 times.
    #[test]
    fn published_ratio_of_bytes() {
        let streaming = Question { outer_bits: 4.0, fragments: 3, overlap: 1.0, ..question() };
        let (every, rarely) = (one(&streaming, 1), one(&streaming, 100));
        let ratio = every.bytes.get() / (rarely.bytes.get() / 100.0);
        assert!((ratio - 400.0).abs() < 1e-9 && (ratio / (441.0 / 1.10) - 1.0).abs() < 0.005, "{ratio}");
    }

    /// arXiv 2503.09799, appendix A: `2 N / W (1 - 1 / M)` with `N` bytes of the model, plus latency.
    #[test]
    fn a_synchronization_is_a_ring_over_sites() {
        let four = Question { sites: 4, distance: 1000.0, ..question() };
        let row = one(&four, 10);
        let bytes = 2.0 * 0.75 * 2e9;
        assert!((row.bytes.get() - bytes).abs() < 1.0);
        // 1,000 km are 4.9 ms, six times.
        let time = bytes / 0.125e9 + 6.0 * 4.8967e-3;
        assert!((row.transfer.get() - time).abs() < 1e-5, "{:?}", row.transfer);
        assert!((row.utilization - 10.0 / (10.0 + time)).abs() < 1e-6);
        assert!((row.mean.get() * (10.0 + time) / bytes - 1.0).abs() < 1e-6);
    }

    /// The bandwidth for a share of time gives that share; overlap and fragments need less of it.
    #[test]
    fn the_needed_bandwidth_gives_the_utilization() {
        for question in [
            question(),
            Question { fragments: 4, overlap: 2.0, distance: 1000.0, sites: 3, ..question() },
            Question { outer_bits: 4.0, fragments: 10, overlap: 5.0, ..question() },
        ] {
            for steps in [1, 50, 100] {
                for needed in one(&question, steps).needed {
                    let bandwidth = needed.bandwidth.expect("light is fast enough");
                    let again = one(&Question { bandwidth, ..question.clone() }, steps);
                    assert!((again.utilization - needed.utilization).abs() < 1e-9, "{needed:?} {again:?}");
                }
            }
        }
        let plain = one(&question(), 100).needed[3].bandwidth;
        let overlapped = Question { fragments: 4, overlap: 5.0, ..question() };
        assert!(one(&overlapped, 100).needed[3].bandwidth < plain);
        // Half way around the Earth, a step of a millisecond waits for light alone.
        let far = Question { distance: 20_000.0, step: Seconds::new(1e-3), ..question() };
        assert_eq!(one(&far, 1).needed[3].bandwidth, None);
    }

    #[test]
    fn impossible_jobs_are_reported() {
        let refused = |question: Question| sites(&question, &[100]).expect_err("refused").message;
        assert_eq!(refused(Question { sites: 1, ..question() }), "1 is not a valid number of sites");
        let long = Question { fragments: 50, overlap: 5.0, ..question() };
        assert_eq!(
            refused(long),
            "an overlap of 5 steps is longer than the 2 steps between two of 50 fragments"
        );
    }
}
