//! Sections: what decides which section of the set a URL belongs to.

use crate::error::{Error, Result, Setting, message};
use crate::intake::format::FormatOptions;
use crate::sitemap::sections::SECTIONS_MAX;
use crate::sitemap::sections::by_rule::SectionRules;
use crate::sitemap::sections::word::WORD_BYTES_MAX;
use crate::words::grouped;

/// The rule that assigns URLs to sections of the set. Each section has its own sitemaps and index files, and all of them are
/// published together. URLs that belong to no other section are in the section `rest`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SectionsBy {
    /// A column or key of the input has the name of the section.
    Column {
        /// The name of the column, or its position if the other columns have positions.
        column: String,
        /// Maximum number of sections. With more, nothing is published.
        sections_max: u32,
    },
    /// Prefixes and patterns decide.
    Rules(SectionRules),
    /// The first segment of the path is the name of the section.
    Path {
        /// Maximum number of sections besides the rest. If there are more segments, those with the most URLs become sections.
        sections_max: u32,
    },
}

impl SectionsBy {
    /// Default maximum number of sections of [`SectionsBy::Column`].
    pub const COLUMN_MAX_DEFAULT: u32 = 1_000;
    /// Default maximum number of sections of [`SectionsBy::Path`].
    pub const PATH_MAX_DEFAULT: u32 = 100;

    /// Maximum number of sections besides the rest.
    pub(crate) fn sections_max(&self) -> u32 {
        match self {
            Self::Column { sections_max, .. } | Self::Path { sections_max } => *sections_max,
            Self::Rules(_) => SECTIONS_MAX,
        }
    }

    /// Adds the column of the section, if there is one, to `options`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it conflicts with the other columns.
    pub(crate) fn add_column(&self, options: &mut FormatOptions) -> Result<()> {
        if let Self::Column { column, .. } = self {
            if column.trim().is_empty() {
                return Err(Error::usage(message!(Setting::SectionColumn, ": it is empty; give a column")));
            }
            let columns = options.columns.with_section(column);
            let wrong = |why| Error::usage(message!(Setting::SectionColumn.with(column), ": {why}"));
            options.columns = columns.map_err(wrong)?;
        }
        Ok(())
    }

    /// Most bytes that a section adds to file names.
    pub(crate) const FILE_BYTES_MAX: u64 = 1 + WORD_BYTES_MAX as u64;

    /// Checks the limit.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option and the limit.
    pub(crate) fn check(&self) -> Result<()> {
        let given = self.sections_max();
        match (1..=SECTIONS_MAX).contains(&given) {
            true => Ok(()),
            false => {
                let (setting, most) = (Setting::SectionsMax.with(given), grouped(SECTIONS_MAX.into()));
                Err(Error::usage(message!(setting, ": a set has 1 to {most} sections")))
            }
        }
    }
}
