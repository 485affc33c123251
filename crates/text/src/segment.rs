//! Words in text that is written without spaces.
//!
//! Without a model the cuts are where the script changes (Japanese: 私|は|テニス|をします), for Chinese those of jieba's
//! dictionary (feature `zh`), and elsewhere between all characters. With a model, trained on text that is already
//! cut, each place between two characters is a decision of its own (pointwise prediction, Neubig et al. 2011):
//! characters and scripts in a window of three on both sides, as n-grams with their offset, vote with weights learnt
//! by an averaged perceptron. Features are hashed into a table of fixed size, so a model is 2^18 numbers, most of
//! them zero.

use std::path::Path;

use sylvan_base::{Fault, InputError, Result};
use sylvan_store::{Output, TextReader};

use crate::Lang;
use crate::chars::{Script, script};

/// The number of weights, as a power of two.
const BITS: u32 = 18;
/// How far a decision looks to both sides.
const WINDOW: usize = 3;
/// The longest n-gram of characters or scripts.
const LONGEST: usize = 3;
const HEADER: &str = "sylvan-segmenter 1";

/// Finds words in text without spaces.
#[derive(Debug, Clone)]
pub struct Segmenter {
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// Cuts where the script changes.
    Scripts,
    /// Cuts between all characters of scripts without spaces, and where the script changes.
    Characters,
    /// Cuts between the words of jieba, which is loaded on first use.
    #[cfg(feature = "zh")]
    Jieba(std::sync::Arc<std::sync::OnceLock<jieba_rs::Jieba>>),
    /// Cuts where the sum of weights is positive.
    Weights(Vec<i32>),
}

impl Segmenter {
    /// The best choice for a language without a model.
    pub fn for_lang(lang: Lang) -> Self {
        let way = match lang {
            Lang::Ja => Way::Scripts,
            #[cfg(feature = "zh")]
            Lang::Zh => Way::Jieba(std::sync::Arc::default()),
            _ => Way::Characters,
        };
        Self { way }
    }

    /// The byte offsets inside `text` where it is cut, in order.
    pub fn cuts(&self, text: &str) -> Vec<usize> {
        match &self.way {
            Way::Scripts => between(text, |before, after| before != after),
            Way::Characters => between(text, |before, after| {
                before != after || matches!(after, Script::Han | Script::Hiragana | Script::Katakana)
            }),
            #[cfg(feature = "zh")]
            Way::Jieba(jieba) => {
                let words = jieba.get_or_init(jieba_rs::Jieba::new).cut(text, true);
                let ends = words.iter().scan(0, |end, token| {
                    *end += token.word.len();
                    Some(*end)
                });
                ends.filter(|&end| end < text.len()).collect()
            }
            Way::Weights(weights) => {
                let window = Window::new(text);
                let sum = |at| {
                    let mut sum = 0i64;
                    window.features(at, |feature| sum += i64::from(weights[feature]));
                    sum
                };
                window
                    .offsets
                    .iter()
                    .enumerate()
                    .skip(1)
                    .filter(|&(at, _)| sum(at) > 0)
                    .map(|(_, &offset)| offset)
                    .collect()
            }
        }
    }

    /// Reads a model.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(&mut TextReader::open(path)?)
    }

    /// The same from any text.
    pub fn read(reader: &mut TextReader) -> Result<Self> {
        let head = reader.next_line()?.unwrap_or("").to_string();
        if head != HEADER {
            let fault = Fault::new(0, format!("{head:?}"), format!("the first line {HEADER:?}"))
                .advise("train a model with sylvan tokenize --train");
            return Err(fault.at(reader.name(), 1));
        }
        let mut weights = vec![0i32; 1 << BITS];
        while let Some(line) = reader.next_line()? {
            let fields = line.split_once('\t').and_then(|(index, weight)| {
                Some((usize::from_str_radix(index, 16).ok()?, weight.parse::<i32>().ok()?))
            });
            let slot = fields.and_then(|(index, weight)| Some((weights.get_mut(index)?, weight)));
            let Some((slot, weight)) = slot else {
                let fault =
                    Fault::new(0, format!("{line:?}"), "a hexadecimal place below 40000, a tab and a weight");
                return Err(reader.locate(fault));
            };
            *slot = weight;
        }
        Ok(Self { way: Way::Weights(weights) })
    }

    /// Writes a model. Only trained ones can be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let Way::Weights(weights) = &self.way else {
            return Err(InputError::Format {
                path: path.to_path_buf(),
                found: "a segmenter that was not trained".to_string(),
                expected: "a trained one".to_string(),
                advice: "train it first".to_string(),
            });
        };
        let mut out = Output::create(path)?;
        out.line(HEADER)?;
        for (place, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0) {
            out.line(&format!("{place:x}\t{weight}"))?;
        }
        out.finish()
    }
}

/// The byte offsets where two neighbouring characters are to be cut apart.
fn between(text: &str, cut: impl Fn(Script, Script) -> bool) -> Vec<usize> {
    let mut before: Option<Script> = None;
    let mut cuts = Vec::new();
    for (at, c) in text.char_indices() {
        let this = script(c);
        if before.is_some_and(|before| cut(before, this)) {
            cuts.push(at);
        }
        before = Some(this);
    }
    cuts
}

/// Learns from lines of words with spaces between them.
#[derive(Debug, Default)]
pub struct SegmenterTrainer {
    lines: Vec<String>,
}

impl SegmenterTrainer {
    /// Takes a line of words.
    pub fn add(&mut self, line: &str) {
        self.lines.push(line.to_string());
    }

    /// Goes over the lines `rounds` times, in their order.
    pub fn train(&self, rounds: usize) -> Segmenter {
        let size = 1 << BITS;
        let (mut weights, mut late) = (vec![0i64; size], vec![0i64; size]);
        let mut time = 1i64;
        for _ in 0..rounds {
            for line in &self.lines {
                let (text, cuts) = without_spaces(line);
                let window = Window::new(&text);
                for at in 1..window.offsets.len() {
                    let wanted: i64 = if cuts.binary_search(&window.offsets[at]).is_ok() { 1 } else { -1 };
                    let mut sum = 0;
                    window.features(at, |feature| sum += weights[feature]);
                    if sum * wanted <= 0 {
                        window.features(at, |feature| {
                            weights[feature] += wanted;
                            late[feature] += wanted * time;
                        });
                    }
                    time += 1;
                }
            }
        }
        // The mean over time, in 1024ths: updates count for the rest of the time only.
        let mean = |(weight, late): (&i64, &i64)| ((weight * 1024) - late * 1024 / time) as i32;
        Segmenter { way: Way::Weights(weights.iter().zip(&late).map(mean).collect()) }
    }
}

/// The line without its spaces, and the byte offsets where they were.
fn without_spaces(line: &str) -> (String, Vec<usize>) {
    let (mut text, mut cuts) = (String::with_capacity(line.len()), Vec::new());
    for word in line.split_whitespace() {
        if !text.is_empty() {
            cuts.push(text.len());
        }
        text.push_str(word);
    }
    (text, cuts)
}

/// A text as characters and scripts, with edges on both sides.
struct Window {
    /// Where each character begins.
    offsets: Vec<usize>,
    /// Characters and scripts, behind and before `WINDOW` edges.
    chars: Vec<(u32, u32)>,
}

impl Window {
    fn new(text: &str) -> Self {
        const EDGE: (u32, u32) = (0, 99);
        let mut chars = vec![EDGE; WINDOW];
        chars.extend(text.chars().map(|c| (u32::from(c), script(c) as u32)));
        chars.extend([EDGE; WINDOW]);
        Self { offsets: text.char_indices().map(|(at, _)| at).collect(), chars }
    }

    /// The places of the weights that vote on a cut before character `at`.
    fn features(&self, at: usize, mut visit: impl FnMut(usize)) {
        let around = &self.chars[at..at + 2 * WINDOW];
        for start in 0..around.len() {
            let (mut chars, mut scripts) = (start as u64 + 1, start as u64 + 101);
            for &(c, s) in around[start..].iter().take(LONGEST) {
                chars = mix(chars, c);
                scripts = mix(scripts, s);
                visit((chars >> (64 - BITS)) as usize);
                visit((scripts >> (64 - BITS)) as usize);
            }
        }
    }
}

/// Must never change: models depend on it.
fn mix(hash: u64, value: u32) -> u64 {
    let mixed =
        (hash ^ u64::from(value).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(segmenter: &Segmenter, text: &str) -> String {
        let mut out = String::new();
        let cuts = segmenter.cuts(text);
        for (at, c) in text.char_indices() {
            if cuts.contains(&at) {
                out.push('|');
            }
            out.push(c);
        }
        out
    }

    #[test]
    fn scripts_and_characters_without_a_model() {
        assert_eq!(words(&Segmenter::for_lang(Lang::Ja), "私はテニスをします"), "私|は|テニス|をします");
        assert_eq!(words(&Segmenter::for_lang(Lang::Other), "我有iPhone15手机"), "我|有|iPhone|15|手|机");
        assert_eq!(words(&Segmenter::for_lang(Lang::Zh), ""), "");
    }

    #[cfg(feature = "zh")]
    #[test]
    fn chinese_words_come_from_the_dictionary() {
        assert_eq!(words(&Segmenter::for_lang(Lang::Zh), "我来到北京清华大学"), "我|来到|北京|清华大学");
    }

    #[test]
    fn a_model_learns_what_scripts_cannot_show_and_survives_the_disk() {
        let mut trainer = SegmenterTrainer::default();
        for line in [
            "これ は 本 です",
            "それ は ペン です",
            "これ は あれ です",
            "本 を 読み ます",
            "ペン を 買い ます",
        ] {
            trainer.add(line);
        }
        let model = trainer.train(10);
        assert_eq!(words(&model, "それはあれです"), "それ|は|あれ|です");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.gz");
        model.write(&path).unwrap();
        assert_eq!(words(&Segmenter::open(&path).unwrap(), "これはペンです"), "これ|は|ペン|です");
        std::fs::write(&path, format!("{HEADER}\nfffff\t1\n")).unwrap();
        assert!(Segmenter::open(&path).unwrap_err().to_string().contains(":2: found"));
        std::fs::write(&path, "x").unwrap();
        assert!(Segmenter::open(&path).unwrap_err().to_string().contains("train a model"));
        assert!(Segmenter::for_lang(Lang::Ja).write(&path).is_err());
    }
}
