// init: a commented study to begin with.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "builtin_texts.hpp"
#include "commands.hpp"

namespace tenex::cli {

std::vector<std::string> init_names() {
  std::vector<std::string> names;
  for (const auto& study : init_studies()) names.emplace_back(study.name);
  return names;
}

ExitCode execute(const InitArguments& arguments) {
  if (const auto study = find_builtin(init_studies(), arguments.name)) {
    std::fwrite(study->data(), 1, study->size(), stdout);
    return ExitCode::done;
  }
  // The first line of a study is a comment that asks its question.
  for (const auto& study : init_studies()) {
    const auto line = study.content.substr(0, study.content.find('\n'));
    fmt::print("  {:<10} {}\n", study.name, line.substr(line.find_first_not_of("# ")));
  }
  return ExitCode::done;
}

}  // namespace tenex::cli
