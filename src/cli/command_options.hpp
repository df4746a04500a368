// Internal to cli: the options of the commands, by groups of commands, and what several of them have. The files that
// define them use CLI11; this header does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsed.hpp"
#include "tenex/design/setting.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace tenex::cli {

/// The help's groups of options, beside those of keys.
inline constexpr const char* kResources = "Threads and memory";
inline constexpr const char* kOutput = "Output";

/// One of these words, which the table of commands reads from the description; `noun` says what they name.
[[nodiscard]] CLI::Validator one_of(const char* noun, const std::vector<std::string>& words);
[[nodiscard]] CLI::Validator between(std::int64_t least, std::int64_t most);
void add_threads(CLI::App* command, int& threads, const char* what);
void add_json(CLI::App* command, bool& json, const char* what = "one JSON object on stdout");
void add_memory(CLI::App* command, std::string& memory);

/// Adds options for the keys that points of this kind read, written as in a study, without the key that the command has
/// an option of its own for.
void add_options(CLI::App* command, ReadBy kind, std::vector<std::pair<std::string, std::string>>& settings,
                 std::string_view own = {});

// Commands in the order of the help.
void add_study_commands(CLI::App& app, Parsed& parsed);     ///< run to report (study_options.cpp)
void add_point_commands(CLI::App& app, Parsed& parsed);     ///< synthesize to optimize (point_options.cpp)
void add_exchange_commands(CLI::App& app, Parsed& parsed);  ///< verify to predict (exchange_options.cpp)
void add_word_commands(CLI::App& app, Parsed& parsed);      ///< list to completion (study_options.cpp)

}  // namespace tenex::cli
