//! Budgets, for people.

use super::threshold;
use crate::commands::{euros::shown, show, when};
use signalbox_api::v1::{
    Budget, BudgetStatus, ForecastBudgetResponse, Tier,
    budget::{Action, Enforcement, Period},
};

/// A line each.
pub(super) fn all(budgets: &[Budget]) -> String {
    if budgets.is_empty() {
        return "no budget".to_owned();
    }
    let head = ["BUDGET", "OF", "PERIOD", "LIMIT", "SPENT", "HELD", "FREE", "USED", "NOW"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(budgets.iter().map(|budget| {
        let status = budget.status.clone().unwrap_or_default();
        vec![
            budget.budget_id.clone(),
            of(budget),
            period(budget, &status),
            shown(status.limit_nano_eur),
            shown(status.settled_nano_eur),
            shown(held(&status)),
            shown(status.free_nano_eur),
            used(&status),
            now(&status),
        ]
    }));
    show::table(&rows, &[3, 4, 5, 6, 7]).join("\n")
}

/// All of one.
pub(super) fn one(budget: &Budget) -> String {
    let status = budget.status.clone().unwrap_or_default();
    let usual = match budget.limit_nano_eur == status.limit_nano_eur {
        true => String::new(),
        false => format!(" (usually {})", shown(budget.limit_nano_eur)),
    };
    let hard = match budget.enforcement() {
        Enforcement::Soft => "soft: beyond it the cheapest model that will do",
        Enforcement::Hard | Enforcement::Unspecified => "hard",
    };
    let facts = [
        ("budget", budget.budget_id.clone()),
        ("tenant", budget.tenant_id.clone()),
        ("of", of(budget)),
        ("period", period(budget, &status)),
        ("until", status.period_end_time.as_ref().map(|end| when::shown(Some(end))).unwrap_or_default()),
        ("limit", format!("{}{usual}, {hard}", shown(status.limit_nano_eur))),
        ("spent", shown(status.settled_nano_eur)),
        ("leased", format!("{} in the hands of routers", shown(status.leased_nano_eur))),
        ("reserved", shown(status.reserved_nano_eur)),
        ("free", shown(status.free_nano_eur)),
        ("used", used(&status)),
        ("now", now(&status)),
    ];
    let told = facts.into_iter().filter(|(_, fact)| !fact.is_empty());
    let mut lines: Vec<String> = told.map(|(name, fact)| format!("{name:<9} {fact}")).collect();
    lines.extend(budget.thresholds.iter().map(|at| format!("{:<9} {}", "at", threshold::shown(at))));
    lines.join("\n")
}

/// When it will be used up.
pub(super) fn forecast(answer: &ForecastBudgetResponse) -> String {
    let end = match &answer.exhaust_time {
        Some(at) => format!("exhausted on {} UTC at this rate", when::shown(Some(at))),
        None => "not exhausted within this period at this rate".to_owned(),
    };
    let mut lines = vec![end, format!("a day     {}", shown(answer.daily_nano_eur))];
    if answer.period_end_nano_eur > 0 {
        lines.push(format!("by the end of the period {}", shown(answer.period_end_nano_eur)));
    }
    lines.extend(show::wire_time(answer.basis).map(|basis| format!("judged by the last {basis}")));
    lines.join("\n")
}

fn of(budget: &Budget) -> String {
    match (budget.key_id.as_str(), budget.scene.as_str()) {
        ("", "") => "all".to_owned(),
        ("", scene) => format!("scene {scene}"),
        (key, _) => format!("key {key}"),
    }
}

fn period(budget: &Budget, status: &BudgetStatus) -> String {
    match budget.period() {
        Period::Daily => format!("daily {}", status.period_id),
        Period::Monthly => format!("monthly {}", status.period_id),
        Period::Prepaid | Period::Unspecified => "prepaid".to_owned(),
    }
}

fn held(status: &BudgetStatus) -> i64 {
    status.leased_nano_eur.saturating_add(status.reserved_nano_eur)
}

/// The share of the limit that is spent.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn used(status: &BudgetStatus) -> String {
    match status.limit_nano_eur {
        limit if limit > 0 => format!("{:.1}%", status.settled_nano_eur as f64 / limit as f64 * 100.0),
        _ => "-".to_owned(),
    }
}

/// What is in force.
fn now(status: &BudgetStatus) -> String {
    match status.action() {
        Action::Unspecified => "-".to_owned(),
        action => {
            let tier = Tier::try_from(status.tier).unwrap_or_default();
            format!("{} ({})", threshold::doing(action, tier), status.threshold)
        }
    }
}
