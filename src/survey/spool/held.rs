//! Holds rows that consist only of a URL, so that both passes read them in place.

use std::iter;

use crate::error::Result;
use crate::intake::format::Units;
use crate::intake::urls::HeldUrls;
use crate::survey::context::Context;

/// The rows of a source, split into held rows and other units.
pub struct Held<'n> {
    pub urls: HeldUrls,
    /// The units of the other rows; `None` if all rows are held. An empty source has an empty iterator.
    pub rest: Option<Units<'n>>,
}

/// Holds the first of `units`. Stops at the first unit that has more than URLs or would exceed `bytes_max` bytes of memory.
///
/// # Errors
/// If the rows cannot be read, or if the run was told to stop.
pub fn hold<'n>(run: Context<'_>, mut units: Units<'n>, bytes_max: usize) -> Result<Held<'n>> {
    let mut held = HeldUrls::default();
    while let Some(mut unit) = units.next().transpose()? {
        run.stop.check()?;
        match unit.urls.take_if(|urls| held.held_bytes() + urls.held_bytes() <= bytes_max) {
            Some(urls) => {
                run.progress.advance(urls.bytes() as u64);
                held.push(urls);
            }
            None => {
                let rest: Units<'n> = Box::new(iter::once(Ok(unit)).chain(units));
                return Ok(Held { urls: held, rest: Some(rest) });
            }
        }
    }
    // A source without any rows counts as one without held rows.
    let rest: Option<Units<'n>> = (held.rows() == 0).then(|| Box::new(iter::empty()) as Units<'n>);
    Ok(Held { urls: held, rest })
}
