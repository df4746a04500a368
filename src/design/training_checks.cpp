// Rows that train, and totals of bandwidth. Contradictions between a row's keys are checked here.
// Vocabulary::check_training checks the meaning of their words; its errors get the places where the words were written.
#include "design/row_checks.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "design/enumerate.hpp"
#include "design/settings/entry.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/divide_bandwidth.hpp"

namespace tenex {

namespace {

template <class T>
T value_or(const Row& row, Key key, T fallback) {
  const SettingValue* value = row[index_of(key)];
  return value == nullptr ? fallback : value->as<T>();
}

bool row_states_bandwidth(const Row& row) { return !value_or(row, Key::scheme, BandwidthScheme()); }

/// The value that a message about `key` belongs to: the key's own, or if it is not given the one that made it matter.
const SettingValue& value_at(const Row& row, Key key) {
  for (const Key each : {key, Key::scheme, Key::workload}) {
    if (const SettingValue* value = row[index_of(each)]) return *value;
  }
  return *row[index_of(Key::topology)];
}

}  // namespace

bool TrainingAsker::ask(const Row& row, bool varies) {
  if (!vocabulary_.check_training) return true;
  const bool states = row_states_bandwidth(row);
  std::array<const SettingValue*, kKeyCount> asked{};
  asked[index_of(Key::topology)] = row[index_of(Key::topology)];
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const Key key = static_cast<Key>(i);
    const bool is_stated = key == Key::total_bandwidth || key == Key::split;
    if (is_stated ? !states : is_training(key)) asked[i] = row[i];
  }
  const auto hash =
      digest64(std::string_view(reinterpret_cast<const char*>(asked.data()), sizeof asked));  // NOLINT: bytes
  const auto [found, is_new] = answers_.try_emplace(hash, true);
  if (!is_new) return found->second;
  const DesignPoint point = build_point(row, {}, vocabulary_);
  for (Diagnostic& error : vocabulary_.check_training(point)) {
    found->second = false;
    contradictions_.add(relocated(std::move(error), row, varies));
  }
  return found->second;
}

Diagnostic TrainingAsker::relocated(Diagnostic error, const Row& row, bool varies) const {
  const auto named = error.place.file.empty() ? std::optional(Key::hp) : find_key(error.place.file);
  if (!named) return error;  // a place in another file
  const SettingValue& value = value_at(row, *named);
  error.place = value.place;
  if (varies && *named == Key::hp) {
    error.suggestion += fmt::format(
        "{}leave such rows out with keep = \"hp != '{}' or topology != '{}'\"", error.suggestion.empty() ? "" : ", or ",
        entry::printed(row[index_of(Key::hp)]->as<Parallelization>()), row[index_of(Key::topology)]->text);
  }
  return error;
}

void RowChecker::check_training(const Row& row, const TopologyValue& topology) {
  const SettingValue& place = *row[index_of(Key::topology)];
  if (const SettingValue* algorithm = row[index_of(Key::algorithm)]; algorithm != nullptr)
    if (const auto* traits = find_traits(vocabulary_, algorithm->text);
        traits != nullptr && traits->family == AlgorithmFamily::any)
      fail(*algorithm, fmt::format("algorithm \"{}\" beside a workload", traits->name),
           "all collectives of an iteration are made by one algorithm", "name a synthesizer", "");
  if (const SettingValue* chunks = row[index_of(Key::chunks)]; chunks != nullptr)
    if (chunks->as<std::int64_t>() == kAutomaticChunks)
      fail(*chunks, "chunks = \"auto\" beside a workload",
           "all collectives of an iteration have the same number of chunks", "write the number", "");
  if (topology.is_machine()) {
    fail(place, fmt::format("the machine file \"{}\" beside a workload", shortened(place.text)),
         "a parallelization is laid over the dimensions of a shape",
         "write a shape, for instance \"RI(4)_SW(8)\", or a file that names one", "");
    return;
  }
  if (topology.from_file) {
    check_file_links(row, topology);
    return;
  }
  const SettingValue* alpha = row[index_of(Key::alpha)];
  const auto time = value_or(row, Key::collective_time, TimingModel::libra);
  const SettingValue* hp = row[index_of(Key::hp)];
  const bool has_stages = hp != nullptr && hp->as<Parallelization>().pipeline > 1;
  const auto pipeline = value_or(row, Key::pipeline_timing, PipelineTiming::formula);
  const bool sends = has_stages && pipeline == PipelineTiming::simulated;
  if ((is_simulated(time) || sends) && alpha == nullptr) {
    fail(place, fmt::format("the shape \"{}\" has no alpha", shortened(place.text)),
         fmt::format("{} needs the latency of its links",
                     is_simulated(time) ? fmt::format("collective_time \"{}\"", to_string(time))
                                        : fmt::format("pipeline_timing \"{}\"", to_string(pipeline))),
         "write for instance alpha = \"0.5us\"",
         is_simulated(time) ? "collective_time = libra" : "pipeline_timing = formula");
  }
  if ((is_simulated(time) || sends) && alpha != nullptr) check_dimensions<SimTime>(*alpha, topology);
  if (row_states_bandwidth(row)) check_stated_bandwidth(row, topology);
  if (!is_synthesized(time)) return;
  check_unwinding(row, topology);
  check_engine(row);
}

void RowChecker::check_file_links(const Row& row, const TopologyValue& topology) {
  for (const Key key :
       {Key::alpha, Key::bandwidth, Key::npu_bandwidth, Key::total_bandwidth, Key::split, Key::scheme}) {
    const SettingValue* given = row[index_of(key)];
    if (given == nullptr || (key == Key::scheme && row_states_bandwidth(row))) continue;
    fail(*given, fmt::format("\"{}\" for the machine file \"{}\"", name_of(key), topology.choice.text),
         "a machine file states alpha and bandwidth of its links", "write the shape that the file names", "");
  }
  if (!is_synthesized(value_or(row, Key::collective_time, TimingModel::libra))) return;
  check_unwinding(row, topology);
  check_engine(row);
}

void RowChecker::check_stated_bandwidth(const Row& row, const TopologyValue& topology) {
  const SettingValue& place = *row[index_of(Key::topology)];
  const SettingValue* total = row[index_of(Key::total_bandwidth)];
  const SettingValue* split = row[index_of(Key::split)];
  if (split != nullptr) {
    if (total != nullptr) check_split(*split, total->as<Bandwidth>(), topology);
    return;
  }
  const SettingValue* bandwidth = row[index_of(Key::bandwidth)];
  const SettingValue* per_npu = row[index_of(Key::npu_bandwidth)];
  if (bandwidth != nullptr) check_dimensions<Bandwidth>(*bandwidth, topology);
  if (per_npu != nullptr) check_dimensions<Bandwidth>(*per_npu, topology);
  if (per_npu != nullptr) check_npu_bandwidth(*per_npu, topology);
  if (bandwidth != nullptr || per_npu != nullptr) return;
  fail(place, fmt::format("the shape \"{}\" has no bandwidth", shortened(place.text)),
       "with scheme \"given\" it is stated",
       "write for instance npu_bandwidth = \"500GB/s\", or total_bandwidth and split, or scheme = \"perf_opt\"", "");
}

void RowChecker::check_split(const SettingValue& split, Bandwidth total, const TopologyValue& topology) {
  const auto shares = split.as<std::vector<std::int64_t>>();
  const std::size_t dimensions = topology.choice.shape.dimensions();
  const auto keep = fmt::format("topology != '{}'", topology.choice.text);
  if (shares.size() != dimensions) {
    fail(split,
         fmt::format("split \"{}\" is for {} {}", shortened(split.text), shares.size(),
                     topology.choice.shape.dimensions_word()),
         fmt::format("\"{}\" has {}", shortened(topology.choice.text), dimensions), "give each of them a share", keep);
    return;
  }
  const std::int64_t least = *std::min_element(shares.begin(), shares.end());
  double whole = 0;
  for (const std::int64_t share : shares) whole += static_cast<double>(share);
  if (static_cast<double>(total.count()) * static_cast<double>(least) >= whole) return;
  fail(split,
       fmt::format("split \"{}\" leaves a {} without bandwidth", shortened(split.text),
                   topology.choice.shape.dimension_word()),
       fmt::format("its share of {} is less than a byte per second", to_string(total)), "give it a larger share", "");
}

void RowChecker::check_total(const SettingValue& total, const SettingValue* split, const TopologyValue& topology) {
  const Shape& shape = topology.choice.shape;
  if (split != nullptr) {
    const std::size_t before = contradictions_.additions();
    check_split(*split, total.as<Bandwidth>(), topology);
    if (contradictions_.additions() != before) return;
  }
  const auto shares = divide_bandwidth(
      total.as<Bandwidth>(), split != nullptr ? split->as<std::vector<std::int64_t>>() : std::vector<std::int64_t>(),
      shape.dimensions());
  for (std::size_t dimension = 0; dimension < shape.dimensions(); ++dimension) {
    const std::uint32_t links = bandwidth_shares(shape, dimension);
    if (static_cast<std::uint64_t>(shares[dimension].count()) >= links) continue;
    fail(total, fmt::format("total_bandwidth {} is too small", to_string(total.as<Bandwidth>())),
         fmt::format("{} of {} {} of \"{}\" it rounds to zero",
                     links == 1 ? std::string("in the share") : fmt::format("divided over the {} links", links),
                     shape.dimension_word(), dimension + 1, shortened(topology.choice.text)),
         "use more", "");
  }
}

}  // namespace tenex
