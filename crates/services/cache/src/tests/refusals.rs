//! What callers get wrong.

use super::world::{World, answer, context, request};
use signalbox_api::v1::{
    LookupRequest, ReleaseFlightRequest, RenewFlightRequest, ReportHitRequest, StoreRequest,
    cache_service_server::CacheService as _, report_hit_request::Verdict,
};
use tonic::Request;

type Change<T> = fn(&mut T);

#[tokio::test(start_paused = true)]
async fn a_lookup_without_what_it_takes_is_refused_by_name() {
    let world = World::new();
    let whole = || {
        let request = request("Name the topic", "Rain.");
        LookupRequest { context: Some(context(&request)), request: Some(request), wait: None }
    };
    let changes: [(&str, Change<LookupRequest>); 5] = [
        ("request: is required", |lookup| lookup.request = None),
        ("context: is required", |lookup| lookup.context = None),
        ("request.tenant_id: is required", |lookup| lookup.request.as_mut().unwrap().tenant_id.clear()),
        ("context.requested: is required", |lookup| lookup.context.as_mut().unwrap().requested.clear()),
        ("messages", |lookup| lookup.request.as_mut().unwrap().messages.clear()),
    ];
    for (problem, change) in changes {
        let mut lookup = whole();
        change(&mut lookup);
        let status = world.service.lookup(Request::new(lookup)).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument);
        assert!(status.message().contains(problem), "{}", status.message());
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_good_only_for_what_it_was_given_for() {
    let world = World::new();
    let asked = request("Name the topic", "Rain.");
    let token = world.ask(&asked).await.lookup_token;
    let mut theirs = asked.clone();
    theirs.tenant_id = "other".into();
    let store = |request: &signalbox_api::v1::GenerateRequest, lookup_token: &str| {
        Request::new(StoreRequest {
            request: Some(request.clone()),
            context: Some(context(request)),
            answer: Some(answer("weather")),
            lookup_token: lookup_token.to_owned(),
        })
    };
    let status = world.service.store(store(&theirs, &token)).await.unwrap_err();
    assert!(status.message().contains("lookup_token: is of another tenant's"), "{}", status.message());
    let status = world.service.store(store(&asked, "made.up")).await.unwrap_err();
    assert!(status.message().contains("lookup_token:"));
    let mut without = store(&asked, "").into_inner();
    without.answer = None;
    let status = world.service.store(Request::new(without)).await.unwrap_err();
    assert!(status.message().contains("answer: is required"));
    let mut nobodys = store(&asked, "").into_inner();
    nobodys.answer.as_mut().unwrap().vendor.clear();
    let status = world.service.store(Request::new(nobodys)).await.unwrap_err();
    assert!(status.message().contains("answer.vendor: is required"));
    let mut negative = store(&asked, "").into_inner();
    negative.answer.as_mut().unwrap().cost.get_or_insert_default().nano_eur = -1;
    let status = world.service.store(Request::new(negative)).await.unwrap_err();
    assert!(status.message().contains("answer.cost: must not be negative"));

    let second = world.ask(&asked).await.lookup_token;
    for (token, problem) in [("", "is required"), ("x", "is none"), (&*second, "does not lead")] {
        let renew = RenewFlightRequest { lookup_token: token.into() };
        let status = world.service.renew_flight(Request::new(renew)).await.unwrap_err();
        assert!(status.message().contains(problem), "{}", status.message());
        let release = ReleaseFlightRequest { lookup_token: token.into() };
        assert!(world.service.release_flight(Request::new(release)).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_says_whose_of_what_and_how_it_was() {
    let world = World::new();
    let whole = || ReportHitRequest {
        tenant_id: "acme".into(),
        entry_id: "00".repeat(16),
        request_id: "7".into(),
        verdict: Verdict::Wrong.into(),
    };
    world.service.report_hit(Request::new(whole())).await.unwrap();
    let changes: [(&str, Change<ReportHitRequest>); 4] = [
        ("tenant_id:", |report| report.tenant_id.clear()),
        ("entry_id:", |report| report.entry_id = "x".into()),
        ("request_id:", |report| report.request_id.clear()),
        ("verdict:", |report| report.verdict = 0),
    ];
    for (problem, change) in changes {
        let mut report = whole();
        change(&mut report);
        let status = world.service.report_hit(Request::new(report)).await.unwrap_err();
        assert!(status.message().contains(problem), "{}", status.message());
    }
}
