// DesignPoint: one fully resolved point of a study. A plain value; everything that evaluation reads is in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/groups.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/design/shared_text.hpp"
#include "tenex/design/stragglers.hpp"
#include "tenex/design/training_point.hpp"
#include "tenex/schedule/run_choices.hpp"
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
  std::size_t machine_npus = 0;                                  ///< of a machine file; 0 for shapes
};

/// What kind of algorithm a point names; decides which settings can matter to its result.
enum class AlgorithmFamily : std::uint8_t { unknown, textbook, synthesizer };

/// Which settings an algorithm reads. One that nothing is known of reads all.
struct SettingReads {
  bool window = true;
  bool order = true;
  bool engine = true;    ///< it has several engines
  bool attempts = true;  ///< it draws random numbers
  bool operator==(const SettingReads&) const = default;
};

/// What a study needs to know of an algorithm or synthesizer: its registry entry says it, nothing else.
struct AlgorithmFacts {
  std::string name;
  AlgorithmFamily family = AlgorithmFamily::unknown;
  std::vector<CollectiveKind> collectives = {};  ///< that it is defined for; empty: all
  SettingReads reads = {};
  std::vector<std::string> engines = {};  ///< that the key `engine` may name, beside "auto"
};

/// A collective on the point's topology. But for `kind`, which is the key `collective`, names are the study's keys.
struct CollectivePoint {
  CollectiveKind kind = CollectiveKind::all_gather;
  Bytes size;
  Groups groups;
  std::uint32_t root = 0;
  bool overlap = true;  ///< All-Reduce: which time is the collective time
  Backend backend = Backend::congestion_aware;
  std::uint32_t window = 0;  ///< of textbook algorithms: how much an NPU has under way at once; 0: all
  DestinationOrder order = DestinationOrder::relative;
  Stragglers stragglers;
  SimulationEngine simulation_engine = SimulationEngine::automatic;  ///< never what comes out
};

/// One point: a network, how collectives are made on it, and what it runs: a collective, or the training of a model. Of
/// the settings of collectives a point that trains reads what its `collective_time` needs. Names are the study's keys.
struct DesignPoint {
  TopologyChoice topology;
  std::int64_t chunks = 1;
  std::string algorithm;  ///< a textbook algorithm or a synthesizer, or "replay"
  AlgorithmFamily family = AlgorithmFamily::unknown;
  SettingReads reads;
  Occupancy occupancy = Occupancy::serialization;
  std::uint32_t attempts = 1;
  std::string engine = "auto";  ///< a name from the entry of a synthesizer that has several
  std::uint64_t seed = 1;
  std::variant<CollectivePoint, TrainingPoint> work;

  [[nodiscard]] bool trains() const { return std::holds_alternative<TrainingPoint>(work); }
  /// What it runs. Precondition: trains() is false; true.
  [[nodiscard]] const CollectivePoint& collective() const { return std::get<CollectivePoint>(work); }
  [[nodiscard]] CollectivePoint& collective() { return std::get<CollectivePoint>(work); }
  [[nodiscard]] const TrainingPoint& training() const { return std::get<TrainingPoint>(work); }
  [[nodiscard]] TrainingPoint& training() { return std::get<TrainingPoint>(work); }

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
/// algorithms that do not read them) and rewrites `without` and per-dimension lists to the form that the canonical text
/// uses: points with equal keys then differ at most in the text and path of their topology. O(length).
void normalise(DesignPoint& point);

/// The canonical text of settings that change links (Setting::of_links), where they are not at their defaults.
[[nodiscard]] std::string text_of_links(const DesignPoint& point);

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
