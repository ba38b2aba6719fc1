//! Containment: turns panics of other crates into values.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs code whose panics are caught here.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`, and returns the words of a panic instead of printing them. After a panic, values that `work` has changed must not
/// be used.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    silence_contained_panics();
    let before = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CONTAINED.set(before);
    result.map_err(|panic| words(&*panic).to_owned())
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

fn words(panic: &(dyn Any + Send)) -> &str {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}
