//! Stages, chunks and their layers from Megatron's flags.
//!
//! Responsible for: the five forms of these flags. Assignments that Megatron rejects stay even, and
//! validation reports them.

use super::filler::Filler;
use crate::RemarkKind;
use railwright_spec::plan::Schedule;

/// Chunks of a layout at most.
const MOST_CHUNKS: usize = 4096;

/// Reads chunks per stage, layers per chunk and the schedule.
pub(crate) fn read(f: &mut Filler<'_>, layers: Option<u64>, stages: u64) {
    let layout = f.arguments.word("pipeline_model_parallel_layout").and_then(layers_of_layout);
    // A hybrid's pattern has its chunks between bars; without any, its layers are divided evenly.
    let bars = f.arguments.word("hybrid_layer_pattern").and_then(layers_of_pattern);
    // MindSpeed's empty layers, as a layout.
    let empty = f.arguments.word("noop_layers").and_then(layers_of_layout);
    let divided_by = match (&bars, &empty) {
        (Some(_), _) => "hybrid_layer_pattern",
        (None, Some(_)) => "noop_layers",
        (None, None) => "pipeline_model_parallel_layout",
    };
    let layout = bars.or(empty).or(layout);
    if f.arguments.get("pipeline_model_parallel_layout").is_some() && layout.is_none() {
        let message = "not a layout such as `Et*3|(tt|)*29|L`; ignored";
        f.remark(RemarkKind::Unresolved, "pipeline_model_parallel_layout", message);
    }
    if f.arguments.word("pipeline_model_parallel_layout").is_some_and(predicts_early) {
        let message =
            "places multi-token-prediction modules before the last chunk; they are assumed to be in the last";
        f.remark(RemarkKind::NotModelled, "pipeline_model_parallel_layout", message);
    }
    let account = |f: &Filler<'_>, name| u64::from(f.arguments.is_on(name));
    let embedding = account(f, "account_for_embedding_in_pipeline_split");
    let loss = account(f, "account_for_loss_in_pipeline_split");
    let counted = layers.map(|layers| layers.saturating_add(embedding + loss));
    let each = f.count("num_layers_per_virtual_pipeline_stage").filter(|n| *n > 0);
    let (chunks, field) = if let Some(list) = &layout {
        ((list.len() as u64 / stages).max(1), divided_by)
    } else if let Some(chunks) = f.count("virtual_pipeline_model_parallel_size") {
        (chunks.max(1), "virtual_pipeline_model_parallel_size")
    } else if let Some(chunks) = f.count("num_virtual_stages_per_pipeline_rank") {
        (chunks.max(1), "num_virtual_stages_per_pipeline_rank")
    } else if let (Some(each), Some(counted)) = (each, counted) {
        if !counted.is_multiple_of(stages.saturating_mul(each)) {
            let message = format!(
                "{counted} layers cannot be divided into {stages} stages of chunks of {each}: Megatron rejects this"
            );
            f.remark(RemarkKind::Invalid, "num_layers_per_virtual_pipeline_stage", message);
        }
        ((counted / stages / each).max(1), "num_layers_per_virtual_pipeline_stage")
    } else {
        (1, "num_layers_per_virtual_pipeline_stage")
    };
    f.set("plan.virtual_stages", &chunks, field);
    let (schedule, field) = if f.arguments.is_on("zero_bubble_v_schedule") {
        (Schedule::ZbV, "zero_bubble_v_schedule")
    } else if f.arguments.is_on("enable_zero_bubble") {
        (Schedule::ZbH1, "enable_zero_bubble")
    } else if f.arguments.is_on("enable_zbh1_pipeline") {
        (Schedule::ZbH1, "enable_zbh1_pipeline")
    } else {
        (Schedule::OneForwardOneBackward, "enable_zero_bubble")
    };
    f.set("plan.schedule", &schedule, field);
    let total = stages.saturating_mul(chunks);
    if total > MOST_CHUNKS as u64 {
        return;
    }
    if let Some(list) = layout {
        let is_uneven = match layers {
            Some(layers) => list.iter().any(|n| n * total != layers),
            // The model is named elsewhere: its layers are those of the list.
            None => list.windows(2).any(|pair| pair[0] != pair[1]),
        };
        if is_uneven {
            f.set("plan.layers_per_stage", &list, divided_by);
        }
        return;
    }
    let first = f.count("decoder_first_pipeline_num_layers");
    let last = f.count("decoder_last_pipeline_num_layers");
    let field = if first.is_some() {
        "decoder_first_pipeline_num_layers"
    } else {
        "decoder_last_pipeline_num_layers"
    };
    let Some(layers) = layers else {
        if first.is_some() || last.is_some() {
            let message = "the other stages depend on the model's layers, which are not in this file: \
                           the division is unknown, pass `--layers-per-stage`";
            f.remark(RemarkKind::Unresolved, field, message);
        }
        return;
    };
    if first.is_some() || last.is_some() {
        match at_the_ends(layers, stages, chunks, first, last) {
            Some(list) => f.set("plan.layers_per_stage", &list, field),
            None => f.remark(
                RemarkKind::Conflict,
                field,
                "leaves layers that the other stages cannot share evenly",
            ),
        }
    } else if embedding + loss > 0 {
        let field = if embedding > 0 {
            "account_for_embedding_in_pipeline_split"
        } else {
            "account_for_loss_in_pipeline_split"
        };
        let counted = layers.saturating_add(embedding + loss);
        let each = counted / total.max(1);
        // A chunk may contain only an embedding or a loss.
        if counted.is_multiple_of(total) {
            let mut list = vec![each; total as usize];
            list[0] -= embedding;
            list[total as usize - 1] -= loss;
            f.set("plan.layers_per_stage", &list, field);
        } else {
            let message =
                format!("{counted} layers (with embedding and loss) cannot be divided among {total} chunks");
            f.remark(RemarkKind::Conflict, field, message);
        }
    }
}

/// Layers of each chunk in pipeline order, if the first and the last stage have their own number.
pub(crate) fn at_the_ends(
    layers: u64,
    stages: u64,
    chunks: u64,
    first: Option<u64>,
    last: Option<u64>,
) -> Option<Vec<u64>> {
    let others = stages.checked_sub(u64::from(first.is_some()) + u64::from(last.is_some()))?;
    let rest = layers.checked_sub(first.unwrap_or(0))?.checked_sub(last.unwrap_or(0))?;
    let each = match others {
        0 => (rest == 0).then_some(0)?,
        others => rest.is_multiple_of(others).then_some(rest / others)?,
    };
    let of_stage = |stage: u64| match (stage, first, last) {
        (0, Some(first), _) => first,
        (stage, _, Some(last)) if stage == stages - 1 => last,
        _ => each,
    };
    (0..stages * chunks)
        .map(|chunk| {
            let layers = of_stage(chunk % stages);
            layers.is_multiple_of(chunks).then_some(layers / chunks)
        })
        .collect()
}

/// Layers of each chunk of a layout such as `Et*3|(tt|)*29,m|L`: `E` embedding, `t` a layer, `m` a prediction
/// module, `L` the loss, `|` between chunks.
fn layers_of_layout(text: &str) -> Option<Vec<u64>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !"'\",\\".contains(*c)).collect();
    let mut budget = 1 << 16;
    let flat = flatten(&text, 0, &mut budget)?;
    if !flat.chars().all(|c| "EtmL|".contains(c)) || !flat.contains('t') {
        return None;
    }
    let chunks: Vec<u64> = flat.split('|').map(|chunk| chunk.matches('t').count() as u64).collect();
    (chunks.len() <= MOST_CHUNKS).then_some(chunks)
}

/// Layers of each chunk of a hybrid's pattern such as `M-M-|M*M-`, if it has bars; the part after `/`
/// predicts further tokens.
fn layers_of_pattern(text: &str) -> Option<Vec<u64>> {
    let main = text.trim_matches(['\'', '"']).split('/').next()?;
    let chunks: Vec<u64> = main.split('|').map(|chunk| chunk.chars().count() as u64).collect();
    (chunks.len() > 1 && chunks.len() <= MOST_CHUNKS).then_some(chunks)
}

/// Writes out repetitions: `(tt|)*3` and `t*3`.
fn flatten(text: &str, depth: usize, budget: &mut usize) -> Option<String> {
    if depth > 8 {
        return None;
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let item = if c == '(' {
            let mut open = 0usize;
            let close = rest.char_indices().find(|(_, c)| {
                open += usize::from(*c == '(');
                open -= usize::from(*c == ')');
                open == 0
            })?;
            let inner = flatten(&rest[1..close.0], depth + 1, budget)?;
            rest = &rest[close.0 + 1..];
            inner
        } else {
            rest = &rest[c.len_utf8()..];
            c.to_string()
        };
        let times = match rest.strip_prefix('*') {
            Some(after) => {
                let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                rest = &after[end..];
                after[..end].parse::<usize>().ok()?
            }
            None => 1,
        };
        *budget = budget.checked_sub(item.len().checked_mul(times)?.max(1))?;
        out.push_str(&item.repeat(times));
    }
    Some(out)
}

/// Tests whether prediction modules precede the last chunk, a placement that this reader does not support.
fn predicts_early(text: &str) -> bool {
    text.rsplit_once('|').is_some_and(|(before, _)| before.contains('m'))
}

/// A layout with the layers of each chunk, and the prediction modules in the last chunk. Megatron requires
/// all of them to be placed.
pub(crate) fn layout_of(layers: &[u64], predictions: u64) -> String {
    let last = layers.len().saturating_sub(1);
    let chunk = |(index, count): (usize, &u64)| {
        let layers = match count {
            0 => String::new(),
            1 => "t".to_owned(),
            n => format!("t*{n}"),
        };
        let embedding = if index == 0 { "E" } else { "" };
        let end = match predictions {
            _ if index != last => String::new(),
            0 => "L".to_owned(),
            1 => "mL".to_owned(),
            n => format!("m*{n}L"),
        };
        format!("{embedding}{layers}{end}")
    };
    layers.iter().enumerate().map(chunk).collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_counted() {
        assert_eq!(layers_of_pattern("M-M-|M*M/MM"), Some(vec![4, 3]));
        assert_eq!(layers_of_pattern("M-M-"), None);
    }

    #[test]
    fn layouts_are_counted() {
        assert_eq!(layers_of_layout("Et*3|(tt|)*2,m|L"), Some(vec![3, 2, 2, 0, 0]));
        assert_eq!(layers_of_layout("Ettt|tt|ttL"), Some(vec![3, 2, 2]));
        assert_eq!(layers_of_layout(&layout_of(&[3, 0, 1, 7], 0)), Some(vec![3, 0, 1, 7]));
        assert_eq!(layout_of(&[2, 1], 0), "Et*2|tL");
        assert_eq!(layout_of(&[2, 1], 1), "Et*2|tmL");
        assert_eq!(layout_of(&[2, 0], 2), "Et*2|m*2L");
        assert_eq!(layers_of_layout("Et*2|m*2L"), Some(vec![2, 0]));
        assert!(predicts_early("Et*3|tt,m|L") && !predicts_early("Et*3|tt|mL") && !predicts_early("EttmL"));
        for bad in
            ["", "Ex|L", "(t|", "t*99999999999", "((((((((((t))))))))))", "(((t*9999)*9999)*9999)*9999", ")"]
        {
            assert_eq!(layers_of_layout(bad), None, "{bad}");
        }
    }

    #[test]
    fn first_and_last_stage_of_their_own() {
        assert_eq!(at_the_ends(61, 4, 1, Some(13), None), Some(vec![13, 16, 16, 16]));
        assert_eq!(at_the_ends(126, 8, 1, Some(15), Some(15)), Some(vec![15, 16, 16, 16, 16, 16, 16, 15]));
        assert_eq!(at_the_ends(20, 4, 2, Some(4), Some(4)), Some(vec![2, 3, 3, 2, 2, 3, 3, 2]));
        assert_eq!(at_the_ends(21, 4, 1, Some(4), Some(4)), None);
        assert_eq!(at_the_ends(5, 2, 1, Some(9), None), None);
    }
}
