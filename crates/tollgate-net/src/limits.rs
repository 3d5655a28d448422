//! Every limit of the HTTP engine in one table: name, default, the status that refuses what goes beyond, and the metric
//! that counts it.
//!
//! The limits of a product (work processes, queues, caches) are in the product, not here.

use std::time::Duration;

/// The default amount of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of bytes or things; the limit's name says which.
    Count(u64),
    /// A span of time.
    Time(Duration),
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The field of [`Limits`].
    pub name: &'static str,
    /// The value unless the configuration sets another one.
    pub default: Amount,
    /// The status that answers what goes beyond; `None` where the connection is closed without an answer.
    pub status: Option<u16>,
    /// The fault or the cause of closing under which [`Counters`](crate::http1::server::Counters) counts it.
    pub metric: &'static str,
}

macro_rules! amount {
    (usize, $value:expr) => {
        Amount::Count($value as u64)
    };
    (u64, $value:expr) => {
        Amount::Count($value)
    };
    (Duration, $value:expr) => {
        Amount::Time($value)
    };
}

macro_rules! limits {
    ($($(#[doc = $sentence:literal])+ $name:ident: $kind:ident = $default:expr, $status:expr, $metric:literal;)+) => {
        /// The limits of one server (the two of heads apply to the client as well).
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $sentence])+ pub $name: $kind,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($name: $default,)+ }
            }
        }

        impl Limits {
            fn in_order(&self) -> [Amount; TABLE.len()] {
                [$(amount!($kind, self.$name),)+]
            }
        }

        /// The table, in the order of the fields.
        pub const TABLE: &[Limit] = &[
            $(Limit { name: stringify!($name), default: amount!($kind, $default), status: $status, metric: $metric },)+
        ];
    };
}

limits! {
    /// Bytes of a head: request line or status line, fields, and the empty line.
    head_bytes_max: usize = 32 * 1024, Some(431), "head-too-large";
    /// Fields of a head; at most [`HEADERS_CEILING`].
    headers_max: usize = 100, Some(431), "too-many-headers";
    /// Bytes of a request target.
    target_bytes_max: usize = 8 * 1024, Some(414), "target-too-long";
    /// Bytes of a request body, gathered or streamed, after chunked decoding.
    body_bytes_max: usize = 16 * 1024 * 1024, Some(413), "body-too-large";
    /// Bytes that the unfinished requests of one core occupy while the rest of them is waited for: incomplete heads,
    /// and the buffers of exchanges that wait for a body.
    held_bytes_max: usize = 64 * 1024 * 1024, Some(503), "memory-full";
    /// Bytes that the answers of one core occupy while their clients take them; beyond it those end whose clients took
    /// nothing for longest.
    unsent_bytes_max: usize = 64 * 1024 * 1024, None, "unsent-full";
    /// Time from the first byte of a head (on a fresh connection: from its acceptance) to its last.
    header_timeout: Duration = Duration::from_secs(10), Some(408), "header-timeout";
    /// Time that a body is granted before its rate is looked at.
    body_grace: Duration = Duration::from_secs(10), Some(408), "body-timeout";
    /// Mean rate required of a body once its grace is over, in bytes per second.
    body_bytes_per_second_min: u64 = 500, Some(408), "body-timeout";
    /// Time that a connection may wait between two requests.
    idle_timeout: Duration = Duration::from_secs(75), None, "idle-timeout";
    /// Requests that one connection may send; the answer to the last one says `Connection: close`.
    requests_per_connection_max: u64 = 1_000_000, None, "requests-spent";
    /// Connections open at once, shared evenly by the cores.
    connections_max: usize = 10_000, Some(503), "connections-full";
    /// Connections beyond those that wait, unread, until one of them ends, for at most [`Limits::header_timeout`]; shared
    /// evenly by the cores. While any waits, and while the last place is taken, answers close their connections.
    connections_waiting_max: usize = 0, Some(503), "connections-full";
    /// Connections of one client open or waiting at once, on all cores together; a client is an address, of IPv6 a network
    /// of 64 bits.
    connections_per_client_max: usize = 10_000, Some(429), "client-connections-full";
    /// Time that a client may take none of an answer before it is given up.
    write_stall_timeout: Duration = Duration::from_secs(30), None, "write-stall";
    /// Bytes of all chunk extensions of a body.
    chunk_extension_bytes_max: usize = 1024, Some(400), "chunk-extension-too-large";
    /// Bytes of a trailer section.
    trailer_bytes_max: usize = 8 * 1024, Some(431), "trailer-too-large";
    /// Bytes of an unread body that are read and dropped to keep a connection.
    discarded_body_bytes_max: usize = 64 * 1024, None, "body-unread";
    /// Time that a closing connection reads on, so that its last answer is not lost to a reset.
    linger_timeout: Duration = Duration::from_secs(2), None, "lingered";
    /// Bytes that a closing connection reads on.
    linger_bytes_max: usize = 256 * 1024, None, "lingered";
    /// Time that exchanges in flight are granted once the server drains.
    drain_timeout: Duration = Duration::from_secs(10), None, "drain-timeout";
}

/// The fixed header array: no configuration can go beyond it.
pub const HEADERS_CEILING: usize = 128;

/// The largest head that any configuration may allow.
pub const HEAD_BYTES_CEILING: usize = 1024 * 1024;

impl Limits {
    /// Every limit of the table with its current value.
    pub fn amounts(&self) -> impl Iterator<Item = (&'static Limit, Amount)> {
        TABLE.iter().zip(self.in_order())
    }

    /// The same limits, reduced to the size of the engine's fixed arrays.
    #[must_use]
    pub fn within_ceilings(mut self) -> Limits {
        self.headers_max = self.headers_max.min(HEADERS_CEILING);
        self.head_bytes_max = self.head_bytes_max.min(HEAD_BYTES_CEILING);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_table_is_there_once() {
        let mut names: Vec<_> = TABLE.iter().map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn each_limit_tells_its_own_amount() {
        let limits = Limits { linger_bytes_max: 7, idle_timeout: Duration::from_millis(8), ..Limits::default() };
        for (limit, amount) in limits.amounts() {
            let expected = match limit.name {
                "linger_bytes_max" => Amount::Count(7),
                "idle_timeout" => Amount::Time(Duration::from_millis(8)),
                _ => limit.default,
            };
            assert_eq!(amount, expected, "{}", limit.name);
        }
    }

    #[test]
    fn no_configuration_goes_beyond_the_ceilings() {
        let limits = Limits { headers_max: 5000, head_bytes_max: usize::MAX, ..Limits::default() }.within_ceilings();
        assert_eq!((limits.headers_max, limits.head_bytes_max), (HEADERS_CEILING, HEAD_BYTES_CEILING));
        assert_eq!(Limits::default().within_ceilings(), Limits::default());
    }
}
