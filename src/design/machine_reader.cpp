// Machine files as values of the key `topology`: the bytes are read once, so that every point and every rank sees the
// same content however long the study runs.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/core.h>

#include "design/setting_value.hpp"

namespace tenex {

Result<std::string> read_bytes(const std::filesystem::path& path) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  const auto fail = [&](std::string why) {
    return environment_error(fmt::format("cannot read \"{}\"", path.string()), std::move(why));
  };
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fail("it is a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(errno == 0 ? "it cannot be opened" : std::strerror(errno));
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargest) return fail(fmt::format("it is larger than {} bytes", kLargest));
  }
  if (stream.bad()) return fail(errno == 0 ? "reading failed" : std::strerror(errno));
  return text;
}

Result<TopologyValue> MachineReader::read(const std::string& path, const Place& place) {
  const auto known = known_.find(path);
  if (known != known_.end()) {
    // Told already: a file used twice is not wrong twice. The caller only needs to know that there is no value.
    if (!known->second) {
      return input_error(place, fmt::format("the machine file \"{}\" cannot be used", path),
                         "its errors are told once");
    }
    return known->second;
  }
  return known_.emplace(path, load(path, place)).first->second;
}

std::map<std::string, SharedText, std::less<>> MachineReader::contents() const {
  std::map<std::string, SharedText, std::less<>> files;
  for (const auto& [path, value] : known_)
    if (value) files.emplace(path, value->choice.machine_content);
  return files;
}

Result<TopologyValue> MachineReader::load(const std::string& path, const Place& place) const {
  std::filesystem::path found = path;
  std::error_code code;
  if (found.is_relative()) {
    const std::filesystem::path beside = folder_ / found;
    if (std::filesystem::exists(beside, code)) found = beside;
  }
  const auto stored = vocabulary_.stored_machine ? vocabulary_.stored_machine(path) : std::nullopt;
  Result<std::string> content = stored ? Result<std::string>(*stored) : read_bytes(found);
  if (!content) {
    Diagnostic error = content.errors().front();
    error.place = place;
    error.suggestion = "paths are relative to the study's folder, then to the working directory";
    return error;
  }
  TopologyValue value;
  value.choice.text = path;
  value.choice.machine_file = found.lexically_normal().string();
  if (vocabulary_.inspect_machine) {
    const Result<MachineFacts> facts = vocabulary_.inspect_machine(*content, value.choice.machine_file);
    if (!facts) return facts.errors();
    value.npus = facts->npus;
    value.switches = facts->switches;
    value.choice.machine_npus = facts->npus;
  }
  value.choice.machine_content = SharedText(*std::move(content));
  return value;
}

}  // namespace tenex
