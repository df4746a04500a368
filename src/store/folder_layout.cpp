#include "store/folder_layout.hpp"

#include <charconv>
#include <limits>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex::store {
namespace {

/// Splits "3-0-12" into numbers; nullopt unless there are exactly `count`, none with leading zeros.
std::optional<std::vector<std::uint32_t>> parse_numbers(std::string_view text, std::size_t count) {
  std::vector<std::uint32_t> numbers;
  while (true) {
    const auto dash = text.find('-');
    const auto number = parse_number(text.substr(0, dash));
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    numbers.push_back(static_cast<std::uint32_t>(*number));
    if (dash == std::string_view::npos) break;
    text.remove_prefix(dash + 1);
  }
  if (numbers.size() != count) return std::nullopt;
  return numbers;
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

std::string shard_name(const WriterName& writer) {
  return fmt::format("{}-{}-{}.h5", writer.incarnation, writer.rank, writer.number);
}

std::string journal_name(const WriterName& writer) { return fmt::format("{}-{}.log", writer.incarnation, writer.rank); }

std::optional<WriterName> parse_shard_name(std::string_view name) {
  if (!name.ends_with(".h5")) return std::nullopt;
  const auto numbers = parse_numbers(name.substr(0, name.size() - 3), 3);
  if (!numbers) return std::nullopt;
  return WriterName{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

std::optional<WriterName> parse_journal_name(std::string_view name) {
  if (!name.ends_with(".log")) return std::nullopt;
  const auto numbers = parse_numbers(name.substr(0, name.size() - 4), 2);
  if (!numbers) return std::nullopt;
  return WriterName{(*numbers)[0], (*numbers)[1], 0};
}

Result<std::optional<State>> read_state(const Layout& layout) {
  std::error_code error;
  if (!std::filesystem::exists(layout.state(), error) && !error) return std::optional<State>();
  const auto document = read_toml_file(layout.state());
  if (!document) return document.errors();
  const auto damaged = [&](const Diagnostics& errors) {
    return environment_error(fmt::format("the folder \"{}\" is damaged", layout.dir.string()), to_string(errors));
  };
  State state;
  if (const auto* schema = document->find("schema"); schema != nullptr && schema->is(NodeKind::integer)) {
    if (schema->integer() > kSchema)
      return input_error(schema->place(), fmt::format("folder schema {} is newer than this version", schema->integer()),
                         fmt::format("this version knows schema {}", kSchema), "use a newer tenex");
  }
  std::vector<std::string_view> known;  // what a later version adds under this schema is ignored
  for (const auto& entry : document->entries()) known.push_back(entry.key);
  TableReader reader(*document, "", std::move(known));
  for (const auto* key : {"schema", "physics", "study_digest", "incarnation"}) (void)reader.require(key);
  state.schema = reader.integer_or("schema", 0);
  state.physics = reader.integer_or("physics", 0);
  state.study_name = reader.string_or("study_name", "");
  state.study_digest = reader.string_or("study_digest", "");
  state.version = reader.string_or("version", "");
  const auto incarnation = reader.integer_or("incarnation", 0);
  const auto slice = parse_slice(reader.string_or("slice", "1/1"));
  if (reader.failed()) return damaged(reader.errors());
  if (incarnation < 0 || incarnation >= std::numeric_limits<std::uint32_t>::max())
    return damaged({environment_error(fmt::format("incarnation = {}", incarnation))});
  if (!slice) return damaged(slice.errors());
  state.incarnation = static_cast<std::uint32_t>(incarnation);
  state.slice = *slice;
  return std::optional<State>(state);
}

Status write_state(const Layout& layout, const State& state) {
  const auto text = fmt::format(
      "# What this folder belongs to; written by tenex, not meant to be edited.\n"
      "schema = {}\nphysics = {}\nstudy_name = {}\nstudy_digest = {}\nversion = {}\nincarnation = {}\n"
      "slice = {}\n",
      state.schema, state.physics, toml_text(state.study_name), toml_text(state.study_digest), toml_text(state.version),
      state.incarnation, toml_text(to_string(state.slice)));
  return write_file_atomically(layout.state(), text);
}

Status make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::vector<std::filesystem::path> missing;
  for (auto each = std::filesystem::absolute(path, error).lexically_normal(); !each.empty();
       each = each.parent_path()) {
    if (std::filesystem::exists(each, error) || each == each.parent_path()) break;
    missing.push_back(each);
  }
  std::filesystem::create_directories(path, error);
  if (error) return system_error(fmt::format("cannot make the folder \"{}\"", path.string()), error.value());
  for (const auto& folder : missing)
    if (auto status = sync_folder(folder.parent_path()); !status) return status;
  return success();
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::optional<std::uint64_t> parse_hex64(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 16 || result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Digest> parse_digest(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = parse_hex64(text.substr(0, 16));
  const auto low = parse_hex64(text.substr(16));
  if (!high || !low) return std::nullopt;
  return Digest{*high, *low};
}

std::optional<std::uint64_t> parse_number(std::string_view text) { return read_number<std::uint64_t>(text); }

}  // namespace tenex::store
