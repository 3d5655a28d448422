//! Speed of the encryption library on this machine: signatures of a server's key, records under a cipher.
//!
//! Measured in CPU time of the calling thread, in short slices that take turns, so that a mood of the machine hits all
//! alike. The RSA keys are fixed and public: the speed of a signature does not depend on which key of a length it is,
//! and making one takes seconds. They are good for nothing else.

use std::sync::Arc;
use std::time::Duration;

use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use rustix::time::{ClockId, clock_gettime};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::Signer;

const RSA_2048: &[u8] = include_bytes!("speed/rsa-2048.pk8");
const RSA_4096: &[u8] = include_bytes!("speed/rsa-4096.pk8");
/// Size of the text signed in a handshake of TLS 1.3: 64 spaces, a context of 33 bytes, a zero, and a hash of 32.
const SIGNED_BYTES: usize = 130;
/// Bytes of a whole record.
pub const RECORD_BYTES: usize = 16 * 1024;
/// Pieces of work between two looks at the clock, which is a system call.
const BETWEEN_LOOKS: u32 = 4;

/// The measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A signature of a handshake; its speed is in signatures per second.
    Sign,
    /// Encryption of whole records; its speed is in bytes per second.
    Encrypt,
}

/// Speed of one operation on one core.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// The operation.
    pub operation: Operation,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Operations or bytes per second, in each slice.
    pub per_second: Vec<f64>,
}

/// Signs with each kind of key and encrypts with each cipher, `slices` times for `slice` of CPU time each, in turns;
/// one more turn before them is not counted.
///
/// # Errors
/// The library's refusal, in its words.
pub fn measure(slice: Duration, slices: u32) -> Result<Vec<Speed>, String> {
    let mut works = works()?;
    let mut speeds: Vec<Speed> = works
        .iter()
        .map(|work| Speed { operation: work.operation, algorithm: work.algorithm, per_second: Vec::new() })
        .collect();
    for turn in 0..=slices {
        for (work, speed) in works.iter_mut().zip(&mut speeds) {
            let per_second = work.run(slice)?;
            if turn > 0 {
                speed.per_second.push(per_second);
            }
        }
    }
    Ok(speeds)
}

/// An operation that is repeated.
struct Work {
    operation: Operation,
    algorithm: &'static str,
    /// Amount of one piece: a signature, or bytes.
    amount: f64,
    piece: Piece,
}

enum Piece {
    Sign(Box<dyn Signer>),
    Encrypt(Box<LessSafeKey>, Vec<u8>),
}

fn works() -> Result<Vec<Work>, String> {
    let own = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
    let own = own.map_err(|_| "no P-256 key could be made".to_owned())?;
    Ok(vec![
        signing("P-256", own.as_ref(), SignatureScheme::ECDSA_NISTP256_SHA256)?,
        signing("RSA-2048", RSA_2048, SignatureScheme::RSA_PSS_SHA256)?,
        signing("RSA-4096", RSA_4096, SignatureScheme::RSA_PSS_SHA256)?,
        encrypting("AES-128-GCM", &AES_128_GCM)?,
        encrypting("AES-256-GCM", &AES_256_GCM)?,
        encrypting("ChaCha20-Poly1305", &CHACHA20_POLY1305)?,
    ])
}

fn signing(algorithm: &'static str, key: &[u8], scheme: SignatureScheme) -> Result<Work, String> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let key = any_supported_type(&key).map_err(|error| format!("{algorithm}: {error}"))?;
    let signer = Arc::clone(&key).choose_scheme(&[scheme]).ok_or_else(|| format!("{algorithm}: no signature"))?;
    Ok(Work { operation: Operation::Sign, algorithm, amount: 1.0, piece: Piece::Sign(signer) })
}

fn encrypting(name: &'static str, algorithm: &'static Algorithm) -> Result<Work, String> {
    let key = UnboundKey::new(algorithm, &[7; 32][..algorithm.key_len()]).map_err(|_| format!("{name}: no key"))?;
    let piece = Piece::Encrypt(Box::new(LessSafeKey::new(key)), vec![0; RECORD_BYTES]);
    Ok(Work { operation: Operation::Encrypt, algorithm: name, amount: RECORD_BYTES as f64, piece })
}

impl Work {
    /// Measures the amount per second, over at least `slice`.
    fn run(&mut self, slice: Duration) -> Result<f64, String> {
        let start = own_time();
        let mut done = 0.0;
        loop {
            for _ in 0..BETWEEN_LOOKS {
                self.once()?;
            }
            done += self.amount * f64::from(BETWEEN_LOOKS);
            let took = own_time().saturating_sub(start);
            if took >= slice && !took.is_zero() {
                return Ok(done / took.as_secs_f64());
            }
        }
    }

    fn once(&mut self) -> Result<(), String> {
        match &mut self.piece {
            Piece::Sign(signer) => {
                let signed = signer.sign(&[b' '; SIGNED_BYTES]).map_err(|error| error.to_string())?;
                std::hint::black_box(signed);
            }
            Piece::Encrypt(key, record) => {
                // What is encrypted is a secret of nobody: one nonce for all.
                let nonce = Nonce::assume_unique_for_key([0; 12]);
                let tag = key.seal_in_place_separate_tag(nonce, Aad::from([0; 5]), record);
                let tag = tag.map_err(|_| "a record could not be encrypted".to_owned())?;
                let _ = std::hint::black_box(tag);
            }
        }
        Ok(())
    }
}

/// CPU time of this thread.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_key_and_each_cipher_has_as_many_speeds_as_slices() {
        let speeds = measure(Duration::from_micros(10), 3).unwrap();
        let names: Vec<&str> = speeds.iter().map(|speed| speed.algorithm).collect();
        assert_eq!(names, ["P-256", "RSA-2048", "RSA-4096", "AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"]);
        for speed in &speeds {
            let expected = if speed.algorithm.contains('C') { Operation::Encrypt } else { Operation::Sign };
            assert_eq!((speed.per_second.len(), speed.operation), (3, expected), "{speed:?}");
            assert!(speed.per_second.iter().all(|value| value.is_finite() && *value > 0.0), "{speed:?}");
        }
    }
}
