// Reads execution plans of mscclpp: indices become ranks, buffers and channels.
#include "exchange/mscclpp_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostPlanOperations = 64;
constexpr std::size_t kMostBlockChannels = 16;
constexpr std::size_t kMostOperationChannels = 8;
constexpr std::size_t kMostOperationBuffers = 10;
constexpr std::size_t kMostChunks = std::size_t{1} << 16;
constexpr std::size_t kMostGpus = 1024;

/// What a threadblock's indices mean.
struct BlockView {
  std::array<std::vector<std::size_t>, 3> channels;  ///< by type: of the GPU's list of that type
  std::array<std::vector<std::size_t>, 3> buffers;   ///< by type: of the GPU's remote buffers
};

struct RemoteBuffer {
  std::size_t rank = 0;
  char type = 'i';
};

class PlanReader {
 public:
  explicit PlanReader(const TreeValue& file) : file_(file) {}

  Result<ExecutionPlan> read() {
    const auto& gpus = file_.list_of("gpus");
    plan_.place = file_.place;
    plan_.name = plain(file_.text_of("name"));
    plan_.collective = plain(file_.text_of("collective"));
    plan_.in_place = file_.text_of("inplace") == "true";
    plan_.packets = file_.text_of("protocol") == "LL";
    if (!plan_.packets && file_.text_of("protocol") != "Simple")
      refuse(file_, fmt::format("protocol is \"{}\"", plain(file_.text_of("protocol"))), "it is Simple or LL");
    if (gpus.empty() || gpus.size() > kMostGpus)
      refuse(file_, fmt::format("the plan has {} gpus", gpus.size()), fmt::format("1 to {} are read", kMostGpus));
    if (!gpus.empty() && gpus.front().find("inputChunks") != nullptr)
      return unsupported_error(gpus.front().find("inputChunks")->place, "an older plan schema (inputChunks, i_buff)",
                               "mscclpp 0.7 and later do not read it");
    plan_.least_bytes = optional(file_, "min_message_size", 0);
    if (const auto* const most = file_.find("max_message_size"); most != nullptr && most->text.size() < 18)
      plan_.most_bytes = optional(file_, "max_message_size", 0);
    plan_.gpus.resize(gpus.size());
    for (std::size_t rank = 0; rank < gpus.size() && errors_.empty(); ++rank) read_gpu(gpus[rank], rank);
    if (!errors_.empty()) return errors_;
    return std::move(plan_);
  }

 private:
  void refuse(const TreeValue& value, std::string problem, std::string why) {
    if (errors_.size() < 16) errors_.push_back(input_error(value.place, std::move(problem), std::move(why)));
  }

  std::size_t to_number(const TreeValue& value, std::string_view what, std::size_t most) {
    std::size_t number = 0;
    const auto& text = value.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!value.is(TreeValue::Kind::scalar) || error != std::errc() || end != text.data() + text.size() ||
        number > most) {
      refuse(value, fmt::format("{} is \"{}\"", what, plain(text)), fmt::format("it is a number up to {}", most));
      return 0;
    }
    return number;
  }
  std::size_t number(const TreeValue& map, std::string_view key, std::size_t most = kMostChunks) {
    const auto* const value = map.find(key);
    if (value == nullptr) {
      refuse(map, fmt::format("{} is missing", key), "the executor reads it");
      return 0;
    }
    return to_number(*value, key, most);
  }
  std::int64_t optional(const TreeValue& map, std::string_view key, std::int64_t fallback) {
    const auto* const value = map.find(key);
    return value == nullptr ? fallback : static_cast<std::int64_t>(to_number(*value, key, std::size_t{1} << 62));
  }
  char buffer_type(const TreeValue& map, std::string_view key) {
    const auto text = map.text_of(key);
    if (text == "i" || text == "o" || text == "s") return text.front();
    refuse(map, fmt::format("{} is \"{}\"", key, plain(text)), "buffers are i, o and s");
    return 'i';
  }
  ChannelType channel_type(const TreeValue& map, std::string_view key) {
    const auto found = std::ranges::find(kChannelTypes, map.text_of(key));
    if (found == kChannelTypes.end())
      refuse(map, fmt::format("{} is \"{}\"", key, plain(map.text_of(key))), "it is memory, port or switch");
    return static_cast<ChannelType>(found == kChannelTypes.end() ? 0 : found - kChannelTypes.begin());
  }
  void limit(const TreeValue& value, std::string what) {
    if (plan_.limits.size() >= 16) return;
    plan_.limits.push_back(std::move(what));
    plan_.limit_places.push_back(value.place);
  }

  void read_gpu(const TreeValue& value, std::size_t rank) {
    PlanGpu& gpu = plan_.gpus[rank];
    gpu.place = value.place;
    if (number(value, "id") != rank) refuse(value, fmt::format("gpu {} has another id", rank), "ids are ranks");
    gpu.inputs = number(value, "input_chunks");
    gpu.outputs = number(value, "output_chunks");
    gpu.scratch = number(value, "scratch_chunks");
    channels_ = {};
    remote_.clear();
    for (const auto& each : value.list_of("channels")) read_channels(each, rank, gpu);
    for (const auto& each : value.list_of("remote_buffers"))
      remote_.push_back({number(each, "rank", plan_.gpus.size() - 1), buffer_type(each, "type")});
    for (const auto& each : value.list_of("semaphores")) gpu.semaphores.push_back(optional(each, "init_value", 0));
    for (const auto& list : channels_) gpu.channels.insert(gpu.channels.end(), list.begin(), list.end());
    for (const auto& each : value.list_of("threadblocks")) {
      if (!errors_.empty()) return;
      if (number(each, "id") != gpu.blocks.size())
        refuse(each, fmt::format("threadblock {} has another id", gpu.blocks.size()), "ids are in order");
      gpu.blocks.push_back({{}, each.place});
      read_block(each, rank, gpu);
    }
  }

  void read_channels(const TreeValue& value, std::size_t rank, PlanGpu& gpu) {
    const auto type = channel_type(value, "channel_type");
    if (type == ChannelType::multicast) {
      const char buffer = buffer_type(value, "buffer_type");
      for (const auto& group : value.list_of("rank_groups")) {
        PlanGroup made{buffer, {}};
        for (const auto& each : group.list_of("ranks"))
          made.ranks.push_back(to_number(each, "a rank of a group", plan_.gpus.size() - 1));
        gpu.groups.push_back(std::move(made));
      }
      return;
    }
    auto& list = channels_[static_cast<std::size_t>(type)];
    for (const auto& each : value.list_of("connected_to")) {
      const auto peer = to_number(each, "connected_to", plan_.gpus.size() - 1);
      if (peer == rank) refuse(each, "a channel of a gpu to itself", "channels join two gpus");
      const auto before = std::ranges::count(list, peer, &PlanChannel::peer);
      list.push_back({type, peer, static_cast<std::size_t>(before)});
    }
  }

  void read_block(const TreeValue& value, std::size_t rank, PlanGpu& gpu) {
    BlockView view;
    for (const auto& each : value.list_of("channels")) {
      auto& list = view.channels[static_cast<std::size_t>(channel_type(each, "channel_type"))];
      for (const auto& id : each.list_of("channel_ids")) list.push_back(to_number(id, "channel_ids", kMostChunks));
      if (list.size() > kMostBlockChannels)
        limit(each, fmt::format("it uses {} channels of a type, at most {} are read", list.size(), kMostBlockChannels));
    }
    for (const auto& each : value.list_of("remote_buffer_refs")) {
      auto& list = view.buffers[static_cast<std::size_t>(channel_type(each, "access_channel_type"))];
      for (const auto& id : each.list_of("remote_buffer_ids"))
        list.push_back(to_number(id, "remote_buffer_ids", kMostChunks));
      if (list.size() > kMostBlockChannels)
        limit(each, fmt::format("it uses {} buffers of a type, at most {} are read", list.size(), kMostBlockChannels));
    }
    operations_ = 0;
    for (const auto& each : value.list_of("ops")) read_operation(each, view, rank, gpu, {});
    if (operations_ > kMostPlanOperations)
      limit(value, fmt::format("it has {} ops, at most {} are run", operations_, kMostPlanOperations));
  }

  PlanRange read_range(const TreeValue& value, const BlockView& view, ChannelType type, std::size_t rank) {
    PlanRange range;
    range.rank = rank;
    range.index = number(value, "index");
    range.size = number(value, "size");
    if (value.find("type") != nullptr) {
      range.buffer = buffer_type(value, "type");
    } else if (value.find("buffer_id") != nullptr) {
      const auto& list = view.buffers[static_cast<std::size_t>(type)];
      const auto id = number(value, "buffer_id");
      if (id >= list.size() || list[id] >= remote_.size()) {
        refuse(value, fmt::format("buffer_id is {}", id),
               fmt::format("the threadblock refers to {} {} buffers", list.size(),
                           kChannelTypes[static_cast<std::size_t>(type)]));
        return range;
      }
      range.rank = remote_[list[id]].rank;
      range.buffer = remote_[list[id]].type;
    } else if (value.find("switch_channel_id") != nullptr) {
      const auto& list = view.channels[static_cast<std::size_t>(ChannelType::multicast)];
      const auto id = number(value, "switch_channel_id");
      if (id >= list.size() || list[id] >= plan_.gpus[rank].groups.size())
        refuse(value, fmt::format("switch_channel_id is {}", id), "the threadblock has no such switch channel");
      else
        range.multicast = static_cast<std::int64_t>(list[id]);
    } else {
      refuse(value, "a buffer without type, buffer_id and switch_channel_id", "one of them says where it is");
    }
    return range;
  }

  void read_operation(const TreeValue& value, const BlockView& view, std::size_t rank, PlanGpu& gpu,
                      const std::string& in) {
    ++operations_;
    PlanOperation operation;
    operation.place = value.place;
    operation.in = in;
    const auto rule = std::ranges::find(kPlanRules, value.text_of("name"), &PlanRule::name);
    if (rule == kPlanRules.end()) {
      errors_.push_back(unsupported_error(value.place, fmt::format("the op \"{}\"", plain(value.text_of("name"))),
                                          "the executor of mscclpp 0.9.0 does not know it, or it is not followed"));
      return;
    }
    operation.rule = &*rule;
    if (rule->action == PlanAction::pipeline) {
      if (!in.empty()) {
        refuse(value, "a pipeline in a pipeline", "pipelines are not nested");
        return;
      }
      for (const auto& each : value.list_of("ops")) read_operation(each, view, rank, gpu, " of a pipeline");
      return;
    }
    if (value.find("channel_type") != nullptr) operation.type = channel_type(value, "channel_type");
    for (const auto& each : value.list_of("src_buff"))
      operation.sources.push_back(read_range(each, view, operation.type, rank));
    for (const auto& each : value.list_of("dst_buff"))
      operation.targets.push_back(read_range(each, view, operation.type, rank));
    read_op_channels(value, view, operation);
    if (const auto* const group = value.find("tbg_info"); group != nullptr) {
      operation.part = number(*group, "tb_id");
      operation.parts = std::max<std::size_t>(1, number(*group, "tbg_size", 64));
      if (operation.part >= operation.parts) refuse(*group, "tb_id is not below tbg_size", "it is a part of the group");
    }
    if (rule->name == "barrier") {
      operation.barrier = static_cast<std::int64_t>(number(value, "barrier_id"));
      operation.barrier_blocks = number(value, "num_threadblocks");
    }
    for (const auto& each : value.list_of("semaphore_ids"))
      operation.semaphores.push_back(to_number(each, "semaphore_ids", gpu.semaphores.empty() ? 0 : kMostChunks));
    for (const auto semaphore : operation.semaphores)
      if (semaphore >= gpu.semaphores.size()) refuse(value, "a semaphore that the gpu does not have", {});
    if (value.find("reduce_op") != nullptr && value.text_of("reduce_op") != "sum")
      limit(value, fmt::format("reduce_op is \"{}\", and the executor adds", plain(value.text_of("reduce_op"))));
    if (operation.sources.size() > kMostOperationBuffers || operation.targets.size() > kMostOperationBuffers)
      limit(value, fmt::format("an op has {} sources and {} destinations, at most {} are read",
                               operation.sources.size(), operation.targets.size(), kMostOperationBuffers));
    if (operation.channels.size() > kMostOperationChannels)
      limit(value, fmt::format("an op uses {} channels, at most {} are read", operation.channels.size(),
                               kMostOperationChannels));
    gpu.blocks.back().operations.push_back(std::move(operation));
  }

  void read_op_channels(const TreeValue& value, const BlockView& view, PlanOperation& operation) {
    const auto type = static_cast<std::size_t>(operation.type);
    for (const auto& each : value.list_of("channel_ids")) {
      const auto id = to_number(each, "channel_ids", kMostChunks);
      const auto& list = view.channels[type];
      if (id >= list.size() || list[id] >= channels_[type].size())
        refuse(each, fmt::format("channel {} of type {}", id, kChannelTypes[type]),
               fmt::format("the threadblock has {} of them", list.size()));
      else
        operation.channels.push_back(channels_[type][list[id]]);
    }
    // A put over a port needs its channel; where the plan leaves it out, it is that of the peer.
    if (operation.type != ChannelType::port || !operation.channels.empty()) return;
    for (const auto& target : operation.targets)
      for (const auto id : view.channels[type])
        if (id < channels_[type].size() && channels_[type][id].peer == target.rank) {
          operation.channels.push_back(channels_[type][id]);
          break;
        }
  }

  const TreeValue& file_;
  ExecutionPlan plan_;
  Diagnostics errors_;
  std::array<std::vector<PlanChannel>, 3> channels_;  ///< of the GPU that is read, by type
  std::vector<RemoteBuffer> remote_;
  std::size_t operations_ = 0;
};

}  // namespace

Result<ExecutionPlan> read_plan(const TreeValue& file) { return PlanReader(file).read(); }

}  // namespace tenex::exchange
