//! Capabilities of the terminal: width, colours, characters.

use crate::document::Tone;
use anstyle::{AnsiColor, Style};

/// Capabilities of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Characters in a line.
    pub width: usize,
    /// True to use colours.
    pub colour: bool,
    /// True to use characters beyond ASCII.
    pub unicode: bool,
    /// True to show the details of a report.
    pub verbose: bool,
}

/// Width without a terminal, and maximum width of prose: longer lines are hard to read.
const USUAL_WIDTH: usize = 100;
/// Maximum width of tables on a wide terminal.
const WIDEST: usize = 180;
const NARROWEST: usize = 40;
/// Width of a stream without lines of a given width.
pub(crate) const UNLIMITED: usize = usize::MAX;

impl Terminal {
    /// Detects the capabilities from the environment.
    pub fn detect(colour: bool, ascii: bool) -> Self {
        // The first one that is set decides, as in the C library.
        let locale = variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG"));
        let unicode = cfg!(windows)
            || locale.is_some_and(|name| {
                let name = name.to_ascii_lowercase();
                name.contains("utf-8") || name.contains("utf8")
            });
        Self {
            width: columns().unwrap_or(USUAL_WIDTH).clamp(NARROWEST, WIDEST),
            colour,
            unicode: unicode && !ascii,
            verbose: false,
        }
    }

    /// Capabilities for messages: lines are unlimited if neither `COLUMNS` nor a terminal sets a width, so
    /// that logs keep one message per line.
    pub fn for_messages(colour: bool, ascii: bool) -> Self {
        let usual = Self::detect(colour, ascii);
        Self { width: columns().map_or(UNLIMITED, |_| usual.width), ..usual }
    }

    /// A terminal for files: wide, plain.
    pub const fn file(unicode: bool) -> Self {
        Self { width: USUAL_WIDTH, colour: false, unicode, verbose: false }
    }

    /// Characters in a line of prose.
    pub fn prose(self) -> usize {
        self.width.min(USUAL_WIDTH)
    }

    /// Formats a text by its emphasis.
    pub fn paint(self, text: &str, tone: Tone) -> String {
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = style(tone);
        format!("{style}{text}{style:#}")
    }

    /// Chooses a spelling by the terminal's characters.
    pub const fn either<'a>(self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }

    /// Bar of a share from 0 to 1, at most `width` characters.
    pub fn bar(self, share: f64, width: usize) -> String {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * width as f64 * 8.0).round() as usize;
        if self.unicode {
            let mut bar = "\u{2588}".repeat(eighths / 8);
            let part =
                ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
            bar.push_str(part[eighths % 8]);
            bar
        } else {
            "#".repeat((eighths + 4) / 8)
        }
    }
}

/// A variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Columns that the environment or the terminal sets.
fn columns() -> Option<usize> {
    variable("COLUMNS")
        .and_then(|value| value.parse::<usize>().ok())
        .or_else(width)
        .filter(|&width| width > 0)
}

/// Width of the terminal; `None` without one.
fn width() -> Option<usize> {
    #[cfg(not(target_family = "wasm"))]
    return terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    #[cfg(target_family = "wasm")]
    None
}

fn style(tone: Tone) -> Style {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Faint => Style::new().dimmed(),
        Tone::Name => colour(AnsiColor::Cyan),
        Tone::Good => colour(AnsiColor::Green),
        Tone::Doubtful => colour(AnsiColor::Yellow),
        Tone::Bad => colour(AnsiColor::Red).bold(),
    }
}
