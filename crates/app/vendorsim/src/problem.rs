//! Why a vendor refuses a request; each vendor words it its own way.

/// A refusal, before it is put in a vendor's shape.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    /// Instead of the status that goes with the kind.
    pub(crate) status: Option<u16>,
    /// Instead of the message that goes with the kind.
    pub(crate) message: Option<String>,
    /// The field at fault.
    pub(crate) param: Option<String>,
    /// The vendor's code, where it is not the one that goes with the kind.
    pub(crate) code: Option<&'static str>,
    /// When to try again, in seconds.
    pub(crate) retry_after: Option<u64>,
}

/// What kind of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    Invalid,
    Context,
    Policy,
    NoKey,
    BadKey,
    Billing,
    Permission,
    NoModel,
    NoPath,
    TooLarge,
    Rate,
    SlowDown,
    Quota,
    Internal,
    Html,
    Overloaded,
    Timeout,
}

impl Kind {
    /// The kind by its name in a fault.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "invalid" => Self::Invalid,
            "context" => Self::Context,
            "policy" => Self::Policy,
            "auth" => Self::BadKey,
            "billing" => Self::Billing,
            "permission" => Self::Permission,
            "model" => Self::NoModel,
            "too-large" => Self::TooLarge,
            "rate" => Self::Rate,
            "slow-down" => Self::SlowDown,
            "quota" => Self::Quota,
            "internal" => Self::Internal,
            "html" => Self::Html,
            "overloaded" => Self::Overloaded,
            "timeout" => Self::Timeout,
            _ => return None,
        })
    }

    /// What a bare status usually means.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 => Self::BadKey,
            402 => Self::Billing,
            403 => Self::Permission,
            404 => Self::NoModel,
            408 | 504 => Self::Timeout,
            413 => Self::TooLarge,
            429 => Self::Rate,
            502 => Self::Html,
            503 | 529 => Self::Overloaded,
            500.. => Self::Internal,
            _ => Self::Invalid,
        }
    }
}

impl Problem {
    /// A refusal with the vendor's usual words.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// A bad request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// A bad request, with the field at fault.
    pub(crate) fn field(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), param: Some(param.into()), ..Self::default() }
    }

    /// The same with the vendor's code.
    pub(crate) fn coded(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The same with another message.
    pub(crate) fn saying(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// The message, or the vendor's usual one.
    pub(crate) fn message_or(&self, usual: impl FnOnce() -> String) -> String {
        self.message.clone().unwrap_or_else(usual)
    }
}
