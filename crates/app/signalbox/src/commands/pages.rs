//! Lists that a server gives in pages.

use super::CommandError;

/// Rows that are asked for at a time.
const PAGE: i32 = 500;

/// Every row, however many pages they come in. `ask` is given the size and the token of a page, and gives its rows and
/// the token of the next.
pub(super) async fn all<T>(
    ask: impl AsyncFnMut(i32, String) -> Result<(Vec<T>, String), CommandError>,
) -> Result<Vec<T>, CommandError> {
    let (rows, _end) = up_to(usize::MAX, ask).await?;
    Ok(rows)
}

/// The first rows, and the token of what comes after them: no page is larger than what is still wanted, so that whoever
/// goes on by the token misses none.
pub(super) async fn up_to<T>(
    limit: usize,
    mut ask: impl AsyncFnMut(i32, String) -> Result<(Vec<T>, String), CommandError>,
) -> Result<(Vec<T>, String), CommandError> {
    let (mut rows, mut token) = (Vec::new(), String::new());
    while rows.len() < limit {
        let size = i32::try_from(limit - rows.len()).map_or(PAGE, |left| left.min(PAGE));
        let (page, next) = ask(size, token.clone()).await?;
        rows.extend(page);
        // A server that gave the same token again would be asked for ever.
        let is_last = next.is_empty() || next == token;
        token = next;
        if is_last {
            break;
        }
    }
    Ok((rows, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers up to a thousand, in pages whose token is the last number on them.
    async fn page(size: i32, token: String) -> Result<(Vec<i32>, String), CommandError> {
        let after: i32 = if token.is_empty() { 0 } else { token.parse().unwrap() };
        let last = (after + size).min(1_000);
        let next = if last < 1_000 { last.to_string() } else { String::new() };
        Ok(((after + 1..=last).collect(), next))
    }

    #[tokio::test]
    async fn every_row_comes_once() {
        assert_eq!(all(page).await.unwrap(), (1..=1_000).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn whoever_goes_on_after_a_limit_misses_no_row() {
        let (rows, next) = up_to(700, page).await.unwrap();
        assert_eq!((rows.len(), next.as_str()), (700, "700"));
        let (rest, _) = page(500, next).await.unwrap();
        assert_eq!(rest.first(), Some(&701));
        assert_eq!(up_to(5_000, page).await.unwrap(), ((1..=1_000).collect(), String::new()));
    }

    #[tokio::test]
    async fn a_server_that_repeats_itself_is_not_asked_for_ever() {
        let rows = all(async |_, _| Ok((vec![1], "again".to_owned()))).await.unwrap();
        assert_eq!(rows, [1, 1]);
    }
}
