// The values of a canonical text are integers in base units: with their units they are what a command line says.
#include "tenex/design/canonical_point.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/setting.hpp"

namespace tenex {
namespace {

constexpr std::string_view kPhysics = "physics=";
constexpr std::string_view kMachine = "machine:";
constexpr const char* kMachineName = "machine_of_the_text.toml";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The lines that describe the point: all but that of the physics.
std::vector<std::string_view> facts_of(std::string_view canonical) {
  auto lines = lines_of(canonical);
  std::erase_if(lines, [](std::string_view line) { return line.starts_with(kPhysics); });
  return lines;
}

std::string_view unit_of(Counts counts) {
  switch (counts) {
    case Counts::bytes:
      return "B";
    case Counts::time:
      return "ps";
    case Counts::bandwidth:
      return "B/s";
    case Counts::nothing:
    case Counts::numbers:
      break;
  }
  return "";
}

/// "0>1,2 4096;5>6" as "0 -> 1,2 4096B; 5 -> 6".
std::string conditions_of(std::string_view value) {
  std::string text;
  bool sized = false;
  for (const char letter : value) {
    if (letter == ';') text += std::exchange(sized, false) ? "B; " : "; ";
    if (letter == '>') text += " -> ";
    if (letter == ';' || letter == '>') continue;
    sized = sized || letter == ' ';
    text += letter;
  }
  return sized ? text + "B" : text;
}

/// A value, or a list of them, with units.
std::string with_units(std::string_view value, std::string_view unit) {
  std::string text;
  for (const char letter : value) {
    if (letter == ',') text += unit;
    text += letter;
  }
  return text.append(unit);
}

/// What a command line says for the value of a canonical text.
std::string word_of(const Setting& setting, std::string_view value) {
  if (setting.key == Key::conditions) return conditions_of(value);
  if (setting.key == Key::piece && value == kAutomaticWord) return std::string(value);
  const bool is_length = setting.key == Key::epoch && value.find_first_not_of("0123456789") == std::string_view::npos;
  return with_units(value, is_length ? unit_of(Counts::time) : unit_of(setting.counts));
}

}  // namespace

std::int64_t physics_of_canonical(std::string_view canonical) {
  for (const auto line : lines_of(canonical))
    if (line.starts_with(kPhysics)) return read_number<std::int64_t>(line.substr(kPhysics.size())).value_or(0);
  return 0;
}

Result<DesignPoint> point_of_canonical(std::string_view canonical, std::string_view machine,
                                       const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string, std::string>> words;
  const auto facts = facts_of(canonical);
  for (const auto line : facts) {
    const auto equals = line.find('=');
    const auto name = line.substr(0, equals);
    const auto setting =
        std::ranges::find_if(settings(), [&](const Setting& each) { return frozen_name(each) == name; });
    if (equals == std::string_view::npos || setting == settings().end())
      return input_error({}, fmt::format("this version does not know the line \"{}\"", shortened(std::string(line))),
                         "a canonical text has a line name=value for each key that matters");
    const auto value = line.substr(equals + 1);
    const bool is_machine = setting->key == Key::topology && value.starts_with(kMachine);
    words.emplace_back(setting->name, is_machine ? std::string(kMachineName) : word_of(*setting, value));
  }
  Vocabulary with_machine = vocabulary;
  with_machine.stored_file = [&](const std::string& path) {
    return path == kMachineName ? std::optional(std::string(machine)) : std::nullopt;
  };
  auto point = make_point(words, with_machine);
  if (!point) return point;
  const auto own = facts_of(point->canonical);
  for (const auto line : facts)
    if (std::ranges::find(own, line) == own.end() || own.size() != facts.size())
      return input_error({},
                         fmt::format("the line \"{}\" does not say what the point has", shortened(std::string(line))),
                         "this version writes its canonical text differently, or the line has a digest");
  return point;
}

}  // namespace tenex
