// Reads a table against the list of keys it may have, collecting every mistake instead of stopping at the first.
//
//   TableReader reader(node, "[outputs]", {"store", "schedule"});
//   const auto schedule = reader.string("schedule");      // absent or wrong: nullopt, a wrong one is recorded
//   const auto chunks = reader.integer_or("chunks", 1);
//   if (reader.failed()) return reader.take_errors();
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/spec/document.hpp"

namespace tenex {

/// One pass over one table. Holds a reference to the node, which must outlive it.
class TableReader {
 public:
  /// Records an error when `node` is no table and one per unknown key, with the nearest known spelling. `name` is what
  /// messages call the table, for instance "[defaults]" or "a [[link]]"; empty for the document itself.
  TableReader(const Node& node, std::string name, std::vector<std::string_view> known_keys);

  /// The value of a key; null when absent.
  [[nodiscard]] const Node* find(std::string_view key) const { return node_.find(key); }
  /// The value of a key; an absent one is recorded as missing.
  const Node* require(std::string_view key);

  // The value of an optional key by type: nullopt when absent, or when it has another type, which is recorded.
  std::optional<std::string> string(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<double> real(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<SimTime> time(std::string_view key);
  std::optional<Bytes> size(std::string_view key);
  std::optional<Bandwidth> bandwidth(std::string_view key);
  std::optional<std::vector<SimTime>> times(std::string_view key);
  std::optional<std::vector<Bandwidth>> bandwidths(std::string_view key);
  /// Items of an array; empty when absent or wrong.
  std::span<const Node> array(std::string_view key);
  /// An array of strings; a single string counts as an array of one. Empty when absent or wrong.
  std::vector<std::string> strings(std::string_view key);

  std::string string_or(std::string_view key, std::string fallback);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  bool boolean_or(std::string_view key, bool fallback);

  /// Records an error that the caller found.
  void fail(Diagnostic error) { errors_.push_back(std::move(error)); }
  void fail(Diagnostics errors) { append(errors_, std::move(errors)); }
  [[nodiscard]] bool failed() const { return !errors_.empty(); }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }
  [[nodiscard]] Diagnostics take_errors() { return std::move(errors_); }

 private:
  template <class T, class Read>
  std::optional<T> read(std::string_view key, const Read& read_node);

  const Node& node_;
  std::string name_;
  Diagnostics errors_;
};

/// Checks the first two keys of every file that tenex reads in TOML, `schema` and `kind`: records in `reader` the
/// errors in the header of a file of `kind` ("cost_model"; messages say "cost model").
void check_file_header(TableReader& reader, std::string_view kind, std::int64_t schema = 1);

// Quantities in a document are strings with a unit; a bare number is an error that says so.

[[nodiscard]] Result<SimTime> as_time(const Node& node, std::string_view name);
[[nodiscard]] Result<Bytes> as_bytes(const Node& node, std::string_view name);
[[nodiscard]] Result<Bandwidth> as_bandwidth(const Node& node, std::string_view name);
/// One quantity or several in one string, separated by commas: "0.5us, 2us". Every mistake has its own place.
[[nodiscard]] Result<std::vector<SimTime>> as_times(const Node& node, std::string_view name);
[[nodiscard]] Result<std::vector<Bandwidth>> as_bandwidths(const Node& node, std::string_view name);

}  // namespace tenex
