// DesignPoint: one fully resolved point of a study. A plain value; everything that evaluation reads is in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/design/shared_text.hpp"
#include "tenex/design/stragglers.hpp"
#include "tenex/design/training_choice.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// Raised whenever a result may change for the same point; part of every key.
inline constexpr std::int64_t physics_version = 2;

/// Where the topology comes from: a shape, or a machine file (then alpha and bandwidth must be absent).
struct TopologyChoice {
  std::string text;            ///< as the user wrote it
  std::string machine_file;    ///< path, resolved against the study's folder; empty for shapes
  SharedText machine_content;  ///< the file's bytes, read once by the study's reader so that every rank sees the same
  Shape shape;                 ///< for shapes
  ShapeLinks links;            ///< for shapes
  std::uint32_t unwind = 0;    ///< degree; 0: switches stay, except that synthesizers that need it unwind with degree 1
  std::vector<std::pair<std::uint32_t, std::uint32_t>> without;  ///< pairs of vertices whose links are removed
  std::size_t machine_npus = 0;  ///< of a machine file, where known (Vocabulary::inspect_machine); 0 where not
};

/// What kind of algorithm a point names; decides which settings can matter to its result.
enum class AlgorithmFamily : std::uint8_t { unknown, textbook, synthesizer };

/// What a study needs to know of an algorithm or synthesizer: its registry entry says it, nothing else.
struct AlgorithmFacts {
  std::string name;
  AlgorithmFamily family = AlgorithmFamily::unknown;
  std::vector<CollectiveKind> collectives = {};  ///< that it is defined for; empty: all
  bool reads_window = true;                      ///< the key `window` can change what it does
  bool reads_order = true;                       ///< likewise `order`
};

/// One point. Field names are the study's keys.
struct DesignPoint {
  TopologyChoice topology;
  CollectiveKind collective = CollectiveKind::all_gather;
  Bytes size;
  std::int64_t chunks = 1;
  std::string groups = "all";
  std::uint32_t root = 0;
  std::string algorithm;  ///< a textbook algorithm or a synthesizer, or "replay"
  AlgorithmFamily family = AlgorithmFamily::unknown;
  bool reads_window = true;  ///< AlgorithmFacts, as family
  bool reads_order = true;
  Occupancy occupancy = Occupancy::serialization;
  bool overlap = true;                       ///< All-Reduce: which time is the collective time
  std::string backend = "congestion_aware";  ///< for programs
  std::uint32_t attempts = 1;
  std::string engine = "auto";             ///< of a synthesizer that has several
  std::uint32_t window = 0;                ///< of `direct`: how many messages an NPU has under way at once; 0: all
  std::string order = "relative";          ///< in which a textbook algorithm's NPUs take their peers; or "absolute"
  Stragglers stragglers;                   ///< slow links and NPUs, NPUs that start late
  std::string simulation_engine = "auto";  ///< how a program is simulated; never what comes out
  std::uint64_t seed = 1;
  /// Of a point that trains a model; such a point reads no collective, size, groups, root, overlap or backend, and of
  /// the settings of algorithms only what its `collective_time` simulates or synthesizes with. Null: a collective.
  std::shared_ptr<const TrainingChoice> training;

  /// Sorted `name=value` in integer SI units, one per line, aliases expanded, files by content hash, schema 1's frozen
  /// defaults left out, settings that cannot influence this point's result left out, physics included. Equal text means
  /// equal point. The rules: experiments/README.md, "Key of a point".
  std::string canonical;
  Digest key;  ///< XXH3-128 of `canonical`
};

/// Fills `canonical` and `key` from the other fields. O(length).
void seal(DesignPoint& point);

/// Sets what cannot influence the point's result to its default (root without a rooted collective, overlap without
/// All-Reduce, attempts of a textbook algorithm, backend and simulation_engine of a synthesizer, order and window of
/// algorithms that do not read them) and rewrites groups, `without` and per-dimension lists to the form that the
/// canonical text uses: points with equal keys then differ at most in the text and path of their topology. O(length).
void normalise(DesignPoint& point);

/// Process groups in the form that the canonical text uses, equal for equal groups: "all", else every group's members
/// in order with the longest arithmetic runs as "first-last[:step]", joined by "," and groups by "; ". `npus` are those
/// of the topology, 0 where not known (then nothing but the word itself is "all"). O(members).
[[nodiscard]] std::string canonical_groups(const std::vector<ProcessGroup>& groups, std::size_t npus);

/// The columns of settings in their frozen order. Quantities are in integer SI units (ps, bytes, bytes/s, FLOP/s), but
/// money in dollars; a list has one for each dimension of the point's shape. `without` is a text such as
/// "[[3,4],[5,6]]", or "none". `overlap` is 0 or 1. (seed, key and canonical are columns of their own.)
[[nodiscard]] const std::vector<SettingColumn>& setting_columns();
/// The column of that name, that had it in schema 1, or whose key has it; null where there is none.
[[nodiscard]] const SettingColumn* find_setting_column(std::string_view name);
/// What a point has in a column. InvariantError where there is no such column.
[[nodiscard]] SettingCell setting_cell(const DesignPoint& point, std::string_view column);
/// The value of a setting of kind text; of a list the quantities as the point states them, with "," (shares: ":")
/// between them. InvariantError for any other name.
[[nodiscard]] std::string text_setting(const DesignPoint& point, std::string_view column);
/// The value of a setting of kind integer. InvariantError for any other name.
[[nodiscard]] std::int64_t integer_setting(const DesignPoint& point, std::string_view column);

}  // namespace tenex
