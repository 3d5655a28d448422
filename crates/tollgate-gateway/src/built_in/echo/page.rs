//! The echo's fixed pages: so many bytes, always the same ones.
//!
//! They do not look random: a page compresses well, but nothing between client and service should compress it.

// The table of limits.
/// Bytes of the largest page.
pub(crate) const PAGE_BYTES_MAX: u64 = 1 << 30;

/// A page consists of this line again and again; the last one may be cut off.
const LINE: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n";

/// Lines copied at once.
const LINES: usize = 64;

const BLOCK: [u8; LINE.len() * LINES] = {
    let mut block = [0; LINE.len() * LINES];
    let mut at = 0;
    while at < block.len() {
        block[at] = LINE[at % LINE.len()];
        at += 1;
    }
    block
};

/// Writes a page of so many bytes, or a part of one that begins with a line.
pub(crate) fn write_page(out: &mut Vec<u8>, bytes: usize) {
    out.reserve(bytes);
    let mut left = bytes;
    while left > 0 {
        let step = left.min(BLOCK.len());
        out.extend_from_slice(&BLOCK[..step]);
        left -= step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_exactly_the_bytes_that_were_asked_for() {
        for bytes in [0, 1, 63, 64, 65, 1024, 4095, 4096, 4097, 5120, 100_000] {
            let mut page = Vec::new();
            write_page(&mut page, bytes);
            assert_eq!(page.len(), bytes);
            assert!(page.chunks(LINE.len()).all(|line| LINE.starts_with(line)));
        }
    }
}
