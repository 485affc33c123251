//! The page of `sylvan serve` in a real browser: everything that it can do is done once, and looked at.
//! Needs Chromium (variable CHROMIUM, or on the PATH); without it the test says that it was skipped. With
//! SYLVAN_PICTURES=docs/pictures it makes the pictures of docs/page.md; with SYLVAN_AXE=.../axe.min.js (npm's axe-core)
//! it checks accessibility.
#![allow(clippy::unwrap_used, clippy::print_stderr, unreachable_pub)]

mod browser;
mod common;
mod served;

use std::path::Path;

use browser::{Page, chromium};
use serde_json::{Value, json};
use served::{Server, ask, click, count, fill, models, settled, text, translate};

const NARROW: [u32; 2] = [400, 800];
const WIDE: [u32; 2] = [1280, 900];

fn picture(page: &mut Page, name: &str) {
    if let Some(folder) = std::env::var_os("SYLVAN_PICTURES") {
        std::fs::write(Path::new(&folder).join(format!("page-{name}.png")), page.picture()).unwrap();
    }
}

/// What axe-core finds that is serious or critical, in both colours and at both widths.
fn accessible(page: &mut Page, what: &str) {
    let Some(axe) = std::env::var_os("SYLVAN_AXE") else {
        eprintln!("SKIPPED: no axe-core; set SYLVAN_AXE to axe.min.js to check accessibility ({what})");
        return;
    };
    // Put in by the debugger: the page's policy would not let it in.
    page.eval(&std::fs::read_to_string(&axe).unwrap());
    for (size, dark) in [(WIDE, false), (WIDE, true), (NARROW, false), (NARROW, true)] {
        page.look(size, dark);
        let script = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations\
            .filter((one) => one.impact === 'serious' || one.impact === 'critical')\
            .map((one) => `${one.id}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).join('; ')}`))";
        assert_eq!(page.eval(script), json!([]), "{what}, {size:?}, dark: {dark}");
    }
    page.look(WIDE, false);
}

fn words(page: &mut Page, selector: &str) -> Vec<u64> {
    let found = page.eval(&format!(
        "[...document.querySelectorAll({selector:?})].map((one) => Number(one.dataset.word))"
    ));
    found.as_array().unwrap().iter().map(|place| place.as_u64().unwrap()).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

#[test]
fn everything_on_the_page_is_used_once() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium; set CHROMIUM to try the page");
        return;
    };
    // Pictures are of a better model.
    let corpus = models(if std::env::var_os("SYLVAN_PICTURES").is_some() { 2_500 } else { 500 });
    let server = Server::start(corpus.dir.path(), &[]);
    let mut page = Page::visit(&browser, &server.address, WIDE, false);
    page.wait("document.querySelector('#from').value !== ''");
    page.eval("localStorage.clear()");
    page.eval("(() => { const from = document.querySelector('#from'); from.value = 'zh'; from.dispatchEvent(new Event('change')); })()");
    let dev = corpus.read("dev.zh");
    let sentences: Vec<&str> =
        dev.lines().filter(|line| (6..12).contains(&line.split(' ').count())).take(12).collect();
    accessible(&mut page, "empty");
    translating(&mut page, &sentences);
    let sentence = choosing(&mut page, &sentences);
    reasons(&mut page, &sentence);
    proving(&mut page, &sentence);
    keys(&mut page, &sentence);
    terms(&mut page, &sentence, &server.address);
    correcting(&mut page, &sentence, sentences.iter().find(|other| **other != sentence).unwrap());
    without_trees(&mut page, &corpus.read("dev.en"));
    hostile(&mut page);
    guarded(&mut page, &server.address);
}

/// Translates as somebody types; links are shown both ways, unknown words are marked, and the share of known ones is said.
fn translating(page: &mut Page, sentences: &[&str]) {
    page.click("#text");
    for word in sentences[0].split(' ') {
        page.type_text(&format!("{word} "));
    }
    settled(page);
    let asked = json!({ "text": sentences[0], "source": "zh", "target": "en" });
    let answer = ask(page, "/v1/translate", asked)["translations"][0]["sentences"][0].clone();
    let best = answer["best"][0].clone();
    assert_eq!(text(page, "#output").trim(), best["translation"]);
    assert_eq!(text(page, "#said").trim(), best["translation"]);
    // Answers to older texts never win, however late they come.
    page.eval(
        "(() => { const before = window.fetch; let first = true; window.fetch = async (...asked) => { \
         const late = first; first = false; const answer = await before(asked[0], { ...asked[1], signal: undefined }); \
         if (late) await new Promise((done) => setTimeout(done, 1500)); return answer; }; window.setTimeout(() => { window.fetch = before; }, 1000); })()",
    );
    fill(page, "#text", sentences[1]);
    page.eval("translate()  && 1");
    fill(page, "#text", sentences[0]);
    page.eval("new Promise((done) => setTimeout(done, 2500))");
    settled(page);
    assert_eq!(text(page, "#output").trim(), best["translation"], "an old answer came late");
    // From a target word to its source words, and back.
    let links: Vec<[u64; 2]> = serde_json::from_value(best["links"].clone()).unwrap();
    let target = links[links.len() / 2][1];
    page.hover(&format!("#output .w[data-word='{target}']"));
    let sources: Vec<u64> = links.iter().filter(|link| link[1] == target).map(|link| link[0]).collect();
    assert_eq!(words(page, "#back .linked"), sources);
    assert_eq!(words(page, "#output .held"), [target]);
    page.hover(&format!("#back span[data-word='{}']", sources[0]));
    let mut targets: Vec<u64> =
        links.iter().filter(|link| link[0] == sources[0]).map(|link| link[1]).collect();
    targets.sort_unstable();
    assert_eq!(words(page, "#output .linked"), targets);
    page.hover("h1");
    assert_eq!(count(page, ".linked"), 0);
    // The letters behind the text lie exactly under it.
    assert_eq!(page.eval("at('back').textContent === at('text').value + '\\u200b' && at('back').scrollHeight <= at('text').clientHeight"), true);
    assert_eq!(count(page, "#back .unknown"), 0);
    assert!(text(page, ".covered").starts_with("100 %"));
    // One word more that nobody knows; two lines stay two lines.
    let known = sentences[0].split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count();
    translate(page, &format!("{} 魑魅\n{}", sentences[0], sentences[1]));
    assert_eq!(text(page, "#back .unknown"), "魑魅");
    assert!(text(page, ".unknown-words").contains("魑魅") && text(page, "#output .copied").contains("魑魅"));
    let others = sentences[1].split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count();
    let share = 100 * (known + others) / (known + others + 1);
    assert_eq!(text(page, ".covered"), format!("{share} % of {} words covered", known + others + 1));
    assert_eq!((count(page, "#output .line"), count(page, "#output .sentence")), (2, 3));
    assert_eq!(page.eval("document.querySelector('meter').value < 1"), true);
    page.look([1120, 370], false);
    page.hover(&format!("#output .sentence[data-sentence='0'] .w[data-word='{target}']"));
    picture(page, "translate");
    page.look(WIDE, false);
}

/// Another translation of a constituent is chosen, the rest is searched again, and it is given up again. Returns the
/// sentence that has one.
fn choosing(page: &mut Page, sentences: &[&str]) -> String {
    let ways = |page: &mut Page, sentence: &str| {
        let told = ask(page, "/v1/explain", json!({ "text": sentence, "source": "zh" }));
        for (index, node) in list(&told["tree"]).iter().enumerate().rev() {
            let asked =
                json!({ "text": sentence, "source": "zh", "span": node["span"], "label": node["label"] });
            let found = ask(page, "/v1/alternatives", asked);
            let length = node["span"][1].as_u64().unwrap() - node["span"][0].as_u64().unwrap();
            if length > 1
                && length + 2 < list(&told["source"]).len() as u64
                && list(&found["alternatives"]).len() > 2
                && found["alternatives"][0]["difference"] == 0.0
            {
                return Some((index, found));
            }
        }
        None
    };
    let (sentence, index, found) = sentences
        .iter()
        .find_map(|&sentence| ways(page, sentence).map(|(index, found)| (sentence, index, found)))
        .expect("a sentence with other translations");
    translate(page, sentence);
    let before = text(page, "#output");
    click(page, "#output .w");
    page.wait("!document.querySelector('#panel').hidden");
    click(page, "#tab-parts");
    click(page, &format!("#box-parts .tree .box:nth-of-type({})", index + 1));
    page.wait("document.querySelectorAll('#others li').length > 0");
    let alternatives = list(&found["alternatives"]);
    assert_eq!(count(page, "#others li"), alternatives.len() as u64);
    let shown = page.eval("[...document.querySelectorAll('#others li')].map((one) => [...one.children].map((part) => part.textContent))");
    for (one, shown) in alternatives.iter().zip(list(&shown)) {
        let difference = one["difference"].as_f64().unwrap();
        let said = if difference == 0.0 { "best".to_string() } else { format!("−{difference:.3}") };
        assert_eq!(*shown, json!([one["text"], said, "Choose", one["translation"]]));
    }
    assert_eq!(alternatives[0]["translation"], json!(before.trim()));
    page.look([1120, 900], false);
    page.eval("document.querySelector('#panel').scrollIntoView()");
    picture(page, "alternatives");
    accessible(page, "alternatives");
    click(page, "#others li:nth-child(2) button");
    page.wait(&format!(
        "document.querySelector('#output').textContent === {}",
        alternatives[1]["translation"]
    ));
    page.wait("document.querySelectorAll('#others .chips button').length === 1");
    assert!(count(page, "#output .chosen") > 0);
    page.wait(
        "[...document.querySelectorAll('#others li button')].some((one) => one.textContent === 'Give up')",
    );
    // The reasons are those of what is shown now.
    click(page, "#tab-why");
    page.wait(&format!(
        "document.querySelector('#about b').textContent === {}",
        alternatives[1]["translation"]
    ));
    click(page, "#tab-parts");
    click(page, "#others .chips button");
    page.wait(&format!("document.querySelector('#output').textContent === {}", json!(before)));
    assert_eq!(count(page, "#output .chosen"), 0);
    // Words by themselves: one, then with Shift all between.
    click(page, "#box-parts .span button:nth-child(1)");
    page.wait("document.querySelectorAll('#box-parts .span [aria-pressed=true]').length === 1");
    page.key("Escape");
    assert_eq!(page.eval("document.querySelector('#panel').hidden"), true);
    sentence.to_string()
}

/// Why a word is there, the derivation step by step, and the search.
fn reasons(page: &mut Page, sentence: &str) {
    let told = ask(page, "/v1/explain", json!({ "text": sentence, "source": "zh" }));
    let steps = list(&told["steps"]);
    let with_lines =
        |word: &Value| !list(&steps[word["step"].as_u64().unwrap() as usize]["lines"]).is_empty();
    let place = list(&told["words"])
        .iter()
        .position(|word| with_lines(word) && !list(&word["links"]).is_empty())
        .unwrap();
    let word = &told["words"][place];
    let step = &steps[word["step"].as_u64().unwrap() as usize];
    click(page, &format!("#output .w[data-word='{place}']"));
    click(page, "#tab-why");
    page.wait("!!document.querySelector('#box-why .rule')");
    assert_eq!(text(page, "#box-why h2"), format!("Why “{}”?", word["text"].as_str().unwrap()));
    assert_eq!(text(page, "#box-why .rule"), step["rule"]);
    assert_eq!(count(page, "#box-why .pairs li"), list(&step["lines"]).len() as u64);
    let number = &step["lines"][0]["number"];
    assert_eq!(text(page, "#box-why .pairs .quiet"), format!("line {number}"));
    assert!(count(page, "#box-why .pairs b") > 0);
    // Features are named in words, and add up.
    let heard = |part: &&Value| part["score"].as_f64().unwrap().abs() >= 5e-5;
    let feature = list(&step["parts"]).iter().find(heard).unwrap()["feature"].as_str().unwrap();
    assert_eq!(text(page, "#box-why .bars .name"), told["meanings"][feature]);
    let score = format!("{:.4}", told["score"].as_f64().unwrap());
    assert!(text(page, "#box-why .more .number.sum").ends_with(&score));
    page.look([1120, 900], false);
    page.eval("scrollTo(0, 0)");
    picture(page, "why");
    accessible(page, "why");

    click(page, "#tab-steps");
    page.wait("!!document.querySelector('#box-steps output')");
    assert_eq!(text(page, "#box-steps output"), format!("step 1 of {}", steps.len()));
    click(page, "#box-steps [aria-label='next step']");
    assert_eq!(text(page, "#box-steps .rule"), steps[1]["rule"]);
    assert!(count(page, "#box-steps .form .open") > 0 && count(page, "#box-steps .label.treelet") > 0);
    assert_eq!(count(page, "#box-steps .tree .label"), list(&told["tree"]).len() as u64);
    page.key("End");
    assert_eq!(
        (text(page, "#box-steps output"), count(page, "#box-steps .form .open")),
        (format!("step {0} of {0}", steps.len()), 0)
    );
    page.look([1120, 900], false);
    page.eval("document.querySelector('#panel').scrollIntoView()");
    picture(page, "derivation");
    accessible(page, "derivation");

    click(page, "#tab-search");
    let searched =
        ask(page, "/v1/explain", json!({ "text": sentence, "source": "zh", "search": "incremental" }));
    let bins = list(&searched["search"]["bins"]).len();
    page.wait(&format!("document.querySelectorAll('#box-search details').length === {bins}"));
    assert_eq!(text(page, "#box-search output"), format!("bin 1 of {bins}"));
    click(page, "#box-search [aria-label='next bin']");
    assert_eq!(
        text(page, "#box-search details[open] summary"),
        text(page, "#box-search details:nth-of-type(2) summary")
    );
    accessible(page, "search");
    page.eval("(() => { const name = document.querySelector('#search-name'); name.value = 'exact'; name.dispatchEvent(new Event('change')); })()");
    page.wait("document.querySelector('#box-search .proof')?.textContent === '✓ proven best'");
    click(page, "#close");
}

/// A translation is proven to be the best on demand, and says so; it is copied.
fn proving(page: &mut Page, sentence: &str) {
    assert_eq!(count(page, "#output .proven"), 0);
    click(page, "#prove");
    page.wait("document.querySelector('#proof').textContent === '✓ proven best'");
    assert_eq!(count(page, "#output .proven"), 1);
    let proven = ask(page, "/v1/translate", json!({ "text": sentence, "source": "zh", "search": "exact" }));
    let found = &proven["translations"][0]["sentences"][0];
    assert_eq!(found["gap"].as_f64(), Some(0.0));
    assert!(text(page, "#output").starts_with(found["best"][0]["translation"].as_str().unwrap()));
    page.eval("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    click(page, "#copy");
    page.wait("(window.copied || '').length > 0");
    assert_eq!(page.eval("window.copied"), proven["translations"][0]["text"], "without the mark");
}

/// The page without a mouse.
fn keys(page: &mut Page, sentence: &str) {
    translate(page, "她");
    assert_eq!(
        (text(page, "#proof"), count(page, "#output .proven")),
        (String::new(), 0),
        "this was not proven"
    );
    translate(page, sentence);
    page.eval("document.querySelector('#text').focus()");
    page.key("Tab");
    assert_eq!(page.eval("document.activeElement.matches('#output .w')"), true);
    page.key("ArrowRight");
    page.key("ArrowRight");
    page.key("ArrowLeft");
    assert_eq!(page.eval("document.activeElement.dataset.word"), "1");
    assert!(count(page, "#back .linked") + count(page, "#output .held") > 0);
    page.key("Enter");
    page.wait("!document.querySelector('#panel').hidden");
    page.eval("document.querySelector('[role=tab][aria-selected=true]').focus()");
    page.key("Home");
    page.key("ArrowRight");
    assert_eq!(page.eval("document.activeElement.id"), "tab-parts");
    page.wait("!!document.querySelector('#box-parts .tree .box')");
    page.eval("document.querySelector('#box-parts .tree .box').focus()");
    page.key("Enter");
    page.wait("!!document.querySelector('#others h3')");
    page.key("Escape");
    assert_eq!(page.eval("document.activeElement.dataset.word"), "1", "focus is back where it was");
    // Where the focus is can be seen.
    assert_eq!(page.eval("getComputedStyle(document.activeElement).outlineStyle"), "solid");
}

/// Terms are obeyed from the next translation on, stay in the browser, and lines that are none are named.
fn terms(page: &mut Page, sentence: &str, address: &str) {
    let told = ask(page, "/v1/translate", json!({ "text": sentence, "source": "zh" }));
    let found = &told["translations"][0]["sentences"][0];
    let term = found["source"][0]["text"].as_str().unwrap();
    // What was chosen for a word is given up where a term takes it away.
    click(page, "#output .w");
    click(page, "#tab-parts");
    click(page, "#box-parts .span button:nth-child(1)");
    page.wait("document.querySelectorAll('#box-parts .span [aria-pressed=true]').length === 1");
    page.wait("document.querySelectorAll('#others li button').length > 0");
    page.eval("document.querySelector('#others li button').click()");
    page.wait("document.querySelectorAll('#output .chosen').length > 0");
    click(page, "[data-list=glossary]");
    fill(page, "#entries", &format!("{term}\tZAP\nwrong line"));
    page.wait("document.querySelector('#output').textContent.includes('ZAP')");
    assert_eq!(count(page, "#output .chosen"), 0);
    // The browser says that this was refused.
    page.complaints.retain(|told| !told.contains("status of 400"));
    assert!(text(page, "#entries-wrong").ends_with("line 2"));
    assert_eq!(text(page, "#terms"), "1");
    accessible(page, "glossary");
    page.go(address);
    page.wait("document.querySelector('#terms').textContent === '1'");
    translate(page, sentence);
    page.wait("document.querySelector('#output').textContent.includes('ZAP')");
    click(page, "[data-list=glossary]");
    fill(page, "#entries", "");
    page.wait("!document.querySelector('#output').textContent.includes('ZAP')");
    click(page, "[data-list=glossary]");
    assert_eq!(page.eval("document.querySelector('#glossary').hidden"), true);
}

/// A correction counts at once, says what else changes, is listed, and can be undone.
fn correcting(page: &mut Page, sentence: &str, other: &str) {
    // The same words, written otherwise, are another sentence.
    let spaced = sentence.replacen(' ', "   ", 1);
    translate(page, &spaced);
    translate(page, other);
    translate(page, sentence);
    let before = text(page, "#output");
    click(page, "#output .w");
    click(page, "#tab-correct");
    assert_eq!(page.eval("document.querySelector('#better').value"), json!(before));
    fill(page, "#better", "quite another thing .");
    click(page, "#save");
    page.wait("document.querySelector('#output').textContent === 'quite another thing .'");
    page.wait("document.querySelector('#saved').textContent.startsWith('Saved')");
    let changed = page.eval("[...document.querySelectorAll('#changed li')].map((one) => one.textContent)");
    assert!(
        list(&changed).contains(&json!(format!("{spaced}: {before} → quite another thing ."))),
        "{changed}"
    );
    click(page, "[data-list=corrections]");
    page.wait("document.querySelectorAll('#corrections-list li').length === 1");
    assert!(text(page, "#corrections-list li").contains("quite another thing ."));
    accessible(page, "corrections");
    click(page, "#undo");
    page.wait(&format!("document.querySelector('#output').textContent === {}", json!(before)));
    page.wait("document.querySelectorAll('#corrections-list li').length === 0");
    // One other word is a rule from now on, and the page says so.
    click(page, "#output .w");
    click(page, "#tab-correct");
    fill(page, "#better", &format!("zap {}", before.split_once(' ').unwrap().1));
    click(page, "#save");
    page.wait("document.querySelector('#saved').textContent.startsWith('Saved')");
    let learnt = page.eval("[...document.querySelectorAll('#changed .rule')].map((one) => one.textContent)");
    assert!(list(&learnt).iter().any(|rule| rule.as_str().unwrap().contains("zap")), "{learnt}");
    page.wait("document.querySelectorAll('#corrections-list li').length === 1");
    click(page, "#undo");
    page.wait(&format!("document.querySelector('#output').textContent === {}", json!(before)));
    page.wait("document.querySelectorAll('#corrections-list li').length === 0");
    // The other sentence is in the history, and comes back.
    click(page, "[data-list=history]");
    assert_eq!(page.eval("document.querySelector('#corrections').hidden"), true);
    let listed =
        page.eval("[...document.querySelectorAll('#history-list button')].map((one) => one.textContent)");
    let place = list(&listed).iter().position(|one| *one == json!(other)).expect("it was translated") + 1;
    accessible(page, "history");
    click(page, &format!("#history-list li:nth-child({place}) button"));
    settled(page);
    assert_eq!(page.eval("document.querySelector('#text').value"), json!(other));
    click(page, "[data-list=history]");
}

/// The languages are swapped; the model for the way back has no trees, so rules stand for one.
fn without_trees(page: &mut Page, english: &str) {
    let translated = text(page, "#said");
    click(page, "#swap");
    settled(page);
    assert_eq!(
        page.eval("[document.querySelector('#from').value, document.querySelector('#text').value.trim()]"),
        json!(["en", translated.trim()])
    );
    let sentence = english.lines().find(|line| (6..10).contains(&line.split(' ').count())).unwrap();
    translate(page, sentence);
    let told = ask(page, "/v1/explain", json!({ "text": sentence, "source": "en" }));
    assert_eq!(told["tree"], json!([]));
    click(page, "#output .w");
    click(page, "#tab-parts");
    page.wait("!!document.querySelector('#box-parts .tree .box')");
    assert_eq!(count(page, "#box-parts .tree .label"), list(&told["steps"]).len() as u64);
    click(page, "#box-parts .span button:nth-child(1)");
    page.wait("document.querySelectorAll('#others li').length > 0");
    let chosen = page.eval("document.querySelector('#others li:last-child .whole').textContent");
    click(page, "#others li:last-child button");
    page.wait(&format!("document.querySelector('#output').textContent === {chosen}"));
    // With Shift, all words between two.
    page.eval(
        "document.querySelector('#box-parts .span button:nth-child(3)').dispatchEvent(new MouseEvent('click', { shiftKey: true }))",
    );
    page.wait("document.querySelectorAll('#box-parts .span [aria-pressed=true]').length === 3");
    click(page, "#tab-steps");
    page.wait("!!document.querySelector('#box-steps .rule')");
    click(page, "#close");
    click(page, "#swap");
    assert_eq!(page.eval("document.querySelector('#from').value"), "zh");
}

/// Whatever is typed stays text, in both directions of writing, and nothing is wider than the window.
fn hostile(page: &mut Page) {
    let long = "超".repeat(40) + &"W".repeat(600);
    let lines = [
        "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>",
        "\" onmouseover=window.hacked=1 x=\" javascript:window.hacked=1 &lt;b&gt; {{style}}",
        "שלום עולם مرحبا بالعالم",
        "👩‍👩‍👧‍👦 🏳️‍🌈 e\u{301} \u{202e}gnorw\u{202c} \u{0} 𝒳",
        &long,
    ];
    translate(page, &lines.join("\n"));
    for size in [WIDE, NARROW] {
        page.look(size, true);
        page.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{size:?}");
    }
    assert_eq!(
        page.eval("[typeof window.hacked, document.images.length, document.scripts.length]"),
        json!(["undefined", 0, 1])
    );
    assert!(text(page, "#output").contains("<img"));
    assert_eq!(
        page.eval("getComputedStyle([...document.querySelectorAll('#output .line')][2]).direction"),
        "rtl"
    );
    // Every word of every line can be asked about, and is still text in the panel.
    for line in 1..=lines.len() {
        let word = format!("#output .line:nth-child({line}) .w");
        if count(page, &word) == 0 {
            continue;
        }
        click(page, &word);
        click(page, "#tab-why");
        page.wait("!!document.querySelector('#box-why .rule') || document.querySelector('#alert').textContent !== ''");
        assert_eq!(text(page, "#alert"), "");
        click(page, "#tab-parts");
        page.wait("!!document.querySelector('#box-parts .span button')");
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth"), true, "line {line}");
    }
    assert_eq!(page.eval("[typeof window.hacked, document.images.length]"), json!(["undefined", 0]));
    page.look(WIDE, false);
}

/// The page's policy: no script but its own, no request to anybody else. All requests so far went to the server.
fn guarded(page: &mut Page, address: &str) {
    assert_eq!(page.complaints, Vec::<String>::new());
    let outside: Vec<&String> =
        page.requests.iter().filter(|url| !url.starts_with(address) && *url != "about:blank").collect();
    assert!(outside.is_empty(), "{outside:?}");
    let broken = "(async () => { const broken = []; \
        document.addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective)); \
        const script = document.createElement('script'); script.textContent = 'window.hacked = 1'; document.body.append(script); \
        const style = document.createElement('style'); style.textContent = 'body { display: none }'; document.body.append(style); \
        const image = document.createElement('img'); image.src = '/languages'; image.alt = ''; document.body.append(image); \
        const link = document.createElement('a'); link.setAttribute('onclick', 'window.hacked = 1'); document.body.append(link); link.click(); \
        await fetch('http://127.0.0.1:9/').catch(() => 0); \
        await new Promise((done) => setTimeout(done, 300)); \
        return [typeof window.hacked, getComputedStyle(document.body).display, [...new Set(broken)].sort()]; })()";
    assert_eq!(
        page.eval(broken),
        json!([
            "undefined",
            "block",
            ["connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-elem"]
        ])
    );
}

/// A server that wants a key, and takes little at a time: the page says so and goes on when it is given.
#[test]
fn what_the_server_refuses_is_said() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium; set CHROMIUM to try the page");
        return;
    };
    let corpus = models(120);
    corpus.write("keys", "open sesame\n");
    let server = Server::start(
        corpus.dir.path(),
        &["--api-keys", "keys", "--char-limit", "200", "--batch-limit", "2"],
    );
    let mut page = Page::visit(&browser, &server.address, NARROW, true);
    page.wait("document.querySelector('#from').value !== ''");
    page.eval("(() => { const from = document.querySelector('#from'); from.value = 'zh'; from.dispatchEvent(new Event('change')); })()");
    let dev = corpus.read("dev.zh");
    let line = dev.lines().next().unwrap();
    fill(&mut page, "#text", line);
    page.wait("document.querySelector('#alert').textContent === 'Invalid API key'");
    assert_eq!(
        page.eval("[document.querySelector('#access').hidden, document.activeElement.id]"),
        json!([false, "key"])
    );
    accessible(&mut page, "key");
    page.look(NARROW, true);
    page.type_text("open sesame");
    page.key("Tab");
    settled(&mut page);
    assert_eq!(text(&mut page, "#alert"), "");
    click(&mut page, "[data-list=access]");
    click(&mut page, "#output .w");
    page.wait("!!document.querySelector('#box-why .rule')");
    page.eval("scrollTo(0, 0)");
    picture(&mut page, "narrow-dark");
    // More lines, and more texts that a correction may change, than the server takes at once.
    let five: Vec<&str> = dev.lines().take(5).collect();
    translate(&mut page, &five.join("\n"));
    assert_eq!(text(&mut page, "#alert"), "");
    assert_eq!(count(&mut page, "#output .line"), 5);
    click(&mut page, "#output .w");
    click(&mut page, "#tab-correct");
    fill(&mut page, "#better", "quite another thing .");
    click(&mut page, "#save");
    page.wait("document.querySelector('#saved').textContent.startsWith('Saved')");
    fill(&mut page, "#text", &"长".repeat(300));
    page.wait("document.querySelector('#alert').textContent.includes('exceeds text limit')");
    // A server that has too much to do is asked again, and not for ever.
    let busy = |page: &mut Page, times: u32| {
        page.eval(&format!(
            "(() => {{ const before = window.fetch; let left = {times}; window.fetch = (...asked) => left-- > 0 \
             ? Promise.resolve(new Response('{{\"error\":\"Slowdown\"}}', {{ status: 503, headers: {{ 'Retry-After': '0.01' }} }})) \
             : (window.fetch = before)(...asked); }})()"
        ));
    };
    busy(&mut page, 2);
    translate(&mut page, dev.lines().nth(2).unwrap());
    assert_eq!(text(&mut page, "#alert"), "");
    busy(&mut page, 4);
    fill(&mut page, "#text", dev.lines().nth(1).unwrap());
    page.wait("document.querySelector('#alert').textContent === 'Slowdown'");
    drop(server);
    fill(&mut page, "#text", line.split(' ').next().unwrap());
    page.wait("document.querySelector('#alert').textContent === 'The server does not answer.'");
}
