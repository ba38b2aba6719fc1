//! Why a line is refused, and how often.

use crate::common::counts::{Counts, counted};

counted! {
    /// Why a line is not listed. The words are part of the contract: reports and reject files carry them. In the
    /// order in which a line is checked.
    Reason {
        /// A byte below 0x20 or 0x7F: the data is damaged.
        ControlCharacter = "control-character",
        /// No scheme: a relative reference, or words.
        NotAbsolute = "not-absolute",
        /// A scheme other than `http` and `https`.
        Scheme = "scheme",
        /// A user name or password.
        Credentials = "credentials",
        /// A host that cannot be.
        Host = "host",
        /// A port that cannot be.
        Port = "port",
        /// A character that the charset of `--url-encoding` does not have.
        NotEncodable = "not-encodable",
        /// Longer than [`URL_BYTES_MAX`](crate::limits::URL_BYTES_MAX) once encoded.
        TooLong = "too-long",
        /// Shorter than [`URL_BYTES_MIN`](crate::limits::URL_BYTES_MIN): both schemas refuse it.
        TooShort = "too-short",
        /// Not under `--base-url`, as `--scope` understands it.
        OutOfScope = "out-of-scope",
        /// With a set for each origin: its origin can have none, because its base URL would be too short or too long, or an
        /// index file there would pass `--bytes-per-sitemap`.
        NoSite = "no-site",
        /// The entry alone passes `--bytes-per-sitemap`.
        EntryTooLarge = "entry-too-large",
        /// A row that its form does not allow: no JSON object, too few fields, no text where a URL should be.
        BadRow = "bad-row",
        /// Bytes that do not exist in the charset that was said, or a line of JSON that is not UTF-8 and cannot be read.
        BadEncoding = "bad-encoding",
        /// A row in which nothing says that it is a URL: no key of that name, no `<loc>`.
        NoUrl = "no-url",
    }
}

/// Rejected lines by reason.
pub type Rejected = Counts<Reason, { Reason::ALL.len() }>;
