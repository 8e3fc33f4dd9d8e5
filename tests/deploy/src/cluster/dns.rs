//! The cluster's name server, for IPv4 addresses over UDP.

use super::registry::Registry;
use std::{io, net::Ipv4Addr};
use tokio::net::UdpSocket;

/// How long an answer may be kept: pods come and go.
const TIME_TO_LIVE: [u8; 4] = [0, 0, 0, 1];
const HEADER: usize = 12;
const TYPE_A: [u8; 2] = [0, 1];

/// Answers questions until it is dropped.
pub(super) async fn serve(socket: UdpSocket, registry: Registry) -> io::Result<()> {
    let mut question = [0; 512];
    loop {
        let (length, asker) = socket.recv_from(&mut question).await?;
        let answer = question.get(..length).and_then(|question| answer(question, &registry));
        if let Some(answer) = answer {
            // An asker that has gone asks no more.
            let _gone = socket.send_to(&answer, asker).await;
        }
    }
}

/// Nothing where there is no question to answer.
fn answer(message: &[u8], registry: &Registry) -> Option<Vec<u8>> {
    let (name, kind, end) = question(message)?;
    let found = registry.look_up(&name);
    let addresses = if kind == TYPE_A { found.clone().unwrap_or_default() } else { Vec::new() };
    let no_such_name = u8::from(found.is_none()) * 3;
    let mut answer = message.get(..2)?.to_vec();
    // An answer, of one who knows; recursion was desired and is available.
    answer.extend([0x85, 0x80 | no_such_name, 0, 1]);
    answer.extend(u16::try_from(addresses.len()).unwrap_or(u16::MAX).to_be_bytes());
    answer.extend([0; 4]);
    answer.extend(message.get(HEADER..end)?);
    addresses.iter().for_each(|address| answer.extend(record(*address)));
    Some(answer)
}

/// Name and type of the first question, and where it ends.
fn question(message: &[u8]) -> Option<(String, [u8; 2], usize)> {
    let mut labels = Vec::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + length)?).into_owned());
        at += length;
    }
    let kind = message.get(at..at + 2)?.try_into().ok()?;
    Some((labels.join("."), kind, at + 4))
}

/// An address of the name that was asked for.
fn record(address: Ipv4Addr) -> Vec<u8> {
    let name_of_the_question = [0xC0, 0x0C];
    let internet = [0, 1];
    let length = [0, 4];
    [&name_of_the_question[..], &TYPE_A, &internet, &TIME_TO_LIVE, &length, &address.octets()].concat()
}
