//! Two texts as a unified diff, compatible with `diff -u` and `git apply`.
//!
//! Responsible for: hunks with three lines of context, and the mark of a last line without an end. Texts
//! without a common line are replaced as a whole.

use std::fmt::Write as _;

const CONTEXT: usize = 3;
/// Maximum number of lines between the first and the last difference that are matched individually; beyond
/// this they are replaced as a whole.
const MOST_LINES: usize = 4000;

/// The diff from one text to another; empty for equal texts.
pub fn unified(before: &str, after: &str, names: (&str, &str)) -> String {
    if before == after {
        return String::new();
    }
    let (a, b) = (lines(before), lines(after));
    let steps = steps(&a, &b);
    let mut out = format!("--- {}\n+++ {}\n", names.0, names.1);
    for hunk in hunks(&steps) {
        let steps = &steps[hunk];
        let (first_a, first_b) = steps.first().map_or((0, 0), |step| (step.a, step.b));
        let count = |is: fn(Kind) -> bool| steps.iter().filter(|step| is(step.kind)).count();
        let (len_a, len_b) = (count(|kind| kind != Kind::Added), count(|kind| kind != Kind::Removed));
        let start = |first: usize, length: usize| if length == 0 { first } else { first + 1 };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "@@ -{},{len_a} +{},{len_b} @@", start(first_a, len_a), start(first_b, len_b));
        for step in steps {
            let (sign, line) = match step.kind {
                Kind::Same => (' ', a[step.a]),
                Kind::Removed => ('-', a[step.a]),
                Kind::Added => ('+', b[step.b]),
            };
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Same,
    Removed,
    Added,
}

/// One line of a diff, with the position in both texts.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: Kind,
    a: usize,
    b: usize,
}

fn steps(a: &[&str], b: &[&str]) -> Vec<Step> {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let mut steps: Vec<Step> = (0..head).map(|at| Step { kind: Kind::Same, a: at, b: at }).collect();
    let (mut i, mut j) = (0, 0);
    let table = common(inner_a, inner_b);
    while i < inner_a.len() || j < inner_b.len() {
        let is_same = i < inner_a.len() && j < inner_b.len() && inner_a[i] == inner_b[j] && table.is_some();
        let length =
            |i: usize, j: usize| table.as_ref().map_or(0, |table| table[i * (inner_b.len() + 1) + j]);
        let kind = if is_same {
            Kind::Same
        } else if i < inner_a.len() && (j == inner_b.len() || length(i + 1, j) >= length(i, j + 1)) {
            Kind::Removed
        } else {
            Kind::Added
        };
        steps.push(Step { kind, a: head + i, b: head + j });
        i += usize::from(kind != Kind::Added);
        j += usize::from(kind != Kind::Removed);
    }
    steps.extend((0..tail).map(|at| Step {
        kind: Kind::Same,
        a: a.len() - tail + at,
        b: b.len() - tail + at,
    }));
    steps
}

/// Lengths of longest common sequences of the rest at each pair of positions; `None` for texts that are too
/// long.
fn common(a: &[&str], b: &[&str]) -> Option<Vec<u32>> {
    if a.len() > MOST_LINES || b.len() > MOST_LINES {
        return None;
    }
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if a[i] == b[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    Some(table)
}

/// Stretches of steps with their context.
fn hunks(steps: &[Step]) -> Vec<std::ops::Range<usize>> {
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in steps.iter().enumerate().filter(|(_, step)| step.kind != Kind::Same) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(steps.len()));
        match out.last_mut().filter(|last| from <= last.end) {
            Some(last) => last.end = to,
            None => out.push(from..to),
        }
    }
    out
}
