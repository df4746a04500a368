// Fuzz target: tuner tables, both readers. What is written of the rules that a reader keeps is read as the same rules.
#include "targets.hpp"

#include "tenex/exchange/tuner_table.hpp"

void tenex::fuzz::tuner_table(std::string_view input) {
  using namespace tenex;  // NOLINT
  const SourceText source{"fuzz", std::string(input)};
  for (const auto reader : {TunerReader::nccl, TunerReader::rccl}) {
    const auto lint = lint_tuner_table(source, reader);
    if (!lint.ok()) {
      if (lint.errors().empty()) __builtin_trap();
      continue;
    }
    const auto again = lint_tuner_table({"again", tuner_table_text({}, lint->rules)}, reader);
    if (!again.ok() || again->rules.size() != lint->rules.size()) __builtin_trap();
    for (std::size_t i = 0; i < lint->rules.size(); ++i) {
      const auto& a = lint->rules[i];
      const auto& b = again->rules[i];
      if (a.collective != b.collective || a.first != b.first || a.last != b.last || a.algorithm != b.algorithm ||
          a.protocol != b.protocol || a.channels != b.channels || a.nodes != b.nodes || a.ranks != b.ranks)
        __builtin_trap();
    }
  }
}
