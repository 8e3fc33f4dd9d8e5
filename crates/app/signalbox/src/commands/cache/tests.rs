use super::*;
use clap::Parser;
use v1::{
    CacheStats, Cost, ExplainCacheResponse, GetCacheStatsResponse, InvalidateRequest, Purpose,
    cache_effect::Outcome, explain_cache_response::Check, invalidate_request::Scope,
};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: CacheArgs,
}

fn parsed(words: &str) -> Result<Action, clap::Error> {
    Cli::try_parse_from(["cache"].into_iter().chain(words.split(' '))).map(|cli| cli.args.action)
}

fn invalidation(words: &str) -> InvalidateRequest {
    match parsed(&format!("invalidate --tenant acme {words}")).unwrap() {
        Action::Invalidate(which) => which.request(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_invalidation_names_one_scope() {
    for (words, scope) in [
        ("--everything", Scope::Everything(true)),
        ("--task-type headline", Scope::TaskType("headline".into())),
        ("--locale it-IT", Scope::Locale("it-IT".into())),
        ("--requested alias:fast", Scope::Requested("alias:fast".into())),
        ("--template headline@3", Scope::PromptTemplate("headline@3".into())),
        ("--reference article-7", Scope::Reference("article-7".into())),
        ("--entry 00ff", Scope::EntryId("00ff".into())),
    ] {
        let request = invalidation(words);
        assert_eq!((request.scope, request.wait, &*request.tenant_id), (Some(scope), false, "acme"));
    }
    assert!(invalidation("--everything --erase").erase);
    for wrong in ["", " --everything --locale it-IT"] {
        parsed(&format!("invalidate --tenant acme{wrong}")).unwrap_err();
    }
}

#[test]
fn two_requests_differ_in_their_instructions_alone() {
    let words = "explain --stored Write second --content Text --task-type headline --locale en-GB";
    let Action::Explain(explain) = parsed(words).unwrap() else { panic!() };
    let request = explain.request().unwrap();
    let (stored, asked) = (request.stored.unwrap(), request.asked.unwrap());
    let texts = |request: &v1::GenerateRequest| -> Vec<(String, Purpose)> {
        let parts = &request.messages[0].content;
        let text = |part: &v1::Part| match &part.part {
            Some(v1::part::Part::Text(text)) => (text.clone(), part.purpose()),
            other => panic!("{other:?}"),
        };
        parts.iter().map(text).collect()
    };
    let content = ("Text".to_owned(), Purpose::Content);
    assert_eq!(texts(&stored), [("Write".to_owned(), Purpose::Instruction), content.clone()]);
    assert_eq!(texts(&asked), [("second".to_owned(), Purpose::Instruction), content]);
    assert_eq!((&*stored.task_type, &*asked.locale), ("headline", "en-GB"));
}

#[test]
fn figures_are_shown_by_kind_of_work() {
    let stats = CacheStats {
        task_type: "headline".into(),
        entries: 3,
        bytes: 5000,
        lookups: 10,
        exact_hits: 3,
        normalized_hits: 1,
        bypassed: [("tools".to_owned(), 1), ("temperature".to_owned(), 5)].into(),
        saved: Some(Cost { nano_eur: 1_500_000_000, ..Default::default() }),
        ..Default::default()
    };
    let answer = GetCacheStatsResponse { stats: vec![CacheStats::default(), stats], window: None };
    let expected = "\
task type  headline
kept       3 answers, 5 KiB
lookups    10
hits       4 (40.0 %)
           3 exact, 1 normalised
saved      €1.50, no time
bypassed   temperature 5, tools 1";
    assert_eq!(report::stats(&answer), expected);
    assert_eq!(
        report::stats(&GetCacheStatsResponse::default()),
        "nothing was looked up, and nothing is kept"
    );
}

#[test]
fn every_check_is_shown_and_what_comes_of_them() {
    let check = |name: &str, passed, detail: &str| Check { name: name.into(), passed, detail: detail.into() };
    let answer = ExplainCacheResponse {
        outcome: Outcome::Miss.into(),
        checks: vec![check("partition", true, ""), check("negation", false, "`not` is in one only")],
        similarity: Some(0.97),
    };
    let expected = "\
not shared
similarity 0.970

CHECK                  WHAT
partition  passed
negation   NOT PASSED  `not` is in one only";
    assert_eq!(report::explained(&answer), expected);
}
