//! Vectors that report lack of memory as an error.

use crate::error::{Error, Result};

/// Reserves room for `more` items in a list that grows gradually. Doubles the capacity if it must grow.
///
/// # Errors
/// Same as [`reserve`].
pub fn reserve_more<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    match items.capacity() - items.len() < more {
        true => reserve(items, more.max(items.len())),
        false => Ok(()),
    }
}

/// Reserves room for exactly `more` items, in a list that grows with the input.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory), with the number of bytes and a remedy.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve_exact(more).map_err(|_| Error::no_memory(more.saturating_mul(size_of::<T>())))
}

/// Collects `items` into a list. Reserves room for the upper bound of their number.
///
/// # Errors
/// Same as [`reserve`].
pub fn list<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    try_list(items.map(Ok))
}

/// Collects fallible `items` into a list. Reserves room for the upper bound of their number.
///
/// # Errors
/// The first error among the items; otherwise as [`reserve`].
pub fn try_list<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (least, most) = items.size_hint();
    let mut list = Vec::new();
    reserve(&mut list, most.unwrap_or(least))?;
    for item in items {
        reserve_more(&mut list, 1)?;
        list.push(item?);
    }
    Ok(list)
}

/// Copies `items` to a new list.
///
/// # Errors
/// Same as [`reserve`].
pub fn copy<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    reserve(&mut copy, items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}
