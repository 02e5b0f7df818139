//! The matrix as CSV and as a heat map.
//!
//! Responsible for: streaming rows, so that thousands of ranks need no text in memory. Does not sum.

use railwright_inputs::{self as input, Caller};
use railwright_network::picture::{Heat, heat, heat_pixels};
use railwright_network::traffic::{Cells, Matrix};
use railwright_spec::problem::Problem;
use std::io::Write;
use std::path::Path;

/// Files of a traffic matrix.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// A file for the matrix.
    pub matrix: Option<String>,
    /// A file for the matrix as a heat map.
    pub heat: Option<String>,
    /// Number of blocks of ranks along a side.
    pub cells: Option<u32>,
}

/// Default number of cells along the side of a heat map.
pub(super) const USUAL_CELLS: u32 = 256;

/// Cells along a side at most.
const MOST_CELLS: u32 = 1024;

#[derive(Clone, Copy, PartialEq)]
enum Picture {
    Svg,
    Png,
}

fn picture(path: &str) -> Option<Picture> {
    let suffix = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    match suffix.as_str() {
        "svg" => Some(Picture::Svg),
        "png" => Some(Picture::Png),
        _ => None,
    }
}

/// Returns an error for outputs that could not be written, before anything is computed.
pub(super) fn check(files: &Files) -> Result<(), Problem> {
    if let Some(path) = &files.heat
        && picture(path).is_none()
    {
        return Err(Problem::new(format!("unknown image format: `{path}`"))
            .in_file("--heat")
            .hint("use the suffix `.svg` or `.png`"));
    }
    if let Some(cells) = files.cells.filter(|cells| !(1..=MOST_CELLS).contains(cells)) {
        return Err(Problem::new(format!("{cells} cells per side cannot be drawn"))
            .in_file("--cells")
            .hint(format!("choose 1 to {MOST_CELLS}")));
    }
    Ok(())
}

/// Writes the requested files.
pub(super) fn write(files: &Files, name: &str, matrix: &Matrix, caller: &dyn Caller) -> Result<(), Problem> {
    if let Some(path) = &files.matrix {
        match files.cells {
            Some(side) => input::write_with(path, |file| averages(&Cells::new(matrix, side), file))?,
            None => input::write_with(path, |file| pairs(matrix, file))?,
        }
        caller.note(&format!("wrote `{path}`"));
    }
    if let Some(path) = &files.heat {
        let cells = Cells::new(matrix, files.cells.unwrap_or(USUAL_CELLS));
        draw(path, name, &cells)?;
        caller.note(&format!("wrote `{path}`"));
    }
    Ok(())
}

/// A line for each pair that talks.
fn pairs(matrix: &Matrix, file: &mut dyn Write) -> std::io::Result<()> {
    writeln!(file, "from,to,bytes")?;
    for from in 0..matrix.ranks() {
        for (to, bytes) in matrix.row(from) {
            writeln!(file, "{from},{to},{bytes}")?;
        }
    }
    Ok(())
}

/// A line for each two blocks of ranks that talk: mean bytes from a rank of one to a rank of the other.
fn averages(cells: &Cells, file: &mut dyn Write) -> std::io::Result<()> {
    writeln!(file, "from_first,from_last,to_first,to_last,mean_bytes")?;
    for i in 0..cells.side {
        for j in 0..cells.side {
            let mean = cells.mean(i, j);
            if mean > 0.0 {
                let ((a, b), (c, d)) = (cells.span(i), cells.span(j));
                writeln!(file, "{a},{},{c},{},{mean}", b - 1, d - 1)?;
            }
        }
    }
    Ok(())
}

fn draw(path: &str, name: &str, cells: &Cells) -> Result<(), Problem> {
    let average = if cells.per_cell > 1 {
        format!(", on average over blocks of {}", cells.per_cell)
    } else {
        String::new()
    };
    let chart = Heat {
        title: format!("{name}: bytes between ranks per step{average}"),
        side: cells.side,
        first: 0,
        per_cell: cells.per_cell,
        bytes: &|from, to| cells.mean(from, to),
    };
    // The number of cells was checked.
    if picture(path) == Some(Picture::Png) {
        let Some(pixels) = heat_pixels(&chart) else { return Ok(()) };
        input::write_with(path, |file| {
            let mut encoder = png::Encoder::new(file, pixels.width, pixels.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            let whole = |error: png::EncodingError| std::io::Error::other(error);
            encoder.add_text_chunk("Title".to_owned(), chart.title.clone()).map_err(whole)?;
            let mut writer = encoder.write_header().map_err(whole)?;
            writer.write_image_data(&pixels.rgb).map_err(whole)?;
            writer.finish().map_err(whole)
        })?;
    } else if let Some(svg) = heat(&chart) {
        input::write(path, &svg)?;
    }
    Ok(())
}
