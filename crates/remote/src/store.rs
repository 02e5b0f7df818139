//! Connections to stores, with credentials from the environment.
//!
//! Responsible for: one connection pool per container, and the variables of the stores' own tools. Plain HTTP
//! is allowed if the user's endpoint uses it. Never prompts for credentials.

use crate::address::Address;
use crate::failure::innermost;
use crate::profile;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};
use railwright_spec::Scheme;
use railwright_spec::problem::Problem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum retries of a request that failed with 429, 5xx or without a response.
const RETRIES: usize = 6;
/// Time limit of retries.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum number of containers with open connections.
const KEPT: usize = 16;

type Settings = Vec<(String, String)>;
type Kept = (String, Settings, Arc<dyn ObjectStore>);

static STORES: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Store of an address: one per container, while the environment is unchanged.
pub(crate) fn of(address: &Address) -> Result<Arc<dyn ObjectStore>, Problem> {
    let settings = settings(address.scheme);
    let name = format!("{:?} {}", address.scheme, address.container);
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., store)) = stores.iter().find(|(known, with, _)| *known == name && *with == settings) {
        return Ok(Arc::clone(store));
    }
    let store = connect(address).map_err(|error| {
        Problem::new(format!("invalid settings of the store: {}", innermost(&error))).in_file(address.shown())
    })?;
    if stores.len() >= KEPT {
        stores.remove(0);
    }
    stores.push((name, settings, Arc::clone(&store)));
    Ok(store)
}

/// Environment variables of a store.
fn settings(scheme: Scheme) -> Settings {
    let prefix = match scheme {
        Scheme::S3 => "AWS_",
        Scheme::Gs => "GOOGLE_",
        Scheme::Az => "AZURE_",
        Scheme::Http => return Vec::new(),
    };
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let mut all: Settings =
        std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with(prefix)).collect();
    all.sort();
    all
}

fn retry() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: PATIENCE }
}

fn connect(address: &Address) -> object_store::Result<Arc<dyn ObjectStore>> {
    Ok(match address.scheme {
        Scheme::S3 => Arc::new(profile::complete(s3(address)).build()?),
        Scheme::Gs => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(&address.container)
                .with_retry(retry())
                .build()?,
        ),
        Scheme::Az => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(&address.container)
                .with_retry(retry())
                .build()?,
        ),
        Scheme::Http => {
            // The length of a file is unknown without range requests, so time limits apply per piece.
            let options = ClientOptions::new()
                .with_timeout_disabled()
                .with_config(ClientConfigKey::AllowHttp, address.base.starts_with("http://").to_string());
            Arc::new(
                HttpBuilder::new()
                    .with_url(&address.container)
                    .with_client_options(options)
                    .with_retry(retry())
                    .build()?,
            )
        }
    })
}

fn s3(address: &Address) -> AmazonS3Builder {
    AmazonS3Builder::from_env().with_bucket_name(&address.container).with_retry(retry())
}
