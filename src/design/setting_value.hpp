// One value of one key, parsed once however many rows use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "design/keys.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/design/stragglers.hpp"
#include "tenex/design/study.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {

/// A topology as a value of the key: the choice without links, unwinding and removals, which are keys of their own.
struct TopologyValue {
  TopologyChoice choice;
  std::size_t npus = 0;  ///< 0: a machine file that nobody inspected
  std::size_t switches = 0;

  [[nodiscard]] bool is_machine() const { return !choice.machine_file.empty(); }
};

/// Vertices between which links are removed.
using LinkPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A parsed value. `data` holds: topology TopologyValue; alpha, bandwidth, npu_bandwidth lists; without LinkPairs; size
/// Bytes; collective, occupancy enumerations; overlap bool; stragglers Stragglers; groups, algorithm, backend, engine,
/// order, simulation_engine texts; the others whole numbers.
struct SettingValue {
  Place place;       ///< of the value
  Place text_place;  ///< of a string's first character; else as `place`
  std::string text;  ///< as written, for messages
  std::variant<std::int64_t, bool, Bytes, std::vector<SimTime>, std::vector<Bandwidth>, LinkPairs, CollectiveKind,
               Occupancy, TopologyValue, Stragglers, std::string>
      data;
  ExpressionValue expression;  ///< what `keep` sees
};
using SharedValue = std::shared_ptr<const SettingValue>;

/// Reads machine files, each once.
class MachineReader {
 public:
  /// Paths are relative to `folder`, then to the working directory.
  MachineReader(std::filesystem::path folder, const Vocabulary& vocabulary)
      : folder_(std::move(folder)), vocabulary_(vocabulary) {}

  /// Errors: unreadable (environment, at `place`); what Vocabulary::inspect_machine finds wrong, once per file.
  [[nodiscard]] Result<TopologyValue> read(const std::string& path, const Place& place);
  /// The files that could be read so far, by path.
  [[nodiscard]] std::map<std::string, SharedText, std::less<>> contents() const;

 private:
  [[nodiscard]] Result<TopologyValue> load(const std::string& path, const Place& place) const;

  std::filesystem::path folder_;
  const Vocabulary& vocabulary_;
  std::map<std::string, Result<TopologyValue>> known_;
};

/// What parsing a value needs to know.
struct ValueContext {
  const Vocabulary& vocabulary;
  MachineReader& machines;
};

/// Parses the value of a key. `name` is the key as written (it may be the alias). Errors: input, in the value.
[[nodiscard]] Result<SharedValue> parse_value(Key key, std::string_view name, const Node& node, ValueContext& context);

/// The value of a key that a whole number generates (an element of a range).
[[nodiscard]] Result<SharedValue> make_integer_value(Key key, std::string_view name, std::int64_t value,
                                                     const Place& place);

/// All bytes of a file. Errors: environment, without a place.
[[nodiscard]] Result<std::string> read_bytes(const std::filesystem::path& path);

/// How messages show a text: cut when long.
[[nodiscard]] std::string shortened(std::string_view text);

}  // namespace tenex
