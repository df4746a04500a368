// Finds keys that do not go together in a sweep.
//
// It is enough if some rows of a sweep read a key: for the other rows the key makes no difference to the point. So
// these checks look at all values that the scheme and the collective time have in the sweep.
#include "design/sweep.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace tenex {

namespace {

template <class T>
bool has(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// "perf_opt" or "perf_opt", "equal", as in messages.
template <class T>
std::string quoted(const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", to_string(value));
  return text;
}

/// The distinct values of a key in a sweep; `fallback` if it is not given.
template <class T>
std::vector<T> values_in(const Sweep& sweep, Key key, T fallback) {
  std::vector<T> values;
  const auto add = [&](const SharedValue& value) {
    if (value != nullptr && !has(values, value->as<T>())) values.push_back(value->as<T>());
  };
  for_each_value(sweep, key, add);
  if (values.empty()) values.push_back(fallback);
  return values;
}

/// Whether the sweep has a value for a key, from the sweep itself or from [defaults].
bool has_key(const Sweep& sweep, Key key) {
  if (sweep.fixed[index_of(key)] != nullptr) return true;
  return std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) {
    return std::find(axis.keys.begin(), axis.keys.end(), key) != axis.keys.end();
  });
}

/// One pass over a sweep that trains.
class KeyChecker {
 public:
  KeyChecker(Sweep& sweep, const GivenPlaces& given, Diagnostics& errors)
      : sweep_(sweep),
        given_(given),
        errors_(errors),
        schemes_(values_in(sweep, Key::scheme, BandwidthScheme())),
        times_(values_in(sweep, Key::collective_time, TimingModel::libra)) {}

  void check() {
    check_contention();
    check_batch();
    check_modelled();
    const bool states = has(schemes_, BandwidthScheme());
    const bool chooses = !states || schemes_.size() > 1;
    if (!chooses) check_stated();
    if (!states) check_chosen();
    if (states) check_split();
  }

 private:
  const std::optional<Place>& place_of(Key key) const { return given_[index_of(key)]; }

  void fail(Key key, std::string problem, std::string why, std::string suggestion) {
    errors_.push_back(input_error(*place_of(key), std::move(problem), std::move(why), std::move(suggestion)));
  }

  void check_contention() {
    if (!place_of(Key::contention) || std::ranges::any_of(times_, is_synthesized)) return;
    if (values_in(sweep_, Key::contention, Contention::none) == std::vector{Contention::none}) return;
    fail(Key::contention, "\"contention\" is read by no point",
         fmt::format("collective_time {} has no links to share", quoted(times_)),
         "write collective_time = \"synthesized\", or remove it");
  }

  void check_batch() {
    if (!place_of(Key::global_batch) || !place_of(Key::batch_rule)) return;
    fail(Key::global_batch, "\"global_batch\" and \"batch_rule\" exclude each other",
         "a global batch is the whole machine's, whatever the rule", "keep one of them");
  }

  /// Checks keys that only models that simulate, or only those that synthesize, read.
  void check_modelled() {
    const auto refuse = [&](std::initializer_list<Key> keys, std::string_view models, std::string_view example) {
      for (const Key key : keys) {
        if (!place_of(key)) continue;
        fail(key, fmt::format("\"{}\" is read by no point", name_of(key)),
             fmt::format("collective_time {} does not read it, only {}", quoted(times_), models),
             fmt::format("write for instance collective_time = \"{}\", or remove it", example));
      }
    };
    const bool messages =
        has(values_in(sweep_, Key::pipeline_timing, PipelineTiming::formula), PipelineTiming::simulated);
    if (std::ranges::none_of(times_, is_simulated)) {
      constexpr std::string_view models = "\"pipeline\", \"themis\" and \"synthesized\" do";
      refuse({Key::chunks}, models, "themis");
      if (!messages) refuse({Key::alpha, Key::occupancy, Key::forwarding}, models, "themis");
    }
    if (std::ranges::none_of(times_, is_synthesized))
      refuse({Key::algorithm, Key::attempts, Key::engine, Key::unwind}, "\"synthesized\" does", "synthesized");
  }

  /// For sweeps in which all rows state their bandwidths.
  void check_stated() {
    for (const Key key : {Key::optimize_with, Key::optimize_for, Key::constraints, Key::cost_budget}) {
      if (!place_of(key)) continue;
      fail(key, fmt::format("\"{}\" is read by no point", name_of(key)),
           "scheme \"given\" takes bandwidths as they are stated and chooses none",
           "write for instance scheme = \"perf_opt\", or remove it");
    }
    if (place_of(Key::total_bandwidth) && !has_key(sweep_, Key::split)) {
      fail(Key::total_bandwidth, "\"total_bandwidth\" without \"split\"",
           "scheme \"given\" does not choose how the dimensions share it",
           "write for instance split = \"2:1\", or scheme = \"perf_opt\"");
    }
  }

  /// For sweeps in which no row states its bandwidths.
  void check_chosen() {
    for (const Key key : {Key::bandwidth, Key::npu_bandwidth, Key::split}) {
      if (!place_of(key)) continue;
      fail(key, fmt::format("\"{}\" is read by no point", name_of(key)),
           fmt::format("scheme {} chooses the bandwidths", quoted(schemes_)),
           key == Key::split ? "write constraints, or scheme = \"given\""
                             : "write total_bandwidth or constraints, or scheme = \"given\"");
    }
  }

  /// For sweeps in which some rows state their bandwidths.
  void check_split() {
    if (place_of(Key::split) && !has_key(sweep_, Key::total_bandwidth)) {
      fail(Key::split, "\"split\" without \"total_bandwidth\"", "its shares are those of a total",
           "write for instance total_bandwidth = \"1000GB/s\"");
    }
    for (const Key key : {Key::bandwidth, Key::npu_bandwidth}) {
      if (!place_of(key) || !place_of(Key::split)) continue;
      fail(key, fmt::format("\"{}\" and \"split\" exclude each other", name_of(key)),
           "both state the bandwidths of the dimensions", "keep one of them");
    }
  }

  Sweep& sweep_;
  const GivenPlaces& given_;
  Diagnostics& errors_;
  std::vector<BandwidthScheme> schemes_;
  std::vector<TimingModel> times_;
};

/// A value of hp, and the workload that it goes with if one axis has both.
struct SweptDegrees {
  Parallelization degrees;
  std::string workload;
};

std::vector<SweptDegrees> parallelizations_in(const Sweep& sweep) {
  std::vector<SweptDegrees> found;
  for (const Axis& axis : sweep.axes) {
    const auto column_of = [&](Key key) -> const AxisColumn* {
      const auto at = std::ranges::find(axis.keys, key);
      return at == axis.keys.end() ? nullptr : &axis.columns[static_cast<std::size_t>(at - axis.keys.begin())];
    };
    const AxisColumn* const degrees = column_of(Key::hp);
    const AxisColumn* const workload = column_of(Key::workload);
    if (degrees == nullptr) continue;
    for (std::size_t i = 0; i < degrees->size(); ++i) {
      if ((*degrees)[i] == nullptr || (workload != nullptr && (*workload)[i] == nullptr)) continue;
      found.push_back(
          {(*degrees)[i]->as<Parallelization>(), workload == nullptr ? std::string() : (*workload)[i]->text});
    }
  }
  return found;
}

void refuse_training_keys(const GivenPlaces& given, Diagnostics& errors) {
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const Key key = static_cast<Key>(i);
    if (!given[i] || !is_training(key)) continue;
    errors.push_back(input_error(*given[i], fmt::format("\"{}\" without \"workload\"", name_of(key)),
                                 std::string(setting_of(key).reason), "add a workload, or remove the key"));
  }
}

/// For sweeps of collectives, which may state a total in place of the bandwidths of links or dimensions.
void check_total(const Sweep& sweep, const GivenPlaces& given, Diagnostics& errors) {
  const auto& total = given[index_of(Key::total_bandwidth)];
  const auto& split = given[index_of(Key::split)];
  if (split && !has_key(sweep, Key::total_bandwidth))
    errors.push_back(input_error(*split, "\"split\" without \"total_bandwidth\"", "its shares are those of a total",
                                 "write for instance total_bandwidth = \"1000GB/s\""));
  for (const Key key : {Key::bandwidth, Key::npu_bandwidth}) {
    if (!total || !given[index_of(key)]) continue;
    errors.push_back(input_error(*total, fmt::format("\"total_bandwidth\" and \"{}\" exclude each other", name_of(key)),
                                 "both state the bandwidths of a collective's network", "keep one of them"));
  }
}

void refuse_collective_keys(const GivenPlaces& given, Diagnostics& errors) {
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const Key key = static_cast<Key>(i);
    if (!given[i] || setting_of(key).read_by != ReadBy::collectives) continue;
    errors.push_back(input_error(*given[i], fmt::format("\"{}\" beside \"workload\"", name_of(key)),
                                 std::string(setting_of(key).reason), "remove it, or use a sweep of its own"));
  }
}

}  // namespace

void check_training_sweep(Sweep& sweep, const GivenPlaces& given, ValueContext& context, Diagnostics& errors) {
  const std::size_t before = errors.size();
  if (!sweep.trains) {
    refuse_training_keys(given, errors);
    check_total(sweep, given, errors);
  } else {
    refuse_collective_keys(given, errors);
    if (sweep.usable) KeyChecker(sweep, given, errors).check();
    if (!has_key(sweep, Key::cost_model)) {
      auto prices = default_cost_model(sweep.place, context);
      if (!prices) append(errors, prices.errors());
      if (prices) sweep.fixed[index_of(Key::cost_model)] = *std::move(prices);
    }
  }
  if (errors.size() != before) sweep.usable = false;
}

std::optional<std::string> warn_of_batches(const Sweep& sweep) {
  // A sweep that states the rule means it.
  if (!sweep.trains || !sweep.usable || has_key(sweep, Key::batch_rule)) return std::nullopt;
  if (!has(values_in(sweep, Key::global_batch, std::int64_t{0}), std::int64_t{0})) return std::nullopt;
  for (const Expression& condition : sweep.keep) {
    const auto names = identifiers(condition);
    if (std::ranges::find(names, name_of(Key::hp)) != names.end()) return std::nullopt;
  }
  const auto rows = parallelizations_in(sweep);
  for (const auto& few : rows) {
    const auto many = std::ranges::find_if(rows, [&](const auto& other) {
      return other.workload == few.workload && other.degrees.npus() == few.degrees.npus() &&
             other.degrees.data > few.degrees.data;
    });
    if (many == rows.end()) continue;
    return to_string(input_error(
        sweep.place, fmt::format("{} compares different batches", sweep.name),
        fmt::format("every replica takes the workload's batch: an iteration of {} processes {}, one of {} {}",
                    to_string(few.degrees), few.degrees.data, to_string(many->degrees), many->degrees.data),
        "write global_batch (sequences of the whole machine) or batch_rule = \"machine\", or compare samples_per_s; "
        "batch_rule = \"replica\" says that it is meant"));
  }
  return std::nullopt;
}

}  // namespace tenex
