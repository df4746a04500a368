// Rows that train. What a row's keys say of each other is checked here; what their words mean is checked by
// Vocabulary::check_training, whose answers are moved to the places where the words were written.
#include "design/training_checks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/core.h>

#include "design/enumerate.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

namespace {

std::string without_spaces(std::string_view text) {
  std::string packed(text);
  std::erase(packed, ' ');
  return packed;
}

/// The whole numbers of "4:2:1"; a text that is no such list gives what can be read.
std::vector<std::int64_t> shares_of(std::string_view text) {
  std::vector<std::int64_t> shares;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(':', start), text.size());
    std::int64_t share = 0;
    std::from_chars(text.data() + start, text.data() + end, share);
    shares.push_back(share);
    start = end + 1;
  }
  return shares;
}

/// The value that a message about `key` belongs to: its own, or where nothing says the key what made it matter.
const SettingValue& value_at(const Row& row, Key key) {
  for (const Key each : {key, Key::scheme, Key::workload}) {
    if (const SettingValue* value = row[index_of(each)]) return *value;
  }
  return *row[index_of(Key::topology)];
}

}  // namespace

std::string_view word_of(const Row& row, Key key, std::string_view fallback) {
  const SettingValue* value = row[index_of(key)];
  return value == nullptr ? fallback : std::string_view(std::get<std::string>(value->data));
}

Place place_in(const SettingValue& value, std::string_view canonical, std::size_t offset) {
  std::vector<TextPart> parts = value.parts;
  if (parts.empty()) parts.push_back({value.text_place, value.text});
  std::string written;  // without spaces, as the canonical text joins parts
  for (TextPart& part : parts) {
    while (!part.text.empty() && (part.text.back() == ' ' || part.text.back() == ';')) part.text.pop_back();
    if (!written.empty() && !part.text.empty()) written += ';';
    written += without_spaces(part.text);
  }
  if (written != without_spaces(canonical)) return value.place;
  // The n-th character that is no space is the same one in both.
  std::size_t left = without_spaces(canonical.substr(0, offset)).size();
  for (const TextPart& part : parts) {
    if (part.text.empty()) continue;
    for (std::size_t i = 0; i < part.text.size(); ++i) {
      if (part.text[i] == ' ') continue;
      if (left-- == 0) return place_within(part.place, part.text, i);
    }
    if (left-- == 0) return place_within(part.place, part.text, part.text.size());  // the ";"
  }
  return place_within(parts.back().place, parts.back().text, parts.back().text.size());
}

bool TrainingAsker::ask(const Row& row, bool varies) {
  if (!vocabulary_.check_training) return true;
  const bool states = word_of(row, Key::scheme, "given") == "given";
  std::array<const SettingValue*, kKeyCount> asked{};
  asked[index_of(Key::topology)] = row[index_of(Key::topology)];
  for (std::size_t i = 0; i < kKeyCount; ++i) {
    const Key key = static_cast<Key>(i);
    const bool is_stated = key == Key::total_bandwidth || key == Key::split;
    if (is_training(key) && !(states && is_stated)) asked[i] = row[i];
  }
  const auto hash =
      digest64(std::string_view(reinterpret_cast<const char*>(asked.data()), sizeof asked));  // NOLINT: bytes
  const auto [found, is_new] = answers_.try_emplace(hash, true);
  if (!is_new) return found->second;
  const DesignPoint point = build_point(row, "all", vocabulary_);
  for (Diagnostic& error : vocabulary_.check_training(point)) {
    found->second = false;
    contradictions_.add(relocated(std::move(error), row, varies));
  }
  return found->second;
}

Diagnostic TrainingAsker::relocated(Diagnostic error, const Row& row, bool varies) const {
  const auto named = error.place.file.empty() ? std::optional(Key::hp) : find_key(error.place.file);
  if (!named) return error;  // a place in a file of its own
  const SettingValue& value = value_at(row, *named);
  const bool is_text = row[index_of(*named)] == &value && std::holds_alternative<std::string>(value.data);
  if (error.place.line != 0 && is_text) {
    const std::size_t offset = error.place.column == 0 ? 0 : error.place.column - 1;
    error.place = place_in(value, std::get<std::string>(value.data), offset);
  } else {
    error.place = value.place;
  }
  if (varies && *named == Key::hp) {
    error.suggestion += fmt::format("{}leave such rows out with keep = \"hp != '{}' or topology != '{}'\"",
                                    error.suggestion.empty() ? "" : ", or ", word_of(row, Key::hp, ""),
                                    row[index_of(Key::topology)]->text);
  }
  return error;
}

void RowChecker::check_training(const Row& row, const TopologyValue& topology) {
  const SettingValue& place = *row[index_of(Key::topology)];
  if (topology.is_machine()) {
    fail(place, fmt::format("the machine file \"{}\" beside a workload", shortened(place.text)),
         "a parallelization is laid over the dimensions of a shape", "write a shape, for instance \"RI(4)_SW(8)\"", "");
    return;
  }
  const SettingValue* alpha = row[index_of(Key::alpha)];
  const std::string_view time = word_of(row, Key::collective_time, "libra");
  const bool simulates = time == "pipeline" || time == "themis" || time == "synthesized";
  if (simulates && alpha == nullptr) {
    fail(place, fmt::format("the shape \"{}\" has no alpha", shortened(place.text)),
         fmt::format("collective_time \"{}\" needs the latency of its links", time),
         "write for instance alpha = \"0.5us\"", "collective_time = libra");
  }
  if (simulates && alpha != nullptr) check_dimensions<SimTime>(*alpha, topology);
  if (word_of(row, Key::scheme, "given") == "given") check_stated_bandwidth(row, topology);
  if (time == "synthesized") check_unwinding(row, topology);
}

void RowChecker::check_stated_bandwidth(const Row& row, const TopologyValue& topology) {
  const SettingValue& place = *row[index_of(Key::topology)];
  const SettingValue* total = row[index_of(Key::total_bandwidth)];
  const SettingValue* split = row[index_of(Key::split)];
  if (split != nullptr) {
    if (total != nullptr) check_split(*split, std::get<Bandwidth>(total->data), topology);
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
  const auto shares = shares_of(std::get<std::string>(split.data));
  const std::size_t dimensions = topology.choice.shape.dimensions();
  const auto keep = fmt::format("topology != '{}'", topology.choice.text);
  if (shares.size() != dimensions) {
    fail(split, fmt::format("split \"{}\" is for {} dimensions", shortened(split.text), shares.size()),
         fmt::format("\"{}\" has {}", shortened(topology.choice.text), dimensions), "give each of them a share", keep);
    return;
  }
  const std::int64_t least = *std::min_element(shares.begin(), shares.end());
  double whole = 0;
  for (const std::int64_t share : shares) whole += static_cast<double>(share);
  if (static_cast<double>(total.count()) * static_cast<double>(least) >= whole) return;
  fail(split, fmt::format("split \"{}\" leaves a dimension without bandwidth", shortened(split.text)),
       fmt::format("its share of {} is less than a byte per second", to_string(total)), "give it a larger share", "");
}

}  // namespace tenex
