//! Values gathered by their keys, and lists that are cut short.

/// Values by their keys, in the order in which each key came first.
pub fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    found
}

/// The first texts and how many more there are: `a, b, and 3 more`.
pub fn first_of(texts: &[String], most: usize) -> String {
    let shown = texts[..most.min(texts.len())].join(", ");
    match texts.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
