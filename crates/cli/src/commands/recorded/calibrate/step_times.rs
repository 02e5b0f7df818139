//! `--step LAYOUT=SECONDS`: measured step times, each with its layout.
//!
//! Responsible for: reading them, and applying each to the run of `--run`. Fits nothing.

use crate::args::{self, RunFlags};
use crate::exit::Failure;
use crate::input::measured::Where;
use crate::run;
use railwright_calculator::calibration::Timed;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Run;

/// Longer steps are not steps of training.
const LONGEST: f64 = 86_400.0;

/// A run and its step time.
pub(crate) struct Measured {
    run: Run,
    seconds: Seconds,
}

impl Measured {
    pub(crate) fn timed(&self) -> Timed<'_> {
        Timed {
            model: &self.run.model,
            cluster: &self.run.cluster,
            plan: &self.run.plan,
            seconds: self.seconds,
        }
    }
}

/// Every `--step`, applied to the run. All have its accelerator and its software generation.
pub(crate) fn runs(arguments: &args::calibrate::Calibrate, place: &Where) -> Result<Vec<Measured>, Failure> {
    let mut found = Vec::new();
    for text in &arguments.step {
        let (layout, seconds) = halves(text)?;
        let mut set = arguments.set.clone();
        set.extend(arguments.software.iter().map(|id| format!("plan.software={id}")));
        let typed = args::RunArguments {
            run: arguments.run.clone(),
            cluster: arguments.cluster.clone(),
            set,
            flags: flags(layout)?,
            ..args::RunArguments::default()
        };
        let resolved = run::resolve(&typed)?;
        let run =
            Run { cluster: Cluster { calibration: None, ..resolved.run.cluster.clone() }, ..resolved.run };
        if run.cluster.accelerator.id != place.cluster.accelerator.id || run.plan.software != place.software {
            let problem = Problem::new(format!(
                "`{layout}` has {} and `{}`, but the run of --run has {} and `{}`",
                run.cluster.accelerator.id, run.plan.software, place.cluster.accelerator.id, place.software
            ));
            return Err(problem
                .in_file("--step")
                .hint("calibrate each accelerator and each software generation separately")
                .into());
        }
        found.push(Measured { run, seconds });
    }
    Ok(found)
}

/// The layout and the seconds of `tp=8,pp=4=38.2s`; an empty layout is the unchanged run.
fn halves(text: &str) -> Result<(&str, Seconds), Problem> {
    let wrong = |what: String| {
        Problem::new(what)
            .in_file("--step")
            .hint("pass the layout and the seconds of one step, as in `tp=8,pp=4,mbs=1=38.2s`, or `=38.2s` for the run itself")
    };
    let Some((layout, time)) = text.rsplit_once('=') else {
        return Err(wrong(format!("`{text}` has no step time")));
    };
    let number = time.trim();
    let (number, unit) = match number.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (number.strip_suffix('s').unwrap_or(number), 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value * unit <= LONGEST => {
            Ok((layout.trim(), Seconds::new(value * unit)))
        }
        _ => Err(wrong(format!("`{}` is not a step time in seconds", time.trim()))),
    }
}

/// The settings of `tp=8,pp=4`, or of `--tp 8 --pp 4` as a search prints them: names and values are those of
/// the flags of `estimate`.
fn flags(layout: &str) -> Result<RunFlags, Problem> {
    let is_printed = layout.starts_with('-');
    let is_between = |c: char| if is_printed { c.is_whitespace() } else { c == ',' };
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in layout.split(is_between).map(str::trim).filter(|part| !part.is_empty()) {
        let flag = part.starts_with('-').then(|| part.trim_start_matches('-'));
        match (pairs.last_mut(), flag) {
            // A part without a name continues the value before it, as in `layers-per-stage=3,4,4`.
            (Some((_, value)), None) if !is_printed && part.starts_with(|c: char| c.is_ascii_digit()) => {
                value.push(',');
                value.push_str(part);
            }
            (Some((_, value)), None) if is_printed && value.is_empty() => value.push_str(part),
            (_, flag) => {
                let part = flag.unwrap_or(part);
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                pairs.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    RunFlags::named(&pairs).map_err(|what| {
        let problem = Problem::new(format!("`{layout}` is not a layout: {what}")).in_file("--step");
        problem.hint("use flag names of `railwright estimate`, such as `tp`, `pp`, `mbs`, `gpus`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_layout_and_a_time() {
        let read = |text| halves(text).map(|(layout, time)| (layout, time.get()));
        assert_eq!(read("tp=8,pp=4=38.2s").expect("read"), ("tp=8,pp=4", 38.2));
        assert_eq!(read("=250 ms").expect("read"), ("", 0.25));
        assert_eq!(read("tp=2=3").expect("read"), ("tp=2", 3.0));
        for bad in ["38.2", "tp=8", "tp=8=-3", "tp=8=fast", "tp=8=1e9", "tp=8=nan"] {
            // `tp=8` is the time 8 of the layout `tp`, which is not a layout.
            let is_refused = halves(bad).map_or(true, |(layout, _)| flags(layout).is_err());
            assert!(is_refused, "{bad}");
        }
    }

    #[test]
    fn a_layout_is_made_of_flags() {
        let of = |text: &str| -> Vec<(String, String)> {
            let flags = flags(text).expect("known flags");
            flags.settings.into_iter().map(|(_, path, value)| (path, value)).collect()
        };
        let found = of("tp=8, pp=4,layers-per-stage=3,4,4");
        for (path, value) in [
            ("plan.tensor_parallel", "8"),
            ("plan.pipeline_parallel", "4"),
            ("plan.layers_per_stage", "3,4,4"),
        ] {
            assert!(found.contains(&(path.to_owned(), value.to_owned())), "{found:?}");
        }
        assert_eq!(of("--tp 8 --pp 4 --layers-per-stage 3,4,4"), found);
        assert_eq!(of("-tp 8 -pp=4 --layers-per-stage 3,4,4"), found);
        assert!(flags("-tpp 8").unwrap_err().to_string().contains("'--tpp'"));
        assert!(flags("tpp=8").unwrap_err().to_string().contains("tpp"));
    }
}
