//! Was the answer to a near request right?

/// How two answers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Judge {
    /// As texts: equal but for case, spacing and punctuation at the end. Other words may still be right.
    #[default]
    Text,
    /// As sets of tags: most of them the same.
    Tags,
    /// As JSON values.
    Json,
    /// As one label.
    Label,
}
