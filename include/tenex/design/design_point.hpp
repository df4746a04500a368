// DesignPoint: one fully resolved point of a study. A plain value with everything that evaluation reads.
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
#include "tenex/files/demand.hpp"
#include "tenex/schedule/algorithm_traits.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

struct LinkProtocol;  // tenex/files/input_files.hpp

/// Raised whenever a result may change for the same point; part of every key.
inline constexpr std::int64_t physics_version = 21;

/// How the switches of a point forward: as its shape or machine file builds them, or all in one way.
enum class SwitchForwarding : std::uint8_t { as_built, store_and_forward, cut_through, virtual_cut_through };
/// nullopt: as built.
[[nodiscard]] constexpr std::optional<Forwarding> forwarding_of(SwitchForwarding forwarding) {
  if (forwarding == SwitchForwarding::as_built) return std::nullopt;
  return kForwardings[static_cast<std::size_t>(forwarding) - 1];
}
/// For shapes, which store and forward as they are built.
[[nodiscard]] constexpr SwitchForwarding choice_of(Forwarding forwarding) {
  return forwarding == Forwarding::store_and_forward
             ? SwitchForwarding::as_built
             : static_cast<SwitchForwarding>(static_cast<std::size_t>(forwarding) + 1);
}
[[nodiscard]] std::string_view to_string(SwitchForwarding forwarding);

/// Whether the switches of a point have an ability.
enum class SwitchAbility : std::uint8_t { as_built, no, yes };
[[nodiscard]] std::string_view to_string(SwitchAbility ability);

/// The chunks that may wait in a switch; no value: as built.
struct SwitchBuffer {
  std::optional<std::uint32_t> chunks;  ///< kUnlimitedBuffer: any number
  bool operator==(const SwitchBuffer&) const = default;
};
/// "as_built", "unlimited" or a number.
[[nodiscard]] std::string to_string(const SwitchBuffer& buffer);

/// The properties that a point gives to all its switches. Shapes build switches that store and forward, with an
/// unlimited buffer, and neither copy nor reduce.
struct SwitchChoice {
  SwitchForwarding forwarding = SwitchForwarding::as_built;
  SwitchAbility copy = SwitchAbility::as_built;
  SwitchAbility reduce = SwitchAbility::as_built;
  SwitchBuffer buffer;
  /// Of the network of a training step's collective, a product: whether `copy` and `reduce` are said of the switches of
  /// each dimension; empty: of all switches.
  std::vector<bool> able_dimensions = {};
  bool operator==(const SwitchChoice&) const = default;
};

/// The source of the topology: a shape, or a machine file (then alpha and bandwidth must be absent).
struct TopologyChoice {
  std::string text;            ///< as the user wrote it
  std::string machine_file;    ///< path, resolved against the study's folder; empty for shapes
  SharedText machine_content;  ///< the file's bytes, read only once, so that every rank sees the same
  Shape shape;                 ///< for shapes
  ShapeLinks links;            ///< for shapes
  std::uint32_t unwind = 0;    ///< degree; 0: switches stay
  SwitchChoice switches;
  SimTime overhead = SimTime::zero();  ///< of each message that an NPU sends
  std::string protocol = "none";       ///< of the machine, by which `links` are what they are
  /// Those that the machine's file names, in its order; null: none.
  std::shared_ptr<const std::vector<LinkProtocol>> protocols = nullptr;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> without;  ///< pairs of vertices whose links are removed
  NetworkFaults faults;                                          ///< what has failed, after `without`
  std::size_t machine_npus = 0;                                  ///< of a machine file; 0 for shapes

  /// Of the network, whichever the source. O(dimensions).
  [[nodiscard]] std::size_t npus() const { return machine_file.empty() ? shape.npus() : machine_npus; }
};

/// The word for the best of all synthesizers and textbook algorithms that can do a point.
inline constexpr std::string_view kBestOfAll = "best";

/// What studies write for a number of chunks, or a size of pieces, that is chosen.
inline constexpr std::string_view kAutomaticWord = "auto";

/// DesignPoint::chunks of a point that leaves the number of chunks to its evaluation.
inline constexpr std::int64_t kAutomaticChunks = 0;
/// The most chunks that such an evaluation tries.
inline constexpr std::int64_t kMostAutomaticChunks = 512;

/// CollectivePoint::piece of conditions that are not cut by size, and of those whose pieces are chosen by a rule.
inline constexpr Bytes kNoPiece = Bytes::of(-1);
inline constexpr Bytes kAutomaticPiece = Bytes::of(0);

/// How far a row's bounds with certificates are searched.
enum class BoundSearch : std::uint8_t {
  quick,  ///< a small part of the time that the point itself takes
  full,   ///< seconds
};
/// "quick", "full".
[[nodiscard]] std::string_view to_string(BoundSearch search);

/// A collective on the point's topology. Fields are named like the study's keys, except `kind` (the key `collective`).
struct CollectivePoint {
  CollectiveKind kind = CollectiveKind::all_gather;
  Bytes size;
  Groups groups;
  TrafficMatrix matrix;      ///< of all_to_allv
  ConditionList conditions;  ///< of the kind of that name
  Bytes piece = kNoPiece;    ///< the largest chunk of conditions, which are then not cut to a number of chunks each
  std::uint32_t root = 0;
  bool overlap = true;  ///< All-Reduce: which time is the collective time
  Backend backend = Backend::congestion_aware;
  std::uint32_t window = 0;  ///< of textbook algorithms: most of SettingReads::window in flight at once; 0: all
  DestinationOrder order = DestinationOrder::relative;
  std::uint32_t radix = 2;  ///< of textbook algorithms with a base or a width (SettingReads::radix)
  Stragglers stragglers;
  SimulationEngine simulation_engine = SimulationEngine::automatic;  ///< never changes the result
  BoundSearch bounds = BoundSearch::quick;
  RouteChoice routes{};  ///< of textbook algorithms' messages
};

/// One point: a network, how collectives are made on it, and its work: a collective, or the training of a model. A
/// training point reads only the collective settings that its `collective_time` needs. Fields are named like the
/// study's keys.
struct DesignPoint : SynthesisChoices {
  TopologyChoice topology;
  std::int64_t chunks = 1;  ///< kAutomaticChunks: chosen
  std::string algorithm;    ///< AlgorithmTraits::name; name_algorithm() sets it with what follows from it
  AlgorithmFamily family = AlgorithmFamily::unknown;
  SettingReads reads = kReadsAll;
  Occupancy occupancy = Occupancy::serialization;
  std::variant<CollectivePoint, TrainingPoint> work;

  [[nodiscard]] bool trains() const { return std::holds_alternative<TrainingPoint>(work); }
  /// The point's work. Precondition: trains() is false for collective(), true for training().
  [[nodiscard]] const CollectivePoint& collective() const { return std::get<CollectivePoint>(work); }
  [[nodiscard]] CollectivePoint& collective() { return std::get<CollectivePoint>(work); }
  [[nodiscard]] const TrainingPoint& training() const { return std::get<TrainingPoint>(work); }
  [[nodiscard]] TrainingPoint& training() { return std::get<TrainingPoint>(work); }

  /// Sorted lines `name=value` in integer SI units, with aliases expanded, files by content hash, and `physics`. Schema
  /// 1's frozen defaults and settings that cannot influence this point's result are left out. Equal text means equal
  /// point. The rules: experiments/guide/studies.md, "Key of a point".
  std::string canonical;
  Digest key;  ///< XXH3-128 of `canonical`
};

/// The point with one chunk where it leaves the number to its evaluation: for what does not depend on the number.
[[nodiscard]] inline DesignPoint with_any_chunks(DesignPoint point) {
  if (point.chunks == kAutomaticChunks) point.chunks = 1;
  return point;
}

/// Gives the point an algorithm, with the traits that decide which settings can matter to it.
void name_algorithm(DesignPoint& point, const AlgorithmTraits& traits);

/// Fills `canonical` and `key` from the other fields. O(length).
void seal(DesignPoint& point);

/// Sets keys that cannot influence the point's result to their defaults: root without a rooted collective, overlap
/// without All-Reduce, attempts of a textbook algorithm, backend and simulation_engine of a synthesizer, order and
/// window of algorithms that do not read them. Rewrites `without` and per-dimension lists to the form of the canonical
/// text. Afterwards points with equal keys differ at most in the text and path of their topology. O(length).
void normalise(DesignPoint& point);

/// The values of the settings that change something of this (Setting::changes), as a key of caches: equal where all of
/// them are. Not for reading. O(length).
[[nodiscard]] std::string settings_text(const DesignPoint& point, Changes changes);

/// The columns of settings in their frozen order. Quantities are in integer SI units (ps, bytes, bytes/s, FLOP/s),
/// except money, which is in dollars; a list has one value for each dimension of the point's shape, or level of its
/// family. `without` is a text such as "[[3,4],[5,6]]", or "none". `overlap` is 0 or 1. (seed, key and canonical are
/// columns of their own.)
[[nodiscard]] const std::vector<SettingColumn>& setting_columns();
/// The column with this name now or in schema 1, or of the key with this name; null if there is none.
[[nodiscard]] const SettingColumn* find_setting_column(std::string_view name);
/// The value of a point in a column. InvariantError if there is no such column.
[[nodiscard]] SettingCell setting_cell(const DesignPoint& point, std::string_view column);
/// The value of a setting of kind text; for a list the quantities as the point states them, joined by "," (shares:
/// ":"). InvariantError for any other name.
[[nodiscard]] std::string text_setting(const DesignPoint& point, std::string_view column);

}  // namespace tenex
