//! Containment: turns panics of the parquet crate on damaged data into errors of the file.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    /// Whether this thread runs code whose panics are caught here.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read` and turns a panic into an error, without printing it. After an error, values that `read` has changed must not be
/// used.
pub fn contained<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    silence_contained_panics();
    let before = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_CONTAINED.set(before);
    result.unwrap_or_else(|panic| Err(ParquetError::General(words(&*panic))))
}

/// Keeps the current panic hook from reporting panics that are caught here.
fn silence_contained_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CONTAINED.get() {
                before(panic);
            }
        }));
    });
}

fn words(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    format!("the reader stopped: {words}")
}
