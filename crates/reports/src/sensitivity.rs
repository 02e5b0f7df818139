//! `sensitivity`: effect of hardware and software parameters on the step time.

use railwright_report::document::{Bar, Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_tuner::sensitivity::{Figure, Kind, Sensitivity};
use serde::Serialize;

/// Parameters whose swing is below this share of the step are summed up in a line.
const SMALL: f64 = 5e-5;

/// Savings below this share of the step have no bar.
const SHORTEST: f64 = 5e-4;

/// Hardware properties by their effect.
pub struct Ranking {
    /// Elasticities of the step time.
    pub answer: Sensitivity,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensitivityFields<'a> {
    #[serde(flatten)]
    answer: &'a Sensitivity,
    /// Settings that were not specified.
    chosen: &'a [String],
}

impl Answer for Ranking {
    const KIND: &'static str = "sensitivity";

    type Json<'a> = SensitivityFields<'a>;

    fn json(&self) -> SensitivityFields<'_> {
        SensitivityFields { answer: &self.answer, chosen: &self.chosen }
    }

    fn document(&self, _: Terminal) -> Document {
        let Sensitivity { model, devices_by_kind, plan, step_time, figures, .. } = &self.answer;
        let mut document = Document::default();
        if let Some((figure, gain)) = self.gains().first() {
            document.verdict(format!(
                "{}largest gain: {}; {} better saves {} of the step",
                self.answer.capacity.fit.caveat(),
                figure.title,
                human::percent(self.answer.swing),
                human::percent(*gain)
            ));
        }
        document.spans(vec![Cell::new(
            format!("{model} on {devices_by_kind}, {plan}: {}", human::seconds(*step_time)),
            Tone::Strong,
        )]);
        document.chosen(&self.chosen);
        let swing = human::percent(self.answer.swing);
        document.heading_with(
            "sensitivity of the step time",
            format!(
                "change of step time if the parameter changes by -{swing} or +{swing}, and without its cost; elasticity: by central differences of {}",
                human::percent(self.answer.difference)
            ),
        );
        document.table(table(figures, &swing));
        let still: Vec<&str> = figures.iter().filter(|f| is_still(f)).map(|f| f.title.as_str()).collect();
        if !still.is_empty() {
            document.paragraph(Cell::new(format!("without effect: {}", still.join(", ")), Tone::Faint));
        }
        document.details(|details| self.tornado(details));
        document.heading("notes");
        document.blocks.push(Block::Bullets(self.remarks()));
        document.next_step(
            "`railwright search` finds the best layout for other hardware; `sensitivity` keeps the layout",
        );
        document
    }

    /// All parameters, including those without effect.
    fn csv(&self) -> String {
        let header = ["id", "title", "kind", "now", "elasticity", "less", "more", "best", "through"];
        let rows = self.answer.figures.iter().map(|figure| {
            vec![
                figure.id.clone(),
                figure.title.clone(),
                kind(figure.kind).to_owned(),
                figure.now.clone(),
                figure.elasticity.to_string(),
                figure.less.to_string(),
                figure.more.to_string(),
                figure.best.to_string(),
                figure.through.clone().unwrap_or_default(),
            ]
        });
        railwright_report::csv_lines(&header.map(str::to_owned), rows.collect())
    }
}

fn is_still(figure: &Figure) -> bool {
    figure.less.abs().max(figure.more.abs()).max(figure.best.abs()) < SMALL
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Hardware => "hardware",
        Kind::Host => "host",
        Kind::Software => "software",
    }
}

fn table(figures: &[Figure], swing: &str) -> Table {
    let columns = vec![
        Column::words("parameter"),
        Column::words("kind").expendable(3),
        Column::numbers("value").expendable(2),
        Column::numbers("elasticity"),
        Column::numbers(&format!("-{swing}")),
        Column::numbers(&format!("+{swing}")),
        Column::numbers("without cost"),
        Column::words("most affected part").expendable(1),
    ];
    let share = |x: f64| {
        let text = if x > 0.0 { format!("+{:.2}%", x * 100.0) } else { format!("{:.2}%", x * 100.0) };
        let text = if text.trim_start_matches(['+', '-']) == "0.00%" { "0".to_owned() } else { text };
        Cell::number(text, x).toned(if x < 0.0 { Tone::Good } else { Tone::Plain })
    };
    let rows = figures.iter().filter(|figure| !is_still(figure)).map(|figure| {
        vec![
            figure.title.as_str().into(),
            kind(figure.kind).into(),
            figure.now.as_str().into(),
            Cell::number(format!("{:+.3}", figure.elasticity), figure.elasticity),
            share(figure.less),
            share(figure.more),
            share(figure.best),
            figure.through.as_deref().unwrap_or_default().into(),
        ]
    });
    Table { rows: rows.collect(), columns }
}

impl Ranking {
    /// Share of the step saved by an improvement of each parameter, largest first.
    fn gains(&self) -> Vec<(&Figure, f64)> {
        let mut gains: Vec<(&Figure, f64)> = self
            .answer
            .figures
            .iter()
            .map(|figure| (figure, -if figure.greater_is_faster { figure.more } else { figure.less }))
            .filter(|(_, gain)| *gain >= SHORTEST)
            .collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1));
        gains
    }

    /// The savings as bars.
    fn tornado(&self, document: &mut Document) {
        let gains = self.gains();
        if gains.is_empty() {
            return;
        }
        document.heading_with(
            "improvement ranking",
            format!(
                "reduction of the step time if a parameter improves by {}",
                human::percent(self.answer.swing)
            ),
        );
        let bars = gains.into_iter().map(|(figure, gain)| Bar {
            depth: 1,
            label: format!("{} ({})", figure.title, kind(figure.kind)),
            value: String::new(),
            share: gain,
            tone: Tone::Plain,
        });
        document.blocks.push(Block::Bars(bars.collect()));
    }

    fn remarks(&self) -> Vec<Cell> {
        let Sensitivity { capacity, .. } = &self.answer;
        let memory = if capacity.least <= capacity.device {
            format!(
                "memory: {} of {}; the capacity has no effect down to {}, the use after the allocator releases unused memory (50% likely to fit)",
                human::bytes(capacity.peak),
                human::bytes(capacity.device),
                human::bytes(capacity.least)
            )
        } else {
            format!(
                "memory: {} of {}, which {}; a device with {} is 50% likely to suffice, and more memory has no effect on the step time",
                human::bytes(capacity.peak),
                human::bytes(capacity.device),
                if capacity.fit.is_possible() { "may not fit" } else { "does not fit" },
                human::bytes(capacity.least)
            )
        };
        vec![
            memory.into(),
            "where the step time has a kink (power limit, balanced experts, change of the critical stage), the elasticity is the mean of both directions"
                .into(),
        ]
    }
}
