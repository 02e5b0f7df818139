//! Lists of numbers in Megatron's syntax: Python expressions such as `([0]*3+[1]*58)`, or `1,0,1`.
//!
//! Responsible for: brackets, repetition, joining, all bounded. All other expressions are errors.

/// Entries of a list at most: no model has more layers.
pub(crate) const LONGEST: u64 = 4096;

/// The list that an expression yields.
pub(crate) fn read(text: &str) -> Option<Vec<u64>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !"'\"\\".contains(*c)).collect();
    if !text.contains('[') {
        let list: Option<Vec<u64>> =
            text.trim_matches(['(', ')']).split(',').map(|item| item.parse().ok()).collect();
        return list.filter(|list| list.len() as u64 <= LONGEST);
    }
    let mut parser = Parser { rest: &text, depth: 0 };
    let list = parser.sum()?;
    parser.rest.is_empty().then_some(list)
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<Vec<u64>> {
        let mut list = self.product()?;
        while self.eat('+') {
            list.extend(self.product()?);
            if list.len() as u64 > LONGEST {
                return None;
            }
        }
        Some(list)
    }

    fn product(&mut self) -> Option<Vec<u64>> {
        let list = self.item()?;
        if !self.eat('*') {
            return Some(list);
        }
        let times = self.number()?;
        if times.saturating_mul(list.len() as u64) > LONGEST {
            return None;
        }
        Some(list.repeat(times as usize))
    }

    fn item(&mut self) -> Option<Vec<u64>> {
        self.depth += 1;
        if self.depth > 16 {
            return None;
        }
        let list = if self.eat('(') {
            let list = self.sum()?;
            self.eat(')').then_some(list)
        } else if self.eat('[') {
            let mut list = Vec::new();
            while !self.eat(']') {
                list.push(self.number()?);
                self.eat(',');
                if list.len() as u64 > LONGEST {
                    return None;
                }
            }
            Some(list)
        } else {
            None
        };
        self.depth -= 1;
        list
    }

    fn number(&mut self) -> Option<u64> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().ok()
    }
}

/// A list of 0 and 1 as an expression, runs of one value joined: `([0]*3+[1]*58)`.
pub(crate) fn write(list: &[u64]) -> String {
    let runs: Vec<String> =
        list.chunk_by(|a, b| a == b).map(|run| format!("[{}]*{}", run[0], run.len())).collect();
    format!("({})", runs.join("+"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_deepseek_and_its_derivatives() {
        assert_eq!(read("([0]*3+[1]*5)"), Some(vec![0, 0, 0, 1, 1, 1, 1, 1]));
        assert_eq!(read("'([1, 0]*2)'"), Some(vec![1, 0, 1, 0]));
        assert_eq!(read("[[0]*3+[1]*5]"), None);
        assert_eq!(read("1,0,1"), Some(vec![1, 0, 1]));
        assert_eq!(read(&write(&[0, 0, 1, 1, 0])), Some(vec![0, 0, 1, 1, 0]));
        for bad in ["[0]*999999999", "[0]+", "", "[0", &"(".repeat(9999)] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
