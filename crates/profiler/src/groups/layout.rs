//! Rank order set by the user.
//!
//! Responsible for: sizes of dimensions from the innermost to the outermost, and the dimension of a set of
//! ranks. Rejects sizes that do not multiply to the world size.

use super::RankSet;
use railwright_spec::problem::Problem;
use railwright_step::Dimension;

/// Dimensions and their sizes, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    sizes: Vec<(Dimension, u32)>,
}

impl Layout {
    /// Parses `tp=2,cp=1,dp=4,pp=2`, innermost first. Missing dimensions have size 1.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let mut sizes: Vec<(Dimension, u32)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let hint = "list sizes from the innermost dimension outwards, such as `tp=8,cp=1,dp=4,pp=2`";
            let wrong = |message: String| Problem::new(message).hint(hint);
            let (name, size) = part
                .split_once('=')
                .ok_or_else(|| wrong(format!("`{part}` is not a dimension and its size")))?;
            let dimension = match name.trim().to_ascii_lowercase().as_str() {
                "fsdp" => Dimension::Data,
                name => Dimension::ALL
                    .into_iter()
                    .filter(|one| *one != Dimension::Other)
                    .find(|one| name == one.name() || name == Self::short(*one))
                    .ok_or_else(|| wrong(format!("`{name}` is not a dimension (tp, cp, ep, dp, pp)")))?,
            };
            let size: u32 = size
                .trim()
                .parse()
                .ok()
                .filter(|&size| size > 0)
                .ok_or_else(|| wrong(format!("`{}` is not a size", size.trim())))?;
            if sizes.iter().any(|&(known, _)| known == dimension) {
                return Err(wrong(format!("`{}` occurs twice", name.trim())));
            }
            sizes.push((dimension, size));
        }
        if sizes.is_empty() {
            return Err(Problem::new("the list has no dimensions").hint("such as `tp=8,dp=4,pp=2`"));
        }
        Ok(Self { sizes })
    }

    /// Short name of a dimension in a list of sizes.
    pub const fn short(dimension: Dimension) -> &'static str {
        match dimension {
            Dimension::Tensor => "tp",
            Dimension::Context => "cp",
            Dimension::Expert => "ep",
            Dimension::Data => "dp",
            Dimension::Pipeline => "pp",
            Dimension::Other => "other",
        }
    }

    /// The sizes, the innermost first.
    pub fn sizes(&self) -> Vec<u32> {
        self.sizes.iter().map(|&(_, size)| size).collect()
    }

    /// Size of a dimension and distance between its neighbours; `None` if its size is 1.
    pub fn place(&self, dimension: Dimension) -> Option<(u32, u32)> {
        let mut stride = 1_u32;
        for &(known, size) in &self.sizes {
            if known == dimension {
                return (size > 1).then_some((size, stride));
            }
            stride = stride.checked_mul(size)?;
        }
        None
    }

    /// Product of the sizes: number of ranks.
    pub fn world(&self) -> u64 {
        self.sizes.iter().fold(1, |world: u64, &(_, size)| world.saturating_mul(u64::from(size)))
    }

    /// Dimension of a set of ranks, by its size and stride. A set over several neighbouring dimensions has
    /// one only if all of them hold equal weights (data, context, expert): data, as gradients are reduced
    /// over it.
    pub fn dimension(&self, set: &RankSet) -> Option<Dimension> {
        let (stride, size) = (set.stride()?, set.len());
        let start = *set.ranks().first()?;
        for from in 0..self.sizes.len() {
            let sizes = self.sizes[..from].iter();
            let inner = sizes.fold(1_u64, |inner, &(_, size)| inner.saturating_mul(u64::from(size)));
            let mut together = 1_u64;
            let mut joined: Vec<Dimension> = Vec::new();
            for &(dimension, width) in &self.sizes[from..] {
                together = together.saturating_mul(u64::from(width));
                if width > 1 {
                    joined.push(dimension);
                }
                let fits = u64::from(stride) == inner && u64::from(size) == together && width > 1;
                if fits && u64::from(start) % inner.saturating_mul(together) < inner {
                    return match joined.as_slice() {
                        [one] => Some(*one),
                        several => (several.contains(&Dimension::Data)
                            && several.iter().all(|one| Self::holds_replicas(*one)))
                        .then_some(Dimension::Data),
                    };
                }
            }
        }
        None
    }

    /// Tests whether ranks along a dimension hold equal dense weights.
    const fn holds_replicas(dimension: Dimension) -> bool {
        matches!(dimension, Dimension::Data | Dimension::Context | Dimension::Expert)
    }

    /// Tests whether a group of `size` ranks (`set`, if known) can serve a dimension: its ranks differ in
    /// that dimension alone. Gradients are reduced over context and experts too. Experts that are not listed
    /// are divided among other ranks of a stage.
    pub fn allows(&self, dimension: Dimension, set: Option<&RankSet>, size: u32) -> bool {
        let listed = |one: Dimension| self.place(one).is_some();
        let is_own = |one: Dimension| match dimension {
            Dimension::Data => Self::holds_replicas(one),
            Dimension::Expert if !listed(Dimension::Expert) => one != Dimension::Pipeline,
            _ => one == dimension,
        };
        let Some(set) = set else {
            let own = self.sizes.iter().filter(|&&(one, _)| is_own(one));
            let most = own.fold(1_u64, |most, &(_, size)| most.saturating_mul(u64::from(size)));
            return u64::from(size) <= most;
        };
        let mut inner = 1_u64;
        for &(one, width) in &self.sizes {
            let position = |rank: &u32| u64::from(*rank) / inner % u64::from(width);
            let mut positions = set.ranks().iter().map(position);
            let first = positions.next();
            if !is_own(one) && positions.any(|other| Some(other) != first) {
                return false;
            }
            inner = inner.saturating_mul(u64::from(width));
        }
        set.ranks().iter().all(|rank| u64::from(*rank) < inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_belong_to_the_dimension_with_their_stride() {
        let layout = Layout::read("tp=2, cp=1,dp=4,pp=2").unwrap();
        assert_eq!(layout.world(), 16);
        assert_eq!(layout.dimension(&RankSet::new(&[6, 7])), Some(Dimension::Tensor));
        assert_eq!(layout.dimension(&RankSet::new(&[1, 3, 5, 7])), Some(Dimension::Data));
        assert_eq!(layout.dimension(&RankSet::new(&[3, 11])), Some(Dimension::Pipeline));
        assert_eq!(layout.dimension(&RankSet::new(&[7, 8])), None);
        assert_eq!(layout.dimension(&RankSet::new(&[0, 1, 5])), None);
    }

    #[test]
    fn sets_over_several_dimensions_have_one_only_if_their_ranks_hold_equal_weights() {
        let all = RankSet::new(&[0, 1, 2, 3]);
        let of = |text: &str| Layout::read(text).unwrap().dimension(&all);
        assert_eq!(of("dp=2,tp=2"), None);
        assert_eq!(of("tp=2,pp=2"), None);
        assert_eq!(of("cp=2,dp=2"), Some(Dimension::Data));
        assert_eq!(of("ep=2,dp=2"), Some(Dimension::Data));
        assert_eq!(of("dp=4"), Some(Dimension::Data));
    }

    #[test]
    fn ranks_of_a_group_differ_in_its_dimension_alone() {
        let layout = Layout::read("tp=2,cp=2,dp=2,pp=2").unwrap();
        let allows = |dimension, ranks: &[u32]| {
            layout.allows(dimension, Some(&RankSet::new(ranks)), ranks.len() as u32)
        };
        assert!(allows(Dimension::Pipeline, &[1, 9]) && !allows(Dimension::Pipeline, &[1, 8]));
        assert!(allows(Dimension::Data, &[0, 2, 4, 6]) && !allows(Dimension::Data, &[0, 1]));
        assert!(allows(Dimension::Expert, &[0, 1, 2, 3]) && !allows(Dimension::Expert, &[0, 8]));
        assert!(!allows(Dimension::Tensor, &[16, 17]));
        assert!(layout.allows(Dimension::Tensor, None, 2) && !layout.allows(Dimension::Tensor, None, 4));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "tp", "tp=0", "xp=2", "tp=2,tp=2", "tp=two"] {
            assert!(Layout::read(text).is_err(), "{text}");
        }
    }
}
