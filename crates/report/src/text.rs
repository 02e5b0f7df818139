//! Reports on a terminal: aligned, wrapped to the width, with optional colours.

use crate::Terminal;
use crate::document::{Bar, Block, Cell, Document, Table, Tone};
use crate::terminal::UNLIMITED;
use crate::widths::{broken, columns_that_fit, width, widths};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, TableComponent, Width, presets};

/// Renders the report as text that ends with a newline. Lines are at most as wide as the terminal, unless a
/// word is longer.
pub fn render(document: &Document, terminal: Terminal) -> String {
    let mut out = String::new();
    for (index, block) in document.blocks.iter().enumerate() {
        let after_heading = index > 0 && matches!(document.blocks[index - 1], Block::Heading(..));
        let beside_paragraph = matches!(block, Block::Paragraph(_))
            && index > 0
            && matches!(document.blocks[index - 1], Block::Paragraph(_) | Block::Gap);
        if index > 0 && !after_heading && !beside_paragraph {
            out.push('\n');
        }
        out.push_str(&self::block(block, terminal));
    }
    out
}

fn block(block: &Block, terminal: Terminal) -> String {
    match block {
        Block::Heading(title, remark) if remark.is_empty() => {
            format!("{}\n", terminal.paint(title, Tone::Strong))
        }
        Block::Heading(title, remark) => wrap(
            &[Cell::new(format!("{title}:"), Tone::Strong), Cell::new(format!(" {remark}"), Tone::Faint)],
            terminal,
            0,
            2,
        ),
        Block::Paragraph(spans) => wrap(spans, terminal, 0, 0),
        Block::Pairs(pairs) => {
            let widest = pairs.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
            pairs
                .iter()
                .map(|(label, value)| {
                    let mut spans = vec![Cell::new(
                        format!("{label}{}  ", " ".repeat(widest - width(label))),
                        Tone::Faint,
                    )];
                    spans.extend(value.iter().cloned());
                    wrap(&spans, terminal, 2, 2 + widest + 2)
                })
                .collect()
        }
        Block::Table(table) => self::table(table, terminal),
        Block::Bars(bars) => self::bars(bars, terminal),
        Block::Verbatim(text) if text.ends_with('\n') => text.clone(),
        Block::Verbatim(text) => format!("{text}\n"),
        Block::Gap => String::new(),
        Block::Bullets(items) => items
            .iter()
            .map(|item| {
                wrap(
                    &[Cell::from(format!("{} ", terminal.either("\u{2022}", "-"))), item.clone()],
                    terminal,
                    0,
                    2,
                )
            })
            .collect(),
    }
}

/// A message for stderr, wrapped as a report is if its stream has a width.
pub fn message(spans: &[Cell], terminal: Terminal) -> String {
    if terminal.width != UNLIMITED {
        return wrap(spans, terminal, 0, 2);
    }
    let painted: String = spans.iter().map(|span| terminal.paint(&span.text, span.tone)).collect();
    painted + "\n"
}

/// Wraps spans at spaces. The first line starts at column `first`, the others at `rest`. Leading spaces of
/// the first span are kept for alignment.
fn wrap(spans: &[Cell], terminal: Terminal, first: usize, rest: usize) -> String {
    let mut out = " ".repeat(first);
    let mut column = first;
    let mut is_line_start = true;
    for (index, span) in spans.iter().enumerate() {
        let mut line = String::new();
        for (position, word) in span.text.split(' ').enumerate() {
            let space = usize::from(position > 0);
            if column + space + width(word) > terminal.prose() && !is_line_start && !word.is_empty() {
                out.push_str(&terminal.paint(line.trim_end(), span.tone));
                line.clear();
                while out.ends_with(' ') {
                    out.pop();
                }
                out.push('\n');
                out.push_str(&" ".repeat(rest));
                column = rest;
            } else if space == 1 {
                line.push(' ');
                column += 1;
            }
            line.push_str(word);
            column += width(word);
            // No line break directly after a leading label.
            is_line_start = index == 0 && span.tone == Tone::Faint && word.is_empty();
        }
        out.push_str(&terminal.paint(&line, span.tone));
    }
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('\n');
    out
}

fn table(table: &Table, terminal: Terminal) -> String {
    let (kept, given_up) = columns_that_fit(table, terminal.width);
    let widths = widths(table, &kept, terminal.width);
    let mut drawn = comfy_table::Table::new();
    drawn.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(terminal.width).unwrap_or(u16::MAX));
    drawn.set_style(TableComponent::HeaderLines, if terminal.unicode { '\u{2500}' } else { '-' });
    drawn.set_style(
        TableComponent::MiddleHeaderIntersections,
        if terminal.unicode { '\u{2500}' } else { '-' },
    );
    let columns = || kept.iter().zip(&widths);
    drawn.set_header(columns().map(|(&c, &room)| broken(&table.columns[c].name, room)));
    for row in &table.rows {
        let cell = |(&c, &room): (&usize, &usize)| {
            row.get(c).map_or_else(
                || comfy_table::Cell::new(""),
                |cell| comfy_cell(&Cell { text: broken(&cell.text, room), ..cell.clone() }),
            )
        };
        drawn.add_row(columns().map(cell));
    }
    for (position, (&c, &room)) in columns().enumerate() {
        if let Some(column) = drawn.column_mut(position) {
            column.set_cell_alignment(if table.columns[c].right {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            });
            let padding = (u16::from(position > 0), u16::from(position + 1 < kept.len()));
            column.set_padding(padding);
            let room = u16::try_from(room).unwrap_or(u16::MAX).saturating_add(padding.0 + padding.1);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(room)));
        }
    }
    // Colours are never used in a browser.
    #[cfg(not(target_family = "wasm"))]
    if terminal.colour {
        drawn.enforce_styling();
    } else {
        drawn.force_no_tty();
    }
    let mut out: String =
        drawn.lines().flat_map(|line| [line.trim_end().to_owned(), "\n".to_owned()]).collect();
    if !given_up.is_empty() {
        let names: Vec<&str> = given_up.iter().map(|&c| table.columns[c].name.as_str()).collect();
        out.push_str(&wrap(
            &[Cell::new(
                format!("hidden columns: {} (--format csv shows all)", names.join(", ")),
                Tone::Faint,
            )],
            terminal,
            0,
            2,
        ));
    }
    out
}

/// Cell without emphasis, for output without colours.
#[cfg(target_family = "wasm")]
fn comfy_cell(cell: &Cell) -> comfy_table::Cell {
    comfy_table::Cell::new(&cell.text)
}

#[cfg(not(target_family = "wasm"))]
fn comfy_cell(cell: &Cell) -> comfy_table::Cell {
    use comfy_table::{Attribute, Color};
    let drawn = comfy_table::Cell::new(&cell.text);
    match cell.tone {
        Tone::Plain => drawn,
        Tone::Strong => drawn.add_attribute(Attribute::Bold),
        Tone::Faint => drawn.add_attribute(Attribute::Dim),
        Tone::Name => drawn.fg(Color::DarkCyan),
        Tone::Good => drawn.fg(Color::DarkGreen),
        Tone::Doubtful => drawn.fg(Color::DarkYellow),
        Tone::Bad => drawn.fg(Color::DarkRed).add_attribute(Attribute::Bold),
    }
}

fn bars(bars: &[Bar], terminal: Terminal) -> String {
    let label_of = |bar: &Bar| format!("{}{}", "  ".repeat(bar.depth), bar.label);
    let labels = bars.iter().map(|bar| width(&label_of(bar))).max().unwrap_or(0).min(terminal.width / 2);
    let values = bars.iter().map(|bar| width(&bar.value)).max().unwrap_or(0);
    let room = terminal.width.saturating_sub(labels + values + 2 + 2 + 8 + 2).min(40);
    let mut out = String::new();
    for bar in bars {
        let label: String = label_of(bar).chars().take(labels).collect();
        let pad = " ".repeat(labels - width(&label));
        let drawn = if room < 6 { String::new() } else { terminal.bar(bar.share, room) };
        let tone = if bar.depth == 0 { Tone::Strong } else { bar.tone };
        let line = format!(
            "  {}{pad}  {:>values$}  {:>6}  {drawn}",
            terminal.paint(&label, tone),
            bar.value,
            format!("{:.1}%", bar.share * 100.0)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
