//! Faults of a peer in HTTP/1.1, each with its stable name and the status that answers it.
//!
//! Faults are the peer's; our own failures and those of the network are errors of the server or the client.

use std::fmt;

macro_rules! faults {
    ($($(#[doc = $sentence:literal])+ $variant:ident: $name:literal, $status:literal, $message:literal;)+) => {
        /// A fault in what a peer sent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fault {
            $($(#[doc = $sentence])+ $variant,)+
        }

        impl Fault {
            /// Every fault, in the order of the enum.
            pub const ALL: &[Fault] = &[$(Fault::$variant,)+];

            /// The stable name, in kebab case: a metric's label.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Fault::$variant => $name,)+
                }
            }

            /// The status that answers it, after which the connection closes.
            #[must_use]
            pub fn status(self) -> u16 {
                match self {
                    $(Fault::$variant => $status,)+
                }
            }

            fn message(self) -> &'static str {
                match self {
                    $(Fault::$variant => $message,)+
                }
            }
        }
    };
}

faults! {
    /// The request line or status line is none.
    BadStartLine: "bad-start-line", 400, "the first line is not of HTTP/1.1";
    /// A control byte, a raw non-ASCII byte, a fragment, or a form that the method does not take.
    BadTarget: "bad-target", 400, "the request target holds a byte or has a form that is not allowed there";
    /// The target is longer than the limit.
    TargetTooLong: "target-too-long", 414, "the request target is too long";
    /// The head is longer than the limit.
    HeadTooLarge: "head-too-large", 431, "the head is too large";
    /// More fields than the limit.
    TooManyHeaders: "too-many-headers", 431, "the head has too many fields";
    /// A field name that is no token: among them folded lines and white space before the colon.
    BadFieldName: "bad-field-name", 400, "a field name is not a token followed by a colon";
    /// A control byte or a bare CR in a field value.
    BadFieldValue: "bad-field-value", 400, "a field value holds a control byte";
    /// A line that ends in a bare LF.
    BadLineEnd: "bad-line-end", 400, "a line does not end in CR LF";
    /// HTTP/1.1 without `Host`.
    MissingHost: "missing-host", 400, "the host field is missing";
    /// More than one `Host`.
    DuplicateHost: "duplicate-host", 400, "the host field is there more than once";
    /// A `Host` or an authority that names no host.
    BadHost: "bad-host", 400, "the host is not a name or an address with an optional port";
    /// `Content-Length` that is no plain decimal number.
    BadContentLength: "bad-content-length", 400, "the content-length is not a plain decimal number";
    /// More than one `Content-Length`, equal or not.
    DuplicateContentLength: "duplicate-content-length", 400, "the content-length is there more than once";
    /// `Content-Length` together with `Transfer-Encoding`.
    LengthWithTransferEncoding: "length-with-transfer-encoding", 400, "content-length and transfer-encoding exclude each other";
    /// A transfer coding that does not end in exactly one `chunked`.
    BadTransferEncoding: "bad-transfer-encoding", 400, "the transfer-encoding is not chunked";
    /// A registered coding before `chunked`, which we do not undo.
    UnsupportedTransferEncoding: "unsupported-transfer-encoding", 501, "only the transfer coding chunked is supported";
    /// A version of HTTP that is none of ours.
    UnsupportedVersion: "unsupported-version", 505, "only HTTP/1.1 and HTTP/1.0 are supported";
    /// `CONNECT`.
    UnsupportedMethod: "unsupported-method", 501, "this server opens no tunnels";
    /// An `Expect` other than `100-continue`.
    UnsupportedExpectation: "unsupported-expectation", 417, "only the expectation 100-continue is supported";
    /// The body is longer than the limit.
    BodyTooLarge: "body-too-large", 413, "the body is too large";
    /// A chunk size that is no hexadecimal number, is too large, or has a badly ended line.
    BadChunkSize: "bad-chunk-size", 400, "a chunk size is not a hexadecimal number on a line of its own";
    /// Bytes between a chunk and the next size line.
    BadChunkEnd: "bad-chunk-end", 400, "a chunk does not end in CR LF where its size says";
    /// Chunk extensions beyond the limit.
    ChunkExtensionTooLarge: "chunk-extension-too-large", 400, "the chunk extensions are too large";
    /// A trailer section that is none.
    BadTrailer: "bad-trailer", 400, "a trailer field is malformed";
    /// A trailer section beyond the limit.
    TrailerTooLarge: "trailer-too-large", 431, "the trailer section is too large";
    /// The head did not come in time.
    HeaderTimeout: "header-timeout", 408, "the head did not come in time";
    /// The body came more slowly than the least rate.
    BodyTimeout: "body-timeout", 408, "the body came too slowly";
    /// The connection ended within a head.
    ClosedInHead: "closed-in-head", 400, "the connection ended within a head";
    /// The connection ended within a body.
    ClosedInBody: "closed-in-body", 400, "the connection ended within a body";
    /// More connections than the limit.
    ConnectionsFull: "connections-full", 503, "too many connections are open";
    /// More connections of one client than the limit.
    ClientConnectionsFull: "client-connections-full", 429, "too many connections of this client are open";
    /// Unfinished requests occupy more memory than the limit.
    MemoryFull: "memory-full", 503, "too many unfinished requests are held";
    /// A request without TLS where TLS is spoken.
    PlainRequest: "plain-request", 400, "this port speaks TLS: ask with https";
    /// Not the peer's: the service failed or panicked. It is here because it is refused in the same way.
    ServiceFailed: "service-failed", 500, "the server failed on this request";
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_name_of_its_own_and_an_error_status() {
        let mut names: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Fault::ALL.len());
        assert!(Fault::ALL.iter().all(|fault| (400..=505).contains(&fault.status())));
        assert!(Fault::ALL.iter().enumerate().all(|(index, fault)| *fault as usize == index));
    }

    #[test]
    fn every_metric_of_a_refusing_limit_is_a_fault_with_its_status() {
        for limit in crate::limits::TABLE {
            let Some(status) = limit.status else { continue };
            let fault = Fault::ALL.iter().find(|fault| fault.name() == limit.metric);
            assert_eq!(fault.map(|fault| fault.status()), Some(status), "{}", limit.name);
        }
    }
}
