//! A `[[service]]` of kind `echo` or `stock-quote`: what stands behind mediators. Neither has a database or work processes,
//! and neither is served unless it is asked for.
//!
//! [`BuiltIn`] names all services that need nothing but their name.

use super::{Config, Kind, Service};
use crate::built_in::echo::config::Echo;

/// The stock quotes. There is nothing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StockQuote;

/// What stands behind mediators.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backends {
    /// The echo, where it is served.
    pub echo: Option<Echo>,
    /// The stock quotes, where they are served.
    pub stock_quote: Option<StockQuote>,
}

/// A service that needs nothing but its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// The flight service, in memory unless the configuration says otherwise.
    Flights,
    /// The records service, the same.
    Records,
    /// The Fibonacci service.
    Fibonacci,
    /// The echo.
    Echo,
    /// The stock quotes.
    StockQuote,
}

impl Config {
    /// Has just these services served: as the configuration has them, or as they are by default.
    pub fn serve_only(&mut self, services: &[BuiltIn]) {
        let serves = |service| services.contains(&service);
        let of_databases =
            [(BuiltIn::Flights, Service::flights as fn() -> Service), (BuiltIn::Records, Service::records)];
        let of_databases = of_databases.into_iter().filter(|(name, _)| serves(*name)).map(|(_, service)| service());
        let configured = |service: Service| {
            let same = |other: &&Service| other.name == service.name && !matches!(other.kind, Kind::Database { .. });
            self.services.iter().find(same).cloned().unwrap_or(service)
        };
        self.services = of_databases.map(configured).collect();
        let Backends { echo, stock_quote } = &self.backends;
        self.backends = Backends {
            echo: serves(BuiltIn::Echo).then(|| echo.clone().unwrap_or_default()),
            stock_quote: serves(BuiltIn::StockQuote).then(|| stock_quote.unwrap_or_default()),
        };
        let fibonacci = self.fibonacci.take();
        self.fibonacci = serves(BuiltIn::Fibonacci).then(|| fibonacci.unwrap_or_default());
    }
}
