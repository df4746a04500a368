// What the design tests share: a vocabulary, and short ways to a study's points and messages.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex {

/// A text without spaces at its ends and with single ones inside.
inline std::string squeezed(std::string_view text) {
  std::string packed;
  for (const char letter : text) {
    if (letter == ' ' && (packed.empty() || packed.back() == ' ')) continue;
    packed += letter;
  }
  while (!packed.empty() && (packed.back() == ' ' || packed.back() == ';')) packed.pop_back();
  return packed;
}

/// What the words of training keys mean to these tests: lists of words, and parallelizations as digits and commas.
inline Result<std::string> test_training_word(std::string_view key, std::string_view text, const Place& place) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> known{
      {"training_loop", {"no_overlap", "tp_dp_overlap"}},
      {"collective_time", {"libra", "libra_derated", "pipeline", "themis", "synthesized"}},
      {"contention", {"none", "links"}},
      {"scheme", {"given", "equal", "perf_opt", "perf_per_cost"}},
      {"optimize_with", {"auto", "libra", "libra_derated"}}};
  std::string word = squeezed(text);
  if (const auto words = known.find(key); words != known.end()) {
    if (std::find(words->second.begin(), words->second.end(), word) != words->second.end()) return word;
    return input_error(place, "unknown " + std::string(key) + " \"" + word + "\"");
  }
  if (key == "hp" && word.starts_with("HP-(")) word = word.substr(4, word.size() - 5);
  if (key == "hp" || key == "split") std::erase(word, ' ');
  if (key == "hp" && word.find_first_not_of("0123456789,") != std::string::npos) {
    return input_error(place, "\"" + std::string(text) + "\" is no parallelization");
  }
  if (key == "compute" && word.ends_with("TFLOPS")) word.replace(word.size() - 6, 6, "000000000000");
  if (key == "cost_budget" && word.ends_with("MUSD")) word.replace(word.size() - 4, 4, "000000000000");
  return word;
}

/// Wrong is a parallelization that is not one of all NPUs, a ninth dimension in a constraint, and a workload "bad".
inline Diagnostics test_check_training(const DesignPoint& point) {
  Diagnostics errors;
  const TrainingChoice& training = *point.training;
  std::size_t npus = 1;
  for (std::size_t start = 0; start < training.hp.size();) {
    const std::size_t end = std::min(training.hp.find(',', start), training.hp.size());
    npus *= std::stoul(training.hp.substr(start, end - start));
    start = end + 1;
  }
  if (npus != point.topology.shape.npus()) {
    errors.push_back(
        input_error({}, "HP-(" + training.hp + ") is for " + std::to_string(npus) + " NPUs", "", "choose another one"));
  }
  if (const std::size_t at = training.constraints.find("B9"); at != std::string::npos) {
    errors.push_back(input_error({"constraints", 1, static_cast<std::uint32_t>(at + 1)}, "there is no dimension 9"));
  }
  if (training.workload.content.view() == "bad") errors.push_back(input_error({training.workload.path, 1, 1}, "bad"));
  if (training.scheme == "perf_opt" && training.constraints.empty() && training.total_bandwidth == Bandwidth{}) {
    errors.push_back(input_error({"constraints", 0, 0}, "the bandwidth has no upper bound"));
  }
  return errors;
}

/// The names that this version's algorithms and synthesizers have, and words for training.
inline Vocabulary test_words() {
  Vocabulary words;
  const std::vector<CollectiveKind> kinds{CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                          CollectiveKind::all_reduce};
  for (const char* name : {"ring", "ring_unidirectional", "direct"}) {
    const bool reads = std::string_view(name) == "direct";
    words.algorithms.push_back({name, AlgorithmFamily::textbook, kinds, reads, reads});
  }
  for (const char* name : {"tacos", "tacos_reference"})
    words.algorithms.push_back({name, AlgorithmFamily::synthesizer, {}, false, false});
  words.engines = {"auto", "event_driven", "exact"};
  const auto trains = [](const DesignPoint& point) { return point.training != nullptr; };
  const auto communicates = [](const DesignPoint& point) { return point.training == nullptr; };
  words.objectives = {{"collective_time_ps", false, true, communicates, "points that run a collective"},
                      {"algbw_bytes_per_s", true, true, communicates, "points that run a collective", "algbw"},
                      {"sends", false, false, communicates, "points that run a collective"},
                      {"training_time_ps", false, true, trains, "points that train a model"},
                      {"npus", false, false}};
  words.training_word = test_training_word;
  words.check_training = test_check_training;
  words.builtin_names = [](std::string_view kind) {
    return kind == "workload" ? std::vector<std::string>{"gpt3", "msft_1t"} : std::vector<std::string>{"libra"};
  };
  words.builtin_file = [](std::string_view kind, std::string_view name) -> std::optional<std::string> {
    if (kind == "workload" && (name == "gpt3" || name == "msft_1t")) return "layers of " + std::string(name);
    if (kind == "cost_model" && name == "libra") return "prices of libra";
    return std::nullopt;
  };
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

/// The canonical text of the first point of a sweep that trains HP-(4,8) on 32 NPUs, with more lines; or the messages.
inline std::string first_of_training(const std::string& lines) {
  const auto study = parse_study(
      "schema = 1\nname = \"s\"\n[[sweep]]\ntopology = \"RI(4)_SW(8)\"\nworkload = \"gpt3\"\nhp = \"4,8\"\n"
      "npu_bandwidth = \"200GB/s, 100GB/s\"\n" +
          lines,
      "study.toml", test_words());
  return study ? study->points[0].canonical : messages_of(study);
}

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
