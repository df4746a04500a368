// The keys of co-design: where the bandwidths of the dimensions come from, and what a network costs.
#include <algorithm>
#include <limits>

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

bool states_bandwidth(const PointView& view) { return scheme(view) == "given"; }
bool has_total(const PointView& view) { return !states_bandwidth(view) || !split(view).empty(); }
bool states_total(const PointView& view) { return view.trains && total_bandwidth(view) != Bandwidth{}; }

void set_workloads(const PointDraft& draft, const SettingValue& value) {
  const auto& set = std::get<WorkloadSet>(value.data);
  draft.training.optimize_for = set.text;
  draft.training.optimize_for_files = set.files;
}
void reset_workloads(const PointDraft& draft) {
  draft.training.optimize_for.clear();
  draft.training.optimize_for_files.clear();
}
/// "gpt3 HP-(16,256); msft_1t HP-(128,32) x2": the canonical text with the names that the user wrote for the digests.
std::string workloads_as_named(const PointView& view) {
  std::string text = optimize_for(view);
  std::size_t start = 0;
  for (const NamedFile& file : view.training.optimize_for_files) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    text.replace(start, end - start, file.text);
    start = text.find("; ", start);
    if (start == std::string::npos) break;
    start += 2;
  }
  return text;
}

double budget_in_dollars(const PointView& view) {
  const std::int64_t millionths = whole_number(cost_budget(view));
  return millionths < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(millionths) / 1e6;
}

std::string digest_of_prices(const PointView& view) {
  const auto& content = cost_model(view).content;
  return content.empty() ? std::string() : to_string(content.digest());
}

}  // namespace

std::vector<Setting> codesign_settings() {
  return {
      {.key = Key::scheme,
       .name = "scheme",
       .help = "where the bandwidths come from: given states them; equal, perf_opt (least time) and perf_per_cost "
               "(least time times cost) choose them",
       .example = "\"perf_opt\"",
       .fallback = "given",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .parse = parse_training_word,
       .set = set<scheme, std::string>,
       .canonical = unless_default<scheme>,
       .text = text_if<scheme, trains>},
      {.key = Key::optimize_with,
       .name = "optimize_with",
       .help = "the time that the schemes minimize: libra or libra_derated; auto is collective_time where that is one "
               "of them, else libra",
       .example = "\"libra_derated\"",
       .fallback = "auto",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .parse = parse_training_word,
       .set = set<optimize_with, std::string>,
       .reset = reset<optimize_with>,
       .matters = chooses_bandwidth,
       .canonical = unless_default<optimize_with>,
       .text = text_if<optimize_with, trains>},
      {.key = Key::optimize_for,
       .name = "optimize_for",
       .help = "workloads that the bandwidths are chosen for, with weights, in place of the point's own",
       .example = "\"gpt3 HP-(16,256); msft_1t HP-(128,32) x2\"",
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .parse = parse_workload_set,
       .set = set_workloads,
       .reset = reset_workloads,
       .matters = chooses_bandwidth,
       .canonical = always<optimize_for>,
       .text = workloads_as_named},
      {.key = Key::total_bandwidth,
       .name = "total_bandwidth",
       .help =
           "of each NPU over all dimensions, with unit; with the scheme given it is shared by split, with the others "
           "all of it is used",
       .example = "\"1000GB/s\"",
       .counts = Counts::bandwidth,
       .absent = "optional",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = integer_column("B/s"),
       .parse = parse_total,
       .set = set<total_bandwidth, Bandwidth>,
       .reset = reset<total_bandwidth>,
       .matters = has_total,
       .canonical = unless_default<total_bandwidth>,
       .integer = integer_if<total_bandwidth, states_total>},
      {.key = Key::split,
       .name = "split",
       .help = "scheme given: shares of the total bandwidth, rounded down, the rest to the first dimensions",
       .example = "\"4:2:1:1\"",
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = list_column(),
       .parse = parse_training_word,
       .set = set<split, std::string>,
       .reset = reset<split>,
       .matters = states_bandwidth,
       .canonical = always<split>,
       .text = always<split>,
       .list = [](const PointView& view) { return whole_numbers(split(view), ':'); }},
      {.key = Key::constraints,
       .name = "constraints",
       .help =
           "what the schemes hold to, a text or an array of texts: B1 is the bandwidth of dimension 1 per NPU, total "
           "the sum, cost that of the network",
       .example = "\"B1 + B2 = 500GB/s; B1 >= B2\"",
       .written = Written::texts,
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = text_column(),
       .parse = parse_constraints,
       .set = set<constraints, std::string>,
       .reset = reset<constraints>,
       .matters = chooses_bandwidth,
       .canonical = always<constraints>,
       .text = always<constraints>},
      {.key = Key::cost_budget,
       .name = "cost_budget",
       .help = "the network costs at most this",
       .example = "\"15MUSD\"",
       .fallback = "",
       .read_by = ReadBy::training,
       .reason = kSplits,
       .column = real_column("USD"),
       .parse = parse_training_word,
       .set = set<cost_budget, std::string>,
       .reset = reset<cost_budget>,
       .matters = chooses_bandwidth,
       .canonical = always<cost_budget>,
       .real = budget_in_dollars},
      {.key = Key::cost_model,
       .name = "cost_model",
       .help = "prices: a name of `tenex list cost_models`, or the path of a cost model file (.toml)",
       .example = "\"libra\"",
       .fallback = "libra",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .parse = parse_named_file,
       .set = set<cost_model, NamedFile>,
       .canonical = digest_of_prices,
       .text = [](const PointView& view) { return cost_model(view).text; }},
      {.key = Key::price_level,
       .name = "price_level",
       .help = "low, mid or high end of prices that are ranges",
       .example = "\"high\"",
       .fallback = "low",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .parse = parse_training_word,
       .set = set<price_level, std::string>,
       .canonical = unless_default<price_level>,
       .text = text_if<price_level, trains>},
      {.key = Key::dimension_kinds,
       .name = "dimension_kinds",
       .help =
           "what each dimension connects, for prices: chiplet, package, node or pod; auto counts from the outermost, "
           "which is the pod",
       .example = "\"chiplet, package, node, pod\"",
       .fallback = "auto",
       .read_by = ReadBy::training,
       .reason = kPrices,
       .column = text_column(),
       .parse = parse_training_word,
       .set = set<dimension_kinds, std::string>,
       .canonical = unless_default<dimension_kinds>,
       .text = text_if<dimension_kinds, trains>},
  };
}

}  // namespace tenex
