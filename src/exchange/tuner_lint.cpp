// A tuner table as its reader sees it: lines as fgets() with 256 bytes cuts them, fields as strtok() does, numbers as
// strtoull() and atoi() do. Where that is not what stands there, a finding says so.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "exchange/text_lines.hpp"
#include "tenex/base/words.hpp"
#include "tenex/exchange/tuner_table.hpp"

namespace tenex {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 20;
constexpr std::size_t kMostRules = 4'096;
constexpr std::size_t kMostFindings = 200;
constexpr std::size_t kBuffer = 255;  // bytes of a line that one fgets() takes
constexpr std::size_t kLeastFields = 8;
constexpr std::size_t kMostFields = 10;

constexpr std::array<std::string_view, 5> kCollectives{"broadcast", "reduce", "allgather", "reducescatter",
                                                       "allreduce"};
constexpr std::array<std::string_view, 7> kAlgorithmWords{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::array<std::string_view, 3> kProtocolWords{"ll", "ll128", "simple"};

/// A field with the column at which it begins.
struct TableField {
  std::string_view text;
  std::uint32_t column = 0;
};

/// A number as C reads it: blanks, a sign, digits; the rest is ignored.
struct CNumber {
  std::uint64_t size = 0;
  bool negative = false;
  bool whole = false;     ///< the field is a number and nothing else
  bool overflow = false;  ///< it does not fit in 64 bits
};

CNumber read_as_c(std::string_view text) {
  CNumber number;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
  const auto digits = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    if (__builtin_mul_overflow(number.size, std::uint64_t{10}, &number.size) ||
        __builtin_add_overflow(number.size, static_cast<std::uint64_t>(text[at] - '0'), &number.size))
      number.overflow = true;
  number.whole = at == text.size() && at > digits;
  if (number.overflow) number.size = kLargestTunedSize;
  return number;
}

/// Reads one table for one reader.
class TableLint {
 public:
  TableLint(const SourceText& source, TunerReader reader) : source_(source), reader_(reader) {}

  Result<TunerLint> run() {
    std::string_view rest = source_.text;
    while (!rest.empty()) {
      ++line_;
      const auto end = std::min(rest.find('\n'), rest.size());
      read_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (lint_.rules.size() > kMostRules)
        return input_error({source_.file, line_, 1}, "too many lines",
                           fmt::format("at most {} are checked", kMostRules));
    }
    find_hidden_rules();
    find_holes();
    return std::move(lint_);
  }

 private:
  [[nodiscard]] bool nccl() const { return reader_ == TunerReader::nccl; }
  [[nodiscard]] Place place(std::uint32_t column) const { return {source_.file, line_, column}; }

  void find(bool wrong, Place where, std::string problem, std::string why, std::string suggestion = {}) {
    if (lint_.findings.size() >= kMostFindings) return;
    lint_.findings.push_back(
        {wrong, input_error(std::move(where), std::move(problem), std::move(why), std::move(suggestion))});
  }

  /// A line of the file, which a long one is not for the reader.
  void read_line(std::string_view line) {
    const auto most = nccl() ? kBuffer - 1 : kBuffer;
    if (line.size() > most)
      find(true, place(static_cast<std::uint32_t>(most + 1)), fmt::format("a line of {} bytes", line.size()),
           fmt::format("the reader takes {} and reads the rest as a line of its own", most), "shorten it");
    std::uint32_t column = 1;
    do {
      const auto part = line.substr(0, kBuffer);
      read_part(part, column);
      line.remove_prefix(part.size());
      column += static_cast<std::uint32_t>(part.size());
    } while (!line.empty());
  }

  void read_part(std::string_view part, std::uint32_t column) {
    if (part.ends_with('\r')) part.remove_suffix(1);
    const auto begin = part.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return;
    if (part.front() == '#' || (part[begin] == '#' && !nccl())) return;
    if (part[begin] == '#')
      find(false, place(column), "a comment that does not begin its line",
           "the reader takes it for a line of the table");
    const auto fields = fields_of(part, column);
    if (!fields) return;
    if (fields->size() < kLeastFields) {
      find(true, place(column), fmt::format("{} of {} fields", fields->size(), kLeastFields), "the line is not read",
           "write collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks");
      return;
    }
    if (fields->size() > kMostFields)
      find(false, place((*fields)[kMostFields].column), "more than 10 fields", "what follows is ignored");
    read_rule(*fields);
  }

  /// Fields as strtok() makes them; nothing where the reader drops the line.
  std::optional<std::vector<TableField>> fields_of(std::string_view part, std::uint32_t column) {
    std::vector<TableField> fields;
    for (std::size_t at = 0; at <= part.size();) {
      const auto end = std::min(part.find(',', at), part.size());
      const auto field = part.substr(at, end - at);
      const auto here = column + static_cast<std::uint32_t>(at);
      at = end + 1;
      if (field.empty()) {
        find(true, place(here), "an empty field", "it vanishes, and those behind it move forward", "write -1");
        continue;
      }
      const auto first = field.find_first_not_of(" \t");
      if (first == std::string_view::npos) {
        find(true, place(here), "an empty field",
             nccl() ? "it is an unknown word, or the number 0" : "the line is not read", "write -1");
        if (!nccl()) return std::nullopt;
        fields.push_back({{}, here});
        continue;
      }
      const auto last = field.find_last_not_of(" \t");
      fields.push_back({field.substr(first, last - first + 1), here + static_cast<std::uint32_t>(first)});
    }
    return fields;
  }

  /// The word of a field; what the reader takes an unknown one for. Sets `kept` false where it drops the line.
  std::string word(const TableField& field, std::span<const std::string_view> known, std::string_view fallback,
                   std::string_view noun, bool& kept) {
    if (std::ranges::find(known, field.text) != known.end()) return std::string(field.text);
    const auto near = did_you_mean(field.text, known);
    find(true, place(field.column), fmt::format("\"{}\" is no {}", shortened(field.text), noun),
         nccl() ? fmt::format("the reader takes it for {}", fallback) : "the line is not read",
         near.empty() ? fmt::format("write one of {}", join(known)) : near);
    kept = kept && nccl();
    return std::string(fallback);
  }

  std::uint64_t bytes_in(const TableField& field) {
    const auto number = read_as_c(field.text);
    if (!number.whole || number.overflow || number.negative)
      find(true, place(field.column), fmt::format("\"{}\" is no number of bytes", shortened(field.text)),
           fmt::format("the reader takes it for {}", number.negative ? 0 - number.size : number.size),
           "write digits alone");
    return number.negative ? 0 - number.size : number.size;
  }

  std::int64_t count_in(const std::vector<TableField>& fields, std::size_t index) {
    if (index >= fields.size()) return -1;
    const auto& field = fields[index];
    const auto number = read_as_c(field.text);
    constexpr std::uint64_t kLargestInt = std::numeric_limits<std::int32_t>::max();
    const auto size = static_cast<std::int64_t>(std::min(number.size, kLargestInt));
    const auto value = number.negative ? -size : size;
    if (!number.whole || number.size > kLargestInt)
      find(true, place(field.column), fmt::format("\"{}\" is no number", shortened(field.text)),
           fmt::format("the reader takes it for {}", value), "write digits alone, or -1");
    return value;
  }

  void read_rule(const std::vector<TableField>& fields) {
    bool kept = true;
    TunerRule rule{.place = place(fields[0].column)};
    rule.collective = word(fields[0], kCollectives, "allreduce", "collective", kept);
    rule.first = bytes_in(fields[1]);
    rule.last = bytes_in(fields[2]);
    rule.algorithm = word(fields[3], kAlgorithmWords, "ring", "algorithm", kept);
    rule.protocol = word(fields[4], kProtocolWords, "simple", "protocol", kept);
    rule.channels = count_in(fields, 5);
    rule.nodes = count_in(fields, 6);
    rule.ranks = count_in(fields, 7);
    rule.pipe_operations = count_in(fields, 8);
    rule.registered = count_in(fields, 9);
    if (!kept) return;
    if (rule.first > rule.last)
      find(true, place(fields[1].column), fmt::format("{} to {}", rule.first, rule.last), "no size is in this range",
           "exchange them");
    check_channels(rule, fields[5]);
    if (!has_combination(reader_, rule.collective, rule.algorithm, rule.protocol)) {
      find(true, place(fields[3].column),
           fmt::format("{} by {} with {}", rule.collective, rule.algorithm, rule.protocol),
           nccl() ? "NCCL marks it impossible: the next line that matches is tried" : "RCCL has no such kernel",
           "choose another algorithm or protocol");
      return;
    }
    lint_.rules.push_back(std::move(rule));
  }

  void check_channels(const TunerRule& rule, const TableField& field) {
    if (rule.channels >= 1) return;
    if (nccl())
      find(true, place(field.column), fmt::format("channels {}", rule.channels),
           rule.channels == -1 ? "the plugin leaves 1, whatever its README says: the collective runs on one channel"
                               : "a collective needs a channel",
           "write the number of channels that NCCL_DEBUG=INFO prints");
    else if (rule.channels != -1)
      find(rule.channels < 0, place(field.column), fmt::format("channels {}", rule.channels),
           rule.channels == 0 ? "RCCL chooses" : "it is no number of channels", "write 1 or more, or -1 for RCCL's");
  }

  /// Whether everything that `inner` matches beside sizes, `outer` matches too.
  static bool covers(const TunerRule& outer, const TunerRule& inner) {
    const auto wider = [](std::int64_t a, std::int64_t b) { return a == -1 || a == b; };
    return outer.collective == inner.collective && wider(outer.nodes, inner.nodes) && wider(outer.ranks, inner.ranks) &&
           wider(outer.pipe_operations, inner.pipe_operations) && wider(outer.registered, inner.registered);
  }

  /// The first size from `first` on that none of the rules [0, count) covers which match all that `rule` does; nothing
  /// where they cover all sizes up to `last`.
  [[nodiscard]] std::optional<std::uint64_t> first_uncovered(std::size_t count, const TunerRule& rule,
                                                             std::uint64_t first, std::uint64_t last) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (std::size_t i = 0; i < count; ++i)
      if (const auto& each = lint_.rules[i]; each.first <= each.last && covers(each, rule))
        ranges.emplace_back(each.first, each.last);
    std::ranges::sort(ranges);
    for (const auto& [from, to] : ranges) {
      if (from > first) return first;
      if (to >= last) return std::nullopt;
      first = std::max(first, to + 1);
    }
    return first;
  }

  /// Rules that never apply, because earlier ones match all that they do.
  void find_hidden_rules() {
    for (std::size_t i = 1; i < lint_.rules.size(); ++i) {
      const auto& rule = lint_.rules[i];
      if (rule.first <= rule.last && !first_uncovered(i, rule, rule.first, rule.last))
        find(true, rule.place, "a line that never applies",
             "earlier lines match all that it does, and the first one wins", "move it forward, or remove it");
    }
  }

  /// Sizes that no rule covers, for each collective and each number of nodes and ranks that rules name.
  void find_holes() {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t>, TunerRule> cases;
    for (const auto& rule : lint_.rules)
      cases.try_emplace(
          {rule.collective, rule.nodes, rule.ranks},
          TunerRule{.place = rule.place, .collective = rule.collective, .nodes = rule.nodes, .ranks = rule.ranks});
    for (const auto& [key, any] : cases) {
      const auto hole = first_uncovered(lint_.rules.size(), any, 0, kLargestTunedSize);
      if (!hole) continue;
      const auto whom =
          any.nodes == -1 && any.ranks == -1
              ? std::string()
              : fmt::format(" on {} nodes and {} ranks", any.nodes == -1 ? "any" : fmt::format("{}", any.nodes),
                            any.ranks == -1 ? "any" : fmt::format("{}", any.ranks));
      find(nccl(), any.place, fmt::format("{}{}: no line for {} bytes", any.collective, whom, *hole),
           nccl() ? "what no line matches runs on one channel" : "RCCL chooses there", "cover every size from 0 on");
    }
  }

  const SourceText& source_;
  TunerReader reader_;
  TunerLint lint_;
  std::uint32_t line_ = 0;
};

}  // namespace

Result<TunerLint> lint_tuner_table(const SourceText& source, TunerReader reader) {
  if (auto status = exchange::check_text(source.file, source.text, kLargestTable); !status) return status.errors();
  if (const auto begin = source.text.find_first_not_of(" \t\r\n");
      begin != std::string::npos && source.text[begin] == '{')
    return unsupported_error({source.file, 1, 1}, "this is JSON", "NCCLX has such rules; NCCL and RCCL read CSV",
                             "name a table of lines");
  return TableLint(source, reader).run();
}

}  // namespace tenex
