//! `models`: entries of the catalogue, and the structure of a model.

pub mod show;

use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::model::{CatalogueEntry, Mixer, Model, ParameterCount};
use serde::Serialize;

/// Models of the catalogue with their parameters.
pub struct Models(pub Vec<(&'static CatalogueEntry, Model, ParameterCount)>);

/// Query and key-value heads of the first layer that has heads.
fn heads(model: &Model) -> Option<(u64, u64)> {
    model.layer_kinds.iter().find_map(|layer| match &layer.mixer {
        Mixer::Attention(a) => Some((a.heads, a.kv_heads)),
        Mixer::Latent(a) => Some((a.heads, a.heads)),
        _ => None,
    })
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelsField<'a> {
    models: Vec<ModelField<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ModelField<'a> {
    name: &'static str,
    aliases: &'a [String],
    family: &'a str,
    parameters: &'a ParameterCount,
    layers: u64,
    hidden_size: u64,
    vocabulary: u64,
    max_positions: u64,
    /// Origin of the dimensions.
    source: &'a str,
    notes: &'a str,
}

impl Answer for Models {
    const KIND: &'static str = "models";

    type Json<'a> = ModelsField<'a>;

    fn json(&self) -> ModelsField<'_> {
        let models = self.0.iter().map(|(entry, model, count)| ModelField {
            name: entry.name,
            aliases: &entry.aliases,
            family: &entry.family,
            parameters: count,
            layers: model.num_layers(),
            hidden_size: model.hidden_size,
            vocabulary: model.vocabulary,
            max_positions: model.max_positions,
            source: &entry.source,
            notes: &entry.notes,
        });
        ModelsField { models: models.collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let columns = vec![
            Column::words("model"),
            Column::numbers("parameters"),
            Column::numbers("active").expendable(1),
            Column::numbers("layers").expendable(2),
            Column::numbers("hidden").expendable(3),
            Column::numbers("heads").expendable(4),
            Column::numbers("kv heads").expendable(5),
            Column::numbers("vocabulary").expendable(6),
            Column::words("family").expendable(7),
        ];
        let whole = |n: u64| Cell::number(n.to_string(), n as f64);
        let rows = self.0.iter().map(|(entry, model, count)| {
            let (heads, kv_heads) =
                heads(model).map_or_else(Default::default, |(q, kv)| (whole(q), whole(kv)));
            vec![
                Cell::new(entry.name, Tone::Name),
                Cell::number(human::count(count.total as f64), count.total as f64),
                Cell::number(human::count(count.active as f64), count.active as f64),
                whole(model.num_layers()),
                whole(model.hidden_size),
                heads,
                kv_heads,
                whole(model.vocabulary),
                entry.family.as_str().into(),
            ]
        });
        let mut document = Document::default();
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}
