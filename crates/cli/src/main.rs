//! The program `railwright`: the crate's [`main`](railwright::main), and the allocator.
//!
//! Responsible for: parts that only a program has. Everything else is in the library, which the Python
//! package links as well.

/// The allocator of musl takes one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A page calls the exported functions of the library instead.
#[cfg(target_family = "wasm")]
fn main() {
    railwright::exported();
}

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    railwright::main(railwright_report::is_stdout_closed())
}
