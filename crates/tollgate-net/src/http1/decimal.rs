//! Numbers as both sides write them into heads.
//!
//! Without formatting machinery: a head is written for each exchange.

/// Writes a number in decimal digits.
pub(crate) fn write_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}
