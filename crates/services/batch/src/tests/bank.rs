//! A ledger with one budget for everybody, but for what is of the scene `poor`.

use signalbox_api::{
    status::to_status,
    v1::{
        BudgetEffect, ReserveRequest, ReserveResponse, SettleRequest, SettleResponse, UsageCharge,
        budget_effect::Outcome,
    },
};
use signalbox_kit::{Hop, hop};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::{BTreeMap, HashSet},
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tonic::{Request, Response, Status, body::Body, server::Grpc};
use tonic_prost::ProstCodec;
use tower::service_fn;

/// The ledger. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bank(Arc<Mutex<Books>>);

#[derive(Debug, Default)]
struct Books {
    /// What is left of each reservation; nothing of one that is closed.
    held: BTreeMap<String, i64>,
    /// Reservations that were ever made: none is made twice.
    made: HashSet<String>,
    reserved: i64,
    settled: i64,
    booked: HashSet<String>,
    /// What was settled after its reservation was closed.
    uncovered: i64,
}

impl Bank {
    /// What is set aside.
    pub(crate) fn held(&self) -> i64 {
        self.0.lock().unwrap().held.values().sum()
    }

    /// All that was ever reserved, what was settled, and how much of that was not covered.
    pub(crate) fn sums(&self) -> (i64, i64, i64) {
        let books = self.0.lock().unwrap();
        (books.reserved, books.settled, books.uncovered)
    }

    fn reserve(&self, asked: ReserveRequest) -> Result<Response<ReserveResponse>, Status> {
        if asked.scene == "poor" {
            return Err(to_status(&Failure::new(ErrorReason::BudgetExhausted, "nothing is left")));
        }
        let mut books = self.0.lock().unwrap();
        if books.made.insert(asked.reservation_id.clone()) {
            books.held.insert(asked.reservation_id.clone(), asked.amount_nano_eur);
            books.reserved += asked.amount_nano_eur;
        }
        let charge = UsageCharge {
            budget_id: "monthly".into(),
            period_id: "2026-11".into(),
            reservation_id: asked.reservation_id,
            reserved_nano_eur: asked.amount_nano_eur,
            ..Default::default()
        };
        let effect = BudgetEffect { outcome: Outcome::Admitted.into(), ..Default::default() };
        Ok(Response::new(ReserveResponse {
            charges: vec![charge],
            effect: Some(effect),
            ..Default::default()
        }))
    }

    fn settle(&self, asked: SettleRequest) -> Result<Response<SettleResponse>, Status> {
        let mut books = self.0.lock().unwrap();
        for settlement in asked.settlements {
            if !books.booked.insert(settlement.settlement_id) {
                continue;
            }
            books.settled += settlement.amount_nano_eur;
            let id = &settlement.charges[0].reservation_id;
            let Some(left) = books.held.get_mut(id) else {
                books.uncovered += settlement.amount_nano_eur;
                continue;
            };
            *left -= settlement.amount_nano_eur;
            if !settlement.more_follow {
                books.held.remove(id);
            }
        }
        Ok(Response::new(SettleResponse::default()))
    }

    pub(crate) fn hop(&self) -> Hop {
        let bank = self.clone();
        hop::local(service_fn(move |request: http::Request<Body>| {
            let (reserving, settling) = (bank.clone(), bank.clone());
            let reserve = service_fn(move |request: Request<ReserveRequest>| {
                let answer = reserving.reserve(request.into_inner());
                async { answer }
            });
            let settle = service_fn(move |request: Request<SettleRequest>| {
                let answer = settling.settle(request.into_inner());
                async { answer }
            });
            async move {
                let answer = if request.uri().path().ends_with("/Reserve") {
                    Grpc::new(ProstCodec::default()).unary(reserve, request).await
                } else {
                    Grpc::new(ProstCodec::default()).unary(settle, request).await
                };
                Ok::<_, Infallible>(answer)
            }
        }))
    }
}
