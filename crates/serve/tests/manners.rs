//! What holds for all calls: methods, pages of other origins, silence, clients that do not read, leave, or ask for too much,
//! and the end.
#![allow(clippy::unwrap_used)]

mod running;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use running::{BEST, LINE, Running, model};
use serde_json::json;

fn connected(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// A request for the translation of many sentences, sent and not answered yet.
fn book(server: &Running, sentences: usize) -> TcpStream {
    let body = json!({ "q": vec![LINE; sentences], "source": "zh", "target": "en" }).to_string();
    let mut stream = connected(server);
    let head =
        "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n";
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    stream
}

/// A figure of the metrics.
fn figure(server: &Running, name: &str) -> u64 {
    let (_, metrics) = server.ask("GET", "/metrics", "", "");
    let line = metrics.as_str().unwrap().lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap().parse().unwrap()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn methods_and_addresses_that_are_not_there_are_refused_in_json() {
    let server = Running::usual();
    let said = |method: &str, path: &str| server.ask(method, path, "", "");
    assert_eq!(said("GET", "/nothing"), (404, json!({ "error": "Not Found" })));
    assert_eq!(said("PUT", "/v2/nothing"), (404, json!({ "message": "Not Found" })));
    assert_eq!(said("GET", "/translate"), (405, json!({ "error": "Method Not Allowed" })));
    assert_eq!(said("DELETE", "/v2/translate"), (405, json!({ "message": "Method Not Allowed" })));
    let bad = said("GET", "/v2/glossaries/%FF");
    assert!(bad.0 == 400 && bad.1["message"].is_string(), "{bad:?}");
    let head = server.head("GET /translate HTTP/1.1\r\nHost: x\r\n");
    assert!(head.contains("\r\nallow: post\r\n"), "{head}");
    // HEAD is GET without a body.
    for path in ["/health", "/nothing", "/translate"] {
        let answer =
            server.raw(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes());
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}

#[test]
fn pages_may_ask_from_anywhere_and_ask_whether_they_may() {
    let server = Running::usual();
    let preflight = "OPTIONS /translate HTTP/1.1\r\nHost: x\r\nOrigin: http://page.example\r\n\
                     Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n";
    let head = server.head(preflight);
    assert!(head.starts_with("http/1.1 204"), "{head}");
    for header in ["allow: post", "access-control-allow-origin: *", "access-control-max-age: 86400"] {
        assert!(head.contains(&format!("\r\n{header}")), "{header}: {head}");
    }
    assert!(
        head.lines()
            .any(|line| line.starts_with("access-control-allow-headers") && line.contains("content-type"))
    );
    assert_eq!(server.ask("OPTIONS", "/nothing", "", "").0, 404);
    for path in ["/health", "/nothing"] {
        let head = server.head(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n"));
        assert!(head.contains("\r\naccess-control-allow-origin: *"), "{path}: {head}");
    }
}

#[test]
fn a_page_from_elsewhere_changes_nothing_and_reads_no_corrections() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    let server = Running::new(path.clone(), |_| {});
    let port = server.address.port();
    let status = |method: &str, path: &str, host: &str, origin: Option<&str>| {
        let body = json!({ "q": LINE, "s": "x", "source": "zh", "target": "en" }).to_string();
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        server.raw(request.as_bytes()).split(' ').nth(1).unwrap().to_string()
    };
    let here = format!("127.0.0.1:{port}");
    for path in ["/suggest", "/v1/corrections", "/v2/glossaries", "/v3/glossaries"] {
        for origin in ["http://page.example", "https://127.0.0.1", "http://127.0.0.1:1", "null", ""] {
            assert_eq!(status("POST", path, &here, Some(origin)), "403", "{path} {origin}");
            assert_eq!(status("GET", path, &here, Some(origin)), "403", "{path} {origin}");
        }
        // A name that leads here is no proof of being from here.
        let other = format!("page.example:{port}");
        assert_eq!(status("POST", path, &other, Some(&format!("http://{other}"))), "403", "{path}");
        // Nor when a page reads from its own host, and so does not say where it is from.
        assert_eq!(status("GET", path, &other, None), "403", "{path}");
    }
    assert!(!path.with_extension("sylvan.overlay").exists());
    // Our own page and programs may, and anybody may translate.
    assert_eq!(status("POST", "/translate", &here, Some("http://page.example")), "200");
    assert_eq!(status("POST", "/suggest", &here, Some(&format!("http://{here}"))), "200");
    let named = format!("localhost:{port}");
    assert_eq!(status("POST", "/suggest", &named, Some(&format!("http://{named}"))), "200");
    assert_eq!(status("POST", "/suggest", "x", None), "200");
    for host in [here.as_str(), named.as_str(), "192.168.0.7", "[::1]:5000", "x"] {
        assert_eq!(status("GET", "/v1/corrections", host, None), "200", "{host}");
    }
}

#[test]
fn who_says_nothing_between_requests_is_shown_out() {
    let server = Running::new(model(), |config| config.limits.header = Duration::from_millis(300));
    let mut stream = connected(&server);
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    // Ends when the server has closed the connection, and fails when it has not within a minute.
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("{\"status\":\"ok\"}"), "{answer}");
}

#[test]
fn who_does_not_read_gives_the_place_to_others() {
    let server = Running::new(model(), |config| {
        config.limits.connections = 1;
        config.limits.answer = Duration::from_millis(300);
    });
    let mut deaf = connected(&server);
    deaf.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    // Far more than the system keeps for a connection.
    for _ in 0..1000 {
        if deaf.write_all(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n").is_err() {
            break;
        }
    }
    let mut other = connected(&server);
    other.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_book_sends_nobody_away_and_keeps_nobody_waiting() {
    let server = Running::new(model(), |config| {
        config.threads = 1;
        config.limits.queue = 16;
        config.limits.request = Duration::from_secs(120);
    });
    let mut book = book(&server, 3000);
    wait_until("the book waits", || figure(&server, "sylvan_waiting_sentences") > 100);
    // Each of these has its turn while the book is at it.
    let body = json!({ "q": LINE, "source": "zh", "target": "en" });
    for _ in 0..5 {
        assert_eq!(server.post("/translate", &body), (200, json!({ "translatedText": BEST })));
    }
    assert!(figure(&server, "sylvan_waiting_sentences") > 100, "the book was first");
    let mut answer = String::new();
    book.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches(BEST).count(), 3000);
    assert_eq!(figure(&server, "sylvan_waiting_sentences"), 0);
    assert_eq!(figure(&server, "sylvan_sentences_total"), 3005);
}

#[test]
fn what_nobody_waits_for_is_dropped() {
    let server = Running::new(model(), |config| {
        config.threads = 1;
        config.limits.request = Duration::from_secs(120);
    });
    let book = book(&server, 20_000);
    wait_until("the book waits", || figure(&server, "sylvan_waiting_sentences") > 100);
    drop(book);
    wait_until("the book is dropped", || figure(&server, "sylvan_waiting_sentences") == 0);
    let made = figure(&server, "sylvan_sentences_total");
    assert!(made < 19_000, "{made} of 20000 sentences were translated for nobody");
    let body = json!({ "q": LINE, "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &body).0, 200);
}

#[test]
fn who_is_sent_away_is_told_when_to_come_back() {
    let server = Running::new(model(), |config| {
        config.threads = 1;
        config.limits.queue = 1;
        config.limits.request = Duration::from_secs(120);
    });
    let book = book(&server, 3000);
    wait_until("the book waits", || figure(&server, "sylvan_waiting_sentences") > 100);
    let body = "q=x&source=zh&target=en";
    let head = server.raw(
        format!(
            "POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    );
    assert!(head.starts_with("HTTP/1.1 503") && head.contains("\r\nretry-after: 1\r\n"), "{head}");
    assert!(figure(&server, "sylvan_refused_total") > 0);
    drop(book);
}

#[test]
fn while_it_stops_it_says_so() {
    let server = Running::new(model(), |config| {
        config.threads = 1;
        config.limits.request = Duration::from_secs(120);
        config.limits.stopping = Duration::from_secs(120);
    });
    assert_eq!(server.ask("GET", "/ready", "", ""), (200, json!({ "status": "ready" })));
    let mut book = book(&server, 3000);
    wait_until("the book waits", || figure(&server, "sylvan_waiting_sentences") > 100);
    let address = server.address;
    let ask = |method: &str, path: &str| -> Option<String> {
        let mut stream = TcpStream::connect(address).ok()?;
        let request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    };
    let stopping = std::thread::spawn(move || drop(server));
    let started = Instant::now();
    while !ask("GET", "/ready").unwrap().starts_with("HTTP/1.1 503") {
        assert!(started.elapsed() < Duration::from_secs(30), "it does not stop");
    }
    assert!(ask("GET", "/ready").unwrap().ends_with("{\"status\":\"stopping\"}"));
    let refused = ask("POST", "/translate").unwrap();
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"), "{refused}");
    // What was begun is answered, and then nobody is there.
    let mut answer = String::new();
    book.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches(BEST).count(), 3000);
    stopping.join().unwrap();
    assert!(ask("GET", "/health").is_none());
}

#[test]
fn long_sentences_are_translated_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    let server = Running::new(path.clone(), |_| {});
    let long = vec!["邻居"; 1500].join(" ");
    let (status, answer) = server.post("/v1/translate", &json!({ "text": long }));
    let sentences = answer["translations"][0]["sentences"].as_array().unwrap();
    let pieces: Vec<&str> = sentences
        .iter()
        .map(|sentence| {
            let [start, end]: [usize; 2] = serde_json::from_value(sentence["bytes"].clone()).unwrap();
            &long[start..end]
        })
        .collect();
    assert_eq!((status, pieces.len(), pieces.join(" ")), (200, 3, long.clone()));
    assert!(pieces.iter().all(|piece| piece.chars().count() <= 2000));
    assert_eq!(server.post("/translate", &json!({ "q": long, "source": "zh", "target": "en" })).0, 200);
    // What is about one sentence is about one that is not cut: no piece would ever be what was corrected.
    for (path, body) in [
        ("/v1/explain", json!({ "text": long })),
        ("/v1/alternatives", json!({ "text": long, "span": [0, 1] })),
        ("/v1/corrections", json!({ "text": long, "translation": "x" })),
        ("/v1/corrections", json!({ "text": format!("{LINE}\n{long}"), "translation": "x\ny" })),
        ("/suggest", json!({ "q": long, "s": "x", "source": "zh", "target": "en" })),
    ] {
        let (status, answer) = server.post(path, &body);
        assert!(
            status == 400 && answer["error"].as_str().unwrap().contains("2000 characters"),
            "{path} {answer}"
        );
    }
    assert!(!path.with_extension("sylvan.overlay").exists());
    let longest = format!("{}\u{e9}", "x".repeat(1999));
    let corrected = json!({ "text": longest, "translation": "short ." });
    assert_eq!(server.post("/v1/corrections", &corrected).0, 200);
    let ask = json!({ "q": longest, "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &ask), (200, json!({ "translatedText": "short ." })));
}

#[test]
fn who_says_that_there_is_too_much_is_refused_before_it_is_sent() {
    let server = Running::new(model(), |config| config.limits.request = Duration::from_secs(600));
    for path in ["/translate", "/v1/translate", "/v2/translate", "/translate_file"] {
        let mut stream = connected(&server);
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n");
        stream.write_all(format!("{head}Content-Length: 100000000\r\n\r\n").as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{path}");
    }
}
