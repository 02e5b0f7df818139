//! Parallel sizes that a plan leaves to the program (`auto`), while others are set.
//!
//! Responsible for: the key `plan.auto` and the value `auto` of a parallel size. Chooses no size.

use crate::problem::Problem;
use crate::run::field::{choice, wrong};
use crate::run::{Field, Kind, Value};

/// A parallel size that the program chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutoSize {
    /// Tensor-parallel size.
    Tensor,
    /// Pipeline-parallel size.
    Pipeline,
    /// Context-parallel size.
    Context,
    /// Expert-parallel size.
    Expert,
}

choice!(AutoSize {
    "tp" | "tensor" | "tensor_parallel" | "tensor-parallel" => Self::Tensor,
    "pp" | "pipeline" | "pipeline_parallel" | "pipeline-parallel" => Self::Pipeline,
    "cp" | "context" | "context_parallel" | "context-parallel" => Self::Context,
    "ep" | "expert" | "expert_parallel" | "expert-parallel" => Self::Expert,
});

impl AutoSize {
    /// All sizes.
    pub const ALL: [Self; 4] = [Self::Tensor, Self::Pipeline, Self::Context, Self::Expert];

    /// Key of the size in the section `plan`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tensor => "tensor_parallel",
            Self::Pipeline => "pipeline_parallel",
            Self::Context => "context_parallel",
            Self::Expert => "expert_parallel",
        }
    }

    /// The size of a key in the section `plan`.
    pub fn of_key(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.key() == name)
    }

    /// Short name, such as `tp`.
    pub fn name(self) -> String {
        self.write().to_plain()
    }
}

/// The value of a parallel size that leaves it to the program.
pub const AUTO: &str = "auto";

/// Tests whether a value is [`AUTO`].
pub(super) fn is_auto(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.trim().eq_ignore_ascii_case(AUTO))
}

impl Field for Vec<AutoSize> {
    const KIND: Kind = Kind::Texts;

    fn read(value: &Value) -> Result<Self, Problem> {
        let Value::List(list) = value else { return Err(wrong(Self::KIND, value)) };
        let mut sizes = list.iter().map(AutoSize::read).collect::<Result<Self, _>>()?;
        sizes.sort_unstable();
        sizes.dedup();
        Ok(sizes)
    }

    fn write(&self) -> Value {
        Value::List(self.iter().map(Field::write).collect())
    }
}
