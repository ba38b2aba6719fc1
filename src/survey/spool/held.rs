//! Rows that are URLs alone are held, so that both passes read them where they are.

use std::iter;

use crate::error::Result;
use crate::intake::format::Units;
use crate::intake::urls::HeldUrls;
use crate::survey::context::Context;

/// The rows of a source, as far as they are held.
pub struct Held<'n> {
    pub urls: HeldUrls,
    /// The units of the other rows; none if all rows are held.
    pub rest: Option<Units<'n>>,
}

/// Holds the first of `units`, up to one that has more than URLs or for which `bytes_max` bytes of memory are too few.
///
/// # Errors
/// If the rows cannot be read, or if the run is to stop.
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
    // A source without rows is read as such.
    let rest: Option<Units<'n>> = (held.rows() == 0).then(|| Box::new(iter::empty()) as Units<'n>);
    Ok(Held { urls: held, rest })
}
