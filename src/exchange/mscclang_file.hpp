// Internal to exchange: MSCCLang XML as typed steps.
//
// An <algo> has a <gpu> for each rank, with <tb> threadblocks of <step>s. Sources: Azure/msccl-executor-nccl,
// src/misc/msccl/msccl_parser.cc; ROCm/rccl up to 2.27; microsoft/msccl, src/graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/xml_tree.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex::exchange {

enum class Buffer : std::uint8_t { input, output, scratch };
inline constexpr std::size_t kBuffers = 3;

enum class StepType : std::uint8_t { s, r, cpy, re, rcs, rrc, rrs, rrcs, nop };

/// What a step of each type does, beside its name.
struct StepRule {
  std::string_view name;
  bool receives = false;
  bool sends = false;
  bool reads = false;   ///< the source buffer
  bool writes = false;  ///< the destination buffer
};
inline constexpr std::array kStepRules{
    StepRule{"s", false, true, true, false},
    StepRule{"r", true, false, false, true},
    StepRule{"cpy", false, false, true, true},
    StepRule{"re", false, false, true, true},
    StepRule{"rcs", true, true, false, true},
    StepRule{"rrc", true, false, true, true},
    StepRule{"rrs", true, true, true, false},
    StepRule{"rrcs", true, true, true, true},
    StepRule{"nop"},
};
[[nodiscard]] constexpr const StepRule& rule_of(StepType type) { return kStepRules[static_cast<std::size_t>(type)]; }

struct MscclangStep {
  StepType type = StepType::nop;
  Buffer source = Buffer::input;
  Buffer target = Buffer::input;
  std::int64_t source_offset = 0;
  std::int64_t target_offset = 0;
  std::int64_t count = 0;
  std::int64_t depends_on = -1;  ///< a threadblock of the same GPU, -1: none
  std::int64_t depends_step = -1;
  bool publishes = false;  ///< hasdep
  Place place = {};
};

struct MscclangBlock {
  std::int64_t send_to = -1;
  std::int64_t receive_from = -1;
  std::int64_t channel = 0;
  std::vector<MscclangStep> steps = {};
  Place place = {};
};

struct MscclangGpu {
  std::int64_t scratch = 0;  ///< chunks
  std::vector<MscclangBlock> blocks = {};
  Place place = {};
};

/// A protocol: what a slot of a connection's FIFO holds, and how many slots there are, with default buffers.
struct ProtocolRule {
  std::string_view name;
  std::int64_t slot_bytes = 0;
  std::int64_t slots = 0;
};
inline constexpr std::array kProtocolRules{
    ProtocolRule{"Simple", std::int64_t{2} << 20, 2},
    ProtocolRule{"LL", std::int64_t{32} << 10, 8},
    ProtocolRule{"LL128", 576'000, 8},
};

struct MscclangFile {
  std::string name;
  CollectiveKind kind = CollectiveKind::all_reduce;
  const ProtocolRule* protocol = nullptr;
  std::int64_t chunks = 0;  ///< nchunksperloop
  std::vector<MscclangGpu> gpus;
  bool in_place = false;
  bool out_of_place = false;
  std::int64_t least_bytes = 0;
  std::optional<std::int64_t> most_bytes = {};  ///< absent: no limit
  std::vector<std::string> refusals;            ///< executors that refuse the file, and why
  Place place = {};
};

/// Errors (input): an attribute that is missing or no number, an unknown word, ids out of order; (unsupported) another
/// collective than All-Gather, All-Reduce, Reduce-Scatter and All-to-All. O(elements).
[[nodiscard]] Result<MscclangFile> read_mscclang(const XmlDocument& document);

}  // namespace tenex::exchange
