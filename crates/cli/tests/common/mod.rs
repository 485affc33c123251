//! How the tests run the program.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod corpus;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program in a folder with some input.
pub fn run_in(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sylvan"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs the program where the tests run.
pub fn run(arguments: &[&str], input: &str) -> Output {
    run_in(Path::new("."), arguments, input)
}
