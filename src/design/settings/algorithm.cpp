// The keys of an algorithm: its name, its options, and how its schedule is simulated.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto algorithm = [](auto& point) -> auto& { return point.point.algorithm; };
constexpr auto backend = [](auto& point) -> auto& { return point.collective.backend; };
constexpr auto attempts = [](auto& point) -> auto& { return point.point.attempts; };
constexpr auto engine = [](auto& point) -> auto& { return point.point.engine; };
constexpr auto window = [](auto& point) -> auto& { return point.collective.window; };
constexpr auto order = [](auto& point) -> auto& { return point.collective.order; };
constexpr auto radix = [](auto& point) -> auto& { return point.collective.radix; };
constexpr auto simulation_engine = [](auto& point) -> auto& { return point.collective.simulation_engine; };
constexpr auto relays = [](auto& point) -> auto& { return point.point.relays; };
constexpr auto improve = [](auto& point) -> auto& { return point.point.improve; };
constexpr auto bounds = [](auto& point) -> auto& { return point.collective.bounds; };
constexpr auto good_enough = [](auto& point) -> auto& { return point.point.good_enough; };
constexpr auto formulation = [](auto& point) -> auto& { return point.point.solver.formulation; };
constexpr auto epoch = [](auto& point) -> auto& { return point.point.solver.epoch; };
constexpr auto solver_nodes = [](auto& point) -> auto& { return point.point.solver.nodes; };
constexpr auto solver_time_limit = [](auto& point) -> auto& { return point.point.solver.time_limit; };
constexpr auto priorities = [](auto& point) -> auto& { return point.point.solver.priorities; };
constexpr auto seed = [](auto& point) -> auto& { return point.point.seed; };

/// What NCCL's names of algorithms are called here; empty for other words.
std::string_view called_here(std::string_view word) {
  if (word == "tree" || word == "Tree") return "NCCL's Tree is \"dbt\"; synthesized trees are \"trees\"";
  if (word == "nvls" || word == "NVLS" || word == "collnet" || word == "CollNet")
    return "switches that add and copy are switch_reduce and switch_copy of the network, which \"pccl\" uses";
  return {};
}

Result<SettingValue> parse_algorithm(const Setting&, std::string_view, const Node& node, ValueContext& context) {
  const Vocabulary& vocabulary = context.vocabulary;
  const AlgorithmTraits* traits = find_traits(vocabulary, node.text());
  if (traits == nullptr) {
    const auto known = vocabulary.algorithm_names();
    for (const AlgorithmTraits* missing : vocabulary.missing)
      if (missing->name == node.text())
        return unsupported_error(
            node.place(), fmt::format("this tenex has no algorithm \"{}\"", missing->name),
            fmt::format("{}; it was built without its libraries", missing->description),
            fmt::format("install {} and build tenex again, or choose from {}", missing->packages, join(known)));
    auto unknown = unknown_word(node.text(), "algorithm", known, node.text_place());
    if (const auto here = called_here(node.text()); !here.empty()) unknown.suggestion = here;
    return unknown;
  }
  SettingValue value = value_at(node);
  value.text = traits->name;  // a long name is the same algorithm
  value.expression = value.text;
  value.data = value.text;
  return value;
}

Result<SettingValue> parse_engine(const Setting& setting, std::string_view, const Node& node, ValueContext& context) {
  const auto known = context.vocabulary.engines();
  if (std::find(known.begin(), known.end(), node.text()) == known.end())
    return unknown_word(node.text(), setting.name, known, node.text_place());
  SettingValue value = value_at(node);
  value.data = node.text();
  return value;
}

Result<SettingValue> parse_good_enough(const Setting& setting, std::string_view, const Node& node, ValueContext&) {
  const std::string& text = node.text();
  const auto percent = text.ends_with('%') ? read_decimal(text.substr(0, text.size() - 1)) : std::nullopt;
  const auto thousandths = percent ? percent->times(GoodEnough::kWhole / 100) : std::nullopt;
  if (!thousandths || *thousandths <= 0 || *thousandths > GoodEnough::kWhole)
    return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", setting.name, shortened(text)),
                       "it is a share of the bound above 0% and up to 100%, with at most three decimals",
                       "write for instance \"99%\"");
  SettingValue value = value_at(node);
  value.data = GoodEnough{*thousandths};
  value.text = to_string(GoodEnough{*thousandths});
  value.expression = value.text;
  return value;
}

/// "fastest", "slowest x4"; nullopt for another text.
std::optional<EpochChoice> read_epoch_of_link(std::string_view text) {
  constexpr std::int64_t kMostFactor = 1000;
  constexpr std::string_view kTimes = " x";
  const auto link = text.substr(0, text.find(kTimes));
  if (link != "fastest" && link != "slowest") return std::nullopt;
  EpochChoice epoch{.by = link == "fastest" ? EpochChoice::By::fastest : EpochChoice::By::slowest};
  if (link == text) return epoch;
  const auto factor = read_number<std::int64_t>(text.substr(link.size() + kTimes.size()));
  if (!factor || *factor < 1 || *factor > kMostFactor) return std::nullopt;
  epoch.factor = *factor;
  return epoch;
}

Result<SettingValue> parse_epoch(const Setting& setting, std::string_view, const Node& node, ValueContext&) {
  SettingValue value = value_at(node);
  if (const auto epoch = read_epoch_of_link(node.text())) {
    value.data = *epoch;
    return value;
  }
  const auto length = parse_time(node.text(), node.text_place());
  if (!length || *length <= SimTime::zero())
    return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", setting.name, shortened(node.text())),
                       "it is fastest or slowest, with a factor up to 1000 or without, or a time above zero",
                       "write for instance \"fastest\", \"fastest x2\" or \"5ms\"");
  value.data = EpochChoice{.by = EpochChoice::By::length, .length = *length};
  return value;
}

Result<SettingValue> parse_limit(const Setting& setting, std::string_view, const Node& node, ValueContext&) {
  SettingValue value = value_at(node);
  value.data = SimTime::zero();
  if (node.text() == "none") return value;
  const auto limit = parse_time(node.text(), node.text_place());
  if (!limit || *limit <= SimTime::zero())
    return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", setting.name, shortened(node.text())),
                       "it is none, or a time above zero", "write for instance \"60s\"");
  value.data = *limit;
  return value;
}

/// "4,1": whole numbers, of which only the ratio counts; nullopt for another text.
std::optional<Priorities> read_priorities(std::string_view text) {
  Priorities priorities;
  if (text == "none") return priorities;
  std::int64_t divisor = 0;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(',', start), text.size());
    auto word = text.substr(start, end - start);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    const auto weight = read_number<std::int64_t>(word);
    if (!weight || *weight < 1 || *weight > Priorities::kMost) return std::nullopt;
    priorities.weights.push_back(*weight);
    divisor = std::gcd(divisor, *weight);
    start = end + 1;
  }
  for (std::int64_t& weight : priorities.weights) weight /= divisor;
  return priorities;
}

Result<SettingValue> parse_priorities(const Setting& setting, std::string_view, const Node& node, ValueContext&) {
  auto priorities = read_priorities(node.text());
  if (!priorities)
    return input_error(
        node.text_place(), fmt::format("\"{}\" is \"{}\"", setting.name, shortened(node.text())),
        fmt::format("it is none, or a whole number from 1 to {} for each process group, joined by commas",
                    Priorities::kMost),
        "write for instance \"4,1\"");
  SettingValue value = value_at(node);
  value.data = *std::move(priorities);
  return value;
}

void reset_algorithm(const PointDraft& draft) {
  algorithm(draft).clear();
  draft.point.family = AlgorithmFamily::unknown;
  draft.point.reads = kReadsAll;
}
std::string algorithm_line(const PointView& view) {
  return view.trains && algorithm(view) == kTrainingAlgorithm ? std::string() : algorithm(view);
}

// Whether the point's result can depend on an optional setting. An algorithm of unknown family may read all of them.

bool reads_attempts(const PointView& view) { return synthesizes(view) && view.point.reads.attempts; }
bool routes(const PointView& view) { return synthesizes(view) && view.point.reads.routes; }
/// With one group of all NPUs every relay is a member.
bool may_leave_groups(const PointView& view) {
  return routes(view) && (view.trains || !view.collective.groups.everyone());
}
bool reads_engine(const PointView& view) { return synthesizes(view) && view.point.reads.engine; }
/// Whether the point's evaluation tries several ways and may end at the first that is good enough.
bool tries_several(const PointView& view) {
  return runs_collective(view) && (view.point.reads.stops || view.point.chunks == kAutomaticChunks);
}
bool solves(const PointView& view) { return synthesizes(view) && view.point.reads.solves; }
bool has_epochs(const PointView& view) { return synthesizes(view) && view.point.reads.epochs; }
/// With one group there is nothing to weigh.
bool weighs_groups(const PointView& view) {
  return has_epochs(view) && runs_collective(view) && view.collective.groups.list().size() > 1;
}
bool reads_order(const PointView& view) { return is_textbook(view) && view.point.reads.order; }
bool reads_radix(const PointView& view) { return is_textbook(view) && view.point.reads.radix; }
bool reads_window(const PointView& view) { return is_textbook(view) && !view.point.reads.window.empty(); }

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> algorithm_settings() {
  return {
      {.key = Key::algorithm,
       .name = "algorithm",
       .alias = "synthesizer",
       .help = "a textbook algorithm, auto for the fastest of them, a synthesizer, or best for the best of all; `tenex "
               "list "
               "algorithms` shows all",
       .example = "\"tacos\"",
       .known = [](const Vocabulary& vocabulary) { return vocabulary.algorithm_names(); },
       .absent = "required; with a workload tacos",
       .column = text_column(),
       .changes = Changes::synthesis | Changes::simulation,
       .parse = parse_algorithm,
       .set = set<algorithm>,
       .reset = reset_algorithm,
       .matters = synthesizes,
       .canonical = algorithm_line,
       .text = always<algorithm>},
      {.key = Key::backend,
       .name = "backend",
       .help = "simulator of textbook algorithms: congestion_aware or congestion_unaware",
       .example = "\"congestion_unaware\"",
       .words = words_to<Backend::congestion_unaware>(),
       .fallback = "congestion_aware",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column(),
       .changes = Changes::simulation,
       .parse = parse_choice<Backend>,
       .set = set<backend>,
       .reset = reset<backend>,
       .matters = is_textbook,
       .canonical = unless_default<backend>,
       .text = text_if<backend, runs_collective>},
      {.key = Key::attempts,
       .name = "attempts",
       .help = "random starts of a synthesizer; the best is kept",
       .example = "8",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 1,
       .most = kMost32,
       .fallback = "1",
       .column = integer_column(),
       .changes = Changes::synthesis,
       .parse = parse_number,
       .set = set<attempts, std::int64_t>,
       .reset = reset<attempts>,
       .matters = reads_attempts,
       .canonical = unless_default<attempts>,
       .integer = integer_if<attempts, synthesizes>},
      {.key = Key::engine,
       .name = "engine",
       .help =
           "engine of a synthesizer that has several: auto, or one that `tenex list synthesizers` names; the column "
           "engine says which was used",
       .example = "\"exact\"",
       .known = [](const Vocabulary& vocabulary) { return vocabulary.engines(); },
       .fallback = "auto",
       .column = text_column().beside_metric("engine_choice"),
       .changes = Changes::synthesis,
       .parse = parse_engine,
       .set = set<engine>,
       .reset = reset<engine>,
       .matters = reads_engine,
       .canonical = unless_default<engine>,
       .text = text_if<engine, synthesizes>},
      {.key = Key::window,
       .name = "window",
       .help = "most that a textbook algorithm has in flight at once (`tenex list algorithms` says of what); 0 is no "
               "limit",
       .example = "2",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "0",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .changes = Changes::simulation,
       .parse = parse_number,
       .set = set<window, std::int64_t>,
       .reset = reset<window>,
       .matters = reads_window,
       .canonical = unless_default<window>,
       .integer = integer_if<window, runs_collective>},
      {.key = Key::order,
       .name = "order",
       .help =
           "order in which an NPU takes its peers, for algorithms with an order in `tenex list algorithms`: relative "
           "(by offset from itself) or absolute (by id)",
       .example = "\"absolute\"",
       .words = words_to<DestinationOrder::absolute>(),
       .fallback = "relative",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column(),
       .changes = Changes::simulation,
       .parse = parse_choice<DestinationOrder>,
       .set = set<order>,
       .reset = reset<order>,
       .matters = reads_order,
       .canonical = unless_default<order>,
       .text = text_if<order, runs_collective>},
      {.key = Key::radix,
       .name = "radix",
       .help = "base of the distances of bruck, children of an NPU in a k_ary_tree",
       .example = "4",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 2,
       .most = kMostRadix,
       .fallback = "2",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .changes = Changes::simulation,
       .parse = parse_number,
       .set = set<radix, std::int64_t>,
       .reset = reset<radix>,
       .matters = reads_radix,
       .canonical = unless_default<radix>,
       .integer = integer_if<radix, runs_collective>},
      {.key = Key::simulation_engine,
       .name = "simulation_engine",
       .help =
           "how a program is simulated: auto, window, static_order, trains, orbit or wires; never changes the times",
       .example = "\"window\"",
       .words = words_to<SimulationEngine::wires>(),
       .fallback = "auto",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column().beside_metric("simulation_engine_choice"),
       .changes = Changes::simulation,
       .parse = parse_choice<SimulationEngine>,
       .set = set<simulation_engine>,
       .reset = reset<simulation_engine>,
       .matters = is_textbook,
       .canonical = unless_default<simulation_engine>,
       .text = text_if<simulation_engine, runs_collective>},
      {.key = Key::bounds,
       .name = "bounds",
       .help = "how far the bounds with certificates (`tenex list bounds`) are searched: quick (less than the point "
               "itself takes, or a millisecond) or full (seconds)",
       .example = "\"full\"",
       .words = words_to<BoundSearch::full>(),
       .fallback = "quick",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column(),
       .changes = Changes::bound,
       .parse = parse_choice<BoundSearch>,
       .set = set<bounds>,
       .reset = reset<bounds>,
       .matters = runs_collective,
       .canonical = unless_default<bounds>,
       .text = text_if<bounds, runs_collective>},
      {.key = Key::relays,
       .name = "relays",
       .help = "pccl: which NPUs may pass a chunk on: any, or the members of its process group",
       .example = "\"members\"",
       .words = words_to<Relays::members>(),
       .fallback = "any",
       .column = text_column(),
       .changes = Changes::synthesis,
       .parse = parse_choice<Relays>,
       .set = set<relays>,
       .reset = reset<relays>,
       .matters = may_leave_groups,
       .canonical = unless_default<relays>,
       .text = text_if<relays, simulates>},
      {.key = Key::improve,
       .name = "improve",
       .help = "pccl: what follows the search: none, retime, reroute (chunks that end last) or all",
       .example = "\"none\"",
       .words = words_to<Improvement::all>(),
       .fallback = "all",
       .column = text_column(),
       .changes = Changes::synthesis,
       .parse = parse_choice<Improvement>,
       .set = set<improve>,
       .reset = reset<improve>,
       .matters = routes,
       .canonical = unless_default<improve>,
       .text = text_if<improve, simulates>},
      {.key = Key::good_enough,
       .name = "good_enough",
       .help = "share of its bound at which a result is good enough, so that no other algorithm, number of chunks or "
               "engine is tried, and te_ccl's solver ends",
       .example = "\"99%\"",
       .fallback = "100%",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column(),
       .changes = Changes::synthesis | Changes::simulation,
       .parse = parse_good_enough,
       .set = set<good_enough>,
       .reset = reset<good_enough>,
       .matters = tries_several,
       .canonical = unless_default<good_enough>,
       .text = text_if<good_enough, runs_collective>},
      {.key = Key::formulation,
       .name = "formulation",
       .help = "te_ccl: how the collective becomes a program for solvers: auto, lp (where no chunk is copied), milp, "
               "a_star (rounds of milp) or unbuffered (milp in which NPUs pass on what they receive at once or never)",
       .example = "\"milp\"",
       .words = words_to<Formulation::unbuffered>(),
       .fallback = "auto",
       .column = text_column(),
       .changes = Changes::synthesis,
       .parse = parse_choice<Formulation>,
       .set = set<formulation>,
       .reset = reset<formulation>,
       .matters = has_epochs,
       .canonical = unless_default<formulation>,
       .text = text_if<formulation, synthesizes>},
      {.key = Key::epoch,
       .name = "epoch",
       .help = "te_ccl: the epoch: the time in which the fastest or the slowest link takes a chunk, a multiple of it "
               "(fastest "
               "x2), or a time",
       .example = "\"slowest\"",
       .fallback = "fastest",
       .column = text_column(),
       .changes = Changes::synthesis,
       .parse = parse_epoch,
       .set = set<epoch>,
       .reset = reset<epoch>,
       .matters = has_epochs,
       .canonical = unless_default<epoch>,
       .text = text_if<epoch, synthesizes>},
      {.key = Key::solver_nodes,
       .name = "solver_nodes",
       .help = "synthesizers with solvers: most nodes of branch and bound; 0 is no limit",
       .example = "10000",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "1000",
       .column = integer_column(),
       .changes = Changes::synthesis,
       .parse = parse_number,
       .set = set<solver_nodes, std::int64_t>,
       .reset = reset<solver_nodes>,
       .matters = solves,
       .canonical = unless_default<solver_nodes>,
       .integer = integer_if<solver_nodes, solves>},
      {.key = Key::solver_time_limit,
       .name = "solver_time_limit",
       .help = "synthesizers with solvers: wall clock for the solvers of a point, or none; no part of the point's key "
               "(the column clock_ended marks results that it ended)",
       .example = "\"60s\"",
       .fallback = "none",
       .changes = Changes::synthesis,
       .parse = parse_limit,
       .set = set<solver_time_limit>,
       .reset = reset<solver_time_limit>,
       .matters = solves,
       .canonical = [](const PointView&) { return std::string(); },
       .in_caches = always<solver_time_limit>},
      {.key = Key::priorities,
       .name = "priorities",
       .help =
           "te_ccl: a weight for each process group, joined by commas, or none: of the plans with the fewest epochs, "
           "one with the least sum of weight times finish epoch",
       .example = "\"4,1\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = text_column(),
       .changes = Changes::synthesis,
       .parse = parse_priorities,
       .set = set<priorities>,
       .reset = reset<priorities>,
       .matters = weighs_groups,
       .canonical = unless_default<priorities>,
       .text = text_if<priorities, runs_collective>},
      routes_setting(),
      {.key = Key::seed,
       .name = "seed",
       .help = "seed of all random choices",
       .example = "7",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost64,
       .fallback = "1",
       .changes = Changes::draws,
       .parse = parse_number,
       .set = set<seed, std::int64_t>,
       .canonical = always<seed>},
  };
}

}  // namespace tenex
