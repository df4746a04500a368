// The keys of co-design: where the bandwidths of the dimensions come from, and the cost of a network.
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "design/settings/entry.hpp"
#include "design/settings/training_words.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto scheme = [](auto& point) -> auto& { return point.training.scheme; };
constexpr auto optimize_with = [](auto& point) -> auto& { return point.training.optimize_with; };
constexpr auto optimize_for = [](auto& point) -> auto& { return point.training.optimize_for; };
constexpr auto total_bandwidth = [](auto& point) -> auto& { return point.training.total_bandwidth; };
constexpr auto split = [](auto& point) -> auto& { return point.training.split; };
constexpr auto constraints = [](auto& point) -> auto& { return point.training.constraints; };
constexpr auto cost_budget = [](auto& point) -> auto& { return point.training.cost_budget; };
constexpr auto cost_model = [](auto& point) -> auto& { return point.training.cost_model; };
constexpr auto price_level = [](auto& point) -> auto& { return point.training.price_level; };
constexpr auto dimension_kinds = [](auto& point) -> auto& { return point.training.dimension_kinds; };

constexpr std::string_view kSplits = "it splits bandwidth over dimensions for a workload";
constexpr std::string_view kPrices = "it prices the network of a workload";

bool has_no_scheme(const PointView& view) { return !scheme(view); }
// Where a collective runs, both keys are spellings of npu_bandwidth (build_point).
bool has_shares(const PointView& view) { return view.trains && has_no_scheme(view); }
bool has_total(const PointView& view) { return view.trains && (!has_no_scheme(view) || !split(view).empty()); }
bool states_total(const PointView& view) { return view.trains && total_bandwidth(view) != Bandwidth{}; }

constexpr std::string_view kSchemes[] = {"given", "equal", "perf_opt", "perf_per_cost"};
constexpr std::string_view kOptimizedModels[] = {"auto", "libra", "libra_derated"};

std::string scheme_word(const PointView& view) {
  return view.trains ? std::string(to_string(scheme(view))) : std::string();
}
std::string scheme_line(const PointView& view) { return scheme(view) ? scheme_word(view) : std::string(); }
std::string model_line(const PointView& view) {
  return std::string(optimize_with(view) ? to_string(*optimize_with(view)) : std::string_view());
}
std::string model_word(const PointView& view) {
  return view.trains && !optimize_with(view) ? std::string(kOptimizedModels[0]) : model_line(view);
}

/// "gpt3 HP-(16,256) x1; msft_1t HP-(128,32) x2" with the name that `name_of` gives each file.
template <class NameOf>
std::string workloads_as(const PointView& view, const NameOf& name_of) {
  std::string text;
  for (const auto& [file, degrees, weight] : optimize_for(view))
    text += fmt::format("{}{} {} x{}", text.empty() ? "" : "; ", name_of(file), to_string(degrees), weight);
  return text;
}
std::string workloads_by_digest(const PointView& view) {
  return workloads_as(view, [](const NamedFile& file) { return to_string(file.content.digest()); });
}
std::string workloads_as_named(const PointView& view) {
  return workloads_as(view, [](const NamedFile& file) { return file.text; });
}

std::string shares_text(const PointView& view) { return fmt::format("{}", fmt::join(split(view), ":")); }
std::string budget_text(const PointView& view) {
  return cost_budget(view) ? printed(*cost_budget(view)) : std::string();
}

/// "chiplet,package,node,pod"; "" if the kinds are counted from the outermost dimension.
std::string kinds_line(const PointView& view) { return fmt::format("{}", fmt::join(dimension_kinds(view), ",")); }
std::string kinds_or_auto(const PointView& view) {
  const std::string list = kinds_line(view);
  return list.empty() && view.trains ? "auto" : list;
}

double budget_in_dollars(const PointView& view) {
  if (!cost_budget(view)) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(cost_budget(view)->count()) / 1e6;
}

std::string digest_of_prices(const PointView& view) {
  const auto& content = cost_model(view).content;
  return content.empty() ? std::string() : to_string(content.digest());
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> codesign_settings() {
  return {
      {.key = Key::scheme,
       .name = "scheme",
       .help = "where the bandwidths come from: given states them; equal, perf_opt (least time) and perf_per_cost "
               "(least time times cost) choose them",
       .example = "\"perf_opt\"",
       .words = kSchemes,
       .fallback = kSchemes[0],
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .changes = Changes::bandwidth | Changes::training,
       .parse = parse_with<read_scheme>,
       .set = set<scheme>,
       .canonical = scheme_line,
       .text = scheme_word},
      {.key = Key::optimize_with,
       .name = "optimize_with",
       .help = "the time that the schemes minimize: libra or libra_derated; auto is collective_time where that is one "
               "of them, else libra",
       .example = "\"libra_derated\"",
       .words = kOptimizedModels,
       .fallback = kOptimizedModels[0],
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .changes = Changes::bandwidth,
       .parse = parse_with<read_optimized_model>,
       .set = set<optimize_with>,
       .reset = reset<optimize_with>,
       .matters = chooses_bandwidth,
       .canonical = model_line,
       .text = model_word},
      {.key = Key::optimize_for,
       .name = "optimize_for",
       .help = "workloads for which the bandwidths are chosen, with weights, in place of the point's own",
       .example = "\"gpt3 HP-(16,256); msft_1t HP-(128,32) x2\"",
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .changes = Changes::bandwidth,
       .parse = parse_workload_set,
       .set = set<optimize_for>,
       .reset = reset<optimize_for>,
       .matters = chooses_bandwidth,
       .canonical = workloads_by_digest,
       .text = workloads_as_named},
      {.key = Key::total_bandwidth,
       .name = "total_bandwidth",
       .help = "bandwidth of each NPU over all dimensions or levels, with unit; a collective divides it by split, else "
               "equally (column npu_bandwidth); with a workload the scheme given divides it by split, the others use "
               "all of it",
       .example = "\"1000GB/s\"",
       .counts = Counts::bandwidth,
       .absent = "optional; for collectives in place of `bandwidth`",
       .column = only_of_training(integer_column("B/s")),
       .changes = Changes::bandwidth,
       .parse = parse_total,
       .set = set<total_bandwidth>,
       .reset = reset<total_bandwidth>,
       .matters = has_total,
       .canonical = unless_default<total_bandwidth>,
       .integer = integer_if<total_bandwidth, states_total>},
      {.key = Key::split,
       .name = "split",
       .help = "shares of total_bandwidth, one per dimension or level, rounded down, the rest to the first ones; of "
               "collectives and of the scheme given",
       .example = "\"4:2:1:1\"",
       .fallback = "",
       .column = only_of_training(list_column()),
       .changes = Changes::bandwidth,
       .parse = parse_with<read_shares>,
       .set = set<split>,
       .reset = reset<split>,
       .matters = has_shares,
       .canonical = shares_text,
       .text = shares_text,
       .list = [](const PointView& view) { return split(view); }},
      {.key = Key::constraints,
       .name = "constraints",
       .alias = "constraint",
       .help =
           "constraints on the schemes, a text or an array of texts: B1 is the bandwidth of dimension 1 per NPU, total "
           "the sum, cost that of the network",
       .example = "\"B1 + B2 = 500GB/s; B1 >= B2\"",
       .written = Written::texts,
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .changes = Changes::bandwidth,
       .parse = parse_constraints,
       .set = set<constraints>,
       .reset = reset<constraints>,
       .matters = chooses_bandwidth,
       .canonical = always<constraints>,
       .text = always<constraints>},
      {.key = Key::cost_budget,
       .name = "cost_budget",
       .help = "most that the network may cost",
       .example = "\"15MUSD\"",
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = real_column("USD"),
       .changes = Changes::bandwidth,
       .parse = parse_budget,
       .set = set<cost_budget>,
       .reset = reset<cost_budget>,
       .matters = chooses_bandwidth,
       .canonical = budget_text,
       .real = budget_in_dollars},
      {.key = Key::cost_model,
       .name = "cost_model",
       .help = "prices: a name of `tenex list cost_models`, or the path of a cost model file (.toml)",
       .example = "\"libra\"",
       .fallback = "libra",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .changes = Changes::bandwidth | Changes::cost,
       .parse = parse_named_file,
       .set = set<cost_model>,
       .canonical = digest_of_prices,
       .text = [](const PointView& view) { return cost_model(view).text; }},
      {.key = Key::price_level,
       .name = "price_level",
       .help = "low, mid or high end of prices that are ranges",
       .example = "\"high\"",
       .words = words_to<PriceLevel::high>(),
       .fallback = "low",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .changes = Changes::bandwidth | Changes::cost,
       .parse = parse_with<parse_price_level>,
       .set = set<price_level>,
       .canonical = unless_default<price_level>,
       .text = text_if<price_level, trains>},
      {.key = Key::dimension_kinds,
       .name = "dimension_kinds",
       .help = "the kind of each dimension in the cost model, for its prices, most bandwidth and reach; auto counts "
               "chiplet, package, node, pod from the outermost, which is the pod",
       .example = "\"chiplet, package, node, pod\"",
       .fallback = "auto",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .changes = Changes::bandwidth | Changes::cost,
       .parse = parse_with<read_dimension_kinds>,
       .set = set<dimension_kinds>,
       .canonical = kinds_line,
       .text = kinds_or_auto},
  };
}

}  // namespace tenex
