// AlgorithmTraits: what others may ask of a textbook algorithm or a synthesizer without running it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/run_choices.hpp"

namespace tenex {

/// What an algorithm's word in a study stands for.
enum class AlgorithmFamily : std::uint8_t {
  unknown,
  textbook,      ///< makes Programs
  synthesizer,   ///< makes Schedules
  any_textbook,  ///< the fastest textbook algorithm: the point's evaluation simulates them
  any,           ///< the best of all: the point's evaluation tries them
};

/// The first part of a registry entry. It decides which settings can matter to a result, and which points are refused.
struct AlgorithmTraits {
  std::string_view name = {};
  std::string_view description = {};
  std::string_view source = {};     ///< the first description, or the paper that uses the algorithm
  std::string_view long_name = {};  ///< another name in studies; empty: none. Rows and keys have `name`
  AlgorithmFamily family = AlgorithmFamily::unknown;
  std::vector<CollectiveKind> collectives = {};  ///< for which it is defined; empty: all
  SettingReads reads = {};
  std::vector<std::string_view> engines = {};  ///< that a study may name; empty: there is only one, without a name
  /// Synthesizers: the collectives that they make where NPUs start late (start delays). An engine that cannot says so.
  std::vector<CollectiveKind> delays = {};
  std::vector<CollectiveKind> varying = {};  ///< the collectives that it makes where bandwidth varies with time

  bool is_reference = false;  ///< slow and obvious, made to be compared with: `best` does not try it

  std::string_view packages = {};  ///< Debian packages without which a build lacks it; empty: every build has it

  /// Whether it is defined for the collective, whatever the topology.
  [[nodiscard]] bool makes(CollectiveKind kind) const {
    return collectives.empty() || std::ranges::find(collectives, kind) != collectives.end();
  }
  /// Whether it makes the collective where NPUs start late. Simulated algorithms always do.
  [[nodiscard]] bool waits_for_late(CollectiveKind kind) const {
    return family != AlgorithmFamily::synthesizer || std::ranges::find(delays, kind) != delays.end();
  }
};

}  // namespace tenex
