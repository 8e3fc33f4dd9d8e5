use super::*;

const TENANT: Digest = Digest([1; 16]);

fn key() -> DataKey {
    let wrapped = DataKey::made([7; 32], TENANT).unwrap();
    DataKey::unwrapped([7; 32], TENANT, &wrapped).unwrap()
}

fn partition() -> Partition {
    let digest = |byte| Digest([byte; 16]);
    Partition { tenant: TENANT, task: digest(2), locale: digest(3), fingerprint: digest(4) }
}

fn place<'a>(partition: &'a Partition, epochs: &'a Epochs) -> Place<'a> {
    Place { partition, key: Digest([5; 16]), epochs }
}

#[test]
fn what_is_sealed_is_opened_where_it_was_put_and_nowhere_else() {
    let (key, epochs, here) = (key(), vec![(Scope::Tenant, 3)], partition());
    let plain = "an answer, an answer, an answer, an answer".repeat(20);
    let sealed = seal(&key, place(&here, &epochs), plain.as_bytes()).unwrap();
    assert!(sealed.len() < plain.len(), "it is compressed");
    assert_eq!(open(&key, place(&here, &epochs), &sealed).unwrap(), plain.as_bytes());

    let elsewhere: [fn(&mut Partition); 4] = [
        |place| place.tenant.0[0] ^= 1,
        |place| place.task.0[0] ^= 1,
        |place| place.locale.0[15] ^= 1,
        |place| place.fingerprint.0[15] ^= 1,
    ];
    for moved in elsewhere {
        let mut there = here;
        moved(&mut there);
        assert_eq!(open(&key, place(&there, &epochs), &sealed), Err(Closed::Forged));
    }
    let other_key = Place { key: Digest([6; 16]), ..place(&here, &epochs) };
    assert_eq!(open(&key, other_key, &sealed), Err(Closed::Forged));
    let newer = vec![(Scope::Tenant, 4)];
    assert_eq!(open(&key, place(&here, &newer), &sealed), Err(Closed::Forged), "its age cannot be changed");
}

#[test]
fn whatever_bit_is_changed_it_does_not_open() {
    let (key, epochs, here) = (key(), vec![(Scope::Tenant, 0)], partition());
    let sealed = seal(&key, place(&here, &epochs), b"an answer").unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let expected = if at < HEAD { Closed::Outdated } else { Closed::Forged };
        assert_eq!(open(&key, place(&here, &epochs), &changed), Err(expected), "byte {at}");
        assert!(open(&key, place(&here, &epochs), &sealed[..at]).is_err());
    }
}

#[test]
fn a_data_key_is_of_one_tenant_and_one_secret() {
    let wrapped = DataKey::made([7; 32], TENANT).unwrap();
    assert!(DataKey::unwrapped([8; 32], TENANT, &wrapped).is_none());
    assert!(DataKey::unwrapped([7; 32], Digest([2; 16]), &wrapped).is_none());
    for at in 0..wrapped.len() {
        let mut changed = wrapped.clone();
        changed[at] ^= 1;
        assert!(DataKey::unwrapped([7; 32], TENANT, &changed).is_none(), "byte {at}");
    }
    let shown = format!("{:?}", DataKey::unwrapped([7; 32], TENANT, &wrapped).unwrap());
    assert!(shown.contains(&hex(&wrapped[..8])) && shown.len() < 60, "{shown}");
}

#[test]
fn with_another_key_it_is_as_good_as_not_there() {
    let (epochs, here) = (vec![(Scope::Tenant, 0)], partition());
    let sealed = seal(&key(), place(&here, &epochs), b"an answer").unwrap();
    assert_eq!(open(&key(), place(&here, &epochs), &sealed), Err(Closed::Outdated));
}
