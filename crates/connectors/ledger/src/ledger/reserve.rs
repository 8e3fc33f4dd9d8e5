//! Money is set aside for one spender: in all accounts it asks for, or in none.

use super::{
    account,
    books::Books,
    entry::Entry,
    operation::{self, kind},
    reservation::Reservation,
};
use crate::stored::nanos;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::{Account, Opening, ReserveAsk, Reserved};
use signalbox_sql::Session;

pub(super) async fn reserve(session: &mut Session<'_>, ask: &ReserveAsk, now: i64) -> sqlx::Result<Reserved> {
    let mut books = account::lock(session, &ask.accounts, now).await?;
    if operation::result(session, kind::RESERVE, &ask.reservation_id).await?.is_some() {
        return Ok(Reserved::All(accounts(ask, &books)));
    }
    let is_short = |opening: &Opening| opening.hard && ask.amount > books.free(&opening.key).max(0);
    if let Some(short) = ask.accounts.iter().position(is_short) {
        books.save(session).await?;
        return Ok(Reserved::Short { accounts: accounts(ask, &books), short });
    }
    for opening in &ask.accounts {
        set_aside(&mut books, ask, opening);
    }
    operation::record(session, kind::RESERVE, &ask.reservation_id, String::new()).await?;
    books.save(session).await?;
    Ok(Reserved::All(accounts(ask, &books)))
}

fn set_aside(books: &mut Books, ask: &ReserveAsk, opening: &Opening) {
    let nothing = Reservation {
        reservation_id: ask.reservation_id.clone(),
        account: opening.key.clone(),
        request_id: ask.request_id.clone(),
        is_open: 1,
        amount: 0,
        settled: 0,
        expires_at: nanos(ask.expires_at),
    };
    let part = nothing.part();
    books.reservations.insert(part.clone(), nothing);
    books.change_reservation(&part, |reservation| reservation.amount = ask.amount);
    let entry = Entry::new(Kind::Reserve, opening.key.clone(), ask.amount);
    books.enter(entry.of(&ask.reservation_id).request(&ask.request_id));
}

fn accounts(ask: &ReserveAsk, books: &Books) -> Vec<Account> {
    ask.accounts.iter().map(|opening| books.account(&opening.key)).collect()
}
