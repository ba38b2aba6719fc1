//! Takes the steps of a program through a text.

use super::bits::Stream;
use super::classes::Found;
use super::program::Step;

/// The streams of a URL, or of a few lines.
#[derive(Clone, Copy)]
pub struct Text<'f, S> {
    pub classes: &'f Found,
    /// Where URLs start and end.
    pub starts: S,
    pub ends: S,
}

/// Where `steps` lead from the positions `at`.
#[inline]
pub fn run<S: Stream>(steps: &[Step], at: S, text: &Text<'_, S>) -> S {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code)]
    // SAFETY: the processor has these instructions, see `Classes::new`.
    return unsafe { run_with_avx2(steps, at, text) };
    #[cfg(not(target_arch = "x86_64"))]
    run_by(steps, at, text, |steps, at| run(steps, at, text))
}

/// The same with instructions for several words at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_with_avx2<S: Stream>(steps: &[Step], at: S, text: &Text<'_, S>) -> S {
    run_by(steps, at, text, |steps, at| run_with_avx2(steps, at, text))
}

/// The same with a function for the steps in other steps.
#[inline(always)]
fn run_by<S: Stream>(steps: &[Step], mut at: S, text: &Text<'_, S>, run: impl Fn(&[Step], S) -> S) -> S {
    for step in steps {
        if !at.is_any() {
            break;
        }
        at = match *step {
            Step::Start => at & text.starts,
            Step::End => at & text.ends,
            Step::One(class) => (at & S::of_longer(&text.classes[class])).up(1),
            Step::Any(class) => {
                let class = S::of_longer(&text.classes[class]);
                // The sum carries each position through the run of the class that begins there.
                ((at & class).plus(class) ^ class) | at
            }
            Step::Run(class, count) => {
                let (mut runs, mut bytes) = (S::of_longer(&text.classes[class]), 1);
                while bytes < count {
                    let more = bytes.min(count - bytes);
                    runs = runs & runs.down(more);
                    bytes += more;
                }
                (at & runs).up(count)
            }
            Step::Edge { class, is_wanted } => {
                let class = S::of_longer(&text.classes[class]);
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
