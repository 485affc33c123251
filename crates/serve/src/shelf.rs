//! Files that were translated, until they are fetched: in memory, for a while, and no more of them than there is room for.
//!
//! No name that a client gives ever reaches the file system.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// How long they are kept.
const KEPT: Duration = Duration::from_secs(30 * 60);
/// How many bytes there is room for.
const ROOM: usize = 64 << 20;
/// How many are translated at the same time: each is in memory while it is.
const AT_ONCE: usize = 4;

/// A translated file.
#[derive(Debug)]
pub(crate) struct Kept {
    id: String,
    /// What it is called when it is saved.
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) content: String,
    since: Instant,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Shelf {
    kept: Mutex<VecDeque<Arc<Kept>>>,
    /// Places for those that are being translated.
    pub(crate) places: Semaphore,
}

impl Default for Shelf {
    fn default() -> Self {
        Self { kept: Mutex::default(), places: Semaphore::new(AT_ONCE) }
    }
}

impl Shelf {
    /// Keeps a file, and returns what it can be asked for by. The oldest go if there is no room.
    pub(crate) fn keep(&self, name: &str, kind: &'static str, content: String) -> String {
        let id = new_id();
        let name = plain(name);
        let address = format!("{id}.{name}");
        let file = Kept { id, name, kind, content, since: Instant::now() };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.since.elapsed() < KEPT);
        let mut size: usize = kept.iter().map(|one| one.content.len()).sum::<usize>() + file.content.len();
        while size > ROOM
            && let Some(oldest) = kept.pop_front()
        {
            size -= oldest.content.len();
        }
        kept.push_back(Arc::new(file));
        address
    }

    /// The file of this address.
    pub(crate) fn get(&self, address: &str) -> Option<Arc<Kept>> {
        let (id, name) = address.split_once('.')?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.since.elapsed() < KEPT);
        kept.iter().find(|one| one.id == id && one.name == name).cloned()
    }
}

/// Nobody who was not told it should find it. The keys of these hashes come from the system's randomness.
fn new_id() -> String {
    let random = || RandomState::new().build_hasher().finish();
    let text = format!("{:016x}{:016x}", random(), random());
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// A name of letters, digits and a few marks, which means the same in an address, a header and a shell.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let most = name.len().saturating_sub(100);
    name[most..].trim_start_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_by_its_address_alone() {
        let shelf = Shelf::default();
        let one = shelf.keep("../a b_en.txt", "text/plain", "x".into());
        let other = shelf.keep("../a b_en.txt", "text/plain", "y".into());
        assert!(one != other && one.ends_with("._a_b_en.txt"), "{one}");
        assert_eq!(shelf.get(&one).unwrap().content, "x");
        assert_eq!(shelf.get(&other).unwrap().content, "y");
        for wrong in ["", ".", "x", "x._a_b_en.txt", &one[..one.len() - 1], &format!("../{one}")] {
            assert!(shelf.get(wrong).is_none(), "{wrong}");
        }
        assert_eq!(plain(&"é".repeat(300)).len(), 100);
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let shelf = Shelf::default();
        let third = "x".repeat(ROOM / 3);
        let all: Vec<String> = (0..4).map(|_| shelf.keep("a", "text/plain", third.clone())).collect();
        let is_there: Vec<bool> = all.iter().map(|one| shelf.get(one).is_some()).collect();
        assert_eq!(is_there, [false, true, true, true]);
    }
}
