// ASTRA-sim's analytical network (network.yml, newer trees: the same keys in JSON) to a shape, and back.
//
// Dimension 0 is innermost there and dimension 1 varies fastest here: the lists have the same order. Bandwidth is per
// link and direction in 2^30 B/s, latency per hop in ns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "exchange/decimal_text.hpp"
#include "exchange/formats.hpp"
#include "exchange/machine_draft.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
#include "tenex/exchange/machine_export.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {
namespace exchange {
namespace {

struct BlockWord {
  std::string_view astra;
  std::string_view tenex;
};
constexpr std::array kBlocks{BlockWord{"Ring", "RI"}, BlockWord{"FullyConnected", "FC"}, BlockWord{"Switch", "SW"}};
constexpr std::size_t kMostDimensions = 64;

class NetworkReader {
 public:
  explicit NetworkReader(const TreeValue& network) : network_(network) {
    dimensions_ = list("topology").size();
    if (dimensions_ > kMostDimensions) fail(network_.place, fmt::format("{} dimensions", dimensions_), "at most 64");
  }

  std::string shape() {
    std::string text;
    const auto& blocks = list("topology");
    const auto& counts = list("npus_count");
    for (std::size_t i = 0; i < dimensions_ && i < counts.size(); ++i) {
      const auto block = std::ranges::find(kBlocks, blocks[i].text, &BlockWord::astra);
      if (block == kBlocks.end())
        fail(blocks[i].place, fmt::format("topology \"{}\"", plain(blocks[i].text)),
             "it is Ring, FullyConnected or Switch");
      const auto count = read_number<std::uint32_t>(counts[i].text);
      if (!count || *count < 2 || *count > 1U << 31)
        fail(counts[i].place, fmt::format("npus_count \"{}\"", plain(counts[i].text)),
             "it is a whole number from 2 to 2^31");
      if (block != kBlocks.end() && count) text += fmt::format("{}{}({})", i == 0 ? "" : "_", block->tenex, *count);
    }
    return text;
  }

  /// "50GiB/s, 25GiB/s" or times, one per dimension.
  std::string values(std::string_view key, bool rates) {
    std::string text;
    const std::int64_t scale = rates ? std::int64_t{1} << 30 : 1'000;
    for (const auto& item : list(key)) {
      bool exact = true;
      const auto value = scaled(item.text, scale, &exact);
      if (!value || (rates && *value == 0)) {
        fail(item.place, fmt::format("{} \"{}\"", key, plain(item.text)),
             rates ? "it is a number of GiB/s above 0" : "it is a number of ns from 0");
        continue;
      }
      text += text.empty() ? "" : ", ";
      text += rates ? to_string(bytes_per_second(*value)) : to_string(picoseconds(*value));
      if (!exact) rounded_ = true;
    }
    return text;
  }

  [[nodiscard]] bool rounded() const { return rounded_; }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }
  [[nodiscard]] std::uint32_t line(std::string_view key) const {
    const auto* const value = network_.find(key);
    return value == nullptr ? 0 : value->place.line;
  }

  /// The keys are lists of one length, and there is no other key.
  void check() {
    for (const auto& [key, value] : network_.entries)
      if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency")
        fail(value.place, fmt::format("unknown key \"{}\"", plain(key)),
             "a network has topology, npus_count, bandwidth and latency");
    for (const std::string_view key : {"topology", "npus_count", "bandwidth", "latency"}) {
      const auto* const value = network_.find(key);
      if (value == nullptr || !value->is(TreeValue::Kind::list) || value->items.empty())
        fail(value == nullptr ? network_.place : value->place, fmt::format("{} is no list", key),
             "it has a value per dimension");
      else if (value->items.size() != dimensions_)
        fail(value->place, fmt::format("{} has {} values", key, value->items.size()),
             fmt::format("topology has {}", dimensions_));
    }
  }

 private:
  [[nodiscard]] const std::vector<TreeValue>& list(std::string_view key) const { return network_.list_of(key); }
  void fail(const Place& place, std::string problem, std::string why) {
    errors_.push_back(input_error(place, std::move(problem), std::move(why)));
  }

  const TreeValue& network_;
  std::size_t dimensions_ = 0;
  bool rounded_ = false;
  Diagnostics errors_;
};

std::string flat(const TreeValue& value) {
  if (value.is(TreeValue::Kind::scalar)) return value.text;
  std::string text;
  for (const auto& item : value.items) text += (text.empty() ? "" : " ") + flat(item);
  return text;
}

/// What the system file says, none of which is a part of a machine.
Result<std::vector<std::string>> system_remarks(const SourceText& system) {
  const auto file = parse_values(system.file, system.text);
  if (!file) return file.errors();
  if (file->find("scheduling-policy") == nullptr)
    return input_error(file->place, "no system file of ASTRA-sim", "it has no scheduling-policy");
  std::vector<std::string> remarks;
  for (const auto& [key, value] : file->entries)
    if (key.find("-implementation") != std::string::npos || key == "endpoint-delay" ||
        key == "collective-optimization" || key == "local-mem-bw" || key == "preferred-dataset-splits")
      remarks.push_back(
          fmt::format("{} says {} = {}: no part of a machine, state it in a study", system.file, key, flat(value)));
  return remarks;
}

}  // namespace

Result<ImportedMachine> import_astra_network(const TreeValue& network, const SourceText& source,
                                             const ImportOptions& options) {
  auto errors = refuse_options(options, {"--system"}, "an ASTRA-sim network");
  NetworkReader reader(network);
  reader.check();
  const auto shape = reader.shape();
  const auto bandwidth = reader.values("bandwidth", true);
  const auto alpha = reader.values("latency", false);
  append(errors, reader.errors());
  std::vector<std::string> remarks;
  if (!options.system.empty()) {
    auto said = system_remarks(options.system.front());
    if (!said)
      append(errors, said.errors());
    else
      remarks = *std::move(said);
  }
  if (!errors.empty()) return errors;
  if (reader.rounded()) remarks.emplace_back("numbers that are no whole B/s or ps are rounded down");
  std::string text = machine_head({}, name_of(source, options), source_of(source, "ASTRA-sim network"), remarks);
  text += fmt::format(
      "# shape: topology and npus_count, lines {} and {} of the file\nshape = \"{}\"\n# alpha: latency in ns, line {} "
      "of "
      "the file\nalpha = \"{}\"\n# bandwidth: bandwidth in GiB/s, line {} of the file\nbandwidth = \"{}\"\n",
      reader.line("topology"), reader.line("npus_count"), shape, reader.line("latency"), alpha,
      reader.line("bandwidth"), bandwidth);
  if (const auto machine = parse_machine(text, source.file); !machine) {  // a shape too large to build
    Diagnostics refused = machine.errors();
    for (auto& error : refused) error.place = network.place;
    return refused;
  }
  return ImportedMachine{"ASTRA-sim network", std::move(text), {}};
}

}  // namespace exchange

namespace {

/// count / scale with ten digits behind the point, rounded up: the reader, which rounds down to whole counts, finds
/// `count` again, since 1e-10 is less than 1 / scale.
std::string decimal(std::int64_t count, std::uint64_t scale) {
  constexpr std::uint64_t digits = 10'000'000'000;
  const auto number = static_cast<std::uint64_t>(count);
  const auto rest = number % scale * digits;
  std::string text = fmt::format("{}.{:010}", number / scale, rest / scale + (rest % scale == 0 ? 0 : 1));
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

template <class Number>
std::string decimals(const std::vector<Number>& values, std::size_t dimensions, std::uint64_t scale) {
  std::string text;
  for (std::size_t i = 0; i < dimensions; ++i)
    text += (i == 0 ? "" : ", ") + decimal(values[values.size() == 1 ? 0 : i].count(), scale);
  return text;
}

}  // namespace

Result<std::string> astra_network_text(const ShapedNetwork& network) {
  if (!network.shape.is_product())
    return unsupported_error({}, fmt::format("{} is no product of dimensions", to_string(network.shape)),
                             "an ASTRA-sim network is one of Ring, FullyConnected and Switch per dimension");
  if (network.links.per_npu)
    return unsupported_error({}, "npu_bandwidth", "an ASTRA-sim network has a bandwidth per link",
                             "state bandwidth in the machine");
  std::string blocks;
  std::string counts;
  for (const auto& block : network.shape.blocks) {
    const auto known = std::ranges::find(exchange::kBlocks, block.rule->name, &exchange::BlockWord::tenex);
    if (known == exchange::kBlocks.end() || !block.levels.empty() || block.size < 2)
      return unsupported_error({}, fmt::format("{} in {}", block.rule->name, to_string(network.shape)),
                               "an ASTRA-sim network has Ring, FullyConnected and Switch of 2 or more NPUs");
    blocks += (blocks.empty() ? "" : ", ") + std::string(known->astra);
    counts += (counts.empty() ? "" : ", ") + std::to_string(block.size);
  }
  const auto dimensions = network.shape.dimensions();
  return fmt::format("topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ {} ]  # GiB/s\nlatency: [ {} ]  # ns\n",
                     blocks, counts, decimals(network.links.bandwidth, dimensions, std::uint64_t{1} << 30),
                     decimals(network.links.alpha, dimensions, 1'000));
}

}  // namespace tenex
