//! The small sections of a run file: model, training and cost.

use super::field::Amount;
use super::section::section;
use crate::quantity::Dollars;

section! {
    /// The section `model`: what is trained, by name, by a Hugging Face `config.json`, or by dimensions.
    ModelSpec in "model" {
        /// A model of the catalogue; beside config or dimensions, what to call it.
        name: String = "name", "the config's own";
        /// The path of a Hugging Face `config.json`.
        config: String = "config", "none";
        /// Layers.
        layers: u64 = "layers", "none";
        /// Width of the residual stream.
        hidden_size: u64 = "hidden_size", "none";
        /// Inner width of the MLP.
        ffn_size: u64 = "ffn_size", "4 x hidden_size";
        /// Query heads.
        heads: u64 = "heads", "hidden_size / 128";
        /// Key-value heads.
        kv_heads: u64 = "kv_heads", "heads";
        /// Width of a head.
        head_dim: u64 = "head_dim", "hidden_size / heads";
        /// Rows of the vocabulary.
        vocabulary: u64 = "vocabulary", "32000";
        /// Whether a gate matrix multiplies the MLP's up projection.
        gated_mlp: bool = "gated_mlp", "true";
        /// Whether the head reuses the word embedding.
        tied_embeddings: bool = "tied_embeddings", "false";
        /// Routed experts per layer.
        experts: u64 = "experts", "none: a dense model";
        /// Experts that one token visits.
        top_k: u64 = "top_k", "2";
        /// Inner width of one expert.
        expert_ffn_size: u64 = "expert_ffn_size", "ffn_size";
        /// Inner width of all shared experts together.
        shared_ffn_size: u64 = "shared_ffn_size", "0";
    }
}

section! {
    /// The section `training`: how much of it.
    TrainingSpec in "training" {
        /// Tokens to train on.
        tokens: Amount = "tokens", "none: one step only";
        /// Share of the calendar time in which the run makes progress (failures, restarts, evaluations take the rest).
        availability: f64 = "availability", "1";
    }
}

section! {
    /// The section `cost`: prices, in US dollars.
    CostSpec in "cost" {
        /// Price of one device for one hour.
        price_per_device_hour: Dollars = "price_per_device_hour", "the catalogue's typical price, dated";
        /// Price of electricity per kilowatt-hour.
        electricity_price: Dollars = "electricity_price", "the catalogue's, dated";
        /// Mean power of a device while training, as a share of its limit.
        power_share: f64 = "power_share", "0.9";
    }
}
