// Internal to exchange: numbers that topology files leave to their reader, each with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "exchange/machine_draft.hpp"

namespace tenex::exchange {

/// A CPU as a topology names it.
struct CpuModel {
  std::string_view arch;
  std::string_view vendor;
  std::int64_t family = -1;
  std::int64_t model = -1;
};

/// One NVLink of a GPU of this compute capability, one direction (90: sm_90).
[[nodiscard]] Sourced<Bandwidth> nvlink_bandwidth(std::int64_t sm);
/// One xGMI link of a GPU of this target ("gfx942", or "942" in old files).
[[nodiscard]] Sourced<Bandwidth> xgmi_bandwidth(std::string_view gcn);
/// A PCI link: `speed` as sysfs writes it ("16.0 GT/s PCIe"), lanes; 0 lanes mean 16.
[[nodiscard]] Sourced<Bandwidth> pci_bandwidth(std::string_view speed, std::int64_t lanes);
/// The link between two CPUs of a host; nothing where the model is not known.
[[nodiscard]] std::optional<Sourced<Bandwidth>> cpu_bandwidth(const CpuModel& cpu);
/// Between parts of one chip.
[[nodiscard]] Sourced<Bandwidth> local_bandwidth();

/// Alphas of a hop.
[[nodiscard]] Sourced<SimTime> direct_alpha();     ///< GPU to GPU over NVLink or xGMI
[[nodiscard]] Sourced<SimTime> nvswitch_alpha();   ///< GPU to NVLink switch
[[nodiscard]] Sourced<SimTime> pci_end_alpha();    ///< GPU to the PCI tree
[[nodiscard]] Sourced<SimTime> pci_inner_alpha();  ///< within the PCI tree and between CPUs
[[nodiscard]] Sourced<SimTime> fabric_alpha();     ///< into, out of and between switches of a network

}  // namespace tenex::exchange
