//! Tables of `network failures`: designs side by side, classes of parts, flaps and slow parts, states.
//!
//! Responsible for: columns, rows and units. Does not compute, and does not choose the tables of a report.

use railwright_network::failures::brief::BriefLoss;
use railwright_network::failures::expected::{ClassLoss, Expectation, Response};
use railwright_network::failures::sample::{Draw, Sampled};
use railwright_network::failures::state::{Range, State};
use railwright_report::document::{Cell, Column, Table, Tone};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// A rate or a count, which may be fractional.
fn amount(value: f64) -> Cell {
    let text = if value >= 99.95 {
        human::whole(value.round() as u64)
    } else if value >= 0.995 || value == 0.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    Cell::number(text, value)
}

fn factor(factor: Option<f64>) -> Cell {
    factor.map_or_else(
        || Cell::new("stops", Tone::Bad),
        |factor| Cell::number(format!("+{:.2}%", (factor - 1.0) * 100.0), factor),
    )
}

fn ranges(list: &[Range]) -> String {
    const SHOWN: usize = 6;
    let one = |r: &Range| {
        if r.first == r.last { r.first.to_string() } else { format!("{} to {}", r.first, r.last) }
    };
    let mut text: Vec<String> = list.iter().take(SHOWN).map(one).collect();
    if list.len() > SHOWN {
        text.push(format!("and {} more", human::whole((list.len() - SHOWN) as u64)));
    }
    let count = State::devices(list);
    if count == 0 { "none".to_owned() } else { format!("{}: {}", human::whole(count), text.join(", ")) }
}

/// The draw in words.
pub(crate) fn drawn(draw: &Draw) -> String {
    match draw {
        Draw::Moments => "expected failures".to_owned(),
        Draw::Together(list) => {
            let parts: Vec<String> = list.iter().map(|(part, n)| human::several(*n, part)).collect();
            format!("any {} failed", parts.join(" and "))
        }
    }
}

/// A network without the parts that were named.
pub(crate) fn named(state: &State, slower: Option<f64>) -> Vec<(&'static str, Cell)> {
    let apart = if state.is_connected || !state.stranded.is_empty() {
        Cell::default()
    } else {
        Cell::new("some domains have no common rail or plane", Tone::Bad)
    };
    let cut = Cell::from(ranges(&state.cut_off));
    let stranded = Cell::from(ranges(&state.stranded));
    vec![
        ("disconnected devices", cut),
        ("stranded devices", if state.stranded.is_empty() { stranded } else { stranded.toned(Tone::Bad) }),
        ("connectivity", apart),
        ("bandwidth left, alone", Cell::percent(state.kept_alone)),
        ("bandwidth left, neighbour", Cell::percent(state.kept_neighbour)),
        ("bandwidth left, spread", Cell::percent(state.kept_spread)),
        (
            "scale-up bandwidth left",
            if state.kept_domain < 1.0 { Cell::percent(state.kept_domain) } else { Cell::default() },
        ),
        (
            "step",
            match slower {
                None => Cell::new("cannot finish", Tone::Bad),
                some => factor(some),
            },
        ),
    ]
}

/// States that were drawn at random.
pub(crate) fn sample(sampled: &Sampled) -> Vec<(&'static str, Cell)> {
    let percent = |value: f64| format!("{:.3}%", value * 100.0);
    let error = percent(sampled.stopped_error);
    let stopped = if sampled.stopped <= 0.0 {
        format!("in no sampled state: below {error} with 95% confidence")
    } else if sampled.stopped >= 1.0 {
        format!("in all sampled states: above {} with 95% confidence", percent(1.0 - sampled.stopped_error))
    } else {
        format!("in {} of states, standard error {error}", percent(sampled.stopped))
    };
    let slower = if sampled.mean_slowdown.is_finite() {
        format!(
            "+{} on average, standard error {}; +{} at worst",
            percent(sampled.mean_slowdown - 1.0),
            percent(sampled.mean_slowdown_error),
            percent(sampled.worst_slowdown - 1.0)
        )
    } else {
        "no state can finish the step".to_owned()
    };
    vec![
        ("sampled states", format!("{} (seed {})", human::whole(sampled.samples), sampled.seed).into()),
        ("step", slower.into()),
        ("step cannot finish", stopped.into()),
        ("disconnected devices", format!("{:.2} on average", sampled.mean_cut_off).into()),
        ("no failure", format!("in {} of states", percent(sampled.whole)).into()),
    ]
}

/// Index of the column of the step.
const STEP: usize = 8;

/// Classes of parts, and one failure of each.
pub(crate) fn classes(expectation: &Expectation) -> Table {
    let mut columns = vec![
        Column::words("part"),
        Column::numbers("count").expendable(5),
        Column::numbers("disconnected").expendable(1),
        Column::numbers("stranded").expendable(3),
        Column::numbers("slowed").expendable(7),
        Column::numbers("left, alone").expendable(6),
        Column::numbers("left, neighbour").expendable(8),
        Column::numbers("left, spread").expendable(2),
        Column::numbers("step"),
        Column::numbers("failures/month"),
        Column::words("action"),
        Column::numbers("GPU-hours per failure").expendable(4),
        Column::numbers("GPU-hours/month"),
    ];
    let all = &expectation.classes;
    let has_domains = all.iter().any(|loss| loss.class.kept_domain < 1.0);
    if has_domains {
        columns.insert(STEP, Column::numbers("left, scale-up").expendable(3));
    }
    let rows = all.iter().map(|loss| {
        let class = &loss.class;
        let stranded = Cell::whole(class.stranded);
        // Parts of one name have different places: over more devices or fewer.
        let is_one_of_several = all.iter().filter(|other| other.class.part == class.part).count() > 1;
        let part = if is_one_of_several {
            format!("{} over {}", class.part, human::whole(class.slowed.max(class.cut_off)))
        } else {
            class.part.to_owned()
        };
        let mut row = vec![
            part.into(),
            Cell::whole(class.count),
            Cell::whole(class.cut_off),
            if class.stranded > 0 { stranded.toned(Tone::Bad) } else { stranded },
            Cell::whole(class.slowed),
            Cell::percent(class.kept_alone),
            Cell::percent(class.kept_neighbour),
            Cell::percent(class.kept_spread),
            factor(loss.slowdown),
            amount(loss.failures_per_month),
            then(loss).into(),
            amount(loss.lost_hours),
            amount(loss.lost_hours_per_month),
        ];
        if has_domains {
            row.insert(STEP, Cell::percent(class.kept_domain));
        }
        row
    });
    Table { columns, rows: rows.collect() }
}

/// Flaps and slow parts in a month.
pub(crate) fn brief(list: &[BriefLoss]) -> Table {
    let columns = vec![
        Column::words("part"),
        Column::words("event"),
        Column::numbers("events/month"),
        Column::numbers("stall"),
        Column::numbers("restarts/month"),
        Column::numbers("step"),
        Column::numbers("mean number").expendable(1),
        Column::numbers("GPU-hours/month"),
    ];
    let flaps = list.iter().filter_map(|brief| {
        let loss = brief.flaps.as_ref()?;
        let stall = human::seconds(Seconds::new(loss.stall_seconds));
        Some(vec![
            brief.part.into(),
            "flap".into(),
            amount(loss.per_month),
            Cell::number(stall, loss.stall_seconds),
            amount(loss.per_month * loss.stopping),
            Cell::default(),
            Cell::default(),
            amount(loss.lost_hours_per_month),
        ])
    });
    let slow = list.iter().filter_map(|brief| {
        let loss = brief.slow.as_ref()?;
        Some(vec![
            brief.part.into(),
            "slow".into(),
            amount(loss.per_month),
            Cell::default(),
            Cell::default(),
            factor(loss.slowdown),
            amount(loss.present),
            amount(loss.lost_hours_per_month),
        ])
    });
    Table { columns, rows: flaps.chain(slow).collect() }
}

fn then(loss: &ClassLoss) -> String {
    match loss.response {
        Response::GoWithout => format!("drop {}", human::whole(loss.class.touched)),
        Response::RunOn if loss.interrupts => "restart, continue".to_owned(),
        Response::RunOn => "continue".to_owned(),
        Response::Swap => "restart on a spare".to_owned(),
        Response::Wait => "wait".to_owned(),
    }
}

/// Failures of one design in a month.
pub(crate) fn expected(e: &Expectation) -> Vec<(&'static str, Cell)> {
    vec![
        (
            "failures",
            format!(
                "{} per month, of which {} stop the job",
                amount(e.failures_per_month).text,
                amount(e.interruptions_per_month).text
            )
            .into(),
        ),
        (
            "loss",
            format!(
                "{} GPU-hours per month, {} of all; equivalent to {} lost GPUs",
                amount(e.lost_hours_per_month).text,
                human::percent(e.lost_share),
                amount(e.mean_lost_devices).text
            )
            .into(),
        ),
        (
            "step",
            format!("+{:.3}% on average, without interruptions", (e.mean_slowdown - 1.0) * 100.0).into(),
        ),
    ]
}

/// Designs side by side, per month.
pub(crate) fn designs<'a>(list: impl Iterator<Item = &'a Expectation>) -> Table {
    let columns = vec![
        Column::words("design"),
        Column::numbers("failures"),
        Column::numbers("job stops"),
        Column::numbers("GPU-hours lost"),
        Column::numbers("share of all"),
        Column::numbers("mean step").expendable(1),
        Column::words("largest cause").expendable(2),
    ];
    let rows = list.map(|e| {
        let most = e.classes.iter().max_by(|a, b| a.lost_hours_per_month.total_cmp(&b.lost_hours_per_month));
        vec![
            Cell::new(e.design.as_str(), Tone::Name),
            amount(e.failures_per_month),
            amount(e.interruptions_per_month),
            amount(e.lost_hours_per_month),
            Cell::number(format!("{:.3}%", e.lost_share * 100.0), e.lost_share),
            Cell::number(format!("+{:.3}%", (e.mean_slowdown - 1.0) * 100.0), e.mean_slowdown),
            most.map_or("", |loss| loss.class.part).into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}
