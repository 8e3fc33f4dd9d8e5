//! Heartbeats within budgets.

use super::*;
use signalbox_api::v1::{BudgetEffect, UsageCharge};
use signalbox_ports::{Admission, Payer, Reservation, Short, SpendLimit, Standing, Worst};
use signalbox_types::Money;

/// A budget of the tenant that pays for heartbeats. Clones share it.
#[derive(Debug, Clone, Default)]
struct Purse(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    standing: Standing,
    short: bool,
    told: Vec<String>,
}

#[async_trait]
impl Admission for Purse {
    async fn standing(&self, payer: &Payer) -> Result<Standing, Failure> {
        assert_eq!((&*payer.tenant_id, &*payer.key_id, &*payer.scene), ("signalbox", "", ""));
        Ok(self.0.lock().unwrap().standing.clone())
    }

    async fn reserve(&self, _: &Payer, worst: Worst) -> Result<Box<dyn Reservation>, Short> {
        assert!(worst.cost > Money::ZERO && worst.tokens > 1);
        let mut inside = self.0.lock().unwrap();
        if inside.short {
            let failure = Failure::new(ErrorReason::BudgetExhausted, "nothing is left");
            return Err(Short { failure, available: Money::ZERO });
        }
        inside.told.push("reserve".to_owned());
        Ok(Box::new(Part { purse: self.clone(), charges: vec![UsageCharge::default()] }))
    }
}

#[derive(Debug)]
struct Part {
    purse: Purse,
    charges: Vec<UsageCharge>,
}

#[async_trait]
impl Reservation for Part {
    fn charges(&self) -> &[UsageCharge] {
        &self.charges
    }

    fn effect(&self) -> BudgetEffect {
        BudgetEffect::default()
    }

    async fn raise(&mut self, _: Money) -> Result<(), Short> {
        Ok(())
    }

    fn settle(self: Box<Self>, cost: Option<Money>, _: u64) {
        self.purse.0.lock().unwrap().told.push(format!("settle {}", cost.unwrap().nano_eur()));
    }
}

fn paying(purse: &Purse) -> Process {
    let mut process = Process::new("a", "");
    process.dependencies.admission = Arc::new(purse.clone());
    process
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_is_reserved_before_and_settled_after_by_what_its_account_says() {
    let purse = Purse::default();
    let process = paying(&purse);
    process.start();
    sleep(SECOND * 33).await;
    assert_eq!(process.vendor.calls(), 1);
    let event = process.log.0.lock().unwrap()[0].clone();
    let settled = format!("settle {}", event.cost.unwrap().nano_eur);
    assert_eq!(
        (event.charges.len(), &purse.0.lock().unwrap().told),
        (1, &vec!["reserve".to_owned(), settled])
    );
}

#[tokio::test(start_paused = true)]
async fn without_money_there_are_no_heartbeats() {
    let nothing = |inside: &mut Inside| inside.short = true;
    let refusing = |inside: &mut Inside| inside.standing.limit = SpendLimit::Refuse;
    let free_only = |inside: &mut Inside| inside.standing.limit = SpendLimit::FreeOnly;
    let little = |inside: &mut Inside| inside.standing.allowance = Some(Money::from_nano_eur(1));
    let poor: [fn(&mut Inside); 4] = [nothing, refusing, free_only, little];
    for poor in poor {
        let purse = Purse::default();
        poor(&mut purse.0.lock().unwrap());
        let process = paying(&purse);
        process.start();
        sleep(SECOND * 100).await;
        assert_eq!((process.vendor.calls(), purse.0.lock().unwrap().told.len()), (0, 0));
        assert!(process.log.0.lock().unwrap().is_empty());
    }
}
