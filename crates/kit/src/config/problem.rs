//! What is wrong with a configuration, and where.

use std::{fmt, path::PathBuf, sync::Arc};

/// Which text a value was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The operator's file.
    File,
    /// The default catalogue in the program.
    BuiltIn,
}

/// A place in a text. Lines and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Which text.
    pub origin: Origin,
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Position {
    /// The start of the operator's file.
    pub const START: Self = Self { origin: Origin::File, line: 1, column: 1 };
}

/// One thing that is wrong, or that deserves a warning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where the value at fault begins.
    pub at: Position,
    /// Path of the field, as in `aliases.fast.targets[0]`; empty for the whole file.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Everything that is wrong with a configuration: nothing of it was taken over.
///
/// Shows one problem a line, as `file:line:column: field: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    /// The operator's file; `None` where there is none.
    pub file: Option<Arc<PathBuf>>,
    /// What is wrong, in the order of the file; never empty.
    pub problems: Vec<Problem>,
}

impl std::error::Error for ConfigErrors {}

impl ConfigErrors {
    pub(super) fn new(file: Option<Arc<PathBuf>>, mut problems: Vec<Problem>) -> Self {
        problems.sort();
        problems.dedup();
        Self { file, problems }
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref();
        for (index, problem) in self.problems.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{}", Located { problem, file })?;
        }
        Ok(())
    }
}

/// A problem with the name of its file, for showing.
#[derive(Debug)]
pub struct Located<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The operator's file.
    pub file: Option<&'a PathBuf>,
}

impl fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { at, field, message } = self.problem;
        match (at.origin, self.file) {
            (Origin::BuiltIn, _) => f.write_str("built-in catalogue")?,
            (Origin::File, Some(file)) => write!(f, "{}", file.display())?,
            (Origin::File, None) => f.write_str("configuration")?,
        }
        write!(f, ":{}:{}: ", at.line, at.column)?;
        if !field.is_empty() {
            write!(f, "{field}: ")?;
        }
        // A text from the file may hold line breaks; a problem is one line.
        message.split(char::is_control).enumerate().try_for_each(|(index, part)| {
            f.write_str(if index == 0 { "" } else { " " })?;
            f.write_str(part)
        })
    }
}
