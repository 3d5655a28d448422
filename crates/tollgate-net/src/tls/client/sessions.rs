//! Sessions that later connections resume, kept in memory: enough for many users who all connect anew at the same time.
//!
//! TLS 1.3 wants a ticket used once, and rustls's own store keeps eight for a server: with fifty users most handshakes
//! would be full ones. It is never written to disk.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// Tickets kept for one server; the oldest go first. Each contains the server's certificates, about 1 KB.
pub const TICKETS_MAX: usize = 4096;
/// Servers whose sessions are kept; the first known goes first.
pub const SERVERS_MAX: usize = 64;

/// The sessions of one client.
#[derive(Default)]
pub(super) struct Store {
    // One thread uses it as a rule; the lock is then free, which costs about 15 ns.
    servers: Mutex<Vec<Server>>,
}

struct Server {
    name: ServerName<'static>,
    group: Option<NamedGroup>,
    /// May be used again and again.
    tls12: Option<Tls12ClientSessionValue>,
    /// Each for one connection, the newest last.
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Store {
    /// Number of connections to this server that could resume a session now: any number with one of TLS 1.2.
    pub(super) fn ready(&self, name: &ServerName<'_>) -> usize {
        let servers = self.lock();
        servers.iter().find(|server| server.name == *name).map_or(0, |server| match server.tls12 {
            Some(_) => usize::MAX,
            None => server.tickets.len(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, name: &ServerName<'_>, read: impl FnOnce(&mut Server) -> Option<T>) -> Option<T> {
        self.lock().iter_mut().find(|server| server.name == *name).and_then(read)
    }

    fn write(&self, name: ServerName<'static>, write: impl FnOnce(&mut Server)) {
        let mut servers = self.lock();
        let position = match servers.iter().position(|server| server.name == name) {
            Some(position) => position,
            None => {
                if servers.len() == SERVERS_MAX {
                    servers.remove(0);
                }
                servers.push(Server { name, group: None, tls12: None, tickets: VecDeque::new() });
                servers.len() - 1
            }
        };
        write(&mut servers[position]);
    }
}

impl fmt::Debug for Store {
    /// Hides the content: those are secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").finish_non_exhaustive()
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.write(server_name, |server| server.group = Some(group));
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.read(server_name, |server| server.group)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.write(server_name, |server| server.tls12 = Some(value));
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.read(server_name, |server| server.tls12.clone())
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.read(server_name, |server| server.tls12.take());
    }

    fn insert_tls13_ticket(&self, server_name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.write(server_name, |server| {
            if server.tickets.len() == TICKETS_MAX {
                server.tickets.pop_front();
            }
            server.tickets.push_back(value);
        });
    }

    fn take_tls13_ticket(&self, server_name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.read(server_name, |server| server.tickets.pop_back())
    }
}

/// The same store for a full handshake: its sessions are kept, and none is taken out.
#[derive(Debug)]
pub(super) struct OnlyKept(pub(super) Arc<Store>);

impl ClientSessionStore for OnlyKept {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(server_name, group);
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.kx_hint(server_name)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.0.set_tls12_session(server_name, value);
    }

    fn tls12_session(&self, _server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _server_name: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, server_name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(server_name, value);
    }

    fn take_tls13_ticket(&self, _server_name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_beyond_the_limit_push_the_first_out() {
        let sessions = Store::default();
        let name = |number: usize| ServerName::try_from(format!("host-{number}.example")).unwrap();
        for number in 0..=SERVERS_MAX {
            sessions.set_kx_hint(name(number), NamedGroup::X25519);
        }
        assert_eq!(sessions.lock().len(), SERVERS_MAX);
        assert_eq!((sessions.kx_hint(&name(0)), sessions.kx_hint(&name(1))), (None, Some(NamedGroup::X25519)));
        assert_eq!(sessions.ready(&name(1)), 0);
    }
}
