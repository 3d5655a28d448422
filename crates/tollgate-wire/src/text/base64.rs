//! Base64 (RFC 4648): the standard alphabet that documents carry, the URL alphabet of V4 literals and tokens.
//!
//! It deliberately does not wrap lines, and does not allow white space.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Writes `bytes` in the standard alphabet with padding, as V2 documents have it.
pub fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    write(out, bytes, STANDARD);
    out.extend(std::iter::repeat_n(b'=', (3 - bytes.len() % 3) % 3));
}

/// Writes `bytes` in the URL alphabet without padding, as V4 documents and URLs have it.
pub fn encode_url(out: &mut Vec<u8>, bytes: &[u8]) {
    write(out, bytes, URL);
}

/// The bytes of a text in either alphabet, padded or not; `None` if it is no base64 or has stray bits at its end.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    append_decoded(&mut out, text)?;
    Some(out)
}

/// Writes the bytes of such a text; if the text is invalid, the caller must take back the part already written.
pub(crate) fn append_decoded(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let unpadded = text.trim_end_matches('=');
    let padding = text.len() - unpadded.len();
    if unpadded.len() % 4 == 1 || (padding > 0 && (padding > 2 || !text.len().is_multiple_of(4))) {
        return None;
    }
    for group in unpadded.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for digit in group {
            bits = bits << 6 | u32::from(value(*digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let bytes = bits.to_be_bytes();
        let (whole, stray) = bytes[1..].split_at(group.len() - 1);
        if stray.iter().any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(whole);
    }
    Some(())
}

fn write(out: &mut Vec<u8>, bytes: &[u8], alphabet: &[u8; 64]) {
    for group in bytes.chunks(3) {
        let mut padded = [0; 4];
        padded[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(padded);
        for digit in 0..=group.len() {
            out.push(alphabet[(bits >> (18 - 6 * digit) & 63) as usize]);
        }
    }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_vectors_of_the_rfc_hold() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")]
        {
            let mut out = Vec::new();
            encode(&mut out, bytes.as_bytes());
            assert_eq!(out, text.as_bytes());
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["Z", "Zg=", "Zm9v=", "Zh", "Z g=", "=", "Zm9vYg==="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_round_trip_in_both_alphabets(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for write in [encode, encode_url] {
                let mut out = Vec::new();
                write(&mut out, &bytes);
                prop_assert_eq!(decode(std::str::from_utf8(&out).unwrap()), Some(bytes.clone()));
            }
        }
    }
}
