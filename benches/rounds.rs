//! Statistics over the rounds of a benchmark.

/// The middle one of `numbers`.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
