//! Each crate has a README for those who find it on its own: what its root module says about itself. After a change of
//! these words, `SYLVAN_UPDATE=1 cargo test -p sylvan-testkit --test readmes` writes it anew.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// The crates that people can have.
fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = all.filter(|path| path.join("Cargo.toml").exists()).collect();
    all.retain(|path| !manifest(path).contains("publish = false"));
    all.sort();
    assert!(all.len() > 15, "this test looks in the wrong place");
    all
}

fn manifest(path: &Path) -> String {
    std::fs::read_to_string(path.join("Cargo.toml")).unwrap()
}

/// The words of a root module as Markdown: links of the documentation are names, hidden lines of examples are gone.
fn readme(path: &Path) -> String {
    let root =
        ["src/lib.rs", "src/main.rs"].map(|name| path.join(name)).into_iter().find(|path| path.exists());
    let text = std::fs::read_to_string(root.unwrap()).unwrap();
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            inside = !inside;
            out.push_str(if inside && line == "```" { "```rust" } else { line });
            out.push('\n');
        } else if !inside || !(line == "#" || line.starts_with("# ")) {
            out.push_str(&if inside { line.to_string() } else { without_links(line) });
            out.push('\n');
        }
    }
    let name = manifest(path).split("name = \"").nth(1).unwrap().split('"').next().unwrap().to_string();
    format!(
        "# {name}\n\n{}\n\nPart of Sylvan: left-to-right, syntax-based machine translation in Rust.\n\n\
         ## Licence\n\nMIT or Apache-2.0, at your option.\n",
        out.trim()
    )
}

/// `[`X`](path)` and `[`X`]` are `X`.
fn without_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, behind)) = after.split_once("`]") else { break };
        out.push_str(before);
        out.push_str(&format!("`{name}`"));
        rest = match behind.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, behind)) => behind,
            None => behind,
        };
    }
    out + rest
}

#[test]
fn each_crate_says_what_it_is() {
    let mut wrong = Vec::new();
    for path in crates() {
        let manifest = manifest(&path);
        for field in ["description = ", "readme = \"README.md\"", "keywords = ", "license.workspace = true"] {
            if !manifest.contains(field) {
                wrong.push(format!("{}: no {field}", path.display()));
            }
        }
        let (file, expected) = (path.join("README.md"), readme(&path));
        if std::env::var_os("SYLVAN_UPDATE").is_some() {
            std::fs::write(&file, &expected).unwrap();
        }
        if std::fs::read_to_string(&file).is_ok_and(|found| found == expected) {
            continue;
        }
        wrong.push(format!("{}: says something else than the root module", file.display()));
    }
    assert!(wrong.is_empty(), "{}\nrun with SYLVAN_UPDATE=1 to write READMEs anew", wrong.join("\n"));
}
