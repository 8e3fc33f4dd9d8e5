//! One taxonomy of failure, whatever the vendor said.

use crate::Arrived;
use std::{collections::BTreeMap, time::Duration};

/// Why a call failed. The name in `SCREAMING_SNAKE_CASE` is `google.rpc.ErrorInfo.reason`; each has a page in
/// `deploy/errors/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorReason {
    /// A field of the request is wrong.
    InvalidRequest,
    /// The request is larger than a limit that the message names.
    RequestTooLarge,
    /// The model, alias or task type is not in the catalogue.
    UnknownModel,
    /// No model that the request may use can do what it needs.
    NoCapableModel,
    /// What is asked for is not there.
    NotFound,
    /// The month is not closed yet.
    MonthOpen,
    /// There is one with this id already.
    AlreadyExists,
    /// It was changed by somebody else in between.
    Conflict,
    /// The prompt does not fit the model's window.
    ContextLengthExceeded,
    /// The vendor, or the tenant's content policy, refused the content.
    ContentPolicy,
    /// The vendor says that this model does not take a parameter or value.
    UnsupportedParameter,
    /// The caller is not known.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// The tenant's budget is used up.
    BudgetExhausted,
    /// The tenant's rate is used up.
    RateLimited,
    /// The vendor refused our key.
    VendorAuth,
    /// Our key may not use this model, region or feature.
    VendorPermission,
    /// The vendor does not know (or no longer knows) the model.
    VendorModelNotFound,
    /// The vendor says we are too fast.
    VendorRateLimited,
    /// Our account at the vendor is out of credit or over its spend limit.
    VendorQuotaExhausted,
    /// The vendor is overloaded.
    VendorOverloaded,
    /// The vendor did not answer in time (connect, first byte, idle or total).
    VendorTimeout,
    /// No connection to the vendor, or it broke before an answer began.
    VendorUnreachable,
    /// The vendor failed (5xx, or an error inside a stream).
    VendorError,
    /// The vendor's answer could not be read.
    VendorBadResponse,
    /// A stream ended without a finish reason.
    StreamTruncated,
    /// Our own queue for this vendor is full.
    VendorBusy,
    /// The answer failed its schema or left out a required tool.
    OutputInvalid,
    /// The deadline passed.
    DeadlineExceeded,
    /// The caller went away.
    Cancelled,
    /// This process is draining, a role it needs is away, or its usage log is full.
    Unavailable,
    /// Not served by the process that was asked.
    Unimplemented,
    /// A fault of ours.
    Internal,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request's: it fails the same anywhere.
    Caller,
    /// Ours: a limit, a key, a bug.
    Signalbox,
    /// The vendor's.
    Vendor,
}

impl ErrorReason {
    /// Every reason.
    pub const ALL: [Self; 33] = [
        Self::InvalidRequest,
        Self::RequestTooLarge,
        Self::UnknownModel,
        Self::NoCapableModel,
        Self::NotFound,
        Self::MonthOpen,
        Self::AlreadyExists,
        Self::Conflict,
        Self::ContextLengthExceeded,
        Self::ContentPolicy,
        Self::UnsupportedParameter,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::BudgetExhausted,
        Self::RateLimited,
        Self::VendorAuth,
        Self::VendorPermission,
        Self::VendorModelNotFound,
        Self::VendorRateLimited,
        Self::VendorQuotaExhausted,
        Self::VendorOverloaded,
        Self::VendorTimeout,
        Self::VendorUnreachable,
        Self::VendorError,
        Self::VendorBadResponse,
        Self::StreamTruncated,
        Self::VendorBusy,
        Self::OutputInvalid,
        Self::DeadlineExceeded,
        Self::Cancelled,
        Self::Unavailable,
        Self::Unimplemented,
        Self::Internal,
    ];

    /// The word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::RequestTooLarge => "REQUEST_TOO_LARGE",
            Self::UnknownModel => "UNKNOWN_MODEL",
            Self::NoCapableModel => "NO_CAPABLE_MODEL",
            Self::NotFound => "NOT_FOUND",
            Self::MonthOpen => "MONTH_OPEN",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::Conflict => "CONFLICT",
            Self::ContextLengthExceeded => "CONTEXT_LENGTH_EXCEEDED",
            Self::ContentPolicy => "CONTENT_POLICY",
            Self::UnsupportedParameter => "UNSUPPORTED_PARAMETER",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::BudgetExhausted => "BUDGET_EXHAUSTED",
            Self::RateLimited => "RATE_LIMITED",
            Self::VendorAuth => "VENDOR_AUTH",
            Self::VendorPermission => "VENDOR_PERMISSION",
            Self::VendorModelNotFound => "VENDOR_MODEL_NOT_FOUND",
            Self::VendorRateLimited => "VENDOR_RATE_LIMITED",
            Self::VendorQuotaExhausted => "VENDOR_QUOTA_EXHAUSTED",
            Self::VendorOverloaded => "VENDOR_OVERLOADED",
            Self::VendorTimeout => "VENDOR_TIMEOUT",
            Self::VendorUnreachable => "VENDOR_UNREACHABLE",
            Self::VendorError => "VENDOR_ERROR",
            Self::VendorBadResponse => "VENDOR_BAD_RESPONSE",
            Self::StreamTruncated => "STREAM_TRUNCATED",
            Self::VendorBusy => "VENDOR_BUSY",
            Self::OutputInvalid => "OUTPUT_INVALID",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::Cancelled => "CANCELLED",
            Self::Unavailable => "UNAVAILABLE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
        }
    }

    /// The reason behind a word on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Whose fault it is.
    pub fn fault(self) -> Fault {
        match self {
            Self::InvalidRequest
            | Self::RequestTooLarge
            | Self::UnknownModel
            | Self::NoCapableModel
            | Self::NotFound
            | Self::MonthOpen
            | Self::AlreadyExists
            | Self::Conflict
            | Self::ContextLengthExceeded
            | Self::ContentPolicy
            | Self::UnsupportedParameter
            | Self::Unauthenticated
            | Self::PermissionDenied
            | Self::BudgetExhausted
            | Self::RateLimited
            | Self::DeadlineExceeded
            | Self::Cancelled => Fault::Caller,
            Self::VendorAuth
            | Self::VendorPermission
            | Self::VendorQuotaExhausted
            | Self::VendorBusy
            | Self::Unavailable
            | Self::Unimplemented
            | Self::Internal => Fault::Signalbox,
            Self::VendorModelNotFound
            | Self::VendorRateLimited
            | Self::VendorOverloaded
            | Self::VendorTimeout
            | Self::VendorUnreachable
            | Self::VendorError
            | Self::VendorBadResponse
            | Self::StreamTruncated
            | Self::OutputInvalid => Fault::Vendor,
        }
    }

    /// Whether one quick retry at the same vendor may help. Never after a timeout (a silent vendor costs one
    /// first-byte timeout, not two) and never after a 429.
    pub fn retry_same_vendor(self) -> bool {
        matches!(
            self,
            Self::VendorUnreachable
                | Self::VendorError
                | Self::VendorOverloaded
                | Self::VendorBadResponse
                | Self::StreamTruncated
        )
    }

    /// Whether another candidate may serve where this one did not. A fault of the request itself fails the same
    /// anywhere and is not moved; a window too small or a key refused is not.
    pub fn fail_over(self) -> bool {
        matches!(
            self,
            Self::ContextLengthExceeded
                | Self::VendorAuth
                | Self::VendorPermission
                | Self::VendorModelNotFound
                | Self::VendorRateLimited
                | Self::VendorQuotaExhausted
                | Self::VendorOverloaded
                | Self::VendorTimeout
                | Self::VendorUnreachable
                | Self::VendorError
                | Self::VendorBadResponse
                | Self::StreamTruncated
                | Self::VendorBusy
                | Self::OutputInvalid
        )
    }
}

/// A field of the request and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Path of the field, as in `messages[2].content[0].image`.
    pub field: String,
    /// What is wrong and what would be right.
    pub description: String,
}

/// Limits that are used up, and what they leave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quota {
    /// The limits.
    pub violations: Vec<QuotaViolation>,
    /// What is left of them, for programs to read, as in `available_nano_eur` or `remaining_requests`.
    pub left: BTreeMap<String, String>,
}

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaViolation {
    /// Which, as in `tenant/acme/budget/monthly`.
    pub subject: String,
    /// How it stands, for people to read.
    pub description: String,
}

/// A failed call, from the place where it failed to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", reason.name())]
pub struct Failure {
    /// What kind.
    pub reason: ErrorReason,
    /// What happened and what to do, lowercase; never holds a secret or a prompt.
    pub message: String,
    /// When another try may succeed, where someone said so.
    pub retry_after: Option<Duration>,
    /// Fields at fault.
    pub violations: Vec<FieldViolation>,
    /// HTTP status of the vendor, where it gave one.
    pub vendor_status: Option<u16>,
    /// The vendor's own code or type, as in `rate_limit_error`.
    pub vendor_code: String,
    /// The vendor's id of the request, for a bug report to it.
    pub vendor_request_id: String,
    /// Percent of the vendor's quota that is left, of the scarcest kind, where it told.
    pub quota_left_percent: Option<u8>,
    /// The tenant's limits that stood in the way, where that is the reason.
    pub quota: Option<Box<Quota>>,
    /// What had come of the answer, where the failure is that it cannot be used.
    pub arrived: Option<Box<Arrived>>,
}

impl Failure {
    /// A failure of a kind, with its message.
    pub fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            retry_after: None,
            violations: Vec::new(),
            vendor_status: None,
            vendor_code: String::new(),
            vendor_request_id: String::new(),
            quota_left_percent: None,
            quota: None,
            arrived: None,
        }
    }

    /// The same, after so much of an answer had come.
    pub fn after(self, arrived: Arrived) -> Self {
        let came = arrived.usage.is_some() || arrived.answer_tokens > 0;
        Self { arrived: came.then(|| Box::new(arrived)), ..self }
    }

    /// An invalid field.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        let (field, description) = (field.into(), description.into());
        let mut failure = Self::new(ErrorReason::InvalidRequest, format!("{field}: {description}"));
        failure.violations.push(FieldViolation { field, description });
        failure
    }
}
