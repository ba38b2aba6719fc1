//! Settings: the options of jobs that a message can point at.

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $name:ident = $field:literal,)*) => {
        /// An option of a job that a [`Message`](crate::Message) points at: the one that is wrong, or the one that helps.
        ///
        /// A program has fields, and a command line has flags. The library therefore names settings, and each front end chooses
        /// its own words for them. The variants have the names of the flags. Most fields of jobs share them; the docs of a variant
        /// name its field if that has another name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Setting {
            $($(#[doc = $doc])* $name,)*
        }

        impl Setting {
            /// Every setting.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the name of the option as that of a field, which most fields share: `memory` for [`Setting::Memory`].
            pub fn field(self) -> &'static str {
                match self {
                    $(Self::$name => $field,)*
                }
            }

            /// The name of the option in reports and on the command line: `dry-run` for [`Setting::DryRun`].
            pub fn option(self) -> String {
                self.field().replace('_', "-")
            }
        }
    };
}

settings! {
    /// Whether a store that ignores conditions is accepted.
    AllowUnsafeStore = "allow_unsafe_store",
    /// Whether an empty set may be published.
    AllowEmpty = "allow_empty",
    /// Whether live sites without URLs in the inputs are no reason to warn.
    AllowMissingSites = "allow_missing_sites",
    /// A sitemap that sitemill does not write, and that the index files list.
    Also = "also",
    /// The URL of the directory that sitemaps are published in.
    BaseUrl = "base_url",
    /// Maximum bytes of one sitemap or index file.
    BytesPerSitemap = "bytes_per_sitemap",
    /// Names or positions of columns.
    Columns = "columns",
    /// The `changefreq` of URLs that have none.
    DefaultChangefreq = "default_changefreq",
    /// The `priority` of URLs that have none.
    DefaultPriority = "default_priority",
    /// The character between the values of CSV.
    Delimiter = "delimiter",
    /// The file for the differences from the previous set.
    Diff = "diff",
    /// How URLs are divided among sitemaps.
    Divide = "divide",
    /// Whether the run only finds out what it would publish.
    DryRun = "dry_run",
    /// Patterns of URLs that are left out.
    Exclude = "exclude",
    /// The URL of a compatible store.
    Endpoint = "endpoint",
    /// The character before a quote within the quotes of CSV.
    Escape = "escape",
    /// How many lines the inputs must have.
    ExpectLines = "expect_lines",
    /// The format of the inputs.
    Format = "format",
    /// The compressor of sitemaps.
    GzipEngine = "gzip_engine",
    /// Whether a damaged manifest is set aside.
    IgnoreManifest = "ignore_manifest",
    /// Patterns of URLs that are kept.
    Include = "include",
    /// The charset of the inputs.
    InputEncoding = "input_encoding",
    /// Headers of index files in a bucket: [`StoreSettings::index_headers`](crate::StoreSettings::index_headers).
    IndexHeader = "index_header",
    /// How long earlier sets are kept: [`Keep::time`](crate::options::Keep::time).
    Keep = "keep",
    /// Minimum number of earlier sets to keep, however old they are: [`Keep::sets`](crate::options::Keep::sets).
    KeepSets = "keep_sets",
    /// The unit of a `lastmod` that is a number: [`LastmodRules::unit`](crate::options::LastmodRules::unit).
    LastmodUnit = "lastmod_unit",
    /// The zone of a `lastmod` that names none: [`LastmodRules::zone`](crate::options::LastmodRules::zone).
    LastmodZone = "lastmod_zone",
    /// The level of compression.
    Level = "level",
    /// How many tags may be dropped.
    MaxDroppedTags = "max_dropped_tags",
    /// How many lines may be rejected.
    MaxRejects = "max_rejects",
    /// How much smaller than the live set a new one may be.
    MaxShrink = "max_shrink",
    /// The memory limit in bytes.
    Memory = "memory",
    /// The name of one of several sets in a directory.
    Name = "name",
    /// Which of several rows with the same URL is listed.
    OnDuplicate = "on_duplicate",
    /// The order of the URLs.
    Order = "order",
    /// The directory that sets are published in.
    Out = "out",
    /// The version of the protocol.
    Protocol = "protocol",
    /// The URL that lines without a scheme are relative to.
    RelativeTo = "relative_to",
    /// The file for rejected and excluded lines and dropped tags.
    Rejects = "rejects",
    /// Whether a set with another base URL or protocol may be replaced.
    ReplaceSet = "replace_set",
    /// The robots.txt whose rules URLs must not break: [`UrlRules::robots`](crate::options::UrlRules::robots).
    RespectRobots = "respect_robots",
    /// Replacements of the beginning of URLs: [`UrlRules::rewrites`](crate::options::UrlRules::rewrites).
    Rewrite = "rewrite",
    /// Whether a directory of part files needs a `_SUCCESS`.
    RequireSuccessMarker = "require_success_marker",
    /// The robots.txt that names the index files: [`Publication::robots`](crate::options::Publication::robots).
    Robots = "robots",
    /// The crawler whose rules in a robots.txt apply: an argument of [`Robots::read`](crate::options::Robots::read).
    RobotsAgent = "robots_agent",
    /// Whether the file that names the index files may be called `robots.txt` in another letter case.
    RobotsAnyName = "robots_any_name",
    /// Which URLs may be listed.
    Scope = "scope",
    /// The directory for scratch files.
    Scratch = "scratch",
    /// The column that has the names of sections: [`SectionsBy::Column`](crate::options::SectionsBy::Column).
    SectionColumn = "section_column",
    /// Whether the first segment of a path is the section: [`SectionsBy::Path`](crate::options::SectionsBy::Path).
    SectionByPath = "section_by_path",
    /// The rules that put URLs into sections.
    Sections = "sections",
    /// Maximum number of sections.
    SectionsMax = "sections_max",
    /// Headers of sitemaps in a bucket: [`StoreSettings::sitemap_headers`](crate::StoreSettings::sitemap_headers).
    SitemapHeader = "sitemap_header",
    /// Maximum number of sitemaps per index file.
    SitemapsPerIndex = "sitemaps_per_index",
    /// The location of the state of sets in a bucket.
    State = "state",
    /// Whether files that sitemill did not write may be replaced.
    TakeOver = "take_over",
    /// The command that runs once the set is live.
    Then = "then",
    /// How many threads work at the same time.
    Threads = "threads",
    /// The number of the set that a rollback restores.
    To = "to",
    /// The charset that servers expect in URLs.
    UrlEncoding = "url_encoding",
    /// Maximum number of URLs per sitemap.
    UrlsPerSitemap = "urls_per_sitemap",
}
