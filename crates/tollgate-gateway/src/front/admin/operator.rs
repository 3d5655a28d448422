//! Operator access: anyone who reaches the listener by a name or address of its own, or only the operator, if one is
//! named.

use std::net::IpAddr;
use std::sync::Arc;

use tollgate_net::http1::server::Exchange;

use crate::auth::{Authentication, Local};
use crate::clients::Clients;
use crate::config;
use crate::error::Fault;

/// Realm of the challenge for operators.
const REALM: &str = "tollgate monitor";

/// Operators with access.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    name: Option<Arc<str>>,
    hosts: Arc<[String]>,
    authentication: Arc<Authentication>,
}

impl Operator {
    /// Creates the configured operator access; `authentication` is the one for `configuration`.
    pub(crate) fn new(admin: &config::Admin, authentication: Authentication) -> Operator {
        let authentication = Arc::new(authentication);
        Operator { name: admin.user.as_deref().map(Arc::from), hosts: admin.hosts.clone().into(), authentication }
    }

    /// Authentication of the operator beside `services`: always with a password, independent of the verifications for
    /// the services' users. Off if no operator is named.
    pub(crate) fn configuration(admin: &config::Admin, services: &config::Authentication) -> config::Authentication {
        config::Authentication {
            users: services.users.clone().filter(|_| admin.user.is_some()),
            realm: REALM.to_owned(),
            basic: true,
            hashes_at_once: 1,
            certificate_users: Vec::new(),
            ..services.clone()
        }
    }

    /// Creates the authentication cache of one loop.
    pub(super) fn local(&self) -> Local {
        self.authentication.local()
    }

    /// Checks that a request came to a host of ours.
    ///
    /// # Errors
    /// 421: a foreign page can point its own name here and could then read these pages.
    pub(super) fn check_host(&self, exchange: &Exchange<'_>) -> Result<(), Fault> {
        let ours = |host: &str| {
            let name = host_name(host);
            let address: Option<IpAddr> = name.parse().ok();
            // An address as it is written is looked up nowhere, so nobody can have it lead elsewhere.
            is_local(name, address)
                || address == Some(exchange.local().ip())
                || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        if exchange.request().host().is_some_and(ours) {
            return Ok(());
        }
        Err(Fault::misdirected("this listener answers only to localhost, its own address, and its configured hosts"))
    }

    /// Checks that the operator makes the request; who is refused is noted with the clients.
    ///
    /// # Errors
    /// 401 for callers not signed in, 403 for other users.
    pub(super) async fn check(&self, local: &Local, clients: &Clients, exchange: &Exchange<'_>) -> Result<(), Fault> {
        let Some(name) = &self.name else { return Ok(()) };
        let address = exchange.peer().ip();
        let caller = self.authentication.caller(local, exchange, address).await;
        let caller = caller.inspect_err(|fault| clients.note_caller(address, fault))?;
        match (caller.name(), self.authentication.challenge()) {
            (Some(caller), _) if caller == name => Ok(()),
            (Some(_), _) => Err(Fault::forbidden("operator", "this user is not the operator")),
            (None, Some(challenge)) => Err(Fault::unauthenticated(challenge, "expected the operator to sign in")),
            (None, None) => Err(Fault::internal("an operator is named, but no passwords are taken")),
        }
    }
}

/// The host without its port: `localhost`, `127.0.0.1`, `::1`.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn is_local(name: &str, address: Option<IpAddr>) -> bool {
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:9090", true),
            ("127.0.0.1:9090", true),
            ("127.8.8.8", true),
            ("[::1]:9090", true),
            ("[::1]", true),
            ("example.org", false),
            ("127.0.0.1.example.org", false),
            ("localhost.example.org:80", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            let name = host_name(host);
            assert_eq!(is_local(name, name.parse().ok()), expected, "{host}");
        }
    }
}
