// manual: the table of commands as a man page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "command_table.hpp"
#include "commands.hpp"
#include "tenex/base/version.hpp"

namespace tenex::cli {
namespace {

/// Text that roff prints as it is, also at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  bool first = true;
  for (const char c : text) {
    if (first && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    first = c == '\n';
  }
  return out;
}

/// "STUDY", "[KEY]", "DIR ...": a word without dashes in a command's line.
std::string in_synopsis(const OptionEntry& option) {
  const std::string name = fmt::format("\\fI{}\\fR{}", roff(option.names.front()), option.repeated ? " ..." : "");
  return option.required ? name : fmt::format("[{}]", name);
}

std::string roff_of(const OptionEntry& option) {
  std::string heading;
  for (const auto& name : option.names)
    heading += fmt::format("{}\\f{}{}\\fR", heading.empty() ? "" : ", ", option.positional ? 'I' : 'B', roff(name));
  if (!option.positional && !option.value.empty())
    heading +=
        (option.optional_value ? " [\\fI" : " \\fI") + roff(option.value) + (option.optional_value ? "\\fR]" : "\\fR");
  std::string text = fmt::format(".TP\n{}\n{}\n", heading, roff(option.help));
  if (!option.words.empty()) text += roff(fmt::format("({})\n", fmt::join(option.words, ", ")));
  return text;
}

std::string roff_of(const CommandEntry& command) {
  std::string line = fmt::format("\\fBtenex {}\\fR", roff(command.name));
  for (const auto& option : command.options)
    if (option.positional) line += " " + in_synopsis(option);
  std::string text =
      fmt::format(".SS {}\n{} [\\fIoptions\\fR]\n.PP\n{}.\n", roff(command.name), line, roff(command.help));
  for (const auto& option : command.options) text += roff_of(option);
  if (!command.examples.empty()) text += fmt::format(".PP\n.EX\n{}\n.EE\n", roff(command.examples));
  return text;
}

}  // namespace

std::string manual_page(const CommandTable& table, const std::string& version) {
  std::string text = fmt::format(
      ".TH TENEX 1 \"\" \"tenex {}\" \"User Commands\"\n.SH NAME\ntenex \\- explore the design space of collective "
      "communication\n.SH SYNOPSIS\n\\fBtenex\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n{}\n"
      ".SH OPTIONS\n",
      roff(version), roff(table.program.help));
  for (const auto& option : table.program.options) text += roff_of(option);
  text += ".SH COMMANDS\n";
  for (const auto& command : table.commands) text += roff_of(command);
  return text +
         ".SH EXIT STATUS\n.TP\n0\nEverything was done.\n.TP\n1\nSome points failed, or a verification found a "
         "violation.\n.TP\n2\nThe input is bad: nothing was done.\n.TP\n3\nThe run was interrupted; the same command "
         "continues it.\n.SH ENVIRONMENT\n.TP\nOMP_NUM_THREADS\nThreads of a rank.\n.TP\nNO_COLOR\nIf set, messages "
         "have no colours.\n.TP\nTENEX_EXIT_CODE\nThe file to which rank 0 of a run writes its exit code.\n";
}

ExitCode execute(const ManualArguments& /*arguments*/) {
  std::fputs(manual_page(command_table(), std::string(version())).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
