//! `sylvan decode --overlay`: corrections of a table from end to end.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::Output;

use common::run_in;

const RULES: &str = "\
S ( x0:NP x1:VP ) ||| x0 x1 ||| egfp=-0.1 p=1
NP ( \"ta\" ) ||| \"he\" ||| egfp=-0.5 w=1 p=1
NP ( \"ta\" ) ||| \"she\" ||| egfp=-0.25 w=1 p=1
VP ( \"shui\" ) ||| \"sleeps\" ||| egfp=-0.5 w=1 p=1
";

const ARPA: &str = "\\data\\\nngram 1=6\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n-2\t<unk>\n-1\the\n-1\tshe\n-1\tsleeps\n\n\
    \\end\\\n";

const TREES: &str = "(S (NP ta) (VP shui))\n(S (NP ta) (VP shui))\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(weights: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.file("table", RULES);
        folder.file("lm.arpa", ARPA);
        folder.file("weights", weights);
        let import = ["grammar", "import", "--format", "travatar", "table", "--out", "rules"];
        assert!(run_in(folder.0.path(), &import, "").status.success());
        folder
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn decode(&self, overlay: &str, more: &[&str]) -> Output {
        self.file("overlay", overlay);
        let base = ["decode", "--grammar", "rules", "--lm", "lm.arpa", "--weights", "weights"];
        run_in(self.0.path(), &[&base[..], &["--overlay", "overlay"], more].concat(), TREES)
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn rules_are_added_forbidden_and_favoured() {
    for weights in [
        "p_ef=1\nlm=0.5\nglue=-5\noov=-2\nrules=0.5\n",
        "tm0.p_ef=1\nlm=0.5\nglue=-5\noov=-2\ntm0.rules=0.5\n",
    ] {
        let folder = Folder::new(weights);
        for search in ["cube", "focus", "refine", "incremental", "prediction", "exact"] {
            let check = |overlay: &str, expected: &str| {
                let output = folder.decode(overlay, &["--search", search]);
                assert_eq!(text(&output), expected, "{search} {overlay}");
            };
            check("", "she sleeps\nshe sleeps\n");
            check("forbid NP(ta) -> she\n", "he sleeps\nhe sleeps\n");
            check("boost 0.5 NP(ta) -> he\n", "he sleeps\nhe sleeps\n");
            check("boost 0.2 NP(ta) -> he\n", "she sleeps\nshe sleeps\n");
            check("@2 forbid NP(ta) -> she\n", "she sleeps\nhe sleeps\n");
            check("@1 add S(NP(ta) VP(shui)) -> so it is ||| boost=20\n", "so it is\nshe sleeps\n");
            // A node whose rules are all forbidden is copied.
            check("forbid NP(ta) -> *\n", "ta sleeps\nta sleeps\n");
            check("forbid NP(ta) -> *\n@1 add NP(ta) -> he\n", "he sleeps\nta sleeps\n");
        }
    }
}

#[test]
fn features_make_up_the_score_and_derivations_show_the_rules() {
    let folder = Folder::new("p_ef=1\nlm=0.5\nglue=-5\noov=-2\nwords=0.1\nrules=-0.5\n");
    let overlay = "boost 3 NP(ta) -> he\nadd VP(shui) -> is asleep ||| p_ef=-0.125\n";
    let weights = [
        ("p_ef", 1.0),
        ("boost", 1.0),
        ("words", 0.1),
        ("rules", -0.5),
        ("glue", -5.0),
        ("oov", -2.0),
        ("lm0", 0.5),
    ];
    let more = ["--nbest", "10", "--derivations", "d"];
    let list = text(&folder.decode(overlay, &more));
    assert_eq!(list.lines().filter(|line| line.starts_with("0 |||")).count(), 4, "{list}");
    for line in list.lines() {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let sum: f64 = fields[2]
            .split(' ')
            .map(|field| {
                let (name, value) = field.split_once('=').unwrap();
                let bare = name.strip_prefix("tm0.").or(name.strip_prefix("tm1.")).unwrap_or(name);
                let weight = weights.iter().find(|(known, _)| *known == bare).unwrap().1;
                weight * value.parse::<f64>().unwrap()
            })
            .sum();
        assert!((sum - fields[3].parse::<f64>().unwrap()).abs() < 1e-4, "{line}: {sum}");
    }
    assert!(list.contains("tm1.boost=3.000000"), "{list}");
    let derivations = std::fs::read_to_string(folder.0.path().join("d")).unwrap();
    assert!(derivations.contains("NP(ta) -> he\n"), "{derivations}");
    // The weight of boosts can be set.
    folder.file("weights", "p_ef=1\nlm=0.5\nglue=-5\noov=-2\nboost=-1\n");
    assert!(text(&folder.decode("boost 3 NP(ta) -> he\n", &[])).starts_with("she"));
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new("p_ef=1\nlm=0.5\n");
    let unknown = folder.decode("# old\nforbid NP(ta) -> it\n", &[]);
    assert_eq!(text(&unknown), "she sleeps\nshe sleeps\n");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("overlay:2: no such rule"));
    let broken = folder.decode("forbid NP(ta\n", &[]);
    assert!(!broken.status.success() && broken.stdout.is_empty());
    assert!(String::from_utf8_lossy(&broken.stderr).contains("overlay:1:"));
}
