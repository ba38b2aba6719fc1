//! Cuts: where, within a range, the parts of the live set begin. Entries of reused parts are not listed again.

/// A place within a range at which a part begins.
#[derive(Debug, Clone, Copy)]
pub struct Cut<'c> {
    /// The first URL of the part, without the prefix that all URLs of the range share.
    pub from: &'c [u8],
    /// The index of the part.
    pub part: usize,
    /// Whether the part is reused.
    pub is_reused: bool,
}

/// The cuts of a range, which its sorted entries pass one after another.
#[derive(Debug, Default)]
pub struct Cuts<'c> {
    /// The cuts that have not been passed, in order.
    ahead: Vec<Cut<'c>>,
    /// The index of the part that the range begins in, and then of the one that was passed last.
    part: usize,
    is_reused: bool,
    passed: usize,
}

impl<'c> Cuts<'c> {
    /// The cuts of a range that begins in `part`.
    pub fn new(part: usize, is_reused: bool, ahead: Vec<Cut<'c>>) -> Self {
        Self { ahead, part, is_reused, passed: 0 }
    }

    /// Whether there is a cut before the entry whose URL ends with `end`, and after the entries so far.
    #[inline]
    pub fn is_before(&self, end: &[u8]) -> bool {
        self.ahead.get(self.passed).is_some_and(|cut| cut.from <= end)
    }

    /// Passes all cuts before the entry whose URL ends with `end`.
    pub fn pass(&mut self, end: &[u8]) {
        while let Some(cut) = self.ahead.get(self.passed).filter(|cut| cut.from <= end) {
            (self.part, self.is_reused) = (cut.part, cut.is_reused);
            self.passed += 1;
        }
    }

    /// The index of the current part.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Whether this part is reused, so that its entries are not listed again.
    #[inline]
    pub fn is_reused(&self) -> bool {
        self.is_reused
    }
}
