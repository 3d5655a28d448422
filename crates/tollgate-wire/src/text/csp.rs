//! Content-Security-Policy of pages that contain their own style and script.

use ring::digest::{SHA256, digest};

use super::base64;

/// The source that admits an inline style or script with this text, to be put in single quotes.
pub fn source(text: &str) -> String {
    let mut source = b"sha256-".to_vec();
    base64::encode(&mut source, digest(&SHA256, text.as_bytes()).as_ref());
    String::from_utf8(source).expect("base64 is ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_hashes_as_a_browser_computes_them() {
        // The digest of the empty text, as the specification of CSP has it in base64.
        assert_eq!(source(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
