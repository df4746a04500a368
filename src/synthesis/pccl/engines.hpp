// The engines behind the name `pccl`, in the order in which `auto` tries them: a new engine is one file and one line of
// the table in engines.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/engine_table.hpp"
#include "tenex/synthesis/synthesizer.hpp"

/// The names of the engines in studies.
namespace tenex::pccl_engine {

inline constexpr std::string_view orbit = "orbit";        ///< one NPU's plan, moved over a translation group
inline constexpr std::string_view grid = "grid";          ///< All-to-All on products of lines
inline constexpr std::string_view balanced = "balanced";  ///< chunks with one destination, on balanced ways
inline constexpr std::string_view paths = "paths";        ///< an earliest path for each condition, any topology

}  // namespace tenex::pccl_engine

namespace tenex {

[[nodiscard]] const std::vector<SynthesisEngine>& pccl_engines();

// The registry entry (thesis ASTRA-sim2.0, chapter 6).
[[nodiscard]] Result<Synthesis> synthesize_pccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t pccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work pccl_work(const SynthesisProblem& problem);

}  // namespace tenex
