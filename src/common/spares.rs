//! Spares: values that take time to make, such as scratch memory, and that one thread at a time uses.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Values that are not in use.
#[derive(Debug)]
pub struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// None yet.
    pub fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A value that is not in use, or a new one.
    pub fn take_or(&self, make: impl FnOnce() -> T) -> Spare<'_, T> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Spare { value: Some(spare.unwrap_or_else(make)), of: self }
    }
}

/// A value in use. It becomes a spare when it is dropped.
#[derive(Debug)]
pub struct Spare<'s, T> {
    /// Always there until it is dropped.
    value: Option<T>,
    of: &'s Spares<T>,
}

impl<T> Deref for Spare<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is in use")
    }
}

impl<T> DerefMut for Spare<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is in use")
    }
}

impl<T> Drop for Spare<'_, T> {
    fn drop(&mut self) {
        self.of.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.value.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_used_again_once_it_is_dropped() {
        let spares = Spares::new();
        let (mut one, other) = (spares.take_or(|| 1), spares.take_or(|| 2));
        *one += 10;
        drop(one);
        let again = spares.take_or(|| 3);
        assert_eq!([*again, *other, *spares.take_or(|| 4)], [11, 2, 4]);
    }
}
