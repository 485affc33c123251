//! Files that are sent, translated and fetched.
#![allow(clippy::unwrap_used)]

mod running;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use running::{BEST, LINE, Running, model};
use serde_json::json;

fn form(fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes(),
        );
    }
    if let Some((name, content)) = file {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n");
        body.extend(format!("{head}Content-Type: application/octet-stream\r\n\r\n").bytes());
        body.extend(content);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    body
}

/// The status, and the body of the answer.
fn send(server: &Running, body: &[u8]) -> (u16, serde_json::Value) {
    let head = "POST /translate_file HTTP/1.1\r\nHost: here:1\r\nConnection: close\r\n";
    let kind = "Content-Type: multipart/form-data; boundary=b\r\n";
    let mut request = format!("{head}{kind}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    request.extend(body);
    let answer = server.raw(&request);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap())
}

const BOTH: [(&str, &str); 2] = [("source", "zh"), ("target", "en")];

/// What becomes of a file, and what it is called.
fn translated(server: &Running, name: &str, content: &str) -> (String, String) {
    let (status, answer) = send(server, &form(&BOTH, Some((name, content.as_bytes()))));
    assert_eq!(status, 200, "{answer}");
    let address = answer["translatedFileUrl"].as_str().unwrap().strip_prefix("http://here:1").unwrap();
    let answer =
        server.raw(format!("GET {address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains("nosniff") && head.contains("sandbox"),
        "{head}"
    );
    let name = head.lines().find_map(|line| line.strip_prefix("content-disposition: attachment; filename="));
    (name.unwrap().to_string(), body.to_string())
}

#[test]
fn texts_pages_and_subtitles_come_back_translated() {
    let server = Running::usual();
    let text = format!("{LINE}\r\n\r\n  {LINE}\n");
    let expected = format!("{BEST}\r\n\r\n  {BEST}\n");
    assert_eq!(translated(&server, "a.txt", &text), ("\"a_en.txt\"".into(), expected));
    let page = "<!DOCTYPE html>\n<!-- x --><p class=\"y\">下个月 我 会 见 我 的 <b>邻居</b> 。</p><script>a < b</script>";
    let expected = "<!DOCTYPE html>\n<!-- x --><p class=\"y\">next month I will meet my <b>neighbour</b> .</p><script>a < b</script>";
    assert_eq!(translated(&server, "b.HTM", page), ("\"b_en.htm\"".into(), expected.into()));
    let titles = "1\n00:00:01,000 --> 00:00:02,000\n下个月 我 会 见\n我 的 邻居 。\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>我 会 见 我 的 邻居 。</i>\n";
    let expected = "1\n00:00:01,000 --> 00:00:02,000\nnext month I will\nmeet my neighbour .\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>I will meet my neighbour .</i>\n";
    assert_eq!(translated(&server, "c.srt", titles), ("\"c_en.srt\"".into(), expected.into()));
    let units = "<trans-unit id=\"1\"><source>下个月 我 会 见 我 的 <g id=\"1\">邻居</g> 。</source></trans-unit>\
                 <trans-unit id=\"2\"><source>邻居</source><target>neighbor</target></trans-unit>";
    let target = "<target state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\">next month I will meet my <g id=\"1\">neighbour</g> .</target>";
    let expected = units.replacen("</source>", &format!("</source>{target}"), 1);
    assert_eq!(translated(&server, "e.xlf", units), ("\"e_en.xlf\"".into(), expected));
    assert_eq!(translated(&server, "d.txt", ""), ("\"d_en.txt\"".into(), String::new()));
}

#[test]
fn names_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.sylvan");
    std::fs::copy(model(), &path).unwrap();
    let server = Running::new(path, |_| {});
    let name = translated(&server, "../../x/\u{e9} y.txt", LINE).0;
    assert_eq!(name, "\"_.._x___y_en.txt\"");
    // Nothing was written.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    for wrong in ["m.sylvan", "..%2fm.sylvan", "%2e%2e", "x", "x.a_en.txt", "%00", "a/b", ""] {
        assert_eq!(server.ask("GET", &format!("/download_file/{wrong}"), "", "").0, 404, "{wrong}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let server = Running::new(model(), |config| config.limits.file = 100_000);
    let said = |body: &[u8], status: u16, error: &str| {
        assert_eq!(send(&server, body), (status, json!({ "error": error })));
    };
    let file = Some(("a.txt", LINE.as_bytes()));
    said(&form(&BOTH, None), 400, "Invalid request: missing file parameter");
    said(&form(&BOTH[1..], file), 400, "Invalid request: missing source parameter");
    said(&form(&BOTH[..1], file), 400, "Invalid request: missing target parameter");
    said(&form(&[("source", "zh"), ("target", "xx")], file), 400, "xx is not supported");
    for name in ["a", "a.docx", "a.txt.pdf"] {
        said(&form(&BOTH, Some((name, b"x"))), 400, "Invalid request: file format not supported");
    }
    said(&form(&BOTH, Some(("a.txt", b"\xff\xfe"))), 400, "Invalid request: the file is not text in UTF-8");
    said(&form(&BOTH, Some(("a.txt", &[b'x'; 100_001]))), 413, "Invalid request: it is too large");
    said(&form(&BOTH, Some(("a.txt", &[b'x'; 500_000]))), 413, "Invalid request: it is too large");
    // A form of the size of a file is none for other calls.
    let (_, settings) = server.ask("GET", "/frontend/settings", "", "");
    assert_eq!(
        (&settings["filesTranslation"], &settings["supportedFilesFormat"][0]),
        (&json!(true), &json!(".txt"))
    );
}

#[test]
fn who_sends_a_file_slowly_is_not_waited_for() {
    let server = Running::new(model(), |config| config.limits.request = Duration::from_millis(100));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head =
        "POST /translate_file HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n";
    stream.write_all(format!("{head}Content-Length: 10000\r\n\r\n--b\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}
