// nccl-tests' and rccl-tests' text. A row is "size count type redop [root]" and one or two halves of
// "time algbw busbw #wrong" (out of place, in place). The heading says whether there is a root (not in 2020) and
// whether a half has four more columns (-I); replayed traces have no first half; a timestamp adds two words. Launchers
// put a prefix before every line, and other ranks' output tears rows apart.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/log_formats.hpp"
#include "exchange/text_lines.hpp"
#include "tenex/base/decimal.hpp"

namespace tenex::exchange {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 17> kTypes{"int8", "uint8", "int32",    "uint32", "int64",   "uint64",
                                                  "half", "float", "double",   "char",   "float16", "float32",
                                                  "int",  "uint",  "bfloat16", "f8e4m3", "f8e5m2"};

bool is_type(std::string_view word) {
  return std::ranges::find(kTypes, word) != kTypes.end() || word == "fp8_e4m3" || word == "fp8_e5m2";
}

/// The line without what mpirun --tag-output ("[1,0]<stdout>:") or srun -l ("0: ") put before it.
std::string_view without_prefix(std::string_view line) {
  constexpr std::size_t kLongest = 64;
  if (line.starts_with('[')) {
    const auto end = line.substr(0, kLongest).find(">:");
    return end == std::string_view::npos ? line : line.substr(end + 2);
  }
  const auto digits = line.find_first_not_of(" 0123456789");
  if (digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(": "))
    return line.substr(digits + 2);
  return line;
}

/// The columns of the table that is being read.
struct RowLayout {
  bool root = true;
  std::size_t half = 4;
};

/// Reads one log from its beginning to its end.
class TextReader {
 public:
  explicit TextReader(const SourceText& source) : source_(source) {}

  RawLog read() {
    log_.format = "nccl-tests text";
    std::string_view rest = source_.text;
    while (!rest.empty()) {
      const auto whole = take_line(rest);
      ++line_;
      const auto line = without_prefix(whole);
      column_ = static_cast<std::uint32_t>(line.data() - whole.data() + 1);
      read_line(line);
    }
    std::erase_if(log_.tables, [](const RawTable& table) { return table.rows.empty(); });
    return std::move(log_);
  }

 private:
  [[nodiscard]] Place place() const { return {source_.file, line_, column_}; }

  void read_line(std::string_view line) {
    const auto words = words_of_line(line);
    if (words.empty()) return;
    if (words.front().starts_with('#')) {
      read_comment(line, words);
      torn_ = false;
      return;
    }
    const bool begins_row = words.size() >= 3 && read_number<std::int64_t>(words[0]).has_value() &&
                            read_number<std::int64_t>(words[1]).has_value() && is_type(words[2]);
    if (begins_row) {
      torn_ = !read_row(words);
      if (torn_) log_.skip(place(), "a torn row", "it has no whole set of columns: other output came between them");
      return;
    }
    // What is left of a row: numbers and nothing else.
    const bool numbers = std::ranges::all_of(words, [](auto word) { return measured_number(word).has_value(); });
    if (numbers && words.size() >= 3 && !torn_)
      log_.skip(place(), "a part of a row", "its beginning is not on this line");
    torn_ = false;
  }

  void read_comment(std::string_view line, const Words& words) {
    constexpr std::string_view kTest = "Collective test starting:";
    if (const auto at = line.find(kTest); at != std::string_view::npos) {
      const auto name = words_of_line(line.substr(at + kTest.size()));
      begin_run();
      if (!name.empty()) test_ = name.front().substr(0, name.front().find("_perf"));
      return;
    }
    const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    if (has("size") && has("count") && has("type")) {
      layout_.root = has("root");
      layout_.half = has("i_min") || has("i_p99") || has("i_cv%") ? 8 : 4;
      open_table();
      return;
    }
    const auto rank = std::ranges::find(words, "Rank");
    if (rank == words.end() || rank - words.begin() > 1) return;
    const auto on = std::ranges::find(words, "on");
    if (on == words.end() || on + 1 == words.end()) return;
    if (listed_) begin_run();
    ++devices_;
    hosts_.insert(std::string(*(on + 1)));
  }

  /// What follows belongs to another run, with devices of its own.
  void begin_run() {
    devices_ = 0;
    hosts_.clear();
    test_ = {};
    listed_ = false;
  }

  void open_table() {
    listed_ = true;
    log_.tables.push_back({.place = place(), .test = std::string(test_), .devices = devices_, .hosts = hosts_.size()});
  }

  /// False where the row is torn.
  bool read_row(const Words& words) {
    const std::size_t lead = layout_.root ? 5 : 4;
    auto count = words.size();
    if (count >= 2 && words[count - 1].find(':') != std::string_view::npos &&
        words[count - 2].find('-') != std::string_view::npos)
      count -= 2;  // a timestamp
    const bool both = count == lead + 2 * layout_.half;
    if (!both && count != lead + layout_.half) return false;
    const auto size = read_number<std::int64_t>(words[0]);
    if (!size || *size < 0) return false;
    MeasuredRow row{place(), bytes(*size)};
    const auto last = read_half(words, count - layout_.half);
    if (!last) return false;
    row.in_place_us = last->us;
    row.wrong = last->wrong;
    auto shown = *last;
    if (both) {
      const auto first = read_half(words, lead);
      if (!first) return false;
      row.out_of_place_us = first->us;
      row.wrong = std::max(row.wrong, first->wrong);
      shown = *first;
    }
    if (log_.tables.empty()) open_table();
    auto& table = log_.tables.back();
    if (table.rows.empty()) table.place = row.place;
    table.reduces = table.reduces || words[3] != "none";
    RawLog::note_bandwidths(table, shown.algbw, shown.busbw);
    table.rows.push_back(std::move(row));
    return true;
  }

  struct Half {
    double us = 0;
    double algbw = 0;
    double busbw = 0;
    std::int64_t wrong = -1;
  };

  [[nodiscard]] std::optional<Half> read_half(const Words& words, std::size_t at) const {
    const auto us = measured_time(words[at]);
    const auto algbw = measured_number(words[at + 1]);
    const auto busbw = measured_number(words[at + 2]);
    if (!us || !algbw || !busbw) return std::nullopt;
    Half half{*us, *algbw, *busbw};
    // The count follows the bandwidths, or ends the half behind the columns of -I: "#wrong" is the fourth in both.
    const auto wrong = words[at + 3];
    if (wrong == "N/A") return half;
    const auto count = measured_number(wrong);
    if (!count) return std::nullopt;
    half.wrong = *count > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(*count, 1e18))) : 0;
    return half;
  }

  const SourceText& source_;
  RawLog log_;
  RowLayout layout_;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 1;
  std::string_view test_;
  std::size_t devices_ = 0;
  std::set<std::string> hosts_;
  bool listed_ = false;  ///< a table of these devices has begun
  bool torn_ = false;    ///< the line before was a torn row
};

}  // namespace

Result<RawLog> read_nccl_tests_text(const SourceText& source) {
  if (auto status = check_text(source.file, source.text, kLargestLog); !status) return status.errors();
  return TextReader(source).read();
}

}  // namespace tenex::exchange
