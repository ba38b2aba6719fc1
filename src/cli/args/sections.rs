//! Options about sections.

use std::path::PathBuf;

use sitemill::Stop;
use sitemill::options::{SectionRules, SectionsBy};

use super::number::whole;

/// The options whose sections have a maximum number.
const LIMITED: &str = "limited_sections";

/// Options about the sections of the set.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sections")]
pub struct SectionArgs {
    /// Column or key with the section of each URL; each section has its own sitemaps and index files.
    ///
    /// The sections are one set: they are published and rolled back together, and a URL is listed once. Rows without a value are in
    /// the section rest. Names with characters other than a-z, 0-9 and single hyphens get a hash in file names.
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        group = LIMITED,
        conflicts_with_all = ["sections", "section_by_path"]
    )]
    pub section_column: Option<String>,

    /// Divide the set into sections by the prefixes and patterns in this TOML file.
    ///
    /// Each line defines a section: products = ["/products/", "/p/"]. A value that begins with / is a path prefix; any other is a
    /// regular expression for the canonical URL. The first match decides. rest = "other" sets the name of the section of all other
    /// URLs.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "section_by_path")]
    pub sections: Option<PathBuf>,

    /// Divide the set into sections by the first segment of the path.
    ///
    /// If there are more than --sections-max segments, those with the most URLs become sections, and the others go to the section
    /// rest.
    #[arg(long, hide_short_help = true, group = LIMITED)]
    pub section_by_path: bool,

    /// Maximum number of sections, up to 10,000 [default: 100 by path, 1,000 by column].
    ///
    /// A column with more sections is refused: it is probably not the right one.
    #[arg(long, value_name = "N", value_parser = whole::<u32>, hide_short_help = true, requires = LIMITED, conflicts_with = "sections")]
    pub sections_max: Option<u32>,
}

impl SectionArgs {
    /// Converts these options to types of the library. Reads the file that they name, until `stop` is raised.
    pub fn sections_by(&self, stop: &Stop) -> sitemill::Result<Option<SectionsBy>> {
        let max = |default| self.sections_max.unwrap_or(default);
        if let Some(column) = &self.section_column {
            let sections_max = max(SectionsBy::COLUMN_MAX_DEFAULT);
            return Ok(Some(SectionsBy::Column { column: column.clone(), sections_max }));
        }
        if let Some(path) = &self.sections {
            return SectionRules::read(path, stop).map(|rules| Some(SectionsBy::Rules(rules)));
        }
        let by_path = || SectionsBy::Path { sections_max: max(SectionsBy::PATH_MAX_DEFAULT) };
        Ok(self.section_by_path.then(by_path))
    }
}
