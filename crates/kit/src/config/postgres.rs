//! What may stand behind the `?` of an address of PostgreSQL. The driver ignores what it does not know, and so does not
//! verify what somebody believes it does.

use super::nearest::did_you_mean;
use percent_encoding::percent_decode_str;
use std::path::PathBuf;

/// The options that mean something; user, database and port stand in the address itself.
const OPTIONS: [&str; 8] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
    "options",
    "host",
    "statement-cache-capacity",
];
const SSL_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/// Those in which the server has to show who it is.
const VERIFYING: [&str; 2] = ["verify-ca", "verify-full"];

/// The file with certificates to trust that an address names, once all of its options are good.
///
/// # Errors
/// What is wrong, without a word of the address but the names of options that are known.
pub fn trusted_file(url: &str) -> Result<Option<PathBuf>, String> {
    let (mut mode, mut file, mut seen) = (None, None, Vec::new());
    for pair in url.split_once('?').map_or("", |(_, query)| query).split('&').filter(|pair| !pair.is_empty())
    {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decoded(key), decoded(value));
        let known = OPTIONS.into_iter().find(|known| *known == key).ok_or_else(|| unknown(&key))?;
        if seen.contains(&known) {
            return Err(format!("has `{known}` twice"));
        }
        seen.push(known);
        match known {
            "sslmode" => mode = Some(ssl_mode(&value)?),
            "sslrootcert" if value.is_empty() => return Err("has an empty `sslrootcert`".to_owned()),
            "sslrootcert" => file = Some(PathBuf::from(value)),
            _ => {}
        }
    }
    if file.is_some() && !mode.is_some_and(|mode| VERIFYING.contains(&mode)) {
        return Err(
            "has an `sslrootcert` that nobody looks at: write `sslmode=verify-full`, too, or `verify-ca`"
                .to_owned(),
        );
    }
    Ok(file)
}

/// What is not known may be a part of a password, so it is not repeated.
fn unknown(key: &str) -> String {
    format!(
        "has an option that means nothing here{}; known are {}",
        did_you_mean(key, OPTIONS),
        OPTIONS.join(", ")
    )
}

fn ssl_mode(value: &str) -> Result<&'static str, String> {
    let known = SSL_MODES.into_iter().find(|known| known.eq_ignore_ascii_case(value));
    known.ok_or_else(|| {
        format!("has an `sslmode` that is none of {}{}", SSL_MODES.join(", "), did_you_mean(value, SSL_MODES))
    })
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(query: &str) -> Result<Option<PathBuf>, String> {
        trusted_file(&format!("postgres://me@host/db?{query}"))
    }

    #[test]
    fn options_that_mean_something_are_taken() {
        assert_eq!(trusted_file("postgres://me@host/db"), Ok(None));
        for query in ["", "sslmode=require", "sslmode=verify-full", "options=-c%20a%3Db&application_name=x"] {
            assert_eq!(trusted(query), Ok(None), "{query}");
        }
        let file = Ok(Some(PathBuf::from("/etc/ca 1.crt")));
        assert_eq!(trusted("sslmode=verify-ca&sslrootcert=/etc/ca%201.crt"), file);
        assert_eq!(trusted("sslrootcert=%2Fetc/ca+1.crt&sslmode=VERIFY-FULL"), file);
    }

    #[test]
    fn options_that_would_be_ignored_are_refused_and_not_repeated() {
        for (query, expected) in [
            ("sslmod=verify-full", "means nothing here (did you mean `sslmode`?)"),
            ("s3cr3t", "means nothing here; known are sslmode, "),
            ("user=s3cr3t", "means nothing here"),
            (
                "sslmode=verify-ful",
                "none of disable, allow, prefer, require, verify-ca, verify-full (did you mean `verify-full`?)",
            ),
            ("sslmode=s3cr3t-and-more", "none of disable"),
            ("sslmode", "none of disable"),
            ("sslmode=verify-full&sslmode=disable", "has `sslmode` twice"),
            ("sslrootcert=/s3cr3t", "`sslrootcert` that nobody looks at"),
            ("sslmode=require&sslrootcert=/s3cr3t", "write `sslmode=verify-full`"),
            ("sslmode=verify-full&sslrootcert=", "an empty `sslrootcert`"),
        ] {
            let told = trusted(query).unwrap_err();
            assert!(told.contains(expected) && !told.contains("s3cr3t"), "{told}");
        }
    }
}
