//! `network show`: one design in numbers, or as a diagram.

use crate::front::{Ended, Front};
use railwright_answers::{design_in_flags, placed_in_flags, quoted};
use railwright_inputs::networks::design;
use railwright_network::bill::layer_name;
use railwright_network::cabling::{self, Cable, Floor};
use railwright_network::topology::{Design, svg};
use railwright_report::words;
use railwright_reports::network::gigabits;
use railwright_reports::network::show::Shown;
use railwright_spec::human;
use railwright_spec::problem::{Problem, did_you_mean};

/// A design to show.
#[derive(Clone, Debug, Default)]
pub struct Show {
    /// A topology or a design file.
    pub design: Option<String>,
    /// Settings of the design: the flag, the key, the value.
    pub settings: Vec<(String, &'static str, String)>,
    /// True to draw a diagram instead of printing numbers.
    pub is_picture: bool,
    /// A file for every cable.
    pub cables: Option<String>,
    /// The same in the format of NetBox.
    pub netbox: Option<String>,
    /// Keys of the floor plan as `key=n`.
    pub floor: Vec<String>,
}

/// A design.
pub enum ShowAnswer {
    /// In numbers.
    Report(Box<Shown>),
    /// As a diagram in SVG.
    Picture(String),
}

/// Shows a design, and writes its cables.
///
/// # Errors
///
/// A design that does not exist or cannot be built, and paths that cannot be written.
pub fn show(request: &Show, front: &dyn Front) -> Result<ShowAnswer, Ended> {
    let sheet = design(request.design.as_deref(), &request.settings)?;
    let summary = sheet.spec.summary().map_err(|problem| placed_in_flags(&sheet, problem))?;
    write_cables(request, &summary.design, front)?;
    if request.is_picture {
        return Ok(ShowAnswer::Picture(svg::draw(&summary.design)));
    }
    let word = request.design.as_deref().unwrap_or(summary.design.kind.name());
    // Standard input is read once.
    let next = (word != "-").then(|| {
        let flags = request.settings.iter().map(|(flag, _, value)| format!(" {flag} {}", quoted(value)));
        format!("railwright network cost --designs {}{}", quoted(word), flags.collect::<String>())
    });
    Ok(ShowAnswer::Report(Box::new(Shown(summary, next))))
}

/// Writes the requested lists of cables, and orders by length.
fn write_cables(request: &Show, design: &Design, front: &dyn Front) -> Result<(), Ended> {
    let floor = floor(&request.floor)?;
    if request.cables.is_none() && request.netbox.is_none() {
        if request.floor.is_empty() {
            return Ok(());
        }
        let problem = Problem::new("a floor plan has no effect without a list of cables");
        return Err(problem.in_file("--floor").hint("add `--cables FILE`").into());
    }
    let list = cabling::cables(design, &floor).map_err(design_in_flags)?;
    let texts: [fn(&[Cable]) -> String; 2] = [cabling::csv, cabling::netbox];
    for (path, text) in [&request.cables, &request.netbox].into_iter().zip(texts) {
        if let Some(path) = path {
            front.write(path, &text(&list))?;
        }
    }
    for (layer, bandwidth, medium, length, count) in cabling::orders(&list) {
        let length = length
            .map_or_else(|| "longer than any available cable".to_owned(), |length| format!("{length} m"));
        front.note(&format!(
            "{} x {} {}, {length} ({})",
            human::whole(count),
            gigabits(bandwidth),
            words(medium),
            layer_name(layer)
        ));
    }
    Ok(())
}

/// Keys of a floor plan over the usual one.
fn floor(settings: &[String]) -> Result<Floor, Problem> {
    const KEYS: [&str; 6] = ["hosts", "switches", "row", "width", "pitch", "rise"];
    let mut floor = Floor::default();
    for setting in settings {
        let problem = |message: String| Problem::new(message).in_file("--floor");
        let Some((key, value)) = setting.split_once('=') else {
            return Err(problem(format!("`{}` has no value", human::shorten(setting)))
                .hint("write a key and a number, as in `hosts=4`"));
        };
        let number: f64 = value.trim().parse().ok().filter(|n| (0.0..=1e4).contains(n)).ok_or_else(|| {
            problem(format!("`{}` is not a number from 0 to 10,000", human::shorten(value)))
        })?;
        let count = || {
            let is_count = number >= 1.0 && number.fract() == 0.0;
            is_count
                .then_some(number as u64)
                .ok_or_else(|| problem(format!("`{key}` is a count of 1 or more")))
        };
        match key.trim() {
            "hosts" => floor.hosts_per_rack = count()?,
            "switches" => floor.switches_per_rack = count()?,
            "row" => floor.racks_per_row = count()?,
            "width" => floor.rack_width = number,
            "pitch" => floor.row_pitch = number,
            "rise" => floor.rise = number,
            other => {
                return Err(problem(format!("unknown key `{}`", human::shorten(other))).hint(did_you_mean(
                    other,
                    KEYS,
                    &format!("keys are {}", KEYS.join(", ")),
                )));
            }
        }
    }
    Ok(floor)
}
