//! Lists in options: items between commas or semicolons outside of parentheses and quotes.

/// The items with their offsets, without the spaces around them. An empty text has one empty item.
pub(super) fn items(text: &str, separator: u8) -> impl Iterator<Item = (usize, &str)> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let at = from?;
        let rest = &text[at..];
        let mut depth = 0usize;
        let mut quoted = false;
        let length = rest.bytes().position(|byte| {
            match byte {
                b'\'' => quoted = !quoted,
                b'(' if !quoted => depth += 1,
                b')' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == separator && depth == 0 && !quoted
        });
        from = length.map(|length| at + length + 1);
        let item = &rest[..length.unwrap_or(rest.len())];
        let trimmed = item.trim_start_matches(' ');
        Some((at + item.len() - trimmed.len(), trimmed.trim_end_matches(' ')))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn items_know_their_place_and_nested_separators_do_not_count() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            assert_eq!(super::items(text, b',').collect::<Vec<_>>(), expected, "{text}");
        };
        check("a, b ,c", &[(0, "a"), (3, "b"), (6, "c")]);
        check("a(b,c),d", &[(0, "a(b,c)"), (7, "d")]);
        check("a('),'),d", &[(0, "a('),')"), (8, "d")]);
        check("", &[(0, "")]);
        check("a,", &[(0, "a"), (2, "")]);
    }
}
