//! `network topologies`: kinds, their keys, and part counts of published systems.

use railwright_network::topology::published::Row;
use railwright_network::topology::{DesignSpec, Kind};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::run::{Key, Section as _};
use serde::Serialize;

/// All kinds of topologies.
pub struct Kinds;

/// Keys of one kind.
pub struct OneKind(pub Kind);

/// Published systems, counted again.
pub struct Published(pub Vec<Row>);

/// Keys that a kind takes.
fn keys(kind: Kind) -> impl Iterator<Item = &'static Key> {
    DesignSpec::KEYS.iter().filter(move |key| key.name != "kind" && kind.takes(key.name))
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopologiesFields {
    topologies: Vec<KindFields>,
    /// Keys of a design file.
    keys: &'static [Key],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct KindFields {
    kind: Kind,
    about: &'static str,
    /// Names of its keys.
    keys: Vec<&'static str>,
}

impl Answer for Kinds {
    const KIND: &'static str = "topologies";

    type Json<'a> = TopologiesFields;

    fn json(&self) -> TopologiesFields {
        let topologies = Kind::ALL.map(|kind| KindFields {
            kind,
            about: kind.about(),
            keys: keys(kind).map(|key| key.name).collect(),
        });
        TopologiesFields { topologies: topologies.into(), keys: DesignSpec::KEYS }
    }

    fn document(&self, _: Terminal) -> Document {
        let columns = vec![
            Column::words("kind"),
            Column::prose("description"),
            Column::prose("specific keys").expendable(1),
        ];
        // Keys common to all kinds with switches are not specific.
        let with_switches = || Kind::ALL.iter().filter(|kind| kind.takes("radix"));
        let common = |name: &str| with_switches().all(|kind| kind.takes(name));
        let rows = Kind::ALL.map(|kind| {
            let own: Vec<&str> = keys(kind).map(|key| key.name).filter(|name| !common(name)).collect();
            vec![Cell::new(kind.name(), Tone::Name), kind.about().into(), own.join(", ").into()]
        });
        let mut document = Document::default();
        document.table(Table { columns, rows: rows.into() });
        let all: Vec<&str> =
            DesignSpec::KEYS.iter().map(|key| key.name).filter(|n| *n != "kind" && common(n)).collect();
        document.paragraph(format!("Also: {}.", all.join(", ")));
        document.paragraph(
            "next: `railwright network topologies KIND` explains each key; each key is also a flag, with dashes",
        );
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneKindFields {
    topology: Kind,
    about: &'static str,
    keys: Vec<&'static Key>,
}

impl Answer for OneKind {
    const KIND: &'static str = "topology_keys";

    type Json<'a> = OneKindFields;

    fn json(&self) -> OneKindFields {
        OneKindFields { topology: self.0, about: self.0.about(), keys: keys(self.0).collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        document.heading_with(self.0.name(), self.0.about());
        let rows = keys(self.0).map(|key| {
            let doc = key.doc.trim().trim_end_matches('.');
            vec![Cell::new(key.name, Tone::Name), doc.into(), key.default.into(), key.kind.expects().into()]
        });
        let columns = vec![
            Column::words("key"),
            Column::prose("meaning"),
            Column::prose("default").expendable(1),
            Column::prose("expects").expendable(2),
        ];
        document.table(Table { columns, rows: rows.collect() });
        document
    }
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFields<'a> {
    rows: &'a [Row],
}

impl Answer for Published {
    const KIND: &'static str = "published_topologies";

    type Json<'a> = PublishedFields<'a>;

    fn json(&self) -> PublishedFields<'_> {
        PublishedFields { rows: &self.0 }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let agreeing = self.0.iter().filter(|row| row.agrees()).count();
        document.heading_with(
            "published systems",
            format!("{agreeing} of {} systems agree in all compared counts", self.0.len()),
        );
        let columns = vec![
            Column::words("system"),
            Column::words("size").expendable(2),
            Column::numbers("devices"),
            Column::numbers("compared").expendable(1),
            Column::words("verdict"),
            Column::prose("remark").expendable(3),
        ];
        let rows = self.0.iter().map(|row| {
            let verdict = if row.compared.is_empty() {
                Cell::new("not compared", Tone::Faint)
            } else if row.agrees() {
                Cell::new("agrees", Tone::Good)
            } else {
                Cell::new("differs", Tone::Bad)
            };
            let wrong = row.compared.iter().filter(|c| c.published != c.here);
            let mut remark: Vec<String> = wrong
                .map(|c| format!("{}: {} published, {} computed", c.column, c.published, c.here))
                .collect();
            if !row.reason.is_empty() {
                remark.push(row.reason.clone());
            }
            vec![
                Cell::new(row.system.as_str(), Tone::Name),
                row.size.as_str().into(),
                Cell::whole(row.devices),
                Cell::number(row.compared.len().to_string(), row.compared.len() as f64),
                verdict,
                remark.join("; ").into(),
            ]
        });
        document.table(Table { columns, rows: rows.collect() });
        // A reason must not disappear with a column; rows of one system share it.
        let mut exceptions: Vec<Cell> = Vec::new();
        for row in self.0.iter().filter(|row| !row.reason.is_empty()) {
            let cell = Cell::from(format!("{}: {}", row.system, row.reason));
            if !exceptions.contains(&cell) {
                exceptions.push(cell);
            }
        }
        if !exceptions.is_empty() {
            document.heading_with("exceptions", "not compared, with the reason");
            document.blocks.push(Block::Bullets(exceptions));
        }
        document
    }
}
