//! Values that are written as texts or numbers and mean more: durations, exact decimals, dates, addresses.

use super::{addresses, routing::Greed};
use crate::telemetry::logs;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use signalbox_pricing::{Day, parse_decimal};
use signalbox_routing::ModelPattern;
use std::{borrow::Cow, fmt, net::SocketAddr, str::FromStr, time::Duration};

/// The longest time that makes sense anywhere in the file.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The greatest age.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How a scalar with a meaning of its own is read; named by `x-form` in the schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Duration,
    Delay,
    Age,
    Decimal,
    Date,
    Address,
    Url,
    Grpc,
    Peer,
    NatsServer,
    Postgres,
    Redis,
    LogLevels,
    Greed,
    ModelPattern,
}

impl Form {
    pub(super) fn of(schema: &Value) -> Option<Self> {
        Some(match schema.get("x-form")?.as_str()? {
            "duration" => Self::Duration,
            "delay" => Self::Delay,
            "age" => Self::Age,
            "decimal" => Self::Decimal,
            "date" => Self::Date,
            "address" => Self::Address,
            "url" => Self::Url,
            "grpc" => Self::Grpc,
            "peer" => Self::Peer,
            "nats-server" => Self::NatsServer,
            "postgres" => Self::Postgres,
            "redis" => Self::Redis,
            "log-levels" => Self::LogLevels,
            "greed" => Self::Greed,
            "model-pattern" => Self::ModelPattern,
            _ => return None,
        })
    }

    /// The value's JSON, or what is wrong with it.
    pub(super) fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Duration => match parse_duration(text)? {
                Duration::ZERO => {
                    Err("zero would never let anything finish; leave the field out for the default".into())
                }
                _ => Ok(text.into()),
            },
            Self::Delay => parse_duration(text).map(|_| text.into()),
            Self::Age => text.parse::<Age>().map(|_| text.into()),
            Self::Decimal => parse_decimal(text).map(|_| text.into()).map_err(|error| error.to_string()),
            Self::Date => Day::parse(text).map(|_| text.into()).map_err(|error| error.to_string()),
            Self::Address => match text.parse::<SocketAddr>() {
                Ok(_) => Ok(text.into()),
                Err(_) => Err(format!("`{text}` is not an address with a port, as in 127.0.0.1:50051")),
            },
            Self::Url => addresses::check_url(text).map(|()| text.into()),
            Self::Grpc => addresses::check_grpc(text).map(|()| text.into()),
            Self::Peer => addresses::check_peer(text).map(|()| text.into()),
            Self::NatsServer => addresses::check_nats_server(text).map(|()| text.into()),
            Self::Postgres => addresses::check_postgres(text).map(|()| text.into()),
            Self::Redis => addresses::check_redis(text).map(|()| text.into()),
            Self::LogLevels => logs::filter(text).map(|_| text.into()),
            Self::Greed => Greed::read(text).map(Greed::to_json),
            Self::ModelPattern => {
                text.parse::<ModelPattern>().map(|_| text.into()).map_err(|error| error.to_string())
            }
        }
    }
}

/// A length of time, written as in `250ms`, `10s`, `2m` or `1h30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(pub Duration);

impl From<HumanDuration> for Duration {
    fn from(duration: HumanDuration) -> Self {
        duration.0
    }
}

impl HumanDuration {
    /// So many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// So many seconds.
    pub const fn secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }
}

impl fmt::Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            0 => f.write_str("0s"),
            _ if millis.is_multiple_of(3_600_000) => write!(f, "{}h", millis / 3_600_000),
            _ if millis.is_multiple_of(60_000) => write!(f, "{}m", millis / 60_000),
            _ if millis.is_multiple_of(1_000) => write!(f, "{}s", millis / 1_000),
            _ => write!(f, "{millis}ms"),
        }
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for HumanDuration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_duration(text).map(Self)
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for HumanDuration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        duration_schema("duration")
    }

    fn inline_schema() -> bool {
        true
    }
}

/// A duration that may be zero.
pub(super) fn delay_schema(_: &mut SchemaGenerator) -> Schema {
    duration_schema("delay")
}

/// How old something may get, written as in `90s`, `24h` or `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(pub Duration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not an age such as 90s, 24h or 7d");
        match sum_of_units(text).ok_or_else(wrong)? {
            Duration::ZERO => Err("zero would keep nothing".to_owned()),
            age if age > OLDEST => Err(format!("`{text}` is more than 30 days")),
            age => Ok(Self(age)),
        }
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Age {
    fn schema_name() -> Cow<'static, str> {
        "Age".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9]+(ms|s|m|h|d))+$", "x-form": "age" })
    }

    fn inline_schema() -> bool {
        true
    }
}

fn duration_schema(form: &str) -> Schema {
    json_schema!({ "type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$", "x-form": form })
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let total = sum_of_units(text).filter(|_| !text.contains('d'));
    let total = total.ok_or_else(|| format!("`{text}` is not a duration such as 250ms, 10s, 2m or 1h30m"))?;
    if total > LONGEST { Err(format!("`{text}` is more than a day")) } else { Ok(total) }
}

/// The sum of numbers with their units.
fn sum_of_units(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(letters);
        let millis = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        let number: u64 = number.parse().ok()?;
        total = total.saturating_add(Duration::from_millis(number.saturating_mul(millis)));
        rest = after;
    }
    Some(total)
}

/// An exact decimal with six places, kept in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal(pub u64);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        parse_decimal(&text).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "x-form": "decimal" })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// A date in UTC, written as in `2026-11-29`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub Day);

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Day::parse(&text).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Date {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date", "x-form": "date" })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// An address to listen on.
pub(super) fn address_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "x-form": "address" })
}

/// An `http` or `https` address.
pub(super) fn url_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "uri", "x-form": "url" })
}

/// An `http` or `https` address where gRPC is spoken.
pub(super) fn grpc_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "uri", "x-form": "grpc" })
}

/// Addresses of other roles.
pub(super) fn peers_schema(_: &mut SchemaGenerator) -> Schema {
    let peer = json_schema!({ "type": "string", "format": "uri", "x-form": "peer" });
    json_schema!({ "type": "array", "items": peer })
}

/// Patterns of models.
pub(super) fn patterns_schema(_: &mut SchemaGenerator) -> Schema {
    let pattern = json_schema!({ "type": "string", "x-form": "model-pattern" });
    json_schema!({ "type": "array", "items": pattern })
}

/// Servers of a NATS cluster.
pub(super) fn nats_servers_schema(_: &mut SchemaGenerator) -> Schema {
    let server = json_schema!({ "type": "string", "format": "uri", "x-form": "nats-server" });
    json_schema!({ "type": "array", "items": server })
}

/// A database in PostgreSQL.
pub(super) fn postgres_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "uri", "x-form": "postgres" })
}

/// A Redis server.
pub(super) fn redis_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "uri", "x-form": "redis" })
}

/// Levels of the log.
pub(super) fn log_levels_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "x-form": "log-levels" })
}

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several, in order.
    Many(#[schemars(length(min = 1))] Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}
