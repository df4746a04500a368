// What the design tests share: a vocabulary, and short ways to a study's points and messages.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex {

/// The names that this version's algorithms and synthesizers have.
inline Vocabulary test_words() {
  Vocabulary words;
  words.algorithms = {"ring", "ring_unidirectional", "direct"};
  words.synthesizers = {"tacos", "tacos_reference"};
  words.engines = {"auto", "event_driven", "exact"};
  for (const std::string& name : words.algorithms) {
    words.collectives[name] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  }
  return words;
}

/// Ten lines that make one point; tests add lines to its [[sweep]], which override the defaults.
inline const std::string& base_study() {
  static const std::string text = R"toml(schema = 1
name = "s"
[defaults]
topology = "RI(4)"
alpha = "1us"
bandwidth = "50GB/s"
collective = "all_gather"
size = "1MiB"
algorithm = "ring"
[[sweep]]
)toml";
  return text;
}

/// The study of the base's sweep with more lines.
inline Result<Study> study_with(const std::string& lines) {
  return parse_study(base_study() + lines, "study.toml", test_words());
}

/// The messages of a study, or "" when it is good.
inline std::string messages_of(const Result<Study>& study) { return study ? "" : to_string(study.errors()); }

/// The canonical texts of all points, in order or sorted.
inline std::vector<std::string> canonical_texts(const Study& study) {
  std::vector<std::string> texts;
  for (const DesignPoint& point : study.points) texts.push_back(point.canonical);
  return texts;
}
inline std::vector<std::string> sorted_texts(const Study& study) {
  auto texts = canonical_texts(study);
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace tenex
