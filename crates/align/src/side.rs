//! The two sides of a parallel text.

/// Which of the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first text; links name it first.
    Source,
    /// The second text.
    Target,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Source => Self::Target,
            Self::Target => Self::Source,
        }
    }
}
