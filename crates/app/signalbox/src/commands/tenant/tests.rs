use super::*;
use clap::Parser;
use v1::{RateLimit, Tier, tenant::FailureMode};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: TenantArgs,
}

fn action(words: &str) -> Result<Action, String> {
    let words = std::iter::once("tenant").chain(words.split('|'));
    Cli::try_parse_from(words).map(|cli| cli.args.action).map_err(|error| error.to_string())
}

#[test]
fn what_is_said_of_a_tenant_is_written_and_nothing_else() {
    let words = "update|acme|--name|Acme|--tiers|standard,economy|--allow|openai/*|--allow|fast|\
                 --requests-per-minute|60|--require-known-cost|--failure-mode|open|--weights|bulk: cost=3|\
                 --scene|search: priority=1|--clear|plan";
    let Action::Update(args) = action(words).unwrap() else { panic!("not an update") };
    let was = RateLimit { tokens_per_minute: 5, ..RateLimit::default() };
    let mut tenant = v1::Tenant { locale: "it".into(), rate_limit: Some(was), ..v1::Tenant::default() };
    let mut written = args.write.fields.write(&mut tenant);
    written.sort();
    let expected = [
        "allowed_models",
        "allowed_tiers",
        "display_name",
        "failure_mode",
        "rate_limit",
        "require_known_cost",
        "scenes",
        "weights",
    ];
    assert_eq!(written, expected);
    assert_eq!((tenant.display_name.as_str(), tenant.locale.as_str()), ("Acme", "it"));
    assert_eq!(tenant.allowed_tiers().collect::<Vec<_>>(), [Tier::Standard, Tier::Economy]);
    assert_eq!(tenant.allowed_models, ["openai/*", "fast"]);
    assert_eq!(tenant.failure_mode(), FailureMode::Open);
    assert_eq!(tenant.weights["bulk"].factors["cost"], 3.0);
    let limit = RateLimit { requests_per_minute: 60, ..was };
    assert_eq!(tenant.rate_limit, Some(limit), "what is not named stays");
    assert_eq!(args.cleared, ["plan"]);
}

#[test]
fn slips_are_told_with_what_there_is() {
    assert!(action("create|acme|--tiers|cheap").unwrap_err().contains("there is no tier `cheap`"));
    assert!(action("create|acme|--failure-mode|ajar").unwrap_err().contains("there are closed and open"));
    assert!(action("create|acme|--weights|bulk").unwrap_err().contains("as in `bulk: cost=3"));
    let problem = fields::clear(&mut v1::Tenant::default(), "colour").unwrap_err().to_string();
    assert!(problem.contains("a tenant has no `colour`; there are display_name"), "{problem}");
}

#[test]
fn tenants_are_shown_as_a_table() {
    let acme = v1::Tenant {
        tenant_id: "acme".into(),
        state: State::Suspended.into(),
        time_zone: "Europe/Rome".into(),
        rate_limit: Some(RateLimit { requests_per_minute: 60, ..RateLimit::default() }),
        ..v1::Tenant::default()
    };
    let other = v1::Tenant { tenant_id: "other".into(), plan: "newsroom".into(), ..v1::Tenant::default() };
    let expected = "\
TENANT  NAME  STATE      PLAN      TIME ZONE    LIMITS
acme    -     SUSPENDED  -         Europe/Rome  60 requests/min
other   -     active     newsroom  UTC          -";
    assert_eq!(report::all(&[acme.clone(), other]), expected);
    assert_eq!(report::all(&[]), "no tenant");
    let one = report::one(&acme);
    assert!(
        one.contains("state      SUSPENDED\ntime zone  Europe/Rome\nlimits     60 requests/min"),
        "{one}"
    );
}
