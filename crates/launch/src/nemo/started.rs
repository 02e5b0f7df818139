//! Settings of a command that starts a recipe.
//!
//! Responsible for: the type that readers of scripts fill. Reads nothing.

use crate::context::Sources;
use crate::document::Document;
use crate::megatron::world::World;

/// A command that starts a recipe.
#[derive(Default)]
pub(super) struct Started {
    pub(super) document: Document,
    /// Name of the recipe, with its line.
    pub(super) recipe: Option<(String, usize)>,
    pub(super) world: World,
    /// Overrides with a value that is known at run time alone, with their lines.
    pub(super) open: Vec<(String, usize)>,
    /// Flags that are not read, with their lines.
    pub(super) unknown: Vec<(String, usize)>,
    /// The script's files and the configuration, if that was read.
    pub(super) sources: Option<Sources>,
    /// The configuration that the command names without its text: the flag, its line, and the reason.
    pub(super) unread: Option<(String, usize, String)>,
}
