// Training points, from settings as studies write them and workloads written in the test.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"

namespace tenex::support {

/// Workload and cost model files by the path that a test's settings name.
using Files = std::map<std::string, std::string>;

/// A workload of one layer; `body` holds its phases. At 1 TFLOPS a picosecond of compute is one FLOP.
inline std::string workload_text(const std::string& body, const std::string& head = "") {
  return "schema = 1\nkind = \"workload\"\nname = \"tiny\"\nsource = \"a test\"\nmeasured_at = \"1TFLOPS\"\n" + head +
         "[[block]]\n[[block.layer]]\nname = \"only\"\n" + body;
}

/// A phase that communicates once.
inline std::string phase_text(const std::string& phase, const std::string& collective, const std::string& size,
                              const std::string& over, const std::string& time = "0ps") {
  return phase + " = { time = \"" + time + "\", communicate = { collective = \"" + collective + "\", size = \"" + size +
         "\", over = \"" + over + "\" } }\n";
}

inline Vocabulary words_with(const Files& files) {
  auto words = vocabulary();
  words.stored_file = [files](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  return words;
}

inline DesignPoint training_point(const Words& words, const Files& files = {}) {
  const auto point = make_point(words, words_with(files));
  EXPECT_TRUE(point.ok()) << to_string(point.errors());
  return point ? *point : DesignPoint();
}

inline Evaluation training_row(const Words& words, const Files& files = {}, EvaluateOptions options = {}) {
  const auto row = row_of(training_point(words, files), options);
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  return row;
}

/// The errors of a point's text; empty if it is accepted.
inline std::string training_refusal(const Words& words, const Files& files = {}) {
  const auto point = make_point(words, words_with(files));
  return point ? "" : to_string(point.errors());
}

/// `words` with one setting added or replaced.
inline Words with(Words words, const std::string& name, const std::string& text) {
  std::erase_if(words, [&](const auto& word) { return word.first == name; });
  words.emplace_back(name, text);
  return words;
}

}  // namespace tenex::support
