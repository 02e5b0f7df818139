//! Conversion of one typed field of a section from and to a value.
//!
//! Responsible for: the conversion and its error, once per type. The caller adds the place (key and file).

use super::units;
use super::value::{Kind, Value};
use crate::problem::{Problem, nearest};
use crate::quantity::{Bytes, BytesPerSecond, Dollars, FlopPerSecond, Seconds, Watts};

/// A type of a run file's key.
pub trait Field: Sized {
    /// Kind of value, for messages and the schema.
    const KIND: Kind;

    /// Reads the field. A problem has no place yet.
    fn read(value: &Value) -> Result<Self, Problem>;

    /// Writes the field. [`Field::read`] restores it exactly.
    fn write(&self) -> Value;
}

/// Problem of a value with the wrong type.
pub fn wrong(kind: Kind, value: &Value) -> Problem {
    Problem::new(format!("expected {}, found {}", kind.expects(), value.describe()))
}

/// Problem of a text that is none of the choices.
pub fn no_choice(kind: Kind, names: &[&str], text: &str) -> Problem {
    let near = nearest(text, names.iter().copied());
    let problem = wrong(kind, &Value::Text(text.to_owned()));
    match near.first() {
        Some(name) => problem.hint(format!("did you mean `{name}`?")),
        None => problem,
    }
}

impl Field for u64 {
    const KIND: Kind = Kind::Count;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Integer(n) => Self::try_from(*n).map_err(|_| wrong(Self::KIND, value)),
            // 1e3 is accepted as a whole number; floats are exact up to 2^53, about 9e15.
            Value::Number(x) if x.fract() == 0.0 && (0.0..=9e15).contains(x) => Ok(*x as Self),
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
    }
}

impl Field for f64 {
    const KIND: Kind = Kind::Number;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Integer(n) => Ok(*n as Self),
            Value::Number(x) if x.is_finite() => Ok(*x),
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl Field for bool {
    const KIND: Kind = Kind::Flag;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Flag(b) => Ok(*b),
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Flag(*self)
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Field for Vec<u64> {
    const KIND: Kind = Kind::Counts;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::List(list) => {
                list.iter().map(u64::read).collect::<Result<_, _>>().map_err(|_| wrong(Self::KIND, value))
            }
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::List(self.iter().map(Field::write).collect())
    }
}

impl Field for Vec<String> {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::List(list) => {
                list.iter().map(String::read).collect::<Result<_, _>>().map_err(|_| wrong(Self::KIND, value))
            }
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::List(self.iter().map(Field::write).collect())
    }
}

macro_rules! quantity_field {
    ($type:ty, $units:expr, $unit:literal, $scale:expr, $examples:expr) => {
        impl Field for $type {
            const KIND: Kind = Kind::Quantity($examples);

            fn read(value: &Value) -> Result<Self, Problem> {
                match value {
                    Value::Text(text) => units::read(text, $units).map(Self::new),
                    Value::Integer(_) | Value::Number(_) => {
                        Err(wrong(Self::KIND, value).hint("add the unit, in quotes"))
                    }
                    _ => Err(wrong(Self::KIND, value)),
                }
            }

            fn write(&self) -> Value {
                let scaled = self.get() / $scale;
                // The more readable unit only if the conversion is exact.
                if scaled * $scale == self.get() && format!("{scaled}").len() < 20 {
                    Value::Text(format!("{scaled} {}", $unit))
                } else {
                    Value::Text(format!("{} {}", units::written(self.get()), units::base($units)))
                }
            }
        }
    };
}

quantity_field!(BytesPerSecond, units::BANDWIDTH, "GB/s", 1e9, &["400 Gbit/s", "50 GB/s"]);
quantity_field!(Bytes, units::MEMORY, "GiB", 1_073_741_824.0, &["80 GB", "79.1 GiB"]);
quantity_field!(Seconds, units::TIME, "us", 1e-6, &["5 us", "2 ms"]);
quantity_field!(FlopPerSecond, units::ARITHMETIC, "TFLOP/s", 1e12, &["989 TFLOP/s", "2.25 PFLOP/s"]);
quantity_field!(Watts, units::POWER, "W", 1.0, &["700 W", "1.2 kW"]);

impl Field for Dollars {
    const KIND: Kind = Kind::Number;

    fn read(value: &Value) -> Result<Self, Problem> {
        f64::read(value).map(Self::new)
    }

    fn write(&self) -> Value {
        Value::Number(self.get())
    }
}

/// A count with an optional suffix (`"14.8T"`), such as tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(pub f64);

impl Field for Amount {
    const KIND: Kind = Kind::Amount(&["14.8T", "300B"]);

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Text(text) => units::read(text, units::AMOUNT).map(Self),
            Value::Integer(_) | Value::Number(_) => f64::read(value).map(Self),
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Number(self.0)
    }
}

/// Implements [`Field`] for an enum: names in the order of messages, aliases after `|`.
#[macro_export]
macro_rules! choice {
    ($type:ty { $($name:literal $(| $alias:literal)* => $value:expr),+ $(,)? }) => {
        impl $crate::run::Field for $type {
            const KIND: $crate::run::Kind = $crate::run::Kind::Choice(&[$($name),+]);

            fn read(value: &$crate::run::Value) -> Result<Self, $crate::problem::Problem> {
                match value {
                    $crate::run::Value::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                        $($name $(| $alias)* => Ok($value),)+
                        other => Err($crate::run::no_choice(Self::KIND, &[$($name),+], other)),
                    },
                    _ => Err($crate::run::wrong(Self::KIND, value)),
                }
            }

            fn write(&self) -> $crate::run::Value {
                $(if *self == $value {
                    return $crate::run::Value::Text($name.to_owned());
                })+
                $crate::run::Value::Text(String::new())
            }
        }
    };
}
pub(crate) use choice;
