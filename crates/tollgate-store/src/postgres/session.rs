//! An open connection with its prepared statements, and the code to open it.
//!
//! It never reopens itself: its holder knows what may be repeated.

use std::collections::HashMap;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::{Client, GenericClient, NoTls, Statement};
use tokio_postgres::Config;
use tollgate_net::tls::{TlsChoice, Upgrade};

use super::address::{Address, Encryption, Host};
use super::failure::Failure;
use super::tls::Encrypted;

/// Prepared statements kept by a connection; the least recently used one is dropped.
const STATEMENTS_MAX: usize = 128;

/// Keepalive: time until a silent connection is probed, interval of the probes, and their number.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// Time that the network may stay silent beyond the longest time of a statement.
const SILENCE_MARGIN: Duration = Duration::from_secs(10);

/// Opens the sessions of one database.
#[derive(Debug)]
pub(super) struct Opener {
    config: Config,
    upgrade: Option<Upgrade>,
}

/// An open connection.
pub(super) struct Session {
    /// Absent only when the session ends.
    client: Option<Client>,
    statements: Statements,
    constraints: DeferredConstraints,
}

/// Statements that check the deferred constraints, and defer them again.
enum DeferredConstraints {
    /// The catalogue was not queried yet.
    Unknown,
    None,
    Checked(Box<str>),
}

/// The query for these statements; null if no constraint is deferred. A name that a constraint shares with others that
/// are not deferred cannot be deferred again.
const CHECK_CONSTRAINTS: &str = "SELECT 'SET CONSTRAINTS ALL IMMEDIATE' || \
     coalesce('; SET CONSTRAINTS ' || string_agg(DISTINCT d.name, ', ') FILTER (WHERE d.alone) || ' DEFERRED', '') \
     FROM (SELECT format('%I.%I', n.nspname, c.conname) AS name, NOT EXISTS (SELECT FROM pg_constraint AS o \
     WHERE o.connamespace = c.connamespace AND o.conname = c.conname AND NOT o.condeferred) AS alone \
     FROM pg_constraint AS c JOIN pg_namespace AS n ON n.oid = c.connamespace \
     WHERE c.condeferred AND has_schema_privilege(n.oid, 'USAGE')) AS d HAVING count(*) > 0";

/// Prepared statements by their text.
#[derive(Default)]
pub(super) struct Statements {
    kept: HashMap<Box<str>, (Statement, u64)>,
    uses: u64,
}

impl Opener {
    /// # Errors
    /// Certificates must be checked and this machine has no root certificates.
    pub(super) fn new(address: &Address) -> Result<Opener, String> {
        let mut config = Config::new();
        match &address.host {
            Host::Tcp(host, port) => config.host(host).port(*port),
            Host::Folder(folder, port) => config.host_path(folder).port(*port),
        };
        config.user(&address.user).dbname(&address.database).application_name("tollgate");
        if let Some(password) = &address.password {
            config.password(password.reveal());
        }
        let upgrade = match (&address.host, address.encryption) {
            (Host::Folder(..), _) | (_, Encryption::Never) => {
                config.ssl_mode(SslMode::Disable);
                None
            }
            (Host::Tcp(..), Encryption::IfPossible) => {
                config.ssl_mode(SslMode::Prefer);
                Some(Upgrade::new(TlsChoice::Insecure, PROTOCOL)?)
            }
            (Host::Tcp(..), Encryption::Always(choice)) => {
                config.ssl_mode(SslMode::Require);
                Some(Upgrade::new(choice, PROTOCOL)?)
            }
        };
        config.connect_timeout(address.connect_timeout);
        config.tcp_user_timeout(address.statement_timeout + SILENCE_MARGIN);
        config.keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
        config.keepalives_retries(KEEPALIVE_RETRIES);
        config.options(options(address));
        Ok(Opener { config, upgrade })
    }

    /// Opens a connection and logs in.
    pub(super) fn open(&self) -> Result<Session, Failure> {
        let config = postgres::Config::from(self.config.clone());
        let client = match &self.upgrade {
            Some(upgrade) => config.connect(Encrypted(upgrade.clone())),
            None => config.connect(NoTls),
        };
        Ok(Session {
            client: Some(client.map_err(Failure::opening)?),
            statements: Statements::default(),
            constraints: DeferredConstraints::Unknown,
        })
    }
}

impl Opener {
    /// Opens a connection on the caller's runtime, which drives it.
    pub(super) async fn open_here(&self) -> Result<tokio_postgres::Client, Failure> {
        // What ends a connection is told to whoever waits for an answer on it.
        match &self.upgrade {
            Some(upgrade) => {
                let opened = self.config.connect(Encrypted(upgrade.clone())).await;
                let (client, connection) = opened.map_err(Failure::opening)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(client)
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(Failure::opening)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(client)
            }
        }
    }
}

/// The name of PostgreSQL's protocol in TLS (ALPN).
const PROTOCOL: &str = "postgresql";

/// The settings of a session, in the format of the server's command line. Texts of dates and numbers depend on them.
fn options(address: &Address) -> String {
    let mut settings = vec![
        ("DateStyle", "ISO,YMD".to_owned()),
        ("IntervalStyle", "iso_8601".to_owned()),
        ("TimeZone", "UTC".to_owned()),
        ("client_min_messages", "error".to_owned()),
        ("statement_timeout", address.statement_timeout.as_millis().max(1).to_string()),
        ("lock_timeout", address.lock_timeout.as_millis().max(1).to_string()),
    ];
    if !address.schemas.is_empty() {
        let quoted = |schema: &String| format!("\"{}\"", schema.replace('"', "\"\""));
        settings.push(("search_path", address.schemas.iter().map(quoted).collect::<Vec<_>>().join(",")));
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace(' ', "\\ ");
    settings.iter().map(|(name, value)| format!("-c {name}={}", escaped(value))).collect::<Vec<_>>().join(" ")
}

impl Session {
    pub(super) fn parts(&mut self) -> (&mut Client, &mut Statements) {
        (self.client.as_mut().expect("a session has its client until it ends"), &mut self.statements)
    }

    /// Checks all deferred constraints.
    pub(super) fn check_constraints(&mut self) -> Result<(), Failure> {
        if let DeferredConstraints::Unknown = self.constraints {
            let found = self.parts().0.query_opt(CHECK_CONSTRAINTS, &[])?;
            self.constraints = match found {
                Some(row) => DeferredConstraints::Checked(row.try_get::<_, String>(0)?.into()),
                None => DeferredConstraints::None,
            };
        }
        let Session { client, constraints, .. } = self;
        match (constraints, client) {
            (DeferredConstraints::Checked(text), Some(client)) => Ok(client.batch_execute(text)?),
            _ => Ok(()),
        }
    }

    /// Runs statements that take and give no values.
    pub(super) fn run(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.parts().0.batch_execute(text)?)
    }
}

/// Closes the connection on a thread of its own: the crate notifies the server on its own runtime, which a thread
/// driving another must not do.
impl Drop for Session {
    fn drop(&mut self) {
        let client = self.client.take();
        self.statements.kept.clear();
        // Without a thread the server finds out by itself.
        let _ = std::thread::Builder::new().name("goodbye".to_owned()).spawn(move || drop(client));
    }
}

impl Statements {
    /// A statement, prepared now or earlier.
    pub(super) fn prepared(&mut self, client: &mut impl GenericClient, text: &str) -> Result<Statement, Failure> {
        self.uses += 1;
        if let Some((statement, used)) = self.kept.get_mut(text) {
            *used = self.uses;
            return Ok(statement.clone());
        }
        let statement = client.prepare(text)?;
        if self.kept.len() >= STATEMENTS_MAX {
            let oldest = self.kept.iter().min_by_key(|(_, (_, used))| *used).map(|(text, _)| text.clone());
            oldest.and_then(|text| self.kept.remove(&text));
        }
        self.kept.insert(text.into(), (statement.clone(), self.uses));
        Ok(statement)
    }

    /// Forgets all of them: they are prepared again on next use.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
    }
}
