//! The Fibonacci service: a number that is computed badly on purpose, on a page of any size. It models an answer worth
//! caching: expensive to compute, cheap to keep, and the same for everybody.
//!
//! It keeps no result: each request computes it again, unless a cache is in front.

use std::fmt::Write;
use std::hint::black_box;

// The table of limits.
/// Largest allowed number: its 331 million calls take about half a second.
pub(crate) const N_MAX: u32 = 40;
/// Bytes of the largest page.
pub(crate) const PAGE_BYTES_MAX: usize = 1 << 20;

/// Numbers up to this are computed on the event loop: 3,193 calls take some 5 µs, less than a hop to another thread.
pub(crate) const ON_LOOP_N_MAX: u32 = 16;

/// Format of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageFormat {
    /// A line of plain text.
    Text,
    /// A JSON object.
    Json,
}

/// The Fibonacci number `n`, by the definition and nothing else: 1.6 times the work for each more.
///
/// # Panics
/// Beyond [`N_MAX`], which the caller has to check.
#[must_use]
pub(crate) fn number(n: u32) -> u64 {
    assert!(n <= N_MAX, "n is held to its limit before it is computed");
    // Hidden from the compiler, which else might know the number of a constant.
    by_definition(black_box(n))
}

fn by_definition(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { by_definition(n - 1) + by_definition(n - 2) }
}

/// Writes the page of a number: as short as possible, or of exactly so many bytes, filled with spaces.
///
/// # Errors
/// The least size of the page, if fewer bytes were requested.
pub(crate) fn write_page(
    out: &mut Vec<u8>,
    form: PageFormat,
    n: u32,
    number: u64,
    page_bytes: Option<usize>,
) -> Result<(), usize> {
    let mut text = String::with_capacity(64);
    // Writing to a String cannot fail.
    let _ = match form {
        PageFormat::Text => write!(text, "fibonacci({n}) = {number}"),
        PageFormat::Json => write!(text, "{{\"n\":{n},\"fibonacci\":{number}}}"),
    };
    let least = text.len() + 1;
    let bytes = page_bytes.unwrap_or(least);
    if bytes < least {
        return Err(least);
    }
    let begin = out.len();
    out.extend_from_slice(text.as_bytes());
    out.resize(begin + bytes - 1, b' ');
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_fibonacci() {
        let (mut this, mut next) = (0, 1);
        for n in 0..=25 {
            assert_eq!(number(n), this, "{n}");
            (this, next) = (next, this + next);
        }
    }

    #[test]
    fn a_page_has_exactly_the_bytes_that_were_asked_for() {
        let check = |form, bytes, expected: Result<&str, usize>| {
            let mut page = Vec::new();
            let written = write_page(&mut page, form, 10, 55, bytes);
            assert_eq!(written.map(|()| String::from_utf8(page).unwrap()), expected.map(str::to_owned));
        };
        check(PageFormat::Text, None, Ok("fibonacci(10) = 55\n"));
        check(PageFormat::Text, Some(19), Ok("fibonacci(10) = 55\n"));
        check(PageFormat::Text, Some(22), Ok("fibonacci(10) = 55   \n"));
        check(PageFormat::Text, Some(18), Err(19));
        check(PageFormat::Json, None, Ok("{\"n\":10,\"fibonacci\":55}\n"));
        check(PageFormat::Json, Some(26), Ok("{\"n\":10,\"fibonacci\":55}  \n"));
        check(PageFormat::Json, Some(0), Err(24));
        let mut page = Vec::new();
        write_page(&mut page, PageFormat::Text, N_MAX, 102_334_155, Some(PAGE_BYTES_MAX)).unwrap();
        assert_eq!(page.len(), PAGE_BYTES_MAX);
    }
}
