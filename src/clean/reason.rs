//! Reasons for rejecting a line, and their counts.

use crate::common::counts::{Counts, counted};

counted! {
    /// Why a line is not listed, in the order of the checks. The words appear in reports and reject files and do not change.
    #[non_exhaustive]
    Reason {
        /// A byte below 0x20, or 0x7F: the data is damaged.
        ControlCharacter = "control-character",
        /// No scheme: a relative reference, or words.
        NotAbsolute = "not-absolute",
        /// A scheme other than `http` and `https`.
        Scheme = "scheme",
        /// A user name or password.
        Credentials = "credentials",
        /// The host is missing or invalid.
        Host = "host",
        /// The port is invalid.
        Port = "port",
        /// A character that does not exist in the charset that URLs are encoded in.
        NotEncodable = "not-encodable",
        /// Longer than [`URL_BYTES_MAX`](crate::limits::URL_BYTES_MAX) once encoded.
        TooLong = "too-long",
        /// Shorter than [`URL_BYTES_MIN`](crate::limits::URL_BYTES_MIN): both schemas refuse it.
        TooShort = "too-short",
        /// Not below the base URL, by the [`ScopeRule`](crate::options::ScopeRule).
        OutOfScope = "out-of-scope",
        /// In a build with a set for each origin: this origin can have no set, because its base URL would be too short or too
        /// long, or an index file would exceed the maximum bytes per sitemap.
        NoSite = "no-site",
        /// The entry alone exceeds the maximum bytes per sitemap.
        EntryTooLarge = "entry-too-large",
        /// A row that its format does not allow: not a JSON object, too few fields, a URL that is not text.
        BadRow = "bad-row",
        /// Bytes that do not exist in the charset of the input, or a line of JSON that is not UTF-8.
        BadEncoding = "bad-encoding",
        /// A row without a URL: no such key, no `<loc>`.
        NoUrl = "no-url",
    }
}

/// Rejected lines by reason.
pub type Rejected = Counts<Reason, { Reason::ALL.len() }>;
