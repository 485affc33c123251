// The bench `query` over KenLM's library, for comparison: the same text, the same questions in the same order.
//
//   g++ -O3 -DNDEBUG -DKENLM_MAX_ORDER=6 -I KENLM kenlm.cc KENLM_OBJECTS -o kenlm-query
//   kenlm-query TEXT MODEL...        models of build_binary, kind probing or trie

#include "lm/model.hh"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// `Rng::new(1)` of sylvan-base, and its `below`.
struct Rng {
  uint64_t state = 1;
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return (size_t)(((unsigned __int128)next() * bound) >> 64); }
};

template <class Model> void measure(const char *name, const std::vector<std::vector<std::string>> &text) {
  Model model(name);
  typedef std::pair<lm::ngram::State, lm::WordIndex> Query;
  std::vector<std::vector<lm::WordIndex>> sentences;
  std::vector<Query> queries;
  for (const auto &line : text) {
    std::vector<lm::WordIndex> words;
    for (const auto &word : line) words.push_back(model.GetVocabulary().Index(word));
    words.push_back(model.GetVocabulary().EndSentence());
    lm::ngram::State state = model.BeginSentenceState(), next;
    for (lm::WordIndex word : words) {
      queries.emplace_back(state, word);
      model.Score(state, word, next);
      state = next;
    }
    sentences.push_back(words);
  }
  Rng rng;
  for (size_t last = queries.size() - 1; last >= 1; --last) std::swap(queries[last], queries[rng.below(last + 1)]);
  for (int round = 0; round < 3; ++round) {
    auto start = std::chrono::steady_clock::now();
    auto per_query = [&] {
      std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      return time.count() * 1e9 / queries.size();
    };
    double shuffled = 0, in_order = 0;
    lm::ngram::State next;
    for (const Query &query : queries) shuffled += model.Score(query.first, query.second, next);
    double single = per_query();
    start = std::chrono::steady_clock::now();
    for (const auto &sentence : sentences) {
      lm::ngram::State state = model.BeginSentenceState();
      for (lm::WordIndex word : sentence) {
        in_order += model.Score(state, word, next);
        state = next;
      }
    }
    double sequential = per_query();
    std::cout << name << " shuffled " << single << " ns sequential " << sequential << " ns sum of log10 " << shuffled
              << " " << in_order << " n " << queries.size() << std::endl;
  }
}

int main(int argc, char **argv) {
  std::vector<std::vector<std::string>> text;
  std::ifstream file(argv[1]);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    text.emplace_back();
    for (std::string word; words >> word;) text.back().push_back(word);
  }
  for (int index = 2; index < argc; ++index) {
    lm::ngram::ModelType type = lm::ngram::PROBING;
    lm::ngram::RecognizeBinary(argv[index], type);
    if (type == lm::ngram::TRIE) measure<lm::ngram::TrieModel>(argv[index], text);
    else measure<lm::ngram::ProbingModel>(argv[index], text);
  }
}
