//! A pool of values that take time to make, such as scratch memory, and that one thread at a time uses.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Values that are not in use.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    /// Creates an empty pool.
    pub fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A value that is not in use, or a new one.
    pub fn take_or(&self, make: impl FnOnce() -> T) -> Pooled<'_, T> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { value: Some(spare.unwrap_or_else(make)), pool: self }
    }
}

/// A value in use. It returns to the pool when it is dropped.
#[derive(Debug)]
pub struct Pooled<'s, T> {
    /// Always there until it is dropped.
    value: Option<T>,
    pool: &'s Pool<T>,
}

impl<T> Deref for Pooled<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is in use")
    }
}

impl<T> DerefMut for Pooled<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is in use")
    }
}

impl<T> Drop for Pooled<'_, T> {
    fn drop(&mut self) {
        self.pool.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.value.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_used_again_once_it_is_dropped() {
        let pool = Pool::new();
        let (mut one, other) = (pool.take_or(|| 1), pool.take_or(|| 2));
        *one += 10;
        drop(one);
        let again = pool.take_or(|| 3);
        assert_eq!([*again, *other, *pool.take_or(|| 4)], [11, 2, 4]);
    }
}
