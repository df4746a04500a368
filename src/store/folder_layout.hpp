// Names inside a result folder, and the file that says which study it belongs to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/slice.hpp"

namespace tenex::store {

/// Raised when a reader of an older version would misread folders, shards or journals.
inline constexpr std::int64_t kSchema = 2;
/// Raised when a reader of an older version would misread results (study.h5).
inline constexpr std::int64_t kResultSchema = 3;

/// Paths inside a result folder.
struct Layout {
  std::filesystem::path dir;

  [[nodiscard]] std::filesystem::path study() const { return dir / "study.toml"; }
  [[nodiscard]] std::filesystem::path state() const { return dir / "state.toml"; }
  [[nodiscard]] std::filesystem::path lock() const { return dir / "lock"; }
  [[nodiscard]] std::filesystem::path progress() const { return dir / "progress.toml"; }
  [[nodiscard]] std::filesystem::path shards() const { return dir / "shards"; }
  [[nodiscard]] std::filesystem::path journals() const { return dir / "journal"; }
  [[nodiscard]] std::filesystem::path schedules() const { return dir / "schedules"; }
  [[nodiscard]] std::filesystem::path machines() const { return dir / "machines"; }
  /// The folder's own copy of a machine file, by the path that the study writes.
  [[nodiscard]] std::filesystem::path machine(std::string_view path) const {
    return machines() / (to_string(digest128(path)) + ".toml");
  }
  [[nodiscard]] std::filesystem::path result() const { return dir / "study.h5"; }
  [[nodiscard]] std::filesystem::path shard(std::string_view name) const { return shards() / name; }
};

/// The writer of a shard or a journal. `number` counts the shards of one writer and is 0 for journals.
struct WriterName {
  std::uint32_t incarnation = 0;
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  auto operator<=>(const WriterName&) const = default;
};

/// "<incarnation>-<rank>-<number>.h5"
[[nodiscard]] std::string shard_name(const WriterName& writer);
/// "<incarnation>-<rank>.log"
[[nodiscard]] std::string journal_name(const WriterName& writer);
[[nodiscard]] std::optional<WriterName> parse_shard_name(std::string_view name);
[[nodiscard]] std::optional<WriterName> parse_journal_name(std::string_view name);

/// The contents of state.toml.
struct State {
  std::int64_t schema = kSchema;
  std::int64_t physics = 0;
  std::string study_name;
  std::string study_digest;
  std::string version;
  std::uint32_t incarnation = 0;  ///< of the last run that opened the folder
  Slice slice = {};               ///< that the last run evaluated
};

/// nullopt when there is none. Errors (environment): unreadable or damaged; (input): a newer schema.
[[nodiscard]] Result<std::optional<State>> read_state(const Layout& layout);
[[nodiscard]] Status write_state(const Layout& layout, const State& state);

/// Makes missing folders; the names of those that it makes are durable. Errors (environment).
[[nodiscard]] Status make_folder(const std::filesystem::path& path);

/// 16 lower-case hexadecimal digits.
[[nodiscard]] std::string hex64(std::uint64_t value);
[[nodiscard]] std::optional<std::uint64_t> parse_hex64(std::string_view text);
/// The inverse of to_string(Digest).
[[nodiscard]] std::optional<Digest> parse_digest(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

}  // namespace tenex::store
