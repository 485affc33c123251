//! Files by what is in them.

use std::path::Path;

use sylvan_base::InputError;
use sylvan_base::hash::content_hash;
use sylvan_decode::Result;

/// What is in a file, as a number.
pub(crate) fn hash(path: &Path) -> Result<u64> {
    Ok(content_hash(&std::fs::read(path).map_err(InputError::io(path, "read"))?))
}
