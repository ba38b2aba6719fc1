//! Variables of the environment, as the tools of the clouds read them.

use std::fmt::Display;

use jiff::SignedDuration;

use crate::error::{Error, Result, message};

/// The value of a variable; `None` if it is not set or empty, because many service files unset variables that way. White space
/// around it is dropped: the file of a secret often ends with a line feed.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Whether a variable has a value.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.as_encoded_bytes().trim_ascii().is_empty())
}

/// The variables with names that begin with `prefix` and that the settings of a client, `K`, have a key for.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a value contains a control character, which a request could not be made with.
pub fn settings<K: std::str::FromStr>(prefix: &str) -> Result<Vec<(K, String)>> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut settings = Vec::new();
    for name in names.filter(|name| name.starts_with(prefix)) {
        if let (Ok(key), Some(value)) = (name.to_ascii_lowercase().parse(), variable(&name)) {
            settings.push((key, checked(&name, value)?));
        }
    }
    Ok(settings)
}

/// The name of the store's variable whose value is quoted in `text`, an error of the client library about a value.
pub fn quoted_in(text: &str) -> Option<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let of_stores = names.filter(|name| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|of| name.starts_with(of)));
    let is_quoted =
        |name: &String| variable(name).is_some_and(|value| text.contains(&format!("\"{value}\"")));
    of_stores.filter(is_quoted).min()
}

/// Checks a `value` that becomes part of requests. `source` is the name of its variable.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage), without the value, which may be secret.
pub fn checked(source: impl Display, value: String) -> Result<String> {
    match value.contains(char::is_control) {
        true => {
            Err(Error::usage(format!("{source}: has a line end or another control character in its value")))
        }
        false => Ok(value),
    }
}

/// The time in the variable `name`, or `default`, in a form that the client library reads. A number alone is seconds.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is none.
pub fn time(name: &str, default: &str) -> Result<String> {
    let text = variable(name).unwrap_or_else(|| default.into());
    let time = match text.parse() {
        Ok(seconds) => Some(SignedDuration::from_secs(seconds)),
        Err(_) => text.parse::<SignedDuration>().ok(),
    };
    match time.filter(|time| time.is_positive()) {
        Some(time) => Ok(format!("{}ms", time.as_millis().max(1))),
        None => Err(Error::usage(message!("{name}: {text:?} is not a duration such as 90s or 2m"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_seconds_or_has_units() {
        for (text, want) in [
            ("60", Some("60000ms")),
            ("1 second", Some("1000ms")),
            ("1500ms", Some("1500ms")),
            ("2m", Some("120000ms")),
            ("1m 30s", Some("90000ms")),
            ("60 parsecs", None),
            ("0", None),
            ("-5s", None),
        ] {
            let time = time("SITEMILL_NO_SUCH_VARIABLE", text);
            let error = time.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(time.as_deref().ok(), want, "{text}: {error}");
            assert!(want.is_some() || error.starts_with("SITEMILL_NO_SUCH_VARIABLE: "), "{error}");
        }
    }

    #[test]
    fn a_control_character_is_refused_with_the_name_of_the_variable_and_without_its_value() {
        assert_eq!(checked("AWS_REGION", "eu".into()).unwrap(), "eu");
        let error = checked("AWS_SESSION_TOKEN", "se\ncret".into()).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage);
        assert!(error.to_string().starts_with("AWS_SESSION_TOKEN: ") && !error.to_string().contains("cret"));
    }
}
