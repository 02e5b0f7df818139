//! Columns of a table on a terminal: selection, widths and line breaks.
//!
//! Responsible for: breaks only between words, and between the options of a command line rather than within
//! one. A word is cut only if the terminal is too narrow for the longest word of every column.

use crate::document::Table;

/// Width of a text in characters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Minimum width of prose in characters, for legibility.
const NARROWEST_PROSE: usize = 20;
/// Characters between two columns, separator included.
const BETWEEN: usize = 3;
/// Characters between two columns if columns would be removed otherwise.
pub(crate) const NARROW_GAP: usize = 2;
/// Maximum lines of a header on a narrow terminal.
const HEADER_LINES: usize = 3;

/// Width of a column in characters, with one line per cell.
fn widest(table: &Table, column: usize) -> usize {
    texts(table, column).map(width).max().unwrap_or(0)
}

/// Name and cells of a column.
fn texts(table: &Table, column: usize) -> impl Iterator<Item = &str> {
    let name = table.columns.get(column).map(|column| column.name.as_str());
    name.into_iter()
        .chain(table.rows.iter().filter_map(move |row| row.get(column)).map(|cell| cell.text.as_str()))
}

/// Widest cell of a column, without its header.
fn widest_cell(table: &Table, column: usize) -> usize {
    table.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(&cell.text)).max().unwrap_or(0)
}

/// Minimum width of a header that takes `lines` lines.
fn header_width(name: &str, lines: usize) -> usize {
    let longest = name.split(' ').map(width).max().unwrap_or(0);
    (longest..width(name)).find(|&room| broken(name, room).lines().count() <= lines).unwrap_or(width(name))
}

/// Width of a column with one line per cell and a header of at most `lines` lines.
fn compact(table: &Table, column: usize, lines: usize) -> usize {
    let name = table.columns.get(column).map_or("", |column| column.name.as_str());
    widest_cell(table, column).max(header_width(name, lines))
}

/// Columns to draw.
pub(crate) struct Selection {
    /// Indices of drawn columns.
    pub(crate) kept: Vec<usize>,
    /// Indices of columns removed because the terminal is too narrow.
    pub(crate) given_up: Vec<usize>,
    /// Indices of columns drawn below their row.
    pub(crate) below: Vec<usize>,
    /// Characters between two columns.
    pub(crate) between: usize,
}

/// Columns to draw. If some had to be removed, the gap is narrower, and then columns marked for it are drawn
/// below their row.
pub(crate) fn columns_that_fit(table: &Table, available: usize) -> Selection {
    let below: Vec<usize> = (0..table.columns.len()).filter(|&c| table.columns[c].below).collect();
    let with = |between, below: &[usize]| {
        let all = (0..table.columns.len()).filter(|c| !below.contains(c)).collect();
        let (kept, given_up) = selected(table, all, available, between);
        Selection { kept, given_up, below: below.to_vec(), between }
    };
    let is_complete = |one: &Selection| {
        one.given_up.is_empty() && has_room_for_words(table, &one.kept, available, one.between)
    };
    let mut best = with(BETWEEN, &[]);
    for (between, below) in [(NARROW_GAP, &[][..]), (NARROW_GAP, &below)] {
        let other = with(between, below);
        // Only what is drawn nowhere is lost.
        if !is_complete(&best) && other.given_up.len() <= best.given_up.len() {
            best = other;
        }
    }
    best
}

/// Tests whether every word of the columns has room in a line. Words may be broken at their joints.
pub(crate) fn has_room_for_words(table: &Table, kept: &[usize], available: usize, between: usize) -> bool {
    let parts = |text: &'_ str| text.split_inclusive(BREAKS).map(|part| width(part.trim_end())).max();
    let longest = |&c: &usize| texts(table, c).filter_map(parts).max();
    let words: usize = kept.iter().filter_map(longest).map(|longest| longest.min(LONGEST_UNCUT)).sum();
    words + between * kept.len().saturating_sub(1) <= available || kept.len() < 2
}

fn selected(
    table: &Table,
    mut kept: Vec<usize>,
    available: usize,
    between: usize,
) -> (Vec<usize>, Vec<usize>) {
    let widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(c, column)| {
            // Only prose may be wrapped.
            let narrowest = NARROWEST_PROSE.max(longest_word(table, c).min(available / 2));
            let wanted =
                if column.prose { widest(table, c).min(narrowest) } else { compact(table, c, HEADER_LINES) };
            between + wanted
        })
        .collect();
    let mut given_up = Vec::new();
    while kept.iter().map(|&c| widths[c]).sum::<usize>() > available + between {
        let next = kept.iter().copied().max_by_key(|&c| (table.columns[c].expendable, c));
        let Some(next) = next.filter(|&c| table.columns[c].expendable > 0) else { break };
        kept.retain(|&c| c != next);
        given_up.push(next);
    }
    // Restores removed columns that fit after all, most important first.
    for next in given_up.clone().into_iter().rev() {
        if kept.iter().map(|&c| widths[c]).sum::<usize>() + widths[next] <= available + between {
            given_up.retain(|&c| c != next);
            kept.push(next);
        }
    }
    kept.sort_unstable();
    given_up.sort_unstable();
    (kept, given_up)
}

/// Width of each drawn column in characters. Every column fits its longest word. Remaining space goes to
/// numbers, then to other cells that are not prose, then to options with their values in prose, then to
/// shorter headers and to prose.
pub(crate) fn widths(table: &Table, kept: &[usize], available: usize, between: usize) -> Vec<usize> {
    let room = available.saturating_sub(between * kept.len().saturating_sub(1));
    let all: Vec<usize> = kept.iter().map(|&c| widest(table, c)).collect();
    let units: Vec<usize> = kept.iter().map(|&c| longest_unit(table, c)).collect();
    let mut widths: Vec<usize> = kept.iter().map(|&c| longest_word(table, c)).collect();
    // Too narrow for the longest words: the widest columns shrink.
    while widths.iter().sum::<usize>() > room {
        let Some(most) = widths.iter_mut().max().filter(|most| **most > 1) else { break };
        *most -= 1;
    }
    let of = |position: usize| &table.columns[kept[position]];
    let headers = |lines| kept.iter().map(|&c| compact(table, c, lines)).collect::<Vec<_>>();
    let (low, lower) = (headers(HEADER_LINES), headers(2));
    grow(&mut widths, &low, room, |position| of(position).right);
    grow(&mut widths, &low, room, |position| !of(position).prose);
    grow(&mut widths, &units, room, |position| of(position).prose);
    grow(&mut widths, &lower, room, |position| !of(position).prose);
    grow(&mut widths, &all, room, |position| of(position).prose);
    grow(&mut widths, &all, room, |_| true);
    // Room that saves no line of a header only separates columns.
    for (room, &c) in widths.iter_mut().zip(kept).filter(|(_, c)| !table.columns[**c].prose) {
        let lines = broken(&table.columns[c].name, *room).lines().count();
        *room = compact(table, c, lines).min(*room);
    }
    widths
}

/// Widens some columns to their wanted width, in equal parts if there is not enough room.
fn grow(widths: &mut [usize], wanted: &[usize], room: usize, is_one: impl Fn(usize) -> bool) {
    loop {
        let left = room.saturating_sub(widths.iter().sum());
        let narrow = (0..widths.len()).filter(|&at| is_one(at) && widths[at] < wanted[at]);
        let Some(narrowest) = narrow.min_by_key(|&at| widths[at]).filter(|_| left > 0) else { return };
        widths[narrowest] += 1;
    }
}

/// Units that stay together: an option with its value, as in `--tp 8`; else single words.
fn units(text: &str) -> Vec<&str> {
    let mut units: Vec<&str> = Vec::new();
    let mut start = 0;
    // Byte offset of an option without its value yet.
    let mut option = None;
    for word in text.split(' ') {
        let end = start + word.len();
        match option.take().filter(|_| !word.is_empty() && !word.starts_with("--")) {
            Some(first) => {
                units.pop();
                units.push(&text[first..end]);
            }
            None if word.is_empty() => {}
            None => {
                units.push(word);
                option = (word.starts_with("--") && !word.contains('=')).then_some(start);
            }
        }
        start = end + 1;
    }
    units
}

fn longest_unit(table: &Table, column: usize) -> usize {
    texts(table, column).flat_map(units).map(width).max().unwrap_or(0)
}

fn longest_word(table: &Table, column: usize) -> usize {
    texts(table, column).flat_map(|text| text.split(' ')).map(width).max().unwrap_or(0)
}

/// Wraps a text to lines of at most `room` characters, between units. A unit longer than a line is broken
/// between its words, then after commas, hyphens and other joints.
pub(crate) fn broken(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut current = line[..indent].to_owned();
        let mut is_empty = true;
        for (blank, piece) in pieces(line, room) {
            if !is_empty && width(&current) + usize::from(blank) + width(piece) > room {
                lines.push(std::mem::take(&mut current));
            } else if !is_empty && blank {
                current.push(' ');
            }
            current.push_str(piece);
            is_empty = false;
        }
        lines.push(current);
    }
    lines.join("\n")
}

/// Characters after which a word that is longer than a line may be broken, as in keys, flags and paths.
const JOINTS: [char; 6] = [',', '-', '_', '.', '/', ':'];
/// Characters after which a text may be broken.
const BREAKS: [char; 7] = [' ', ',', '-', '_', '.', '/', ':'];

/// Pieces of a line, each with a flag for a preceding blank.
fn pieces(line: &str, room: usize) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    for unit in units(line) {
        if width(unit) <= room {
            pieces.push((true, unit));
            continue;
        }
        for word in unit.split(' ') {
            if width(word) <= room {
                pieces.push((true, word));
            } else {
                let items = word.split_inclusive(JOINTS).flat_map(|item| cut(item, room));
                pieces.extend(items.enumerate().map(|(at, item)| (at == 0, item)));
            }
        }
    }
    pieces
}

/// Maximum width in characters of a text that the drawing of a table breaks: its time grows with the square
/// of the width.
const LONGEST_UNCUT: usize = 256;

/// A text in parts of a line each, if it is longer than any word.
fn cut(text: &str, room: usize) -> Vec<&str> {
    if width(text) <= LONGEST_UNCUT {
        return vec![text];
    }
    let starts = text.char_indices().step_by(room.max(1)).map(|(at, _)| at);
    let ends = starts.clone().skip(1).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Column};

    /// A value of a launch file can be a megabyte long.
    #[test]
    fn a_word_longer_than_any_is_cut_into_lines() {
        let text = "é".repeat(100_000);
        let lines = broken(&text, 60);
        assert!(lines.lines().all(|line| width(line) <= 60));
        assert_eq!(lines.replace('\n', ""), text);
        assert_eq!(lines.lines().count(), 100_000_usize.div_ceil(60));
        assert_eq!(broken(&format!("a {}", "b".repeat(257)), 200).lines().count(), 3);
    }

    #[test]
    fn options_keep_their_values() {
        let line = "--tp 8 --fsdp --recompute=full layers [4 x 4, 9]";
        let expected = ["--tp 8", "--fsdp", "--recompute=full", "layers", "[4", "x", "4,", "9]"];
        assert_eq!(units(line), expected);
        assert_eq!(broken("--tp 8 --pp 4 --micro-batch 1", 16), "--tp 8 --pp 4\n--micro-batch 1");
        assert_eq!(broken("  layers 1,22,333,4", 8), "  layers\n1,22,\n333,4");
        assert_eq!(broken("short", 3), "short");
        assert_eq!(broken("--tensor-model-parallel-size 8", 16), "--tensor-model-\nparallel-size 8");
    }

    /// Words of various lengths, in rows of three columns, on terminals of every width.
    #[test]
    fn no_word_is_cut_where_the_longest_words_have_room() {
        let text = |seed: usize| -> String {
            let word = |at: usize| match (seed + at) % 3 {
                0 => format!("--{} {at}", "option".repeat(1 + (seed * at) % 3)),
                1 => "word".repeat(1 + (seed + at) % 3),
                _ => "of".to_owned(),
            };
            (0..=seed % 7).map(word).collect::<Vec<_>>().join(" ")
        };
        let mut with_room = 0;
        for seed in 0..40 {
            let columns = (0..3)
                .map(|c| if (seed >> c) % 2 == 0 { Column::prose("prose") } else { Column::words("words") });
            let rows = (0..4).map(|row| (0..3).map(|c| Cell::from(text(seed + 5 * row + 11 * c))).collect());
            let table = Table { columns: columns.collect(), rows: rows.collect() };
            for available in 12..140 {
                let found = widths(&table, &[0, 1, 2], available, BETWEEN);
                assert!(found.iter().sum::<usize>() + 2 * BETWEEN <= available.max(3 + 2 * BETWEEN));
                let least: usize = (0..3).map(|c| longest_word(&table, c)).sum();
                if least + 2 * BETWEEN > available {
                    continue;
                }
                with_room += 1;
                for (cell, room) in table.rows.iter().flat_map(|row| row.iter().zip(&found)) {
                    let lines = broken(&cell.text, *room);
                    assert!(lines.lines().all(|line| width(line) <= *room), "{lines} in {room}");
                    assert_eq!(lines.replace('\n', " "), cell.text);
                }
            }
        }
        assert!(with_room > 1000, "{with_room}");
    }
}
