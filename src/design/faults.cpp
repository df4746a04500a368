// Reads and writes the value of the key `faults`.
#include "tenex/design/faults.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tenex/base/contract.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/spec/document.hpp"

namespace tenex {

namespace {

using FaultKind = NetworkFault::Kind;

constexpr std::uint32_t kMostDraws = 1'000'000;
constexpr std::string_view kExamples =
    "it is for instance link 3->4, link 0-1, npu 17, nic 3, leaf 0, switch 64, links 1% draw 2 or npus 2";

/// What is drawn, as written; nullopt where the word names no drawn fault.
std::optional<FaultKind> drawn_kind(std::string_view what) {
  if (what == "links") return FaultKind::drawn_links;
  if (what == "switch_links") return FaultKind::drawn_switch_links;
  if (what == "npus") return FaultKind::drawn_npus;
  return std::nullopt;
}

/// The element of a word; nullopt for other words.
std::optional<NetworkElement> element_of(std::string_view what) {
  for (const NetworkElement element : kNetworkElements)
    if (what == to_string(element)) return element;
  return std::nullopt;
}

auto order_of(const NetworkFault& fault) {
  return std::tuple(fault.kind, fault.first, fault.second, !fault.is_share, fault.amount, fault.draw);
}

/// A word of the text and where it begins.
struct FaultWord {
  std::string_view text;
  std::size_t at = 0;
};

/// A fault as written, and the last draw of its range.
struct WrittenFault {
  NetworkFault fault;
  std::uint32_t last_draw = 0;
  Place place;
  Place range_place;

  [[nodiscard]] bool ranges() const { return last_draw > fault.draw; }
};

class FaultReader {
 public:
  FaultReader(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Result<std::vector<ParsedFaults>> read() {
    read_items();
    const auto range = std::find_if(items_.begin(), items_.end(), [](const auto& item) { return item.ranges(); });
    for (auto again = range; again != items_.end(); ++again)
      if (again != range && again->ranges())
        errors_.push_back(input_error(again->range_place, "a second range of draws", "a value has one at most",
                                      "write the values one by one"));
    if (!errors_.empty()) return errors_;
    const std::uint32_t more = range == items_.end() ? 0 : range->last_draw - range->fault.draw;
    std::vector<ParsedFaults> values;
    for (std::uint32_t step = 0; step <= more; ++step) {
      values.push_back(sorted());
      if (range != items_.end()) ++range->fault.draw;
    }
    return values;
  }

  /// The place of the range of draws; nullopt without one. Call after read().
  [[nodiscard]] const std::optional<Place>& range_place() const { return range_place_; }

 private:
  [[nodiscard]] Place at(std::size_t offset) const { return place_within(place_, text_, offset); }
  [[nodiscard]] static bool is_blank(char letter) { return letter == ' ' || letter == '\t'; }

  void fail(std::size_t offset, std::string problem, std::string_view why, std::string suggestion = {}) {
    errors_.push_back(input_error(at(offset), std::move(problem), std::string(why), std::move(suggestion)));
  }

  void read_items() {
    if (const auto words = words_of(0, text_.size()); words.size() == 1 && words.front().text == "none") return;
    for (std::size_t start = 0; start <= text_.size();) {
      const std::size_t end = std::min(text_.find_first_of(";,", start), text_.size());
      const auto words = words_of(start, end);
      const bool closes = words.empty() && end == text_.size() && start > 0;
      if (!closes) read_item(words, start, end);
      start = end + 1;
    }
  }

  [[nodiscard]] std::vector<FaultWord> words_of(std::size_t start, std::size_t end) const {
    std::vector<FaultWord> words;
    for (std::size_t i = start; i < end;) {
      if (is_blank(text_[i])) {
        ++i;
        continue;
      }
      const std::size_t first = i;
      while (i < end && !is_blank(text_[i])) ++i;
      words.push_back({text_.substr(first, i - first), first});
    }
    return words;
  }

  void read_item(const std::vector<FaultWord>& words, std::size_t start, std::size_t end) {
    if (words.empty()) return fail(start, "a fault is missing", kExamples);
    const std::size_t last = words.back().at + words.back().text.size();
    const std::string_view item = text_.substr(words.front().at, std::min(end, last) - words.front().at);
    WrittenFault written;
    written.place = at(words.front().at);
    const std::string_view what = words.front().text;
    if (what == "each" && words.size() == 2)
      if (const auto element = element_of(words[1].text)) return read_each(*element, words.front().at);
    const std::size_t before = errors_.size();
    const auto drawn = drawn_kind(what);
    const auto element = element_of(what);
    const bool known =
        words.size() >= 2 && (drawn              ? read_amount(*drawn, words[1], written.fault)
                              : what == "link"   ? read_link(words[1], written.fault)
                              : element          ? read_vertex(fault_of(*element), words[1], written.fault)
                              : what == "switch" ? read_vertex(FaultKind::whole_switch, words[1], written.fault)
                                                 : false);
    if (errors_.size() != before) return;
    if (!known) {
      fail(words.front().at, fmt::format("\"{}\" names no fault", item), kExamples, "separate several with \";\"");
    } else if (drawn) {
      read_draw(words, written);
    } else if (words.size() > 2) {
      fail(words[2].at, fmt::format("\"{}\" is one word too many", words[2].text),
           words[2].text == "draw" ? "only links, switch_links and npus are drawn"
                                   : "separate several faults with \";\"");
    }
    if (errors_.size() == before) items_.push_back(std::move(written));
  }

  /// "0-1" or "4->5".
  bool read_link(const FaultWord& word, NetworkFault& fault) {
    const bool one_way = word.text.find("->") != std::string_view::npos;
    const auto dash = std::min(word.text.find('-'), word.text.size());
    const auto first = read_number<std::uint32_t>(word.text.substr(0, dash));
    const auto behind = std::min(word.text.size(), dash + (one_way ? 2 : 1));
    const auto second = read_number<std::uint32_t>(word.text.substr(behind));
    if (!first || !second) return false;
    if (*first == *second)
      fail(word.at, fmt::format("link {} joins a vertex with itself", word.text), "a link has two ends");
    fault.kind = one_way ? FaultKind::one_way : FaultKind::link;
    fault.first = one_way ? *first : std::min(*first, *second);
    fault.second = one_way ? *second : std::max(*first, *second);
    return true;
  }

  void read_each(NetworkElement element, std::size_t offset) {
    if (each_) return fail(offset, "a second \"each\"", "a value has one at most", "write the values one by one");
    each_ = element;
    each_place_ = at(offset);
  }

  static bool read_vertex(FaultKind kind, const FaultWord& word, NetworkFault& fault) {
    const auto vertex = read_number<std::uint32_t>(word.text);
    fault.kind = kind;
    fault.first = vertex.value_or(0);
    return vertex.has_value();
  }

  bool read_amount(FaultKind kind, const FaultWord& word, NetworkFault& fault) {
    fault.kind = kind;
    fault.is_share = word.text.ends_with('%');
    if (!fault.is_share) {
      const auto count = read_number<std::uint32_t>(word.text);
      fault.amount = count.value_or(0);
      return count.has_value();
    }
    const auto percent = read_decimal(word.text.substr(0, word.text.size() - 1));
    if (!percent) return false;
    constexpr std::int64_t kThousandths = 1000;
    const auto share = percent->times(kThousandths);
    if (kThousandths % percent->denominator != 0) {
      fail(word.at, fmt::format("the share {} has more than three decimals", word.text),
           "shares are exact, in thousandths", "round it");
    } else if (!share || *share > kWholeShare) {
      fail(word.at, fmt::format("the share {} is out of range", word.text), "it is from 0% to 100%");
    }
    fault.amount = share.value_or(0);
    return true;
  }

  void read_draw(const std::vector<FaultWord>& words, WrittenFault& written) {
    written.fault.draw = written.last_draw = 1;
    if (words.size() == 2) return;
    if (words[2].text != "draw" || words.size() != 4) {
      const FaultWord& odd = words[2].text != "draw" || words.size() < 4 ? words[2] : words[4];
      return fail(odd.at, fmt::format("\"{}\" is not understood", odd.text), "after the amount a draw may follow",
                  "write for instance draw 2 or draw 1..20");
    }
    const FaultWord& word = words[3];
    const auto dots = word.text.find("..");
    const auto first = read_number<std::uint32_t>(word.text.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : read_number<std::uint32_t>(word.text.substr(dots + 2));
    if (!first || !last || *first == 0 || *last == 0)
      return fail(word.at, fmt::format("\"{}\" is no draw", word.text), "draws are numbered from 1",
                  "write for instance draw 2 or draw 1..20");
    if (*first > *last)
      return fail(word.at, fmt::format("the draws {} run backwards", word.text), "a range is written first..last",
                  fmt::format("write {}..{}", *last, *first));
    if (*last - *first >= kMostDraws)
      return fail(word.at, fmt::format("the draws {} are too many", word.text),
                  fmt::format("an axis has at most {} values", kMostDraws));
    written.fault.draw = *first;
    written.last_draw = *last;
    written.range_place = at(word.at);
    if (*last > *first && !range_place_) range_place_ = written.range_place;
  }

  /// The items in canonical order, each once, without those that take nothing.
  [[nodiscard]] ParsedFaults sorted() const {
    std::vector<const WrittenFault*> order;
    for (const WrittenFault& item : items_)
      if (!item.fault.is_drawn() || item.fault.amount > 0) order.push_back(&item);
    std::stable_sort(order.begin(), order.end(), [](const WrittenFault* a, const WrittenFault* b) {
      return order_of(a->fault) < order_of(b->fault);
    });
    ParsedFaults parsed;
    parsed.each = each_;
    parsed.each_place = each_place_;
    for (const WrittenFault* item : order) {
      if (!parsed.faults.empty() && parsed.faults.back() == item->fault) continue;
      parsed.faults.push_back(item->fault);
      parsed.places.push_back(item->place);
    }
    return parsed;
  }

  std::string_view text_;
  const Place& place_;
  std::vector<WrittenFault> items_;
  std::optional<Place> range_place_;
  std::optional<NetworkElement> each_;
  Place each_place_;
  Diagnostics errors_;
};

/// "0.5%" or "3".
std::string amount_text(const NetworkFault& fault) {
  if (!fault.is_share) return fmt::format("{}", fault.amount);
  std::string text = fmt::format("{}", fault.amount / 1000);
  if (const auto rest = fault.amount % 1000; rest != 0) {
    auto places = fmt::format("{:03}", rest);
    while (places.back() == '0') places.pop_back();
    text += "." + places;
  }
  return text + "%";
}

}  // namespace

Result<std::vector<ParsedFaults>> parse_fault_values(std::string_view text, const Place& place) {
  return FaultReader(text, place).read();
}

Result<ParsedFaults> parse_faults(std::string_view text, const Place& place) {
  FaultReader reader(text, place);
  auto values = reader.read();
  if (!values) return values.errors();
  if (reader.range_place())
    return input_error(*reader.range_place(), "a range of draws is several values", "one value belongs here",
                       "write axes.faults = [...] for an axis, or one draw");
  if (values->front().each)
    return input_error(values->front().each_place, "\"each\" is several values", "one value belongs here",
                       "write it in a study, or name one of them");
  return std::move(values->front());
}

std::vector<ParsedFaults> each_of(const ParsedFaults& parsed, const NetworkFaults& failures) {
  TENEX_EXPECTS(parsed.each.has_value(), "a value that stands for many");
  std::vector<ParsedFaults> values;
  for (const NetworkFault& fault : failures) {
    ParsedFaults one{parsed.faults, parsed.places, std::nullopt, {}};
    const auto at =
        std::ranges::find_if(one.faults, [&](const NetworkFault& other) { return order_of(fault) <= order_of(other); });
    if (at == one.faults.end() || *at != fault) {
      one.places.insert(one.places.begin() + (at - one.faults.begin()), parsed.each_place);
      one.faults.insert(at, fault);
    }
    values.push_back(std::move(one));
  }
  return values;
}

std::string to_string(const NetworkFault& fault) {
  switch (fault.kind) {
    case FaultKind::link:
      return fmt::format("link {}-{}", fault.first, fault.second);
    case FaultKind::one_way:
      return fmt::format("link {}->{}", fault.first, fault.second);
    case FaultKind::drawn_links:
      return fmt::format("links {} draw {}", amount_text(fault), fault.draw);
    case FaultKind::drawn_switch_links:
      return fmt::format("switch_links {} draw {}", amount_text(fault), fault.draw);
    case FaultKind::npu:
      return fmt::format("npu {}", fault.first);
    case FaultKind::drawn_npus:
      return fmt::format("npus {} draw {}", amount_text(fault), fault.draw);
    case FaultKind::whole_switch:
      return fmt::format("switch {}", fault.first);
    case FaultKind::nic:
      return fmt::format("nic {}", fault.first);
    case FaultKind::leaf:
      return fmt::format("leaf {}", fault.first);
    case FaultKind::spine:
      return fmt::format("spine {}", fault.first);
    case FaultKind::plane:
      return fmt::format("plane {}", fault.first);
    case FaultKind::parallel_link:
      return fmt::format("link {}-{} number {}", fault.first, fault.second, fault.amount);  // in messages alone
  }
  return {};
}

std::string to_string(const NetworkFaults& faults) {
  if (faults.empty()) return "none";
  std::string text;
  for (const NetworkFault& fault : faults) text += (text.empty() ? "" : "; ") + to_string(fault);
  return text;
}

}  // namespace tenex
