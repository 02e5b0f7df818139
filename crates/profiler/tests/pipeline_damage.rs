//! Damaged pipeline timers: the report covers the rest of the file, or an error gives the reason, without
//! panic.

use proptest::prelude::*;
use railwright_profiler::passes::Passes;
use railwright_profiler::pipeline::{Question, page, picture};
use railwright_profiler::readers::{self, Keep, Recording};
use std::sync::OnceLock;

fn file(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/");
    readers::inflate(&std::fs::read(format!("{root}{name}")).expect(name)).expect(name).into_owned()
}

/// Two files, truncated after a few steps.
fn texts() -> &'static [(&'static str, Vec<u8>)] {
    static TEXTS: OnceLock<Vec<(&str, Vec<u8>)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut primus = file("primus_pp8_mi300/pp8/pp_rank_1.json");
        primus.truncate(9_000);
        let mut tracer = file("megatronapp_pp4/data-1-pipeline-4-tensor-1-pp-aggregated-iter10.json.gz");
        tracer.truncate(24_000);
        vec![("pp_rank_1.json", primus), ("tracer.json", tracer)]
    })
}

proptest! {
    #![proptest_config(railwright_cases::cases(96))]

    #[test]
    fn nothing_panics(
        which in 0_usize..2,
        harms in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"0159eE-.,:{}[]\"n ".to_vec())), 0..24),
        cut in any::<prop::sample::Index>(),
        shape in prop::sample::select(vec![
            "", r#"{"pp_size": 4, "vp_size": 3, "num_mbs": 16}"#, r#"{"pp_size": 4294967295, "vp_size": 4294967295, "num_mbs": 4294967295}"#,
        ]),
    ) {
        let (label, text) = &texts()[which];
        let mut bytes = text.clone();
        for (at, byte) in harms {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        let mut parts = Vec::new();
        for (label, bytes) in [(*label, &bytes[..]), ("config.json", shape.as_bytes())] {
            let Some(reader) = readers::detect(bytes) else { continue };
            for recording in reader.read(label, bytes, Keep::default()).unwrap_or_default() {
                if let Recording::Passes(passes) = recording {
                    parts.push(passes);
                }
            }
        }
        if let Ok(page) = page(Passes::join(parts), &Question::default()) {
            for row in &page.shown.rows {
                let busy: i64 = row.boxes.iter().map(|b| b.end - b.start).sum();
                prop_assert!(busy + row.causes.total() >= page.shown.measured, "nothing is lost");
            }
            prop_assert!(page.steps.iter().all(|s| s.stall_cost >= 0));
            prop_assert!(picture::draw(&page, &picture::Options::default()).ends_with("</svg>\n"));
        }
    }
}
