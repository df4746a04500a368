// How algorithms and synthesizers are run: the choices that a study makes about them and about simulators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/quantity.hpp"

namespace tenex {

/// Whether messages wait for links that carry others (aware) or share them for free (unaware).
enum class Backend : std::uint8_t { congestion_aware, congestion_unaware };
/// "congestion_aware", "congestion_unaware".
[[nodiscard]] std::string_view to_string(Backend backend);

/// How a congestion-aware simulation is computed. It never changes the result.
enum class SimulationEngine : std::uint8_t {
  automatic,
  window,        ///< any program on links: one event per hop, in windows of the least hop time
  static_order,  ///< cycles on routes that share no link: recurrences over arrays
  trains,        ///< open loops with a known order on each link: FIFOs drained whole
  orbit,         ///< programs that move with a translation group: one NPU stands for all
  wires,         ///< any program on paths over cut-through switches
};
/// "auto", "window", "static_order", "trains", "orbit", "wires".
[[nodiscard]] std::string_view to_string(SimulationEngine engine);

/// The order in which an NPU addresses its peers, if they are many.
enum class DestinationOrder : std::uint8_t {
  relative,  ///< by offset from itself, so that symmetric NPUs behave alike
  absolute,  ///< by id, the same for all
};
/// "relative", "absolute".
[[nodiscard]] std::string_view to_string(DestinationOrder order);

/// The largest base or width of a textbook algorithm; the least is 2.
inline constexpr std::int64_t kMostRadix = 256;

/// Which NPUs may pass on a chunk that a synthesizer routes.
enum class Relays : std::uint8_t {
  any,      ///< all
  members,  ///< those of the chunk's process group
};
/// "any", "members".
[[nodiscard]] std::string_view to_string(Relays relays);

/// The passes that follow a synthesizer's search.
enum class Improvement : std::uint8_t {
  none,
  retime,   ///< every send as early as its link and its chunk allow
  reroute,  ///< chunks that end last are taken out and routed again
  all,      ///< both, until neither helps
};
/// "none", "retime", "reroute", "all".
[[nodiscard]] std::string_view to_string(Improvement improvement);

/// How a synthesizer with solvers formulates a collective (TE-CCL, sections III and IV).
enum class Formulation : std::uint8_t {
  automatic,   ///< lp where no chunk is copied, otherwise milp, or a_star if that would be too large
  lp,          ///< rates of flow per epoch: only where every chunk has one destination
  milp,        ///< whole chunks per epoch, with copies
  a_star,      ///< rounds of milp, each of which looks a few epochs ahead
  unbuffered,  ///< milp in which NPUs pass on what they receive at once or never (TE-CCL, Fig. 11)
};
/// "auto", "lp", "milp", "a_star", "unbuffered".
[[nodiscard]] std::string_view to_string(Formulation formulation);

/// The epoch of a time-expanded model: the time in which the fastest or the slowest link takes a chunk, or a multiple
/// of it (TE-CCL, Table 4: longer epochs make smaller models), or a given time.
struct EpochChoice {
  enum class By : std::uint8_t { fastest, slowest, length };
  By by = By::fastest;
  SimTime length{};         ///< of By::length
  std::int64_t factor = 1;  ///< of the others
  bool operator==(const EpochChoice&) const = default;
};
/// "fastest", "slowest", either with a factor as in "fastest x2", or the length in picoseconds.
[[nodiscard]] std::string to_string(const EpochChoice& epoch);

/// How much the completion time of each process group counts (TE-CCL, section 5, "Use in multi-tenant clusters"): of
/// the schedules with the fewest epochs K, a synthesizer looks for one with the least sum of weight * finish epoch.
struct Priorities {
  static constexpr std::int64_t kMost = 1000;
  std::vector<std::int64_t> weights;  ///< by group, from 1 to kMost, without a common divisor; empty: none are given
  bool operator==(const Priorities&) const = default;
};
/// "4,1", or "none".
[[nodiscard]] std::string to_string(const Priorities& priorities);

/// What a study asks of synthesizers with solvers.
struct SolverChoice {
  Formulation formulation = Formulation::automatic;
  EpochChoice epoch;
  std::int64_t nodes = kDefaultNodes;  ///< most nodes of all branch-and-bound searches of a result; 0: no limit
  SimTime
      time_limit;  ///< wall clock for all solvers of a result; zero: none. It may change a result, and marks it then
  Priorities priorities = {};  ///< of process groups

  static constexpr std::int64_t kDefaultNodes = 1000;
  bool operator==(const SolverChoice&) const = default;
};
/// All fields, for keys of caches.
[[nodiscard]] std::string to_string(const SolverChoice& choice);

/// The share of its bound at which a result is good enough, so that a search for a better one ends.
struct GoodEnough {
  static constexpr std::int64_t kWhole = 100'000;
  std::int64_t thousandths = kWhole;  ///< of a percent
  bool operator==(const GoodEnough&) const = default;
  /// Whether a result of this time is proven to reach the share: bound / time >= share.
  [[nodiscard]] bool reached(SimTime time, SimTime bound) const;
};
/// "99.5%".
[[nodiscard]] std::string to_string(const GoodEnough& share);

/// The word for the fastest engine of a synthesizer that suits the problem at full quality.
inline constexpr std::string_view kAutomaticEngine = "auto";

/// What a study chooses of synthesizers. A synthesizer reads those that concern it, as its SettingReads say. (Textbook
/// algorithms read the seed.)
struct SynthesisChoices {
  std::uint64_t seed = 1;
  std::uint32_t attempts = 1;  ///< multi-start: the best of this many attempts is kept (the earliest of equals)
  std::string engine{kAutomaticEngine};  ///< kAutomaticEngine, or one of the synthesizer's engines
  Relays relays = Relays::any;
  Improvement improve = Improvement::all;
  GoodEnough good_enough = {};
  SolverChoice solver = {};
};

/// The settings of a study that can change what an algorithm or a synthesizer makes.
struct SettingReads {
  std::string_view window = {};  ///< the unit that a window counts, in words; empty: it reads none
  bool order = false;
  bool engine = false;    ///< it has several engines
  bool attempts = false;  ///< it draws random numbers, so that attempts differ
  bool routes = false;    ///< it routes chunks one by one: relays, improve
  /// It sends over switches, stored ones (vertices) and wires. Otherwise it schedules the network with its switches
  /// unwound (TACOS, section IV-G), and its schedule is played on the switches; or its requirement leaves none.
  bool switches = false;
  bool phases = false;  ///< its All-Reduce is a reduction and then a gather: overlap
  bool stops = false;   ///< it has several ways and ends at the first result that is good enough: good_enough
  bool solves = false;  ///< it runs solvers: solver_nodes, solver_time_limit
  bool epochs = false;  ///< its solvers work on epochs: formulation, epoch, priorities
  bool radix = false;   ///< it counts to a base, or its trees have a width: radix
  bool operator==(const SettingReads&) const = default;
};
/// Of an algorithm of which nothing is known.
inline constexpr SettingReads kReadsAll{"messages", true, true, true, true, true, true, true, true, true, true};

}  // namespace tenex
