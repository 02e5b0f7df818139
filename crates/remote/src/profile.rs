//! The shared files of AWS tools: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Responsible for: keys, region and endpoint of a profile with static keys, if the environment has none.
//! Excludes single sign-on, roles and credential processes: `aws configure export-credentials --format env`
//! turns these into variables.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Variables that select a credential source.
const SOURCES: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
    "AWS_SECRET_ACCESS_KEY",
];

/// Adds settings that the environment does not have. An endpoint with plain HTTP enables it, because the user
/// configured it.
pub(crate) fn complete(mut builder: AmazonS3Builder) -> AmazonS3Builder {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let profile = std::env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
    let file = |variable: &str, name: &str| {
        let path = std::env::var_os(variable).map(PathBuf::from);
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws").join(name));
        std::fs::read_to_string(path.or_else(home)?).ok()
    };
    if !SOURCES.iter().any(|name| set(name))
        && let Some(text) = file("AWS_SHARED_CREDENTIALS_FILE", "credentials")
    {
        let values = section(&text, &[&profile]);
        for (key, name) in [
            (Key::AccessKeyId, "aws_access_key_id"),
            (Key::SecretAccessKey, "aws_secret_access_key"),
            (Key::Token, "aws_session_token"),
        ] {
            if let Some(value) = values.get(name) {
                builder = builder.with_config(key, value);
            }
        }
    }
    if let Some(text) = file("AWS_CONFIG_FILE", "config") {
        let values = section(&text, &[&profile, &format!("profile {profile}")]);
        let no_region = !set("AWS_REGION") && !set("AWS_DEFAULT_REGION");
        if let Some(region) = values.get("region").filter(|_| no_region) {
            builder = builder.with_region(region);
        }
        let no_endpoint =
            !["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"].iter().any(|name| set(name));
        if let Some(endpoint) = values.get("endpoint_url").filter(|_| no_endpoint) {
            builder = builder.with_endpoint(endpoint);
        }
    }
    let endpoints = [Key::S3Endpoint, Key::Endpoint].iter().find_map(|key| builder.get_config_value(key));
    if endpoints.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    builder
}

/// Values of a section of an INI file, under any of its names. The first value of a key counts.
fn section(text: &str, names: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut inside = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = names.contains(&name.trim());
        } else if inside && let Some((key, value)) = line.split_once('=') {
            found.entry(key.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_one_section() {
        let text = "[default]\naws_access_key_id = A\n\n# note\n[profile lab]\nregion=eu-west-1\naws_access_key_id=B=\n[other]\nregion = x\n";
        assert_eq!(section(text, &["default"]).get("aws_access_key_id").map(String::as_str), Some("A"));
        let lab = section(text, &["lab", "profile lab"]);
        assert_eq!(lab.get("region").map(String::as_str), Some("eu-west-1"));
        assert_eq!(lab.get("aws_access_key_id").map(String::as_str), Some("B="));
        assert!(section(text, &["missing"]).is_empty());
    }
}
