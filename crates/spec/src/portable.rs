//! Elementary functions with the same bits on every platform.
//!
//! Responsible for: [`Portable`], which every crate uses in place of the methods of `f64`. Those call the C
//! library, and the last digit of a logarithm differs between glibc, musl and WebAssembly, and between
//! processors with and without fused multiplication.

/// Elementary functions of the crate `libm`, computed without the C library.
pub trait Portable {
    /// `e^x`.
    fn portable_exp(self) -> f64;
    /// `e^x - 1`, precise near 0.
    fn portable_exp_m1(self) -> f64;
    /// Natural logarithm.
    fn portable_ln(self) -> f64;
    /// `ln(1 + x)`, precise near 0.
    fn portable_ln_1p(self) -> f64;
    /// Logarithm to base 2.
    fn portable_log2(self) -> f64;
    /// Logarithm to base 10.
    fn portable_log10(self) -> f64;
    /// `x^exponent`.
    fn portable_powf(self, exponent: f64) -> f64;
    /// Cube root.
    fn portable_cbrt(self) -> f64;
    /// Sine of an angle in radians.
    fn portable_sin(self) -> f64;
    /// Cosine of an angle in radians.
    fn portable_cos(self) -> f64;
}

impl Portable for f64 {
    fn portable_exp(self) -> f64 {
        libm::exp(self)
    }
    fn portable_exp_m1(self) -> f64 {
        libm::expm1(self)
    }
    fn portable_ln(self) -> f64 {
        libm::log(self)
    }
    fn portable_ln_1p(self) -> f64 {
        libm::log1p(self)
    }
    fn portable_log2(self) -> f64 {
        libm::log2(self)
    }
    fn portable_log10(self) -> f64 {
        libm::log10(self)
    }
    fn portable_powf(self, exponent: f64) -> f64 {
        libm::pow(self, exponent)
    }
    fn portable_cbrt(self) -> f64 {
        libm::cbrt(self)
    }
    fn portable_sin(self) -> f64 {
        libm::sin(self)
    }
    fn portable_cos(self) -> f64 {
        libm::cos(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Portable;

    #[test]
    fn functions_are_the_inverse_of_each_other() {
        for x in [0.1_f64, 0.7, 1.3, 2.0, 10.0, 1000.0] {
            assert!((x.portable_ln().portable_exp() / x - 1.0).abs() < 1e-14);
            assert!((x.portable_powf(5.0) / x.powi(5) - 1.0).abs() < 1e-15);
            assert!((x.portable_cbrt().powi(3) / x - 1.0).abs() < 1e-14);
            assert!((x.portable_ln_1p() - (1.0 + x).portable_ln()).abs() < 1e-14);
        }
        assert_eq!(
            [8.0_f64.portable_log2(), 1000.0_f64.portable_log10(), 10.0_f64.portable_powf(15.0)],
            [3.0, 3.0, 1e15]
        );
    }
}
