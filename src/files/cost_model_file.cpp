// Cost model files: one table per kind of dimension, prices as numbers or ranges of dollars per GB/s, and limits.
#include "tenex/files/input_files.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/files/atomic_write.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

/// A higher price is a mistake in the file.
constexpr double kDearest = 1e9;

/// Dollars per GB/s as an integer number of millionths; nullopt after recording the error.
std::optional<Money> read_price(const Node& node, std::string_view name, TableReader& reader) {
  const auto number = as_real(node, name);
  if (!number) {
    reader.fail(number.errors());
    return std::nullopt;
  }
  if (!(*number >= 0) || *number > kDearest) {
    reader.fail(input_error(node.place(), fmt::format("\"{}\" is {}", name, *number),
                            "a price is between 0 and 1e9 dollars per GB/s"));
    return std::nullopt;
  }
  return Money::of(std::llround(*number * 1e6));
}

/// A number, [low, high] or [low, mid, high].
std::optional<PriceRange> read_range(TableReader& reader, std::string_view key) {
  const auto* node = reader.find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is(NodeKind::array)) {
    const auto price = read_price(*node, key, reader);
    if (!price) return std::nullopt;
    return PriceRange{*price, *price, *price};
  }
  const auto& items = node->items();
  if (items.size() != 2 && items.size() != 3) {
    reader.fail(input_error(node->place(), fmt::format("\"{}\" has {} prices", key, items.size()),
                            "a range is [low, high] or [low, mid, high]"));
    return std::nullopt;
  }
  std::vector<Money> prices;
  for (const auto& item : items) {
    const auto price = read_price(item, key, reader);
    if (!price) return std::nullopt;
    if (!prices.empty() && *price < prices.back()) {
      reader.fail(
          input_error(item.place(), fmt::format("the range of \"{}\" falls", key), "its lowest price comes first"));
      return std::nullopt;
    }
    prices.push_back(*price);
  }
  return PriceRange{prices.front(), prices.size() == 3 ? prices[1] : (prices.front() + prices.back()) / 2,
                    prices.back()};
}

DimensionKind read_kind(const Node& node, std::string_view name, Diagnostics& errors) {
  TableReader reader(node, fmt::format("[{}]", name), {"link", "switch", "nic", "bandwidth", "reach"});
  DimensionKind kind;
  (void)reader.require("link");
  kind.link = read_range(reader, "link");
  kind.switch_port = read_range(reader, "switch");
  kind.nic = read_range(reader, "nic");
  kind.bandwidth = reader.bandwidth("bandwidth");
  kind.reach = reader.integer("reach");
  if (kind.reach && *kind.reach < 2)
    reader.fail(input_error(reader.find("reach")->place(), fmt::format("reach = {}", *kind.reach),
                            "it counts the NPUs that a dimension joins, two or more"));
  append(errors, reader.take_errors());
  return kind;
}

}  // namespace

Result<CostModelFile> parse_cost_model(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.errors();
  std::vector<std::string_view> keys{"schema", "kind", "name", "source", "nic_without_switch"};
  for (const auto& entry : document->entries())
    if (entry.value.is(NodeKind::table)) keys.push_back(entry.key);
  TableReader reader(*document, "", keys);
  check_file_header(reader, "cost_model");
  CostModelFile read{{}, digest128(text)};
  if (reader.require("name") != nullptr) read.model.name = reader.string_or("name", "");
  if (reader.require("source") != nullptr) read.model.source = reader.string_or("source", "");
  read.model.nic_without_switch = reader.boolean_or("nic_without_switch", false);
  Diagnostics errors;
  for (const auto& entry : document->entries()) {
    if (!entry.value.is(NodeKind::table)) continue;
    if (!is_kind_name(entry.key))
      errors.push_back(input_error(entry.key_place, fmt::format("\"{}\" is no name of a dimension kind", entry.key),
                                   "a kind is named by small letters, digits and _, and not auto"));
    read.model.kinds[entry.key] = read_kind(entry.value, entry.key, errors);
  }
  if (read.model.kinds.empty()) {
    reader.fail(input_error(document->place(), "no dimension kind has prices", "a cost model prices at least one kind",
                            "add a table [pod] with link = ..."));
  }
  auto all = reader.take_errors();
  append(all, std::move(errors));
  if (!all.empty()) return all;
  return read;
}

Result<CostModelFile> read_cost_model_file(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  return parse_cost_model(text_of(*bytes), path.string());
}

}  // namespace tenex
