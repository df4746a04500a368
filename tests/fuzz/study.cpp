// Fuzz target: the study parser, with the vocabulary of the program.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto words = [] {
    auto vocabulary = tenex::vocabulary();
    vocabulary.stored_file = [](const std::string&) { return std::string(); };  // no input reads this host's files
    return vocabulary;
  }();
  const auto study = tenex::parse_study({reinterpret_cast<const char*>(data), size}, "fuzz.toml", words);
  if (!study.ok() && study.errors().empty()) __builtin_trap();  // a refusal says why
  return 0;
}
