//! The wire format of Protocol Buffers, limited to the features that profiles use.
//!
//! Responsible for: fields of a message in order, borrowed from the file, so that a claimed length causes no
//! allocation. Excludes groups (deprecated wire types 3 and 4): a message with one ends there, and the reader
//! notes it.
//!
//! Source: Protocol Buffers documentation, "Encoding".

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// A variable-length integer.
    Number(u64),
    /// Eight bytes, little-endian.
    Double([u8; 8]),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The integer; 0 for other values.
    pub(crate) fn number(self) -> u64 {
        if let Value::Number(number) = self { number } else { 0 }
    }

    /// The bytes; empty for other values.
    pub(crate) fn bytes(self) -> &'a [u8] {
        if let Value::Bytes(bytes) = self { bytes } else { &[] }
    }

    /// The text, with damaged characters replaced.
    pub(crate) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// Fields of a message. Iteration ends at the first damage; [`Fields::is_damaged`] is then true.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    damaged: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, damaged: false }
    }

    /// Tests whether the message ended in damage.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Number of unread bytes.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for (at, &byte) in self.rest.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
            if byte < 0x80 {
                self.rest = self.rest.get(at + 1..)?;
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Double(self.take(8)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.damaged || self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        self.damaged = field.is_none();
        field
    }
}

/// Reads a variable-length integer; returns it with the rest.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut fields = Fields::new(bytes);
    let number = fields.varint()?;
    Some((number, fields.rest))
}

/// Reads a message with a length prefix; returns it with the rest.
pub(crate) fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = varint(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// Writes messages for tests.
#[cfg(test)]
pub(crate) mod encode {
    pub(crate) fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    /// A field with an integer.
    pub(crate) fn number(field: u64, value: u64) -> Vec<u8> {
        [varint(field << 3), varint(value)].concat()
    }

    /// A field with bytes, a text or a message.
    pub(crate) fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
        [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_damage_ends_them() {
        // The documentation's examples: field 1 = 150, field 2 = "testing".
        let bytes = b"\x08\x96\x01\x12\x07testing";
        let found: Vec<_> = Fields::new(bytes).collect();
        assert_eq!(found, [(1, Value::Number(150)), (2, Value::Bytes(b"testing"))]);
        let mut cut = Fields::new(&bytes[..8]);
        assert_eq!(cut.by_ref().count(), 1);
        assert!(cut.is_damaged());
        for damaged in [
            &b"\x0b"[..],
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            let mut fields = Fields::new(damaged);
            assert_eq!(fields.next(), None);
            assert!(fields.is_damaged());
        }
    }
}
