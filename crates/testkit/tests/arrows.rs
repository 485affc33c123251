//! No arrow leads upwards between modules: inside a crate, the top-level modules use each other without cycles, so
//! that each can be read with those below it and no others.
//!
//! An arrow leads from a module to every other that its files name: by `crate::module::..`, by `crate::Name` where the
//! crate's root re-exports `Name` from there, or by as many `super::` as lead to the root. Tests and comments do not
//! count. The sources are read as rustfmt leaves them; this is no parser of Rust.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// From module to module, and one place that says so.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn no_arrow_leads_upwards_between_modules() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names: Vec<String> = std::fs::read_dir(&crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| crates.join(name).join("src").is_dir())
        .collect();
    names.sort();
    assert!(names.len() > 10, "this test looks in the wrong place");
    let mut wrong = Vec::new();
    for name in &names {
        let cycles = cycles(&arrows(&crates.join(name).join("src")));
        wrong.extend(cycles.iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(wrong.is_empty(), "modules that use each other in a circle:\n{}", wrong.join("\n"));
}

/// All arrows between the modules that a crate's root declares.
fn arrows(source: &Path) -> Arrows {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|path| path.exists());
    let root = code(&root.unwrap());
    let modules: BTreeSet<String> = root
        .lines()
        .filter_map(|line| line.split("mod ").nth(1)?.strip_suffix(';'))
        .map(str::to_string)
        .collect();
    let exported = exported(&root, &modules);
    let mut arrows = Arrows::new();
    for module in &modules {
        let from = arrows.entry(module.clone()).or_default();
        for (file, depth) in files(source, module) {
            let text = code(&file);
            // `super::` at the depth of a file leads to the root, as `crate::` does.
            for root in ["crate::".to_string(), "super::".repeat(depth)] {
                for (at, _) in text.match_indices(&root) {
                    if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                        continue;
                    }
                    for (path, _) in paths(&text[at + root.len()..]) {
                        let named = modules.get(&path[0]).or_else(|| exported.get(&path[0]));
                        let Some(to) = named.filter(|&to| to != module) else { continue };
                        let line = text[..at].matches('\n').count() + 1;
                        let file = file.strip_prefix(source).unwrap().display();
                        from.entry(to.clone()).or_insert_with(|| format!("{file}:{line}"));
                    }
                }
            }
        }
    }
    arrows
}

/// The files of a module, each with the number of `super::` that lead from it to the root.
fn files(source: &Path, module: &str) -> Vec<(PathBuf, usize)> {
    let mut files = Vec::new();
    let mut left = vec![(source.join(format!("{module}.rs")), 1), (source.join(module), 1)];
    while let Some((path, depth)) = left.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path).unwrap() {
                let entry = entry.unwrap().path();
                let itself = entry.ends_with("mod.rs");
                left.push((entry, if itself { depth } else { depth + 1 }));
            }
        } else if path.exists() && path.extension().is_some_and(|ending| ending == "rs") {
            files.push((path, depth));
        }
    }
    files.sort();
    files
}

/// A file without comments and tests, its lines where they were. What belongs to a `#[cfg(test)]` ends with the first
/// line of the same indentation that closes something.
fn code(path: &Path) -> String {
    let mut kept = String::new();
    let mut skipped: Option<usize> = None;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let comment = line.match_indices("//").find(|(at, _)| line[..*at].matches('"').count() % 2 == 0);
        let line = comment.map_or(line, |(at, _)| &line[..at]).trim_end();
        let indent = line.len() - line.trim_start().len();
        match skipped {
            Some(outer) if indent == outer && line.ends_with([';', '}']) => skipped = None,
            Some(_) => {}
            None if line.trim_start() == "#[cfg(test)]" => skipped = Some(indent),
            None => kept.push_str(line),
        }
        kept.push('\n');
    }
    kept
}

/// The names that the root takes from its modules, and from which.
fn exported(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    let uses = root.match_indices("use ").filter(|(at, _)| {
        let line = root[..*at].rsplit('\n').next().unwrap();
        line.is_empty() || line.starts_with("pub")
    });
    for (at, _) in uses {
        let tree = &root[at + "use ".len()..];
        let tree = ["crate::", "self::"].iter().find_map(|start| tree.strip_prefix(start)).unwrap_or(tree);
        for (path, name) in paths(tree) {
            if modules.contains(&path[0]) {
                assert_ne!(name, "*", "a crate's root names what it re-exports: {}", path.join("::"));
                exported.insert(name, path[0].clone());
            }
        }
    }
    exported
}

/// The paths at the start of a text, such as `a::{b::C, D as E}`, each with the name that it gets.
fn paths(text: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    read_paths(&mut &*text, &[], &mut found);
    found
}

fn read_paths(rest: &mut &str, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut path = before.to_vec();
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            *rest = list.trim_start();
            while !rest.starts_with('}') && !rest.is_empty() {
                let length = rest.len();
                read_paths(rest, &path, found);
                *rest = rest.trim_start().trim_start_matches(',').trim_start();
                if rest.len() == length {
                    return; // No list of paths.
                }
            }
            *rest = rest.strip_prefix('}').unwrap_or(rest);
            return;
        }
        let word = word(rest);
        path.extend((!word.is_empty()).then(|| word.to_string()));
        *rest = &rest[word.len()..];
        match rest.strip_prefix("::") {
            Some(next) if !word.is_empty() => *rest = next,
            _ => break,
        }
    }
    let Some(mut name) = path[before.len()..].last().cloned() else { return };
    if let Some(next) = rest.strip_prefix(" as ") {
        name = word(next).to_string();
        *rest = &next[name.len()..];
    }
    found.push((path, name));
}

/// The name at the start of a text, or a star.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    &text[..end.unwrap_or(text.len())]
}

/// The shortest cycle through each module that lies on one, each cycle once, with a place for each arrow.
fn cycles(arrows: &Arrows) -> BTreeSet<String> {
    let mut cycles = BTreeMap::new();
    for start in arrows.keys() {
        let mut before: BTreeMap<&String, &String> = BTreeMap::new();
        let mut left = VecDeque::from([start]);
        while let Some(at) = left.pop_front() {
            for to in arrows[at].keys() {
                if !before.contains_key(to) {
                    before.insert(to, at);
                    left.push_back(to);
                }
            }
        }
        let Some(&last) = before.get(start) else { continue };
        let mut modules = vec![start, last];
        while modules[modules.len() - 1] != start {
            modules.push(before[modules[modules.len() - 1]]);
        }
        modules.reverse();
        let shown: Vec<String> = modules
            .windows(2)
            .map(|pair| format!("{} -> {} ({})", pair[0], pair[1], arrows[pair[0]][pair[1]]))
            .collect();
        let on: BTreeSet<&String> = modules.into_iter().collect();
        cycles.entry(on).or_insert_with(|| shown.join(", "));
    }
    cycles.into_values().collect()
}

#[test]
fn paths_are_read_with_braces_and_renames() {
    let read = |text: &str| -> Vec<String> {
        paths(text).into_iter().map(|(path, name)| format!("{} {name}", path.join("::"))).collect()
    };
    assert_eq!(read("a::b(c)"), ["a::b b"]);
    assert_eq!(read("Name { x }"), ["Name Name"]);
    assert_eq!(read("{A, b::C as D};"), ["A A", "b::C D"]);
    assert_eq!(read("{\n    A, b::{C, d::*},\n    E,\n};\nuse x;"), ["A A", "b::C C", "b::d::* *", "E E"]);
    assert_eq!(read("a::{self, B}, c"), ["a::self self", "a::B B"]);
}

#[test]
fn a_cycle_is_told_with_its_places() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\n#[cfg(test)]\nmod d;\npub use b::{\n    Of as Ob,\n};\n");
    write("a.rs", "// crate::b::x\nuse crate::c::X;\n#[cfg(test)]\nmod tests {\n    use crate::b::y;\n}\n");
    write("c.rs", "pub struct X;\n");
    write("b/mod.rs", "mod inner;\n");
    write("b/inner.rs", "fn f() {\n    super::super::a::g();\n}\n");
    assert!(cycles(&arrows(folder.path())).is_empty(), "{:?}", arrows(folder.path()));
    write("c.rs", "pub struct X(crate::Ob);\n");
    let found: Vec<String> = cycles(&arrows(folder.path())).into_iter().collect();
    assert_eq!(found, ["a -> c (a.rs:2), c -> b (c.rs:1), b -> a (b/inner.rs:2)"]);
}
