// The engines behind the name `pccl`, in the order in which `auto` tries them: a new engine is one file and one line of
// the table in engines.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

/// The names of the engines in studies.
namespace tenex::pccl_engine {

inline constexpr std::string_view orbit = "orbit";  ///< one NPU's plan, moved over a translation group
inline constexpr std::string_view grid = "grid";    ///< All-to-All on products of lines
inline constexpr std::string_view paths = "paths";  ///< an earliest path for each condition, any topology

}  // namespace tenex::pccl_engine

namespace tenex {

struct PcclEngine {
  std::string_view name;
  /// Why the engine cannot make this collective; nullopt if it can. `problem.collective` is the one that is asked for.
  std::optional<std::string> (*unsuitable)(const SynthesisProblem& problem);
  /// Makes the whole collective.
  Result<Synthesis> (*synthesize)(const SynthesisProblem& problem);
  std::size_t (*bytes)(const SynthesisProblem& problem);
  double (*seconds)(const SynthesisProblem& problem);
};

[[nodiscard]] const std::vector<PcclEngine>& pccl_engines();

/// The engine for a problem. Errors (input): the named engine does not suit, with its reason.
[[nodiscard]] Result<const PcclEngine*> choose_pccl_engine(const SynthesisProblem& problem);

// The registry entry (thesis ASTRA-sim2.0, chapter 6).
[[nodiscard]] Result<Synthesis> synthesize_pccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t pccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] double pccl_seconds(const SynthesisProblem& problem);

}  // namespace tenex
