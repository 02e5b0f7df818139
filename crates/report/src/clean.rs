//! Sanitizes outside text for its output format.
//!
//! Responsible for: names of models, clusters, hosts, kernels and files, damage reports, notes and errors.
//! All output passes the function of its format. Replaced characters are marked, never silently dropped.

use crate::document::{Block, Cell, Document};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Replacement of a character that is not shown.
const MARK: char = '\u{fffd}';

/// True for characters that control a terminal: control characters (C0, DEL and C1, so ESC and CSI too),
/// characters that change the text direction, and non-characters.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn replaced(text: &str, is_bad: impl Fn(char) -> bool, mark: char) -> Cow<'_, str> {
    if !text.chars().any(&is_bad) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| match c {
        _ if !is_bad(c) => c,
        '\t' => ' ',
        _ => mark,
    };
    Cow::Owned(text.chars().map(one).collect())
}

/// Cleans one line for a terminal.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, steers, MARK)
}

/// Cleans several lines for a terminal; tabs are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| steers(c) && c != '\n' && c != '\t', MARK)
}

/// Cleans HTML or SVG with escaped texts: removes control characters and changes of text direction.
pub fn markup(text: &str) -> Cow<'_, str> {
    replaced(text, |c| steers(c) && !matches!(c, '\n' | '\t' | '\r'), MARK)
}

/// Cleans JSON: strings keep their value through escapes; nothing outside strings changes.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| steers(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.chars().any(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_bad(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String is infallible.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Cleans a cell of CSV. Spreadsheets execute a text that looks like a formula, so it gets a leading
/// apostrophe. Numbers are unchanged, and so is a minus before plain words (`--tp 8`), which no spreadsheet
/// executes.
pub fn cell(text: &str) -> Cow<'_, str> {
    let text = replaced(text, |c| steers(c) && c != '\n' && c != '\t', MARK);
    let is_formula = match text.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') => text.parse::<f64>().is_err() && !text.chars().all(is_plain),
        _ => false,
    };
    if is_formula { Cow::Owned(format!("'{text}")) } else { text }
}

/// True for characters that neither call a function nor refer to another cell, sheet or program.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '-' | '+' | '_' | '.' | ',' | '=' | ':' | '/' | '%')
}

/// Cleans a report for a terminal or Markdown: each text is one line, except verbatim text.
pub fn document(mut document: Document) -> Document {
    blocks(&mut document.blocks);
    document
}

fn blocks(blocks: &mut [Block]) {
    for block in blocks {
        match block {
            Block::Heading(title, remark) => {
                own(title);
                own(remark);
            }
            Block::Paragraph(cells) | Block::Bullets(cells) => cells.iter_mut().for_each(own_cell),
            Block::Pairs(pairs) => {
                for (label, cells) in pairs {
                    own(label);
                    cells.iter_mut().for_each(own_cell);
                }
            }
            Block::Table(table) => {
                table.columns.iter_mut().for_each(|column| own(&mut column.name));
                table.rows.iter_mut().flatten().for_each(own_cell);
            }
            Block::Bars(bars) => {
                for bar in bars {
                    own(&mut bar.label);
                    own(&mut bar.value);
                }
            }
            Block::Verbatim(text) => {
                if let Cow::Owned(clean) = lines(text) {
                    *text = clean;
                }
            }
            Block::Next(text) => own(text),
            Block::Gap => {}
            Block::Details(inner) => self::blocks(inner),
        }
    }
}

fn own(text: &mut String) {
    if let Cow::Owned(clean) = line(text) {
        *text = clean;
    }
}

fn own_cell(cell: &mut Cell) {
    own(&mut cell.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2Jb\u{9b}31mc\u{7}d\u{202e}e\u{2067}f\u{7f}\0";

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(line(HOSTILE), "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}\u{fffd}");
        assert_eq!(line("one\ntwo\tthree"), "one\u{fffd}two three");
        assert_eq!(lines("one\ntwo\u{1b}\n"), "one\ntwo\u{fffd}\n");
        assert!(matches!(line("größe µs 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_is_equal_with_escapes() {
        let value = serde_json::json!({ "name": HOSTILE, "tag": "\u{e0041}" });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let clean = json(&text);
        assert!(!clean.chars().any(|c| steers(c) && c != '\n'), "{clean:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&clean).expect("JSON"), value);
    }

    #[test]
    fn spreadsheets_are_given_no_formulas() {
        for (text, shown) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3+cmd|x!A1", "'-2+3+cmd|x!A1"),
            ("-HYPERLINK(\"x\")", "'-HYPERLINK(\"x\")"),
            ("-0.5", "-0.5"),
            ("+12", "+12"),
            ("-1e-9", "-1e-9"),
            ("--tp 8 --pp 4", "--tp 8 --pp 4"),
            ("-", "-"),
            ("+3.2%", "+3.2%"),
            ("a=b", "a=b"),
            ("a\u{1b}b", "a\u{fffd}b"),
        ] {
            assert_eq!(cell(text), shown, "{text:?}");
        }
    }

    #[test]
    fn every_text_of_a_report_is_clean() {
        let hostile = || Cell::from(HOSTILE);
        let mut report = Document::default();
        report.heading_with(HOSTILE, HOSTILE);
        report.paragraph(hostile());
        report.pairs(vec![("label", hostile())]);
        report.table(crate::document::Table {
            columns: vec![crate::document::Column::words(HOSTILE)],
            rows: vec![vec![hostile()]],
        });
        report.blocks.push(Block::Verbatim(HOSTILE.to_owned()));
        report.blocks.push(Block::Bullets(vec![hostile()]));
        report.blocks.push(Block::Bars(vec![crate::document::Bar {
            depth: 0,
            label: HOSTILE.to_owned(),
            value: HOSTILE.to_owned(),
            share: 0.5,
            tone: crate::document::Tone::Plain,
        }]));
        let shown = crate::text::render(&document(report), crate::Terminal::file(true));
        assert!(!shown.chars().any(|c| steers(c) && c != '\n'), "{shown:?}");
    }
}
