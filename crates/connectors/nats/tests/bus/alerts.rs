//! Alerts.

use crate::support::connect;
use signalbox_nats::StreamOptions;
use signalbox_testkit::NatsServer;

#[tokio::test]
async fn an_alert_is_news_for_the_first_of_several_who_tell_it() {
    let server = NatsServer::start().await;
    let options = StreamOptions::default();
    let (one, two) = (connect(vec![server.url()]).await, connect(vec![server.url()]).await);
    let told = async |nats: &signalbox_nats::Nats, id| nats.publish_alert(&options, id, b"up".to_vec()).await;
    assert_eq!(told(&one, "a1-open").await, Ok(true));
    assert_eq!(told(&two, "a1-open").await, Ok(false));
    assert_eq!(told(&two, "a1-closed").await, Ok(true));
}
