//! Arrays that do not have a value for each row: dictionaries, and runs of equal values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef};

/// The index of each row's value, if it has one, and the values.
type Encoded<'a> = (Vec<Option<usize>>, &'a ArrayRef);

/// The values of a dictionary or of runs; `None` for any other array.
pub fn encoded(array: &ArrayRef) -> Option<Encoded<'_>> {
    let runs =
        || runs::<Int16Type>(array).or_else(|| runs::<Int32Type>(array)).or_else(|| runs::<Int64Type>(array));
    dictionary(array).or_else(runs)
}

fn dictionary(array: &ArrayRef) -> Option<Encoded<'_>> {
    let dictionary = array.as_any_dictionary_opt()?;
    let nulls = dictionary.keys().nulls();
    let keys = match dictionary.values().is_empty() {
        // In this case all keys are null.
        true => vec![0; array.len()],
        false => dictionary.normalized_keys(),
    };
    let key = |(at, key)| nulls.is_none_or(|nulls| nulls.is_valid(at)).then_some(key);
    Some((keys.into_iter().enumerate().map(key).collect(), dictionary.values()))
}

fn runs<R: RunEndIndexType>(array: &ArrayRef) -> Option<Encoded<'_>> {
    let runs = array.as_run_opt::<R>()?;
    Some(((0..runs.len()).map(|at| Some(runs.get_physical_index(at))).collect(), runs.values()))
}
