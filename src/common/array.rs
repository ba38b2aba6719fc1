//! Arrays in hot loops. Functions of the standard library that do the same are not inlined into another codegen unit, where they
//! call a function for each item, and another one to copy a few bytes.

/// The results of `item` for the indices from 0 on.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "adapters of iterators may not be inlined either")]
pub fn from_fn<T: Copy, const N: usize>(mut item: impl FnMut(usize) -> T) -> [T; N] {
    const { assert!(N > 0, "there is a first item") };
    let mut items = [item(0); N];
    for at in 1..N {
        items[at] = item(at);
    }
    items
}

/// The results of `each` for these `items`.
#[inline(always)]
pub fn map<T: Copy, U: Copy, const N: usize>(items: [T; N], mut each: impl FnMut(T) -> U) -> [U; N] {
    from_fn(|at| each(items[at]))
}

/// Writes `items` to the beginning of `to`, which must be long enough.
#[inline(always)]
pub fn write<T, const N: usize>(to: &mut [T], items: [T; N]) {
    *to.first_chunk_mut().expect("there is room for all items") = items;
}
