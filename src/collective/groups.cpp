// The notation of process groups.
//
//   groups = group { ";" group }
//   group  = ( "all" | item { "," item } ) { own }
//   item   = npu | first "-" last [ ":" step ]
//   own    = kind | size | chunks "chunks" | "root" rank
//
// Both ends of a range belong to it, so a step must reach the last one exactly. Blanks are allowed around every part,
// and needed before what a group has of its own.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/bitset.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

namespace {

constexpr std::string_view kRule = "groups are \"all\" or lists such as \"0-3; 4,5,6\" or \"0-6:2; 1-7:2\"";
constexpr std::string_view kOwnRule =
    "after its NPUs a group may name a collective, a size, \"2 chunks\" and \"root 1\" of its own";

class GroupParser {
 public:
  GroupParser(std::string_view text, std::size_t npus, const Place& place)
      : text_(text), npus_(npus), place_(place), taken_(npus) {}

  Result<std::vector<ProcessGroup>> parse() {
    std::vector<ProcessGroup> groups;
    do {
      skip_blanks();
      const std::size_t start = at_;
      groups.emplace_back();
      if (!parse_group(groups.back())) return errors_;
      check_size(groups.back(), start);
      parse_own(groups.back());
    } while (take(';'));
    if (at_ < text_.size()) report(at_, fmt::format("\"{}\" is not understood", text_.substr(at_)), kRule);
    if (!errors_.empty()) return errors_;
    return groups;
  }

 private:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t step = 1;
  };

  [[nodiscard]] ProcessGroup everyone() const {
    ProcessGroup group;
    for (std::size_t npu = 0; npu < npus_; ++npu) group.members.push_back(NpuId::at(npu));
    return group;
  }

  void report(std::size_t offset, std::string problem, std::string_view why, std::string suggestion = {}) {
    Place place = place_;
    if (place.line != 0 && place.column != 0) place.column += static_cast<std::uint32_t>(offset);
    errors_.push_back(input_error(place, fmt::format("{} in groups \"{}\"", problem, text_), std::string(why),
                                  std::move(suggestion)));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// The word at the cursor, up to a blank or ";". Empty at the end of the group.
  std::string_view take_word() {
    skip_blanks();
    const auto end = text_.find_first_of(" \t;,", at_);
    const auto word = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    at_ += word.size();
    return word;
  }

  /// The rest of the group: what it has of its own.
  void parse_own(ProcessGroup& group) {
    if (!errors_.empty()) return;
    for (skip_blanks(); at_ < text_.size() && text_[at_] != ';' && text_[at_] != ','; skip_blanks()) {
      const std::size_t start = at_;
      const auto word = take_word();
      if (word.empty() || !parse_word(word, start, group)) return;
    }
  }

  bool parse_word(std::string_view word, std::size_t start, ProcessGroup& group) {
    const auto once = [&](bool is_new) {
      if (!is_new) report(start, fmt::format("\"{}\" is one too many", word), "a group has one of each of its own");
      return is_new;
    };
    const auto number_of = [](std::string_view digits) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return error == std::errc() && end == digits.data() + digits.size() && value >= 0 ? std::optional(value)
                                                                                        : std::nullopt;
    };
    if (word == "root") {
      const auto rank = number_of(take_word());
      if (!rank || *rank > std::numeric_limits<std::uint32_t>::max())
        return report(start, "\"root\" without a rank", kOwnRule), false;
      return once(!std::exchange(group.root, static_cast<std::uint32_t>(*rank)));
    }
    if (const auto count = number_of(word)) {
      const auto unit = take_word();
      if (unit != "chunks" && unit != "chunk")
        return report(start, fmt::format("\"{}\" is not understood", word), kOwnRule,
                      fmt::format("write \"{} chunks\", or a size with its unit", word)),
               false;
      if (*count == 0) return report(start, "0 chunks", "a collective has at least one chunk per NPU"), false;
      return once(!std::exchange(group.chunks, *count));
    }
    if (word.front() >= '0' && word.front() <= '9') {
      const auto size = parse_bytes(word);
      if (!size) return report(start, size.errors().front().problem, size.errors().front().why), false;
      return once(!std::exchange(group.size, *size));
    }
    const auto kind = parse_collective_kind(word);
    if (!kind) return report(start, kind.errors().front().problem, kOwnRule, kind.errors().front().suggestion), false;
    return once(!std::exchange(group.kind, *kind));
  }

  /// Returns false after a syntax error, which ends the parse; wrong members only add errors.
  bool parse_group(ProcessGroup& group) {
    taken_ = Bitset(npus_);
    if (text_.substr(at_, 3) == "all") {
      at_ += 3;
      group = everyone();
      return true;
    }
    do {
      skip_blanks();
      const std::size_t start = at_;
      const auto range = parse_range();
      if (!range) return false;
      add(*range, start, group);
    } while (take(','));
    return true;
  }

  std::optional<Range> parse_range() {
    const auto first = parse_number();
    if (!first) return std::nullopt;
    Range range{*first, *first, 1};
    if (!take('-')) return range;
    const auto last = parse_number();
    if (!last) return std::nullopt;
    range.last = *last;
    if (!take(':')) return range;
    const std::size_t start = at_;
    const auto step = parse_number();
    if (!step) return std::nullopt;
    range.step = *step;
    if (range.step == 0) {
      report(start, "a step of 0", "a range's step is at least 1");
      return std::nullopt;
    }
    return range;
  }

  std::optional<std::uint64_t> parse_number() {
    skip_blanks();
    const std::size_t start = at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value =
          std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0'), std::uint64_t{1} << 40);
    }
    if (at_ > start) return value;
    report(start,
           start < text_.size() ? fmt::format("\"{}\" where an NPU belongs", first_letter(text_.substr(start)))
                                : std::string("an NPU is missing at the end"),
           kRule);
    return std::nullopt;
  }

  void add(const Range& range, std::size_t offset, ProcessGroup& group) {
    if (range.first > range.last) {
      report(offset, fmt::format("the range {}-{} runs backwards", range.first, range.last),
             "a range is written first-last", fmt::format("write {}-{}", range.last, range.first));
      return;
    }
    if ((range.last - range.first) % range.step != 0) {
      report(offset, fmt::format("the step {} from {} misses {}", range.step, range.first, range.last),
             "both ends of a range belong to it",
             fmt::format("end at {}", range.last - (range.last - range.first) % range.step));
      return;
    }
    if (range.last >= npus_) {
      report(offset, fmt::format("NPU {} does not exist", range.last),
             npus_ == 0 ? std::string("there are none") : fmt::format("NPUs are 0 to {}", npus_ - 1),
             fmt::format("name NPUs below {}, or take a topology with {} or more", npus_, range.last + 1));
      return;
    }
    for (std::uint64_t npu = range.first; npu <= range.last; npu += range.step) {
      if (!taken_.insert(npu)) {
        report(offset, fmt::format("NPU {} is named twice", npu), "an NPU is in a group once", "name it once");
        return;
      }
      group.members.push_back(NpuId::at(npu));
    }
  }

  void check_size(const ProcessGroup& group, std::size_t offset) {
    // A group that already has errors may only look too small.
    if (group.members.size() >= 2 || !errors_.empty()) return;
    report(offset, fmt::format("a group of {} NPU{}", group.members.size(), group.members.size() == 1 ? "" : "s"),
           "a process group has at least two", "add an NPU, or leave the group out");
  }

  std::string_view text_;
  std::size_t npus_;
  const Place& place_;
  std::size_t at_ = 0;
  Bitset taken_;
  Diagnostics errors_;
};

}  // namespace

Result<std::vector<ProcessGroup>> parse_groups(std::string_view text, std::size_t npus, const Place& place) {
  return GroupParser(text, npus, place).parse();
}

bool share_npus(const std::vector<ProcessGroup>& groups) {
  std::vector<NpuId> members;
  for (const ProcessGroup& group : groups) members.insert(members.end(), group.members.begin(), group.members.end());
  std::ranges::sort(members);
  return std::ranges::adjacent_find(members) != members.end();
}

}  // namespace tenex
