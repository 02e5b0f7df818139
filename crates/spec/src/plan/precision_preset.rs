//! Presets of number formats.

use super::Precision;
use crate::precision::DataType;
use crate::run::field::choice;

/// A preset of number formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrecisionPreset {
    /// bf16 GEMMs and parameters, fp32 gradients, master weights and moments (Megatron's mixed precision).
    Bf16,
    /// fp16 GEMMs, parameters and gradients, fp32 master weights and moments.
    Fp16,
    /// fp8 GEMMs on bf16 parameters, the rest as bf16.
    Fp8,
    /// GEMMs in block-scaled fp8, the rest as bf16.
    Mxfp8,
    /// GEMMs in 4 bits, the rest as bf16.
    Nvfp4,
    /// 8-bit integer GEMMs, the rest as bf16.
    Int8,
    /// GEMMs in tf32, everything else fp32.
    Tf32,
    /// Everything in fp32.
    Fp32,
}

choice!(PrecisionPreset {
    "bf16" | "bfloat16" => Self::Bf16,
    "fp16" | "float16" => Self::Fp16,
    "fp8" | "float8" => Self::Fp8,
    "mxfp8" => Self::Mxfp8,
    "nvfp4" => Self::Nvfp4,
    "int8" => Self::Int8,
    "tf32" => Self::Tf32,
    "fp32" | "float32" => Self::Fp32,
});

impl PrecisionPreset {
    /// Number formats of the preset. Static memory per parameter with Adam: 18 bytes (2 + 4 + 4 + 8) for all
    /// but fp16 (16) and fp32 (16).
    pub fn precision(self) -> Precision {
        let mixed = |compute| Precision {
            compute,
            parameters: DataType::Bf16,
            gradients: DataType::Fp32,
            gradient_reduce: DataType::Fp32,
            master: Some(DataType::Fp32),
            moments: DataType::Fp32,
            activations: DataType::Bf16,
            narrow_attention: false,
        };
        let single = |compute| Precision {
            parameters: DataType::Fp32,
            master: None,
            activations: DataType::Fp32,
            ..mixed(compute)
        };
        match self {
            Self::Bf16 => mixed(DataType::Bf16),
            Self::Fp16 => Precision {
                parameters: DataType::Fp16,
                gradients: DataType::Fp16,
                gradient_reduce: DataType::Fp16,
                activations: DataType::Fp16,
                ..mixed(DataType::Fp16)
            },
            Self::Fp8 => mixed(DataType::Fp8),
            Self::Mxfp8 => mixed(DataType::Mxfp8),
            Self::Nvfp4 => mixed(DataType::Nvfp4),
            Self::Int8 => mixed(DataType::Int8),
            Self::Tf32 => single(DataType::Tf32),
            Self::Fp32 => single(DataType::Fp32),
        }
    }
}
