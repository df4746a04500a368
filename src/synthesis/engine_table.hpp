// Engines of a synthesizer that is a table of them: each makes whole collectives, and the first that suits is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tenex/base/contract.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

struct SynthesisEngine {
  std::string_view name;
  /// Why the engine cannot make this collective; nullopt if it can. `problem.collective` is the one that is asked for.
  std::optional<std::string> (*unsuitable)(const SynthesisProblem& problem);
  /// The maker behind synthesize().
  Result<Synthesis> (*make)(const SynthesisProblem& problem);
  std::size_t (*bytes)(const SynthesisProblem& problem);
  Work (*work)(const SynthesisProblem& problem);
  /// The sends that the verifier checks in place of all, those of one period; null: it checks all.
  double (*checked_sends)(const SynthesisProblem& problem) = nullptr;

  /// Makes the whole collective. Expects: a problem that suits the engine.
  [[nodiscard]] Result<Synthesis> synthesize(const SynthesisProblem& problem) const {
    TENEX_EXPECTS(!unsuitable(problem), "a problem that suits the engine");
    return make(problem);
  }
};

/// The engine for a problem: the one it names, or the first that suits. Errors (input): the named engine does not suit,
/// or none does, with their reasons.
[[nodiscard]] inline Result<const SynthesisEngine*> choose_engine(const std::vector<SynthesisEngine>& table,
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
