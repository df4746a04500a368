// A value of a key, parsed once however many rows use it.
#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "design/keys.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/design/faults.hpp"
#include "tenex/design/stragglers.hpp"
#include "tenex/design/study.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {

/// A topology as a value of its key: the choice without links, unwinding and removals, which are other keys.
struct TopologyValue {
  TopologyChoice choice;
  std::size_t npus = 0;
  std::size_t switches = 0;
  bool joins_switches = false;  ///< links lead from switch to switch: there are several tiers

  bool from_file = false;             ///< of a machine file, which states alphas and bandwidths
  bool cuts_through = false;          ///< all switches of a machine file's list do
  std::optional<ScaleOut> scale_out;  ///< of a machine file that names a shape and states it

  /// Whether a file lists its links. A file that names a shape becomes that shape.
  [[nodiscard]] bool is_machine() const { return !choice.machine_file.empty(); }
};

/// Several machines of a file that names a shape (tenex/files/input_files.hpp). Errors (input), without a place: those
/// of join_boxes() there, a machine that lists its links.
[[nodiscard]] Result<TopologyValue> join_boxes(TopologyValue machine, std::uint32_t boxes);

/// The protocol of a machine by name; null: its file does not name it.
[[nodiscard]] const LinkProtocol* find_protocol(const TopologyChoice& machine, std::string_view name);

/// Whether links of the shape lead from switch to switch.
[[nodiscard]] bool joins_switches(const Shape& shape);

/// Pairs of vertices between which links are removed.
using LinkPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A parsed value. The entry of its key determines its type.
struct SettingValue {
  Place place;                 ///< of the value
  Place text_place;            ///< of a string's first character; otherwise as `place`
  std::string text;            ///< as written, for messages
  std::any data;               ///< the typed value
  ExpressionValue expression;  ///< as `keep` sees it

  /// The typed value. Precondition: it has this type.
  template <class T>
  [[nodiscard]] const T& as() const {
    const T* const typed = std::any_cast<T>(&data);
    ensure(typed != nullptr, "a setting's value is of another type");
    return *typed;
  }
};
using SharedValue = std::shared_ptr<const SettingValue>;

/// Reads the files that a study names, each once.
class FileReader {
 public:
  /// Paths are relative to `folder`, or else to the working directory.
  FileReader(std::filesystem::path folder, const Vocabulary& vocabulary)
      : folder_(std::move(folder)), vocabulary_(vocabulary) {}

  /// A machine file. Errors: unreadable (environment, at `place`); those of parse_machine(), once per file.
  [[nodiscard]] Result<TopologyValue> read_machine(const std::string& path, const Place& place);
  /// A file of `kind` "workload" or "cost_model": a path (it ends in .toml), or the name of a built-in file. Errors:
  /// input (no such name) or environment (unreadable), at `place`, once per file.
  [[nodiscard]] Result<NamedFile> read_named(std::string_view kind, const std::string& text, const Place& place);
  /// A text file at a path. Errors: environment (unreadable), at `place`.
  [[nodiscard]] Result<NamedFile> read_text(const std::string& path, const Place& place);
  /// The contents of the files that could be read so far, by path as written.
  [[nodiscard]] const std::map<std::string, SharedText, std::less<>>& contents() const { return contents_; }
  /// How values of machine files were understood that may be meant otherwise, each once.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Loaded {
    std::string path;  ///< resolved
    SharedText content;
  };
  [[nodiscard]] Result<Loaded> load(const std::string& path, const Place& place);
  /// Makes a machine file of another tool's, where nothing is missing. Errors: those of import_machine().
  [[nodiscard]] static Status import_if_foreign(Loaded& file);
  [[nodiscard]] Result<TopologyValue> load_machine(const std::string& path, const Place& place);
  [[nodiscard]] Result<NamedFile> load_named(std::string_view kind, const std::string& text, const Place& place);
  /// Notes the bandwidths in bits among the quoted texts of a machine file.
  void note_bits(const std::string& path, std::string_view content);

  std::filesystem::path folder_;
  const Vocabulary& vocabulary_;
  std::map<std::string, Result<TopologyValue>> machines_;
  std::map<std::pair<std::string, std::string>, Result<NamedFile>> named_;  // (kind, text)
  std::map<std::string, SharedText, std::less<>> contents_;
  std::vector<std::string> notes_;
};

/// Objects that parsing a value needs.
struct ValueContext {
  const Vocabulary& vocabulary;
  FileReader& files;
  std::vector<std::string> notes = {};  ///< how values were understood that may be meant otherwise, each once
  bool in_study = false;                ///< values of a sweep: one that stands for several becomes an axis
};

/// Parses the value of a key. `name` is the key as written (it may be the alias). Errors: input, in the value.
[[nodiscard]] Result<SharedValue> parse_value(Key key, std::string_view name, const Node& node, ValueContext& context);

/// The values that an item of an axis stands for. Errors: input, in the item.
[[nodiscard]] Result<std::vector<SharedValue>> parse_item(Key key, const Node& item, ValueContext& context);

/// The built-in prices, for points that name none; null if there are no such prices.
[[nodiscard]] Result<SharedValue> default_cost_model(const Place& place, ValueContext& context);

/// Adds a note for each bandwidth in bits of a comma list, unless it is there: "WHO: 400Gb/s is read as 50GB/s ...".
void add_notes_on_bits(std::string_view who, std::string_view list, std::vector<std::string>& notes);

/// All bytes of a file. Errors: environment, without a place.
[[nodiscard]] Result<std::string> read_bytes(const std::filesystem::path& path);

}  // namespace tenex
