//! A slow, obvious twin of the generator for tests: all derivations of a given source sentence.
//!
//! Memoised recursive descent over the compiled rules. It proves two things that sampling can only suggest: a
//! sentence of a paper is in the language with the translation of the paper, and *every* derivation of a source
//! sentence has the same oracle target, so that the source really decides everything but the free choice.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::{Grammar, SourceItem, TargetWhat};
use crate::write;

/// The ends of the spans a symbol can cover from a position, with the default target words of each derivation.
type Ends = BTreeSet<(usize, Vec<u32>)>;

struct Recogniser<'a> {
    grammar: &'a Grammar,
    words: Vec<u32>,
    memo: BTreeMap<(u32, usize), Ends>,
}

/// All different oracle targets of a source sentence.
fn oracles(grammar: &Grammar, source: &str) -> Vec<String> {
    let words =
        source.split(' ').map(|word| grammar.source_words.get(word).map_or(u32::MAX, |symbol| symbol.0));
    let words: Vec<u32> = words.collect();
    let length = words.len();
    let mut recogniser = Recogniser { grammar, words, memo: BTreeMap::new() };
    let ends = recogniser.ends(grammar.start, 0);
    let whole = ends.into_iter().filter(|(end, _)| *end == length);
    let texts = whole.map(|(_, target)| {
        let mut out = Vec::new();
        write::target(grammar, &target, &mut out);
        String::from_utf8(out).unwrap()
    });
    texts.collect()
}

impl Recogniser<'_> {
    fn ends(&mut self, symbol: u32, start: usize) -> Ends {
        if let Some(known) = self.memo.get(&(symbol, start)) {
            return known.clone();
        }
        // No left recursion, so the entry is never asked for while it is being made.
        let mut found = Ends::new();
        for rule in self.grammar.symbols[symbol as usize].rules.indices() {
            self.rule(rule, start, &mut found);
        }
        self.memo.insert((symbol, start), found.clone());
        found
    }

    fn rule(&mut self, rule: usize, start: usize, found: &mut Ends) {
        let grammar = self.grammar;
        let info = &grammar.rules[rule];
        // Partial matches: position and the targets of the slots so far, in slot order.
        let mut partial: Vec<(usize, Vec<Vec<u32>>)> = vec![(start, Vec::new())];
        for item in &grammar.source_items[info.source.indices()] {
            let mut next = Vec::new();
            for (at, targets) in partial {
                match *item {
                    SourceItem::Word(word) => {
                        if self.words.get(at) == Some(&word) {
                            next.push((at + 1, targets));
                        }
                    }
                    SourceItem::Slot(slot) => {
                        let symbol = grammar.slots[info.slots.indices()][usize::from(slot)];
                        for (end, target) in self.ends(symbol, at) {
                            let mut targets = targets.clone();
                            targets.push(target);
                            next.push((end, targets));
                        }
                    }
                }
            }
            partial = next;
        }
        let variant = &grammar.variants[info.variants.start as usize];
        for (end, targets) in partial {
            let mut out = Vec::new();
            for item in &grammar.target_items[variant.items.indices()] {
                match item.what {
                    TargetWhat::Word(word) => out.push(word),
                    TargetWhat::Slot(slot) => out.extend(&targets[usize::from(slot)]),
                }
            }
            found.insert((end, out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Sampler, Workspace, shipped_grammar};

    /// Huang & Mi (2010), Figure 1.
    #[test]
    fn huang_mi_2010_bush_held_talks_with_sharon() {
        let grammar = shipped_grammar();
        let targets = oracles(&grammar, "布什 与 沙龙 举行 了 会谈 。");
        assert_eq!(targets, ["Bush held talks with Sharon ."]);
    }

    /// Feng, Liu, Liu & Cohn (2012), the running example.
    #[test]
    fn feng_2012_the_result_of_the_vote_was_released_at_night() {
        let grammar = shipped_grammar();
        let targets = oracles(&grammar, "投票 结果 晚上 公布 。");
        assert_eq!(targets, ["the result of the vote was released at night ."]);
    }

    #[test]
    fn a_verb_changes_its_translation_with_its_object() {
        let grammar = shipped_grammar();
        let check = |source: &str, target: &str| assert_eq!(oracles(&grammar, source), [target]);
        check("他 看 了 一 本 书 。", "he read a book .");
        check("他 看 了 一 部 电影 。", "he watched a film .");
        check("他 看 了 李明 。", "he visited Li Ming .");
        check("他 开 了 一 辆 汽车 。", "he drove a car .");
        check("他 开 了 一 扇 门 。", "he opened a door .");
        check("他 开 了 一 盏 灯 。", "he turned on a lamp .");
        check("他 给 李明 买 了 一 个 苹果 。", "he bought an apple for Li Ming .");
        check("他 给 李明 写 了 一 封 信 。", "he wrote a letter to Li Ming .");
        check("他 明天 打 篮球 。", "he will play basketball tomorrow .");
        check("他 每天 打 篮球 。", "he plays basketball every day .");
        check("他 昨天 打 了 篮球 。", "he played basketball yesterday .");
        check("他 会 打 篮球 。", "he will play basketball .");
        check("他 把 门 打开 了 。", "he opened the door .");
        check("门 被 他 打开 了 。", "the door was opened by him .");
    }

    #[test]
    fn all_derivations_of_a_sentence_have_one_oracle() {
        let count =
            if std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full") { 60_000 } else { 1_000 };
        let sampler = Sampler::new(Config { max_words: 30, seed: 7, ..Config::default() }).unwrap();
        let mut workspace = Workspace::new();
        for index in 0..count {
            let mut pair = sampler.pair(index, &mut workspace);
            let (source, oracle) = (pair.source(), pair.oracle());
            assert_eq!(oracles(sampler.grammar(), &source), [oracle], "{source}");
        }
    }
}
