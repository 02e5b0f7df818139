//! The report of `whatif`: one table that compares, then each change with the parts that it changed.

use crate::stage_memory;
use railwright_answers as answers;
use railwright_calculator::memory::{Fit, SURE_TO_FIT, unless_it_fits};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::Warning;
use railwright_spec::quantity::{Dollars, Seconds};
use railwright_tuner::whatif::{
    ChangeResult, Difference, Interaction, Moved, Outcome, PartChange, Possible, Summary,
};
use std::fmt::Write as _;

/// Printable what-if results.
pub struct WhatIfReport(pub answers::WhatIfReport);

impl Answer for WhatIfReport {
    const KIND: &'static str = "whatif";

    type Json<'a> = &'a answers::WhatIfReport;

    fn json(&self) -> &answers::WhatIfReport {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        document(&self.0)
    }
}

/// Parts whose change is below this share of the step are summed up.
const SMALL: f64 = 0.001;
/// Keys that are listed as moved.
const MOST_MOVED: usize = 12;

fn document(rehearsed: &answers::WhatIfReport) -> Document {
    let answer = &rehearsed.answer;
    let before = &answer.before;
    let mut document = Document::default();
    document.verdict(best(rehearsed));
    document.spans(vec![Cell::new(
        format!("{} on {}, {}", answer.model, before.devices_by_kind, before.plan),
        Tone::Strong,
    )]);
    document.chosen(&rehearsed.chosen);
    document.heading("effect of each change");
    document.table(comparison(rehearsed));
    if answer.has_other_peaks() {
        document.paragraph("MFU is relative to the peak of each row's number format.");
    }
    if let Some(interaction) = &answer.interaction {
        document.paragraph(Cell::new(together(interaction), Tone::Plain));
    }
    if let Some(key) = &answer.rivals {
        document.paragraph(
            format!("Two changes set `{key}` to different values, so they cannot be combined.").as_str(),
        );
    }
    for rehearsal in answer.alone.iter().chain(&answer.together) {
        one(&mut document, rehearsal);
    }
    if !answer.warnings.is_empty() {
        document.heading_with("warnings without changes", "run `railwright explain ID` for details");
        document.blocks.push(Block::Bullets(answer.warnings.iter().map(warning).collect()));
    }
    document.next_step(
        "`railwright search` finds the best layout for the changed run; `whatif` keeps all other settings",
    );
    document
}

/// The change with the largest reduction of the step time among those that fit, else among those that may.
fn best(rehearsed: &answers::WhatIfReport) -> String {
    let answer = &rehearsed.answer;
    let possible: Vec<_> = answer
        .alone
        .iter()
        .chain(&answer.together)
        .filter_map(|rehearsal| Some((rehearsal.name.as_str(), rehearsal.possible()?)))
        .collect();
    let fastest = |fit: Fit| {
        let those = possible.iter().filter(|(_, possible)| possible.after.fit == fit);
        those.map(|(name, possible)| (*name, possible.difference.share)).min_by(|a, b| a.1.total_cmp(&b.1))
    };
    match (fastest(Fit::Fits), fastest(Fit::AtRisk)) {
        (Some((name, share)), _) if share < -answer.tie_band => {
            format!("fastest: {name}, step time {}", signed(share))
        }
        (Some((name, share)), _) if share < -5e-4 => format!(
            "no significant difference: {name} changes the predicted step time by {}, within the model error of {} (68% level)",
            signed(share),
            human::percent(answer.tie_band)
        ),
        (Some(_), _) => "no change shortens the step".to_owned(),
        (None, Some((name, share))) => {
            let share = if share == 0.0 { "unchanged".to_owned() } else { signed(share) };
            format!("no change fits with certainty; {name} is at risk, step time {share}")
        }
        (None, None) if possible.is_empty() => "no change is valid".to_owned(),
        (None, None) => "no change fits".to_owned(),
    }
}

fn comparison(rehearsed: &answers::WhatIfReport) -> Table {
    let columns = vec![
        Column::words("case"),
        Column::numbers("step time"),
        Column::numbers("change"),
        Column::numbers("tokens/s/GPU").expendable(3),
        Column::numbers("MFU").expendable(1),
        Column::numbers("memory"),
        Column::words("fits"),
        Column::numbers("$/M tokens").expendable(2),
    ];
    let mut rows = vec![row(Cell::new("baseline", Tone::Faint), &rehearsed.answer.before, None)];
    let answer = &rehearsed.answer;
    rows.extend(answer.alone.iter().chain(&answer.together).map(|rehearsal| {
        let name = Cell::new(rehearsal.name.as_str(), Tone::Strong);
        if let Some(possible) = rehearsal.possible() {
            row(name, &possible.after, Some(&possible.difference))
        } else {
            let mut cells = vec![name, Cell::new("not valid", Tone::Bad)];
            cells.resize(columns.len(), Cell::default());
            cells
        }
    }));
    Table { columns, rows }
}

fn row(name: Cell, run: &Summary, difference: Option<&Difference>) -> Vec<Cell> {
    vec![
        name,
        Cell::number(human::seconds(run.step_time), run.step_time.get()),
        difference.map_or_else(Cell::default, |difference| {
            Cell::number(signed(difference.share), difference.share).toned(tone(difference.share))
        }),
        Cell::number(human::count(run.tokens_per_second_per_device), run.tokens_per_second_per_device),
        Cell::percent(run.model_flop_utilisation),
        Cell::number(human::bytes(run.memory), run.memory.get()),
        stage_memory::fits(run.probability_of_fitting, SURE_TO_FIT),
        run.dollars_per_million_tokens
            .map_or_else(Cell::default, |price| Cell::number(cents(price), price.get())),
    ]
}

/// A change that saves is good.
fn tone(share: f64) -> Tone {
    if share < -5e-4 {
        Tone::Good
    } else if share > 5e-4 {
        Tone::Doubtful
    } else {
        Tone::Plain
    }
}

fn signed(share: f64) -> String {
    let text = human::percent(share);
    if share == 0.0 {
        "0".to_owned()
    } else if share > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// Prices of a million tokens are small.
fn cents(price: Dollars) -> String {
    format!("{:.4}", price.get())
}

fn together(interaction: &Interaction) -> String {
    format!(
        "Combined speedup: {} (product of the individual speedups: {}). {}{}.",
        factor(interaction.together),
        factor(interaction.product_alone),
        interaction.verdict[..1].to_uppercase(),
        &interaction.verdict[1..]
    )
}

fn factor(x: f64) -> String {
    format!("{x:.3}")
}

fn one(document: &mut Document, rehearsal: &ChangeResult) {
    match &rehearsal.outcome {
        Outcome::Impossible { problems } => {
            document.heading_with(rehearsal.name.as_str(), "not valid");
            let mut bullets = Vec::new();
            for problem in problems {
                bullets.push(Cell::new(problem.to_string(), Tone::Bad));
                if let Some(hint) = &problem.hint {
                    bullets.push(Cell::new(format!("hint: {hint}"), Tone::Plain));
                }
            }
            document.blocks.push(Block::Bullets(bullets));
        }
        Outcome::Possible(possible) => {
            let remarks = remarks(rehearsal, possible);
            // A remark of one change needs its name.
            if !remarks.is_empty() {
                document.heading(rehearsal.name.as_str());
                document.blocks.push(Block::Bullets(remarks));
            }
            document.details(|details| {
                details.heading_with(format!("parts of {}", rehearsal.name), headline(possible));
                parts(details, &possible.difference, possible.after.stages);
                evidence(details, rehearsal);
            });
        }
    }
}

fn headline(possible: &Possible) -> String {
    let Possible { after, difference, .. } = possible;
    let mut words = if difference.step_time.get() == 0.0 {
        "no change of step time".to_owned()
    } else {
        format!("speedup {}", factor(difference.speedup))
    };
    // Writing to a String cannot fail.
    let _ = write!(words, ", {} of {}", human::bytes(after.memory), human::bytes(after.device_memory));
    if after.stages > 1 {
        let _ = write!(words, " on stage {}", after.worst_stage);
    }
    words.push_str(&unless_it_fits(after.probability_of_fitting, SURE_TO_FIT));
    if let (Some(rent), Some(calendar)) = (after.rent, after.calendar) {
        let _ = write!(words, "; whole run: {}, {}", human::seconds(calendar), human::dollars(rent));
    }
    words
}

fn parts(document: &mut Document, difference: &Difference, stages: usize) {
    let mut shown: Vec<&PartChange> =
        difference.parts.iter().filter(|part| part.share.abs() >= SMALL).collect();
    shown.sort_by(|a, b| b.change.get().abs().total_cmp(&a.change.get().abs()));
    if shown.is_empty() {
        return;
    }
    let title = match difference.stage {
        Some(stage) if stages > 1 => format!("largest differences, stage {stage}"),
        _ => "largest differences".to_owned(),
    };
    let columns = vec![
        Column::words(&title),
        Column::numbers("before"),
        Column::numbers("after"),
        Column::numbers("change"),
        Column::numbers("share of step"),
    ];
    let line = |name: Cell, before: Seconds, after: Seconds, share: f64| {
        vec![
            name,
            time(before),
            time(after),
            time(after - before),
            Cell::number(signed(share), share).toned(tone(share)),
        ]
    };
    let rows = shown.iter().map(|part| line(part.title.as_str().into(), part.before, part.after, part.share));
    document.table(Table { columns, rows: rows.collect() });
}

fn time(seconds: Seconds) -> Cell {
    let text = match seconds.get() {
        0.0 => "0".to_owned(),
        x if x < 0.0 => format!("-{}", human::seconds(seconds * -1.0)),
        _ => human::seconds(seconds),
    };
    Cell::number(text, seconds.get())
}

/// Notes and warnings of a change.
fn remarks(rehearsal: &ChangeResult, possible: &Possible) -> Vec<Cell> {
    let mut bullets: Vec<Cell> = rehearsal.notes.iter().map(|note| Cell::from(note.as_str())).collect();
    bullets.extend(possible.warnings.iter().map(warning));
    if !possible.resolved.is_empty() {
        let ids = possible.resolved.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(", ");
        bullets.push(Cell::new(format!("resolved: {ids}"), Tone::Good));
    }
    bullets
}

/// Expected error of a speedup, and the keys that a change sets.
fn evidence(document: &mut Document, rehearsal: &ChangeResult) {
    let mut bullets = Vec::new();
    if let Some(evidence) = &rehearsal.evidence {
        bullets.push(Cell::new(
            format!(
                "expected error of the speedup: median {}, 90th percentile {} ({} held-out pairs of runs that differ only in the {})",
                human::percent(evidence.median),
                human::percent(evidence.ninth),
                human::whole(u64::from(evidence.pairs)),
                evidence.what.replace(" parallel", "-parallel size")
            ),
            Tone::Faint,
        ));
    }
    if !rehearsal.moved.is_empty() {
        let more = rehearsal.moved.len().saturating_sub(MOST_MOVED);
        let mut words: Vec<String> = rehearsal.moved.iter().take(MOST_MOVED).map(moved).collect();
        if more > 0 {
            words.push(format!("and {more} more"));
        }
        bullets.push(Cell::new(words.join("; "), Tone::Faint));
    }
    if !bullets.is_empty() {
        document.blocks.push(Block::Bullets(bullets));
    }
}

fn moved(moved: &Moved) -> String {
    let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!("{} {} -> {}", moved.key, word(&moved.before), word(&moved.after))
}

fn warning(warning: &Warning) -> Cell {
    Cell::new(format!("{} [{}]", warning.message, warning.id), Tone::Doubtful)
}
