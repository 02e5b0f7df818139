//! A report in Markdown, for issues and notebooks.

use crate::document::{Block, Cell, Document};
use std::fmt::Write as _;

/// Renders the report in Markdown.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    for block in document.all() {
        if !out.is_empty() {
            out.push('\n');
        }
        write_block(&mut out, block);
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

fn joined(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.text.as_str()).collect()
}

fn row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().map(|cell| escape(&cell)).collect();
    // Writing to a String is infallible.
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn write_block(out: &mut String, block: &Block) {
    match block {
        Block::Heading(title, remark) if remark.is_empty() => {
            let _ = writeln!(out, "## {title}");
        }
        Block::Heading(title, remark) => {
            let _ = writeln!(out, "## {title}\n\n{remark}");
        }
        Block::Paragraph(spans) => {
            let _ = writeln!(out, "{}", joined(spans));
        }
        Block::Pairs(pairs) => {
            row(out, [String::new(), String::new()]);
            row(out, ["---".to_owned(), "---".to_owned()]);
            for (label, value) in pairs {
                row(out, [label.clone(), joined(value)]);
            }
        }
        Block::Table(table) => {
            row(out, table.columns.iter().map(|column| column.name.clone()));
            row(out, table.columns.iter().map(|c| if c.right { "--:" } else { "---" }.to_owned()));
            for cells in &table.rows {
                row(out, cells.iter().map(|cell| cell.text.clone()));
            }
        }
        Block::Bars(bars) => {
            row(out, ["part".to_owned(), "value".to_owned(), "share".to_owned()]);
            row(out, ["---".to_owned(), "--:".to_owned(), "--:".to_owned()]);
            for bar in bars {
                let indent = "&nbsp;&nbsp;".repeat(bar.depth);
                row(
                    out,
                    [
                        format!("{indent}{}", bar.label),
                        bar.value.clone(),
                        format!("{:.1}%", bar.share * 100.0),
                    ],
                );
            }
        }
        Block::Verbatim(text) => {
            let _ = writeln!(out, "```\n{}\n```", text.trim_end());
        }
        Block::Next(text) => {
            let _ = writeln!(out, "{text}");
        }
        Block::Gap => {}
        Block::Details(blocks) => blocks.iter().for_each(|block| write_block(out, block)),
        Block::Bullets(items) => {
            for item in items {
                let _ = writeln!(out, "- {}", item.text);
            }
        }
    }
}
