//! The page of `sylvan explain --html` in a real browser: hover a word, step the derivation, see what is shown.
//! Needs Chromium (variable CHROMIUM, or on the PATH); without it the test says that it was skipped.
#![allow(clippy::unwrap_used, clippy::print_stderr, unreachable_pub)]

mod browser;
mod common;

use std::path::{Path, PathBuf};

use browser::{Page, chromium};
use common::corpus::model;
use common::run_in;
use serde_json::Value;

#[track_caller]
fn success(dir: &Path, arguments: &[&str], input: &str) -> String {
    let output = run_in(dir, arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn page(dir: &Path, tree: &str, name: &str) -> (PathBuf, Value) {
    let base = ["explain", "--model", "m", "--input", "tree", "--search", "incremental", "--json"];
    let told = success(dir, &[&base[..], &["--html", name, tree]].concat(), "");
    (dir.join(name), serde_json::from_str(&told).unwrap())
}

fn places(page: &mut Page, row: &str, class: &str) -> Vec<u64> {
    let script = format!(
        "[...document.querySelectorAll('#{row} span')].flatMap((word, place) => \
         word.classList.contains('{class}') ? [place] : [])"
    );
    let found = page.eval(&script);
    found.as_array().unwrap().iter().map(|place| place.as_u64().unwrap()).collect()
}

#[test]
fn the_page_shows_links_steps_and_numbers() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium; set CHROMIUM to try the page");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let trees = model(dir.path(), 560, 40, &["--rounds", "2", "--nbest", "20", "--beam", "50"]);
    let trees: Vec<String> = trees.lines().map(str::to_string).collect();
    let words = |tree: &String| tree.split(' ').filter(|piece| piece.ends_with(')')).count();
    let longest = trees.iter().max_by_key(|tree| words(tree)).unwrap();
    let short = trees.iter().min_by_key(|tree| words(tree).abs_diff(5)).unwrap();
    for (tree, name, dark) in [(short, "short", false), (longest, "long", true)] {
        let (file, told) = page(dir.path(), tree, &format!("{name}.html"));
        let mut page = Page::open(&browser, &file, [1280, 900], dark);
        assert_eq!(page.complaints, Vec::<String>::new());
        let paper = page.eval("getComputedStyle(document.body).backgroundColor");
        assert_eq!(paper, if dark { "rgb(22, 24, 28)" } else { "rgb(251, 250, 247)" });

        // Hovering a word marks its source words and the words of its rule.
        let words = told["words"].as_array().unwrap();
        let linked = words.iter().position(|word| !word["links"].as_array().unwrap().is_empty()).unwrap();
        page.hover(&format!("#target span:nth-child({})", linked + 1));
        let links: Vec<u64> =
            words[linked]["links"].as_array().unwrap().iter().map(|link| link.as_u64().unwrap()).collect();
        assert_eq!(places(&mut page, "source", "linked"), links);
        assert_eq!(places(&mut page, "target", "held"), [linked as u64]);
        let step = &told["steps"][words[linked]["step"].as_u64().unwrap() as usize];
        let own: Vec<u64> =
            step["target"].as_array().unwrap().iter().filter_map(|piece| piece["word"].as_u64()).collect();
        assert_eq!(places(&mut page, "target", "own"), own);
        if let Some(folder) = std::env::var_os("SYLVAN_PICTURES") {
            let name = format!("explain-{name}-{}.png", if dark { "dark" } else { "light" });
            std::fs::write(Path::new(&folder).join(name), page.picture()).unwrap();
        }
        page.hover("#about");
        assert_eq!(places(&mut page, "source", "linked"), Vec::<u64>::new(), "the mouse has left");

        // Steps: buttons and keys; the translation grows from left to right until it is whole.
        let steps = told["steps"].as_array().unwrap();
        let shown = |page: &mut Page| page.eval("document.querySelector('#where').textContent");
        assert_eq!(shown(&mut page), format!("step 1 of {}", steps.len()));
        assert_eq!(page.eval("document.querySelector('#step .rule').textContent"), steps[0]["rule"]);
        page.click("#next");
        assert_eq!(shown(&mut page), format!("step 2 of {}", steps.len()));
        assert_eq!(page.eval("document.querySelector('#step .rule').textContent"), steps[1]["rule"]);
        page.key("ArrowRight");
        assert_eq!(shown(&mut page), format!("step 3 of {}", steps.len()));
        page.key("ArrowLeft");
        page.key("ArrowLeft");
        page.key("ArrowLeft");
        assert_eq!(
            shown(&mut page),
            format!("step 1 of {}", steps.len()),
            "there is nothing before the first"
        );
        let open = "document.querySelectorAll('#form .open').length";
        assert!(page.eval(open).as_u64().unwrap() > 0);
        page.key("End");
        assert_eq!(page.eval(open), 0);
        let form = "[...document.querySelectorAll('#form span')].map((word) => word.textContent).join(' ')";
        let texts: Vec<&str> = words.iter().map(|word| word["text"].as_str().unwrap()).collect();
        assert_eq!(page.eval(form), texts.join(" "));

        // A click on a word leads to its rule, with its lines and their marks; the tree is drawn.
        page.eval("scrollTo(0, 0)");
        page.click(&format!("#target span:nth-child({})", linked + 1));
        assert_eq!(page.eval("document.querySelector('#step .rule').textContent"), step["rule"]);
        let lines = step["lines"].as_array().unwrap();
        assert!(!lines.is_empty());
        assert_eq!(page.eval("document.querySelectorAll('#step .pairs li').length"), lines.len());
        let marks = lines[0]["source_marks"].as_array().unwrap().len()
            + lines[0]["target_marks"].as_array().unwrap().len();
        assert_eq!(page.eval("document.querySelectorAll('#step .pairs li:first-child b').length"), marks);
        let tree = told["tree"].as_array().unwrap().len();
        assert_eq!(page.eval("document.querySelectorAll('#tree .label').length"), tree);
        assert!(page.eval("document.querySelectorAll('#tree .label.treelet').length").as_u64().unwrap() > 0);
        let score = format!("{:.4}", told["score"].as_f64().unwrap());
        assert!(
            page.eval("document.querySelector('#features .number.sum').textContent")
                .as_str()
                .unwrap()
                .ends_with(&score)
        );
        let bins = told["search"]["bins"].as_array().unwrap().len();
        assert_eq!(page.eval("document.querySelectorAll('#search details').length"), bins);
        // No part of the page is wider than the window, and nothing but the file was asked for.
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth"), true);
        let outside: Vec<&String> = page.requests.iter().filter(|url| !url.starts_with("file:")).collect();
        assert!(outside.is_empty() && page.requests.len() <= 2, "{:?}", page.requests);
        assert_eq!(page.complaints, Vec::<String>::new());
    }
}
