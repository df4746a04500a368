#include "synthesis/engine_table.hpp"

#include <fmt/format.h>

namespace tenex {

Result<const SynthesisEngine*> choose_engine(const std::vector<SynthesisEngine>& table,
                                             const SynthesisProblem& problem) {
  const bool any = problem.engine == kAutomaticEngine;
  std::string reason;  // of the named engine, or of all
  for (const SynthesisEngine& engine : table) {
    if (!any && problem.engine != engine.name) continue;
    const auto unsuitable = engine.unsuitable(problem);
    if (!unsuitable) return &engine;
    reason += any ? fmt::format("{}{}: {}", reason.empty() ? "" : "; ", engine.name, *unsuitable) : *unsuitable;
  }
  if (any) return input_error({}, "no engine can make this schedule", reason, "choose another algorithm");
  return input_error({}, fmt::format("the engine `{}` cannot make this schedule", problem.engine), reason,
                     "leave the engine to `auto`");
}

}  // namespace tenex
