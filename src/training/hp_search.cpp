// Enumerates options, drops those that do not fit, and times the others.
#include "tenex/training/hp_search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "training/training_setup.hpp"

namespace tenex {
namespace {

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t divisor = 1; divisor <= number / divisor; ++divisor) {
    if (number % divisor != 0) continue;
    found.push_back(divisor);
    if (divisor != number / divisor) found.push_back(number / divisor);
  }
  std::ranges::sort(found);
  return found;
}

/// The options of one point, nested as they vary.
class Enumeration {
 public:
  Enumeration(const DesignPoint& point, const HpPins& pins, const TransformerSpec& spec)
      : training_(point.training()),
        pins_(pins),
        spec_(spec),
        npus_(static_cast<std::int64_t>(point.topology.shape.npus())) {}

  std::vector<HpOption> list() {
    if (pins_.hp) {
      add_choices(training_.hp);
      return std::move(options_);
    }
    for (const auto tensor : divisors_of(std::gcd(npus_, spec_.tensor_parts())))
      for (const auto pipeline : divisors_of(std::gcd(npus_ / tensor, spec_.layers))) {
        const auto data = npus_ / tensor / pipeline;
        const auto experts = std::gcd(data, std::max<std::int64_t>(spec_.experts.count, 1));
        for (const auto expert : divisors_of(experts)) add_choices({tensor, data, pipeline, expert});
      }
    return std::move(options_);
  }

 private:
  /// A replica's sequences; 0: the machine's do not divide.
  [[nodiscard]] std::int64_t batch_of(const Parallelization& hp) const {
    const bool shared = training_.global_batch > 0 || training_.batch_rule == BatchRule::machine;
    if (!shared) return spec_.batch;
    const auto whole = training_.global_batch > 0 ? training_.global_batch : spec_.batch;
    return whole % hp.data == 0 ? whole / hp.data : 0;
  }

  void add_choices(const Parallelization& hp) {
    const auto batch = batch_of(hp);
    if (batch == 0 || spec_.tensor_parts() % hp.tensor != 0 || spec_.layers % hp.pipeline != 0) return;
    if (spec_.experts.count > 0 && spec_.layers / hp.pipeline % spec_.experts.every != 0) return;
    HpOption option;
    option.hp = hp;
    for (const auto zero : zero_stages(hp)) {
      option.zero_stage = zero;
      for (const auto again : recomputations()) {
        option.recomputation = again;
        for (const bool split : splits(hp)) {
          option.sequence_parallelism = split;
          for (const auto microbatches : microbatches_of(batch)) {
            option.microbatches = microbatches;
            add_schedules(option);
          }
        }
      }
    }
  }

  [[nodiscard]] std::vector<std::int64_t> zero_stages(const Parallelization& hp) const {
    if (pins_.zero_stage) return {training_.zero_stage.value_or(spec_.zero_stage)};
    if (hp.data == 1) return {0};
    return {0, 1, 2, 3};
  }
  [[nodiscard]] std::vector<Recomputation> recomputations() const {
    if (pins_.recomputation) return {training_.recomputation};
    if (training_.flash_attention) return {Recomputation::none, Recomputation::full};
    return {Recomputation::none, Recomputation::selective, Recomputation::full};
  }
  [[nodiscard]] std::vector<bool> splits(const Parallelization& hp) const {
    if (hp.tensor == 1) return {false};
    if (pins_.sequence_parallelism) return {training_.sequence_parallelism};
    return {false, true};
  }
  [[nodiscard]] std::vector<std::int64_t> microbatches_of(std::int64_t batch) const {
    if (!pins_.microbatches || training_.microbatches == 0) return divisors_of(batch);
    if (batch % training_.microbatches != 0) return {};
    return {training_.microbatches};
  }

  void add_schedules(HpOption option) {
    const auto stages = option.hp.pipeline;
    const auto add = [&](PipelineSchedule schedule, std::int64_t parts) {
      option.pipelining = {schedule, parts};
      add_orders(option);
    };
    if (stages == 1) return add(PipelineSchedule::one_forward_one_backward, 1);
    const bool parts_pinned = pins_.schedule && training_.pipeline_schedule == PipelineSchedule::interleaved;
    if (pins_.schedule && !parts_pinned) {
      if (suits(training_.pipeline_schedule, option)) add(training_.pipeline_schedule, 1);
      return;
    }
    if (!pins_.schedule)
      for (const auto schedule :
           {PipelineSchedule::one_forward_one_backward, PipelineSchedule::zb_h1, PipelineSchedule::zero_bubble})
        if (suits(schedule, option)) add(schedule, 1);
    if (option.microbatches % stages != 0) return;
    const auto layers = spec_.layers / stages / (spec_.experts.count > 0 ? spec_.experts.every : 1);
    for (const auto parts : divisors_of(layers))
      if (parts > 1 && (!parts_pinned || parts == training_.virtual_stages)) add(PipelineSchedule::interleaved, parts);
  }

  /// With fewer microbatches the split schedules have no formula.
  [[nodiscard]] static bool suits(PipelineSchedule schedule, const HpOption& option) {
    return !splits_backward(schedule) || option.microbatches >= 2 * option.hp.pipeline - 1;
  }

  /// Orders that differ: a degree of 1 takes no dimension.
  void add_orders(HpOption option) {
    if (pins_.order) {
      option.order = training_.hp_order;
      options_.push_back(option);
      return;
    }
    std::vector<std::string> seen;
    for (std::size_t order = 0; order < kHpOrders; ++order) {
      option.order = static_cast<HpOrder>(order);
      auto name = without_ones(option);
      if (std::ranges::find(seen, name) != seen.end()) continue;
      seen.push_back(std::move(name));
      options_.push_back(option);
    }
  }

  [[nodiscard]] static std::string without_ones(const HpOption& option) {
    std::string name;
    for (const char first :
         {to_string(option.order).front(), letter_after(option.order, 1), letter_after(option.order, 2)})
      if ((first == 't' && option.hp.tensor > 1) || (first == 'd' && option.hp.data > 1) ||
          (first == 'p' && option.hp.pipeline > 1))
        name += first;
    return name;
  }
  [[nodiscard]] static char letter_after(HpOrder order, int commas) {
    auto text = to_string(order);
    for (; commas > 0; --commas) text.remove_prefix(text.find(',') + 1);
    return text.front();
  }

  const TrainingPoint& training_;
  const HpPins& pins_;
  const TransformerSpec& spec_;
  std::int64_t npus_;
  std::vector<HpOption> options_;
};

/// What all options share.
struct SearchBase {
  const DesignPoint& point;
  std::shared_ptr<const Result<WorkloadModel>> model;
  LibraModel libra;
  std::vector<Bandwidth> bandwidth;
  ComputeRate rate;
  double peak = 0;
  std::int64_t limit = 0;
  MachineBatch of_one;  ///< one sequence of a replica
};

/// Options in their order that differ only in their order on the dimensions have one workload.
bool same_workload(const HpOption& a, const HpOption& b) {
  auto other = b;
  other.order = a.order;
  return a == other;
}

class OptionTimer {
 public:
  explicit OptionTimer(const SearchBase& base) : base_(base) {}

  /// Counts a run of options with one workload, and times those that fit.
  void take(std::span<const HpOption> options, HpSearch& found) {
    const auto& first = options.front();
    auto point = with_option(base_.point, first);
    const auto choices = point.training().iteration();
    auto workload = make_workload(**base_.model, first.hp, choices);
    if (!workload) return;
    const auto chosen = chosen_transformer(**base_.model, first.hp, choices);
    if (!chosen) return;
    const auto memory = npu_memory(*workload, *chosen, first.hp);
    const auto bytes = memory.total();
    found.considered += options.size();
    if (found.least_memory < 0 || bytes < found.least_memory) found.least_memory = bytes;
    if (base_.limit > 0 && bytes > base_.limit) return;
    const auto samples = static_cast<double>((*chosen)->batch) * static_cast<double>(first.hp.data);
    for (const auto& option : options) {
      const auto mapping = Mapping::make(base_.point.topology.shape, option.hp, {}, option.order);
      if (!mapping) continue;
      const auto iteration = std::make_shared<const Iteration>(Iteration{*workload, *mapping, base_.rate, {}, memory});
      const IterationTraffic traffic(iteration, base_.libra);
      const auto time = traffic.time_of(base_.point.training().training_loop, traffic.libra_times(base_.bandwidth));
      if (!time) continue;
      ++found.fitting;
      found.fastest.push_back(answer(option, *time, memory, samples));
    }
  }

 private:
  [[nodiscard]] HpAnswer answer(const HpOption& option, const TrainingTime& time, const NpuMemory& memory,
                                double samples) const {
    const auto seconds = static_cast<double>(time.total().count()) * 1e-12;
    const auto share = samples / base_.of_one.samples / seconds;
    const auto npus = static_cast<double>(base_.point.topology.shape.npus());
    return {option,
            time,
            memory,
            samples / seconds,
            base_.of_one.tokens * share,
            base_.of_one.flops * share / (base_.peak * npus)};
  }

  const SearchBase& base_;
};

bool sooner(const HpAnswer& a, const HpAnswer& b) {
  return std::tuple(a.time.total(), a.memory.total()) < std::tuple(b.time.total(), b.memory.total());
}

/// Keeps the fastest answers and those on the front. Answers are in the order of enumeration, and stay so among equals.
void settle(HpSearch& found, std::size_t most) {
  std::stable_sort(found.fastest.begin(), found.fastest.end(), sooner);
  // Orders on the dimensions that make no difference are one answer: the first.
  const auto same = [](const HpAnswer& a, const HpAnswer& b) {
    return !sooner(a, b) && !sooner(b, a) && same_workload(a.option, b.option);
  };
  found.fastest.erase(std::unique(found.fastest.begin(), found.fastest.end(), same), found.fastest.end());
  found.front.clear();
  for (const auto& each : found.fastest)
    if (found.front.empty() || each.memory.total() < found.front.back().memory.total()) found.front.push_back(each);
  if (found.fastest.size() > most) found.fastest.resize(most);
}

/// Joins the answers of two parts, the first one's before the second's.
void join(HpSearch& whole, HpSearch part, std::size_t most) {
  whole.considered += part.considered;
  whole.fitting += part.fitting;
  if (whole.least_memory < 0 || (part.least_memory >= 0 && part.least_memory < whole.least_memory))
    whole.least_memory = part.least_memory;
  auto fronts = std::move(whole.front);
  fronts.insert(fronts.end(), part.front.begin(), part.front.end());
  HpSearch joined;
  joined.fastest = std::move(fronts);
  settle(joined, 0);
  whole.front = std::move(joined.front);
  whole.fastest.insert(whole.fastest.end(), part.fastest.begin(), part.fastest.end());
  std::stable_sort(whole.fastest.begin(), whole.fastest.end(), sooner);
  if (whole.fastest.size() > most) whole.fastest.resize(most);
}

Result<std::vector<Bandwidth>> searched_bandwidth(const DesignPoint& point) {
  const auto& scheme = point.training().scheme;
  if (!scheme) return stated_bandwidth(point);
  return input_error(place_of_key("scheme"), fmt::format("scheme \"{}\" beside a search for hp", to_string(scheme)),
                     "every parallelization would have another network",
                     "state npu_bandwidth, or search first and then split the bandwidth for the best hp");
}

Result<SearchBase> base_of(const DesignPoint& point, TrainingCache& cache) {
  const auto& training = point.training();
  if (!is_libra(training.collective_time))
    return input_error(
        place_of_key("collective_time"),
        fmt::format("collective_time \"{}\" beside a search for hp", to_string(training.collective_time)),
        "it times thousands of parallelizations by LIBRA's formulas",
        "use libra or libra_derated, and time the best hp with others");
  auto model = find_workload_model(training.workload, cache);
  if (!*model) return model->errors();
  auto bandwidth = searched_bandwidth(point);
  if (!bandwidth) return bandwidth.errors();
  const auto libra = libra_model(point);
  if (!libra) return libra.errors();
  const auto one = machine_batch(**model, {1, 1});
  if (!one) return one.errors();
  const auto* const npu = training.npu_memory.kind;
  if (!training.compute && npu == nullptr)
    return input_error(
        place_of_key("compute"), fmt::format("workload \"{}\" states no compute rate", training.workload.text),
        "its work is counted in FLOPs", "set compute = \"234TFLOPS\", or an NPU: npu_memory = \"a100_80gb\"");
  const auto rate = training.compute ? *training.compute : npu->matrix_products;
  return SearchBase{point,
                    model,
                    *libra,
                    *std::move(bandwidth),
                    rate,
                    static_cast<double>(npu != nullptr ? npu->peak.count() : rate.count()),
                    training.npu_memory.memory.count(),
                    *one};
}

}  // namespace

Result<std::vector<HpOption>> hp_options(const DesignPoint& point, const HpPins& pins, TrainingCache& cache) {
  const auto model = find_workload_model(point.training().workload, cache);
  if (!*model) return model->errors();
  const auto* const spec = std::get_if<TransformerSpec>(&**model);
  if (spec == nullptr)
    return input_error(place_of_key("workload"),
                       fmt::format("a search for hp of workload \"{}\"", point.training().workload.text),
                       "its degrees are fixed: it is not made from a transformer's dimensions",
                       "use a workload with [transformer], for instance gpt3_generated");
  return Enumeration(point, pins, *spec).list();
}

DesignPoint with_option(DesignPoint point, const HpOption& option) {
  auto& training = point.training();
  training.hp = option.hp;
  training.hp_order = option.order;
  training.zero_stage = option.zero_stage;
  training.recomputation = option.recomputation;
  training.sequence_parallelism = option.sequence_parallelism;
  training.microbatches = option.microbatches;
  training.pipeline_schedule = option.pipelining.schedule;
  if (option.pipelining.virtual_stages > 1) training.virtual_stages = option.pipelining.virtual_stages;
  return point;
}

Result<HpSearch> search_hp(const DesignPoint& point, const HpPins& pins, std::size_t most, int threads,
                           TrainingCache& cache) {
  const auto options = hp_options(point, pins, cache);
  if (!options) return options.errors();
  const auto base = base_of(point, cache);
  if (!base) return base.errors();
  // Parts of equal size, taken by whichever thread is free and joined in their order.
  constexpr std::size_t kPart = 4096;
  std::vector<std::span<const HpOption>> parts;
  const std::span<const HpOption> all(*options);
  for (std::size_t begin = 0; begin < all.size();) {
    auto end = std::min(begin + kPart, all.size());
    while (end < all.size() && same_workload(all[end - 1], all[end])) ++end;
    parts.push_back(all.subspan(begin, end - begin));
    begin = end;
  }
  std::vector<HpSearch> found(parts.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    OptionTimer timer(*base);
    for (auto part = next++; part < parts.size(); part = next++) {
      const auto& list = parts[part];
      for (std::size_t begin = 0; begin < list.size();) {
        auto end = begin + 1;
        while (end < list.size() && same_workload(list[begin], list[end])) ++end;
        timer.take(list.subspan(begin, end - begin), found[part]);
        begin = end;
      }
      settle(found[part], most);
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int helper = 1; helper < threads; ++helper) helpers.emplace_back(work);
    work();
  }
  HpSearch whole;
  for (auto& part : found) join(whole, std::move(part), most);
  return whole;
}

}  // namespace tenex
