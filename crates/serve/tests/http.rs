//! A server on loopback, asked by hand-written requests.
#![allow(clippy::unwrap_used)]

mod running;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use running::{BEST, LINE, Running, model};
use serde_json::{Value, json};

#[test]
fn a_text_is_translated_however_it_is_sent() {
    let server = Running::usual();
    let expected = (200, json!({ "translatedText": BEST }));
    let body = json!({ "q": LINE, "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &body), expected);
    let encoded: String = LINE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let form = format!("q={encoded}&source=zh&target=en");
    assert_eq!(server.ask("POST", "/translate", "application/x-www-form-urlencoded", &form), expected);
    assert_eq!(server.ask("POST", &format!("/translate?{form}"), "", ""), expected);
    let part = |name: &str, value: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let multipart =
        [part("q", LINE), part("source", "zh"), part("target", "en"), "--b--\r\n".into()].concat();
    assert_eq!(server.ask("POST", "/translate", "multipart/form-data; boundary=b", &multipart), expected);
}

#[test]
fn lists_documents_and_alternatives() {
    let server = Running::usual();
    let list = json!({ "q": [LINE, "", LINE], "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &list), (200, json!({ "translatedText": [BEST, "", BEST] })));
    let text = format!("{LINE}\n\n  {LINE}\n");
    let lines = json!({ "q": text, "source": "zh", "target": "en" });
    let expected = format!("{BEST}\n\n  {BEST}\n");
    assert_eq!(server.post("/translate", &lines), (200, json!({ "translatedText": expected })));
    let page = "<p>下个月 我 会 见 我 的 <b>邻居</b> 。</p><script>x < y</script>";
    let html = json!({ "q": page, "source": "zh", "target": "en", "format": "html" });
    let expected = "<p>next month I will meet my <b>neighbour</b> .</p><script>x < y</script>";
    assert_eq!(server.post("/translate", &html), (200, json!({ "translatedText": expected })));
    let several = json!({ "q": LINE, "source": "zh", "target": "en", "alternatives": 2 });
    let (status, answer) = server.post("/translate", &several);
    let others = answer["alternatives"].as_array().unwrap();
    assert!(status == 200 && others.len() == 2 && !others.contains(&json!(BEST)), "{answer}");
    let auto = json!({ "q": LINE, "source": "auto", "target": "en" });
    let detected = json!({ "confidence": 100.0, "language": "zh" });
    let expected = json!({ "translatedText": BEST, "detectedLanguage": detected });
    assert_eq!(server.post("/translate", &auto), (200, expected));
    assert_eq!(server.post("/detect", &json!({ "q": LINE })), (200, json!([detected])));
}

#[test]
fn what_is_wrong_is_said() {
    let server = Running::new(model(), |config| {
        config.limits.characters = Some(100);
        config.limits.body = 2000;
    });
    let said = |body: Value, status: u16, error: &str| {
        assert_eq!(server.post("/translate", &body), (status, json!({ "error": error })), "{body}");
    };
    let missing = |name: &str| format!("Invalid request: missing {name} parameter");
    said(json!({}), 400, &missing("q"));
    said(json!({ "q": "" }), 400, &missing("q"));
    said(json!({ "q": "x" }), 400, &missing("source"));
    said(json!({ "q": "x", "source": "zh" }), 400, &missing("target"));
    said(json!({ "q": "x", "source": "xx", "target": "en" }), 400, "xx is not supported");
    said(json!({ "q": "x", "source": "zh", "target": "xx" }), 400, "xx is not supported");
    let back = "Chinese (zh) is not available as a target language from English (en)";
    said(json!({ "q": "x", "source": "en", "target": "zh" }), 400, back);
    let format = json!({ "q": "x", "source": "zh", "target": "en", "format": "md" });
    said(format, 400, "md format is not supported");
    let count = json!({ "q": "x", "source": "zh", "target": "en", "alternatives": "x" });
    said(count, 400, "Invalid request: alternatives parameter is not a number");
    let long = "Invalid request: request (101) exceeds text limit (100)";
    said(json!({ "q": "x".repeat(101), "source": "zh", "target": "en" }), 400, long);
    let (status, _) = server.post("/translate", &json!({ "q": "x".repeat(3000) }));
    assert_eq!(status, 413);
    let broken = server.ask("POST", "/translate", "application/json", "{");
    assert_eq!(broken, (400, json!({ "error": "Invalid JSON format" })));
    assert_eq!(server.ask("GET", "/translate", "", "").0, 405);
    assert_eq!(server.ask("GET", "/../etc/passwd", "", "").0, 404);
    // And it still works.
    assert_eq!(server.ask("GET", "/health", "", ""), (200, json!({ "status": "ok" })));
}

#[test]
fn languages_and_settings_are_told() {
    let server = Running::usual();
    let expected = json!([
        { "code": "zh", "name": "Chinese", "targets": ["en"] },
        { "code": "en", "name": "English", "targets": [] },
    ]);
    for method in ["GET", "POST"] {
        assert_eq!(server.ask(method, "/languages", "", ""), (200, expected.clone()));
    }
    let (status, settings) = server.ask("GET", "/frontend/settings", "", "");
    assert_eq!((status, &settings["charLimit"], &settings["keyRequired"]), (200, &json!(-1), &json!(false)));
    let (status, metrics) = server.ask("GET", "/metrics", "", "");
    assert!(status == 200 && metrics.as_str().unwrap().contains("\nsylvan_models 1\n"), "{metrics}");
}

#[test]
fn a_key_is_needed_where_there_are_keys() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "# ours\nsecret\nother\n").unwrap();
    let server = Running::new(model(), |config| config.keys = Some(keys));
    let with = |key: Value| {
        server.post("/translate", &json!({ "q": LINE, "source": "zh", "target": "en", "api_key": key })).0
    };
    assert_eq!([json!("secret"), json!("other")].map(with), [200, 200]);
    let wrong = [json!("secre"), json!("secrets"), json!("# ours"), json!("Secret")];
    assert_eq!(wrong.map(with), [403; 4]);
    // Who has none is asked to get one.
    assert_eq!([json!(""), json!(null)].map(with), [400; 2]);
}

#[test]
fn who_says_nothing_is_shown_out() {
    let server = Running::new(model(), |config| config.limits.header = Duration::from_millis(300));
    for beginning in ["", "POST /translate HTTP/1.1\r\nHost: x\r\n"] {
        let started = Instant::now();
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(beginning.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(started.elapsed() < Duration::from_secs(10), "{beginning:?}");
    }
}

#[test]
fn who_sends_a_body_slowly_is_not_waited_for() {
    let server = Running::new(model(), |config| config.limits.request = Duration::from_millis(200));
    for path in ["/translate", "/detect", "/suggest"] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n");
        stream.write_all(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "408" | "503"), "{path}: {answer}");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let server = Running::usual();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [deep.as_str(), "\"x\"", "[]", "{\"q\": \"\\ud800\"}", "{\"q\": {}, \"source\": 1}"] {
        assert_eq!(server.ask("POST", "/translate", "application/json", body).0, 400);
    }
    let length = "Content-Length: 5\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let mut request = format!("POST /translate HTTP/1.1\r\nHost: x\r\n{length}\r\n").into_bytes();
    request.extend_from_slice(b"{\"\xff\xfe}");
    assert!(server.raw(&request).starts_with("HTTP/1.1 400"));
    // Bytes that are no text in a form are marked, not lost.
    let form = "q=%FF&source=zh&target=en";
    let (status, answer) = server.ask("POST", "/translate", "application/x-www-form-urlencoded", form);
    assert!(status == 200 && answer["translatedText"].is_string(), "{answer}");
    assert_eq!(server.ask("GET", "/health", "", "").0, 200);
}

#[test]
fn more_than_can_wait_is_refused_and_nobody_is_forgotten() {
    let server = Running::new(model(), |config| {
        config.threads = 1;
        config.limits.queue = 2;
    });
    let list: Vec<&str> = vec![LINE; 200];
    let body = json!({ "q": list, "source": "zh", "target": "en" });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || server.post("/translate", &body).0;
        let all: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
    let one = json!({ "q": LINE, "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &one).0, 200);
}

#[test]
fn answers_do_not_depend_on_what_else_is_asked() {
    let server = Running::usual();
    let body = json!({ "q": [LINE, "我 会 见 你 。"], "source": "zh", "target": "en" });
    let alone = server.post("/translate", &body);
    std::thread::scope(|scope| {
        let ask = || (0..20).for_each(|_| assert_eq!(server.post("/translate", &body), alone));
        (0..4).for_each(|_| drop(scope.spawn(ask)));
    });
}

#[test]
fn a_model_that_is_replaced_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    let server = Running::new(path.clone(), |_| {});
    let body = json!({ "q": LINE, "source": "zh", "target": "en" });
    assert_eq!(server.post("/translate", &body).0, 200);
    let replace = |from: &Path| {
        let beside = folder.path().join("new");
        std::fs::copy(from, &beside).unwrap();
        std::fs::rename(beside, &path).unwrap();
    };
    // Another model says something else.
    replace(&model().with_file_name("model-v1-raw.sylvan"));
    let started = Instant::now();
    while server.post("/translate", &body).1 == json!({ "translatedText": BEST }) {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing was opened again");
        std::thread::sleep(Duration::from_millis(100));
    }
    // A file that is no model is told about, and the one in use stays.
    let other = server.post("/translate", &body);
    replace(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.post("/translate", &body), other);
    // And then a model again.
    replace(&model());
    let started = Instant::now();
    while server.post("/translate", &body) == other {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing was opened again");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_was_begun_is_answered_when_it_stops() {
    let server = Running::usual();
    let list: Vec<&str> = vec![LINE; 300];
    let body = json!({ "q": list, "source": "zh", "target": "en" }).to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    drop(server);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.matches(BEST).count() == 300, "{}", answer.len());
}

#[test]
fn a_correction_counts_from_the_next_request_on_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    let ask = json!({ "q": LINE, "source": "zh", "target": "en" });
    let better = "soon I shall see my neighbour .";
    {
        let server = Running::new(path.clone(), |_| {});
        let suggest = |q: &str, s: &str| {
            server.post("/suggest", &json!({ "q": q, "s": s, "source": "zh", "target": "en" }))
        };
        assert_eq!(suggest(LINE, better), (200, json!({ "success": true })));
        assert_eq!(server.post("/translate", &ask), (200, json!({ "translatedText": better })));
        // The last one wins, and other sentences are as they were.
        assert_eq!(suggest(LINE, "see you ."), (200, json!({ "success": true })));
        assert_eq!(server.post("/translate", &ask), (200, json!({ "translatedText": "see you ." })));
        assert_eq!(suggest(LINE, better).0, 200);
        let list = json!({ "q": [LINE, "我 会 见 我 的 邻居 。"], "source": "zh", "target": "en" });
        let expected = json!({ "translatedText": [better, "I will meet my neighbour ."] });
        assert_eq!(server.post("/translate", &list), (200, expected));
        assert_eq!(suggest(&format!("{LINE}\n{LINE}"), "one line").0, 400);
        assert_eq!(suggest("", "x").0, 400);
    }
    let server = Running::new(path.clone(), |_| {});
    assert_eq!(server.post("/translate", &ask), (200, json!({ "translatedText": better })));
    let log = std::fs::read_to_string(folder.path().join("m.sylvan.overlay")).unwrap();
    assert_eq!(log.matches(" suggest: ").count(), 3, "{log}");
}

#[test]
fn nobody_from_elsewhere_corrects_without_a_key() {
    let mut server = Running::new(model(), |config| config.address = "0.0.0.0:0".parse().unwrap());
    server.address.set_ip("127.0.0.1".parse().unwrap());
    let body = json!({ "q": LINE, "s": "x", "source": "zh", "target": "en" });
    let expected = json!({ "error": "Suggestions are disabled on this server." });
    assert_eq!(server.post("/suggest", &body), (403, expected));
}
