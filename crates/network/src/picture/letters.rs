//! Letters in pixels, for charts without a font.
//!
//! Responsible for: the few capitals, digits and signs that a heat map's axes need, three pixels by five. All
//! other characters are blank.

/// Rows of three bits each, from the top.
fn glyph(letter: char) -> [u8; 5] {
    match letter.to_ascii_uppercase() {
        '0' | 'O' => [7, 5, 5, 5, 7],
        '1' => [2, 6, 2, 2, 7],
        '2' => [7, 1, 7, 4, 7],
        '3' => [7, 1, 3, 1, 7],
        '4' => [5, 5, 7, 1, 1],
        '5' => [7, 4, 7, 1, 7],
        '6' => [7, 4, 7, 5, 7],
        '7' => [7, 1, 2, 2, 2],
        '8' => [7, 5, 7, 5, 7],
        '9' => [7, 5, 7, 1, 7],
        'A' => [2, 5, 7, 5, 5],
        'B' => [6, 5, 6, 5, 6],
        'C' => [3, 4, 4, 4, 3],
        'D' => [6, 5, 5, 5, 6],
        'E' => [7, 4, 6, 4, 7],
        'F' => [7, 4, 6, 4, 4],
        'G' => [3, 4, 5, 5, 3],
        'I' => [7, 2, 2, 2, 7],
        'K' => [5, 5, 6, 5, 5],
        'M' => [5, 7, 7, 5, 5],
        'N' => [6, 5, 5, 5, 5],
        'R' => [6, 5, 6, 5, 5],
        'S' => [3, 4, 2, 1, 6],
        'T' => [7, 2, 2, 2, 2],
        'V' => [5, 5, 5, 5, 2],
        'Y' => [5, 5, 2, 2, 2],
        _ => [0; 5],
    }
}

/// Pixels of a letter's side, and of the step to the next.
const SCALE: usize = 3;
const STEP: usize = 4 * SCALE;

/// A sheet of white to write on.
pub(super) struct Sheet {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) rgb: Vec<u8>,
}

impl Sheet {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, rgb: vec![255; width * height * 3] }
    }

    /// Fills a rectangle, clipped to the sheet.
    pub(super) fn fill(&mut self, (x, y): (usize, usize), (w, h): (usize, usize), colour: [u8; 3]) {
        for row in y..(y + h).min(self.height) {
            for column in x..(x + w).min(self.width) {
                self.rgb[(row * self.width + column) * 3..][..3].copy_from_slice(&colour);
            }
        }
    }

    /// Writes from the upper left corner on.
    pub(super) fn write(&mut self, text: &str, (x, y): (usize, usize)) {
        for (place, letter) in text.chars().enumerate() {
            for (row, bits) in glyph(letter).into_iter().enumerate() {
                for column in (0..3).filter(|column| bits >> (2 - column) & 1 == 1) {
                    let at = (x + place * STEP + column * SCALE, y + row * SCALE);
                    self.fill(at, (SCALE, SCALE), [60, 66, 76]);
                }
            }
        }
    }
}

/// Width of a text and height of every text, in pixels.
pub(super) fn wide(text: &str) -> usize {
    (text.chars().count() * STEP).saturating_sub(SCALE)
}
pub(super) const HIGH: usize = 5 * SCALE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_written_where_they_should() {
        let mut sheet = Sheet::new(40, 20);
        sheet.write("1?", (2, 1));
        let dark = |x: usize, y: usize| sheet.rgb[(y * 40 + x) * 3] < 100;
        // The one's stem is its middle column; an unknown letter is a blank.
        assert!(dark(2 + 4, 1) && dark(2 + 4, 1 + 7) && !dark(2, 1));
        assert!((2 + STEP..40).all(|x| (0..20).all(|y| !dark(x, y))));
        assert_eq!(wide("1?"), 21);
    }
}
