//! The cache: what is not in it is asked for before it is needed, so that nothing is waited for alone.

/// Bytes that come into it at once.
pub const LINE_BYTES: usize = 64;

/// Things that are asked for ahead of the one at hand, where they lie anywhere: in the time that these take, one comes from
/// memory.
pub const AHEAD: usize = 16;

/// Asks for the line that `it` begins in, and waits for nothing. Where there is no such instruction, whoever reads it waits.
#[inline(always)]
pub fn fetch<T>(it: &T) {
    #[cfg(target_arch = "x86_64")]
    hint::fetch(it);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = it;
}

/// Asks for all lines of `bytes`.
#[inline(always)]
pub fn fetch_all(bytes: &[u8]) {
    bytes.iter().step_by(LINE_BYTES).for_each(fetch);
    // They begin anywhere in their first line.
    bytes.last().into_iter().for_each(fetch);
}

/// The instruction, which no compiler makes of anything else. To read a byte in its place is a third as good: the processor
/// goes no further than some hundred instructions until it has come.
#[cfg(target_arch = "x86_64")]
mod hint {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    #[inline(always)]
    #[expect(unsafe_code)]
    pub fn fetch<T>(it: &T) {
        // SAFETY: every processor of this architecture has it; it changes nothing that a program can see, and faults at no
        // address, let alone at that of something borrowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(it).cast()) }
    }
}
