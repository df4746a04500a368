// Lists of conditions and matrices of amounts: their texts and files.
#include "tenex/files/demand.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/units.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

constexpr std::size_t kLongestText = 256;  ///< a longer one is replaced by its digest
constexpr std::string_view kDigestMark = "xxh3-128:";
constexpr std::int64_t kMostAmount = std::int64_t{1} << 31;
constexpr std::string_view kConditionRule =
    "a condition is written \"source -> destinations size\", such as "
    "\"0 -> 1,2,3 4MiB\"";
constexpr std::string_view kLineRule = "a line is \"source,destinations,size\", such as \"0,1 2 3,4MiB\"";

std::string shortened_to_digest(std::string text) {
  return text.size() <= kLongestText ? text : std::string(kDigestMark) + to_string(digest128(text));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The parts of `text` between `separator`; at least one.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const auto end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  const auto number = read_number<Number>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

/// A place `part` columns into the text at `place`.
Place at(const Place& place, std::string_view text, std::string_view part) {
  Place there = place;
  if (there.line != 0 && there.column != 0) there.column += static_cast<std::uint32_t>(part.data() - text.data());
  return there;
}

/// "3" or "3-5", appended to `ranks`. Returns false if it is neither.
bool add_ranks(std::string_view item, std::vector<std::uint32_t>& ranks) {
  const auto dash = item.find('-');
  const auto first = whole_number<std::uint32_t>(trimmed(item.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos ? first : whole_number<std::uint32_t>(trimmed(item.substr(dash + 1)));
  constexpr std::uint32_t kLongestRange = 1U << 20;
  if (!first || !last || *last < *first || *last - *first > kLongestRange) return false;
  for (std::uint32_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  return true;
}

/// Reads "0 -> 1,2,3 4MiB". Its errors are at `place`.
Result<ListedCondition> parse_condition(std::string_view text, const Place& place) {
  const auto refuse = [&](std::string_view part) {
    return input_error(place, fmt::format("\"{}\" is not understood", part), std::string(kConditionRule));
  };
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos) return refuse(trimmed(text));
  ListedCondition condition;
  const auto source = whole_number<std::uint32_t>(trimmed(text.substr(0, arrow)));
  if (!source) return refuse(trimmed(text.substr(0, arrow)));
  condition.source = *source;
  auto rest = trimmed(text.substr(arrow + 2));
  // A size begins after the last blank, unless that blank stands beside a comma or a dash.
  if (const auto blank = rest.find_last_of(" \t"); blank != std::string_view::npos) {
    const auto before = trimmed(rest.substr(0, blank));
    if (!before.empty() && before.back() != ',' && before.back() != '-' && rest[blank + 1] != ',' &&
        rest[blank + 1] != '-') {
      auto size = parse_bytes(rest.substr(blank + 1), place);
      if (!size) return size.errors();
      condition.size = *size;
      rest = before;
    }
  }
  for (const auto item : split(rest, ','))
    if (!add_ranks(trimmed(item), condition.destinations)) return refuse(trimmed(item));
  return condition;
}

/// Reads "0,1 2 3,4MiB".
Result<ListedCondition> parse_line(std::string_view line, const Place& place) {
  const auto fields = split(line, ',');
  const auto refuse = [&](std::string_view part) {
    return input_error(place, fmt::format("\"{}\" is not understood", part), std::string(kLineRule));
  };
  if (fields.size() < 2 || fields.size() > 3) return refuse(trimmed(line));
  ListedCondition condition;
  const auto source = whole_number<std::uint32_t>(trimmed(fields[0]));
  if (!source) return refuse(trimmed(fields[0]));
  condition.source = *source;
  for (const auto item : split(trimmed(fields[1]), ' '))
    if (!trimmed(item).empty() && !add_ranks(trimmed(item), condition.destinations)) return refuse(trimmed(item));
  if (fields.size() == 3 && !trimmed(fields[2]).empty()) {
    auto size = parse_bytes(trimmed(fields[2]), place);
    if (!size) return size.errors();
    condition.size = *size;
  }
  return condition;
}

/// Calls read(line, place) for each line of a .csv file that is neither blank nor a comment.
template <class Read>
void for_each_line(std::string_view content, const std::string& path, Read&& read) {
  std::uint32_t number = 0;
  for (const auto raw : split(content, '\n')) {
    ++number;
    const auto line = trimmed(raw.substr(0, raw.find('#')));
    if (!line.empty()) read(line, Place{path, number, 1});
  }
}

Result<ConditionList> read_condition_tables(std::string_view content, const std::string& path) {
  const auto document = parse_toml(std::string(content), path);
  if (!document) return document.errors();
  TableReader reader(*document, "", {"condition"});
  std::vector<ListedCondition> conditions;
  for (const Node& node : reader.array("condition")) {
    TableReader table(node, "a [[condition]]", {"source", "destinations", "size"});
    const auto fail = [&](const Node* at, std::string problem) {
      table.fail(input_error(at == nullptr ? node.place() : at->place(), std::move(problem),
                             "source is a rank, and destinations an array of ranks"));
    };
    ListedCondition condition;
    const auto source = table.integer("source").value_or(-1);
    if (source < 0 || source > kMostAmount) fail(table.require("source"), "a condition without a source");
    condition.source = static_cast<std::uint32_t>(std::max<std::int64_t>(source, 0));
    for (const Node& destination : table.array("destinations")) {
      if (destination.is(NodeKind::integer) && destination.integer() >= 0 && destination.integer() <= kMostAmount)
        condition.destinations.push_back(static_cast<std::uint32_t>(destination.integer()));
      else
        fail(&destination, "a destination that is no rank");
    }
    if (condition.destinations.empty() && !table.failed()) fail(nullptr, "a condition without destinations");
    condition.size = table.size("size");
    if (table.failed()) reader.fail(table.take_errors());
    conditions.push_back(std::move(condition));
  }
  if (conditions.empty() && !reader.failed())
    reader.fail(input_error({path, 0, 0}, "a file without conditions", "it has tables [[condition]]"));
  if (reader.failed()) return reader.take_errors();
  return ConditionList(std::move(conditions));
}

/// Appends the amounts of a row. Returns their number.
std::size_t add_row(std::string_view row, const Place& place, std::vector<std::int64_t>& amounts, Diagnostics& errors) {
  std::size_t count = 0;
  for (const auto item : split(row, ',')) {
    const auto amount = whole_number<std::int64_t>(trimmed(item));
    if (!amount || *amount > kMostAmount)
      errors.push_back(input_error(at(place, row, item), fmt::format("\"{}\" where an amount belongs", trimmed(item)),
                                   "amounts are whole numbers from 0 to 2^31, separated by \",\""));
    amounts.push_back(amount.value_or(0));
    ++count;
  }
  return count;
}

/// A matrix of rows with their places.
Result<TrafficMatrix> matrix_of(const std::vector<std::pair<std::string_view, Place>>& rows, const Place& place) {
  Diagnostics errors;
  std::vector<std::int64_t> amounts;
  for (const auto& [row, where] : rows) {
    const auto count = add_row(row, where, amounts, errors);
    if (count != rows.size())
      errors.push_back(input_error(where, fmt::format("a row of {} amounts in a matrix of {} rows", count, rows.size()),
                                   "there is an amount from every rank to every rank"));
  }
  if (rows.size() < 2) errors.push_back(input_error(place, "a matrix of fewer than two rows", "a group has two NPUs"));
  if (!errors.empty()) return errors;
  TrafficMatrix matrix(rows.size(), std::move(amounts));
  if (matrix.pairs() == 0) return input_error(place, "a matrix without an amount", "nothing is to be sent");
  return matrix;
}

}  // namespace

bool is_digest(std::string_view text) { return text.starts_with(kDigestMark); }

ConditionList::ConditionList(std::vector<ListedCondition> conditions) {
  // The order of sources and that of destinations mean nothing: equal demands have equal texts.
  std::ranges::stable_sort(conditions, {}, &ListedCondition::source);
  for (auto& condition : conditions) std::ranges::sort(condition.destinations);
  std::string text;
  for (const auto& [source, destinations, size] : conditions) {
    text += fmt::format("{}{}>{}", text.empty() ? "" : ";", source, fmt::join(destinations, ","));
    if (size) text += fmt::format(" {}", size->count());
  }
  shared_ = std::make_shared<const Content>(Content{std::move(conditions), shortened_to_digest(std::move(text))});
}

const std::vector<ListedCondition>& ConditionList::conditions() const {
  static const std::vector<ListedCondition> none;
  return shared_ ? shared_->conditions : none;
}

TrafficMatrix::TrafficMatrix(std::size_t ranks, std::vector<std::int64_t> amounts) {
  ensure(amounts.size() == ranks * ranks, "a matrix has an amount for every pair");
  Content content{ranks, std::move(amounts), 0, 0, {}};
  std::string text;
  for (std::size_t from = 0; from < ranks; ++from) {
    std::int64_t sum = 0;
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto amount = content.amounts[from * ranks + to];
      sum += amount;
      if (from != to && amount > 0) ++content.pairs;
      text += fmt::format("{}{}", to > 0 ? "," : from > 0 ? ";" : "", amount);
    }
    content.most_sent = std::max(content.most_sent, sum);
  }
  content.text = shortened_to_digest(std::move(text));
  shared_ = std::make_shared<const Content>(std::move(content));
}

Result<ConditionList> parse_conditions(std::string_view text, const Place& place) {
  Diagnostics errors;
  std::vector<ListedCondition> conditions;
  for (const auto item : split(text, ';')) {
    auto condition = parse_condition(trimmed(item), at(place, text, trimmed(item)));
    if (!condition) append(errors, condition.errors());
    if (condition) conditions.push_back(*std::move(condition));
  }
  if (!errors.empty()) return errors;
  return ConditionList(std::move(conditions));
}

Result<ConditionList> read_conditions(std::string_view content, const std::string& path) {
  if (path.ends_with(".toml")) return read_condition_tables(content, path);
  Diagnostics errors;
  std::vector<ListedCondition> conditions;
  for_each_line(content, path, [&](std::string_view line, const Place& place) {
    if (conditions.empty() && errors.empty() && line.starts_with("source")) return;  // names of columns
    auto condition = parse_line(line, place);
    if (!condition) append(errors, condition.errors());
    if (condition) conditions.push_back(*std::move(condition));
  });
  if (conditions.empty() && errors.empty())
    errors.push_back(input_error({path, 0, 0}, "a file without conditions", std::string(kLineRule)));
  if (!errors.empty()) return errors;
  return ConditionList(std::move(conditions));
}

Result<TrafficMatrix> parse_traffic(std::string_view text, const Place& place) {
  std::vector<std::pair<std::string_view, Place>> rows;
  for (const auto row : split(text, ';')) rows.emplace_back(row, at(place, text, row));
  return matrix_of(rows, place);
}

Result<TrafficMatrix> read_traffic(std::string_view content, const std::string& path) {
  std::vector<std::pair<std::string_view, Place>> rows;
  for_each_line(content, path, [&](std::string_view line, const Place& place) { rows.emplace_back(line, place); });
  return matrix_of(rows, {path, 0, 0});
}

}  // namespace tenex
