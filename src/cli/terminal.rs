//! The terminal on standard error, if there is one: its width, its colours, and whether it can redraw a line.

use std::env;
use std::io::{self, IsTerminal};

use console::Term;

/// The columns of the terminal. `None` if standard error is not a terminal, or a terminal of unknown size.
pub fn width() -> Option<usize> {
    let term = Term::stderr();
    let size = term.is_term().then(|| term.size_checked()).flatten();
    size.map(|(_, columns)| columns.into())
}

/// Whether standard error is a terminal that can redraw a line.
pub fn can_redraw() -> bool {
    io::stderr().is_terminal() && !console::is_dumb()
}

/// The colours of prefixes.
#[derive(Debug, Clone, Copy)]
pub enum Colour {
    Red,
    Yellow,
}

/// `text` in bold and in `colour`, if standard error shows colours and the environment does not forbid them.
pub fn coloured(text: &str, colour: Colour) -> String {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_off = is_set("NO_COLOR") || env::var_os("CLICOLOR").is_some_and(|value| value == "0");
    if is_off || !can_redraw() {
        return text.into();
    }
    // Select Graphic Rendition of ECMA-48, 8.3.117: bold, then the colour; 0 resets both.
    let code = match colour {
        Colour::Red => 31,
        Colour::Yellow => 33,
    };
    format!("\x1b[1;{code}m{text}\x1b[0m")
}
