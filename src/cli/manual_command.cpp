// manual and completion: the table of commands as a man page and as scripts that complete words in a shell.
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

/// The cases of one command for bash: what the word before the cursor takes, else options and first words.
std::string bash_case(const CommandEntry& command) {
  std::string cases;
  std::string without_words;
  std::vector<std::string> options;
  std::vector<std::string> first_words;
  for (const auto& option : command.options) {
    if (option.positional) {
      first_words.insert(first_words.end(), option.words.begin(), option.words.end());
      continue;
    }
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (option.value.empty() || option.optional_value) continue;
    const auto names = fmt::format("{}", fmt::join(option.names, " | "));
    if (option.words.empty())
      without_words += (without_words.empty() ? "" : " | ") + names;
    else
      cases += fmt::format("        {}) words={} ;;\n", names,
                           shell_quoted(fmt::format("{}", fmt::join(option.words, " "))));
  }
  if (!without_words.empty()) cases += fmt::format("        {}) return ;;\n", without_words);
  return fmt::format(
      "    {})\n      case $before in\n{}        *)\n          words={}\n"
      "          case $word in -*) words={} ;; esac\n          ;;\n      esac\n      ;;\n",
      command.name, cases, shell_quoted(fmt::format("{}", fmt::join(first_words, " "))),
      shell_quoted(fmt::format("{}", fmt::join(options, " "))));
}

std::vector<std::string> names_of(const std::vector<CommandEntry>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.name);
  return names;
}

/// Text in an argument of zsh's _arguments and _describe, where colons and brackets part its pieces.
std::string in_spec(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += (std::string_view(":[]\\").find(c) != std::string_view::npos ? "\\" : "") + std::string(1, c);
  return out;
}

std::string zsh_specs(const OptionEntry& option) {
  const std::string what = option.words.empty() ? "_files" : fmt::format("({})", fmt::join(option.words, " "));
  if (option.positional) {
    const auto where = option.repeated ? "*" : option.required ? "" : ":";
    return fmt::format(" \\\n        {}",
                       shell_quoted(fmt::format("{}:{}:{}", where, in_spec(option.names.front()), what)));
  }
  std::string specs;
  for (const auto& name : option.names) {
    std::string spec = fmt::format("{}{}{}[{}]", option.repeated ? "*" : "", name, option.value.empty() ? "" : "=",
                                   in_spec(option.help));
    if (!option.value.empty()) spec += fmt::format("{}{}:{}", option.optional_value ? "::" : ":", option.value, what);
    specs += " \\\n        " + shell_quoted(spec);
  }
  return specs;
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

std::string bash_completion(const CommandTable& table) {
  std::string cases;
  for (const auto& command : table.commands) cases += bash_case(command);
  auto first = names_of(table.commands);
  for (const auto& option : table.program.options) first.insert(first.end(), option.names.begin(), option.names.end());
  return fmt::format(
      "# Completion of tenex for bash, written by `tenex completion bash`. Where it knows no words bash offers files.\n"
      "_tenex() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=''\n"
      "  COMPREPLY=()\n"
      "  if [ \"$word\" = = ]; then word=''\n"
      "  elif [ \"$before\" = = ]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
      "  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "}}\n"
      "complete -o default -F _tenex tenex\n",
      shell_quoted(fmt::format("{}", fmt::join(first, " "))), cases);
}

std::string zsh_completion(const CommandTable& table) {
  std::string described;
  std::string cases;
  for (const auto& command : table.commands) {
    described += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", in_spec(command.name), command.help)));
    std::string specs;
    for (const auto& option : command.options) specs += zsh_specs(option);
    cases += fmt::format("    {})\n      _arguments -S{}\n      ;;\n", command.name, specs);
  }
  std::string options;
  for (const auto& option : table.program.options) options += zsh_specs(option);
  return fmt::format(
      "#compdef tenex\n"
      "# Completion of tenex for zsh, written by `tenex completion zsh`.\n"
      "_tenex() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    if [[ $words[2] == -* ]]; then\n      _arguments -S{}\n"
      "    else\n      _describe command commands\n    fi\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "if [ \"$funcstack[1]\" = _tenex ]; then _tenex \"$@\"; else compdef _tenex tenex; fi\n",
      described, options, cases);
}

ExitCode execute(const ManualArguments& /*arguments*/) {
  std::fputs(manual_page(command_table(), std::string(version())).c_str(), stdout);
  return ExitCode::done;
}

ExitCode execute(const CompletionArguments& arguments) {
  const auto table = command_table();
  std::fputs((arguments.shell == "zsh" ? zsh_completion(table) : bash_completion(table)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
