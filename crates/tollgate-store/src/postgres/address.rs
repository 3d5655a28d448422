//! The address of a PostgreSQL database, as a URL: `postgres://user:password@host:5432/database?sslmode=require`.
//!
//! The password leaves this file only for the login at the server: it is in no error and in no log. Environment
//! variables and `~/.pgpass` are not read.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tollgate_net::tls::TlsChoice;

/// The port that PostgreSQL listens on by default.
const PORT: u16 = 5432;

/// Default time-outs: to connect, for a statement, and for a lock that another transaction has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest allowed time-out, in milliseconds: the limit of the server's own setting.
const TIMEOUT_MS_MAX: u64 = i32::MAX as u64;

/// Location of a database, and the user for the login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The server.
    pub host: Host,
    /// Whether the connection is encrypted.
    pub encryption: Encryption,
    /// User name.
    pub user: String,
    pub(super) password: Option<Password>,
    /// Name of the database.
    pub database: String,
    /// The schemas in which tables are searched; empty: the server's own setting.
    pub schemas: Vec<String>,
    /// Longest time for connecting.
    pub connect_timeout: Duration,
    /// Longest time of a statement.
    pub statement_timeout: Duration,
    /// Longest wait of a statement for a lock.
    pub lock_timeout: Duration,
}

/// Address of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// On a port of a host.
    Tcp(String, u16),
    /// On a socket in this folder.
    Folder(PathBuf, u16),
}

/// Whether a connection is encrypted (`sslmode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// Never (`disable`); the default for the same machine.
    Never,
    /// If the server supports it, without checking its certificate (`prefer`); the default elsewhere.
    IfPossible,
    /// Always; the certificate is checked or not (`verify-full`, `require`).
    Always(TlsChoice),
}

/// A password that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(String);

impl Password {
    pub(super) fn reveal(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(hidden)")
    }
}

/// The server and the database, without the password.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Tcp(host, port) if host.contains(':') => write!(formatter, "postgres://[{host}]:{port}")?,
            Host::Tcp(host, port) => write!(formatter, "postgres://{host}:{port}")?,
            Host::Folder(folder, port) => write!(formatter, "PostgreSQL in {} (port {port})", folder.display())?,
        }
        write!(formatter, "/{}", self.database)
    }
}

impl Address {
    /// Parses a URL: `postgres://` or `postgresql://`, then `user[:password]@host[:port]/database`, and after a `?` any
    /// of `sslmode` (`disable`, `prefer`, `require`, `verify-full`), `schema` (one or more, with commas), `host` (the
    /// folder of a Unix socket), `connect_timeout`, `statement_timeout` and `lock_timeout` (milliseconds). Everything
    /// is percent-decoded.
    ///
    /// # Errors
    /// An error in it, without any part of the password.
    pub fn parse(url: &str) -> Result<Address, String> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .ok_or("expected postgres://user:password@host:port/database")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, server) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
        let user = decoded(user, "the user")?;
        if user.is_empty() {
            return Err("no user is named: postgres://user@host/database".to_owned());
        }
        let password = password.map(|password| decoded(password, "the password")).transpose()?.map(Password);
        let database = Some(decoded(path, "the database")?).filter(|name| !name.is_empty());
        let mut address = Address {
            host: host(server)?,
            encryption: Encryption::IfPossible,
            database: database.unwrap_or_else(|| user.clone()),
            user,
            password,
            schemas: Vec::new(),
            connect_timeout: CONNECT_TIMEOUT,
            statement_timeout: STATEMENT_TIMEOUT,
            lock_timeout: LOCK_TIMEOUT,
        };
        let mut encryption = None;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = decoded(value, name)?;
            match name {
                "sslmode" => encryption = Some(sslmode(&value)?),
                "schema" => address.schemas = value.split(',').map(str::to_owned).collect(),
                "host" => address.host = Host::Folder(value.into(), address.host.port()),
                "connect_timeout" => address.connect_timeout = timeout(name, &value)?,
                "statement_timeout" => address.statement_timeout = timeout(name, &value)?,
                "lock_timeout" => address.lock_timeout = timeout(name, &value)?,
                _ => {
                    return Err("an option is not known; sslmode, schema, host, connect_timeout, statement_timeout \
                                and lock_timeout are"
                        .to_owned());
                }
            }
        }
        if address.schemas.iter().any(String::is_empty) {
            return Err("schema names none: ?schema=public,sales".to_owned());
        }
        address.encryption = match (encryption, address.host.is_this_machine()) {
            (Some(encryption), _) => encryption,
            (None, true) => Encryption::Never,
            (None, false) => Encryption::IfPossible,
        };
        // A text of the protocol ends with a zero.
        let texts = [&address.user, &address.database].into_iter().chain(&address.schemas);
        if texts.chain(address.password.iter().map(|password| &password.0)).any(|text| text.contains('\0')) {
            return Err("it holds the character U+0000".to_owned());
        }
        Ok(address)
    }
}

impl Host {
    fn port(&self) -> u16 {
        match self {
            Host::Tcp(_, port) | Host::Folder(_, port) => *port,
        }
    }

    /// Whether the connection stays on this machine.
    fn is_this_machine(&self) -> bool {
        match self {
            Host::Folder(..) => true,
            Host::Tcp(host, _) => {
                host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }
}

fn host(server: &str) -> Result<Host, String> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or("an IPv6 address ends with ]")?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or("expected : behind ]")?) })
        }
        None => server.split_once(':').map_or((server, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => PORT,
        // What stands there may be the rest of a password with a / in it.
        Some(digits) => digits
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or("the port is no number from 1 to 65535 (in a password, / is written %2F, ? %3F and @ %40)")?,
    };
    let host = decoded(host, "the host")?;
    Ok(match host.as_str() {
        "" => Host::Tcp("localhost".to_owned(), port),
        folder if folder.starts_with('/') => Host::Folder(folder.into(), port),
        _ => Host::Tcp(host, port),
    })
}

fn sslmode(value: &str) -> Result<Encryption, String> {
    match value {
        "disable" => Ok(Encryption::Never),
        "allow" | "prefer" => Ok(Encryption::IfPossible),
        "require" => Ok(Encryption::Always(TlsChoice::Insecure)),
        "verify-full" => Ok(Encryption::Always(TlsChoice::Verify)),
        "verify-ca" => Err("sslmode=verify-ca would trust any host; verify-full checks its name too".to_owned()),
        _ => Err(format!("sslmode is disable, prefer, require or verify-full, not {value}")),
    }
}

fn timeout(name: &str, value: &str) -> Result<Duration, String> {
    let milliseconds = value.parse().ok().filter(|milliseconds| (1..=TIMEOUT_MS_MAX).contains(milliseconds));
    milliseconds.map(Duration::from_millis).ok_or_else(|| format!("{name} is a number of milliseconds, not {value}"))
}

fn decoded(text: &str, what: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        (bytes, rest) = match (first, behind) {
            (b'%', [high, low, behind @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let (high, low) = digit(high).zip(digit(low)).ok_or_else(|| format!("a % in {what} stands alone"))?;
                bytes.push((high * 16 + low) as u8);
                (bytes, behind)
            }
            (b'%', _) => return Err(format!("a % in {what} stands alone")),
            (byte, behind) => {
                bytes.push(*byte);
                (bytes, behind)
            }
        };
    }
    String::from_utf8(bytes).map_err(|_| format!("{what} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        let seen = match Address::parse(url) {
            Ok(address) => format!("{} as {} {:?}", address, address.user, address.encryption),
            Err(message) => message,
        };
        assert_eq!(seen, expected, "{url}");
    }

    #[test]
    fn a_url_names_server_user_and_database() {
        check("postgres://ann@db.example/shop", "postgres://db.example:5432/shop as ann IfPossible");
        check("postgresql://ann:pw@127.0.0.1:6000", "postgres://127.0.0.1:6000/ann as ann Never");
        check("postgres://a%40b:x%3Ay@[::1]:5433/d", "postgres://[::1]:5433/d as a@b Never");
        check("postgres://ann@db.example/d?sslmode=verify-full", "postgres://db.example:5432/d as ann Always(Verify)");
        check("postgres://ann@%2Frun%2Fpg:77/d", "PostgreSQL in /run/pg (port 77)/d as ann Never");
        check("postgres://ann@:77/d?host=/run/pg", "PostgreSQL in /run/pg (port 77)/d as ann Never");
    }

    #[test]
    fn time_outs_and_schemas_are_options() {
        let address = Address::parse("postgres://a@h/d?lock_timeout=7&schema=sales,public").unwrap();
        assert_eq!(address.lock_timeout, Duration::from_millis(7));
        assert_eq!(address.statement_timeout, STATEMENT_TIMEOUT);
        assert_eq!(address.schemas, ["sales", "public"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("mysql://a@h/d", "expected postgres://user:password@host:port/database");
        check("postgres://h/d", "no user is named: postgres://user@host/database");
        check(
            "postgres://a@h:0/d",
            "the port is no number from 1 to 65535 (in a password, / is written %2F, ? %3F and @ %40)",
        );
        check(
            "postgres://a@h/d?sslmode=verify-ca",
            "sslmode=verify-ca would trust any host; verify-full checks its name too",
        );
        check("postgres://a@h/d?lock_timeout=0", "lock_timeout is a number of milliseconds, not 0");
        check("postgres://a@h/d?schema=a,,b", "schema names none: ?schema=public,sales");
        check("postgres://a@h/%zz", "a % in the database stands alone");
        check("postgres://a@h/d%00", "it holds the character U+0000");
    }

    #[test]
    fn a_password_is_in_no_text() {
        let address = Address::parse("postgres://ann:geheim@db.example/shop").unwrap();
        assert_eq!(address.password.as_ref().unwrap().reveal(), b"geheim");
        assert!(!format!("{address:?} {address}").contains("geheim"));
        for wrong in [
            "postgres://ann:geheim%@h/d",
            "postgres://ann:geheim@h:x/d",
            "ann:geheim@h",
            "postgres://ann:/geheim@h",
            "postgres://ann:geheim/@h",
            "postgres://ann:?geheim@h/d",
        ] {
            assert!(!Address::parse(wrong).unwrap_err().contains("geheim"), "{wrong}");
        }
    }
}
