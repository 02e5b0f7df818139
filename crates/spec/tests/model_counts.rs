//! The catalogue against exact parameter counts, row by row. Their source is in `data/models.csv`:
//! instantiated configurations, not this program.

use railwright_spec::model::{Model, by_name};

/// Rows without an exact match, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

fn last_layer(model: &Model) -> u64 {
    model.layer(model.layers.len() - 1).parameters()
}

#[test]
fn every_row_to_the_digit() {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(include_str!("data/models.csv").as_bytes());
    let headers = reader.headers().expect("headers").clone();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for record in reader.records() {
        let record = record.expect("a row");
        let cell = |name: &str| &record[headers.iter().position(|h| h == name).expect("a column")];
        let name = cell("name");
        rows += 1;
        if EXCEPTIONS.iter().any(|(exception, _)| *exception == name) {
            continue;
        }
        let model = match by_name(name) {
            Ok(model) => model,
            Err(problem) => {
                wrong.push(format!("{name}: {problem}"));
                continue;
            }
        };
        let count = model.parameters();
        for (column, ours) in [
            ("num_layers", model.num_layers()),
            ("hidden", model.hidden_size),
            ("params_total", count.total),
            ("params_embed_in", count.word_embedding),
            ("params_lm_head", count.head),
            ("params_routed_experts", count.routed_experts),
            ("params_active_incl_embed", count.active),
            ("params_active_excl_embed_in", count.active_without_embedding),
            ("params_last_layer", last_layer(&model)),
        ] {
            // An empty cell of a count means zero.
            let theirs: u64 =
                if cell(column).is_empty() { 0 } else { cell(column).parse().expect("a number") };
            if ours != theirs {
                let off = i128::from(ours) - i128::from(theirs);
                wrong.push(format!("{name}: {column} is {ours}, should be {theirs}, off by {off}"));
            }
        }
        // Empty if not estimated.
        if let Ok(theirs) = cell("params_mtp_est").parse::<u64>()
            && count.multi_token_prediction != theirs
        {
            wrong.push(format!(
                "{name}: multi-token prediction is {}, not {theirs}",
                count.multi_token_prediction
            ));
        }
    }
    assert_eq!(rows, 105);
    assert!(wrong.is_empty(), "{} mismatches:\n{}", wrong.len(), wrong.join("\n"));
}
