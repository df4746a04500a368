// Fuzz target: the importer of schedules from HDF5. The input is the content of such a file as text, a line for each
// group, attribute and column; the file is made from it in memory. So wrong types, lengths and values reach the
// importer, instead of breaking the library's own metadata, which a checksum guards in the files that tenex writes.
//
//   group /sends | text /topology shape RI(3) | int /topology npus 3 | u32 /topology/source 0 1 2
#include "targets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "check_schedule.hpp"
#include "files/schedule_data.hpp"
#include "tenex/files/column_file.hpp"

namespace {

using tenex::ColumnFileWriter;

/// The remaining words as numbers, each brought into T's range.
template <class T>
void write_column(ColumnFileWriter& writer, const std::string& path, std::istringstream& words) {
  std::vector<T> values;
  for (std::string word; words >> word;) {
    if (word.front() == '-')
      values.push_back(static_cast<T>(std::strtoll(word.c_str(), nullptr, 10)));
    else
      values.push_back(static_cast<T>(std::strtoull(word.c_str(), nullptr, 10)));
  }
  writer.write(path, std::span<const T>(values));
}

void write_line(ColumnFileWriter& writer, const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  std::string path;
  if (!(words >> kind >> path)) return;
  const bool plain = path.front() == '/' && path.size() < 100 && path.find("//") == std::string::npos &&
                     path.find('.') == std::string::npos &&
                     std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
  if (!plain) return;
  if (kind == "group") writer.add_group(path);
  if (kind == "i8") write_column<std::int8_t>(writer, path, words);
  if (kind == "u8") write_column<std::uint8_t>(writer, path, words);
  if (kind == "u16") write_column<std::uint16_t>(writer, path, words);
  if (kind == "u32") write_column<std::uint32_t>(writer, path, words);
  if (kind == "i64") write_column<std::int64_t>(writer, path, words);
  if (kind == "u64") write_column<std::uint64_t>(writer, path, words);
  std::string name;
  if ((kind != "text" && kind != "int") || !(words >> name)) return;
  std::string value;
  std::getline(words >> std::ws, value);
  if (kind == "text")
    writer.set_attribute(path, name, value);
  else
    writer.set_attribute(path, name, static_cast<std::int64_t>(std::strtoll(value.c_str(), nullptr, 10)));
}

}  // namespace

void tenex::fuzz::schedule_columns(std::string_view input) {
  ColumnFileWriter writer;
  std::istringstream lines{std::string(input)};
  for (std::string line; std::getline(lines, line) && writer.good();) write_line(writer, line);
  auto image = writer.image();
  if (!image) return;
  const auto reader = tenex::ColumnFileReader::open_image(std::move(image).value(), "fuzz.h5");
  if (!reader) __builtin_trap();  // it was written a moment ago
  const auto content = tenex::read_schedule_columns(*reader, "fuzz.h5");
  if (!content && content.errors().empty()) __builtin_trap();
  if (content) tenex::fuzz::check_schedule(*content);
}
