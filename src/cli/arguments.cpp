// The command line: what options of all commands have in common, their table for pages and completions, and errors.
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_options.hpp"
#include "command_table.hpp"
#include "commands.hpp"
#include "option_checks.hpp"
#include "option_words.hpp"
#include "parsed.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/words.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {

CLI::Validator one_of(const char* noun, const std::vector<std::string>& words) {
  return {one_of_words(noun, words), "{" + CLI::detail::join(words, ",") + "}"};
}

CLI::Validator between(std::int64_t least, std::int64_t most) { return {whole_number(least, most), ""}; }

void add_threads(CLI::App* command, int& threads, const char* what) {
  constexpr std::int64_t kMostThreads = 1024;
  command->add_option("--threads", threads, what)->check(between(1, kMostThreads))->group(kResources);
}

void add_json(CLI::App* command, bool& json, const char* what) {
  command->add_flag("--json", json, what)->group(kOutput);
}

void add_memory(CLI::App* command, std::string& memory) {
  command->add_option("--memory", memory, "memory limit, with unit, such as 8GiB")->group(kResources);
}

void add_options(CLI::App* command, ReadBy kind, std::vector<std::pair<std::string, std::string>>& settings,
                 std::string_view own) {
  for (const auto& setting : tenex::settings()) {
    if (setting.name == own) continue;
    if (setting.read_by != ReadBy::all && setting.read_by != kind) continue;
    if (setting.written == Written::texts) continue;  // it has its own option, which may be repeated
    const std::string key(setting.name);
    command
        ->add_option_function<std::string>(
            flags_of(setting), [&settings, key](const std::string& text) { settings.emplace_back(key, text); },
            help_of(setting))
        ->group(group_of(setting));
  }
}

namespace {

void add_all(CLI::App& app, Parsed& parsed) {
  app.description("tenex explores the design space of collective communication on machine-learning clusters.");
  app.name("tenex");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.footer(
      "Each command explains itself with an example: tenex help COMMAND\n"
      "tenex --version --json prints versions of the compiler, libraries and file formats, too");
  add_study_commands(app, parsed);
  add_point_commands(app, parsed);
  add_exchange_commands(app, parsed);
  add_word_commands(app, parsed);
}

// Names an unknown command, where CLI11 would only say that a subcommand is missing. Returns true when the first word
// is not a command.
bool complain_of_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string_view> names;
  for (const auto* command : app.get_subcommands({})) names.emplace_back(command->get_name());
  const std::string_view word = argv[1];
  if (std::ranges::find(names, word) != names.end()) return false;
  complain({unknown_command(word, names)});
  return true;
}

/// The options of a command, each by all its names.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Errors of CLI11 in the project's form.
void complain_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string place = chosen.empty() ? "tenex" : "tenex " + command.get_name();
  complain(usage_errors(place, app.remaining(true), option_names(command), error.what()));
}

OptionEntry entry_of(const CLI::Option& option, const Vocabulary& vocabulary) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) entry.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.help = option.get_description();
  entry.group = entry.positional ? "" : option.get_group();
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  const auto type = option.get_type_name();
  entry.value = type.substr(0, type.find(':'));
  entry.repeated = option.get_items_expected_max() > 1;
  entry.optional_value = !entry.positional && option.get_items_expected_min() == 0;
  entry.list = option.get_delimiter() != '\0';
  entry.offers = offers_of(entry.names.front(), vocabulary);
  entry.words = words_in(type);
  if (entry.words.empty() && !entry.positional) entry.words = words_of_key(option.get_lnames().front(), vocabulary);
  return entry;
}

CommandEntry entry_of(const CLI::App& command, const Vocabulary& vocabulary) {
  CommandEntry entry;
  entry.name = command.get_name();
  entry.help = command.get_description();
  entry.examples = command.get_footer();
  for (const auto* option : command.get_options()) entry.options.push_back(entry_of(*option, vocabulary));
  return entry;
}

}  // namespace

CommandTable command_table() {
  CLI::App app;
  Parsed parsed;
  add_all(app, parsed);
  const auto words = vocabulary();
  CommandTable table{entry_of(app, words)};
  for (const auto* command : app.get_subcommands({})) table.commands.push_back(entry_of(*command, words));
  return table;
}

namespace {

/// `tenex help [COMMAND]`: whether these words are that, and the command they name.
std::optional<Arguments> answer_help(const CLI::App& app, int argc, char** argv) {
  const bool alone = argc < 2;
  if (!alone && argv[1] != std::string_view("help")) return std::nullopt;
  const bool of_command = argc > 2 && argv[2][0] != '-';
  if (of_command && complain_of_unknown_command(app, argc - 1, argv + 1))
    return Leave{static_cast<int>(ExitCode::bad_input)};
  print_help(of_command ? argv[2] : "");
  return Leave{alone ? static_cast<int>(ExitCode::bad_input) : 0};  // a script that lost its words must not go on
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  CLI::App app;
  Parsed parsed;
  add_all(app, parsed);
  // CLI11 prints its version text at once: the object is asked for before.
  if (argc == 3 && argv[1] == std::string_view("--version") && argv[2] == std::string_view("--json"))
    return VersionArguments{};
  if (auto helped = answer_help(app, argc, argv)) return *std::move(helped);
  if (complain_of_unknown_command(app, argc, argv)) return Leave{static_cast<int>(ExitCode::bad_input)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    print_help(chosen.empty() ? "" : chosen.front()->get_name());
    return Leave{0};
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (asked)
      app.exit(error);
    else
      complain_of(app, error);
    return Leave{asked ? 0 : static_cast<int>(ExitCode::bad_input)};
  }
  return chosen(app.get_subcommands().front()->get_name(), parsed);
}

}  // namespace tenex::cli
