use crate::{
    samples::{NOW, event},
    world::{World, ago},
};
use prost_types::Timestamp;
use signalbox_api::{
    status::from_status,
    v1::{
        self, Alert, DiscardDeadLettersRequest, GetOverageRequest, GetRequestRequest, ListAlertsRequest,
        ListDeadLettersRequest, ListRequestsRequest, Overage, QueryUsageRequest, ReplayDeadLettersRequest,
        UsageDimension, UsageEvent, UsageFilter, alert::State, dead_letter::Reason, overage::Measure,
        query_usage_request::Interval, usage_service_server::UsageService,
    },
};
use signalbox_ports::Letter;
use signalbox_types::{ErrorReason, Failure};
use tonic::{Request, Response, Status};

fn refused<T>(answer: Result<Response<T>, Status>) -> Failure {
    from_status(&answer.map(drop).unwrap_err())
}

fn fields<T>(answer: Result<Response<T>, Status>) -> Vec<String> {
    let failure = refused(answer);
    assert_eq!(failure.reason, ErrorReason::InvalidRequest);
    failure.violations.into_iter().map(|violation| violation.field).collect()
}

fn since(seconds: i64) -> Option<Timestamp> {
    let mut time = Timestamp::from(*NOW);
    time.seconds -= seconds;
    Some(time)
}

fn query(request: QueryUsageRequest) -> Request<QueryUsageRequest> {
    Request::new(request)
}

#[tokio::test]
async fn a_question_hears_of_every_field_at_fault() {
    let world = World::new("{}").await;
    let question = QueryUsageRequest {
        group_by: vec![99, 0, 1, 1],
        interval: 7,
        page_size: -1,
        page_token: "nonsense".to_owned(),
        filter: Some(UsageFilter { lanes: vec![9], scenes: vec!["x".repeat(2000)], ..Default::default() }),
        ..Default::default()
    };
    let expected = [
        "page_size",
        "page_token",
        "start_time",
        "filter.scenes[0]",
        "filter.lanes[0]",
        "group_by[0]",
        "group_by[1]",
        "group_by[3]",
        "interval",
    ];
    assert_eq!(fields(world.usage.query_usage(query(question)).await), expected);
    for (start, end) in
        [(since(-5), None), (since(5), since(9)), (Some(Timestamp { seconds: 1, nanos: 0 }), None)]
    {
        let question = QueryUsageRequest { start_time: start, end_time: end, ..Default::default() };
        assert_eq!(fields(world.usage.query_usage(query(question)).await), ["start_time"]);
    }
    let question = ListRequestsRequest { page_size: -1, end_time: since(-1 << 40), ..Default::default() };
    let answer = world.usage.list_requests(Request::new(question)).await;
    assert_eq!(fields(answer), ["page_size", "end_time"]);
    let answer = world.usage.get_request(Request::new(GetRequestRequest::default())).await;
    assert_eq!(fields(answer), ["request_id"]);
}

#[tokio::test]
async fn pages_of_sums_are_turned_while_time_goes_on_and_a_token_fits_its_question_only() {
    let world = World::new("{}").await;
    let scened =
        |number: i64| UsageEvent { scene: format!("s{number}"), ..ago(&format!("e{number}"), number) };
    world.store((1..=5).map(scened).collect()).await;
    let mut question = QueryUsageRequest {
        start_time: since(100),
        group_by: vec![UsageDimension::Scene as i32],
        page_size: 2,
        ..Default::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = world.usage.query_usage(query(question.clone())).await.unwrap().into_inner();
        seen.extend(page.rows.into_iter().map(|row| row.group[0].clone()));
        if page.next_page_token.is_empty() {
            break;
        }
        question.page_token = page.next_page_token;
    }
    seen.sort();
    assert_eq!(seen, ["s1", "s2", "s3", "s4", "s5"]);
    question.page_size = 3;
    world.usage.query_usage(query(question.clone())).await.expect("another size is the same question");
    question.interval = Interval::Day as i32;
    assert_eq!(fields(world.usage.query_usage(query(question)).await), ["page_token"]);
}

#[tokio::test]
async fn a_request_is_found_by_its_id_and_those_of_an_article_page_by_page() {
    let world = World::new("{}").await;
    let about =
        |number: i64| UsageEvent { reference: "article-7".to_owned(), ..ago(&format!("e{number}"), number) };
    world.store((1..=5).map(about).chain([event("other")]).collect()).await;
    let ask = |request_id: &str, tenant_id: &str| {
        let (request_id, tenant_id) = (request_id.to_owned(), tenant_id.to_owned());
        world.usage.get_request(Request::new(GetRequestRequest { request_id, tenant_id }))
    };
    let found = ask("request-e3", "acme").await.unwrap().into_inner().event.unwrap();
    assert_eq!(found, about(3));
    assert_eq!(ask("request-e3", "").await.unwrap().into_inner().event.unwrap(), about(3));
    assert_eq!(refused(ask("request-e3", "other").await).reason, ErrorReason::NotFound);
    assert_eq!(refused(ask("request-e9", "acme").await).reason, ErrorReason::NotFound);
    let filter = UsageFilter { references: vec!["article-7".to_owned()], ..Default::default() };
    let mut question = ListRequestsRequest { filter: Some(filter), page_size: 2, ..Default::default() };
    let mut seen = Vec::new();
    loop {
        let page = world.usage.list_requests(Request::new(question.clone())).await.unwrap().into_inner();
        seen.extend(page.events.into_iter().map(|event| event.event_id));
        if page.next_page_token.is_empty() {
            break;
        }
        question.page_token = page.next_page_token;
    }
    assert_eq!(seen, ["e1", "e2", "e3", "e4", "e5"], "newest first");
}

#[tokio::test]
async fn all_requests_that_a_client_gave_the_same_id_are_told_newest_first() {
    let world = World::new("{}").await;
    let again =
        |number: i64| UsageEvent { request_id: "r1".to_owned(), ..ago(&format!("e{number}"), number) };
    world.store((1..=3).map(again).chain([event("other")]).collect()).await;
    let ask = GetRequestRequest { request_id: "r1".to_owned(), tenant_id: "acme".to_owned() };
    let told = world.usage.get_request(Request::new(ask.clone())).await.unwrap().into_inner();
    assert_eq!((told.event, told.earlier, told.more), (Some(again(1)), vec![again(2), again(3)], false));

    world.store((4..=120).map(again).collect()).await;
    let told = world.usage.get_request(Request::new(ask)).await.unwrap().into_inner();
    assert_eq!((told.event, told.earlier.len(), told.more), (Some(again(1)), 99, true));
}

#[tokio::test]
async fn what_exceeds_a_plan_is_told_measure_by_measure() {
    let config = "plans: {small: {requests: 2, cost_eur: 0.001}}\ntenants: {acme: {plan: small}}\n";
    let world = World::new(config).await;
    world.store((1..=3).map(|number| ago(&format!("e{number}"), number)).collect()).await;
    let ask = |tenant_id: &str, month: &str| {
        let (tenant_id, month) = (tenant_id.to_owned(), month.to_owned());
        world.usage.get_overage(Request::new(GetOverageRequest { tenant_id, month }))
    };
    let told =
        |measure: Measure, included, used, over| Overage { measure: measure as i32, included, used, over };
    let answer = ask("acme", "").await.unwrap().into_inner();
    assert_eq!(answer.plan, "small");
    let expected = [told(Measure::Requests, 2, 3, 1), told(Measure::Cost, 1_000_000, 750_000, 0)];
    assert_eq!(answer.overages, expected);
    assert_eq!(
        ask("acme", "2026-10").await.unwrap().into_inner().overages[0],
        told(Measure::Requests, 2, 0, 0)
    );
    assert_eq!(ask("other", "").await.unwrap().into_inner(), v1::GetOverageResponse::default());
    assert_eq!(fields(ask("", "").await), ["tenant_id"]);
    assert_eq!(fields(ask("acme", "11/2026").await), ["month"]);
}

#[tokio::test]
async fn alerts_are_those_not_closed_unless_asked_otherwise() {
    let world = World::new("{}").await;
    let alert = |id: &str, state: State, vendor: &str| Alert {
        alert_id: id.to_owned(),
        state: state as i32,
        vendor: vendor.to_owned(),
        ..Default::default()
    };
    world.dependencies.alerts.replace(vec![
        alert("a3", State::Open, "openai"),
        alert("a2", State::Escalated, "xai"),
        alert("a1", State::Closed, "openai"),
    ]);
    let ask = async |request: ListAlertsRequest| {
        let page = world.usage.list_alerts(Request::new(request)).await.unwrap().into_inner();
        (page.alerts.into_iter().map(|alert| alert.alert_id).collect::<Vec<_>>(), page.next_page_token)
    };
    let (first, token) = ask(ListAlertsRequest { page_size: 1, ..Default::default() }).await;
    assert_eq!(first, ["a3"]);
    let second = ListAlertsRequest { page_size: 1, page_token: token, ..Default::default() };
    assert_eq!(ask(second).await, (vec!["a2".to_owned()], String::new()));
    let closed = ListAlertsRequest { states: vec![State::Closed as i32], ..Default::default() };
    assert_eq!(ask(closed).await.0, ["a1"]);
    let openai = ListAlertsRequest { vendor: "openai".to_owned(), ..Default::default() };
    assert_eq!(ask(openai).await.0, ["a3"]);
}

#[tokio::test]
async fn a_request_that_ended_in_the_future_does_not_say_that_all_until_then_is_counted() {
    let world = World::new("{}").await;
    world.store(vec![ago("e1", 60), ago("ahead", -3600)]).await;
    let asked = QueryUsageRequest { start_time: since(86_400), ..Default::default() };
    let told =
        async || world.usage.query_usage(query(asked.clone())).await.unwrap().into_inner().complete_until;
    assert_eq!(told().await, None);
    world.dependencies.progress.caught_up(*NOW);
    assert_eq!(told().await, since(2), "as far as the ingester is");
}

#[tokio::test]
async fn dead_letters_are_listed_by_pages_and_replayed_by_one_way_of_naming_them() {
    let world = World::new("{}").await;
    for sequence in 1..=3 {
        let letter = Letter {
            sequence,
            reason: Reason::Malformed,
            detail: "no account".to_owned(),
            event_id: String::new(),
            tenant_id: String::new(),
            set_aside_at: *NOW,
            payload: vec![1],
        };
        world.dependencies.letters.set_aside(letter).await.unwrap();
    }
    let list = async |page_token: String| {
        let request = ListDeadLettersRequest { page_size: 2, page_token, ..Default::default() };
        let page = world.usage.list_dead_letters(Request::new(request)).await.unwrap().into_inner();
        let numbers: Vec<u64> = page.dead_letters.iter().map(|letter| letter.sequence).collect();
        (numbers, page.next_page_token)
    };
    let (first, token) = list(String::new()).await;
    assert_eq!((first, list(token).await), (vec![1, 2], (vec![3], String::new())));
    let replay = async |sequences: &[u64], reason: Reason| {
        let request = ReplayDeadLettersRequest { sequences: sequences.to_vec(), reason: reason as i32 };
        world.usage.replay_dead_letters(Request::new(request)).await
    };
    assert_eq!(fields(replay(&[], Reason::Unspecified).await), ["sequences"]);
    assert_eq!(fields(replay(&[1], Reason::Malformed).await), ["sequences"]);
    assert_eq!(replay(&[2], Reason::Unspecified).await.unwrap().into_inner().replayed, 1);
    assert_eq!(replay(&[1], Reason::Unspecified).await.unwrap().into_inner().replayed, 1);
    assert_eq!(replay(&[1], Reason::Unspecified).await.unwrap().into_inner().replayed, 0);
    let discard = async |sequences: &[u64], reason: Reason| {
        let request = DiscardDeadLettersRequest { sequences: sequences.to_vec(), reason: reason as i32 };
        world.usage.discard_dead_letters(Request::new(request)).await
    };
    assert_eq!(fields(discard(&[], Reason::Unspecified).await), ["sequences"]);
    assert_eq!(discard(&[1, 2, 4], Reason::Unspecified).await.unwrap().into_inner().discarded, 0);
    assert_eq!(discard(&[], Reason::Malformed).await.unwrap().into_inner().discarded, 1);
    assert_eq!(list(String::new()).await.0, [] as [u64; 0]);
}
