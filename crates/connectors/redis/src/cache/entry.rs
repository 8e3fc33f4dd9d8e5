//! How an entry is written: a header that scripts read, then what only we do.

use super::layout::{self, LETTERS, NO_SPACE};
use signalbox_ports::cache::{Digest, Entry, Epochs, Partition, Scope};

/// Tells a put from all others of its key.
pub(super) type Put = [u8; 8];

const ENTRY: u8 = b'E';
const SPACE_AT: usize = 1 + size_of::<Put>();
const GROUP_AT: usize = SPACE_AT + NO_SPACE.len();
const KEY_AT: usize = GROUP_AT + 3 * LETTERS;
/// Where a script, which counts from 1, finds the epochs.
pub(super) const EPOCHS_AT: usize = KEY_AT + 16 + 16 + 8 + 1;

pub(super) fn written(entry: &Entry, put: Put, space: &str) -> Vec<u8> {
    let mut written = Vec::with_capacity(EPOCHS_AT + 2 + 25 * entry.epochs.len() + entry.sealed.len());
    written.push(ENTRY);
    written.extend(put);
    written.extend(space.bytes());
    written.extend(layout::group(&entry.partition).bytes());
    written.extend(entry.key.0);
    written.extend(entry.partition.tenant.0);
    written.extend(entry.worth.to_be_bytes());
    let epochs = &entry.epochs[..entry.epochs.len().min(usize::from(u16::MAX))];
    written.extend((epochs.len() as u16).to_be_bytes());
    for (scope, epoch) in epochs {
        written.extend(scope_bytes(*scope));
        written.extend(epoch.to_be_bytes());
    }
    written.extend(&entry.sealed);
    written
}

/// The entry, and which put it is of; `None` where that cannot be read.
pub(super) fn read(written: &[u8]) -> Option<(Entry, Put)> {
    let mut rest = written;
    let kind = take(&mut rest, 1)?;
    let put = array(&mut rest)?;
    take(&mut rest, NO_SPACE.len())?;
    let [task, locale, fingerprint] = [(); 3].map(|()| take(&mut rest, LETTERS).and_then(layout::digest));
    let key = Digest(array(&mut rest)?);
    let tenant = Digest(array(&mut rest)?);
    let partition = Partition { tenant, task: task?, locale: locale?, fingerprint: fingerprint? };
    let worth = i64::from_be_bytes(array(&mut rest)?);
    let count = u16::from_be_bytes(array(&mut rest)?);
    let epochs = (0..count).map(|_| epoch(&mut rest)).collect::<Option<Epochs>>()?;
    let entry = Entry { key, partition, epochs, sealed: rest.to_vec(), vector: None, worth };
    (kind == [ENTRY]).then_some((entry, put))
}

fn epoch(rest: &mut &[u8]) -> Option<(Scope, u64)> {
    let [kind] = array(rest)?;
    let digest = Digest(array(rest)?);
    let epoch = u64::from_be_bytes(array(rest)?);
    let scope = match kind {
        b'n' => Scope::Tenant,
        b't' => Scope::Task(digest),
        b'l' => Scope::Locale(digest),
        b'a' => Scope::Requested(digest),
        b'p' => Scope::Template(digest),
        b'r' => Scope::Reference(digest),
        _ => return None,
    };
    Some((scope, epoch))
}

/// A scope as it stands among the epochs.
pub(super) fn scope_bytes(scope: Scope) -> [u8; 17] {
    let (kind, digest) = match scope {
        Scope::Tenant => (b'n', Digest::default()),
        Scope::Task(digest) => (b't', digest),
        Scope::Locale(digest) => (b'l', digest),
        Scope::Requested(digest) => (b'a', digest),
        Scope::Template(digest) => (b'p', digest),
        Scope::Reference(digest) => (b'r', digest),
    };
    let mut bytes = [kind; 17];
    bytes[1..].copy_from_slice(&digest.0);
    bytes
}

fn take<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(bytes)?;
    *rest = left;
    Some(taken)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    take(rest, N)?.try_into().ok()
}
