// Internal to cli: the table of commands and options as plain values, read from the parser itself. The man page and the
// completions of shells are made from it, so no command is listed twice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenex::cli {

/// An option of a command, or one of its words without dashes.
struct OptionEntry {
  std::vector<std::string> names = {};  ///< with dashes; of a word without dashes, its name alone
  std::string value = {};               ///< what follows, such as TEXT or INT; empty: nothing does
  std::string help = {};
  std::string group = {};                ///< under which `--help` lists it
  std::vector<std::string> words = {};   ///< the values, if that is a fixed list
  std::vector<std::string> offers = {};  ///< some values of many, for completion
  bool list = false;                     ///< takes several values, separated by commas
  bool positional = false;
  bool required = false;
  bool repeated = false;        ///< takes several values
  bool optional_value = false;  ///< may stand without its value
};

struct CommandEntry {
  std::string name = {};
  std::string help = {};
  std::vector<OptionEntry> options = {};  ///< those without dashes too, in the order of `--help`
  std::string examples = {};              ///< as `--help` ends
};

/// What `tenex --help` and `tenex COMMAND --help` say.
struct CommandTable {
  CommandEntry program = {};
  std::vector<CommandEntry> commands = {};
};

/// The table of this program.
[[nodiscard]] CommandTable command_table();

/// What `tenex --help` prints in lines of at most `width` characters, where words allow it.
[[nodiscard]] std::string help_page(const CommandTable& table, std::size_t width);
/// What `tenex COMMAND --help` prints, with the options in their groups.
[[nodiscard]] std::string help_page(const CommandEntry& command, std::size_t width);
/// Prints the help of a command, or of the program where the name is empty, as wide as the terminal.
void print_help(const std::string& command);

/// The page of the table for man(1), in roff.
[[nodiscard]] std::string manual_page(const CommandTable& table, const std::string& version);
/// The completion of the table's commands, options and words for bash.
[[nodiscard]] std::string bash_completion(const CommandTable& table);
/// The same for zsh.
[[nodiscard]] std::string zsh_completion(const CommandTable& table);
/// The same for fish.
[[nodiscard]] std::string fish_completion(const CommandTable& table);

}  // namespace tenex::cli
