// What a study asks to be sent where its collective does not say it: a list of conditions, or a matrix of amounts.
//
// A list is written "0 -> 1,2,3 4MiB; 5 -> 6-9": a source, its destinations as numbers and ranges, and a size, which
// may be absent. A file has one condition per line, "source,destinations,size" with destinations between blanks (.csv),
// or tables [[condition]] with source, destinations and size (.toml). A matrix is written "0,2,2; 1,0,1; 1,1,0", one
// row per sender with an amount for each receiver, or as a .csv file with a row per line. Numbers are ranks of a
// process group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// Whether the canonical text of a list or matrix is only its digest, because all of it would be too long.
[[nodiscard]] bool is_digest(std::string_view text);

/// One line of a list.
struct ListedCondition {
  std::uint32_t source = 0;
  std::vector<std::uint32_t> destinations;
  std::optional<Bytes> size;  ///< absent: the collective's
  bool operator==(const ListedCondition&) const = default;
};

/// Conditions with their canonical text. A cheap value: copies share the list.
class ConditionList {
 public:
  ConditionList() = default;
  /// O(destinations).
  explicit ConditionList(std::vector<ListedCondition> conditions);

  [[nodiscard]] const std::vector<ListedCondition>& conditions() const;
  /// "0>1,2,3 4194304;5>6,7,8,9": sizes in bytes; of a long list its digest. Equal lists have equal texts.
  [[nodiscard]] std::string_view text() const { return shared_ ? std::string_view(shared_->text) : "none"; }
  bool operator==(const ConditionList& other) const { return text() == other.text(); }

 private:
  struct Content {
    std::vector<ListedCondition> conditions;
    std::string text;
  };
  std::shared_ptr<const Content> shared_;
};

/// Amounts from every rank to every rank, with their canonical text. A cheap value.
class TrafficMatrix {
 public:
  TrafficMatrix() = default;
  /// `amounts`: ranks * ranks, row by row.
  TrafficMatrix(std::size_t ranks, std::vector<std::int64_t> amounts);

  /// 0 for no matrix.
  [[nodiscard]] std::size_t ranks() const { return shared_ ? shared_->ranks : 0; }
  [[nodiscard]] std::int64_t amount(std::size_t from, std::size_t to) const {
    return shared_->amounts[from * shared_->ranks + to];
  }
  /// The largest sum of a row: the amount that the busiest sender has, its own share included.
  [[nodiscard]] std::int64_t most_sent() const { return shared_ ? shared_->most_sent : 0; }
  /// The number of pairs of different ranks with an amount.
  [[nodiscard]] std::size_t pairs() const { return shared_ ? shared_->pairs : 0; }
  /// "0,2,2;1,0,1;1,1,0"; of a large matrix its digest. Equal matrices have equal texts.
  [[nodiscard]] std::string_view text() const { return shared_ ? std::string_view(shared_->text) : "none"; }
  bool operator==(const TrafficMatrix& other) const { return text() == other.text(); }

 private:
  struct Content {
    std::size_t ranks = 0;
    std::vector<std::int64_t> amounts;
    std::int64_t most_sent = 0;
    std::size_t pairs = 0;
    std::string text;
  };
  std::shared_ptr<const Content> shared_;
};

/// Parses a list as studies write it. Errors (input): all of them, each at its column of `place`.
[[nodiscard]] Result<ConditionList> parse_conditions(std::string_view text, const Place& place);
/// Reads the content of a file; `path` ends in .csv or .toml. Errors (input): all of them, each at its line.
[[nodiscard]] Result<ConditionList> read_conditions(std::string_view content, const std::string& path);
/// Parses a matrix as studies write it. Errors (input): an amount that is no whole number from 0 to 2^31, rows of other
/// lengths.
[[nodiscard]] Result<TrafficMatrix> parse_traffic(std::string_view text, const Place& place);
/// Reads a .csv file. Errors (input): those of parse_traffic(), each at its line.
[[nodiscard]] Result<TrafficMatrix> read_traffic(std::string_view content, const std::string& path);

}  // namespace tenex
