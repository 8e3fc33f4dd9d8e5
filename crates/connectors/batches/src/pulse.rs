//! A word that nobody needs: who can write it can write.

use signalbox_sql::{Session, nanos};
use std::time::SystemTime;

pub(crate) async fn beat(session: &mut Session<'_>, now: SystemTime) -> sqlx::Result<()> {
    let query = session.query(
        "INSERT INTO batch_pulse (pulse, beat_at) VALUES (1, $1) \
         ON CONFLICT (pulse) DO UPDATE SET beat_at = excluded.beat_at",
    );
    query.bind(nanos(now)).execute(&mut *session.connection).await?;
    Ok(())
}
