// Design points for the tests of this room, from a study's words.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/evaluate/evaluate.hpp"

namespace tenex::support {

using Words = std::vector<std::pair<std::string, std::string>>;

/// The words with what they leave out: All-Gather over 1 GB/s links without latency, so 1 ns moves one byte.
inline DesignPoint point(Words words) {
  const auto absent = [&](std::string_view name) {
    return std::none_of(words.begin(), words.end(), [&](const auto& w) { return w.first == name; });
  };
  if (absent("alpha")) words.emplace_back("alpha", "0ns");
  if (absent("bandwidth") && absent("npu_bandwidth")) words.emplace_back("bandwidth", "1GB/s");
  if (absent("collective")) words.emplace_back("collective", "all_gather");
  return make_point(words, vocabulary()).value();
}

inline Evaluation row_of(const DesignPoint& given, EvaluateOptions options = {}) {
  Cache cache;
  return evaluate(given, cache, options).row;
}

}  // namespace tenex::support
