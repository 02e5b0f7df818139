//! The small sections of a run file: model, training and cost.

use super::field::{Amount, choice};
use super::section::section;
use super::{Checkpoints, Cost, Section, Training, Writing};
use crate::model::{self, Activation, Dimensions, Model, NormKind, Position, Style};
use crate::problem::Problem;
use crate::quantity::{BytesPerSecond, Dollars, Seconds};

section! {
    /// The section `model`: a model by name, by a Hugging Face `config.json`, or by dimensions.
    ModelSpec in "model" {
        /// Model of the catalogue; with config or dimensions, a label.
        name: String = "name", "from the config";
        /// Path of a Hugging Face `config.json`.
        config: String = "config", "none";
        /// Number of layers.
        layers: u64 = "layers", "none";
        /// Hidden size.
        hidden: u64 = "hidden", "none";
        /// Number of query heads.
        heads: u64 = "heads", "none";
        /// Model family that provides missing dimensions.
        style: Style = "style", "inferred from the other dimensions, else llama";
        /// Number of key-value heads.
        kv_heads: u64 = "kv_heads", "same as heads";
        /// Head dimension.
        head_dim: u64 = "head_dim", "hidden / heads";
        /// Intermediate size of the dense MLP.
        ffn: u64 = "ffn", "4 x hidden, or 8/3 x hidden if gated";
        /// Vocabulary size.
        vocab: u64 = "vocab", "50257 (gpt) or 32000 (llama)";
        /// Use a gated MLP (SwiGLU, GeGLU).
        gated_mlp: bool = "gated_mlp", "true for llama style";
        /// Tie the output head to the word embedding.
        tied: bool = "tied", "true for gpt style";
        /// Number of routed experts per layer.
        experts: u64 = "experts", "none: a dense model";
        /// Routed experts per token.
        top_k: u64 = "top_k", "2";
        /// Intermediate size of one expert.
        moe_ffn: u64 = "moe_ffn", "same as ffn";
        /// Total intermediate size of the shared experts.
        shared_ffn: u64 = "shared_ffn", "none";
        /// Number of dense layers before the first MoE layer.
        first_dense_layers: u64 = "first_dense_layers", "0";
        /// Interval of MoE layers after the first dense layers.
        moe_every: u64 = "moe_every", "1";
        /// MoE layers, counted from 0 (alternative to first_dense_layers and moe_every).
        moe_layers: Vec<u64> = "moe_layers", "set by first_dense_layers and moe_every";
        /// Scale shared experts by a scalar gate.
        shared_gate: bool = "shared_gate", "false";
        /// Number of expert groups for group-limited routing.
        routing_groups: u64 = "routing_groups", "1";
        /// Expert groups per token.
        top_k_groups: u64 = "top_k_groups", "all";
        /// Position encoding.
        position: Position = "position", "learned (gpt) or rotary (llama)";
        /// Maximum sequence length in tokens.
        max_positions: u64 = "max_positions", "2048";
        /// Normalization.
        norm: NormKind = "norm", "layer_norm (gpt) or rms_norm (llama)";
        /// Use biases in all projections.
        biases: bool = "biases", "true for gpt style";
        /// Use biases in the QKV projection.
        qkv_bias: bool = "qkv_bias", "same as biases";
        /// Normalize queries and keys (QK norm).
        qk_norm: bool = "qk_norm", "false";
        /// Rank of the query latent (MLA).
        q_lora_rank: u64 = "q_lora_rank", "none";
        /// Rank of the key-value latent; enables multi-head latent attention (MLA).
        kv_lora_rank: u64 = "kv_lora_rank", "none";
        /// MLA: head dimension without rotary embedding.
        qk_nope_head_dim: u64 = "qk_nope_head_dim", "128";
        /// MLA: head dimension with rotary embedding.
        qk_rope_head_dim: u64 = "qk_rope_head_dim", "64";
        /// MLA: value head dimension.
        v_head_dim: u64 = "v_head_dim", "128";
        /// Activation function.
        activation: Activation = "activation", "gelu (gpt) or silu (llama)";
        /// Sliding-window size of attention, in tokens.
        window: u64 = "window", "full attention";
        /// Interval of full-attention layers among sliding-window layers.
        full_attention_every: u64 = "full_attention_every", "none";
        /// Use bidirectional (non-causal) attention.
        bidirectional: bool = "bidirectional", "false";
        /// Number of multi-token-prediction modules.
        mtp: u64 = "mtp", "none";
    }
}

section! {
    /// The section `training`: amount of training, goodput and checkpoints.
    TrainingSpec in "training" {
        /// Training tokens.
        tokens: Amount = "tokens", "none: one step only";
        /// Goodput: share of wall-clock time that makes training progress.
        availability: f64 = "availability", "1, or computed from failures if checkpoints are set";
        /// Time from the start of a checkpoint until it can be restored. Enables the failure model of goodput.
        checkpoint_time: Seconds = "checkpoint_time", "no failures";
        /// Bandwidth of the checkpoint storage for the whole job (alternative to checkpoint_time).
        storage_bandwidth: BytesPerSecond = "storage_bandwidth", "no failures";
        /// Training pause per checkpoint.
        checkpoint_stall: Seconds = "checkpoint_stall", "the whole checkpoint time";
        /// Table of flaps and slow parts, which reduce goodput; as for `network failures --rates`.
        part_rates: String = "part_rates", "none";
    }
}

section! {
    /// The section `cost`: prices, in US dollars.
    CostSpec in "cost" {
        /// Price per device-hour.
        price_per_device_hour: Dollars = "price_per_device_hour", "typical price in the catalogue (dated)";
        /// Electricity price per kWh.
        electricity_price: Dollars = "electricity_price", "from the catalogue (dated)";
        /// Mean device power during training as a share of its limit.
        power_share: f64 = "power_share", "0.9";
    }
}

choice!(Style { "llama" => Self::Llama, "gpt" => Self::Gpt });
choice!(NormKind {
    "rms_norm" | "rmsnorm" => Self::RmsNorm,
    "layer_norm" | "layernorm" => Self::LayerNorm,
});
choice!(Position {
    "rotary" | "rope" => Self::Rotary,
    "learned" => Self::Learned,
    "alibi" => Self::Alibi,
    "none" => Self::None,
});
choice!(Activation {
    "silu" | "swish" => Self::Silu,
    "gelu" => Self::Gelu,
    "relu" => Self::Relu,
    "squared_relu" | "relu2" => Self::SquaredRelu,
    "clamped_quick_gelu" => Self::ClampedQuickGelu,
});

impl ModelSpec {
    /// Resolves the model. `read` returns the text of a `config.json` at a path.
    pub fn resolve(&self, read: impl FnOnce(&str) -> Result<String, Problem>) -> Result<Model, Problem> {
        let dimension = Self::KEYS.iter().skip(2).find(|key| self.get(key.name).is_some());
        if let Some(path) = &self.config {
            if let Some(key) = dimension {
                return Err(Problem::new("`model.config` already sets the dimensions")
                    .at_key(key.path())
                    .hint("remove it, or edit a copy of the config"));
            }
            let text =
                read(path).map_err(|p| if p.place.is_none() { p.at_key("model.config") } else { p })?;
            let name = self.name.clone().unwrap_or_else(|| name_of(path));
            return model::from_hugging_face(&text, &name).map_err(|problem| problem.in_file(path.clone()));
        }
        let Some(given) = dimension else {
            let Some(name) = &self.name else {
                return Err(Problem::new("no model is set").at_key("model.name").hint(
                    "set model.name to one of the catalogue, model.config to a config.json, or dimensions",
                ));
            };
            return model::by_name(name).map_err(|problem| problem.at_key("model.name"));
        };
        let need = |key: &str, value: Option<u64>| {
            value.ok_or_else(|| {
                Problem::new(format!("`model.{key}` is required with `{}`", given.path()))
                    .at_key(given.path())
                    .hint("a custom model requires at least layers, hidden and heads")
            })
        };
        let dimensions = Dimensions {
            name: self.name.clone().unwrap_or_default(),
            style: self.style,
            layers: need("layers", self.layers)?,
            hidden: need("hidden", self.hidden)?,
            heads: need("heads", self.heads)?,
            kv_heads: self.kv_heads,
            head_dim: self.head_dim,
            ffn: self.ffn,
            vocab: self.vocab,
            gated_mlp: self.gated_mlp,
            tied: self.tied,
            experts: self.experts,
            top_k: self.top_k,
            moe_ffn: self.moe_ffn,
            shared_ffn: self.shared_ffn,
            first_dense_layers: self.first_dense_layers,
            moe_every: self.moe_every,
            moe_layers: self.moe_layers.clone(),
            shared_gate: self.shared_gate,
            routing_groups: self.routing_groups,
            top_k_groups: self.top_k_groups,
            position: self.position,
            max_positions: self.max_positions,
            norm: self.norm,
            biases: self.biases,
            qkv_bias: self.qkv_bias,
            qk_norm: self.qk_norm,
            q_lora_rank: self.q_lora_rank,
            kv_lora_rank: self.kv_lora_rank,
            qk_nope_head_dim: self.qk_nope_head_dim,
            qk_rope_head_dim: self.qk_rope_head_dim,
            v_head_dim: self.v_head_dim,
            activation: self.activation,
            window: self.window,
            full_attention_every: self.full_attention_every,
            bidirectional: self.bidirectional.unwrap_or(false),
            mtp: self.mtp,
        };
        model::from_dimensions(dimensions).map_err(|problem| {
            let key = problem.place.as_ref().and_then(|place| place.key.clone());
            match key {
                Some(key) => problem.at_key(format!("model.{key}")),
                None => problem,
            }
        })
    }
}

/// Name of a config by its path: the folder if the file is `config.json`, else the file.
fn name_of(path: &str) -> String {
    let mut parts = path.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or(path);
    let stem = file.strip_suffix(".json").unwrap_or(file);
    let folder = parts.next().filter(|folder| !folder.is_empty() && *folder != "." && *folder != "..");
    if stem == "config" { folder.unwrap_or(stem).to_owned() } else { stem.to_owned() }
}

impl TrainingSpec {
    /// Validates and resolves the section.
    pub fn resolve(&self) -> Result<Training, Problem> {
        let tokens = self.tokens.map(|amount| amount.0);
        if let Some(tokens) = tokens
            && !(1.0..=1e18).contains(&tokens)
        {
            return Err(out_of_range("training.tokens", tokens, "1 to 1e18"));
        }
        let availability = share("training.availability", self.availability.unwrap_or(1.0))?;
        let checkpoints = self.checkpoints()?;
        if self.part_rates.is_some() && checkpoints.is_none() {
            return Err(Problem::new("flaps or slow parts are set, but no checkpoint")
                .at_key("training.part_rates")
                .hint("add `training.checkpoint_time` or `training.storage_bandwidth`"));
        }
        Ok(Training { tokens, availability, checkpoints, disruptions: None })
    }

    /// Checkpoint settings; `None` if none of their keys is set.
    fn checkpoints(&self) -> Result<Option<Checkpoints>, Problem> {
        let positive = |key: &str, value: f64, most: f64| {
            let is_fine = value > 0.0 && value <= most;
            if is_fine {
                Ok(())
            } else {
                Err(out_of_range(key, value, &format!("more than 0 and at most {most:e}")))
            }
        };
        let writing = match (self.checkpoint_time, self.storage_bandwidth) {
            (Some(_), Some(_)) => {
                let problem = Problem::new("time and bandwidth of a checkpoint are both set");
                return Err(problem.at_key("training.checkpoint_time").hint("omit one of them"));
            }
            (Some(time), None) => {
                positive("training.checkpoint_time", time.get(), 1e7)?;
                Writing::Time(time)
            }
            (None, Some(bandwidth)) => {
                positive("training.storage_bandwidth", bandwidth.get(), 1e18)?;
                Writing::Bandwidth(bandwidth)
            }
            (None, None) => {
                return match self.checkpoint_stall {
                    None => Ok(None),
                    Some(_) => Err(Problem::new("a checkpoint stall is set, but no checkpoint")
                        .at_key("training.checkpoint_stall")
                        .hint("add `training.checkpoint_time` or `training.storage_bandwidth`")),
                };
            }
        };
        if self.availability.is_some() {
            let problem = Problem::new(
                "goodput and checkpoints are both set, but goodput is computed from checkpoints",
            );
            return Err(problem.at_key("training.availability").hint("omit one of them"));
        }
        if let Some(stall) = self.checkpoint_stall.filter(|stall| !(0.0..=1e7).contains(&stall.get())) {
            return Err(out_of_range("training.checkpoint_stall", stall.get(), "0 to 1e7"));
        }
        Ok(Some(Checkpoints { writing, stall: self.checkpoint_stall }))
    }
}

impl CostSpec {
    /// Validates and resolves the section.
    pub fn resolve(&self) -> Result<Cost, Problem> {
        let prices = [
            ("cost.price_per_device_hour", self.price_per_device_hour),
            ("cost.electricity_price", self.electricity_price),
        ];
        for (key, price) in prices {
            if let Some(price) = price
                && !(0.0..=1e6).contains(&price.get())
            {
                return Err(out_of_range(key, price.get(), "0 to 1e6"));
            }
        }
        Ok(Cost {
            price_per_device_hour: self.price_per_device_hour,
            electricity_price: self.electricity_price,
            power_share: share("cost.power_share", self.power_share.unwrap_or(Cost::default().power_share))?,
        })
    }
}

fn share(key: &str, x: f64) -> Result<f64, Problem> {
    if x > 0.0 && x <= 1.0 { Ok(x) } else { Err(out_of_range(key, x, "a share above 0 and at most 1")) }
}

fn out_of_range(key: &str, x: f64, range: &str) -> Problem {
    Problem::new(format!("expected {range}, found {}", crate::human::exact(x))).at_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(_: &str) -> Result<String, Problem> {
        Err(Problem::new("not read"))
    }

    #[test]
    fn a_model_by_name_by_dimensions_or_not_at_all() {
        let named = ModelSpec { name: Some("llama-3.1-8b".to_owned()), ..ModelSpec::default() };
        assert_eq!(named.resolve(none).expect("known").parameters().total, 8_030_261_248);
        let own =
            ModelSpec { layers: Some(96), hidden: Some(12288), heads: Some(96), ..ModelSpec::default() };
        assert_eq!(own.resolve(none).expect("sound").num_layers(), 96);
        assert_eq!(ModelSpec::default().resolve(none).expect_err("none").message, "no model is set");
        let half = ModelSpec { layers: Some(96), ..ModelSpec::default() };
        assert_eq!(
            half.resolve(none).expect_err("half").message,
            "`model.hidden` is required with `model.layers`"
        );
        let wrong = ModelSpec { kv_heads: Some(7), ..own };
        let place = wrong.resolve(none).expect_err("7").place.expect("a place");
        assert_eq!(place.key.as_deref(), Some("model.kv_heads"));
    }

    #[test]
    fn a_config_is_named_after_its_folder() {
        assert_eq!(name_of("models/llama-70b/config.json"), "llama-70b");
        assert_eq!(name_of("my-model.json"), "my-model");
        assert_eq!(name_of("./config.json"), "config");
    }

    #[test]
    fn shares_and_prices_have_ranges() {
        let training = TrainingSpec { tokens: Some(Amount(-1.0)), ..TrainingSpec::default() };
        assert_eq!(training.resolve().expect_err("negative").message, "expected 1 to 1e18, found -1");
        let training = TrainingSpec { availability: Some(1.5), ..TrainingSpec::default() };
        assert!(training.resolve().is_err());
        let checkpoints = |spec: TrainingSpec| spec.resolve().map(|training| training.checkpoints);
        let half = TrainingSpec { checkpoint_time: Some(Seconds::new(30.0)), ..TrainingSpec::default() };
        assert!(checkpoints(half.clone()).expect("sound").is_some());
        let bandwidth = Some(BytesPerSecond::new(1e11));
        for wrong in [
            TrainingSpec { availability: Some(0.9), ..half.clone() },
            TrainingSpec { storage_bandwidth: bandwidth, ..half.clone() },
            TrainingSpec { checkpoint_time: Some(Seconds::ZERO), ..half.clone() },
            TrainingSpec { checkpoint_stall: Some(Seconds::new(-1.0)), ..half },
            TrainingSpec { checkpoint_stall: Some(Seconds::new(1.0)), ..TrainingSpec::default() },
            TrainingSpec {
                storage_bandwidth: Some(BytesPerSecond::new(f64::NAN)),
                ..TrainingSpec::default()
            },
        ] {
            assert!(checkpoints(wrong.clone()).is_err(), "{wrong:?}");
        }
        let cost = CostSpec { price_per_device_hour: Some(Dollars::new(-2.0)), ..CostSpec::default() };
        assert!(cost.resolve().is_err());
    }
}
