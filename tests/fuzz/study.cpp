// Fuzz target: the study parser, with the vocabulary of the program.
#include "targets.hpp"

#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

void tenex::fuzz::study(std::string_view input) {
  static const auto words = [] {
    auto vocabulary = tenex::vocabulary();
    vocabulary.stored_file = [](const std::string&) { return std::string(); };  // no input reads this host's files
    return vocabulary;
  }();
  const auto study = tenex::parse_study(input, "fuzz.toml", words);
  if (!study.ok() && study.errors().empty()) __builtin_trap();  // a refusal says why
}
