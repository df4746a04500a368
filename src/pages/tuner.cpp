#include "tenex/pages/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/exchange/library_model.hpp"

namespace tenex {
namespace {

/// The programs that stand for a library's algorithm.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPrograms{{
    {"ring", "ring"},
    {"ring_unidirectional", "ring"},
    {"rings", "ring"},
    {"dbt", "tree"},
}};

/// The fastest times of an algorithm, by size; between sizes and beyond the last the time is on a line.
class Curve {
 public:
  void add(Bytes size, double us) {
    auto& at = times_.try_emplace(static_cast<double>(size.count()), us).first->second;
    at = std::min(at, us);
  }
  [[nodiscard]] double at(double size) const {
    if (times_.size() == 1) return times_.begin()->second * std::max(1.0, size / times_.begin()->first);
    auto above = times_.lower_bound(size);
    if (above == times_.begin()) return above->second;  // smaller messages take no less
    if (above == times_.end()) --above;
    const auto below = std::prev(above);
    const double slope = std::max(0.0, (above->second - below->second) / (above->first - below->first));
    return below->second + slope * (size - below->first);
  }
  /// Whether the size is among those of the study, or between them.
  [[nodiscard]] bool reaches(double size) const {
    return times_.begin()->first <= size && size <= times_.rbegin()->first;
  }

 private:
  std::map<double, double> times_;
};

/// What the study says of a collective on a number of NPUs.
struct Measured {
  std::string network;
  std::map<std::string, Curve, std::less<>> library;  ///< by the library's algorithm
  std::map<std::string, Curve, std::less<>> all;  ///< by the study's; what `best` and `auto` chose under its own name
  std::set<Bytes> sizes;
};
using LineKey = std::pair<CollectiveKind, std::int64_t>;

/// An algorithm and a protocol of the library.
struct ProtocolChoice {
  std::string algorithm;
  const LibraryProtocol* protocol = nullptr;
  const Curve* own = nullptr;    ///< the algorithm's
  double hops_us = 0;            ///< of the protocol, for all of the algorithm's hops
  double least_us_per_byte = 0;  ///< of the protocol

  /// The time of an algorithm whose hops are as much longer under the protocol as the library's own. Never less than
  /// the simulated latency.
  [[nodiscard]] double us(const Curve& curve, double size) const {
    const auto carried = size * static_cast<double>(protocol->line) / static_cast<double>(protocol->data);
    const double longer = std::max(1.0, hops_us / own->at(0));
    const double overhead =
        static_cast<double>(protocol->latency(algorithm).overhead.count()) / kPicosecondsPerMicrosecond;
    const double moving = std::max(curve.at(carried) - curve.at(0), least_us_per_byte * size);
    return overhead + longer * curve.at(0) + moving;
  }
  [[nodiscard]] double us(double size) const { return us(*own, size); }
  [[nodiscard]] std::string name() const { return fmt::format("{}/{}", algorithm, protocol->name); }
};

std::size_t setting_index(std::string_view name) {
  const auto& columns = setting_columns();
  const auto found = std::ranges::find(columns, name, &SettingColumn::name);
  ensure(found != columns.end(), "results have this setting");
  return static_cast<std::size_t>(found - columns.begin());
}

Result<std::map<LineKey, Measured>> measured_of(const ResultTable& result, TunerTable& table) {
  const auto topology = setting_index("topology");
  const auto collective = setting_index("collective");
  const auto algorithm = setting_index("algorithm");
  const auto size = setting_index("size");
  std::map<LineKey, Measured> measured;
  std::set<std::string> untuned;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const auto& row = result.rows[i];
    const auto& settings = result.settings[i];
    if (row.status != PointStatus::ok || row.collective_time_ps <= 0 || row.npus < 2) continue;
    const auto kind = parse_collective_kind(settings[collective]);
    const auto bytes_of_row = read_number<std::int64_t>(settings[size]);
    if (!kind || !bytes_of_row || *bytes_of_row <= 0) continue;
    if (!tuner_word(*kind)) {
      untuned.insert(settings[collective]);
      continue;
    }
    auto& into = measured[{*kind, row.npus}];
    if (into.network.empty()) into.network = settings[topology];
    if (into.network != settings[topology])
      return input_error({},
                         fmt::format("two networks of {} NPUs: {} and {}", row.npus, shortened(into.network),
                                     shortened(settings[topology])),
                         "a line is for a number of ranks, and one table is for one machine",
                         "run a study of one of them");
    const auto us = static_cast<double>(row.collective_time_ps) / kPicosecondsPerMicrosecond;
    const auto& ran = row.chosen_algorithm.empty() ? settings[algorithm] : row.chosen_algorithm;
    const auto program = std::ranges::find(kPrograms, ran, &decltype(kPrograms)::value_type::first);
    if (program != kPrograms.end()) into.library[std::string(program->second)].add(bytes(*bytes_of_row), us);
    into.all[ran].add(bytes(*bytes_of_row), us);
    into.sizes.insert(bytes(*bytes_of_row));
  }
  for (const auto& word : untuned) table.notes.push_back(fmt::format("{} is not tuned by such tables", word));
  return measured;
}

/// All that the library can do for a collective of the study.
std::vector<ProtocolChoice> choices_of(const LineKey& key, const Measured& measured, const TunerOptions& options) {
  const auto& [kind, npus] = key;
  const auto boxes = static_cast<std::size_t>(std::max<std::int64_t>(options.nodes, 1));
  std::vector<ProtocolChoice> choices;
  for (const auto& [algorithm, curve] : measured.library)
    for (const auto& protocol : library_protocols())
      if (has_combination(options.reader, *tuner_word(kind), algorithm, protocol.name)) {
        const auto hops = protocol.hops(algorithm, kind, static_cast<std::size_t>(npus), boxes);
        const auto ranks = static_cast<std::size_t>(npus);
        const double least = options.ll_limit ? least_ll_us(protocol, kind, ranks, 1, *options.ll_limit) : 0;
        choices.push_back(
            {algorithm, &protocol, &curve, static_cast<double>(hops.count()) / kPicosecondsPerMicrosecond, least});
      }
  return choices;
}

/// Which choice is fastest at a size; the first of equal ones.
std::size_t fastest(const std::vector<ProtocolChoice>& choices, double size) {
  const auto us = [&](const ProtocolChoice& choice) { return choice.us(size); };
  return static_cast<std::size_t>(std::ranges::min_element(choices, {}, us) - choices.begin());
}

/// The last size in [low, high) at which the choice of `low` is fastest. Expects: it is not at `high`.
std::uint64_t last_of(const std::vector<ProtocolChoice>& choices, std::uint64_t low, std::uint64_t high) {
  const auto chosen = fastest(choices, static_cast<double>(low));
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (fastest(choices, static_cast<double>(middle)) == chosen ? low : high) = middle;
  }
  return low;
}

void add_rules(const LineKey& key, const Measured& measured, const TunerOptions& options, TunerTable& table) {
  const auto choices = choices_of(key, measured, options);
  TunerRule rule{.collective = std::string(*tuner_word(key.first)),
                 .channels = options.channels,
                 .nodes = options.nodes,
                 .ranks = key.second};
  auto chosen = fastest(choices, 0);
  const auto close = [&](std::uint64_t last) {
    rule.last = last;
    rule.algorithm = choices[chosen].algorithm;
    rule.protocol = std::string(choices[chosen].protocol->name);
    table.rules.push_back(rule);
  };
  std::uint64_t before = 0;
  for (const auto each : measured.sizes) {
    const auto size = static_cast<std::uint64_t>(each.count());
    // Between two sizes of the study more than one change is possible.
    while (fastest(choices, static_cast<double>(size)) != chosen) {
      const auto last = last_of(choices, before, size);
      close(last);
      rule.first = last + 1;
      before = last + 1;
      chosen = fastest(choices, static_cast<double>(before));
    }
    before = size;
  }
  close(kLargestTunedSize);
}

void add_left(const LineKey& key, const Measured& measured, const TunerOptions& options, TunerTable& table) {
  const auto choices = choices_of(key, measured, options);
  for (const auto each : measured.sizes) {
    const auto size = static_cast<double>(each.count());
    const auto& choice = choices[fastest(choices, size)];
    LeftOnTable left{key.first, each, key.second, choice.name(), choice.us(size), choice.algorithm, choice.us(size)};
    for (const auto& [name, curve] : measured.all) {
      if (!curve.reaches(size)) continue;
      for (const auto& like : choices) {
        const double us = like.us(curve, size);
        if (us >= left.best_us) continue;
        left.best_us = us;
        left.best = name;
      }
    }
    table.left.push_back(std::move(left));
  }
}

void note_edges(const LineKey& key, const Measured& measured, TunerTable& table) {
  const auto where = fmt::format("{} on {} NPUs", to_string(key.first), key.second);
  table.notes.push_back(fmt::format("{}: sizes above {}, the largest of the study, have its line", where,
                                    to_string(*measured.sizes.rbegin())));
  if (measured.sizes.size() == 1) table.notes.push_back(where + ": one size tells no ranges: run a study of several");
}

}  // namespace

Result<TunerTable> make_tuner_table(const ResultTable& result, const TunerOptions& options) {
  if (options.reader == TunerReader::nccl && options.channels < 1)
    return input_error({"--channels", 0, 0}, "no number of channels",
                       "NCCL's plugin runs a line without one on a single channel",
                       "give the channels that NCCL_DEBUG=INFO prints: --channels 16");
  TunerTable table;
  auto measured = measured_of(result, table);
  if (!measured) return measured.errors();
  std::erase_if(*measured, [&](const auto& entry) {
    if (!choices_of(entry.first, entry.second, options).empty()) return false;
    table.notes.push_back(
        fmt::format("{} on {} NPUs: no ring or tree among the rows", to_string(entry.first.first), entry.first.second));
    return true;
  });
  if (measured->empty())
    return input_error({}, "no row of an algorithm that the library has",
                       "its rings are `ring`, `ring_unidirectional` and `rings` here, its trees `dbt`",
                       "add them to the study: algorithm = [\"rings\", \"dbt\", \"best\"]");
  std::vector<std::string> comments{"made by tenex of " + options.source,
                                    "times: simulated, and NCCL's overheads and shares of protocols"};
  std::set<std::string> networks;
  for (const auto& [key, each] : *measured) {
    networks.insert(each.network);
    add_rules(key, each, options, table);
    add_left(key, each, options, table);
    note_edges(key, each, table);
  }
  for (const auto& network : networks) comments.push_back("network: " + network);
  table.text = tuner_table_text(comments, table.rules);
  return table;
}

}  // namespace tenex
