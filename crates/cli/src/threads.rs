//! How many threads.

/// As many as asked for, or as there are processors; at least one.
pub(crate) fn threads(asked: Option<impl Into<usize>>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(all, Into::into).max(1)
}
