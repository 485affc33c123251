//! `sylvan serve` as a process: killed while it learns, told to stop, and what it opens.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// A server that is killed when it is dropped.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn new(model: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sylvan"))
            .args(["serve", "--port", "0", "--threads", "2", "--model"])
            .arg(format!("zh:en={}", model.display()))
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening at http://").expect(&first).to_string();
        Self { child, address }
    }

    /// The status and the body of an answer; none if there is no whole one.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or(Value::String(body.to_string()))))
    }

    fn translated(&self, text: &str) -> Option<String> {
        let body = json!({ "q": text, "source": "zh", "target": "en" }).to_string();
        let (status, answer) = self.ask("POST", "/translate", &body)?;
        assert_eq!(status, 200, "{answer}");
        Some(answer["translatedText"].as_str().unwrap().to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SIGKILL, to this process alone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copied() -> (tempfile::TempDir, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats/model-v1.sylvan");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(from, &path).unwrap();
    (folder, path)
}

#[test]
fn no_correction_that_was_answered_is_lost_when_the_server_is_killed() {
    const CORRECTIONS: usize = 100;
    const KILLS: usize = 5;
    let (_folder, model) = copied();
    let sentence = |number: usize| format!("\u{6211} \u{4f1a} \u{89c1} {number} \u{3002}");
    let better = |number: usize| format!("number {number} it is .");
    let next = AtomicUsize::new(0);
    let mut answered: Vec<usize> = Vec::new();
    let log = model.with_extension("sylvan.overlay");
    for kill in 1..=KILLS {
        // A kill in the middle of a line, which is not often hit by chance.
        if kill > 1 {
            let mut file = std::fs::File::options().append(true).open(&log).unwrap();
            file.write_all("#: 2026-11-18T09:50:00Z suggest: \u{6211} ||| me\n#{\nadd X(\u{6211}".as_bytes())
                .unwrap();
            file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        }
        let server = Running::new(&model, &[]);
        // What was answered before the last kill is there.
        for &number in &answered {
            assert_eq!(
                server.translated(&sentence(number)),
                Some(better(number)),
                "after {} kills",
                kill - 1
            );
        }
        let until = CORRECTIONS * kill / KILLS;
        let address = &server.address;
        let correct = || {
            let mut kept = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= CORRECTIONS + KILLS * 4 {
                    return kept;
                }
                let body =
                    json!({ "q": sentence(number), "s": better(number), "source": "zh", "target": "en" });
                match server.ask("POST", "/suggest", &body.to_string()) {
                    Some((200, answer)) if answer == json!({ "success": true }) => kept.push(number),
                    Some(other) => panic!("{other:?} at {address}"),
                    None => return kept,
                }
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(correct)).collect();
            // In the middle of whatever it is doing then.
            while next.load(Ordering::Relaxed) < until {
                std::thread::yield_now();
            }
            let pid = server.child.id().to_string();
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
            threads.into_iter().for_each(|thread| answered.extend(thread.join().unwrap()));
        });
    }
    assert!(answered.len() >= CORRECTIONS / 2, "only {} were answered", answered.len());
    let server = Running::new(&model, &[]);
    for &number in &answered {
        assert_eq!(server.translated(&sentence(number)), Some(better(number)), "after all kills");
    }
    // And it goes on from there.
    let body = json!({ "q": sentence(0), "s": "at last .", "source": "zh", "target": "en" }).to_string();
    assert_eq!(server.ask("POST", "/suggest", &body).unwrap().0, 200);
    assert_eq!(server.translated(&sentence(0)).unwrap(), "at last .");
}

#[test]
fn it_ends_when_it_is_told_to() {
    let (_folder, model) = copied();
    let mut server = Running::new(&model, &[]);
    assert_eq!(server.ask("GET", "/ready", "").unwrap().0, 200);
    let pid = server.child.id().to_string();
    // A hang-up signal opens the models again, and it goes on.
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(server.ask("GET", "/ready", "").unwrap().0, 200);
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(server.child.wait().unwrap().success());
    assert!(server.ask("GET", "/health", "").is_none());
}

/// Names of the files that a process has open.
#[cfg(target_os = "linux")]
fn open_files(pid: u32) -> Vec<PathBuf> {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let names = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
    let mut names: Vec<PathBuf> = names.filter(|name| name.is_absolute() && name.is_file()).collect();
    names.sort();
    names
}

#[cfg(target_os = "linux")]
#[test]
fn no_name_in_a_request_opens_a_file() {
    let (folder, model) = copied();
    std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    let server = Running::new(&model, &[]);
    let before = open_files(server.child.id());
    let tricks = [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/download_file/..%2fsecret.txt",
        "/download_file/secret.txt",
        "/download_file/%2fetc%2fpasswd",
        "/v2/glossaries/..%2f..%2fsecret",
        "/v2/glossaries/..%2fm.sylvan/entries",
        "/v3/glossaries/%2e%2e/entries",
        "/v1/corrections?layer=../secret.txt",
        "/v1/corrections?layer=%00",
        "/openapi.json/../../secret.txt",
    ];
    for path in tricks {
        let (status, answer) = server.ask("GET", path, "").unwrap();
        assert!((400..500).contains(&status), "{path}: {status} {answer}");
        assert!(!answer.to_string().contains("secret\""), "{path}: {answer}");
    }
    assert_eq!(open_files(server.child.id()), before);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
