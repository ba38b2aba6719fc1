//! Programs: patterns as steps on streams.

use std::iter;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::classes::Classes;
use crate::clean::screen::patterns::{Pattern, parsed};

/// Most steps and classes. With more, a regular expression would be as quick.
const COST_MAX: usize = 96;

/// Most steps of a program.
const STEPS_MAX: usize = 96;

/// How many steps a step of a loop counts as: it is taken more than once.
const LOOP_COST: usize = 6;

/// The programs of a few patterns, and the classes that they need.
#[derive(Debug, Clone)]
pub struct Programs {
    pub classes: Classes,
    pub all: Vec<Program>,
}

/// A pattern as steps, which lead from all positions in a URL to those where a match ends.
#[derive(Debug, Clone)]
pub struct Program {
    pub steps: Vec<Step>,
}

/// Leads from positions in a URL to other positions. A class is known by its index.
#[derive(Debug, Clone)]
pub enum Step {
    /// Only from the start of the URL.
    Start,
    /// Only from its end.
    End,
    /// After one byte of a class.
    One(usize),
    /// After any number of bytes of a class.
    Any(usize),
    /// After this number of bytes of a class.
    Run(usize, usize),
    /// Only from where a class begins or ends, or only from elsewhere.
    Edge { class: usize, is_wanted: bool },
    /// After a match of a few steps, or without one.
    Optional(Vec<Step>),
    /// After a match of one of several programs.
    Either(Vec<Vec<Step>>),
    /// After any number of matches of a few steps.
    Loop(Vec<Step>),
}

impl Step {
    /// The number of steps that it counts as.
    fn cost(&self) -> usize {
        let all = |steps: &[Self]| steps.iter().map(Self::cost).sum::<usize>();
        match self {
            Self::Start | Self::End | Self::One(_) => 1,
            Self::Any(_) | Self::Edge { .. } => 2,
            Self::Run(_, count) => 1 + count.ilog2() as usize,
            Self::Optional(steps) => 1 + all(steps),
            Self::Either(branches) => branches.iter().map(|steps| 1 + all(steps)).sum(),
            Self::Loop(steps) => LOOP_COST * all(steps),
        }
    }

    /// The classes that it needs, a bit for each.
    pub fn classes(&self) -> u32 {
        let all = |steps: &[Self]| steps.iter().fold(0, |all, step| all | step.classes());
        match self {
            Self::Start | Self::End => 0,
            Self::One(class) | Self::Any(class) | Self::Run(class, _) | Self::Edge { class, .. } => {
                1 << class
            }
            Self::Optional(steps) | Self::Loop(steps) => all(steps),
            Self::Either(branches) => branches.iter().fold(0, |of_all, steps| of_all | all(steps)),
        }
    }

    /// Whether bytes that are in more classes can only lead to more positions.
    pub fn is_monotone(&self) -> bool {
        match self {
            Self::Start | Self::One(_) | Self::Any(_) | Self::Run(..) => true,
            Self::End | Self::Edge { .. } => false,
            Self::Optional(steps) | Self::Loop(steps) => steps.iter().all(Self::is_monotone),
            Self::Either(branches) => branches.iter().flatten().all(Self::is_monotone),
        }
    }
}

impl Programs {
    /// The programs for `patterns`. `None` if there are none, if they are too long, or if they need something that streams do not
    /// have.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p Pattern>, mut classes: Classes) -> Option<Self> {
        let program = |pattern| Program::of(&parsed(pattern), &mut classes);
        let all = patterns.into_iter().map(program).collect::<Option<Vec<_>>>()?;
        let programs = Self { classes, all };
        (!programs.all.is_empty() && programs.cost() <= COST_MAX).then_some(programs)
    }

    /// The number of classes and steps.
    pub fn cost(&self) -> usize {
        self.classes.len() + self.all.iter().map(Program::cost).sum::<usize>()
    }
}

impl Program {
    /// The steps of a pattern. `None` if they are too many, or if streams cannot do it.
    fn of(pattern: &Hir, classes: &mut Classes) -> Option<Self> {
        // A pattern matches if its shortest matches do.
        let pattern = trimmed(&trimmed(pattern, Side::End), Side::Start);
        let mut compiler = Compiler { classes, room: STEPS_MAX };
        let mut steps = Vec::new();
        compiler.follow(&pattern, &mut steps)?;
        Some(Self { steps })
    }

    /// The number of steps, roughly as many as are taken for a URL.
    fn cost(&self) -> usize {
        self.steps.iter().map(Step::cost).sum()
    }
}

/// A side of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

/// The pattern without what may be missing on one side: `/[^/]` instead of `/[^/]+`.
fn trimmed(pattern: &Hir, side: Side) -> Hir {
    match pattern.kind() {
        HirKind::Capture(capture) => trimmed(&capture.sub, side),
        HirKind::Concat(parts) => {
            let mut parts = parts.clone();
            let outermost = |parts: &[Hir]| if side == Side::End { parts.len() - 1 } else { 0 };
            while !parts.is_empty() && may_be_missing(&parts[outermost(&parts)]) {
                parts.remove(outermost(&parts));
            }
            if !parts.is_empty() {
                let at = outermost(&parts);
                parts[at] = trimmed(&parts[at], side);
            }
            Hir::concat(parts)
        }
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.iter().map(|branch| trimmed(branch, side)).collect())
        }
        HirKind::Repetition(repetition) => match repetition.min {
            0 => Hir::empty(),
            1 => trimmed(&repetition.sub, side),
            min => Hir::repetition(Repetition { max: Some(min), ..repetition.clone() }),
        },
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => pattern.clone(),
    }
}

/// Whether a pattern matches the empty string anywhere.
fn may_be_missing(pattern: &Hir) -> bool {
    let properties = pattern.properties();
    properties.minimum_len() == Some(0) && properties.look_set().is_empty()
}

/// Makes steps of patterns.
struct Compiler<'c> {
    classes: &'c mut Classes,
    /// How many more steps there may be.
    room: usize,
}

impl Compiler<'_> {
    /// Adds the steps for `pattern`.
    fn follow(&mut self, pattern: &Hir, steps: &mut Vec<Step>) -> Option<()> {
        match pattern.kind() {
            HirKind::Empty => Some(()),
            HirKind::Literal(literal) => literal.0.iter().try_for_each(|&byte| {
                let class = self.classes.add(iter::once(byte))?;
                self.add(Step::One(class), steps)
            }),
            HirKind::Class(_) => {
                let class = self.class(pattern)?;
                self.add(Step::One(class), steps)
            }
            HirKind::Look(look) => self.look(*look, steps),
            HirKind::Capture(capture) => self.follow(&capture.sub, steps),
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.follow(part, steps)),
            HirKind::Alternation(branches) => {
                let branches = branches.iter().map(|branch| self.steps(branch)).collect::<Option<_>>()?;
                self.add(Step::Either(branches), steps)
            }
            HirKind::Repetition(repetition) => self.repeat(repetition, steps),
        }
    }

    fn repeat(&mut self, repetition: &Repetition, steps: &mut Vec<Step>) -> Option<()> {
        let (sub, min) = (&*repetition.sub, repetition.min);
        let class = self.class(sub);
        match class {
            Some(class) if min > 1 => self.add(Step::Run(class, min as usize), steps)?,
            _ => (0..min).try_for_each(|_| self.follow(sub, steps))?,
        }
        match (repetition.max, class) {
            (Some(max), _) => (min..max).try_for_each(|_| {
                let one = self.steps(sub)?;
                self.add(Step::Optional(one), steps)
            }),
            (None, Some(class)) => self.add(Step::Any(class), steps),
            (None, None) => {
                let round = self.steps(sub)?;
                self.add(Step::Loop(round), steps)
            }
        }
    }

    fn steps(&mut self, pattern: &Hir) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        self.follow(pattern, &mut steps)?;
        Some(steps)
    }

    /// The index of the class, if a pattern is nothing but one byte of a class.
    fn class(&mut self, pattern: &Hir) -> Option<usize> {
        match pattern.kind() {
            HirKind::Class(Class::Bytes(class)) => self.classes.of(class),
            HirKind::Literal(literal) if literal.0.len() == 1 => self.classes.add(iter::once(literal.0[0])),
            HirKind::Capture(capture) => self.class(&capture.sub),
            _ => None,
        }
    }

    fn look(&mut self, look: Look, steps: &mut Vec<Step>) -> Option<()> {
        let step = match look {
            // URLs have no line ends.
            Look::Start | Look::StartLF | Look::StartCRLF => Step::Start,
            Look::End | Look::EndLF | Look::EndCRLF => Step::End,
            Look::WordAscii | Look::WordAsciiNegate => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let class = self.classes.add((0..=u8::MAX).filter(is_word))?;
                Step::Edge { class, is_wanted: look == Look::WordAscii }
            }
            _ => return None,
        };
        self.add(step, steps)
    }

    /// Adds a step if there is room.
    fn add(&mut self, step: Step, steps: &mut Vec<Step>) -> Option<()> {
        self.room = self.room.checked_sub(1)?;
        steps.push(step);
        Some(())
    }
}
