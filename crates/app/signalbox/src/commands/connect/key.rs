//! The API key of whoever types commands.

use crate::commands::CommandError;
use signalbox_kit::config::Environment;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::Interceptor,
};

/// The variable of the environment that holds it. It is no argument: those are seen by everybody on the machine, and
/// kept by shells.
pub(crate) const VARIABLE: &str = "SIGNALBOX_API_KEY";

/// Makes each call as whom the key belongs to; as nobody where there is none.
#[derive(Debug, Clone)]
pub(crate) struct Key(Option<MetadataValue<Ascii>>);

impl Key {
    /// The key in the environment.
    pub(super) fn from_environment(env: &Environment) -> Result<Self, CommandError> {
        let header = |key: &str| {
            let value = format!("Bearer {key}");
            let mut value = MetadataValue::try_from(value)
                .map_err(|_| CommandError::new(format!("{VARIABLE} has characters that no API key has")))?;
            value.set_sensitive(true);
            Ok(value)
        };
        env.get(VARIABLE).map(header).transpose().map(Self)
    }
}

impl Interceptor for Key {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_carries_the_key_and_nobody_sees_it() {
        let mut key = Key::from_environment(&Environment::new([(VARIABLE, "sbx_k1_s3cr3t")])).unwrap();
        assert!(!format!("{key:?}").contains("s3cr3t"), "{key:?}");
        let request = key.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer sbx_k1_s3cr3t");
        let bad = Key::from_environment(&Environment::new([(VARIABLE, "s3cr3t\u{7}")])).unwrap_err();
        assert!(!bad.to_string().contains("s3cr3t") && bad.to_string().contains(VARIABLE), "{bad}");
    }

    #[test]
    fn without_a_key_a_call_says_nothing_of_its_caller() {
        let mut key = Key::from_environment(&Environment::default()).unwrap();
        assert!(key.call(Request::new(())).unwrap().metadata().is_empty());
    }
}
