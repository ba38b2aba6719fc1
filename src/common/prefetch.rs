//! Prefetching: cache lines are requested before they are needed, so that several loads are in flight at once.

/// Bytes of a cache line.
pub const LINE_BYTES: usize = 64;

/// How many items ahead to prefetch if items are at random addresses: one load from memory takes as long as processing this
/// many items.
pub const AHEAD: usize = 16;

/// Prefetches the cache line in which `it` begins. Does nothing on processors without such an instruction.
#[inline(always)]
pub fn fetch<T: ?Sized>(it: &T) {
    #[cfg(target_arch = "x86_64")]
    hint::fetch(it);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = it;
}

/// Prefetches all cache lines of `bytes`.
#[inline(always)]
pub fn fetch_all(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        fetch(line);
    }
    // The bytes may begin anywhere in their first cache line.
    if let Some(last) = bytes.last() {
        fetch(last);
    }
}

/// Prefetches `bytes[ahead..ahead + count]`. Does nothing if `bytes` is shorter.
#[inline(always)]
pub fn fetch_ahead(bytes: &[u8], ahead: usize, count: usize) {
    if let Some(part) = bytes.get(ahead..ahead + count) {
        fetch_all(part);
    }
}

/// Prefetches where the next item of `usual_bytes` bytes or fewer will be appended to `bytes`. Of many buffers that take turns, no
/// cache holds all, but it can hold this much of each.
#[inline(always)]
pub fn fetch_room(bytes: &mut Vec<u8>, usual_bytes: usize) {
    let room = bytes.spare_capacity_mut();
    for line in room[..room.len().min(usual_bytes + LINE_BYTES)].chunks(LINE_BYTES) {
        fetch(line);
    }
}

/// Issues the prefetch instruction, which compilers do not generate by themselves. Reading a byte instead gains only a third as
/// much, because the processor runs only a few hundred instructions ahead of a load.
#[cfg(target_arch = "x86_64")]
mod hint {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    #[inline(always)]
    #[expect(unsafe_code)]
    pub fn fetch<T: ?Sized>(it: &T) {
        // SAFETY: every processor of this architecture has the instruction. It changes no state that a program can see and
        // never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(it).cast()) }
    }
}
