//! Accounts that cannot be stored, beside the spool they came from: a file each, in `DIR/dead`.

use crate::{Spool, pending::Pending, segments::named};
use prost::Message;
use signalbox_api::v1::{DeadLetter, dead_letter::Reason};
use signalbox_ports::{BusAway, Chosen, DeadLetters, Letter};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::UNIX_EPOCH,
};

/// Each time that so many more have gathered the log says so, loudly. They are taken all the same: letters must not hold up
/// accounts.
const ALARM: usize = 1_000;

/// The dead letters of a spool. A letter's number is the position of its message, so that it is set aside once.
#[derive(Debug)]
pub struct SpoolDeadLetters {
    spool: Arc<Spool>,
    dir: PathBuf,
    count: AtomicUsize,
}

impl SpoolDeadLetters {
    /// Opens them, and makes their directory where it is missing.
    ///
    /// # Errors
    /// It cannot be read or made.
    pub fn open(spool: Arc<Spool>) -> io::Result<Self> {
        let dir = spool.options.dir.join("dead");
        fs::create_dir_all(&dir).map_err(|error| named(&dir, &error))?;
        let letters = Self { spool, dir, count: AtomicUsize::new(0) };
        letters.count.store(letters.numbers()?.len(), Ordering::Relaxed);
        Ok(letters)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:020}.letter"))
    }

    /// The numbers of all letters, lowest first.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for file in fs::read_dir(&self.dir)? {
            let name = file?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".letter")?.parse::<u64>().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// A letter; `None` where there is none, or nothing that can be read.
    fn read(&self, number: u64) -> io::Result<Option<Letter>> {
        match fs::read(self.path(number)) {
            Ok(bytes) => Ok(DeadLetter::decode(bytes.as_slice())
                .ok()
                .map(|letter| Letter::from_proto(letter, UNIX_EPOCH))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whole or not at all, also when the process dies.
    fn write(&self, letter: Letter) -> io::Result<()> {
        let path = self.path(letter.sequence);
        if path.exists() {
            return Ok(());
        }
        let draft = self.dir.join("draft");
        let mut file = File::create(&draft)?;
        file.write_all(&DeadLetter::from(letter).encode_to_vec())?;
        file.sync_data()?;
        fs::rename(draft, path)?;
        let letters = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if letters.is_multiple_of(ALARM) {
            let dir = self.dir.display();
            tracing::error!(letters, %dir, "dead letters pile up: look at them, then replay or discard them");
        }
        Ok(())
    }

    fn remove(&self, number: u64) -> io::Result<()> {
        fs::remove_file(self.path(number))?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// The letters that are meant, as far as they are there.
    fn chosen(&self, which: &Chosen) -> io::Result<Vec<(u64, Letter)>> {
        let (numbers, reason) = match which {
            Chosen::Sequences(numbers) => (numbers.clone(), None),
            Chosen::Reason(reason) => (self.numbers()?, Some(*reason)),
        };
        let mut letters = Vec::new();
        for number in numbers {
            let letter = self.read(number)?;
            let wanted = letter.filter(|letter| reason.is_none_or(|reason| reason == letter.reason));
            letters.extend(wanted.map(|letter| (number, letter)));
        }
        Ok(letters)
    }

    /// First there, then no longer here: whoever dies between has it twice, and it is stored once.
    fn resend(&self, number: u64, letter: Letter) -> Result<(), BusAway> {
        self.spool.check().map_err(|full| BusAway(full.to_string()))?;
        if !self.spool.write(Pending { payload: letter.payload, again: true, draft: None }) {
            return Err(BusAway("the usage spool cannot be written".to_owned()));
        }
        self.remove(number).map_err(away)
    }
}

#[async_trait::async_trait]
impl DeadLetters for SpoolDeadLetters {
    async fn set_aside(&self, letter: Letter) -> Result<(), BusAway> {
        self.write(letter).map_err(away)
    }

    async fn list(
        &self,
        reason: Option<Reason>,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Letter)>, BusAway> {
        let mut letters = Vec::new();
        for number in self.numbers().map_err(away)?.into_iter().filter(|number| *number > after) {
            if letters.len() == most {
                break;
            }
            let letter = self.read(number).map_err(away)?;
            let wanted = letter.filter(|letter| reason.is_none_or(|reason| reason == letter.reason));
            letters.extend(wanted.map(|letter| (number, letter)));
        }
        Ok(letters)
    }

    async fn replay(&self, which: &Chosen) -> Result<u64, BusAway> {
        let mut replayed = 0;
        for (number, letter) in self.chosen(which).map_err(away)? {
            self.resend(number, letter)?;
            replayed += 1;
        }
        Ok(replayed)
    }

    async fn discard(&self, which: &Chosen) -> Result<u64, BusAway> {
        let mut discarded = 0;
        for (number, _) in self.chosen(which).map_err(away)? {
            self.remove(number).map_err(away)?;
            discarded += 1;
        }
        Ok(discarded)
    }
}

fn away(error: io::Error) -> BusAway {
    BusAway(format!("dead letters: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use signalbox_ports::Outbox;
    use std::path::Path;

    fn open(dir: &Path) -> (Arc<Spool>, SpoolDeadLetters) {
        let options =
            Options { dir: dir.to_owned(), max_bytes: 1 << 20, segment_bytes: 1 << 16, readers: &[] };
        let spool = Arc::new(Spool::open(options).unwrap());
        (spool.clone(), SpoolDeadLetters::open(spool).unwrap())
    }

    fn dead(sequence: u64, reason: Reason) -> Letter {
        Letter {
            sequence,
            reason,
            detail: "lane: 9 is not known".to_owned(),
            event_id: format!("e{sequence}"),
            tenant_id: "acme".to_owned(),
            set_aside_at: UNIX_EPOCH,
            payload: vec![b'x', u8::try_from(sequence).unwrap()],
        }
    }

    async fn numbers(
        letters: &SpoolDeadLetters,
        reason: Option<Reason>,
        after: u64,
        most: usize,
    ) -> Vec<u64> {
        letters.list(reason, after, most).await.unwrap().into_iter().map(|(number, _)| number).collect()
    }

    #[tokio::test]
    async fn letters_are_kept_once_in_order_and_over_restarts() {
        let dir = tempfile::tempdir().unwrap();
        {
            let (_spool, letters) = open(dir.path());
            for letter in
                [dead(7, Reason::Malformed), dead(3, Reason::UnknownEnum), dead(7, Reason::Malformed)]
            {
                letters.set_aside(letter).await.unwrap();
            }
        }
        let (_spool, letters) = open(dir.path());
        assert_eq!(numbers(&letters, None, 0, 10).await, [3, 7]);
        assert_eq!(numbers(&letters, None, 3, 10).await, [7]);
        assert_eq!(numbers(&letters, None, 0, 1).await, [3]);
        assert_eq!(numbers(&letters, Some(Reason::Malformed), 0, 10).await, [7]);
        let first = letters.list(None, 0, 1).await.unwrap().remove(0);
        assert_eq!(first, (3, dead(3, Reason::UnknownEnum)));
    }

    #[tokio::test]
    async fn a_replayed_letter_is_back_in_the_spool_and_marked_as_one_that_may_be_stored() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, letters) = open(dir.path());
        for sequence in 1..=4 {
            let reason = if sequence == 4 { Reason::Malformed } else { Reason::FutureVersion };
            letters.set_aside(dead(sequence, reason)).await.unwrap();
        }
        assert_eq!(letters.replay(&Chosen::Sequences(vec![2, 99])).await, Ok(1));
        assert_eq!(letters.replay(&Chosen::Reason(Reason::FutureVersion)).await, Ok(2));
        assert_eq!(numbers(&letters, None, 0, 10).await, [4]);
        let entries = spool.read(None, 10).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.payload[1]).collect::<Vec<_>>(), [2, 1, 3]);
        assert!(entries.iter().all(|entry| entry.again));
    }

    #[tokio::test]
    async fn a_file_that_is_no_letter_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (_spool, letters) = open(dir.path());
        fs::write(letters.path(1), b"\xff\xff").unwrap();
        letters.set_aside(dead(2, Reason::Malformed)).await.unwrap();
        assert_eq!(numbers(&letters, None, 0, 10).await, [2]);
    }
}
