//! Clients: the proxies in front that are trusted, and what one client may take: `[clients]`, `[[client_limit]]`.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::quota::QuotaAmounts;
use crate::base::config_error::ConfigError;
use crate::base::number::optional_within;
use crate::base::origin::Origin;

/// Clients, and what each of them may take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clients {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Addresses whose connections and requests are not limited.
    pub exempt: Vec<IpNet>,
    /// Limits of requests.
    pub limits: Vec<ClientLimit>,
}

/// What one client may take of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLimit {
    /// The path, with everything below it; absent: all.
    pub path: Option<String>,
    /// How clients are told apart.
    pub by: ClientIdentity,
    /// The amounts.
    pub amounts: QuotaAmounts,
    pub(crate) origin: Origin,
}

/// How clients are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientIdentity {
    /// By address, before anyone is asked who they are; of IPv6 by network of 64 bits.
    #[default]
    Address,
    /// By user, once it is known who asks; anonymous callers by address.
    User,
}

/// Clients.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Clients")]
pub(crate) struct ClientsTable {
    /// Addresses or networks of proxies in front, such as `10.1.2.3` or `10.1.2.0/24`, whose `X-Forwarded-For` is
    /// believed. Whoever can send from there can be any client.
    #[schemars(with = "Vec<String>")]
    trusted_proxies: Vec<Spanned<String>>,
    /// Addresses or networks that no limit of connections and requests of one client is for; wrong passwords make them
    /// wait all the same.
    #[schemars(with = "Vec<String>")]
    exempt: Vec<Spanned<String>>,
}

/// What one client may take; a request must be within all limits that are for its path. What is beyond is answered 429
/// with `Retry-After`. A batch is one request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ClientLimit")]
pub(crate) struct LimitTable {
    /// The path of a service or route with everything below it, such as `/odata/v4/flights/`; absent: all paths. A service
    /// has one path for each protocol.
    path: Option<String>,
    /// How clients are told apart.
    #[serde(default)]
    by: ClientIdentity,
    /// Requests each second.
    #[serde(default, deserialize_with = "optional_within::<1, PER_SECOND_MAX, u32, _>")]
    #[schemars(range(min = 1, max = PER_SECOND_MAX))]
    requests_per_second: Option<u32>,
    /// Requests that may come at once before that counts; absent: as many as in a second.
    #[serde(default, deserialize_with = "optional_within::<1, PER_SECOND_MAX, u32, _>")]
    #[schemars(range(min = 1, max = PER_SECOND_MAX))]
    burst: Option<u32>,
    /// Requests in flight.
    #[serde(default, deserialize_with = "optional_within::<1, IN_FLIGHT_MAX, u32, _>")]
    #[schemars(range(min = 1, max = IN_FLIGHT_MAX))]
    in_flight_max: Option<u32>,
}

// What a configuration may ask for at most.
const PER_SECOND_MAX: i64 = 1_000_000;
const IN_FLIGHT_MAX: i64 = 1_000_000;
const NETWORKS_MAX: usize = 1_000;
const LIMITS_MAX: usize = 100;

/// Meaning of the tables of the file `file_name`.
///
/// # Errors
/// The first contradiction, with its place.
pub(crate) fn meaning(
    clients: ClientsTable,
    limits: Vec<Spanned<LimitTable>>,
    text: &Arc<str>,
    file_name: &Arc<str>,
) -> Result<Clients, ConfigError> {
    let networks = |all: Vec<Spanned<String>>| {
        if let Some(one) = all.get(NETWORKS_MAX) {
            let wrong = format!("expected at most {NETWORKS_MAX} of them");
            return Err(ConfigError::at(text, file_name, one.span(), &wrong));
        }
        all.into_iter()
            .map(|one| {
                network(one.as_ref()).ok_or_else(|| {
                    let wrong = "expected an address such as 10.1.2.3, or a network such as 10.1.2.0/24 (no bits beyond its mask)";
                    ConfigError::at(text, file_name, one.span(), wrong)
                })
            })
            .collect::<Result<Vec<IpNet>, ConfigError>>()
    };
    if let Some(limit) = limits.get(LIMITS_MAX) {
        return Err(ConfigError::at(text, file_name, limit.span(), &format!("expected at most {LIMITS_MAX} of them")));
    }
    let mut all: Vec<ClientLimit> = Vec::with_capacity(limits.len());
    for limit in limits {
        let limit = limit.get_ref().meaning(Origin::new(text, file_name, limit.span()))?;
        if all.contains(&limit) {
            return Err(limit.origin.wrong("this limit is there twice"));
        }
        all.push(limit);
    }
    Ok(Clients { trusted_proxies: networks(clients.trusted_proxies)?, exempt: networks(clients.exempt)?, limits: all })
}

/// A network without bits beyond its mask, or an address.
fn network(text: &str) -> Option<IpNet> {
    let network = text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))?;
    // Addresses are told without the prefix that maps IPv4 into IPv6.
    let is_mapped = matches!(network.addr(), IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
    (network.trunc() == network && !is_mapped).then_some(network)
}

impl ClientLimit {
    /// Error for one whose path is of no service and no route.
    pub(crate) fn idle(&self) -> ConfigError {
        self.origin.wrong("the limit is for nothing: expected the path of a service or a route, or one above it")
    }
}

impl LimitTable {
    fn meaning(&self, origin: Origin) -> Result<ClientLimit, ConfigError> {
        let LimitTable { path, by, requests_per_second, burst, in_flight_max } = self.clone();
        if requests_per_second.is_none() && in_flight_max.is_none() {
            return Err(origin.wrong("expected `requests_per_second` or `in_flight_max`"));
        }
        if burst.is_some() && requests_per_second.is_none() {
            return Err(origin.wrong("`burst` is for `requests_per_second`, which is not there"));
        }
        if path.as_ref().is_some_and(|path| !path.starts_with('/')) {
            return Err(origin.wrong("expected a `path` that begins with `/`"));
        }
        let burst = burst.or(requests_per_second).unwrap_or(1);
        let amounts = QuotaAmounts { per_second: requests_per_second, burst, in_flight_max };
        Ok(ClientLimit { path, by, amounts, origin })
    }
}
