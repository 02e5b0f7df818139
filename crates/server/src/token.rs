//! Tokens: the unguessable first segment of the URL.
//!
//! Responsible for: creating a token, and storing it in a file of the user so that links survive a restart.
//! Rejects files readable by others and guessable tokens.

use railwright_spec::problem::Problem;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

/// Hexadecimal digits of a token: 128 bits.
const DIGITS: usize = 32;

/// 128 random bits as hexadecimal digits.
pub(crate) fn random() -> std::io::Result<String> {
    let mut bits = [0_u8; DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|error| std::io::Error::other(error.to_string()))?;
    // Writing to a String is infallible.
    Ok(bits.iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Token of a file. A missing file is created with a random token, readable only by its owner.
pub fn token_from_file(path: &Path) -> Result<String, Problem> {
    let name = path.display().to_string();
    let failed = |error: &std::io::Error| Problem::new(error.to_string()).in_file(name.clone());
    match create(path) {
        Ok(token) => return Ok(token),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(&error)),
    }
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    if is_open_to_others(&file.metadata().map_err(|error| failed(&error))?) {
        return Err(Problem::new("other users can read this token file")
            .in_file(name)
            .hint("run `chmod 600` on it, or delete it to create a new one"));
    }
    let mut text = String::new();
    let most = DIGITS as u64 * 2;
    file.take(most).read_to_string(&mut text).map_err(|error| failed(&error))?;
    let token = text.trim();
    if token.len() != DIGITS || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Problem::new(format!("expected {DIGITS} hexadecimal digits"))
            .in_file(name)
            .hint("delete the file to create a new one"));
    }
    Ok(token.to_ascii_lowercase())
}

fn create(path: &Path) -> std::io::Result<String> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let token = random()?;
    writeln!(file, "{token}")?;
    Ok(token)
}

#[cfg(unix)]
fn is_open_to_others(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_token_and_is_its_owners_alone() {
        let folder =
            std::env::temp_dir().join(format!("railwright-token-{}", random().expect("random bits")));
        std::fs::create_dir(&folder).expect("a folder");
        let path = folder.join("token");
        let made = token_from_file(&path).expect("made");
        assert_eq!(made.len(), DIGITS);
        assert_eq!(token_from_file(&path).expect("kept"), made);
        std::fs::write(&path, "short\n").expect("written");
        let problem = token_from_file(&path).expect_err("too short");
        assert!(problem.message.contains("32 hexadecimal digits"), "{problem:?}");
        std::fs::write(&path, "0".repeat(4096)).expect("written");
        assert!(token_from_file(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::write(&path, &made).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("opened");
            let problem = token_from_file(&path).expect_err("open to others");
            assert!(problem.message.contains("other users"), "{problem:?}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
