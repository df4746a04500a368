// The man page and the completions of shells, made from the table of commands.
#include "../../src/cli/command_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

const CommandEntry& command_of(const CommandTable& table, const std::string& name) {
  return *std::ranges::find(table.commands, name, &CommandEntry::name);
}

const OptionEntry& option_of(const CommandEntry& command, const std::string& name) {
  return *std::ranges::find_if(command.options,
                               [&](const OptionEntry& option) { return std::ranges::count(option.names, name) > 0; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

/// What bash offers after these words, of which the last is incomplete.
std::vector<std::string> completed(const std::vector<std::string>& words) {
  std::string script = bash_completion(command_table()) + "COMP_WORDS=(tenex";
  for (const auto& word : words) script += " '" + word + "'";
  script += ")\nCOMP_CWORD=" + std::to_string(words.size()) + "\n_tenex\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "script", script);
  const auto run = support::run({{"bash", (folder.path() / "script").string()}, {}, {}});
  EXPECT_EQ(run.err, "");
  auto lines = lines_of(run.out);
  std::erase(lines, "");
  return lines;
}

/// A table with all kinds of entries.
CommandTable small_table() {
  const OptionEntry file{.names = {"file"}, .value = "TEXT", .help = "a file", .positional = true, .required = true};
  const OptionEntry more{.names = {"more"}, .value = "TEXT", .help = "files", .positional = true, .repeated = true};
  const OptionEntry size{.names = {"--a-size", "--a_size"}, .value = "TEXT", .help = "of it: [B]"};
  const OptionEntry kind{.names = {"--kind"}, .value = "TEXT", .help = "it's one", .words = {"ring", "line"}};
  const OptionEntry flag{.names = {"-q", "--quiet"}, .help = "\\no words"};
  return {.program = {.name = "tenex", .help = "What it does."},
          .commands = {{.name = "do",
                        .help = "Do it",
                        .options = {file, more, size, kind, flag},
                        .examples = "Example:\n  tenex do f"}}};
}

TEST(TheCommandTable, HasEveryCommandWithItsOptionsAndWords) {
  const auto table = command_table();
  std::vector<std::string> names;
  for (const auto& command : table.commands) names.push_back(command.name);
  EXPECT_THAT(names, IsSupersetOf({"run", "plan", "synthesize", "optimize", "list", "manual", "completion"}));
  const auto& run = command_of(table, "run");
  EXPECT_TRUE(option_of(run, "study").positional);
  EXPECT_TRUE(option_of(run, "--out").required);
  EXPECT_EQ(option_of(run, "--quiet").value, "");
  EXPECT_EQ(option_of(run, "--threads").value, "INT");
  EXPECT_TRUE(option_of(command_of(table, "plan"), "--sbatch").optional_value);
  EXPECT_THAT(option_of(command_of(table, "completion"), "shell").words, ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(option_of(command_of(table, "list"), "what").words, IsSupersetOf({"all", "algorithms", "columns"}));
  const auto& synthesize = command_of(table, "synthesize");
  EXPECT_THAT(option_of(synthesize, "--occupancy").words, ElementsAre("serialization", "transfer"));  // of the key
  EXPECT_THAT(option_of(synthesize, "--npu-bandwidth").names, ElementsAre("--npu-bandwidth", "--npu_bandwidth"));
}

TEST(TheManualPage, IsRoffOfTheTable) {
  EXPECT_THAT(
      manual_page(small_table(), "1.2"),
      HasSubstr(".SH COMMANDS\n.SS do\n\\fBtenex do\\fR \\fIfile\\fR [\\fImore\\fR ...] [\\fIoptions\\fR]\n.PP\n"
                "Do it.\n.TP\n\\fIfile\\fR\na file\n.TP\n\\fImore\\fR\nfiles\n"
                ".TP\n\\fB\\-\\-a\\-size\\fR, \\fB\\-\\-a_size\\fR \\fITEXT\\fR\nof it: [B]\n"
                ".TP\n\\fB\\-\\-kind\\fR \\fITEXT\\fR\nit's one\n(ring, line)\n"
                ".TP\n\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR\n\\eno words\n"
                ".PP\n.EX\nExample:\n  tenex do f\n.EE\n.SH EXIT STATUS\n"));
}

TEST(TheManualPage, IsTakenByManWithoutWarning) {
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "tenex.1", manual_page(command_table(), "1.2"));
  const auto page = (folder.path() / "tenex.1").string();
  const auto run = support::run({{"groff", "-man", "-Tascii", "-ww", "-z", page}, {}, {}});
  if (run.exit_code == 127 && std::getenv("CI") == nullptr) GTEST_SKIP() << "no groff here";
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
}

TEST(CompletionInBash, OffersCommandsOptionsAndWords) {
  EXPECT_THAT(completed({"syn"}), ElementsAre("synthesize"));
  EXPECT_THAT(completed({"run", "study.toml", "--re"}), ElementsAre("--retry-failed"));
  EXPECT_THAT(completed({"synthesize", "--occupancy", ""}), ElementsAre("serialization", "transfer"));
  EXPECT_THAT(completed({"synthesize", "--occupancy", "=", "tr"}), ElementsAre("transfer"));
  EXPECT_THAT(completed({"synthesize", "--collective", "all_g"}), ElementsAre("all_gather"));
  EXPECT_THAT(completed({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  // Columns, also after a comma; machines and shapes, whose brackets are escaped unless a quote is open.
  EXPECT_THAT(completed({"show", "results", "--sort", "collective_time_p"}), ElementsAre("collective_time_ps"));
  EXPECT_THAT(completed({"show", "results", "--columns", "topology,collective_time_p"}),
              ElementsAre("topology,collective_time_ps"));
  EXPECT_THAT(completed({"synthesize", "--topology", "dgx"}), IsSupersetOf({"dgx1", "dgx_h100"}));
  EXPECT_THAT(completed({"synthesize", "--topology", "mesh"}), Contains("mesh\\("));
  EXPECT_THAT(completed({"synthesize", "--topology", "\"mesh"}), Contains("mesh("));
  // Where it offers nothing bash offers files.
  EXPECT_THAT(completed({"run", "stu"}), IsEmpty());
  EXPECT_THAT(completed({"run", "study.toml", "--out", "resul"}), IsEmpty());
  EXPECT_THAT(completed({"unknown", "--"}), IsEmpty());
}

TEST(CompletionInZsh, GivesArgumentsTheEntriesOfACommand) {
  const auto text = zsh_completion(small_table());
  EXPECT_THAT(text, HasSubstr("'do:Do it'\n"));
  EXPECT_THAT(text, HasSubstr("'--a-size=[of it\\: \\[B\\]]:TEXT:_files' \\\n        '--a_size=["));
  EXPECT_THAT(text, HasSubstr("'--kind=[it'\\''s one]:TEXT:(ring line)'"));
  EXPECT_THAT(text, HasSubstr("'-q[\\\\no words]' \\\n        '--quiet[\\\\no words]'"));
  EXPECT_THAT(text, HasSubstr("':file:_files' \\\n        '*:more:_files'"));
  EXPECT_THAT(text, Not(HasSubstr("'--quiet=")));
  // zsh reads it, and _arguments gets the words of the command alone.
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "script",
                      "compdef() { :; }\n_arguments() { print -rl -- $CURRENT $words $# ${@[-1]}; }\n" + text +
                          "words=(tenex do -q)\nCURRENT=3\n_tenex\n");
  const auto run = support::run({{"zsh", "-f", (folder.path() / "script").string()}, {}, {}});
  if (run.exit_code == 127 && std::getenv("CI") == nullptr) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(run.err, "");
  // The second word of two. The arguments: -S, file, more, --a-size, --a_size, --kind, -q, --quiet.
  EXPECT_EQ(run.out, "2\ndo\n-q\n8\n--quiet[\\\\no words]\n");
}

TEST(CompletionInZsh, ListsColumnsAndNetworks) {
  const auto text = zsh_completion(command_table());
  EXPECT_THAT(text, HasSubstr(":_values -s , word key topology"));
  EXPECT_THAT(text, HasSubstr("mesh\\( "));
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "_tenex", text);
  const auto run = support::run({{"zsh", "-n", (folder.path() / "_tenex").string()}, {}, {}});
  if (run.exit_code == 127 && std::getenv("CI") == nullptr) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(CompletionInFish, HasALineForEveryCommandAndOption) {
  const auto text = fish_completion(small_table());
  EXPECT_THAT(text, HasSubstr("complete -c tenex -n __fish_use_subcommand -f -a do -d 'Do it'\n"));
  EXPECT_THAT(text, HasSubstr("complete -c tenex -n '__fish_seen_subcommand_from do' -l a-size -l a_size -r -d 'of it: "
                              "[B]'\n"));
  EXPECT_THAT(text, HasSubstr(" -l kind -x -a 'ring line' -d 'it\\'s one'\n"));
  EXPECT_THAT(text, HasSubstr(" -s q -l quiet -d '\\\\no words'\n"));
  EXPECT_THAT(fish_completion(command_table()), HasSubstr(" -l columns -x -a '(__tenex_list key topology"));
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "tenex.fish", fish_completion(command_table()));
  const auto run = support::run({{"fish", "-n", (folder.path() / "tenex.fish").string()}, {}, {}});
  if (run.exit_code == 127) GTEST_SKIP() << "no fish here";
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(TheHelpPage, ListsWordsAndOptionsInFoldedLines) {
  auto table = small_table();
  auto& options = table.commands[0].options;
  options[2].group = "Size";
  options[2].required = true;
  options[3].group = options[4].group = "Kind";
  EXPECT_EQ(help_page(table.commands[0], 50),
            "Do it\n\nUsage: tenex do file [more ...] [options]\n"
            "\nWords:\n  file                      a file\n  more ...                  files\n"
            "\nSize:\n  --a-size TEXT             of it: [B] (required)\n"
            "\nKind:\n  --kind TEXT               it's one\n  -q, --quiet               \\no words\n"
            "\nExample:\n  tenex do f\n");
}

}  // namespace
}  // namespace tenex::cli
