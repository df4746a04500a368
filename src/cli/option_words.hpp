// Internal to cli: how keys become options, and the words that options take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenex/design/setting.hpp"

namespace tenex::cli {

/// "--npu-bandwidth,--npu_bandwidth": a key spelled as an option and as in a study.
[[nodiscard]] std::string flags_of(const Setting& setting);
/// Its line of help, with its default.
[[nodiscard]] std::string help_of(const Setting& setting);
/// The help's group of a key, by what it changes of a point.
[[nodiscard]] const char* group_of(const Setting& setting);

/// All values of the key that an option sets, where they are listed.
[[nodiscard]] std::vector<std::string> words_of_key(std::string option, const Vocabulary& vocabulary);
/// Some values of an option that takes others, too: built-in machines and shapes up to their brackets, or columns.
[[nodiscard]] std::vector<std::string> offers_of(std::string_view option, const Vocabulary& vocabulary);

}  // namespace tenex::cli
