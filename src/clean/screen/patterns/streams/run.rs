//! Takes the steps of a program through a text.

#[cfg(any(test, not(target_arch = "x86_64")))]
use super::bits::WORDS_MAX;
use super::bits::{Bits, Stream};
use super::both::Both;
use super::classes::Found;
use super::program::Step;
#[cfg(target_arch = "x86_64")]
use super::{wide::Wide, wider::Wider};

/// The streams of a text, which is a URL or a few lines, or of several texts.
#[derive(Clone, Copy)]
pub struct Text<'f, S> {
    /// The classes in each of the texts.
    pub classes: &'f [Found],
    /// The positions at which URLs start and end.
    pub starts: S,
    pub ends: S,
}

impl<S: Stream> Text<'_, S> {
    /// The stream of a class in each of the texts.
    #[inline(always)]
    fn class(&self, class: usize) -> S {
        S::of_texts(|text| &self.classes[text][class])
    }
}

/// A stream that takes steps, with the instructions that it is made of.
pub trait StepStream: Stream {
    /// The positions that `steps` lead to from the positions `at`.
    fn run(steps: &[Step], at: Self, text: &Text<'_, Self>) -> Self;
}

impl<const WORDS: usize> StepStream for Bits<WORDS> {
    #[inline]
    fn run(steps: &[Step], at: Self, text: &Text<'_, Self>) -> Self {
        #[cfg(target_arch = "x86_64")]
        return run_with_avx2(steps, at, text);
        #[cfg(not(target_arch = "x86_64"))]
        run_by(steps, at, text, |steps, at| Self::run(steps, at, text))
    }
}

#[cfg(target_arch = "x86_64")]
impl StepStream for Both<Wide> {
    #[inline]
    fn run(steps: &[Step], at: Self, text: &Text<'_, Self>) -> Self {
        run_with_avx2(steps, at, text)
    }
}

#[cfg(target_arch = "x86_64")]
impl StepStream for Both<Wider> {
    #[inline]
    fn run(steps: &[Step], at: Self, text: &Text<'_, Self>) -> Self {
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2")]
        fn run(steps: &[Step], at: Both<Wider>, text: &Text<'_, Both<Wider>>) -> Both<Wider> {
            run_by(steps, at, text, |steps, at| run(steps, at, text))
        }
        #[expect(unsafe_code)]
        // SAFETY: there are streams of this type only if the processor has these instructions.
        unsafe {
            run(steps, at, text)
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
impl StepStream for Both<Bits<WORDS_MAX>> {
    fn run(steps: &[Step], at: Self, text: &Text<'_, Self>) -> Self {
        run_by(steps, at, text, |steps, at| Self::run(steps, at, text))
    }
}

/// Takes steps with AVX2 and the instructions for bits that came with it.
#[cfg(target_arch = "x86_64")]
#[inline]
fn run_with_avx2<S: Stream>(steps: &[Step], at: S, text: &Text<'_, S>) -> S {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn run<S: Stream>(steps: &[Step], at: S, text: &Text<'_, S>) -> S {
        run_by(steps, at, text, |steps, at| run(steps, at, text))
    }
    #[expect(unsafe_code)]
    // SAFETY: the processor has these instructions, see `Finder::of`.
    unsafe {
        run(steps, at, text)
    }
}

/// The positions `at`, and those that any number of bytes of a `class` lead to from there.
#[inline(always)]
pub fn through<S: Stream>(at: S, class: S) -> S {
    // The sum carries each position through the run of the class that begins there.
    ((at & class).plus(class) ^ class) | at
}

/// The positions at which `count` bytes of a `class` begin. A `count` of 0 means 1.
#[inline(always)]
pub fn runs<S: Stream>(class: S, count: usize) -> S {
    let (mut runs, mut bytes) = (class, 1);
    while bytes < count {
        let more = bytes.min(count - bytes);
        runs = runs & runs.down(more);
        bytes += more;
    }
    runs
}

/// Takes steps, and those in other steps with a function. Without inlining, it would not have the instructions of its caller, and
/// long vectors would come and go through memory, which takes longer than the steps.
#[inline(always)]
pub fn run_by<S: Stream>(steps: &[Step], mut at: S, text: &Text<'_, S>, run: impl Fn(&[Step], S) -> S) -> S {
    for step in steps {
        if !at.is_any() {
            break;
        }
        at = match *step {
            Step::Start => at & text.starts,
            Step::End => at & text.ends,
            Step::One(class) => (at & text.class(class)).up(1),
            Step::Any(class) => through(at, text.class(class)),
            Step::Run(class, count) => (at & runs(text.class(class), count)).up(count),
            Step::Edge { class, is_wanted } => {
                let class = text.class(class);
                let edges = class ^ class.up(1);
                at & if is_wanted { edges } else { !edges }
            }
            Step::Optional(ref steps) => at | run(steps, at),
            Step::Either(ref branches) => {
                branches.iter().map(|steps| run(steps, at)).reduce(|all, one| all | one).unwrap_or(at)
            }
            Step::Loop(ref steps) => {
                let mut new = at;
                while new.is_any() {
                    new = run(steps, new) & !at;
                    at = at | new;
                }
                at
            }
        };
    }
    at
}
