// Diagnostics printed in the project's message grammar, and the message of a broken contract.
#include "tenex/base/diagnostic.hpp"

#include <fmt/core.h>

#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

std::string prefix_of(const Place& place) {
  std::string text = place.file;
  if (place.line == 0) return text.empty() ? text : text + ": ";
  if (!text.empty()) text += ':';
  text += fmt::format("{}", place.line);
  if (place.column != 0) text += fmt::format(":{}", place.column);
  return text + ": ";
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = prefix_of(diagnostic.place) + diagnostic.problem;
  if (!diagnostic.why.empty()) text += fmt::format(" ({})", diagnostic.why);
  if (!diagnostic.suggestion.empty()) text += " " + diagnostic.suggestion;
  return text;
}

std::string to_string(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

void throw_broken_contract(const char* function, const char* part, const char* meaning, const char* condition) {
  throw InvariantError(fmt::format("{}() {} {}: {} does not hold", function, part, meaning, condition));
}

}  // namespace tenex
