//! A headless Chromium, driven by its DevTools protocol over two pipes: no network, no libraries.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A page in a browser. The browser ends with it.
pub struct Page {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    next: u64,
    /// What the page asked for.
    pub requests: Vec<String>,
    /// What its scripts complained about.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// The browser: the variable CHROMIUM, or one of the usual names on the PATH.
pub fn chromium() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("CHROMIUM") {
        return Some(PathBuf::from(given));
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let mut found = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    found.find(|path| path.is_file())
}

impl Page {
    /// Opens a file in a window of some size, with light or dark colours.
    pub fn open(browser: &Path, file: &Path, size: [u32; 2], dark: bool) -> Self {
        Self::visit(browser, &format!("file://{}", file.display()), size, dark)
    }

    /// Opens an address.
    pub fn visit(browser: &Path, url: &str, size: [u32; 2], dark: bool) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let pipes = ["to", "from"].map(|name| profile.path().join(name));
        for pipe in &pipes {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        // The browser reads commands from its file 3 and answers on 4.
        let script = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --disable-background-networking --disable-component-update --disable-sync --disable-quic --hide-scrollbars \
            --remote-debugging-pipe --user-data-dir=\"$1/profile\" about:blank 3<\"$1/to\" 4>\"$1/from\"";
        let process = Command::new("sh")
            .args(["-c", script])
            .arg(browser)
            .arg(profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(&pipes[0]).unwrap();
        let from = BufReader::new(File::open(&pipes[1]).unwrap());
        let (requests, complaints) = (Vec::new(), Vec::new());
        let mut page = Self {
            process,
            to,
            from,
            session: String::new(),
            next: 1,
            requests,
            complaints,
            _profile: profile,
        };
        let target = page.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        page.session = attached["sessionId"].as_str().unwrap().to_string();
        page.call("Network.enable", json!({}));
        page.call("Runtime.enable", json!({}));
        page.call("Page.enable", json!({}));
        page.call("Log.enable", json!({}));
        page.look(size, dark);
        page.go(url);
        page
    }

    /// Goes to an address.
    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        for _ in 0..3000 {
            if self.eval("document.readyState") == "complete" && self.eval("location.href") != "about:blank" {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the page was not loaded");
    }

    /// The size of the window, and its colours.
    pub fn look(&mut self, size: [u32; 2], dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        // Without transitions, what is seen is what stays.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        let view = json!({ "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", view);
        // The page has seen it when two frames are drawn.
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    #[allow(clippy::needless_pass_by_value, reason = "callers make it on the spot")]
    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser has gone");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            match answer["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    self.requests.push(answer["params"]["request"]["url"].as_str().unwrap().to_string());
                }
                Some("Runtime.exceptionThrown") => self.complaints.push(answer["params"].to_string()),
                Some("Log.entryAdded") if answer["params"]["entry"]["level"] == "error" => {
                    self.complaints.push(answer["params"]["entry"]["text"].to_string());
                }
                _ => {}
            }
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of a script, or of what it promises.
    pub fn eval(&mut self, script: &str) -> Value {
        let wish = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", wish);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until a script is true.
    #[track_caller]
    pub fn wait(&mut self, script: &str) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(120) {
            if self.eval(script) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let shown = self.eval("document.body.innerText");
        panic!("never true: {script}\n{:?}\n{shown}", self.complaints);
    }

    /// Types text where the cursor is.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Moves the mouse to the middle of an element.
    pub fn hover(&mut self, selector: &str) {
        self.mouse("mouseMoved", selector);
    }

    /// Clicks an element with the mouse.
    pub fn click(&mut self, selector: &str) {
        self.mouse("mousePressed", selector);
        self.mouse("mouseReleased", selector);
    }

    fn mouse(&mut self, kind: &str, selector: &str) {
        // Where it is when nothing moves any more: an answer that comes in between would push something else there.
        let place = self.eval(&format!(
            "new Promise((done) => {{ \
             const place = () => {{ const box = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }}; \
             const look = (last) => requestAnimationFrame(() => {{ const now = place(); \
             if (now.join() === last.join()) done(now); else look(now); }}); look(place()); }})"
        ));
        let (button, clicks) = if kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
        let event =
            json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        // What a key does without a script depends on its number.
        let number = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            _ => 0,
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number,
                "text": if kind == "keyDown" { text } else { "" },
            });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// A picture of the whole page, as PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        base64(answer["data"].as_str().unwrap())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for value in text.bytes().filter_map(digit) {
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
