//! A report as a fragment of HTML, for notebooks.
//!
//! Responsible for: headings, tables and lists in the colours of the surrounding page. Without scripts, page
//! styles and external resources.

use crate::document::{Bar, Block, Cell, Column, Document, Tone};
use railwright_spec::human::markup;
use std::fmt::Write as _;

/// Renders the report as cleaned and escaped HTML.
pub fn render(document: &Document) -> String {
    let mut out = String::from("<div>");
    document.all().for_each(|block| write_block(&mut out, block));
    out.push_str("</div>");
    out
}

/// Formats a text by its emphasis. Coloured emphases are bold or faint here, because the surrounding page
/// sets colours.
fn stated(cell: &Cell) -> String {
    let text = markup(&cell.text);
    match cell.tone {
        Tone::Plain | Tone::Good => text,
        Tone::Strong | Tone::Doubtful | Tone::Bad => format!("<b>{text}</b>"),
        Tone::Faint => format!("<span style=\"opacity:.7\">{text}</span>"),
        Tone::Name => format!("<code>{text}</code>"),
    }
}

fn joined(cells: &[Cell]) -> String {
    cells.iter().map(stated).collect()
}

fn cells(out: &mut String, tag: &str, columns: &[Column], texts: impl Iterator<Item = String>) {
    out.push_str("<tr>");
    for (at, text) in texts.enumerate() {
        let side = if columns.get(at).is_some_and(|column| column.right) { "right" } else { "left" };
        // Writing to a String is infallible.
        let _ = write!(out, "<{tag} style=\"text-align:{side}\">{text}</{tag}>");
    }
    out.push_str("</tr>");
}

fn bar(out: &mut String, bar: &Bar) {
    let share = if bar.share.is_finite() { bar.share.clamp(0.0, 1.0) } else { 0.0 };
    let label = stated(&Cell::new(bar.label.clone(), bar.tone));
    let _ = write!(
        out,
        "<tr><td style=\"text-align:left;padding-left:{:.1}em\">{label}</td><td style=\"text-align:right\">{}</td>\
         <td style=\"text-align:right\">{:.1}%</td><td style=\"min-width:10em;text-align:left\">\
         <div style=\"width:{:.1}%;height:.8em;background:currentColor;opacity:.35\"></div></td></tr>",
        0.5 + 1.2 * bar.depth.saturating_sub(1) as f64,
        markup(&bar.value),
        bar.share * 100.0,
        share * 100.0
    );
}

fn write_block(out: &mut String, block: &Block) {
    // Writing to a String is infallible.
    match block {
        Block::Heading(title, remark) => {
            let _ = write!(out, "<h4>{}</h4>", markup(title));
            if !remark.is_empty() {
                let _ = write!(out, "<p style=\"opacity:.7\">{}</p>", markup(remark));
            }
        }
        Block::Paragraph(spans) => {
            let _ = write!(out, "<p>{}</p>", joined(spans));
        }
        Block::Pairs(pairs) => {
            out.push_str("<table>");
            for (label, value) in pairs {
                let _ = write!(
                    out,
                    "<tr><th style=\"text-align:left\">{}</th><td style=\"text-align:left\">{}</td></tr>",
                    markup(label),
                    joined(value)
                );
            }
            out.push_str("</table>");
        }
        Block::Table(table) => {
            out.push_str("<table>");
            cells(out, "th", &table.columns, table.columns.iter().map(|column| markup(&column.name)));
            for row in &table.rows {
                cells(out, "td", &table.columns, row.iter().map(stated));
            }
            out.push_str("</table>");
        }
        Block::Bars(bars) => {
            out.push_str("<table>");
            for one in bars {
                bar(out, one);
            }
            out.push_str("</table>");
        }
        Block::Verbatim(text) => {
            let _ = write!(out, "<pre>{}</pre>", markup(text.trim_end()));
        }
        Block::Next(text) => {
            let _ = write!(out, "<p>{}</p>", markup(text));
        }
        Block::Gap => {}
        Block::Details(blocks) => blocks.iter().for_each(|block| write_block(out, block)),
        Block::Bullets(items) => {
            out.push_str("<ul>");
            for item in items {
                let _ = write!(out, "<li>{}</li>", stated(item));
            }
            out.push_str("</ul>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Table;

    #[test]
    fn every_block_is_markup_and_nothing_from_outside_is() {
        let mut document = Document::default();
        let evil = "<script>alert(\"1\")</script>";
        document.heading_with(evil, evil);
        document.paragraph(Cell::new(evil, Tone::Strong));
        document.pairs(vec![(evil, evil.into())]);
        document.table(Table {
            columns: vec![Column::words(evil), Column::numbers("n")],
            rows: vec![vec![evil.into(), Cell::whole(3)]],
        });
        let bar = Bar {
            depth: 2,
            label: evil.to_owned(),
            value: evil.to_owned(),
            share: f64::NAN,
            tone: Tone::Plain,
        };
        document.blocks.push(Block::Bars(vec![bar]));
        document.blocks.push(Block::Verbatim(evil.to_owned()));
        document.blocks.push(Block::Bullets(vec![evil.into()]));
        let html = render(&document);
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 11);
        for tag in ["div", "h4", "p", "table", "tr", "ul", "li", "pre"] {
            let opened =
                html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert!(opened > 0 && opened == html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
