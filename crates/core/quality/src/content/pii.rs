//! Kinds of personal data: a pattern that finds candidates, and a check that few other texts pass.
//!
//! Patterns are ASCII and of bounded length, so that they are fast and an answer that streams is hardly held back. A
//! check looks at no more than one character around its candidate.

mod checks;

use super::detector::Accept;

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pii {
    /// An e-mail address.
    Email,
    /// A telephone number: international with `+` or `00`, or written with separators as within Italy, Germany, France,
    /// Great Britain and North America.
    Phone,
    /// An IBAN of its country's length and with the right check digits.
    Iban,
    /// The number of a payment card, of a known network's range and length and with the right check digit (Luhn).
    CreditCard,
    /// An IPv4 or IPv6 address.
    IpAddress,
    /// An Italian fiscal code with the right check character, also in its forms for namesakes.
    CodiceFiscale,
    /// A US social security number that may have been given out, with its separators.
    UsSsn,
}

impl Pii {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Email,
        Self::Phone,
        Self::Iban,
        Self::CreditCard,
        Self::IpAddress,
        Self::CodiceFiscale,
        Self::UsSsn,
    ];

    /// The word in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Iban => "iban",
            Self::CreditCard => "credit_card",
            Self::IpAddress => "ip_address",
            Self::CodiceFiscale => "codice_fiscale",
            Self::UsSsn => "us_ssn",
        }
    }

    /// The kind of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn placeholder(self) -> &'static str {
        match self {
            Self::Email => "[EMAIL]",
            Self::Phone => "[PHONE]",
            Self::Iban => "[IBAN]",
            Self::CreditCard => "[CREDIT_CARD]",
            Self::IpAddress => "[IP_ADDRESS]",
            Self::CodiceFiscale => "[CODICE_FISCALE]",
            Self::UsSsn => "[US_SSN]",
        }
    }

    pub(super) fn pattern(self) -> &'static str {
        match self {
            // Lengths of RFC 5321, 4.5.3.1, and RFC 1035, 2.3.4.
            Self::Email => r"(?i-u:[a-z0-9._%+'-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z][a-z0-9-]{1,62})",
            // E.164: at most 15 digits with the country's code.
            Self::Phone => {
                r"(?x-u)
                (?:\+|00)[1-9][0-9]{0,2}(?:[\ ./-]?\(?[0-9]{1,4}\)?){2,6}
                | \(?[2-9][0-9]{2}\)?[\ .-][2-9][0-9]{2}[\ .-][0-9]{4}
                | 3[1-9][0-9][\ ./-](?:[0-9]{6,7}|[0-9]{3}[\ .-][0-9]{4})
                | 0[1-9][0-9]{0,3}[\ /-][0-9]{5,8}
                | \(0[1-9][0-9]{0,3}\)[\ /-]?[0-9]{3,8}(?:[\ -][0-9]{2,5}){0,2}
                | 0[1-9][0-9]{0,3}[\ -][0-9]{3,4}[\ -][0-9]{3,4}
                | 0[1-9](?:[\ .][0-9]{2}){4}"
            }
            // ISO 13616: 15 to 34 characters, on paper in groups of four.
            Self::Iban => r"(?i-u:\b[a-z]{2}[0-9]{2}(?:\ ?[a-z0-9]){11,30})",
            // ISO/IEC 7812: up to 19 digits.
            Self::CreditCard => r"(?-u:\b[2-6](?:[\ -]?[0-9]){11,18})",
            // More groups than four are taken along, to tell a version's number.
            Self::IpAddress => {
                r"(?ix-u)
                [0-9]{1,3}(?:\.[0-9]{1,3}){3,8}
                | (?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{1,4})?(?:(?:\.[0-9]{1,3}){3})?"
            }
            Self::CodiceFiscale => {
                r"(?i-u:\b[a-z]{6}[0-9l-np-v]{2}[a-ehlmprst][0-9l-np-v]{2}[a-z][0-9l-np-v]{3}[a-z])"
            }
            Self::UsSsn => r"(?-u:\b[0-8][0-9]{2}(?:-[0-9]{2}-|\ [0-9]{2}\ )[0-9]{4})",
        }
    }

    pub(super) fn accept(self) -> Accept {
        match self {
            Self::Email => checks::email,
            Self::Phone => checks::phone,
            Self::Iban => checks::iban,
            Self::CreditCard => checks::credit_card,
            Self::IpAddress => checks::ip_address,
            Self::CodiceFiscale => checks::codice_fiscale,
            Self::UsSsn => checks::us_ssn,
        }
    }
}
