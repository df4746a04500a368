// optimize --npus: the fastest parallelizations that fit into the memory of an NPU.
#include "optimize_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/parallelizations.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex::cli {
namespace {

constexpr std::int64_t kBox = 8;  ///< NPUs that share a switch in the default machine
constexpr std::string_view kDefaultNpu = "h100_80gb";

using SearchWords = std::vector<std::pair<std::string, std::string>>;

bool given(const SearchWords& settings, std::string_view key) {
  return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
}

/// Whether npu_memory names an NPU, which has a rate.
bool names_npu(const SearchWords& settings) {
  return std::ranges::any_of(settings, [](const auto& setting) {
    const auto npu = setting.first == "npu_memory" ? parse_npu_choice(setting.second) : NpuChoice{};
    return npu && npu->kind != nullptr;
  });
}

/// Settings that the user leaves out, and what stands for them.
SearchWords defaults_for(const OptimizeArguments& arguments) {
  const auto& settings = arguments.settings;
  SearchWords defaults;
  const auto add = [&](std::string_view key, std::string text) {
    if (!given(settings, key)) defaults.emplace_back(key, std::move(text));
  };
  const auto npus = arguments.npus;
  const bool boxes = npus > kBox && npus % kBox == 0;
  if (!given(settings, "topology")) {
    add("topology", boxes ? fmt::format("SW({})_SW({})", kBox, npus / kBox) : fmt::format("SW({})", npus));
    const bool stated = given(settings, "bandwidth") || given(settings, "total_bandwidth");
    if (!stated) add("npu_bandwidth", boxes ? "450GB/s,50GB/s" : "450GB/s");
  }
  if (!given(settings, "compute") && !names_npu(settings)) {
    add("npu_memory", std::string(kDefaultNpu));
    const auto npu = parse_npu_choice(kDefaultNpu);
    if (given(settings, "npu_memory")) add("compute", to_string(npu->kind->matrix_products));
  }
  if (!given(settings, "batch_rule")) add("global_batch", fmt::format("{}", npus));
  add("scheme", "given");
  add("hp", fmt::format("1,{}", npus));
  return defaults;
}

HpPins pins_of(const SearchWords& settings) {
  HpPins pins;
  pins.hp = given(settings, "hp");
  pins.order = given(settings, "hp_order");
  pins.zero_stage = given(settings, "zero_stage");
  pins.recomputation = given(settings, "recomputation");
  pins.sequence_parallelism = given(settings, "sequence_parallelism");
  pins.microbatches = given(settings, "microbatches");
  pins.schedule = given(settings, "pipeline_schedule");
  return pins;
}

std::string schedule_text(const HpOption& option) {
  if (option.hp.pipeline == 1) return "-";
  std::string text(to_string(option.pipelining.schedule));
  if (option.pipelining.virtual_stages > 1) text += fmt::format(" x{}", option.pipelining.virtual_stages);
  return text;
}

std::string order_text(const HpOption& option) { return std::string(to_string(option.order)); }

double bubble_share(const HpAnswer& answer) {
  return static_cast<double>(answer.time.bubble.count()) /
         static_cast<double>(std::max<std::int64_t>(answer.time.total().count(), 1));
}

std::string answers_text(const std::vector<HpAnswer>& answers) {
  std::vector<std::vector<std::string>> lines{{"hp", "order", "ZeRO", "recomputation", "sequence", "microbatches",
                                               "schedule", "time", "bubble", "communication", "memory", "MFU",
                                               "tokens/s"}};
  for (const auto& each : answers) {
    const auto& option = each.option;
    const auto total = static_cast<double>(std::max<std::int64_t>(each.time.total().count(), 1));
    lines.push_back({to_string(option.hp), order_text(option), fmt::format("{}", option.zero_stage),
                     std::string(to_string(option.recomputation)), option.sequence_parallelism ? "yes" : "no",
                     fmt::format("{}", option.microbatches), schedule_text(option), to_rounded(each.time.total()),
                     percent_text(bubble_share(each)),
                     percent_text(static_cast<double>(each.time.communication().count()) / total),
                     to_rounded_bytes(static_cast<double>(each.memory.total())),
                     percent_text(each.model_flop_utilization), fmt::format("{:.4g}", each.tokens_per_s)});
  }
  return format_table(lines);
}

void add_answer(Report& report, const HpAnswer& answer) {
  const auto& option = answer.option;
  report.add("hp", to_string(option.hp));
  report.add("hp_order", order_text(option));
  report.add("zero_stage", option.zero_stage);
  report.add("recomputation", std::string(to_string(option.recomputation)));
  report.add("sequence_parallelism", option.sequence_parallelism);
  report.add("microbatches", option.microbatches);
  report.add("pipeline_schedule", std::string(to_string(option.pipelining.schedule)));
  report.add("virtual_stages", option.pipelining.virtual_stages);
  report.add("training_time_ps", answer.time.total().count());
  report.add("bubble_ps", answer.time.bubble.count());
  report.add("exposed_ps", answer.time.communication().count());
  report.add("memory_per_npu_bytes", answer.memory.total());
  report.add("model_flop_utilization", answer.model_flop_utilization);
  report.add("samples_per_s", answer.samples_per_s);
  report.add("tokens_per_s", answer.tokens_per_s);
}

Report search_report(const HpSearch& found, const DesignPoint& point, const SearchWords& defaults) {
  Report report;
  report.add("npus", static_cast<std::int64_t>(point.topology.shape.npus()));
  Report assumed;
  for (const auto& [key, text] : defaults)
    if (key != "hp") assumed.add(key, text);
  report.add_object("assumed", std::move(assumed));
  report.add("considered", static_cast<std::int64_t>(found.considered));
  report.add("fitting", static_cast<std::int64_t>(found.fitting));
  report.add_list("fastest", found.fastest, add_answer);
  report.add_list("front", found.front, add_answer);
  return report;
}

/// "h100_80gb (80GB)", "80GB", "no limit".
std::string limit_text(const NpuChoice& npu) {
  if (!npu.limits()) return "no limit";
  return npu.kind != nullptr ? fmt::format("{} ({})", npu.kind->name, to_string(npu.memory)) : to_string(npu.memory);
}

void print_search(const HpSearch& found, const DesignPoint& point, const SearchWords& defaults) {
  std::string assumed;
  for (const auto& [key, text] : defaults)
    if (key != "hp" && key != "scheme") assumed += fmt::format("{}{} = {}", assumed.empty() ? "" : "; ", key, text);
  if (!assumed.empty()) fmt::print("assumed: {}\n", assumed);
  const auto& training = point.training();
  const auto* const npu = training.npu_memory.kind;
  fmt::print("memory of an NPU: {}; MFU refers to {}\n", limit_text(training.npu_memory),
             npu != nullptr ? fmt::format("its peak of {}", to_string(npu->peak)) : to_string(*training.compute));
  fmt::print("{} of {} parallelizations fit; the fastest:\n{}", found.fitting, found.considered,
             answers_text(found.fastest));
  constexpr double kMuchSlower = 1.5;
  auto front = found.front;
  const auto limit = kMuchSlower * static_cast<double>(front.front().time.total().count());
  std::erase_if(front, [&](const HpAnswer& each) { return static_cast<double>(each.time.total().count()) > limit; });
  const auto left_out = found.front.size() - front.size();
  fmt::print(
      "\nThe front of time against memory{}:\n{}",
      left_out == 0 ? "" : fmt::format(" ({} more beyond {} times the shortest time: --json)", left_out, kMuchSlower),
      answers_text(front));
}

Diagnostic refuse_all(const HpSearch& found, const DesignPoint& point) {
  const auto npus = static_cast<std::int64_t>(point.topology.shape.npus());
  if (found.considered == 0)
    return input_error({"--npus", 0, 0},
                       fmt::format("no parallelization of {} NPUs divides the model and its batch", npus),
                       "degrees divide heads, layers, experts and the machine's batch",
                       "give another --global-batch or number of NPUs");
  return input_error({"--npu-memory", 0, 0},
                     fmt::format("none of {} parallelizations fits into {}", found.considered,
                                 limit_text(point.training().npu_memory)),
                     fmt::format("the least takes {}", to_rounded_bytes(static_cast<double>(found.least_memory))),
                     "use more NPUs, or NPUs with more memory");
}

}  // namespace

ExitCode search_hp(const OptimizeArguments& arguments) {
  const auto defaults = defaults_for(arguments);
  auto settings = arguments.settings;
  settings.insert(settings.end(), defaults.begin(), defaults.end());
  auto words = vocabulary();
  words.check_training = {};  // of the point's hp, which only holds the place of those that are searched
  const auto point = make_point(settings, words);
  if (!point) return refuse(point.errors());
  const auto npus = static_cast<std::int64_t>(point->topology.shape.npus());
  if (npus != arguments.npus)
    return refuse(
        {input_error({"--npus", 0, 0}, fmt::format("--npus {}", arguments.npus),
                     fmt::format("{} has {}", to_string(point->topology.shape), npus), "give one of the two")});
  Cache cache;
  const auto found = search_parallelizations(*point, pins_of(arguments.settings),
                                             static_cast<std::size_t>(arguments.most), arguments.threads, cache);
  if (!found) return refuse(found.errors());
  if (found->fastest.empty()) return refuse({refuse_all(*found, *point)});
  if (arguments.json)
    std::fputs(to_json(search_report(*found, *point, defaults)).c_str(), stdout);
  else
    print_search(*found, *point, defaults);
  return ExitCode::done;
}

}  // namespace tenex::cli
