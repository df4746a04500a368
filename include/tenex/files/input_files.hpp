// The files that a study may name: machines, workloads and cost models in TOML, and those inside the binary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

// Machine files: topologies as edge lists or by shape, `schema = 1`. docs: experiments/machines/README.md

/// The link of each NPU of a box to the switch that joins it with the NPUs at its place in other boxes.
struct ScaleOut {
  SimTime alpha;
  Bandwidth bandwidth;
};

/// How data and flags travel over a machine's links: of `line` bytes on the wire `data` are data, and a link has a
/// latency of its own.
struct LinkProtocol {
  std::string name;
  std::int64_t data = 1;
  std::int64_t line = 1;
  std::vector<SimTime> alpha;                ///< one for all dimensions, or one per dimension
  std::optional<SimTime> scale_out_alpha{};  ///< of the links to other boxes; absent: that of ScaleOut
};
/// The links as they are under the protocol: bandwidths are rounded down. O(dimensions).
[[nodiscard]] ShapeLinks links_under(const LinkProtocol& protocol, ShapeLinks links);

/// A shape with its links.
struct ShapedNetwork {
  Shape shape;
  ShapeLinks links;
  Forwarding forwarding = Forwarding::store_and_forward;  ///< of its switches, unless a study says otherwise
  std::optional<ScaleOut> scale_out{};                    ///< of a machine that can be joined with others like it
  std::vector<LinkProtocol> protocols{};                  ///< by which its library can send, in the file's order
};

/// The name of several boxes: "dgx_h100 x 4" is four times `dgx_h100`.
struct BoxesName {
  std::string_view machine;
  std::optional<std::uint32_t> boxes;  ///< absent: one machine, as it is
};
/// Splits a name at its last " x N" or " xN"; a text without one is the name of a machine.
[[nodiscard]] BoxesName split_boxes(std::string_view text);

/// `boxes` equal machines: the shape with one more dimension, SW(boxes), whose links are those of `scale_out`. Its
/// switches forward as the machine's do, by virtual cut-through where the machine has none. Its protocols hold for the
/// new links too. Errors (input): fewer than two boxes, a machine without `scale_out`, more NPUs than a shape has.
/// O(dimensions).
[[nodiscard]] Result<ShapedNetwork> join_boxes(const ShapedNetwork& machine, std::uint32_t boxes);

/// A machine with the facts in its file.
struct Machine {
  std::string name;
  std::string source;                   ///< the source of the facts, as the file states it
  std::vector<std::string> remarks;     ///< remarks on the facts
  std::optional<ShapedNetwork> shaped;  ///< of a file that names a shape; build_topology() succeeds but for its memory
  Topology topology;                    ///< of a file that lists its links; empty otherwise
  Digest content;                       ///< of the file's bytes: stands for a list of links in canonical keys
};

/// The topology of a machine of either kind. O(links).
[[nodiscard]] Topology topology_of(const Machine& machine);

/// Reads and checks a machine file. Errors: unreadable (environment), everything that the schema forbids (input, with
/// places).
[[nodiscard]] Result<Machine> read_machine_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<Machine> parse_machine(std::string_view text, const std::string& file);

// Workload files: a model's training iteration in TOML, `schema = 1`, as a table of layers or as the model's
// dimensions, from which layers are made. docs: experiments/workloads/README.md

/// A workload with the facts in its file.
struct WorkloadFile {
  std::string name;
  WorkloadModel model;
  Digest content;  ///< of the file's bytes: stands for the file in canonical keys
};

/// Reads and checks a workload file. Errors: unreadable (environment), everything that the schema forbids (input, with
/// places).
[[nodiscard]] Result<WorkloadFile> read_workload_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<WorkloadFile> parse_workload(std::string_view text, const std::string& file);

// Cost model files: what links, switches and NICs cost per GB/s, in TOML, `schema = 1`.
//
//   schema = 1
//   kind = "cost_model"
//   name = "LIBRA"
//   source = "where the prices come from"
//   nic_without_switch = false            # optional
//   [pod]                                 # also chiplet, package, node; dollars per GB/s (1e9 bytes per second)
//   link = 7.8                            # one number, [low, high] or [low, mid, high]; without mid their mean
//   switch = [18.0, 69.6]
//   nic = [31.6, 87.8, 144]
//
// Prices are exact to a millionth of a dollar. A part that is not named does not exist in that kind of dimension.

/// A cost model and the digest of its file's bytes, which stands for the file in canonical keys.
struct CostModelFile {
  CostModel model;
  Digest content;
};

/// Reads and checks a cost model file. Errors: unreadable (environment), everything that the schema forbids (input,
/// with places).
[[nodiscard]] Result<CostModelFile> read_cost_model_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<CostModelFile> parse_cost_model(std::string_view text, const std::string& file);

// Built-in machines, workloads and cost models, by name: the files of experiments/machines, experiments/workloads and
// experiments/cost_models at build time, so that `--workload gpt3` means the same wherever it runs.

/// A file inside the binary.
struct BuiltinFile {
  std::string_view name;     ///< without ".toml"
  std::string_view content;  ///< its bytes
};

/// All built-in workloads, by name.
[[nodiscard]] const std::vector<BuiltinFile>& builtin_workloads();
[[nodiscard]] const std::vector<BuiltinFile>& builtin_cost_models();
[[nodiscard]] const std::vector<BuiltinFile>& builtin_machines();

/// The content of the file with this name; nullopt if there is none. O(files).
[[nodiscard]] std::optional<std::string_view> find_builtin(const std::vector<BuiltinFile>& files,
                                                           std::string_view name);

}  // namespace tenex
