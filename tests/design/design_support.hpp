// Common to the design tests: a vocabulary, and short ways to a study's points and messages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex {

/// Errors: a parallelization that does not use all NPUs, a ninth dimension in a constraint, and a workload "bad".
inline Diagnostics test_check_training(const DesignPoint& point) {
  Diagnostics errors;
  const TrainingPoint& training = point.training();
  if (training.hp.npus() != static_cast<std::int64_t>(point.topology.shape.npus())) {
    errors.push_back(input_error({}, to_string(training.hp) + " is for " + std::to_string(training.hp.npus()) + " NPUs",
                                 "", "choose another one"));
  }
  for (const auto& constraint : training.constraints)
    for (const auto& [dimension, place] : constraint.mentions)
      if (dimension == 9) errors.push_back(input_error(place, "there is no dimension 9"));
  if (training.workload.content.view() == "bad") errors.push_back(input_error({training.workload.path, 1, 1}, "bad"));
  if (training.scheme == SplitScheme::perf_opt && training.constraints.empty() &&
      training.total_bandwidth == Bandwidth{}) {
    errors.push_back(input_error({"constraints", 0, 0}, "the bandwidth has no upper bound"));
  }
  return errors;
}

/// Entries as the registries have them: three textbook algorithms, four synthesizers, and the best of all.
inline const std::vector<AlgorithmTraits>& test_algorithms() {
  static const std::vector<AlgorithmTraits> entries = [] {
    std::vector<AlgorithmTraits> all;
    for (const std::string_view name : {"ring", "ring_unidirectional", "direct"}) {
      SettingReads reads = kReadsAll;
      reads.engine = reads.attempts = reads.epochs = false;
      reads.order = name == "direct";
      if (!reads.order) reads.window = {};
      all.push_back(
          {.name = name,
           .family = AlgorithmFamily::textbook,
           .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce},
           .reads = reads});
    }
    SettingReads reads = kReadsAll;
    reads.window = {};
    reads.order = false;
    for (const std::string_view name : {"tacos", "tacos_reference", "pccl"}) {
      reads.epochs = name == "pccl";
      all.push_back(
          {.name = name, .family = AlgorithmFamily::synthesizer, .reads = reads, .engines = {"event_driven", "exact"}});
    }
    reads.epochs = false;
    all.push_back({.name = "trees",
                   .family = AlgorithmFamily::synthesizer,
                   .reads = reads,
                   .delays = {CollectiveKind::all_reduce, CollectiveKind::broadcast}});
    reads = kReadsAll;
    reads.epochs = false;
    all.push_back({.name = kBestOfAll, .family = AlgorithmFamily::any, .reads = reads});
    return all;
  }();
  return entries;
}

/// The names of this version's algorithms and synthesizers, and words for training.
inline Vocabulary test_words() {
  Vocabulary words;
  for (const AlgorithmTraits& entry : test_algorithms()) words.algorithms.push_back(&entry);
  static const AlgorithmTraits missing{.name = "te_ccl",
                                       .description = "a synthesizer by mixed-integer programming",
                                       .packages = "coinor-libclp-dev coinor-libcbc-dev libz3-dev"};
  words.missing.push_back(&missing);
  const auto trains = [](const DesignPoint& point) { return point.trains(); };
  const auto communicates = [](const DesignPoint& point) { return !point.trains(); };
  words.objectives = {{"collective_time_ps", false, true, communicates, "points that run a collective"},
                      {"algbw_bytes_per_s", true, true, communicates, "points that run a collective", "algbw"},
                      {"sends", false, false, communicates, "points that run a collective"},
                      {"training_time_ps", false, true, trains, "points that train a model"},
                      {"npus", false, false}};
  words.check_training = test_check_training;
  words.workloads = {{"gpt3", "layers of gpt3"}, {"msft_1t", "layers of msft_1t"}};
  words.cost_models = {{"libra", "prices of libra"}};
  return words;
}

/// Settings of a point as text, as make_point() takes them.
using Words = std::vector<std::pair<std::string, std::string>>;

/// A point of HP-(4,8) on 32 NPUs under `libra`, with some words replaced, added, or (if empty) left out.
inline Words training_words(const Words& changes) {
  Words words{{"topology", "RI(4)_SW(8)"}, {"workload", "gpt3"}, {"hp", "4,8"}, {"npu_bandwidth", "200GB/s, 100GB/s"}};
  for (const auto& change : changes) {
    std::erase_if(words, [&](const auto& word) { return word.first == change.first; });
    if (!change.second.empty()) words.push_back(change);
  }
  return words;
}

inline DesignPoint training_with(const Words& changes) {
  const auto point = make_point(training_words(changes), test_words());
  EXPECT_TRUE(point.ok()) << (point ? "" : to_string(point.errors()));
  return point ? *point : DesignPoint();
}

inline std::string refusal_of(const Words& changes) {
  const auto point = make_point(training_words(changes), test_words());
  return point ? "" : to_string(point.errors());
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

/// The base study with more lines in its sweep.
inline Result<Study> study_with(const std::string& lines) {
  return parse_study(base_study() + lines, "study.toml", test_words());
}

/// The messages of a study, or "" if it is good.
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
