// completion: the table of commands as scripts that complete words in a shell.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "command_table.hpp"
#include "commands.hpp"

namespace tenex::cli {
namespace {

/// Those that are listed first; then proposals, where others are taken, too.
std::vector<std::string> words_and_offers(const OptionEntry& option) {
  auto words = option.words;
  words.insert(words.end(), option.offers.begin(), option.offers.end());
  return words;
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
    const auto words = words_and_offers(option);
    if (words.empty())
      without_words += (without_words.empty() ? "" : " | ") + names;
    else
      cases += fmt::format("        {}) words={}{} ;;\n", names, shell_quoted(fmt::format("{}", fmt::join(words, " "))),
                           option.list ? " list=yes" : "");
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

/// Words in a list of zsh's, in which brackets end the list.
std::string in_list(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c == '(' || c == ')' ? "\\" : "") + std::string(1, c);
  return out;
}

std::string zsh_specs(const OptionEntry& option) {
  const auto words = words_and_offers(option);
  const std::string what = words.empty() ? "_files"
                           : option.list ? fmt::format("_values -s , word {}", fmt::join(words, " "))
                                         : fmt::format("({})", in_list(fmt::format("{}", fmt::join(words, " "))));
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

/// Text in single quotes for fish, which knows two escapes in them.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "'";
}

/// An option of a command, or one of its words, for fish.
std::string fish_line(const std::string& command, const OptionEntry& option) {
  std::string line = fmt::format("complete -c tenex -n '__fish_seen_subcommand_from {}'", command);
  const auto words = words_and_offers(option);
  if (option.positional)
    return words.empty() ? "" : fmt::format("{} -a {}\n", line, fish_quoted(fmt::format("{}", fmt::join(words, " "))));
  for (const std::string_view name : option.names)
    line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  if (!option.value.empty() && !option.optional_value) line += words.empty() ? " -r" : " -x";
  if (!words.empty()) {
    const auto all = fmt::format("{}", fmt::join(words, " "));
    // The part before the last comma stays as it is typed.
    line += option.list ? fmt::format(" -a {}", fish_quoted(fmt::format("(__tenex_list {})", in_list(all))))
                        : fmt::format(" -a {}", fish_quoted(in_list(all)));
  }
  return fmt::format("{} -d {}\n", line, fish_quoted(option.help));
}

}  // namespace

std::string bash_completion(const CommandTable& table) {
  std::string cases;
  for (const auto& command : table.commands) cases += bash_case(command);
  auto first = names_of(table.commands);
  for (const auto& option : table.program.options) first.insert(first.end(), option.names.begin(), option.names.end());
  return fmt::format(
      "# Completion of tenex for bash, written by `tenex completion bash`. Where it knows no words bash offers files.\n"
      "_tenex() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words='' list='' quote='' "
      "head=''\n"
      "  COMPREPLY=()\n"
      "  if [ \"$word\" = = ]; then word=''\n"
      "  elif [ \"$before\" = = ]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
      "  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case $word in [\\\"\\']*) quote=${{word:0:1}} word=${{word:1}} ;; esac\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  if [ -n \"$list\" ] && [[ $word = *,* ]]; then head=${{word%,*}}, word=${{word##*,}}; fi\n"
      "  mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"$word\")\n"
      "  case ${{COMPREPLY[*]}} in *\\(*)\n"
      "    compopt -o nospace 2>/dev/null\n"
      "    [ -n \"$quote\" ] || COMPREPLY=(\"${{COMPREPLY[@]//\\(/\\\\(}}\")\n"
      "  esac\n"
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

std::string fish_completion(const CommandTable& table) {
  std::string text =
      "# Completion of tenex for fish, written by `tenex completion fish`.\n"
      "function __tenex_list\n"
      "  set -l head (string replace -r '[^,]*$' '' -- (commandline -ct))\n"
      "  printf \"$head%s\\n\" $argv\n"
      "end\n";
  for (const auto& option : table.program.options) {
    std::string names;
    for (const std::string_view name : option.names)
      names += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
    text += fmt::format("complete -c tenex -n __fish_use_subcommand{} -d {}\n", names, fish_quoted(option.help));
  }
  for (const auto& command : table.commands)
    text += fmt::format("complete -c tenex -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        fish_quoted(command.help));
  for (const auto& command : table.commands)
    for (const auto& option : command.options) text += fish_line(command.name, option);
  return text;
}

ExitCode execute(const CompletionArguments& arguments) {
  const auto table = command_table();
  const auto script = arguments.shell == "zsh"    ? zsh_completion(table)
                      : arguments.shell == "fish" ? fish_completion(table)
                                                  : bash_completion(table);
  std::fputs(script.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
