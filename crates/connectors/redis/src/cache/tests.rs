use super::{entry, layout};
use signalbox_ports::cache::{Digest, Entry, Partition, Scope};

#[test]
fn digests_are_as_long_as_each_other_and_come_back() {
    for digest in [[0; 16], [255; 16], *b"a} | @tenant:{b ", 1_u128.to_be_bytes()].map(Digest) {
        let letters = layout::letters(digest);
        assert_eq!(letters.len(), 26);
        assert!(letters.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()));
        assert_eq!(layout::digest(letters.as_bytes()), Some(digest));
    }
    for wrong in ["", "a", &"z".repeat(26), &"A".repeat(26), &"a".repeat(27)] {
        assert_eq!(layout::digest(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn what_cannot_be_read_is_no_entry() {
    let one = Digest([1; 16]);
    let partition = Partition { tenant: one, task: one, locale: one, fingerprint: one };
    let epochs = vec![(Scope::Tenant, 1), (Scope::Reference(one), u64::MAX)];
    let entry = Entry { key: one, partition, epochs, sealed: b"sealed".to_vec(), vector: None, worth: -1 };
    let written = entry::written(&entry, [7; 8], layout::NO_SPACE);
    assert_eq!(entry::read(&written), Some((entry, [7; 8])));
    for end in 0..written.len() - 6 {
        assert_eq!(entry::read(&written[..end]), None, "cut at {end}");
    }
    for at in 0..entry::EPOCHS_AT {
        let mut wrong = written.clone();
        wrong[at] ^= 0x80;
        drop(entry::read(&wrong));
    }
}
