// From the settings of a training point to workloads mapped to its shape, prices, and the split of a scheme.
#include "training/training_setup.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tenex/execution/execution_cache.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {
namespace {

/// Texts and numbers joined so that no two lists give the same key.
class KeyBuilder {
 public:
  KeyBuilder& add(std::string_view text) {
    key_ += text;
    key_ += '\0';
    return *this;
  }
  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) KeyBuilder& add(Number number) {
    key_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  template <class Unit>
  KeyBuilder& add(Quantity<Unit> quantity) {
    return add(quantity.count());
  }
  template <class T>
  KeyBuilder& add(const std::optional<T>& value) {
    add(value.has_value());
    return value ? add(*value) : *this;
  }
  template <class T>
  KeyBuilder& add(const std::vector<T>& list) {
    add(list.size());
    for (const auto& each : list) add(each);
    return *this;
  }
  KeyBuilder& add(const Constraint& constraint) {
    const auto& [file, line, column] = constraint.place;  // diagnostics name the place
    return add(std::string_view(constraint.text)).add(std::string_view(file)).add(line).add(column);
  }
  KeyBuilder& add(const Parallelization& degrees) {
    for (const auto degree : {degrees.tensor, degrees.data, degrees.pipeline, degrees.expert}) add(degree);
    return *this;
  }
  KeyBuilder& add(const NamedFile& file) {
    const auto digest = file.content.digest();
    // Diagnostics name the path.
    return add(digest.high).add(digest.low).add(std::string_view(file.path));
  }
  KeyBuilder& add(const Shape& shape) { return add(to_string(shape)); }
  [[nodiscard]] const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// Gives errors without a place the place of a key.
Diagnostics at_key(Diagnostics errors, std::string_view key) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place = place_of_key(key);
  return errors;
}

Result<ComputeRate> rate_of(const TrainingPoint& choice, const Workload& workload) {
  if (choice.compute) return *choice.compute;
  if (workload.measured_at.count() > 0) return workload.measured_at;
  if (choice.npu_memory.kind != nullptr) return choice.npu_memory.kind->matrix_products;
  return input_error(place_of_key("compute"), fmt::format("workload \"{}\" states no compute rate", workload.name),
                     "its work is counted in FLOPs",
                     "set a rate, for instance compute = \"234TFLOPS\", or an NPU: npu_memory = \"a100_80gb\"");
}

/// What make() reads of a point, beside the workload and its degrees.
void add_choices(KeyBuilder& key, const TrainingPoint& choice) {
  key.add(choice.batch_rule).add(choice.global_batch).add(choice.compute).add(choice.microbatches);
  key.add(choice.pipeline_schedule).add(choice.virtual_stages).add(choice.zero_stage).add(choice.recomputation);
  key.add(choice.sequence_parallelism).add(choice.flash_attention).add(choice.hp_order);
  key.add(std::string_view(to_string(choice.npu_memory)));
}

/// Makes iterations: workload files under a parallelization on the point's shape.
class IterationMaker {
 public:
  IterationMaker(const DesignPoint& point, std::string_view key) : point_(point), key_(key) {}

  Result<std::shared_ptr<const Iteration>> make(const NamedFile& file, const Parallelization& degrees,
                                                TrainingCache& cache) const {
    const auto model = find_workload_model(file, cache);
    if (!*model) return model->errors();
    const auto& choice = point_.training();
    const auto mapping = Mapping::make(point_.topology.shape, degrees, place_of_key(key_), choice.hp_order);
    if (!mapping) return mapping.errors();
    if (choice.global_batch > 0 && !states_batch(**model))
      return input_error(place_of_key("global_batch"), fmt::format("global_batch for workload \"{}\"", file.text),
                         "it is a table of layers, which does not say how many sequences its work is for",
                         "use a workload that is made from dimensions, for instance gpt3_generated, or batch_rule");
    const auto choices = choice.iteration();
    auto workload = make_workload(**model, degrees, choices);
    if (!workload) return at_key(workload.errors(), key_);
    const auto batch = machine_batch(**model, degrees, choices);
    if (!batch) return at_key(batch.errors(), key_);
    const auto rate = rate_of(choice, *workload);
    if (!rate) return rate.errors();
    const auto chosen = chosen_transformer(**model, degrees, choices);
    if (!chosen) return at_key(chosen.errors(), key_);
    const auto memory = npu_memory(*workload, *chosen, degrees);
    return std::make_shared<const Iteration>(Iteration{*std::move(workload), *mapping, *rate, *batch, memory});
  }

  std::shared_ptr<const Result<std::shared_ptr<const Iteration>>> find(const NamedFile& file,
                                                                       const Parallelization& degrees,
                                                                       TrainingCache& cache) const {
    const auto& choice = point_.training();
    KeyBuilder key;
    key.add(file).add(point_.topology.shape).add(key_).add(degrees);
    add_choices(key, choice);
    return cache.iterations.get(
        key.key(), [&] { return make(file, degrees, cache); },
        [&](const auto&) { return 4 * file.content.view().size() + 1024; });
  }

 private:
  const DesignPoint& point_;
  std::string_view key_;
};

Result<CostRates> rates_of(const DesignPoint& point, TrainingCache& cache) {
  const auto& choice = point.training();
  const auto& shape = point.topology.shape;
  const NamedFile& file = choice.cost_model;
  KeyBuilder key;
  const auto found = cache.cost_models.get(
      key.add(file).key(), [&] { return parse_cost_model(file.content, file.path); },
      [&](const auto&) { return 4 * file.content.view().size() + 1024; });
  const auto& model = *found;
  if (!model) return model.errors();
  const auto kinds =
      choice.dimension_kinds.empty() ? default_dimension_kinds(shape.dimensions()) : choice.dimension_kinds;
  const auto rates = cost_rates(model->model, choice.price_level, shape, kinds);
  if (!rates) return at_key(rates.errors(), "dimension_kinds");
  return *rates;
}

/// The iteration without messages between stages.
std::shared_ptr<const Iteration> without_messages(const Iteration& iteration) {
  auto stripped = iteration;
  for (auto& block : stripped.workload.blocks)
    for (auto& layer : block.layers)
      for (auto& work : layer.phases)
        std::erase_if(work.communications, [](const Communication& each) { return each.scope == Scope::pipeline; });
  return std::make_shared<const Iteration>(std::move(stripped));
}

Result<TrainingSetup> make_setup(const DesignPoint& point, TrainingCache& cache) {
  const auto& choice = point.training();
  Diagnostics errors;
  const auto found = IterationMaker(point, "hp").find(choice.workload, choice.hp, cache);
  if (!*found) append(errors, found->errors());
  const auto libra = libra_model(point);
  if (!libra) append(errors, libra.errors());
  const auto rates = rates_of(point, cache);
  if (!rates) append(errors, rates.errors());
  if (!errors.empty()) return errors;
  const auto& iteration = **found;
  TrainingSetup setup{{iteration, *libra}, std::nullopt, *libra, *rates, iteration->mapping.describe()};
  if (choice.pipeline_timing == PipelineTiming::simulated && choice.hp.pipeline > 1)
    setup.stages.emplace(without_messages(*iteration), *libra);
  return setup;
}

Result<BandwidthSplit> make_split(const DesignPoint& point, const TrainingSetup& setup, TrainingCache& cache) {
  ensure(point.training().scheme.has_value(), "the point's bandwidths are given");
  const auto workloads = iterations_to_optimize(point, setup, cache);
  if (!workloads) return workloads.errors();
  std::vector<TimeModel> models;
  std::vector<double> weights;
  for (const auto& [iteration, weight] : *workloads) {
    auto model = collapse_iteration(iteration->workload, iteration->mapping, iteration->rate,
                                    optimized_model(point, setup), optimized_loop(point.training().training_loop));
    if (!model) return model.errors();
    models.push_back(*std::move(model));
    weights.push_back(weight);
  }
  const auto region = make_training_region(point, setup.rates);
  if (!region) return region.errors();
  return split_bandwidth(*point.training().scheme, weighted_sum(models, weights), *region, &setup.rates);
}

}  // namespace

std::shared_ptr<const Result<WorkloadModel>> find_workload_model(const NamedFile& file, TrainingCache& cache) {
  return cache.models.get(
      KeyBuilder().add(file).key(),
      [&]() -> Result<WorkloadModel> {
        auto parsed = parse_workload(file.content, file.path);
        if (!parsed) return parsed.errors();
        return std::move(parsed->model);
      },
      [&](const Result<WorkloadModel>&) { return 4 * file.content.view().size() + 256; });
}

Result<LibraModel> libra_model(const DesignPoint& point) {
  const auto& shape = point.topology.shape;
  const auto timing = point.training().collective_time;
  auto flags = point.training().in_network;
  if (flags.size() > shape.dimensions())
    return input_error(place_of_key("in_network"), fmt::format("in-network reduction in dimension {}", flags.size()),
                       fmt::format("{} has {} dimensions", to_string(shape), shape.dimensions()));
  if (!flags.empty() && !is_libra(timing) && point.topology.unwind > 0)
    return input_error(place_of_key("in_network"), "in-network reduction where switches are unwound",
                       "links in place of switches add nothing", "write unwind = 0, or in_network = \"none\"");
  if (!flags.empty()) flags.resize(shape.dimensions());
  const auto made =
      LibraTime::make(shape, {bytes_per_second(1)}, {timing == TimingModel::libra_derated, std::move(flags)});
  if (!made) return at_key(made.errors(), "in_network");
  return made->model();
}

Place place_of_key(std::string_view key) { return {std::string(key), 0, 0}; }

Result<std::shared_ptr<const Iteration>> make_iteration(const DesignPoint& point, TrainingCache& cache) {
  const auto& choice = point.training();
  return IterationMaker(point, "hp").make(choice.workload, choice.hp, cache);
}

std::shared_ptr<const Result<TrainingSetup>> find_setup(const DesignPoint& point, TrainingCache& cache) {
  const auto& choice = point.training();
  auto key = cache_key(point, kOfSetup);
  for (const auto* file : {&choice.workload, &choice.cost_model}) key.append(1, '\0').append(file->path);
  return cache.setups.get(
      key, [&] { return make_setup(point, cache); },
      [](const Result<TrainingSetup>& made) {
        return made ? 2048 + 256 * made->traffic.communications().size() : std::size_t{512};
      });
}

Result<BandwidthRegion> make_training_region(const DesignPoint& point, const CostRates& rates) {
  const auto& choice = point.training();
  const auto dimensions = point.topology.shape.dimensions();
  std::vector<LinearConstraint> rows;
  Diagnostics errors;
  for (const auto& constraint : choice.constraints) {
    auto of_shape = rows_of(constraint, dimensions, &rates);
    if (!of_shape) {
      append(errors, of_shape.errors());
      continue;
    }
    std::ranges::move(*of_shape, std::back_inserter(rows));
  }
  if (choice.total_bandwidth.count() > 0) {
    rows.push_back(total_bandwidth_is(dimensions, choice.total_bandwidth));
    rows.back().place = place_of_key("total_bandwidth");
  }
  for (const auto& limit : rates.limits) {
    rows.push_back(bandwidth_at_most(dimensions, limit));
    rows.back().place = place_of_key("dimension_kinds");
  }
  if (choice.cost_budget) {
    rows.push_back(cost_at_most(rates, *choice.cost_budget));
    rows.back().place = place_of_key("cost_budget");
  }
  if (!errors.empty()) return errors;
  auto region = make_region(dimensions, std::move(rows));
  if (!region) return at_key(region.errors(), "constraints");
  return region;
}

TrainingLoop optimized_loop(TrainingLoop loop) {
  return loop == TrainingLoop::astra_sim ? TrainingLoop::tp_dp_overlap : loop;
}

LibraModel optimized_model(const DesignPoint& point, const TrainingSetup& setup) {
  auto model = setup.libra;
  if (const auto& named = point.training().optimize_with) model.derated = *named == TimingModel::libra_derated;
  return model;
}

bool optimizes_itself(const DesignPoint& point, const TrainingSetup& setup) {
  const auto& choice = point.training();
  return is_libra(choice.collective_time) && choice.optimize_for.empty() && !setup.stages.has_value() &&
         !splits_backward(choice.pipeline_schedule) && optimized_loop(choice.training_loop) == choice.training_loop &&
         optimized_model(point, setup) == setup.libra;
}

Result<std::vector<WeightedIteration>> iterations_to_optimize(const DesignPoint& point, const TrainingSetup& setup,
                                                              TrainingCache& cache) {
  const auto& choice = point.training();
  std::vector<WeightedIteration> found;
  // Without optimize_for, the point's own iteration, which the setup's traffic holds.
  if (choice.optimize_for.empty()) return std::vector{WeightedIteration{setup.traffic.shared_iteration(), 1}};
  Diagnostics errors;
  const IterationMaker maker(point, "optimize_for");
  for (const auto& [file, degrees, weight] : choice.optimize_for) {
    const auto made = maker.find(file, degrees, cache);
    if (*made)
      found.push_back({**made, weight});
    else
      append(errors, made->errors());
  }
  if (!errors.empty()) return errors;
  return found;
}

std::shared_ptr<const Result<BandwidthSplit>> find_split(const DesignPoint& point, const TrainingSetup& setup,
                                                         TrainingCache& cache) {
  const auto& choice = point.training();
  KeyBuilder key;
  key.add(choice.scheme).add(point.topology.shape).add(choice.constraints).add(choice.total_bandwidth);
  key.add(setup.rates.per_gigabyte_per_second).add(choice.cost_budget);
  for (const auto& limit : setup.rates.limits) key.add(limit.dimension).add(limit.most).add(limit.kind);
  add_choices(key, choice);
  key.add(choice.in_network).add(optimized_loop(choice.training_loop)).add(optimized_model(point, setup).derated);
  if (choice.optimize_for.empty()) key.add("own").add(choice.workload).add(choice.hp);
  for (const auto& [file, degrees, weight] : choice.optimize_for) key.add(file).add(degrees).add(weight);
  return cache.splits.get(
      key.key(), [&] { return make_split(point, setup, cache); },
      [&](const Result<BandwidthSplit>&) { return 512 + 8 * point.topology.shape.dimensions(); });
}

}  // namespace tenex
