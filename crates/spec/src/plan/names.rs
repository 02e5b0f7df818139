//! Spellings of plan settings: names, and the shorthand of sharding and recompute.

use super::{AttentionKernel, ContextKind, Optimizer, RankOrder, Recompute, RecomputeModule, Sharding};
use crate::precision::DataType;
use crate::problem::Problem;
use crate::run::field::{choice, no_choice, wrong};
use crate::run::{Field, Kind, Value};
use std::collections::BTreeSet;

choice!(ContextKind {
    "ring" | "p2p" => Self::Ring,
    "all_gather" | "all-gather" | "allgather" => Self::AllGather,
    "ulysses" | "a2a" => Self::Ulysses,
});
choice!(RankOrder {
    "tp-cp-ep-dp-pp" => Self::TensorContextDataPipeline,
    "tp-cp-pp-ep-dp" | "tp-pp-dp" => Self::TensorContextPipelineData,
});
choice!(Optimizer {
    "adam" | "adamw" => Self::Adam,
    "sgd" => Self::Sgd,
    "lion" => Self::Lion,
    "muon" => Self::Muon,
    "adafactor" => Self::Adafactor,
    "lora" => Self::Lora,
});
choice!(AttentionKernel {
    "auto" => Self::Auto,
    "unfused" | "eager" => Self::Unfused,
    "flash1" => Self::Flash1,
    "flash2" => Self::Flash2,
    "flash3" | "cudnn" => Self::Flash3,
});
choice!(DataType {
    "bf16" | "bfloat16" => Self::Bf16,
    "fp16" | "float16" | "half" => Self::Fp16,
    "fp32" | "float32" => Self::Fp32,
    "tf32" => Self::Tf32,
    "fp8" | "float8" => Self::Fp8,
    "mxfp8" => Self::Mxfp8,
    "nvfp4" => Self::Nvfp4,
    "int8" => Self::Int8,
});
choice!(RecomputeModule {
    "core_attention" | "core_attn" | "attention" => Self::CoreAttention,
    "norm" | "layernorm" => Self::Norm,
    "activation" | "mlp_act" | "moe_act" => Self::Activation,
    "mlp" => Self::Mlp,
    "moe" => Self::Moe,
    "latent_up_projection" | "mla_up_proj" => Self::LatentUpProjection,
    "operators" | "op" => Self::Operators,
});

/// Number after a colon, 1 or more.
fn positive(text: &str, kind: Kind, whole: &str) -> Result<u64, Problem> {
    match text.trim().parse::<u64>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(wrong(kind, &Value::Text(whole.to_owned()))
            .hint("the part after `:` must be a number of 1 or more")),
    }
}

impl Field for Sharding {
    const KIND: Kind =
        Kind::Form(&["none", "zero1", "zero2", "zero3", "fsdp", "fsdp-no-reshard", "hsdp:8", "zero1:64"]);

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::Text(text) = value else {
            return match value {
                Value::Integer(stage @ 0..=3) => {
                    Ok(Self { zero_stage: *stage as u8, group: None, reshard_after_forward: *stage == 3 })
                }
                _ => Err(wrong(Self::KIND, value)),
            };
        };
        let lower = text.trim().to_ascii_lowercase();
        let (name, group) = match lower.split_once(':') {
            Some((name, group)) => (name.trim(), Some(positive(group, Self::KIND, text)?)),
            None => (lower.as_str(), None),
        };
        let (zero_stage, reshard_after_forward) = match name {
            "none" | "zero0" | "ddp" => (0, false),
            "zero1" | "distributed-optimizer" => (1, false),
            "zero2" => (2, false),
            "zero3" | "fsdp" => (3, true),
            "fsdp-no-reshard" => (3, false),
            "hsdp" if group.is_some() => (3, true),
            "hsdp" => {
                return Err(Problem::new("`hsdp` requires the size of a shard group")
                    .hint("use `hsdp:8` to shard over groups of 8 ranks and replicate over groups"));
            }
            _ => {
                let names = ["none", "zero1", "zero2", "zero3", "fsdp", "fsdp-no-reshard", "hsdp"];
                let mut problem = no_choice(Self::KIND, &names, name);
                problem.message = wrong(Self::KIND, value).message;
                return Err(problem);
            }
        };
        if zero_stage == 0 && group.is_some() {
            return Err(Problem::new("`none` does not shard, so a group size has no meaning"));
        }
        Ok(Self { zero_stage, group, reshard_after_forward })
    }

    fn write(&self) -> Value {
        let name = match (self.zero_stage, self.reshard_after_forward, self.group) {
            (0, _, _) => return Value::Text("none".to_owned()),
            (1, _, _) => "zero1",
            (2, _, _) => "zero2",
            (_, true, Some(_)) => "hsdp",
            (_, true, None) => "fsdp",
            (_, false, _) => "fsdp-no-reshard",
        };
        Value::Text(self.group.map_or(name.to_owned(), |group| format!("{name}:{group}")))
    }
}

impl Field for Recompute {
    const KIND: Kind = Kind::Form(&[
        "none",
        "full",
        "full:5",
        "selective",
        "selective:core_attention,mlp",
        "selective:moe:4",
    ]);

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::Text(text) = value else { return Err(wrong(Self::KIND, value)) };
        let mut parts = text.trim().split(':').map(str::trim);
        let mode = parts.next().unwrap_or_default().to_ascii_lowercase();
        let rest: Vec<&str> = parts.collect();
        match (mode.as_str(), rest.as_slice()) {
            ("none" | "off", []) => Ok(Self::None),
            ("full", []) => Ok(Self::Full { layers: None }),
            ("full", [layers]) => Ok(Self::Full { layers: Some(positive(layers, Self::KIND, text)?) }),
            ("selective", []) => Ok(Self::core_attention()),
            ("selective", [modules]) => Ok(Self::Selective { modules: read_modules(modules)?, layers: None }),
            ("selective", [modules, layers]) => Ok(Self::Selective {
                modules: read_modules(modules)?,
                layers: Some(positive(layers, Self::KIND, text)?),
            }),
            _ => {
                let mut problem = no_choice(Self::KIND, &["none", "full", "selective"], &mode);
                problem.message = wrong(Self::KIND, value).message;
                Err(problem)
            }
        }
    }

    fn write(&self) -> Value {
        let suffix = |layers: &Option<u64>| layers.map_or(String::new(), |n| format!(":{n}"));
        Value::Text(match self {
            Self::None => "none".to_owned(),
            Self::Full { layers } => format!("full{}", suffix(layers)),
            Self::Selective { modules, layers } => {
                let names: Vec<String> = modules.iter().map(|module| module.write().to_plain()).collect();
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    format!("selective:{}{}", names.join(","), suffix(layers))
                }
            }
        })
    }
}

fn read_modules(text: &str) -> Result<BTreeSet<RecomputeModule>, Problem> {
    text.split([',', '+']).map(|name| RecomputeModule::read(&Value::Text(name.trim().to_owned()))).collect()
}

/// Number format of master weights; `None`: no master weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Master(pub Option<DataType>);

impl Field for Master {
    const KIND: Kind = Kind::Choice(&["none", "fp32", "bf16", "fp16"]);

    fn read(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Text(text) if text.trim().eq_ignore_ascii_case("none") => Ok(Self(None)),
            Value::Text(text) => match DataType::from_name(text.trim()) {
                Some(t @ (DataType::Fp32 | DataType::Bf16 | DataType::Fp16)) => Ok(Self(Some(t))),
                _ => Err(no_choice(Self::KIND, &["none", "fp32", "bf16", "fp16"], text)),
            },
            _ => Err(wrong(Self::KIND, value)),
        }
    }

    fn write(&self) -> Value {
        Value::Text(self.0.map_or("none", DataType::name).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> Value {
        Value::Text(s.to_owned())
    }

    #[test]
    fn kernels_have_the_names_that_run_files_have() {
        let Kind::Choice(names) = AttentionKernel::KIND else { panic!("a choice") };
        let own = names.iter().map(|name| AttentionKernel::read(&text(name)).expect("a kernel").name());
        assert!(own.eq(names.iter().copied()), "{names:?}");
    }

    #[test]
    fn sharding_shorthand_reads_and_writes() {
        for (short, zero_stage, group, reshard) in [
            ("none", 0, None, false),
            ("zero1", 1, None, false),
            ("zero2", 2, None, false),
            ("fsdp", 3, None, true),
            ("fsdp-no-reshard", 3, None, false),
            ("hsdp:8", 3, Some(8), true),
            ("zero1:64", 1, Some(64), false),
        ] {
            let sharding = Sharding::read(&text(short)).expect(short);
            assert_eq!(sharding, Sharding { zero_stage, group, reshard_after_forward: reshard });
            assert_eq!(sharding.write(), text(short));
        }
        assert_eq!(Sharding::read(&Value::Integer(3)).expect("3").zero_stage, 3);
        assert_eq!(
            Sharding::read(&text("hsdp")).expect_err("group").message,
            "`hsdp` requires the size of a shard group"
        );
        let typo = Sharding::read(&text("zero-1")).expect_err("typo");
        assert_eq!(typo.hint.as_deref(), Some("did you mean `zero1`?"));
        assert!(Sharding::read(&text("hsdp:0")).is_err() && Sharding::read(&Value::Integer(4)).is_err());
    }

    #[test]
    fn recompute_shorthand_reads_and_writes() {
        use RecomputeModule::{CoreAttention, Mlp, Moe};
        let selective = |modules: &[RecomputeModule], layers| Recompute::Selective {
            modules: modules.iter().copied().collect(),
            layers,
        };
        for (short, recompute) in [
            ("none", Recompute::None),
            ("full", Recompute::Full { layers: None }),
            ("full:5", Recompute::Full { layers: Some(5) }),
            ("selective:core_attention", Recompute::core_attention()),
            ("selective:core_attention,mlp", selective(&[Mlp, CoreAttention], None)),
            ("selective:moe:4", selective(&[Moe], Some(4))),
        ] {
            assert_eq!(Recompute::read(&text(short)), Ok(recompute.clone()), "{short}");
            assert_eq!(recompute.write(), text(short));
        }
        assert_eq!(Recompute::read(&text("selective")), Ok(Recompute::core_attention()));
        let typo = Recompute::read(&text("selective:mpl")).expect_err("typo");
        assert_eq!(typo.hint.as_deref(), Some("did you mean `mlp`?"));
        for bad in ["ful", "full:0", "full:x", "selective:", "none:3", "full:1:2", ""] {
            assert!(Recompute::read(&text(bad)).is_err(), "{bad}");
        }
    }
}
