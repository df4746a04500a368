#include "tenex/pages/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

constexpr double kMicro = 1e6;  // picoseconds

/// The programs that stand for a library's algorithm.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPrograms{{
    {"ring", "ring"},
    {"ring_unidirectional", "ring"},
    {"rings", "ring"},
    {"dbt", "tree"},
}};

/// A time with the algorithm that takes it.
struct Timed {
  double us = 0;
  std::string algorithm;
};

/// The fastest times of an algorithm, or of all, by size; between sizes and beyond them the time is on a line.
class Curve {
 public:
  void add(Bytes size, double us, const std::string& algorithm) {
    auto& at = times_.try_emplace(static_cast<double>(size.count()), Timed{us, algorithm}).first->second;
    if (us < at.us) at = {us, algorithm};
  }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] const std::map<double, Timed>& times() const { return times_; }
  [[nodiscard]] double at(double size) const {
    if (times_.size() == 1) return times_.begin()->second.us * std::max(1.0, size / times_.begin()->first);
    auto above = times_.lower_bound(size);
    if (above == times_.begin()) return above->second.us;  // smaller messages take no less
    if (above == times_.end()) --above;
    const auto below = std::prev(above);
    const double slope = std::max(0.0, (above->second.us - below->second.us) / (above->first - below->first));
    return below->second.us + slope * (size - below->first);
  }
  /// Whether the size is between those of the study.
  [[nodiscard]] bool reaches(double size) const { return size <= times_.rbegin()->first; }

 private:
  std::map<double, Timed> times_;
};

/// What the study says of a collective on a number of NPUs.
struct Measured {
  std::string network;
  std::map<std::string, Curve, std::less<>> library;  ///< by the library's algorithm
  Curve best;
};
using Key = std::pair<CollectiveKind, std::int64_t>;

/// An algorithm and a protocol of the library.
struct ProtocolChoice {
  std::string algorithm;
  const LibraryProtocol* protocol = nullptr;

  [[nodiscard]] double us(const Curve& curve, double size) const {
    const auto carried = size * static_cast<double>(protocol->line) / static_cast<double>(protocol->data);
    return static_cast<double>(protocol->overhead(algorithm).count()) / kMicro + curve.at(carried);
  }
  [[nodiscard]] std::string name() const { return fmt::format("{}/{}", algorithm, protocol->name); }
};

std::size_t setting_index(std::string_view name) {
  const auto& columns = setting_columns();
  const auto found = std::ranges::find(columns, name, &SettingColumn::name);
  ensure(found != columns.end(), "results have this setting");
  return static_cast<std::size_t>(found - columns.begin());
}

Result<std::map<Key, Measured>> measured_of(const ResultTable& result, TunerTable& table) {
  const auto topology = setting_index("topology");
  const auto collective = setting_index("collective");
  const auto algorithm = setting_index("algorithm");
  const auto size = setting_index("size");
  std::map<Key, Measured> measured;
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
    const auto us = static_cast<double>(row.collective_time_ps) / kMicro;
    const auto program = std::ranges::find(kPrograms, settings[algorithm], &decltype(kPrograms)::value_type::first);
    if (program != kPrograms.end())
      into.library[std::string(program->second)].add(bytes(*bytes_of_row), us, settings[algorithm]);
    into.best.add(bytes(*bytes_of_row), us, settings[algorithm]);
  }
  for (const auto& word : untuned) table.notes.push_back(fmt::format("{} is not tuned by such tables", word));
  return measured;
}

/// All that the library can do for a collective of the study.
std::vector<ProtocolChoice> choices_of(CollectiveKind kind, const Measured& measured, TunerReader reader) {
  std::vector<ProtocolChoice> choices;
  for (const auto& [algorithm, curve] : measured.library)
    for (const auto& protocol : library_protocols())
      if (has_combination(reader, *tuner_word(kind), algorithm, protocol.name))
        choices.push_back({algorithm, &protocol});
  return choices;
}

/// Which choice is fastest at a size; the first of equal ones.
std::size_t fastest(const std::vector<ProtocolChoice>& choices, const Measured& measured, double size) {
  const auto us = [&](const ProtocolChoice& choice) {
    return choice.us(measured.library.find(choice.algorithm)->second, size);
  };
  return static_cast<std::size_t>(std::ranges::min_element(choices, {}, us) - choices.begin());
}

/// The last size in [low, high) at which the choice of `low` is fastest. Expects: it is not at `high`.
std::uint64_t last_of(const std::vector<ProtocolChoice>& choices, const Measured& measured, std::uint64_t low,
                      std::uint64_t high) {
  const auto chosen = fastest(choices, measured, static_cast<double>(low));
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (fastest(choices, measured, static_cast<double>(middle)) == chosen ? low : high) = middle;
  }
  return low;
}

void add_rules(const Key& key, const Measured& measured, const TunerOptions& options, TunerTable& table) {
  const auto choices = choices_of(key.first, measured, options.reader);
  std::set<std::uint64_t> sizes{0};
  for (const auto& [size, time] : measured.best.times()) sizes.insert(static_cast<std::uint64_t>(size));
  TunerRule rule{.collective = std::string(*tuner_word(key.first)),
                 .channels = options.channels,
                 .nodes = options.nodes,
                 .ranks = key.second};
  auto chosen = fastest(choices, measured, 0);
  const auto close = [&](std::uint64_t last) {
    rule.last = last;
    rule.algorithm = choices[chosen].algorithm;
    rule.protocol = std::string(choices[chosen].protocol->name);
    table.rules.push_back(rule);
  };
  std::uint64_t before = 0;
  for (const auto size : sizes) {
    // Between two sizes of the study more than one change is possible.
    while (fastest(choices, measured, static_cast<double>(size)) != chosen) {
      const auto last = last_of(choices, measured, before, size);
      close(last);
      rule.first = last + 1;
      before = last + 1;
      chosen = fastest(choices, measured, static_cast<double>(before));
    }
    before = size;
  }
  close(kLargestTunedSize);
}

void add_left(const Key& key, const Measured& measured, const TunerOptions& options, TunerTable& table) {
  const auto choices = choices_of(key.first, measured, options.reader);
  for (const auto& [size, time] : measured.best.times()) {
    const auto& choice = choices[fastest(choices, measured, size)];
    LeftOnTable left{key.first,
                     bytes(static_cast<std::int64_t>(size)),
                     key.second,
                     choice.name(),
                     choice.us(measured.library.find(choice.algorithm)->second, size),
                     time.algorithm};
    left.best_us = std::numeric_limits<double>::infinity();
    for (const auto& each : choices) left.best_us = std::min(left.best_us, each.us(measured.best, size));
    table.left.push_back(std::move(left));
  }
}

/// Whether the time of a protocol was read beyond the largest size of the study.
void note_edges(const Key& key, const Measured& measured, TunerTable& table) {
  const auto& [largest, time] = *measured.best.times().rbegin();
  table.notes.push_back(fmt::format("{} on {} NPUs: sizes above {}, the largest of the study, have its line",
                                    to_string(key.first), key.second,
                                    to_string(bytes(static_cast<std::int64_t>(largest)))));
  if (measured.best.times().size() == 1)
    table.notes.push_back(fmt::format("{} on {} NPUs: one size tells no ranges: run a study of several",
                                      to_string(key.first), key.second));
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
    if (!choices_of(entry.first.first, entry.second, options.reader).empty()) return false;
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
