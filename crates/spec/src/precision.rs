//! Number formats and their sizes in bytes.

use serde::{Deserialize, Serialize};

/// A number format of tensors or GEMMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DataType {
    /// 32-bit float.
    Fp32,
    /// 32-bit storage, GEMMs with 19-bit inputs (TensorFloat-32).
    Tf32,
    /// 16-bit float.
    Fp16,
    /// bfloat16.
    Bf16,
    /// 8-bit float, one scale per tensor or per block of a matrix (E4M3/E5M2).
    Fp8,
    /// 8-bit float, one scale per 32 elements (OCP microscaling).
    Mxfp8,
    /// 4-bit float, one scale per 16 elements.
    Nvfp4,
    /// 8-bit integer.
    Int8,
}

impl DataType {
    /// All formats.
    pub const ALL: [Self; 8] =
        [Self::Fp32, Self::Tf32, Self::Fp16, Self::Bf16, Self::Fp8, Self::Mxfp8, Self::Nvfp4, Self::Int8];

    /// Bytes per element, scales of block formats included (1/32 byte and 1/16 byte per element).
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Fp32 | Self::Tf32 => 4.0,
            Self::Fp16 | Self::Bf16 => 2.0,
            Self::Fp8 | Self::Int8 => 1.0,
            Self::Mxfp8 => 1.0 + 1.0 / 32.0,
            Self::Nvfp4 => 0.5 + 1.0 / 16.0,
        }
    }

    /// Name in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Mxfp8 => "mxfp8",
            Self::Nvfp4 => "nvfp4",
            Self::Int8 => "int8",
        }
    }

    /// Format of a name; `None` if unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let lower = match lower.as_str() {
            "float32" => "fp32",
            "float16" | "half" => "fp16",
            "bfloat16" => "bf16",
            "float8" => "fp8",
            other => other,
        };
        Self::ALL.into_iter().find(|t| t.name() == lower)
    }

    /// True if narrower than 16 bits, so that activations are cast for every GEMM.
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Fp8 | Self::Mxfp8 | Self::Nvfp4 | Self::Int8)
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
