//! The operator's own listener: `[admin]`.
//!
//! [`AdminTable`] is what stands in the file. Where it may listen depends on whether the operator signs in, so [`Admin`] is
//! checked together with the users.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::auth::config::{Authentication, PlainBasic};

/// The operator's own listener: a page (`/`), `/status.json`, `/metrics`, `/healthz`, `/readyz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    /// Where it is.
    pub address: SocketAddr,
    /// The user who must sign in; `None`: nobody must.
    pub user: Option<String>,
    /// Names by which it is reached, beside loopback's and its own address.
    pub hosts: Vec<String>,
}

/// The operator's own listener: a page (`/`), `/status.json`, `/metrics`, `/healthz`, `/readyz`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Admin")]
pub(super) struct AdminTable {
    /// A loopback address, unless the operator signs in; port 0 takes any that is free.
    #[schemars(with = "String")]
    address: Spanned<SocketAddr>,
    /// A user of the users file, who alone may look; only `/healthz` and `/readyz` are for everybody then. Absent: whoever
    /// reaches the listener is the operator.
    #[schemars(with = "Option<String>", length(min = 1))]
    user: Option<Spanned<String>>,
    /// Names by which it is reached, without ports. It always answers to `localhost`, to loopback addresses and to the very
    /// address that a connection came to; a request for any other host is refused.
    hosts: Vec<String>,
}

impl Admin {
    /// Whether it may listen there.
    ///
    /// # Errors
    /// Says why not.
    pub fn check(&self, authentication: &Authentication) -> Result<(), String> {
        let address = self.address;
        if self.user.is_some() && authentication.users.is_none() {
            return Err("expected a users file (`[users]`) that has the operator".to_owned());
        }
        if address.ip().is_loopback() {
            return Ok(());
        }
        if self.user.is_none() {
            let rule = "elsewhere the operator must sign in (`user`)";
            return Err(format!("expected a loopback address such as 127.0.0.1:9090, found {address}: {rule}"));
        }
        if authentication.plain_basic == PlainBasic::Loopback {
            return Err(format!(
                "expected a loopback address such as 127.0.0.1:9090, found {address}: the operator's password would cross \
                 the network as it is, unless `authentication.plain_basic` allows that"
            ));
        }
        Ok(())
    }
}

impl AdminTable {
    /// What it means.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(super) fn meaning(self, authentication: &Authentication) -> Result<Admin, (Range<usize>, String)> {
        let user_at = self.user.as_ref().map(Spanned::span);
        let address_at = self.address.span();
        let user = self.user.map(Spanned::into_inner);
        if user.as_deref() == Some("") {
            return Err((user_at.unwrap_or_default(), "expected the name of a user".to_owned()));
        }
        let admin = Admin { address: self.address.into_inner(), user, hosts: self.hosts };
        let at = match (user_at, authentication.users.is_some()) {
            (Some(user_at), false) => user_at,
            _ => address_at,
        };
        admin.check(authentication).map_err(|wrong| (at, wrong))?;
        Ok(admin)
    }
}

impl Default for Admin {
    fn default() -> Admin {
        Admin { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), user: None, hosts: Vec::new() }
    }
}

impl Default for AdminTable {
    fn default() -> AdminTable {
        AdminTable { address: Spanned::new(0..0, Admin::default().address), user: None, hosts: Vec::new() }
    }
}
