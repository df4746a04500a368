// The entry of libFuzzer and of driver.cpp: runs the target that TENEX_FUZZ names.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "targets.hpp"

namespace tenex::fuzz {
namespace {

using Target = void (*)(std::string_view);

constexpr std::array<std::pair<std::string_view, Target>, 12> kTargets{{
    {"study", study},
    {"schedule", schedule},
    {"schedule_columns", schedule_columns},
    {"journal", journal},
    {"workload", workload},
    {"cost_model", cost_model},
    {"machine", machine},
    {"machine_import", machine_import},
    {"foreign_schedule", foreign_schedule},
    {"measurements", measurements},
    {"tuner_table", tuner_table},
    {"constraint", constraint},
}};

Target named_target() {
  const char* const name = std::getenv("TENEX_FUZZ");
  const auto* const found = std::ranges::find(kTargets, std::string_view(name == nullptr ? "" : name),
                                              &std::pair<std::string_view, Target>::first);
  if (found != kTargets.end()) return found->second;
  std::fputs("TENEX_FUZZ names no target; it is one of:", stderr);
  for (const auto& [known, target] : kTargets) std::fprintf(stderr, " %s", known.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace
}  // namespace tenex::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto target = tenex::fuzz::named_target();
  target({reinterpret_cast<const char*>(data), size});
  return 0;
}
