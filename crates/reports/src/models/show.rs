//! `models show`: layers, weights, counts in every convention, sources.

use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::model::{
    CatalogueEntry, Cut, FeedForward, Layer, Mixer, Mlp, Model, ParameterCount, Span, Weight,
};
use railwright_spec::quantity::Flop;
use serde::Serialize;
use serde_json::Value;

/// One model.
pub struct Shown {
    /// Its structure.
    pub model: Model,
    /// Its parameters.
    pub count: ParameterCount,
    /// Its entry of the catalogue.
    pub entry: Option<&'static CatalogueEntry>,
    /// Sequence length in tokens.
    pub sequence: u64,
    /// FLOPs per token, with full and causal attention.
    pub flop: [Flop; 2],
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelFields<'a> {
    /// Its entry in the catalogue.
    catalogue: Option<&'static CatalogueEntry>,
    parameters: &'a ParameterCount,
    /// Model FLOP of forward and backward pass.
    flop_per_token: FlopFields,
    model: &'a Model,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct FlopFields {
    sequence_length: u64,
    causal_attention: Flop,
    full_attention: Flop,
}

impl Answer for Shown {
    const KIND: &'static str = "model";

    type Json<'a> = ModelFields<'a>;

    fn json(&self) -> ModelFields<'_> {
        ModelFields {
            catalogue: self.entry,
            parameters: &self.count,
            flop_per_token: FlopFields {
                sequence_length: self.sequence,
                causal_attention: self.flop[0],
                full_attention: self.flop[1],
            },
            model: &self.model,
        }
    }

    fn csv(&self) -> String {
        let mut document = Document::default();
        for block in self.document(Terminal::file(false)).blocks {
            if matches!(&block, Block::Table(table) if table.columns[0].name == "weight") {
                document.blocks.push(block);
            }
        }
        let mut whole = Table::default();
        for block in document.blocks {
            if let Block::Table(table) = block {
                whole.columns = table.columns;
                whole.rows.extend(table.rows);
            }
        }
        let mut merged = Document::default();
        merged.table(whole);
        railwright_report::csv(&merged)
    }

    fn document(&self, _: Terminal) -> Document {
        let Self { model, count, .. } = self;
        let mut document = Document::default();
        document.heading_with(model.name.clone(), format!("family {}", model.family));
        let positions =
            if model.max_positions == 0 { String::new() } else { human::whole(model.max_positions) };
        document.pairs(vec![
            ("layers", human::whole(model.num_layers()).into()),
            ("hidden size", human::whole(model.hidden_size).into()),
            ("vocabulary", human::whole(model.vocabulary).into()),
            ("longest sequence", positions.into()),
            (
                "embeddings",
                if model.tied_embeddings { "tied to the head" } else { "separate from the head" }.into(),
            ),
            ("also called", self.entry.map(|e| e.aliases.join(", ")).unwrap_or_default().into()),
            ("source", self.entry.map(|e| e.source.clone()).unwrap_or_default().into()),
            ("notes", self.entry.map(|e| e.notes.clone()).unwrap_or_default().into()),
        ]);
        document.heading("parameter counts, by the conventions of model cards and papers");
        let unless_zero = |count: u64| if count == 0 { Cell::default() } else { Cell::whole(count) };
        document.pairs(vec![
            ("all", Cell::whole(count.total)),
            ("without word embedding", Cell::whole(count.total - count.word_embedding)),
            ("without embedding and head", Cell::whole(count.total - count.word_embedding - count.head)),
            ("active per token", Cell::whole(count.active)),
            ("active per token, without input embedding", Cell::whole(count.active_without_embedding)),
            ("word embedding", Cell::whole(count.word_embedding)),
            ("output head", unless_zero(count.head)),
            ("routed experts", unless_zero(count.routed_experts)),
            ("additional stacks", unless_zero(count.towers)),
            ("multi-token prediction, extra", unless_zero(count.multi_token_prediction)),
            (
                "training FLOP per token",
                format!(
                    "{} causal, {} full attention, at {} tokens",
                    human::flop(self.flop[0]),
                    human::flop(self.flop[1]),
                    human::whole(self.sequence)
                )
                .into(),
            ),
        ]);
        outside(&mut document, model);
        for (kind, layer) in model.layer_kinds.iter().enumerate() {
            let which: Vec<usize> =
                model.layers.iter().enumerate().filter(|(_, k)| **k == kind).map(|(i, _)| i).collect();
            if !which.is_empty() {
                layer_kind(&mut document, layer, &which);
            }
        }
        for tower in &model.towers {
            let tokens = |n: Option<u64>| n.map_or_else(|| "set by the data".to_owned(), human::whole);
            document.heading_with(
                format!("stack `{}`", tower.name),
                format!(
                    "{} parameters, counted but not included in time and memory",
                    human::whole(tower.stack.parameters().total)
                ),
            );
            document.pairs(vec![
                ("layers", human::whole(tower.stack.num_layers()).into()),
                ("hidden size", human::whole(tower.stack.hidden_size).into()),
                ("tokens per sample", tokens(tower.tokens).into()),
                ("output tokens", tokens(tower.handed_on).into()),
            ]);
        }
        if !model.left_out.is_empty() {
            document.pairs(vec![("excluded", model.left_out.join(", ").into())]);
        }
        if !model.notes.is_empty() {
            document.heading("notes");
            document.blocks.push(Block::Bullets(model.notes.iter().map(|n| n.as_str().into()).collect()));
        }
        if self.entry.is_some() {
            let text = format!("`railwright estimate {} --cluster dgx-h100` estimates a run", model.name);
            document.next_step(text);
        }
        document
    }
}

fn outside(document: &mut Document, model: &Model) {
    document.heading("not in layers");
    document.table(weights(model.embedding.iter().chain(&model.final_norm).chain(&model.head)));
    if let Some(mtp) = &model.multi_token_prediction {
        document.heading(format!("multi-token prediction, {} deep, one layer each", mtp.depth));
        document.table(weights(&mtp.weights));
    }
}

fn layer_kind(document: &mut Document, layer: &Layer, which: &[usize]) {
    document.heading_with(
        format!("layer kind `{}`", layer.name),
        format!(
            "{} layers ({}), {} parameters each",
            which.len(),
            ranges(which),
            human::whole(layer.parameters())
        ),
    );
    document.pairs(vec![
        ("mixer", mixer(&layer.mixer).into()),
        ("feed-forward", feed_forward(&layer.feed_forward).into()),
        ("norms", format!("{} x {}", layer.norms, layer.norm.name()).into()),
        ("residual", if layer.parallel_residual { "parallel" } else { "" }.into()),
    ]);
    document.table(weights(&layer.weights));
}

fn weights<'a>(weights: impl IntoIterator<Item = &'a Weight>) -> Table {
    let columns = vec![
        Column::words("weight"),
        Column::numbers("rows"),
        Column::numbers("columns"),
        Column::numbers("copies"),
        Column::numbers("parameters"),
        Column::words("module").expendable(2),
        Column::words("sharded by tensor parallelism").expendable(1),
    ];
    let rows = weights.into_iter().map(|weight| {
        let module = serde_json::to_value(weight.module).ok();
        vec![
            Cell::new(weight.name.as_str(), Tone::Name),
            Cell::whole(weight.rows),
            Cell::whole(weight.columns),
            Cell::whole(weight.copies),
            Cell::whole(weight.parameters()),
            module.as_ref().and_then(Value::as_str).unwrap_or_default().replace('_', " ").into(),
            match weight.cut {
                Cut::Replicated => "no".to_owned(),
                Cut::Column => "rows".to_owned(),
                Cut::Row => "columns".to_owned(),
                Cut::Heads(parts) => format!("by heads, at most {parts} shards"),
                Cut::Vocabulary => "vocabulary".to_owned(),
            }
            .into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}

fn mixer(of: &Mixer) -> String {
    let span = |span: Span| match span {
        Span::Causal => "causal".to_owned(),
        Span::Bidirectional => "bidirectional".to_owned(),
        Span::Window(n) => format!("window of {}", human::whole(n)),
        Span::Chunk(n) => format!("chunks of {}", human::whole(n)),
        Span::Memory(0) => "to tokens of another stack".to_owned(),
        Span::Memory(n) => format!("to {} tokens of another stack", human::whole(n)),
    };
    match of {
        Mixer::Attention(a) => {
            let name = match a.kv_heads {
                1 => "multi-query attention",
                n if n == a.heads => "multi-head attention",
                _ => "grouped-query attention",
            };
            let norm = if a.qk_norm { ", norms on queries and keys" } else { "" };
            format!(
                "{name}, {} heads, {} key-value heads, head width {}, {}{norm}",
                a.heads,
                a.kv_heads,
                a.head_dim,
                span(a.span)
            )
        }
        Mixer::Latent(a) => format!(
            "multi-head latent attention, {} heads, latent ranks {} and {}, head widths {} + {} and {}{}",
            a.heads,
            a.q_lora_rank.map_or_else(|| "none".to_owned(), |rank| rank.to_string()),
            a.kv_lora_rank,
            a.qk_nope_head_dim,
            a.qk_rope_head_dim,
            a.v_head_dim,
            a.sparse_top_k.map_or_else(String::new, |k| format!(", sparse: {k} keys"))
        ),
        Mixer::Linear(a) => format!(
            "linear attention, {} key heads of {}, {} value heads of {}",
            a.key_heads, a.key_head_dim, a.value_heads, a.value_head_dim
        ),
        Mixer::StateSpace(s) => {
            format!(
                "state space, {} heads of {}, state {}, {} groups",
                s.heads, s.head_dim, s.state_size, s.groups
            )
        }
        Mixer::Selective(s) => {
            format!("selective scan, {} channels, state {}", human::whole(s.inner), s.state_size)
        }
        Mixer::Convolution(c) => {
            format!("gated short convolution, {} channels, {} taps", human::whole(c.width), c.taps)
        }
        Mixer::Several { mixers } => mixers.iter().map(mixer).collect::<Vec<_>>().join("; "),
        Mixer::Unpriced { name } => format!("{name}, not modelled"),
        Mixer::None => String::new(),
    }
}

fn feed_forward(feed_forward: &FeedForward) -> String {
    let mlp = |mlp: &Mlp| {
        let gate = if mlp.gated { "gated " } else { "" };
        format!(
            "{gate}MLP of inner width {} ({})",
            human::whole(mlp.intermediate_size),
            mlp.activation.name()
        )
    };
    match feed_forward {
        FeedForward::Dense(dense) => mlp(dense),
        FeedForward::MixtureOfExperts(moe) => {
            let shared = match moe.shared_intermediate_size {
                0 => String::new(),
                width => format!(", shared width {}", human::whole(width)),
            };
            format!("{} of {} experts per token, each a {}{shared}", moe.top_k, moe.experts, mlp(&moe.expert))
        }
        FeedForward::None => String::new(),
    }
}

/// `0-2, 5, 7-9`.
fn ranges(which: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &index in which {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => parts.push((index, index)),
        }
    }
    let shown: Vec<String> = parts
        .iter()
        .take(4)
        .map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        .chain((parts.len() > 4).then(|| "...".to_owned()))
        .collect();
    shown.join(", ")
}
