// Parts of the machine files that are made from other tools' texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenex::exchange {

/// Text that is safe in a comment or a string of TOML: one line of printable ASCII, shortened.
[[nodiscard]] std::string plain(std::string_view text);

/// The lines that every machine file begins with. `comments` stand above them.
[[nodiscard]] std::string machine_head(const std::vector<std::string>& comments, const std::string& name,
                                       const std::string& source, const std::vector<std::string>& remarks);

}  // namespace tenex::exchange
