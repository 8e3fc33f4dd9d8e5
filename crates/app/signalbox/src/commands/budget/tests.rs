use super::*;
use clap::Parser;
use v1::{
    Budget, BudgetStatus, LedgerEntry, Tier,
    budget::{self, Enforcement, Period},
    ledger_entry::Kind,
};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: BudgetArgs,
}

fn action(words: &str) -> Result<Action, String> {
    let words = std::iter::once("budget").chain(words.split('|'));
    Cli::try_parse_from(words).map(|cli| cli.args.action).map_err(|error| error.to_string())
}

#[test]
fn a_budget_is_typed_in_euros_and_plain_words() {
    let words = "create|--tenant|acme|team|--limit|0.5|--period|daily|--scene|search|--at|75%: notify|\
                 --at|90% before 50%: tier economy|--at|100%: refuse";
    let Action::Create(args) = action(words).unwrap() else { panic!("not a create") };
    let budget = args.budget();
    assert_eq!((budget.tenant_id.as_str(), budget.budget_id.as_str()), ("acme", "team"));
    assert_eq!((budget.limit_nano_eur, budget.period()), (500_000_000, Period::Daily));
    assert_eq!((budget.scene.as_str(), budget.enforcement()), ("search", Enforcement::Hard));
    let actions: Vec<_> = budget.thresholds.iter().map(budget::Threshold::action).collect();
    assert_eq!(actions, [budget::Action::Notify, budget::Action::LimitTier, budget::Action::Refuse]);
}

#[test]
fn only_what_is_named_changes() {
    let mut budget = Budget { limit_nano_eur: 7, enforcement: Enforcement::Hard.into(), ..Budget::default() };
    let Action::Set(args) = action("set|--tenant|acme|team|--soft").unwrap() else { panic!("not a set") };
    assert_eq!(args.write(&mut budget), ["enforcement"]);
    assert_eq!((budget.limit_nano_eur, budget.enforcement()), (7, Enforcement::Soft));
    let words = "set|--tenant|acme|team|--limit|250|--no-thresholds";
    let Action::Set(args) = action(words).unwrap() else { panic!("not a set") };
    assert_eq!(args.write(&mut budget), ["limit_nano_eur", "thresholds"]);
    assert_eq!(budget.limit_nano_eur, 250_000_000_000);
}

#[test]
fn slips_are_told_with_what_would_be_right() {
    let problem = |words: &str| action(words).unwrap_err();
    assert!(
        problem("create|--tenant|a|b|--limit|-5").contains("`-5` is no amount in euros as in 250 or 0.5")
    );
    assert!(problem("create|--tenant|a|b|--limit|5|--period|weekly").contains("there are daily, monthly"));
    assert!(problem("create|--tenant|a|b|--limit|5|--at|90%").contains("is no threshold as in"));
    assert!(problem("create|--tenant|a|b|--limit|5|--key|k|--scene|s").contains("cannot be used with"));
    assert!(problem("override|--tenant|a|b|--limit|5").contains("--reason"));
    assert!(problem("ledger|--tenant|a|--kind|theft").contains("there are limit, grant"));
}

fn team() -> Budget {
    let status = BudgetStatus {
        period_id: "2026-11".into(),
        limit_nano_eur: 250_000_000_000,
        settled_nano_eur: 230_000_000_000,
        leased_nano_eur: 1_500_000_000,
        reserved_nano_eur: 500_000_000,
        free_nano_eur: 18_000_000_000,
        threshold: "team 90%".into(),
        action: budget::Action::LimitTier.into(),
        tier: Tier::Economy.into(),
        ..BudgetStatus::default()
    };
    Budget {
        budget_id: "team".into(),
        tenant_id: "acme".into(),
        period: Period::Monthly.into(),
        limit_nano_eur: 200_000_000_000,
        enforcement: Enforcement::Hard.into(),
        thresholds: vec![threshold::threshold("90%: tier economy").unwrap()],
        status: Some(status),
        ..Budget::default()
    }
}

#[test]
fn budgets_are_shown_as_a_table() {
    let expected = "\
BUDGET  OF   PERIOD             LIMIT    SPENT   HELD    FREE   USED  NOW
team    all  monthly 2026-11  €250.00  €230.00  €2.00  €18.00  92.0%  tier economy (team 90%)";
    assert_eq!(report::all(&[team()]), expected);
    assert_eq!(report::all(&[]), "no budget");
}

#[test]
fn a_budget_is_shown_with_its_usual_limit_and_its_thresholds() {
    let shown = report::one(&team());
    assert!(shown.contains("limit     €250.00 (usually €200.00), hard\n"), "{shown}");
    assert!(shown.contains("leased    €1.50 in the hands of routers\n"), "{shown}");
    assert!(shown.ends_with("at        90%: tier economy"), "{shown}");
}

#[test]
fn a_forecast_says_when_and_how_much() {
    let exhausted = v1::ForecastBudgetResponse {
        exhaust_time: Some(prost_types::Timestamp { seconds: 1_795_392_000, nanos: 0 }),
        period_end_nano_eur: 300_000_000_000,
        daily_nano_eur: 10_000_000_000,
        basis: None,
    };
    let shown = report::forecast(&exhausted);
    assert!(
        shown.starts_with("exhausted on 2026-11-23 00:00:00 UTC at this rate\na day     €10.00\n"),
        "{shown}"
    );
    assert!(shown.ends_with("by the end of the period €300.00"), "{shown}");
    let never = report::forecast(&v1::ForecastBudgetResponse::default());
    assert!(never.starts_with("not exhausted within this period"), "{never}");
}

#[test]
fn the_ledger_tells_estimates_apart() {
    let entry = LedgerEntry {
        budget_id: "team".into(),
        period_id: "2026-11".into(),
        kind: Kind::WriteOff.into(),
        amount_nano_eur: -1_000_000,
        estimated: true,
        ..LedgerEntry::default()
    };
    let expected = "\
WHEN (UTC)  BUDGET  PERIOD   KIND         AMOUNT  REQUEST  REASON
-           team    2026-11  write off  ~-€0.001  -        -
An amount with ~ is an estimate.";
    assert_eq!(trail::entries(&[entry]), expected);
}
