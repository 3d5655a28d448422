//! Tokens against forged requests (CSRF), as SAP's services have them: a client that wants to write asks for one with
//! `X-CSRF-Token: Fetch`, gets it with a cookie, and sends both back. A foreign page can make a browser send the
//! cookie, but cannot read the token.
//!
//! No state is kept: the token is a keyed hash (HMAC-SHA-256, under a key that lives as long as the process) of the
//! cookie, of the user, and of the credentials that came with it. It is neither a session nor a way to sign in.

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_net::http1::{Method, RequestHead};
use tollgate_net::stream::Transport;
use tollgate_wire::base64;

use crate::auth::Caller;
use crate::error::Fault;
use crate::http::answer::Reply;

/// Whether writing requests need a token (`X-CSRF-Token`) fetched before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Csrf {
    /// No token is needed.
    #[default]
    Off,
    /// A token is needed, else 403.
    Required,
}

/// The field of requests and answers.
const FIELD: &str = "x-csrf-token";

/// The name of the cookie.
const COOKIE: &str = "tollgate-session";

/// Random bytes of a cookie.
const SESSION_BYTES: usize = 16;

/// Longest cookie of ours, as text.
const SESSION_CHARACTERS: usize = SESSION_BYTES.div_ceil(3) * 4;

/// Issues and checks tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    key: hmac::Key,
}

/// A token for the client that asked, with its cookie if the client had none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    token: String,
    cookie: Option<String>,
}

impl Tokens {
    /// Creates tokens under a new key.
    ///
    /// # Panics
    /// If the system has no random bytes.
    pub(crate) fn new() -> Tokens {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Tokens { key: key.expect("the system gives random bytes") }
    }

    /// Creates the token that a reading request asks for.
    pub(crate) fn offer(&self, request: &RequestHead, transport: Transport, caller: &Caller) -> Option<Offer> {
        let asked = request.header(FIELD)?.eq_ignore_ascii_case("fetch");
        if !asked || !matches!(request.method(), Method::Get | Method::Head) {
            return None;
        }
        let held = session(request);
        let fresh = if held.is_some() { None } else { Some(new_session()) };
        let session = held.or(fresh.as_deref())?;
        let token = encoded(self.hash(session, request, caller).as_ref());
        // Over TLS it never leaves TLS again; without, a browser would not take a cookie that says so.
        let secure = if matches!(transport, Transport::Tls { .. }) { "; Secure" } else { "" };
        let cookie =
            fresh.as_ref().map(|session| format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax{secure}"));
        Some(Offer { token, cookie })
    }

    /// Checks the token of a writing request, if the service requires one.
    ///
    /// # Errors
    /// 403 with the field that requires a token.
    pub(crate) fn check(&self, csrf: Csrf, request: &RequestHead, caller: &Caller) -> Result<(), Fault> {
        if csrf == Csrf::Off {
            return Ok(());
        }
        let valid = || {
            let token = base64::decode(request.header(FIELD)?)?;
            let signed = message(session(request)?, request, caller);
            hmac::verify(&self.key, &signed, &token).ok()
        };
        valid().ok_or_else(Fault::token_required)
    }

    fn hash(&self, session: &str, request: &RequestHead, caller: &Caller) -> hmac::Tag {
        hmac::sign(&self.key, &message(session, request, caller))
    }
}

impl Offer {
    /// Adds the token to an answer, which then is for this client alone.
    pub(crate) fn say(&self, reply: &mut impl Reply) {
        reply.field(FIELD, self.token.as_bytes());
        if let Some(cookie) = &self.cookie {
            reply.field("set-cookie", cookie.as_bytes());
        }
        reply.field("cache-control", b"private, no-store");
    }
}

/// Signed content of a token: the cookie and the user's name, which contain no zero byte, and the credentials.
fn message(session: &str, request: &RequestHead, caller: &Caller) -> Vec<u8> {
    let user = caller.name().map_or("", |name| name);
    let credentials = request.header("authorization").unwrap_or_default();
    [session.as_bytes(), &[0], user.as_bytes(), &[0], credentials.as_bytes()].concat()
}

/// The client's cookie, if it could be one of ours.
fn session(request: &RequestHead) -> Option<&str> {
    let cookies = request.headers().filter(|field| field.0.eq_ignore_ascii_case("cookie"));
    let pairs = cookies.filter_map(|field| std::str::from_utf8(field.1).ok()).flat_map(|line| line.split(';'));
    let mut values = pairs.filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    values.find(|value| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
        !value.is_empty() && value.len() <= SESSION_CHARACTERS && value.bytes().all(plain)
    })
}

fn new_session() -> String {
    let mut bytes = [0; SESSION_BYTES];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    encoded(&bytes)
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    base64::encode_url(&mut text, bytes);
    String::from_utf8(text).expect("base64 is ASCII")
}

#[cfg(test)]
mod tests {
    use tollgate_net::limits::Limits;
    use tollgate_net::tls::Version;

    use super::*;

    #[test]
    fn a_cookie_of_tls_stays_within_tls() {
        let mut request = RequestHead::default();
        let text = b"GET / HTTP/1.1\r\nHost: h\r\nX-CSRF-Token: Fetch\r\n\r\n";
        request.parse(text, &Limits::default()).unwrap().unwrap();
        let tls = Transport::Tls { version: Version::Tls13, cipher: "TLS13_AES_128_GCM_SHA256", resumed: false };
        for (transport, is_secure) in [(Transport::Plain, false), (tls, true)] {
            let offer = Tokens::new().offer(&request, transport, &Caller::anonymous()).unwrap();
            assert_eq!(offer.cookie.unwrap().ends_with("; SameSite=Lax; Secure"), is_secure);
        }
    }
}
