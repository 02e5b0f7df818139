//! Layouts from process groups.

use super::*;
use crate::groups::{Group, GroupDimension};

/// All groups of a dimension: `ranks` of them, `stride` apart.
fn groups(world: u32, of: &[(Dimension, u32, u32, Evidence)]) -> Groups {
    let mut found = Groups::default();
    for &(dimension, ranks, stride, evidence) in of {
        for first in (0..world).filter(|rank| rank % (stride * ranks) < stride) {
            found.groups.push(Group {
                ranks: Some(RankSet::range(first, stride, ranks)),
                size: ranks,
                description: None,
                names: Vec::new(),
                dimension: GroupDimension { dimension, label: dimension.name().to_owned(), evidence },
                inferred: false,
                drains: false,
            });
        }
    }
    found
}

use Dimension::{Context, Data, Expert, Pipeline, Tensor};
const DESCRIBED: Evidence = Evidence::Description;

#[test]
fn described_groups_determine_the_layout() {
    let all = groups(64, &[(Tensor, 4, 1, DESCRIBED), (Pipeline, 2, 32, DESCRIBED), (Data, 8, 4, DESCRIBED)]);
    let layout = JobLayout::of(&all, None, 64, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=4,dp=8,pp=2", true));
    assert!(layout.doubts.is_empty(), "{:?}", layout.doubts);
    let strides: Vec<u32> = layout.sizes.iter().map(|size| size.stride).collect();
    assert_eq!(strides, [1, 4, 32]);
    let counts: Vec<u32> = layout.groups.iter().map(|class| class.groups).collect();
    assert_eq!(counts, [16, 8, 32]);
}

#[test]
fn data_groups_over_context_are_divided() {
    let of = [
        (Tensor, 2, 1, DESCRIBED),
        (Context, 2, 2, DESCRIBED),
        (Data, 4, 4, DESCRIBED),
        (Data, 8, 2, DESCRIBED),
        (Pipeline, 2, 16, DESCRIBED),
    ];
    let layout = JobLayout::of(&groups(32, &of), None, 32, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=2,cp=2,dp=4,pp=2", true));
}

#[test]
fn experts_within_data_are_a_dimension() {
    let of = [
        (Tensor, 2, 1, DESCRIBED),
        (Expert, 4, 2, DESCRIBED),
        (Data, 2, 8, DESCRIBED),
        (Data, 8, 2, DESCRIBED),
    ];
    let layout = JobLayout::of(&groups(16, &of), None, 16, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=2,ep=4,dp=2", true));
}

/// Experts divided like data, the usual arrangement: one size with two names, not two layouts.
#[test]
fn experts_divided_like_data_are_no_layout_of_their_own() {
    let of = [(Tensor, 2, 1, DESCRIBED), (Expert, 4, 2, DESCRIBED), (Data, 4, 2, DESCRIBED)];
    let layout = JobLayout::of(&groups(8, &of), None, 8, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=2,dp=4", true));
    assert!(layout.doubts.is_empty(), "{:?}", layout.doubts);
    // The class of the experts stays among the groups.
    assert!(layout.groups.iter().any(|class| class.dimension == Expert));
    let staged = [(Expert, 4, 1, DESCRIBED), (Data, 4, 1, DESCRIBED), (Pipeline, 2, 4, DESCRIBED)];
    let layout = JobLayout::of(&groups(8, &staged), None, 8, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("dp=4,pp=2", true));
}

#[test]
fn a_gap_has_no_name_and_is_a_doubt() {
    let of = [(Tensor, 2, 1, DESCRIBED), (Pipeline, 2, 8, Evidence::Operations)];
    let layout = JobLayout::of(&groups(16, &of), None, 16, false).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=2,other=4,pp=2", false));
    assert_eq!(
        layout.doubts,
        [
            "no process group joins the 4 ranks of stride 2",
            "pp=2: inferred from the operations of its groups",
            "the number of ranks is not recorded: at least 16"
        ]
    );
}

#[test]
fn several_layouts_are_none() {
    let of = [
        (Tensor, 2, 1, DESCRIBED),
        (Data, 2, 1, DESCRIBED),
        (Tensor, 2, 2, DESCRIBED),
        (Data, 2, 2, DESCRIBED),
    ];
    let layout = JobLayout::of(&groups(4, &of), None, 4, true).unwrap();
    assert!(layout.sizes.is_empty() && !layout.complete);
    assert!(layout.doubts[0].starts_with("the groups fit several layouts: "), "{:?}", layout.doubts);
    let none = JobLayout::of(&Groups::default(), None, 8, true).unwrap();
    assert_eq!(
        (none.sizes.len(), none.doubts.as_slice()),
        (0, ["no process group has a known dimension".to_owned()].as_slice())
    );
    assert_eq!(JobLayout::of(&Groups::default(), None, 1, true), None);
}

#[test]
fn a_pair_of_stages_does_not_hide_the_pipeline() {
    let of = [(Data, 2, 1, DESCRIBED), (Pipeline, 4, 2, DESCRIBED), (Pipeline, 2, 2, DESCRIBED)];
    let layout = JobLayout::of(&groups(8, &of), None, 8, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("dp=2,pp=4", true));
}

#[test]
fn sizes_of_the_user_come_first() {
    let stated = Layout::read("tp=2,dp=4,pp=1").unwrap();
    let recorded = groups(8, &[(Data, 8, 1, DESCRIBED)]);
    let layout = JobLayout::of(&recorded, Some(&stated), 8, true).unwrap();
    assert_eq!((layout.text().as_str(), layout.complete), ("tp=2,dp=4", true));
    assert_eq!(layout.sizes[0].evidence, Evidence::Sizes);
    let wrong = JobLayout::of(&recorded, Some(&stated), 16, true).unwrap();
    assert_eq!((wrong.complete, wrong.doubts.len()), (false, 1));
}
