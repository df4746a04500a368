// Cost model files: one table per kind of dimension, prices as numbers or ranges of dollars per GB/s.
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

KindPrices read_kind(const Node& node, DimensionKind kind, Diagnostics& errors) {
  TableReader reader(node, fmt::format("[{}]", to_string(kind)), {"link", "switch", "nic"});
  KindPrices prices;
  (void)reader.require("link");
  prices.link = read_range(reader, "link");
  prices.switch_port = read_range(reader, "switch");
  prices.nic = read_range(reader, "nic");
  append(errors, reader.take_errors());
  return prices;
}

}  // namespace

Result<CostModelFile> parse_cost_model(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.errors();
  std::vector<std::string_view> keys{"schema", "kind", "name", "source", "nic_without_switch"};
  for (std::size_t kind = 0; kind < kDimensionKinds; ++kind)
    keys.push_back(to_string(static_cast<DimensionKind>(kind)));
  TableReader reader(*document, "", keys);
  check_file_header(reader, "cost_model");
  CostModelFile read{{}, digest128(text)};
  if (reader.require("name") != nullptr) read.model.name = reader.string_or("name", "");
  if (reader.require("source") != nullptr) read.model.source = reader.string_or("source", "");
  read.model.nic_without_switch = reader.boolean_or("nic_without_switch", false);
  Diagnostics errors;
  bool any = false;
  for (std::size_t kind = 0; kind < kDimensionKinds; ++kind) {
    const auto* node = reader.find(to_string(static_cast<DimensionKind>(kind)));
    if (node == nullptr) continue;
    any = true;
    read.model.kinds[kind] = read_kind(*node, static_cast<DimensionKind>(kind), errors);
  }
  if (!any) {
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
