//! Letters that could not be delivered.

use crate::support::{connect, consumer, event, id, jetstream, receive, sequences};
use prost::Message as _;
use signalbox_api::v1::dead_letter::Reason;
use signalbox_nats::{NatsDeadLetters, StreamOptions};
use signalbox_ports::{Chosen, DeadLetters as _, Letter, UsageBus as _};
use signalbox_testkit::NatsServer;
use std::time::{Duration, SystemTime};

pub(crate) fn letter(sequence: u64, reason: Reason) -> Letter {
    let event = event(&format!("e{sequence}"));
    Letter {
        sequence,
        reason,
        detail: "cost.nano_eur: negative\r\nand so on".to_owned(),
        event_id: event.event_id.clone(),
        tenant_id: event.tenant_id.clone(),
        set_aside_at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        payload: event.encode_to_vec(),
    }
}

async fn letters(server: &NatsServer) -> (signalbox_nats::Nats, NatsDeadLetters) {
    let nats = connect(vec![server.url()]).await;
    let letters = NatsDeadLetters::new(&nats, StreamOptions::default());
    (nats, letters)
}

#[tokio::test]
async fn a_letter_is_kept_whole_and_once_however_often_it_is_set_aside() {
    let server = NatsServer::start().await;
    let (_nats, letters) = letters(&server).await;
    for sequence in [5, 6, 5, 5] {
        letters.set_aside(letter(sequence, Reason::InvalidValue)).await.unwrap();
    }
    let kept = letters.list(None, 0, 100).await.unwrap();
    assert_eq!(kept, [(1, letter(5, Reason::InvalidValue)), (2, letter(6, Reason::InvalidValue))]);
}

#[tokio::test]
async fn letters_of_a_stream_made_anew_are_not_taken_for_those_of_the_old_one() {
    let server = NatsServer::start().await;
    let (_nats, letters) = letters(&server).await;
    let old = letter(5, Reason::Malformed);
    let new = Letter { payload: event("another").encode_to_vec(), ..old.clone() };
    letters.set_aside(old).await.unwrap();
    letters.set_aside(new).await.unwrap();
    assert_eq!(letters.list(None, 0, 100).await.unwrap().len(), 2);
}

#[tokio::test]
async fn letters_are_listed_by_reason_and_page_by_page() {
    let server = NatsServer::start().await;
    let (_nats, letters) = letters(&server).await;
    for sequence in 1..=9 {
        let reason = if sequence % 3 == 0 { Reason::Malformed } else { Reason::FutureVersion };
        letters.set_aside(letter(sequence, reason)).await.unwrap();
    }
    let of =
        |letters: &[(u64, Letter)]| letters.iter().map(|(_, letter)| letter.sequence).collect::<Vec<_>>();
    assert_eq!(of(&letters.list(Some(Reason::Malformed), 0, 100).await.unwrap()), [3, 6, 9]);
    assert_eq!(of(&letters.list(Some(Reason::Malformed), 3, 1).await.unwrap()), [6]);
    assert_eq!(of(&letters.list(None, 7, 100).await.unwrap()), [8, 9]);
    assert_eq!(letters.list(Some(Reason::StoreRefused), 0, 100).await.unwrap(), []);
}

#[tokio::test]
async fn what_is_replayed_comes_over_the_bus_marked_and_is_no_letter_any_more() {
    let server = NatsServer::start().await;
    let (nats, letters) = letters(&server).await;
    for sequence in 1..=300 {
        letters.set_aside(letter(sequence, Reason::FutureVersion)).await.unwrap();
    }
    letters.set_aside(letter(301, Reason::Malformed)).await.unwrap();
    assert_eq!(letters.replay(&Chosen::Sequences(vec![2, 301, 7777])).await.unwrap(), 2);
    assert_eq!(letters.replay(&Chosen::Reason(Reason::FutureVersion)).await.unwrap(), 299);
    assert_eq!(letters.list(None, 0, 100).await.unwrap(), []);

    let mut bus = consumer(&nats);
    let mut received = receive(&mut bus, 301).await;
    assert!(received.iter().all(|delivery| delivery.again));
    received.sort_by_key(|delivery| id(&delivery.payload));
    assert_eq!(id(&received[0].payload), "e1");
    assert_eq!(id(&received[300].payload), "e99");
    bus.acknowledge(&sequences(&received)).await.unwrap();
}

#[tokio::test]
async fn a_letter_is_replayed_although_the_servers_still_know_its_event() {
    let server = NatsServer::start().await;
    let (nats, letters) = letters(&server).await;
    let mut bus = consumer(&nats);
    bus.prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    let message = async_nats::jetstream::message::PublishMessage::build()
        .payload(event("e1").encode_to_vec().into())
        .message_id("e1");
    context.send_publish("signalbox.usage.v1.acme=2eeu", message).await.unwrap().await.unwrap();
    let poison = receive(&mut bus, 1).await;
    letters.set_aside(letter(poison[0].sequence, Reason::UnknownEnum)).await.unwrap();
    bus.acknowledge(&sequences(&poison)).await.unwrap();
    assert_eq!(letters.replay(&Chosen::Reason(Reason::UnknownEnum)).await.unwrap(), 1);
    assert_eq!(id(&receive(&mut bus, 1).await[0].payload), "e1");
}

#[tokio::test]
async fn discarded_letters_are_gone_and_no_others() {
    let server = NatsServer::start().await;
    let (_nats, letters) = letters(&server).await;
    for sequence in 1..=5 {
        let reason = if sequence % 2 == 0 { Reason::Malformed } else { Reason::FutureVersion };
        letters.set_aside(letter(sequence, reason)).await.unwrap();
    }
    assert_eq!(letters.discard(&Chosen::Sequences(vec![1, 77])).await.unwrap(), 1);
    assert_eq!(letters.discard(&Chosen::Reason(Reason::Malformed)).await.unwrap(), 2);
    let left = letters.list(None, 0, 100).await.unwrap();
    assert_eq!(left.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3, 5]);
}

#[tokio::test]
async fn a_message_as_long_as_the_servers_take_can_be_set_aside_and_says_what_was_cut() {
    let server = NatsServer::start().await;
    let (_nats, letters) = letters(&server).await;
    let long = Letter { payload: vec![0xff; 1 << 20], ..letter(1, Reason::Malformed) };
    letters.set_aside(long).await.unwrap();
    let (_, kept) = letters.list(None, 0, 1).await.unwrap().remove(0);
    assert!(kept.payload.len() > 900_000 && kept.payload.iter().all(|byte| *byte == 0xff));
    assert!(kept.detail.ends_with("only 983040 of its 1048576 bytes are kept"), "{}", kept.detail);
}

#[tokio::test]
async fn a_stream_of_letters_that_is_full_says_so_and_takes_them_again_when_some_are_discarded() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let small = StreamOptions { max_bytes: Some(64 << 10), ..StreamOptions::default() };
    let letters = NatsDeadLetters::new(&nats, small);
    let long = |sequence| Letter { payload: vec![0xff; 3000], ..letter(sequence, Reason::Malformed) };
    letters.set_aside(long(1)).await.unwrap();
    letters.set_aside(long(2)).await.unwrap();
    let full = letters.set_aside(long(3)).await.unwrap_err().to_string();
    assert!(full.contains("maximum bytes exceeded"), "{full}");
    letters.discard(&Chosen::Sequences(vec![1])).await.unwrap();
    letters.set_aside(long(3)).await.unwrap();
}
