//! Weights of softmax attention: grouped-query, latent (DeepSeek-V2), and compressed (DeepSeek-V4).

use super::{NormShape, matrix, vector};
use crate::model::{Attention, Cut, LatentAttention, Mixer, Module, Span, Usage, Weight};

/// Norms on queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QkNorm {
    None,
    /// Without weights (llama 4).
    Unweighted,
    /// One scale of `head_dim` for all heads (qwen 3).
    PerHead(NormShape),
    /// A scale over the whole projection (olmo 2).
    Full(NormShape),
}

/// Multi-head, grouped-query and multi-query attention.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttentionShape {
    pub(crate) heads: u64,
    pub(crate) kv_heads: u64,
    pub(crate) head_dim: u64,
    /// Width of a value head; `None`: `head_dim`.
    pub(crate) value_dim: Option<u64>,
    pub(crate) span: Span,
    pub(crate) qkv_bias: bool,
    /// True if keys have that bias too (whisper has it only on queries and values).
    pub(crate) key_bias: bool,
    pub(crate) output_bias: bool,
    pub(crate) qk_norm: QkNorm,
    /// A learned scalar per head in the softmax's denominator (gpt-oss).
    pub(crate) sinks: bool,
    /// The query projection also produces an output gate (qwen 3 next): twice the rows.
    pub(crate) output_gate: bool,
    /// Keys serve as values: no value projection (gemma 4, global layers).
    pub(crate) keys_are_values: bool,
    /// Keys and values come from an earlier layer, without projections here (small gemma 4 models).
    pub(crate) reuses_keys: bool,
    /// Keys kept per query by a learned rule; `None`: all.
    pub(crate) sparse_top_k: Option<u64>,
    /// Input width of queries, keys and values; `None`: the hidden width.
    pub(crate) input_width: Option<u64>,
    /// Hidden width of the other stack that provides keys and values (cross-attention); `None` for
    /// self-attention.
    pub(crate) memory_width: Option<u64>,
}

impl AttentionShape {
    pub(crate) fn mixer(&self) -> Mixer {
        Mixer::Attention(Attention {
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_dim: self.head_dim,
            value_dim: self.value_dim.unwrap_or(self.head_dim),
            span: self.span,
            qk_norm: self.qk_norm != QkNorm::None,
            sparse_top_k: self.sparse_top_k,
            index: [0; 2],
            compress_rate: 0,
        })
    }

    pub(crate) fn weights(&self, hidden: u64) -> Vec<Weight> {
        let query = self.heads * self.head_dim * if self.output_gate { 2 } else { 1 };
        let key = self.kv_heads * self.head_dim;
        let value_dim = self.value_dim.unwrap_or(self.head_dim);
        let kv_cut = Cut::Heads(self.kv_heads);
        let mut parts = vec![("q_proj", query, Cut::Column)];
        if !self.reuses_keys {
            parts.push(("k_proj", key, kv_cut));
        }
        if !self.reuses_keys && !self.keys_are_values {
            parts.push(("v_proj", self.kv_heads * value_dim, kv_cut));
        }
        let mut weights: Vec<Weight> = parts
            .iter()
            .map(|&(name, rows, cut)| {
                let (columns, label) = match self.memory_width {
                    Some(_) if name == "q_proj" => (hidden, "cross_q"),
                    Some(width) => (width, "cross_kv"),
                    None => (self.input_width.unwrap_or(hidden), "qkv"),
                };
                let mut weight = matrix(name, Module::AttentionInput, (rows, columns), cut, label);
                if let (Span::Memory(tokens @ 1..), "cross_kv", Usage::Matmul { positions, .. }) =
                    (self.span, label, &mut weight.usage)
                {
                    *positions = Some(tokens);
                }
                weight
            })
            .collect();
        if self.qkv_bias {
            let biased = parts.iter().filter(|(name, ..)| self.key_bias || *name != "k_proj");
            weights.extend(biased.map(|&(name, rows, cut)| {
                vector(&format!("{name}.bias"), Module::AttentionInput, rows, cut)
            }));
        }
        let core = Module::AttentionCore;
        match self.qk_norm {
            QkNorm::None | QkNorm::Unweighted => {}
            QkNorm::PerHead(norm) => {
                let names: &[&str] = if self.reuses_keys { &["q_norm"] } else { &["q_norm", "k_norm"] };
                for name in names {
                    weights.extend(norm.weights(name, core, self.head_dim, Cut::Replicated));
                }
            }
            QkNorm::Full(norm) => {
                weights.extend(norm.weights("q_norm", core, self.heads * self.head_dim, Cut::Column));
                weights.extend(norm.weights("k_norm", core, key, kv_cut));
            }
        }
        if self.sinks {
            weights.push(vector("sinks", core, self.heads, Cut::Column));
        }
        let output = Module::AttentionOutput;
        let from = self.heads * value_dim;
        let label = if self.memory_width.is_some() { "cross_output" } else { "attention_output" };
        weights.push(matrix("o_proj", output, (hidden, from), Cut::Row, label));
        if self.output_bias {
            weights.push(vector("o_proj.bias", output, hidden, Cut::Replicated));
        }
        weights
    }
}

/// Learned index of DeepSeek sparse attention.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexerShape {
    pub(crate) heads: u64,
    pub(crate) head_dim: u64,
    pub(crate) top_k: u64,
}

/// Multi-head latent attention.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatentShape {
    pub(crate) heads: u64,
    pub(crate) q_lora_rank: Option<u64>,
    pub(crate) kv_lora_rank: u64,
    pub(crate) nope: u64,
    pub(crate) rope: u64,
    pub(crate) value: u64,
    pub(crate) bias: bool,
    pub(crate) indexer: Option<IndexerShape>,
}

impl LatentShape {
    pub(crate) fn mixer(&self) -> Mixer {
        Mixer::Latent(LatentAttention {
            heads: self.heads,
            q_lora_rank: self.q_lora_rank,
            kv_lora_rank: self.kv_lora_rank,
            qk_nope_head_dim: self.nope,
            qk_rope_head_dim: self.rope,
            v_head_dim: self.value,
            sparse_top_k: self.indexer.as_ref().map(|index| index.top_k),
            index: self.indexer.as_ref().map_or([0; 2], |index| [index.heads, index.head_dim]),
        })
    }

    pub(crate) fn weights(&self, hidden: u64) -> Vec<Weight> {
        let input = Module::AttentionInput;
        let query = self.heads * (self.nope + self.rope);
        let mut weights = Vec::new();
        let bias = |weights: &mut Vec<Weight>, name: &str, rows: u64| {
            if self.bias {
                weights.push(vector(name, input, rows, Cut::Replicated));
            }
        };
        if let Some(rank) = self.q_lora_rank {
            weights.push(matrix("q_a_proj", input, (rank, hidden), Cut::Replicated, "q_a"));
            bias(&mut weights, "q_a_proj.bias", rank);
            weights.push(vector("q_a_layernorm", input, rank, Cut::Replicated));
            weights.push(matrix("q_b_proj", input, (query, rank), Cut::Column, "q_b"));
        } else {
            weights.push(matrix("q_proj", input, (query, hidden), Cut::Column, "q"));
        }
        let compressed = self.kv_lora_rank + self.rope;
        weights.push(matrix("kv_a_proj_with_mqa", input, (compressed, hidden), Cut::Replicated, "kv_a"));
        bias(&mut weights, "kv_a_proj_with_mqa.bias", compressed);
        weights.push(vector("kv_a_layernorm", input, self.kv_lora_rank, Cut::Replicated));
        let expanded = self.heads * (self.nope + self.value);
        weights.push(matrix("kv_b_proj", input, (expanded, self.kv_lora_rank), Cut::Column, "kv_b"));
        if let Some(index) = &self.indexer {
            weights.extend(index.weights(hidden, self.q_lora_rank.unwrap_or(hidden)));
        }
        let output = Module::AttentionOutput;
        let from = self.heads * self.value;
        weights.push(matrix("o_proj", output, (hidden, from), Cut::Row, "attention_output"));
        if self.bias {
            weights.push(vector("o_proj.bias", output, hidden, Cut::Replicated));
        }
        weights
    }
}

impl IndexerShape {
    /// DeepSeek-V3.2: queries from the query latent, one key per token with a LayerNorm, a weight per head.
    fn weights(&self, hidden: u64, query_from: u64) -> Vec<Weight> {
        let input = Module::AttentionInput;
        let query = (self.heads * self.head_dim, query_from);
        let mut weights = vec![
            matrix("indexer.wq_b", input, query, Cut::Replicated, "index_q"),
            matrix("indexer.wk", input, (self.head_dim, hidden), Cut::Replicated, "index_k"),
            matrix("indexer.weights_proj", input, (self.heads, hidden), Cut::Replicated, "index_k"),
        ];
        weights.extend(NormShape::LAYER.weights("indexer.k_norm", input, self.head_dim, Cut::Replicated));
        weights
    }
}

/// DeepSeek-V4's attention: one key-value head for all queries, a window, and compressed entries of the past.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompressedShape {
    pub(crate) heads: u64,
    pub(crate) head_dim: u64,
    pub(crate) q_lora_rank: u64,
    pub(crate) output_groups: u64,
    pub(crate) output_rank: u64,
    pub(crate) window: u64,
    /// Tokens per compressed entry; 0 on layers with the window only.
    pub(crate) compress_rate: u64,
    /// Index that selects entries, with two overlapping series of entries; `None`: one series, used in full.
    pub(crate) indexer: Option<IndexerShape>,
}

impl CompressedShape {
    pub(crate) fn mixer(&self) -> Mixer {
        Mixer::Attention(Attention {
            heads: self.heads,
            kv_heads: 1,
            head_dim: self.head_dim,
            value_dim: self.head_dim,
            span: Span::Window(self.window),
            qk_norm: true,
            sparse_top_k: self.indexer.as_ref().map(|index| index.top_k),
            index: self.indexer.as_ref().map_or([0; 2], |index| [index.heads, index.head_dim]),
            compress_rate: self.compress_rate,
        })
    }

    pub(crate) fn weights(&self, hidden: u64) -> Vec<Weight> {
        let (input, core, output) = (Module::AttentionInput, Module::AttentionCore, Module::AttentionOutput);
        let all = Cut::Replicated;
        let query = (self.heads * self.head_dim, self.q_lora_rank);
        let mut weights = vec![
            matrix("q_a_proj", input, (self.q_lora_rank, hidden), all, "q_a"),
            vector("q_a_norm", input, self.q_lora_rank, all),
            matrix("q_b_proj", input, query, Cut::Column, "q_b"),
            matrix("kv_proj", input, (self.head_dim, hidden), all, "kv_a"),
            vector("kv_norm", input, self.head_dim, all),
            vector("sinks", core, self.heads, Cut::Column),
        ];
        if self.compress_rate > 0 {
            // Two overlapping series of entries with an index, one without.
            let series = if self.indexer.is_some() { 2 } else { 1 };
            weights.extend(compressor("compressor", series, self.head_dim, self.compress_rate, hidden));
        }
        if let Some(index) = &self.indexer {
            weights.extend(compressor("indexer", 2, index.head_dim, self.compress_rate, hidden));
            let query = (index.heads * index.head_dim, self.q_lora_rank);
            weights.push(matrix("indexer.q_b_proj", input, query, all, "index_q"));
            weights.push(matrix("indexer.weights_proj", input, (index.heads, hidden), all, "index_k"));
        }
        // Grouped heads: each group has its own matrix to the rank, then one matrix joins the groups.
        let joined = self.output_groups * self.output_rank;
        let group = (joined, self.heads * self.head_dim / self.output_groups);
        weights.push(matrix("o_a_proj", output, group, Cut::Column, "output_a"));
        weights.push(matrix("o_b_proj", output, (hidden, joined), Cut::Row, "attention_output"));
        weights
    }
}

/// Compressor of entries: values and gates, a bias per position in the entry, a norm.
fn compressor(name: &str, series: u64, width: u64, rate: u64, hidden: u64) -> Vec<Weight> {
    let input = Module::AttentionInput;
    let all = Cut::Replicated;
    let shape = (series * width, hidden);
    vec![
        matrix(&format!("{name}.kv_proj"), input, shape, all, name),
        matrix(&format!("{name}.gate_proj"), input, shape, all, name),
        vector(&format!("{name}.position_bias"), input, rate * series * width, all),
        vector(&format!("{name}.kv_norm"), input, width, all),
    ]
}
