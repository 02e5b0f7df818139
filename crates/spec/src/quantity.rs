//! Physical quantities and identifiers as types, so that units are never mixed.
//!
//! Responsible for: arithmetic with correct units. Excludes formatting (see [`crate::human`]) and parsing
//! (see the readers).
//!
//! Bandwidths are decimal (1 GB/s = 1e9 B/s) and in one direction. Memory is counted in bytes; a GiB is
//! 2^30 bytes and is written as GiB.

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(f64);

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "number", "x-unit": $unit })
            }
        }

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0.0);

            /// Quantity from a number in the unit of the type.
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            /// Number in the unit of the type.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of the two.
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of the two.
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }

            /// True if the number is neither NaN nor infinite.
            pub fn is_finite(self) -> bool {
                self.0.is_finite()
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl std::ops::SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl std::ops::Mul<$name> for f64 {
            type Output = $name;
            fn mul(self, quantity: $name) -> $name {
                $name(self * quantity.0)
            }
        }
        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }
        impl std::ops::Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }
        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                Self(iter.map(|q| q.0).sum())
            }
        }
    };
}

quantity!(
    /// A duration in seconds.
    Seconds, "s"
);
quantity!(
    /// An amount of data in bytes.
    Bytes, "B"
);
quantity!(
    /// A count of floating-point operations; a multiply-add counts two.
    Flop, "FLOP"
);
quantity!(
    /// A rate of arithmetic in floating-point operations per second.
    FlopPerSecond, "FLOP/s"
);
quantity!(
    /// A bandwidth in bytes per second, decimal, one direction.
    BytesPerSecond, "B/s"
);
quantity!(
    /// An amount of money in US dollars.
    Dollars, "USD"
);
quantity!(
    /// A power in watts.
    Watts, "W"
);
quantity!(
    /// An energy in kilowatt-hours.
    KilowattHours, "kWh"
);

macro_rules! rate {
    ($amount:ident / $rate:ident) => {
        impl std::ops::Div<$rate> for $amount {
            type Output = Seconds;
            fn div(self, rate: $rate) -> Seconds {
                Seconds(self.0 / rate.0)
            }
        }
        impl std::ops::Div<Seconds> for $amount {
            type Output = $rate;
            fn div(self, time: Seconds) -> $rate {
                $rate(self.0 / time.0)
            }
        }
        impl std::ops::Mul<Seconds> for $rate {
            type Output = $amount;
            fn mul(self, time: Seconds) -> $amount {
                $amount(self.0 * time.0)
            }
        }
    };
}

rate!(Flop / FlopPerSecond);
rate!(Bytes / BytesPerSecond);

impl Seconds {
    /// From microseconds.
    pub const fn from_micros(micros: f64) -> Self {
        Self(micros * 1e-6)
    }

    /// From milliseconds.
    pub const fn from_millis(millis: f64) -> Self {
        Self(millis * 1e-3)
    }

    /// In microseconds.
    pub const fn micros(self) -> f64 {
        self.0 * 1e6
    }

    /// In milliseconds.
    pub const fn millis(self) -> f64 {
        self.0 * 1e3
    }
}

impl Bytes {
    /// From GiB (2^30 bytes).
    pub const fn from_gib(gib: f64) -> Self {
        Self(gib * 1_073_741_824.0)
    }

    /// In GiB (2^30 bytes).
    pub const fn gib(self) -> f64 {
        self.0 / 1_073_741_824.0
    }
}

impl BytesPerSecond {
    /// From GB/s (1e9 bytes per second).
    pub const fn from_gb(gb: f64) -> Self {
        Self(gb * 1e9)
    }

    /// In GB/s (1e9 bytes per second).
    pub const fn gb(self) -> f64 {
        self.0 / 1e9
    }

    /// From Gbit/s (1e9 bits per second).
    pub const fn from_gbit(gbit: f64) -> Self {
        Self(gbit * 1e9 / 8.0)
    }
}

impl FlopPerSecond {
    /// From TFLOP/s.
    pub const fn from_tera(tera: f64) -> Self {
        Self(tera * 1e12)
    }

    /// In TFLOP/s.
    pub const fn tera(self) -> f64 {
        self.0 / 1e12
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a slice.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

identifier!(
    /// A global rank, from 0: one process on one accelerator.
    Rank
);
identifier!(
    /// A pipeline stage, from 0.
    Stage
);
identifier!(
    /// A layer of the model, counted from 0.
    LayerIndex
);
identifier!(
    /// A micro-batch of one step, counted from 0.
    MicroBatch
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_over_rate_is_time() {
        let time = Bytes::new(450e9) / BytesPerSecond::from_gb(450.0);
        assert_eq!(time, Seconds::new(1.0));
        assert_eq!(Flop::new(989e12) / FlopPerSecond::from_tera(989.0), Seconds::new(1.0));
    }

    #[test]
    fn gib_is_binary_and_gb_decimal() {
        assert_eq!(Bytes::from_gib(1.0).get(), 1_073_741_824.0);
        assert_eq!(BytesPerSecond::from_gbit(400.0).gb(), 50.0);
    }
}
