// `--help`: the table of commands as text, in groups, with its lines folded.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "command_table.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/coordinator/progress.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kNarrowest = 40;  // narrower terminals wrap lines themselves
constexpr std::size_t kWidest = 120;    // longer lines read badly
constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kCommandColumn = 14;

/// The text in lines of at most `width` characters; a longer word has a line of its own. `indent` blanks before each
/// but the first.
std::string folded(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// "  heading   text", where the text begins in a column; below a heading that reaches it.
std::string entry_text(const std::string& heading, std::string_view text, std::size_t column, std::size_t width) {
  std::string line = "  " + heading;
  if (line.size() + 2 > column)
    line += '\n' + std::string(column, ' ');
  else
    line.resize(column, ' ');
  return line + folded(text, column, width) + '\n';
}

/// "-o, --out TEXT"; a key's other spelling with "_" is left out.
std::string heading_of(const OptionEntry& option) {
  std::string heading;
  for (const auto& name : option.names)
    if (option.positional || name.find('_') == std::string::npos) heading += (heading.empty() ? "" : ", ") + name;
  if (option.positional && option.repeated) heading += " ...";
  if (!option.positional && !option.value.empty())
    heading += option.optional_value ? fmt::format(" [{}]", option.value) : " " + option.value;
  return heading;
}

std::string options_text(const CommandEntry& command, std::size_t width) {
  std::vector<std::string> groups;  // in the order of their first options
  for (const auto& option : command.options)
    if (std::ranges::count(groups, option.group) == 0) groups.push_back(option.group);
  std::stable_partition(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); });  // clang 14
  std::string text;
  for (const auto& group : groups) {
    text += fmt::format("\n{}:\n", group.empty() ? "Words" : group);
    for (const auto& option : command.options)
      if (option.group == group)
        text += entry_text(heading_of(option),
                           option.required && !option.positional ? option.help + " (required)" : option.help,
                           kHelpColumn, width);
  }
  return text;
}

std::size_t bounded(std::size_t width) { return std::clamp(width, kNarrowest, kWidest); }

/// The terminal's width, or $COLUMNS where the help goes elsewhere, or 80.
std::size_t width_of_stdout() {
  constexpr std::size_t kUsual = 80;
  if (const auto columns = terminal_columns(STDOUT_FILENO); columns > 0) return columns;
  const char* const columns = std::getenv("COLUMNS");
  return columns == nullptr ? kUsual : read_number<std::size_t>(columns).value_or(kUsual);
}

}  // namespace

std::string help_page(const CommandTable& table, std::size_t width) {
  width = bounded(width);
  std::string text = folded(table.program.help, 0, width) + "\n\nUsage: tenex COMMAND [options]\n\nCommands:\n";
  for (const auto& command : table.commands) text += entry_text(command.name, command.help, kCommandColumn, width);
  return text + options_text(table.program, width) + "\n" + table.program.examples + "\n";
}

std::string help_page(const CommandEntry& command, std::size_t width) {
  width = bounded(width);
  std::string usage = "Usage: tenex " + command.name;
  for (const auto& option : command.options)
    if (option.positional)
      usage += option.required ? " " + heading_of(option) : fmt::format(" [{}]", heading_of(option));
  return folded(command.help, 0, width) + "\n\n" + usage + " [options]\n" + options_text(command, width) + "\n" +
         command.examples + "\n";
}

void print_help(const std::string& command) {
  const auto table = command_table();
  const auto entry = std::ranges::find(table.commands, command, &CommandEntry::name);
  const auto width = width_of_stdout();
  std::fputs((entry == table.commands.end() ? help_page(table, width) : help_page(*entry, width)).c_str(), stdout);
}

}  // namespace tenex::cli
