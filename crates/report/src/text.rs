//! Reports on a terminal: aligned, wrapped to the width, with optional colours.

use crate::Terminal;
use crate::document::{Bar, Block, Cell, Document, Table, Tone};
use crate::terminal::UNLIMITED;
use crate::widths::{Selection, broken, columns_that_fit, has_room_for_words, width, widths};

/// Renders the report as text that ends with a newline. Lines are at most as wide as the terminal, unless a
/// word is longer.
pub fn render(document: &Document, terminal: Terminal) -> String {
    if terminal.verbose {
        return drawn(&document.all().collect::<Vec<_>>(), terminal);
    }
    let hint = omitted(&document.titles_of_details());
    let mut shown: Vec<&Block> =
        document.blocks.iter().filter(|block| !matches!(block, Block::Details(_))).collect();
    if let Some(hint) = &hint {
        let end = shown.len() - usize::from(matches!(shown.last(), Some(Block::Next(_))));
        let is_apart = end > 0 && !matches!(shown[end - 1], Block::Paragraph(_));
        shown.insert(end, hint);
        if is_apart {
            shown.insert(end, &Block::Gap);
        }
    }
    drawn(&shown, terminal)
}

/// The line that names the omitted sections; `None` without any.
fn omitted(titles: &[&str]) -> Option<Block> {
    let text = || format!("`-v` adds: {}", titles.join("; "));
    (!titles.is_empty()).then(|| Block::Paragraph(vec![Cell::new(text(), Tone::Faint)]))
}

fn drawn(blocks: &[&Block], terminal: Terminal) -> String {
    let mut out = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let after_heading = index > 0 && matches!(blocks[index - 1], Block::Heading(..));
        let beside_paragraph = matches!(block, Block::Paragraph(_) | Block::Next(_))
            && index > 0
            && matches!(blocks[index - 1], Block::Paragraph(_) | Block::Gap);
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
        Block::Next(text) => wrap(&[Cell::from(text.as_str())], terminal, 0, 0),
        Block::Gap => String::new(),
        Block::Details(blocks) => drawn(&blocks.iter().collect::<Vec<_>>(), terminal),
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

/// Text of a file in lines of at most 80 characters: the first begins with `first`, the others with `rest`.
pub fn filled(first: &str, rest: &str, text: &str) -> String {
    let terminal = Terminal { width: FILE_WIDTH, ..Terminal::file(true) };
    let indented = wrap(&[Cell::from(format!("{first}{text}"))], terminal, 0, width(rest));
    let mut lines = indented.lines();
    let mut out = format!("{}\n", lines.next().unwrap_or_default());
    for line in lines {
        out.push_str(rest);
        out.push_str(line.trim_start());
        out.push('\n');
    }
    out
}

/// A setting in TOML with line breaks between the entries of a list. TOML allows them; other lines stay.
pub fn folded(line: &str) -> String {
    if line.chars().count() <= FILE_WIDTH || !line.contains(" = [") {
        return line.to_owned();
    }
    let mut lines = vec![String::new()];
    for entry in line.split_inclusive(", ") {
        let last = lines.last_mut().expect("it begins with one");
        if !last.is_empty() && last.chars().count() + entry.trim_end().chars().count() > FILE_WIDTH {
            lines.push(format!("    {entry}"));
        } else {
            last.push_str(entry);
        }
    }
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    trimmed.join("\n")
}

/// The start of a name that is too long.
pub fn cut(name: &str, room: usize, terminal: Terminal) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name);
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let kept: String = name.chars().take(room.saturating_sub(3)).collect();
    format!("{kept}{}", terminal.either("\u{2026}", "..."))
}

/// Maximum width of the lines of a written file in characters.
const FILE_WIDTH: usize = 80;

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
    let Selection { kept, given_up, below, between } = columns_that_fit(table, terminal.width);
    if !has_room_for_words(table, &kept, terminal.width, between) {
        return records(table, terminal);
    }
    let widths = widths(table, &kept, terminal.width, between);
    let columns: Vec<(usize, usize)> = kept.iter().copied().zip(widths).collect();
    let header = |&(c, _): &(usize, usize)| Cell::from(table.columns[c].name.as_str());
    let mut out =
        drawn_row(&columns.iter().map(header).collect::<Vec<_>>(), table, &columns, between, terminal);
    let total =
        columns.iter().map(|(_, room)| room).sum::<usize>() + between * columns.len().saturating_sub(1);
    out.push_str(&terminal.either("\u{2500}", "-").repeat(total));
    out.push('\n');
    for row in &table.rows {
        let cells: Vec<Cell> = kept.iter().map(|&c| row.get(c).cloned().unwrap_or_default()).collect();
        out.push_str(&drawn_row(&cells, table, &columns, between, terminal));
        for cell in below.iter().filter_map(|&c| row.get(c)).filter(|cell| !cell.text.is_empty()) {
            for line in broken(&cell.text, terminal.width.saturating_sub(BELOW)).lines() {
                out.push_str(&" ".repeat(BELOW));
                out.push_str(&terminal.paint(line, cell.tone));
                out.push('\n');
            }
        }
    }
    if !below.is_empty() {
        let names: Vec<&str> = below.iter().map(|&c| table.columns[c].name.as_str()).collect();
        out.push_str(&wrap(
            &[Cell::new(format!("below each row: {}", names.join("; ")), Tone::Faint)],
            terminal,
            0,
            2,
        ));
    }
    if !given_up.is_empty() {
        let names: Vec<&str> = given_up.iter().map(|&c| table.columns[c].name.as_str()).collect();
        out.push_str(&wrap(
            &[Cell::new(
                format!("hidden columns: {} (--format csv shows all)", names.join("; ")),
                Tone::Faint,
            )],
            terminal,
            0,
            2,
        ));
    }
    out
}

/// Indent of a cell drawn below its row.
const BELOW: usize = 6;

/// Cells of one row, in as many lines as the longest needs.
fn drawn_row(
    cells: &[Cell],
    table: &Table,
    columns: &[(usize, usize)],
    between: usize,
    terminal: Terminal,
) -> String {
    let texts: Vec<Vec<String>> =
        cells.iter().zip(columns).map(|(cell, (_, room))| lines_within(&cell.text, *room)).collect();
    let mut out = String::new();
    for at in 0..texts.iter().map(Vec::len).max().unwrap_or(0) {
        let mut line = String::new();
        for (position, ((lines, cell), &(c, room))) in texts.iter().zip(cells).zip(columns).enumerate() {
            let text = lines.get(at).map_or("", String::as_str);
            let pad = " ".repeat(room.saturating_sub(width(text)));
            let gap = if position > 0 { " ".repeat(between) } else { String::new() };
            let painted = terminal.paint(text, cell.tone);
            let (left, right) = if table.columns[c].right { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line.extend([gap.as_str(), left, painted.as_str(), right]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Lines of a cell, each at most `room` characters.
fn lines_within(text: &str, room: usize) -> Vec<String> {
    let wrapped = broken(text, room);
    let parts = wrapped.lines().flat_map(|line| {
        let letters: Vec<char> = line.chars().collect();
        let parts: Vec<String> = letters.chunks(room.max(1)).map(|part| part.iter().collect()).collect();
        if parts.is_empty() { vec![String::new()] } else { parts }
    });
    parts.collect()
}

/// Rows as labelled values, for a table whose words are wider than the terminal.
fn records(table: &Table, terminal: Terminal) -> String {
    let label = table.columns.iter().map(|column| width(&column.name)).max().unwrap_or(0);
    let room = terminal.width.saturating_sub(label + 4).max(1);
    let mut out = String::new();
    for (index, row) in table.rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for (column, cell) in table.columns.iter().zip(row).filter(|(_, cell)| !cell.text.is_empty()) {
            let pad = " ".repeat(label - width(&column.name));
            let name = terminal.paint(&column.name, Tone::Faint);
            for (at, line) in broken(&cell.text, room).lines().enumerate() {
                let start = if at == 0 { format!("  {name}{pad}  ") } else { " ".repeat(label + 4) };
                out.push_str(&start);
                out.push_str(&terminal.paint(line, cell.tone));
                out.push('\n');
            }
        }
    }
    out
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
