//! Terminal recordings: commands of the tutorial with their output, as animated SVG.
//!
//! Responsible for: drawing. The tutorial has the commands and the output, which the tests of guides compare
//! with the program.

use railwright_spec::human::markup;
use std::fmt::Write as _;

/// Path of the page with commands and output.
const PAGE: &str = "docs/tutorial.md";
/// Recorded commands: the first of the page with this name, the file and its title.
const RECORDED: &[(&str, &str, &str)] = &[
    ("estimate", "docs/pictures/terminal-estimate.svg", "Estimate of a launch script"),
    ("tune", "docs/pictures/terminal-tune.svg", "Better layouts for a launch script"),
    ("stragglers", "docs/pictures/terminal-stragglers.svg", "Stragglers in the traces of a job"),
];
/// Width of a character and height of a line, in pixels.
const CHARACTER: f64 = 7.3;
const LINE: usize = 18;
/// Empty margin, in pixels.
const MARGIN: usize = 16;
/// Seconds per typed character, before the first line of output, and between lines.
const TYPED: f64 = 0.03;
const PAUSE: f64 = 0.4;
const BETWEEN: f64 = 0.08;

/// A command and the lines below it.
struct Session {
    command: String,
    lines: Vec<String>,
}

/// All recordings: path and SVG.
pub(super) fn pages() -> Result<Vec<(&'static str, String)>, String> {
    let page = super::read(PAGE)?;
    let sessions = sessions(&page);
    let of = |&(name, path, title): &(&'static str, &'static str, &'static str)| {
        let is_named = |session: &&Session| session.command.split(' ').nth(1) == Some(name);
        let session = sessions.iter().find(is_named).ok_or_else(|| format!("{PAGE} has no `{name}`"))?;
        Ok((path, svg(session, title)))
    };
    RECORDED.iter().map(of).collect()
}

/// The commands of a page, each with the block of output that follows it.
fn sessions(page: &str) -> Vec<Session> {
    let mut found: Vec<Session> = Vec::new();
    let mut kind = None;
    for line in page.lines() {
        match (kind, line.strip_prefix("```")) {
            (None, Some(opened)) => kind = Some(opened),
            (Some(_), Some(_)) => kind = None,
            (Some("console"), None) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    let command = command.replace("cargo run --release --", "railwright");
                    let command = command.split(" || ").next().unwrap_or_default().to_owned();
                    found.push(Session { command, lines: Vec::new() });
                }
            }
            (Some("text"), None) => {
                if let Some(session) = found.last_mut().filter(|_| !line.starts_with("$ ")) {
                    session.lines.push(line.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

/// An image without scripts. Without animation, all lines are visible.
fn svg(session: &Session, title: &str) -> String {
    let command = format!("$ {}", session.command);
    let widest = session.lines.iter().map(|line| line.chars().count()).chain([command.chars().count()]).max();
    let width = (widest.unwrap_or(0) as f64 * CHARACTER).ceil() as usize + 2 * MARGIN;
    let height = (session.lines.len() + 1) * LINE + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\"><title>{}</title>\n<style>rect{{fill:#16191d}}text{{font:12px ui-monospace,Menlo,Consolas,monospace;\
         fill:#d5d9df;white-space:pre}}.c{{fill:#7fc8a0;font-weight:600}}@media(prefers-reduced-motion:no-preference)\
         {{text{{opacity:0;animation:a .01s linear forwards}}}}@keyframes a{{to{{opacity:1}}}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n",
        markup(title)
    );
    let mut row = |text: &str, number: usize, class: &str, delay: f64| {
        let y = MARGIN + LINE * number + 13;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<text{class} x=\"{MARGIN}\" y=\"{y}\" style=\"animation-delay:{delay:.2}s\" xml:space=\"preserve\">{}</text>",
            markup(text)
        );
    };
    row(&command, 0, " class=\"c\"", 0.0);
    let typed = command.chars().count() as f64 * TYPED + PAUSE;
    for (at, line) in session.lines.iter().enumerate() {
        row(line, at + 1, "", typed + at as f64 * BETWEEN);
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_the_command_and_every_line() {
        let page =
            "```console\n$ cargo run --release -- tune a.sh || true\n```\n\n```text\na < b\n...\n```\n";
        let found = sessions(page);
        assert_eq!(
            (found.len(), found[0].command.as_str(), found[0].lines.len()),
            (1, "railwright tune a.sh", 2)
        );
        let image = svg(&found[0], "t");
        assert!(image.contains("$ railwright tune a.sh") && image.contains("a &lt; b"), "{image}");
        assert_eq!(image.matches("<text").count(), 3);
    }
}
