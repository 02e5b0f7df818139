//! Output on stderr: errors, warnings and notes, each with place and hint.

use crate::document::{Cell, Tone};
use crate::{Terminal, clean, text};
use railwright_spec::problem::{Place, Problem};
use std::fmt::Write as _;

/// A problem as `error: ...`, with the offending line, a caret under it, and `hint: ...`.
pub fn problem(problem: &Problem, terminal: Terminal) -> String {
    let mut out = String::new();
    let place = problem.place.as_deref();
    let mut spans = vec![Cell::new("error", Tone::Bad), ": ".into()];
    if let Some(name) = place.map(name_of).filter(|name| !name.is_empty()) {
        spans.extend([Cell::new(name, Tone::Name), ": ".into()]);
    }
    spans.push(clean::line(&problem.message).as_ref().into());
    out.push_str(&text::message(&spans, terminal));
    if let Some(text) = place.and_then(|place| place.text.as_deref()).filter(|text| !text.trim().is_empty()) {
        quote(&mut out, place, &clean::line(text), terminal);
    }
    if let Some(hint) = &problem.hint {
        out.push('\n');
        out.push_str(&remark("hint", Tone::Name, hint, terminal));
    }
    out
}

/// A remark that does not stop the work.
pub fn remark(label: &str, tone: Tone, message: &str, terminal: Terminal) -> String {
    text::message(&[Cell::new(label, tone), format!(": {}", clean::line(message)).into()], terminal)
}

fn name_of(place: &Place) -> String {
    if place.file == "-" {
        return clean::line(&Place { file: "standard input".to_owned(), ..place.clone() }.to_string())
            .into_owned();
    }
    clean::line(&place.to_string()).into_owned()
}

/// The offending line with a caret. Long lines (minified JSON) are cut around the column.
fn quote(out: &mut String, place: Option<&Place>, text: &str, terminal: Terminal) {
    let Some(line) = place.and_then(|place| place.line) else { return };
    let column = place.and_then(|place| place.column).unwrap_or(1).max(1) - 1;
    let number = line.to_string();
    let room = terminal.prose().saturating_sub(number.len() + 4).max(20);
    let start = (column + 10).saturating_sub(room);
    let shown: String = text.chars().skip(start).take(room).collect();
    let bar = terminal.paint("|", Tone::Faint);
    let margin = " ".repeat(number.len());
    let caret = terminal.paint("^", Tone::Bad);
    let _ = write!(
        out,
        "{margin} {bar}\n{} {bar} {}\n{margin} {bar} {}{caret}\n",
        terminal.paint(&number, Tone::Faint),
        shown.trim_end(),
        " ".repeat(column.saturating_sub(start).min(shown.chars().count()))
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Terminal = Terminal { width: 80, colour: false, unicode: false, verbose: false };

    #[test]
    fn a_problem_shows_its_line_and_a_caret() {
        let printed = problem(
            &Problem::new("bad value")
                .in_file("a.toml")
                .at_offset("x = 1\ntp = zz\n", 11)
                .hint("write a number"),
            PLAIN,
        );
        assert_eq!(
            printed,
            "error: a.toml:2:6: bad value\n  |\n2 | tp = zz\n  |      ^\n\nhint: write a number\n"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let printed = problem(&Problem::new("bad \u{1b}[2Jname").hint("x\ny"), PLAIN);
        assert!(!printed.contains('\u{1b}') && printed.contains('\u{fffd}'));
    }

    #[test]
    fn a_long_line_is_cut_around_the_column() {
        let text = format!("{}HERE{}", "x".repeat(150), "y".repeat(40));
        let printed = problem(&Problem::new("bad").at_offset(&text, 150), PLAIN);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[2].len() <= 80 && lines[2].contains("HERE"), "{printed}");
        assert_eq!(lines[3].find('^'), lines[2].find("HERE"), "{printed}");
    }
}
