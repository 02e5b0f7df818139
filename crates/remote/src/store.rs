//! Connections to stores, with credentials from the environment.
//!
//! Responsible for: one connection pool for each container, and the variables that the stores' own tools read. Plain HTTP is allowed where the
//! user's endpoint has it. Never asks for credentials interactively.

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

/// Repetitions of a request that failed with 429, 5xx or without an answer.
const RETRIES: usize = 6;
/// No repetition after this time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Containers whose connections are kept.
const KEPT: usize = 16;

type Settings = Vec<(String, String)>;
type Kept = (String, Settings, Arc<dyn ObjectStore>);

static STORES: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The store of an address: one for each container, as long as the environment stays the same.
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

/// The variables of the environment that a store reads.
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
            // The length of a file is unknown where parts are refused: waits are limited piece by piece.
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
