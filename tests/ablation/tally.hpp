// The tally of an ablation: how often each competitor is the only best one, among the best, and its seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenex::ablation {

/// What one competitor reached in one case.
struct Entry {
  std::string name;
  double value = 0;    ///< the least is the best
  double seconds = 0;  ///< of processor time
};

struct Standing {
  std::uint64_t cases = 0;  ///< in which it took part
  std::uint64_t only = 0;   ///< no other came within the margin of it
  std::uint64_t among = 0;  ///< it came within the margin of the best
  double seconds = 0;
  bool required = false;  ///< it must be the only best one somewhere
};

/// Competitors of one part of the program: makers of schedules, simulation engines, or bounds.
class Tally {
 public:
  /// A value up to `margin` times the least one counts as equal to it.
  explicit Tally(std::string title, double margin = 1) : title_(std::move(title)), margin_(margin) {}

  /// Names a competitor that must be the only best one somewhere.
  void require(const std::string& name) { standings_[name].required = true; }

  /// Judges a case; values are from zero on, or all of them with a margin of 1.
  void judge(const std::vector<Entry>& entries);

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] std::uint64_t cases() const { return cases_; }
  [[nodiscard]] const std::map<std::string, Standing>& standings() const { return standings_; }

  /// A heading and a table in Markdown, the most frequent winner first.
  [[nodiscard]] std::string table() const;

 private:
  std::string title_;
  double margin_;
  std::uint64_t cases_ = 0;
  std::map<std::string, Standing> standings_;
};

/// A competitor that need not be the only best one anywhere.
struct Exception {
  std::string part;  ///< Tally::title()
  std::string name;
  std::string reason;
};

/// "part,name,reason" line by line, without quotes; the reason may have commas. Lines that begin with `#` are comments.
[[nodiscard]] std::vector<Exception> read_exceptions(const std::string& text);

/// What is wrong with a tally, in sentences: a required competitor that is nowhere the only best one and no exception;
/// an exception that is one somewhere, that does not exist, or that has no reason.
[[nodiscard]] std::vector<std::string> complaints_of(const Tally& tally, const std::vector<Exception>& exceptions);

/// Judges made-up cases; false, and a line on stderr, where a result is not the expected one.
[[nodiscard]] bool self_test();

}  // namespace tenex::ablation
