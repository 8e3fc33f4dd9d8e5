//! Holding on to a lead, and giving it up.

use crate::{cache::Cache, flights::FlightKey, token::Token};
use signalbox_api::{convert::duration_to_proto, v1};
use signalbox_types::Failure;
use std::time::Duration;
use tokio::time::timeout;

/// How long the store is asked.
const PATIENCE: Duration = Duration::from_secs(1);

impl Cache {
    /// Holds on to a lead.
    pub(crate) async fn renew(
        &self,
        request: v1::RenewFlightRequest,
    ) -> Result<v1::RenewFlightResponse, Failure> {
        let (key, owner) = self.flight(&request.lookup_token)?;
        let ttl = self.dependencies.options.flight_ttl;
        let here = self.flights.renew(key, &owner);
        let renewed = self.dependencies.store.renew_lead(key.0, key.1, &owner, ttl);
        let leads = match timeout(PATIENCE, renewed).await {
            Ok(Ok(leads)) => leads,
            // The store does not say: what this process knows counts.
            Ok(Err(_)) | Err(_) => here,
        };
        if here && !leads {
            self.flights.lose(key, &owner);
        }
        Ok(v1::RenewFlightResponse { flight_ttl: leads.then(|| duration_to_proto(ttl)) })
    }

    /// Gives a lead up.
    pub(crate) async fn give_up(
        &self,
        request: v1::ReleaseFlightRequest,
    ) -> Result<v1::ReleaseFlightResponse, Failure> {
        let (key, owner) = self.flight(&request.lookup_token)?;
        // Whoever took over would likely fail in the same way, and the next after it: all go on at once.
        self.flights.abandon(key);
        self.release(key, &owner).await;
        Ok(v1::ReleaseFlightResponse {})
    }

    fn flight(&self, token: &str) -> Result<(FlightKey, String), Failure> {
        if token.is_empty() {
            return Err(Failure::invalid("lookup_token", "is required"));
        }
        let (token, tenant) = Token::read(token, &self.tenants)?;
        if token.owner.is_empty() {
            return Err(Failure::invalid(
                "lookup_token",
                "is of a lookup that does not lead: it had no flight_ttl",
            ));
        }
        Ok(((tenant.digest(), token.key()), token.owner))
    }
}
