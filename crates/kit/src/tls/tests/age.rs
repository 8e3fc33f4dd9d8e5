//! What a process says of a certificate that grows old while it is in use.

use super::*;
use crate::clock::Clock;
use signalbox_certificates::Terms;
use std::{
    io,
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};
use tracing::subscriber::DefaultGuard;

const LIFETIME: &str = "signalbox_tls_certificate_lifetime_seconds{use=\"mtls\"}";

/// Hours since the first certificate became valid.
#[derive(Debug, Clone, Default)]
struct Hours(Arc<Mutex<u32>>);

impl Hours {
    fn at(hour: u32) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(2_000_000_000) + Duration::from_secs(3600) * hour
    }
}

impl Clock for Hours {
    fn now(&self) -> SystemTime {
        Self::at(*self.0.lock().unwrap())
    }
}

/// What is written into the log.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        let guard = tracing::subscriber::set_default(subscriber.finish());
        (log, guard)
    }

    /// Levels and messages of the warnings and errors since the last question.
    fn take(&self) -> Vec<(bool, bool)> {
        let text = String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap();
        let lines = text.lines().filter(|line| line.contains("WARN") || line.contains("ERROR"));
        lines.map(|line| (line.contains("ERROR"), line.contains("has expired"))).collect()
    }
}

fn certificate(authority: &Authority, from: u32, until: u32) -> Pair {
    let (valid_from, valid_until) = (Hours::at(from), Hours::at(until));
    authority.issue_on(&Terms { roles: &["adapter"], valid_from, valid_until, ..Terms::default() })
}

#[tokio::test]
async fn a_certificate_that_was_not_renewed_is_told_of_once_before_its_end_and_once_at_its_end() {
    let (authority, hours) = (Authority::new(), Hours::default());
    let files = Files::of(&certificate(&authority, 0, 100), &authority.ca_pem());
    let mtls = Mtls::load_at(&files.config(TRUST_DOMAIN), &["adapter"], Arc::new(hours.clone())).unwrap();
    assert_eq!(metric(LIFETIME), 100 * 3600);
    let (log, _guard) = Log::begin();
    let told_at = async |hour: u32| {
        *hours.0.lock().unwrap() = hour;
        mtls.look().await;
        log.take()
    };
    let (warning, error) = ((false, false), (true, true));
    for (hour, told) in
        [(1, vec![]), (74, vec![]), (76, vec![warning]), (99, vec![]), (101, vec![error]), (102, vec![])]
    {
        assert_eq!(told_at(hour).await, told, "after {hour} hours");
    }
    files.write(&certificate(&authority, 100, 108), &authority.ca_pem());
    assert_eq!(told_at(103).await, []);
    assert_eq!(metric(LIFETIME), 8 * 3600);
    assert_eq!(told_at(107).await, [warning], "another certificate is told of again");
}

#[tokio::test]
async fn files_that_were_bad_and_are_good_again_are_told_of_once() {
    let authority = Authority::new();
    let good = authority.issue(&["adapter"]);
    let files = Files::of(&good, &authority.ca_pem());
    let mtls = files.mtls();
    let (log, _guard) = Log::begin();
    let said = async || {
        mtls.look().await;
        let text = String::from_utf8(std::mem::take(&mut *log.0.lock().unwrap())).unwrap();
        text.lines().filter(|line| line.contains("good again")).count()
    };
    assert_eq!(said().await, 0);
    files.write_one("tls.crt", "half");
    assert_eq!(said().await, 0);
    files.write_one("tls.crt", &good.certificate_pem);
    assert_eq!((said().await, said().await), (1, 0));
}
