#include <algorithm>
#include <array>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

constexpr std::array<std::string_view, 5> names{"auto", "event_driven", "exact", "coarse", "symmetric"};

}  // namespace

std::string_view to_string(EngineChoice choice) { return names.at(static_cast<std::size_t>(choice)); }

std::optional<EngineChoice> parse_engine_choice(std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<EngineChoice>(found - names.begin());
}

}  // namespace tenex
