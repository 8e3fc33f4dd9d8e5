//! Both sides of a comparison. What agrees is forgotten, so that a month takes little room.

use signalbox_api::v1::reconcile_ledger_response::Difference;
use signalbox_ports::{SpentRequest, ledger::SettledRequest};
use std::collections::BTreeMap;

/// Tenant and request.
pub(super) type Request = (String, String);

/// Requests that do not agree yet, and sums of all.
#[derive(Debug, Default)]
pub(super) struct Book {
    open: BTreeMap<Request, Sides>,
    spent: i64,
    requests: u64,
    unknown: Unknown,
}

/// Requests whose cost is not known, and what stands for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unknown {
    pub(super) requests: u64,
    pub(super) amount: i64,
}

/// What the two say of a request, by budget.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sides {
    /// Cost by the usage store, each event once.
    spent: i64,
    usage: BTreeMap<String, i64>,
    ledger: BTreeMap<String, i64>,
}

impl Book {
    /// A request as the usage store has it.
    pub(super) fn spent(&mut self, request: &SpentRequest) {
        if request.budget_ids.is_empty() {
            return;
        }
        self.spent = self.spent.saturating_add(request.amount);
        self.requests += 1;
        if let Some(amount) = request.unknown {
            self.unknown.requests += 1;
            self.unknown.amount = self.unknown.amount.saturating_add(amount);
        }
        self.change((&request.tenant_id, &request.request_id), |sides| sides.add_usage(request));
    }

    /// A request as the ledger has it.
    pub(super) fn settled(&mut self, row: &SettledRequest) {
        self.change((&row.tenant_id, &row.request_id), |sides| sides.add_ledger(row));
    }

    fn change(&mut self, (tenant_id, request_id): (&str, &str), change: impl FnOnce(&mut Sides)) {
        let key = (tenant_id.to_owned(), request_id.to_owned());
        let sides = self.open.entry(key.clone()).or_default();
        change(sides);
        if sides.agree() {
            self.open.remove(&key);
        }
    }

    /// Those that do not agree.
    pub(super) fn open(&self) -> Vec<Request> {
        self.open.keys().cloned().collect()
    }

    /// All that is known of a request, whenever it was, in place of what was found in the window.
    pub(super) fn replace<'a>(
        &mut self,
        request: &Request,
        spent: &[SpentRequest],
        settled: impl Iterator<Item = &'a SettledRequest>,
    ) {
        let mut sides = Sides::default();
        spent.iter().for_each(|request| sides.add_usage(request));
        settled.for_each(|row| sides.add_ledger(row));
        if sides.agree() {
            self.open.remove(request);
        } else {
            self.open.insert(request.clone(), sides);
        }
    }

    /// Differences after one, in order of tenant, request and budget.
    pub(super) fn differences(&self, after: Option<&[String]>) -> Vec<Difference> {
        let all = self.open.iter().flat_map(|(request, sides)| sides.differences(request));
        all.filter(|one| {
            let name = [one.tenant_id.as_str(), &one.request_id, &one.budget_id];
            after.is_none_or(|after| name.as_slice() > &*after.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect()
    }

    /// The ledger's sum and the usage store's, each request once. What is unknown is not the usage store's.
    pub(super) fn sums(&self) -> (i64, i64) {
        let more = |sum: i64, sides: &Sides| {
            let settled = sides.ledger.values().copied().max().unwrap_or(0);
            sum.saturating_add(settled).saturating_sub(sides.spent)
        };
        (self.open.values().fold(self.spent, more), self.spent.saturating_sub(self.unknown.amount))
    }

    /// What the usage store does not know.
    pub(super) fn unknown(&self) -> Unknown {
        self.unknown
    }

    /// Requests compared.
    pub(super) fn requests(&self) -> u64 {
        let of_ledger_only = self.open.values().filter(|sides| sides.usage.is_empty()).count();
        self.requests + of_ledger_only as u64
    }
}

impl Sides {
    /// Whether they say the same. Nothing booked for what nobody accounts for is no difference: so the reservation of a
    /// batch job is closed.
    fn agree(&self) -> bool {
        let is_closing = self.usage.is_empty() && self.ledger.values().all(|amount| *amount == 0);
        is_closing || self.usage == self.ledger
    }

    fn add_usage(&mut self, request: &SpentRequest) {
        self.spent = self.spent.saturating_add(request.amount);
        for budget_id in &request.budget_ids {
            let sum = self.usage.entry(budget_id.clone()).or_default();
            *sum = sum.saturating_add(request.amount);
        }
    }

    fn add_ledger(&mut self, row: &SettledRequest) {
        let sum = self.ledger.entry(row.budget_id.clone()).or_default();
        *sum = sum.saturating_add(row.amount);
    }

    fn differences(&self, (tenant_id, request_id): &Request) -> Vec<Difference> {
        let mut budgets: Vec<&String> = self.usage.keys().chain(self.ledger.keys()).collect();
        budgets.sort();
        budgets.dedup();
        let difference = |budget_id: &String| {
            let (ledger, usage) = (self.ledger.get(budget_id).copied(), self.usage.get(budget_id).copied());
            (ledger != usage).then(|| Difference {
                tenant_id: tenant_id.clone(),
                request_id: request_id.clone(),
                budget_id: budget_id.clone(),
                ledger_nano_eur: ledger,
                usage_nano_eur: usage,
            })
        };
        budgets.into_iter().filter_map(difference).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(request_id: &str, budget_ids: &[&str], amount: i64) -> SpentRequest {
        let budget_ids = budget_ids.iter().map(ToString::to_string).collect();
        SpentRequest {
            tenant_id: "acme".into(),
            request_id: request_id.into(),
            budget_ids,
            amount,
            unknown: None,
        }
    }

    fn settled(request_id: &str, budget_id: &str, amount: i64) -> SettledRequest {
        let budget_id = budget_id.into();
        SettledRequest { tenant_id: "acme".into(), request_id: request_id.into(), budget_id, amount }
    }

    #[test]
    fn what_agrees_is_forgotten_whichever_side_comes_first() {
        let mut book = Book::default();
        book.settled(&settled("r1", "daily", 5));
        book.spent(&spent("r1", &["daily", "monthly"], 5));
        assert_eq!(book.open().len(), 1);
        book.settled(&settled("r1", "monthly", 5));
        book.spent(&spent("r2", &[], 7));
        assert!(book.open().is_empty(), "one without budgets is nobody's business");
        assert_eq!((book.sums(), book.requests()), ((5, 5), 1));
    }

    #[test]
    fn what_is_unknown_is_told_by_itself_and_is_no_difference() {
        let mut book = Book::default();
        book.spent(&spent("r1", &["daily"], 5));
        book.spent(&SpentRequest { unknown: Some(70), ..spent("r2", &["daily"], 100) });
        book.settled(&settled("r1", "daily", 5));
        book.settled(&settled("r2", "daily", 100));
        assert!(book.open().is_empty());
        assert_eq!((book.sums(), book.unknown()), ((105, 35), Unknown { requests: 1, amount: 70 }));
    }

    #[test]
    fn each_side_may_lack_a_request_or_say_another_amount() {
        let mut book = Book::default();
        book.spent(&spent("r1", &["daily"], 5));
        book.settled(&settled("r2", "daily", 7));
        book.spent(&spent("r3", &["daily"], 1));
        book.settled(&settled("r3", "daily", 2));
        let told: Vec<_> = book
            .differences(None)
            .into_iter()
            .map(|one| (one.request_id, one.ledger_nano_eur, one.usage_nano_eur))
            .collect();
        let expected = [("r1", None, Some(5)), ("r2", Some(7), None), ("r3", Some(2), Some(1))]
            .map(|(id, l, u)| (id.to_owned(), l, u));
        assert_eq!(told, expected);
        assert_eq!((book.sums(), book.requests()), ((9, 6), 3));
        let after = ["acme", "r2", "daily"].map(str::to_owned);
        assert_eq!(book.differences(Some(&after)).len(), 1);
    }

    #[test]
    fn what_closes_a_reservation_costs_nothing_and_is_no_difference() {
        let mut book = Book::default();
        book.settled(&settled("job", "daily", 0));
        book.settled(&settled("free", "daily", 0));
        book.spent(&spent("free", &["daily"], 0));
        let free = ("acme".to_owned(), "free".to_owned());
        assert_eq!(book.open(), std::slice::from_ref(&free), "it is looked at again, by request");
        book.replace(&free, &[spent("free", &["daily"], 0)], [settled("free", "daily", 0)].iter());
        assert_eq!((book.open().len(), book.sums()), (0, (0, 0)));
    }

    #[test]
    fn a_request_that_was_settled_late_agrees_at_the_second_look() {
        let mut book = Book::default();
        book.spent(&spent("r1", &["daily"], 5));
        let request = ("acme".to_owned(), "r1".to_owned());
        book.replace(&request, &[spent("r1", &["daily"], 5)], [settled("r1", "daily", 5)].iter());
        assert_eq!((book.open().len(), book.sums()), (0, (5, 5)));
    }
}
