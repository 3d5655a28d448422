//! Stored passwords: Argon2id (RFC 9106) in its encoded form, `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`, which other
//! tools write too.
//!
//! Weaker functions are refused, and so are hashes whose verification is expensive enough to harm the gateway.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use ring::rand::{SecureRandom, SystemRandom};
use tollgate_wire::base64;

/// Cost of computing a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes, which others may compute in parallel; here one after the other.
    pub lanes: u32,
}

/// A stored password.
#[derive(Clone, PartialEq, Eq)]
pub struct Hash {
    cost: Cost,
    salt: Box<[u8]>,
    output: Box<[u8]>,
}

// The table of limits.
/// Longest password in bytes: anything longer is refused without hashing.
pub const PASSWORD_BYTES_MAX: usize = 1024;
const SALT_BYTES: usize = 16;
const SALT_BYTES_MIN: usize = 8;
const SALT_BYTES_MAX: usize = 64;
const OUTPUT_BYTES: usize = 32;
const OUTPUT_BYTES_MIN: usize = 16;
const OUTPUT_BYTES_MAX: usize = 64;
/// Most memory of one hash: some are computed at the same time.
const MEMORY_KIB_MAX: u32 = 256 * 1024;
/// Least memory that OWASP recommends (7 MiB in 5 passes).
const MEMORY_KIB_MIN: u32 = 7 * 1024;
/// Memory times passes: from the least that OWASP recommends to about a second on one core.
const WORK_KIB_MIN: u64 = 5 * 7 * 1024;
const WORK_KIB_MAX: u64 = 2 * 1024 * 1024;
const LANES_MAX: u32 = 16;

/// Prefix before the cost.
const PREFIX: &str = "$argon2id$v=19$";

impl Default for Cost {
    /// The least cost that OWASP recommends at one lane and two passes: 19 MiB.
    fn default() -> Cost {
        Cost { memory_kib: 19 * 1024, passes: 2, lanes: 1 }
    }
}

impl Cost {
    fn check(self) -> Result<Cost, String> {
        let Cost { memory_kib, passes, lanes } = self;
        let work_kib = u64::from(memory_kib) * u64::from(passes);
        if memory_kib < MEMORY_KIB_MIN || work_kib < WORK_KIB_MIN {
            return Err(format!(
                "the hash is weaker than m={MEMORY_KIB_MIN},t=5: make it anew with `tollgate password`"
            ));
        }
        if memory_kib > MEMORY_KIB_MAX || work_kib > WORK_KIB_MAX || lanes > LANES_MAX {
            return Err(format!(
                "the hash costs too much: expected m to be at most {MEMORY_KIB_MAX}, m times t at most {WORK_KIB_MAX} and p at most {LANES_MAX}"
            ));
        }
        if lanes == 0 {
            return Err("expected p to be at least 1".to_owned());
        }
        Ok(self)
    }
}

impl Hash {
    /// Hashes a password with a salt of its own. Takes some 20 ms, and [`Cost::memory_kib`].
    ///
    /// # Errors
    /// The cost is out of range.
    ///
    /// # Panics
    /// If the system has no random bytes.
    pub fn of(password: &[u8], cost: Cost) -> Result<Hash, String> {
        let mut hash = Hash::nobodys(cost.check()?);
        hash.output = hash.compute(password);
        Ok(hash)
    }

    /// Hash that no password has; verifying against it costs as much as against any other of this cost.
    pub(super) fn nobodys(cost: Cost) -> Hash {
        let (mut salt, mut output) = ([0; SALT_BYTES], [0; OUTPUT_BYTES]);
        let random = SystemRandom::new();
        random.fill(&mut salt).and_then(|()| random.fill(&mut output)).expect("the system gives random bytes");
        Hash { cost, salt: salt.into(), output: output.into() }
    }

    /// Reads the encoded form.
    ///
    /// # Errors
    /// States what was expected; no part of the hash is repeated.
    pub fn parse(text: &str) -> Result<Hash, String> {
        let shape = || format!("expected a hash such as {PREFIX}m=19456,t=2,p=1$SALT$HASH");
        let mut fields = text.strip_prefix(PREFIX).ok_or_else(shape)?.split('$');
        let (Some(cost), Some(salt), Some(output), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(shape());
        };
        let cost = parse_cost(cost).ok_or_else(shape)?.check()?;
        let bytes = |text: &str, least: usize, most: usize| {
            base64::decode(text).filter(|bytes| (least..=most).contains(&bytes.len())).map(Vec::into_boxed_slice)
        };
        let salt = bytes(salt, SALT_BYTES_MIN, SALT_BYTES_MAX).ok_or_else(shape)?;
        let output = bytes(output, OUTPUT_BYTES_MIN, OUTPUT_BYTES_MAX).ok_or_else(shape)?;
        Ok(Hash { cost, salt, output })
    }

    /// Cost of verifying.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Whether it is the hash of this password. The time does not depend on the result.
    pub fn verifies(&self, password: &[u8]) -> bool {
        let computed = self.compute(password);
        let differences = computed.iter().zip(&self.output).fold(0, |seen, (left, right)| seen | (left ^ right));
        differences == 0
    }

    fn compute(&self, password: &[u8]) -> Box<[u8]> {
        let Cost { memory_kib, passes, lanes } = self.cost;
        let params = Params::new(memory_kib, passes, lanes, Some(self.output.len())).expect("the cost was checked");
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut output = vec![0; self.output.len()];
        argon2.hash_password_into(password, &self.salt, &mut output).expect("lengths of salt and output were checked");
        output.into()
    }
}

/// `m=19456,t=2,p=1`
fn parse_cost(text: &str) -> Option<Cost> {
    let mut fields = text.split(',');
    let mut field = |name: &str| -> Option<u32> {
        let digits = fields.next()?.strip_prefix(name)?.strip_prefix('=')?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let cost = Cost { memory_kib: field("m")?, passes: field("t")?, lanes: field("p")? };
    fields.next().is_none().then_some(cost)
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { memory_kib, passes, lanes } = self.cost;
        let text = |bytes: &[u8]| {
            let mut text = Vec::new();
            base64::encode(&mut text, bytes);
            String::from_utf8(text).expect("base64 is ASCII").trim_end_matches('=').to_owned()
        };
        let (salt, output) = (text(&self.salt), text(&self.output));
        write!(formatter, "{PREFIX}m={memory_kib},t={passes},p={lanes}${salt}${output}")
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever reads a log is to try no passwords on it.
        formatter.debug_struct("Hash").field("cost", &self.cost).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_and_read_and_verifies_its_password_only() {
        let hash = Hash::of(b"open sesame", Cost::default()).unwrap();
        let text = hash.to_string();
        assert!(text.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{text}");
        let read = Hash::parse(&text).unwrap();
        assert_eq!(read, hash);
        assert!(read.verifies(b"open sesame"));
        assert!(!read.verifies(b"open sesam") && !read.verifies(b""));
        assert_ne!(Hash::of(b"open sesame", Cost::default()).unwrap(), hash, "each has a salt of its own");
        assert!(!format!("{hash:?}").contains(text.rsplit('$').next().unwrap()));
    }

    #[test]
    fn hashes_of_other_tools_are_read() {
        // `echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32 -e`, of the reference implementation's own tests.
        let known = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        let hash = Hash::parse(known).unwrap();
        assert!(hash.verifies(b"password") && !hash.verifies(b"Password"));
        assert_eq!(hash.to_string(), known);
    }

    #[test]
    fn what_is_weak_or_costs_too_much_is_refused() {
        let check = |cost: &str, expected: &str| {
            let error = Hash::parse(&format!("{PREFIX}{cost}$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"));
            assert!(error.clone().is_err_and(|error| error.contains(expected)), "{cost} {error:?}");
        };
        for weak in ["m=7167,t=6,p=1", "m=7168,t=4,p=1", "m=19456,t=1,p=1", "m=8,t=1,p=1"] {
            check(weak, "weaker");
        }
        for costly in ["m=262145,t=1,p=1", "m=262144,t=9,p=1", "m=4294967295,t=4294967295,p=1", "m=19456,t=2,p=17"] {
            check(costly, "too much");
        }
        check("m=19456,t=2,p=0", "p to be");
        for other in ["m=19456,t=2", "t=2,m=19456,p=1", "m=+19456,t=2,p=1", "m=19456,t=2,p=1,x=1", ""] {
            check(other, "expected a hash");
        }
        for text in ["", "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q", "$2y$10$abc", "secret"] {
            assert!(Hash::parse(text).is_err_and(|error| !error.contains("secret")), "{text}");
        }
    }
}
