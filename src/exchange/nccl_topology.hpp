// Internal to exchange: the parts of a host as an NCCL or RCCL topology file names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exchange/xml_tree.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex::exchange {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

/// A CPU or a PCI device: a node of the tree that joins GPUs and NICs where no NVLink does.
struct NcclNode {
  bool is_cpu = false;
  std::uint32_t parent = kNoNode;  ///< of a PCI device
  std::uint32_t host = 0;          ///< hosts of one file have different host_hash
  std::string busid = {};          ///< of a PCI device, lower case
  std::string pci_class = {};      ///< "0x030200"; empty: not stated
  std::string speed = {};          ///< "16.0 GT/s PCIe"
  std::int64_t lanes = 0;
  std::string arch = {};    ///< of a CPU
  std::string vendor = {};  ///< of a CPU
  std::int64_t family = -1;
  std::int64_t model = -1;
  std::string peer = {};  ///< bus id of a pcilink's target
  Place place = {};
};

/// An nvlink or xgmi element.
struct NcclLink {
  std::string target = {};
  std::int64_t count = 1;
  std::string target_class = {};
  bool xgmi = false;
  Place place = {};
};

struct NcclGpu {
  std::uint32_t node = 0;
  std::optional<std::int64_t> sm = {};
  std::string gcn = {};
  std::optional<std::int64_t> rank = {};
  std::int64_t dev = 0;
  std::int64_t c2c_megabytes = 0;  ///< all C2C links of the GPU, MB/s
  Place c2c_place = {};
  std::vector<NcclLink> links = {};
  Place place = {};
};

/// A port of a network adapter.
struct NcclPort {
  std::uint32_t node = 0;  ///< the PCI device or CPU that it hangs on
  std::string name = {};
  std::string guid = {};
  std::optional<std::int64_t> megabits = {};  ///< per second; nothing: the file has the device only
  std::int64_t latency_ps = 0;                ///< 0: not stated
  Place place = {};
};

struct NcclTopology {
  std::int64_t version = 0;
  std::vector<NcclNode> nodes = {};
  std::vector<NcclGpu> gpus = {};  ///< in the order of ranks
  std::vector<NcclPort> ports = {};
  std::size_t hosts = 1;
  bool gpus_from_class = false;  ///< the file has no gpu element: what joins them is not in it
  std::vector<std::string> remarks = {};
  std::vector<std::string> warnings = {};
};

/// Reads the elements. `gpu_busids` names devices that are GPUs besides those that the file marks. Errors (input): no
/// such element or device, a number that is none or out of range, a bus id given twice in one host, all of them.
[[nodiscard]] Result<NcclTopology> read_nccl_topology(const XmlDocument& document,
                                                      const std::vector<std::string>& gpu_busids);

}  // namespace tenex::exchange
