//! Whether two names are one file.

use std::path::{Path, PathBuf};

/// Whether two names are, or would be, the same ordinary file. `-`, devices and pipes are never the same: they can be
/// read and written at once.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a == b || both_exist_as_one(&a, &b),
        _ => false,
    }
}

/// Where a name leads, through links; a file that does not exist yet is in a folder that does.
fn place(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") || std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return None;
    }
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Hard links have several names.
#[cfg(unix)]
fn both_exist_as_one(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
    identity(a).is_some_and(|file| identity(b) == Some(file))
}

#[cfg(not(unix))]
fn both_exist_as_one(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::fs::write(at("b"), "x").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        assert!(is_same_file(&at("a"), &at("a")) && !is_same_file(&at("a"), &at("b")));
        assert!(is_same_file(&at("a"), &at("sub/../a")));
        // Neither is there yet.
        assert!(is_same_file(&at("new"), &at("sub/../new")) && !is_same_file(&at("new"), &at("other")));
        #[cfg(unix)]
        {
            std::fs::hard_link(at("a"), at("hard")).unwrap();
            std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
            assert!(is_same_file(&at("a"), &at("hard")) && is_same_file(&at("soft"), &at("hard")));
            assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
        }
        assert!(!is_same_file(Path::new("-"), Path::new("-")));
        assert!(!is_same_file(dir.path(), dir.path()), "folders are not written over");
    }
}
