//! The wire format of protobuf: varints, and fields with their numbers.
//!
//! Responsible for: single messages in both directions. A length beyond the end of the data and a varint of
//! more than 64 bits are errors.

/// Data that is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Varint(u64),
    /// Eight or four bytes, little endian.
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The value as a whole number, if it is one.
    pub(super) const fn number(self) -> Option<u64> {
        match self {
            Self::Varint(number) | Self::Fixed(number) => Some(number),
            Self::Bytes(_) => None,
        }
    }

    /// The value as text; bytes that are not UTF-8 are replaced.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }
}

/// Takes a varint from the front.
pub(super) fn take_varint(data: &mut &[u8]) -> Result<u64, Broken> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = data.split_first().ok_or(Broken)?;
        *data = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Broken)
}

/// Takes this many bytes from the front.
pub(super) fn take<'a>(data: &mut &'a [u8], length: u64) -> Result<&'a [u8], Broken> {
    let length = usize::try_from(length).map_err(|_| Broken)?;
    let (own, rest) = data.split_at_checked(length).ok_or(Broken)?;
    *data = rest;
    Ok(own)
}

/// Fields of a message, in their order.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Broken> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = take_varint(&mut self.0)?;
        let fixed =
            |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let value = match key & 7 {
            0 => Value::Varint(take_varint(&mut self.0)?),
            1 => Value::Fixed(fixed(take(&mut self.0, 8)?)),
            2 => {
                let length = take_varint(&mut self.0)?;
                Value::Bytes(take(&mut self.0, length)?)
            }
            5 => Value::Fixed(fixed(take(&mut self.0, 4)?)),
            _ => return Err(Broken),
        };
        Ok(Some((key >> 3, value)))
    }
}

/// A message in the making.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn number(&mut self, field: u64, value: u64) {
        self.raw(field << 3);
        self.raw(value);
    }

    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) {
        self.raw(field << 3 | 2);
        self.raw(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    pub(super) fn message(&mut self, field: u64, inner: &Self) {
        self.bytes(field, &inner.0);
    }

    /// Adds numbers of a repeated field, packed; nothing for an empty list.
    pub(super) fn packed(&mut self, field: u64, values: &[u64]) {
        if !values.is_empty() {
            let mut inner = Self::default();
            for value in values {
                inner.raw(*value);
            }
            self.message(field, &inner);
        }
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Appends the message to a file, after its length.
    pub(super) fn append_to(&self, file: &mut Vec<u8>) {
        let mut length = Self::default();
        length.raw(self.0.len() as u64);
        file.extend_from_slice(&length.0);
        file.extend_from_slice(&self.0);
    }
}
