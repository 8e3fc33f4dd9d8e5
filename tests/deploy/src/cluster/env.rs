//! The environment and the command line of a container.

use super::{
    image::Image,
    objects::{Content, Objects},
    spec::{Container, EnvVar, KeyRef, Reference, ValueFrom},
};
use std::collections::BTreeMap;

/// Variables by name.
pub(super) type Environment = BTreeMap<String, String>;

/// What a pod may say of itself.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) pod: String,
    pub(super) namespace: String,
    pub(super) address: String,
    pub(super) account: String,
}

/// The variables of a container, over those it is given anyway.
pub(super) fn environment(
    container: &Container,
    given: Environment,
    objects: &Objects,
    identity: &Identity,
) -> Environment {
    let mut environment = given;
    for from in &container.env_from {
        let maps = from.config_map_ref.as_ref().and_then(|map| whole(&objects.config_maps, map, identity));
        let secrets = from.secret_ref.as_ref().and_then(|secret| whole(&objects.secrets, secret, identity));
        for (key, value) in maps.into_iter().chain(secrets).flatten() {
            environment.insert(format!("{}{key}", from.prefix), utf8(value));
        }
    }
    for variable in &container.env {
        if let Some(value) = value(variable, &environment, objects, identity) {
            environment.insert(variable.name.clone(), value);
        }
    }
    environment
}

/// The command line: what is rendered, over what the image has.
pub(super) fn command(container: &Container, image: &Image, environment: &Environment) -> Vec<String> {
    let images = if container.command.is_none() { image.arguments.as_slice() } else { &[] };
    let command = container.command.as_deref().unwrap_or(&image.entrypoint);
    let arguments = container.args.as_deref().unwrap_or(images);
    command.iter().chain(arguments).map(|word| expand(word, environment)).collect()
}

fn value(variable: &EnvVar, known: &Environment, objects: &Objects, identity: &Identity) -> Option<String> {
    match &variable.value_from {
        None => Some(expand(variable.value.as_deref().unwrap_or_default(), known)),
        Some(ValueFrom::Field(field)) => Some(own(&field.field_path, identity)),
        Some(ValueFrom::Secret(of)) => one(&objects.secrets, of, "secret", identity),
        Some(ValueFrom::ConfigMap(of)) => one(&objects.config_maps, of, "config map", identity),
    }
}

fn own(field: &str, identity: &Identity) -> String {
    match field {
        "metadata.name" => identity.pod.clone(),
        "metadata.namespace" => identity.namespace.clone(),
        "metadata.uid" => format!("uid-of-{}", identity.pod),
        "spec.nodeName" => "this-machine".to_owned(),
        "spec.serviceAccountName" => identity.account.clone(),
        "status.podIP" => identity.address.clone(),
        other => panic!("{}: the field {other} is not known here", identity.pod),
    }
}

fn one(all: &BTreeMap<String, Content>, of: &KeyRef, kind: &str, identity: &Identity) -> Option<String> {
    let found = all.get(&of.name).and_then(|content| content.get(&of.key));
    assert!(
        found.is_some() || of.optional,
        "{}: there is no key {} in a {kind} {}",
        identity.pod,
        of.key,
        of.name
    );
    found.map(|value| utf8(value))
}

fn whole<'o>(all: &'o BTreeMap<String, Content>, of: &Reference, identity: &Identity) -> Option<&'o Content> {
    let found = all.get(&of.name);
    assert!(
        found.is_some() || of.optional,
        "{}: there is no {} to take variables from",
        identity.pod,
        of.name
    );
    found
}

fn utf8(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Puts in variables for `$(NAME)`. One that is not known stays as it is, and `$$` is a dollar.
pub(super) fn expand(text: &str, known: &Environment) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        expanded.push_str(before);
        let named = from.strip_prefix("$(").and_then(|name| name.split_once(')'));
        let (word, after) = match named {
            Some((name, after)) => match known.get(name) {
                Some(value) => (value.as_str(), after),
                None => (from.strip_suffix(after).unwrap_or(from), after),
            },
            None => ("$", from.strip_prefix("$$").or_else(|| from.strip_prefix('$')).unwrap_or_default()),
        };
        expanded.push_str(word);
        rest = after;
    }
    expanded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_as_kubernetes_does() {
        let known = Environment::from([("HOST".to_owned(), "10.0.0.1".to_owned())]);
        for (text, expanded) in [
            ("$(HOST):50051", "10.0.0.1:50051"),
            ("a$(HOST)b$(HOST)", "a10.0.0.1b10.0.0.1"),
            ("$(NOT_KNOWN)/$(HOST)", "$(NOT_KNOWN)/10.0.0.1"),
            ("$$(HOST)", "$(HOST)"),
            ("5$ and $(", "5$ and $("),
            ("", ""),
        ] {
            assert_eq!(expand(text, &known), expanded, "{text}");
        }
    }
}
