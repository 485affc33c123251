//! Slices that own what they point into: a section of a mapped file, or a vector.
//!
//! A reader that asks the container for a section by name at every access pays more for the lookup than for the
//! values. A [`Section`] asks once and keeps the file mapped as long as it lives; code that uses it need not know
//! whether the values come from a file or from memory.
#![allow(unsafe_code)]

use std::any::Any;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use sylvan_base::Result;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::container::{Container, Name};

/// An immutable shared slice. Cloning it shares the values.
pub struct Section<T> {
    values: NonNull<[T]>,
    /// Keeps the values alive; never looked at.
    owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: a `Section` gives out nothing but `&[T]` and clones of itself, and its owner is `Send + Sync`; that is
// as much as an `Arc<[T]>` does, with the same demands on `T`.
unsafe impl<T: Send + Sync> Send for Section<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Section<T> {}

impl<T: Send + Sync + 'static> Section<T> {
    /// Takes over a vector.
    pub fn from_vec(values: Vec<T>) -> Self {
        let owner = Arc::new(values);
        let values = NonNull::from(owner.as_slice());
        Self { values, owner }
    }
}

impl<T: FromBytes + Immutable + KnownLayout> Section<T> {
    /// A section of an open file; an error if it is missing or not a whole number of values.
    pub fn from_file(file: &Arc<Container>, name: Name) -> Result<Self> {
        let values = NonNull::from(file.section::<T>(name)?);
        Ok(Self { values, owner: Arc::<Container>::clone(file) })
    }
}

impl<T> Deref for Section<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the pointer comes from a slice inside the owner, which lives as long as `self`. The owner is
        // a vector or a mapped file behind an `Arc` that is never borrowed mutably (the field is private and never
        // read), so the values neither move nor change. Moving the `Arc` itself does not move them.
        unsafe { self.values.as_ref() }
    }
}

impl<T> Clone for Section<T> {
    fn clone(&self) -> Self {
        Self { values: self.values, owner: Arc::clone(&self.owner) }
    }
}

impl<T> std::fmt::Debug for Section<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Section of {} values", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{ContainerWriter, name};

    #[test]
    fn values_outlive_their_source_and_travel_between_threads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        let mut writer = ContainerWriter::create(&path, name("test"), 1, 1).unwrap();
        writer.section(name("numbers"), &[1u32, 2, 3]).unwrap();
        writer.finish().unwrap();
        let section = {
            let file = Arc::new(Container::open(&path, name("test"), 1..=1).unwrap());
            assert!(Section::<u32>::from_file(&file, name("none")).is_err());
            assert!(Section::<u64>::from_file(&file, name("numbers")).is_err());
            Section::<u32>::from_file(&file, name("numbers")).unwrap()
        };
        let owned = Section::from_vec(vec![1u32, 2, 3]);
        for section in [section, owned] {
            let other = section.clone();
            let sum = std::thread::spawn(move || other.iter().sum::<u32>()).join().unwrap();
            assert_eq!((sum, &section[..]), (6, &[1, 2, 3][..]));
        }
        assert!(Section::<u32>::from_vec(Vec::new()).is_empty());
    }
}
