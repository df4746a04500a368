#include "exchange/constants.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace tenex::exchange {
namespace {

constexpr std::string_view kNccl = "NCCL 2.30.7 src/graph/topo.h";
constexpr std::string_view kRccl = "RCCL src/graph/topo.h of 2024-10";
constexpr std::string_view kTeCcl = "TE-CCL, section 6.1";

Sourced<Bandwidth> constant(std::int64_t megabytes, std::string_view what, std::string_view source) {
  return {bytes_per_second(megabytes * 1'000'000),
          fmt::format("constant {} GB/s, {} ({})", static_cast<double>(megabytes) / 1000, what, source)};
}

/// The first entry whose bound the number reaches.
struct RateFrom {
  std::int64_t from;
  std::int64_t megabytes;
  std::string_view what;
};
template <std::size_t size>
const RateFrom* reached(const std::array<RateFrom, size>& steps, std::int64_t number) {
  for (const auto& step : steps)
    if (number >= step.from) return &step;
  return nullptr;
}

// Compute capabilities.
constexpr std::array kNvlinks{
    RateFrom{100, 40'100, "one NVLink of sm_100 and later"},
    RateFrom{90, 20'600, "one NVLink of sm_90"},
    RateFrom{87, 20'000, "one NVLink of sm_80"},
    RateFrom{86, 12'000, "one NVLink of sm_86"},
    RateFrom{70, 20'000, "one NVLink of sm_70 to sm_80"},
    RateFrom{60, 18'000, "one NVLink of sm_60"},
};
// Models of Intel's family 6.
constexpr std::array kIntel{
    RateFrom{0xCF, 40'000, "between CPUs, Emerald Rapids and later"},
    RateFrom{0x8F, 22'000, "between CPUs, Sapphire Rapids"},
    RateFrom{0x55, 10'000, "between CPUs, Skylake"},
    RateFrom{0, 6'000, "between CPUs, Broadwell and earlier"},
};

}  // namespace

Sourced<Bandwidth> nvlink_bandwidth(std::int64_t sm) {
  if (const auto* step = reached(kNvlinks, sm)) return constant(step->megabytes, step->what, kNccl);
  return constant(20'000, "one NVLink of any other GPU", kNccl);
}

Sourced<Bandwidth> xgmi_bandwidth(std::string_view gcn) {
  if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
  if (gcn == "90a" || gcn == "910") return constant(36'000, "one xGMI link of gfx90a", kRccl);
  if (gcn.starts_with("94")) return constant(48'000, "one xGMI link of gfx94x", kRccl);
  if (gcn.starts_with("95")) return constant(48'000, "one xGMI link of gfx95x", kRccl);
  return constant(24'000, "one xGMI link of gfx906 and gfx908", kRccl);
}

Sourced<Bandwidth> pci_bandwidth(std::string_view speed, std::int64_t lanes) {
  struct Rate {
    std::string_view gigatransfers;
    std::int64_t factor;
  };
  constexpr std::array rates{Rate{"2.5", 15}, Rate{"5", 30},   Rate{"8", 60},
                             Rate{"16", 120}, Rate{"32", 240}, Rate{"64", 480}};
  auto number = speed.substr(0, speed.find(' '));
  if (number.ends_with(".0")) number.remove_suffix(2);
  std::int64_t factor = 60;
  bool known = false;
  for (const auto& rate : rates)
    if (rate.gigatransfers == number) {
      factor = rate.factor;
      known = true;
    }
  const auto used = lanes == 0 ? 16 : lanes;
  return {
      bytes_per_second(used * factor * 12'500'000),
      fmt::format("{}{} lanes at {}, constant {} GB/s each ({} and topo.cc)", used, lanes == 0 ? " (not stated)" : "",
                  known ? plain(speed) : "a speed that is not stated", static_cast<double>(factor) / 80, kNccl)};
}

std::optional<Sourced<Bandwidth>> cpu_bandwidth(const CpuModel& cpu) {
  if (cpu.arch == "arm64") return constant(6'000, "between CPUs, ARM", kNccl);
  if (cpu.arch == "ppc64") return constant(32'000, "between CPUs, POWER9", kNccl);
  if (cpu.arch != "x86_64") return std::nullopt;
  if (cpu.vendor == "AuthenticAMD") return constant(16'000, "between CPUs, AMD", kNccl);
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ")
    return cpu.family == 7 && cpu.model == 0x5B ? constant(9'000, "between CPUs, Zhaoxin Yongfeng", kNccl)
                                                : constant(6'000, "between CPUs, Zhaoxin", kNccl);
  if (cpu.vendor != "GenuineIntel" || cpu.family < 0 || cpu.model < 0) return std::nullopt;
  const auto* const step = cpu.family == 6 ? reached(kIntel, cpu.model) : &kIntel.back();
  return constant(step->megabytes, step->what, kNccl);
}

Sourced<Bandwidth> local_bandwidth() { return constant(5'000'000, "within a CPU or a chip", kNccl); }

Sourced<SimTime> direct_alpha() {
  return {nanoseconds(700), fmt::format("constant 0.7 us, a link between two GPUs (estimate, {})", kTeCcl)};
}
Sourced<SimTime> nvswitch_alpha() {
  return {nanoseconds(350), fmt::format("constant 0.35 us, from or to a switch of NVLinks (estimate, {})", kTeCcl)};
}
Sourced<SimTime> pci_end_alpha() {
  return {nanoseconds(500),
          "constant 0.5 us, half of a way over PCI at each end (estimate, NCCL src/graph/tuning.cc, "
          "hwLat 1.0 us)"};
}
Sourced<SimTime> pci_inner_alpha() {
  return {nanoseconds(0), "constant 0, the two ends of a way over PCI hold its latency"};
}
Sourced<SimTime> fabric_alpha() {
  return {nanoseconds(1300), fmt::format("constant 1.3 us, from or to a switch of InfiniBand (estimate, {})", kTeCcl)};
}

}  // namespace tenex::exchange
