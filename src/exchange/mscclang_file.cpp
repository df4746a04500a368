// Reads the attributes of MSCCLang XML, and tells which executors refuse the file.
#include "exchange/mscclang_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "exchange/collective_words.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 48;
/// Chunks of a collective, and places of a buffer, that are followed.
constexpr std::int64_t kMostXmlChunks = std::int64_t{1} << 16;
constexpr std::int64_t kMostXmlGpus = 1024;

/// An executor and what it refuses.
struct ExecutorRule {
  std::string_view name;
  bool needs_all_sizes;  ///< minBytes, maxBytes, outofplace
  std::size_t steps;     ///< of a threadblock
  std::size_t blocks;    ///< of a GPU
};
constexpr std::array kExecutors{
    ExecutorRule{"azure", true, 64, 1024},
    ExecutorRule{"rccl", true, 64, 64},
    ExecutorRule{"msccl", false, 256, 216},
};

class MscclangReader {
 public:
  explicit MscclangReader(const XmlDocument& document) : root_(document.root) {}

  Result<MscclangFile> read() {
    file_.place = root_.place;
    read_head();
    if (!errors_.empty()) return errors_;
    for (const auto& element : root_.children) read_gpu(element);
    if (errors_.empty() && file_.gpus.size() != static_cast<std::size_t>(gpus_))
      refuse(root_.place, fmt::format("{} <gpu> elements", file_.gpus.size()), fmt::format("ngpus is {}", gpus_));
    if (!errors_.empty()) return errors_;
    tell_refusals();
    return std::move(file_);
  }

 private:
  void refuse(const Place& place, std::string problem, std::string why) {
    if (errors_.size() < 16) errors_.push_back(input_error(place, std::move(problem), std::move(why)));
  }

  /// A number from `least` to `most`.
  std::int64_t number(const XmlElement& element, std::string_view name, std::int64_t least,
                      std::int64_t most = kMostNumber) {
    const auto* const attribute = element.find(name);
    if (attribute == nullptr) {
      refuse(element.place, fmt::format("<{}> without {}", element.name, name), "every executor reads it");
      return least;
    }
    const auto& text = attribute->value;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
      refuse(attribute->place, fmt::format("{} is \"{}\"", name, plain(text)),
             fmt::format("it is a number from {} to {}", least, most));
      return least;
    }
    return value;
  }

  std::int64_t optional_number(const XmlElement& element, std::string_view name, std::int64_t fallback) {
    return element.find(name) == nullptr ? fallback : number(element, name, 0);
  }

  void read_head() {
    file_.name = plain(root_.text("name"));
    const auto word = root_.text("coll");
    const auto known = unrooted_collective(word == "reduce_scatter" ? word_of(CollectiveKind::reduce_scatter) : word);
    if (!known)
      errors_.push_back(unsupported_error(root_.place, fmt::format("coll is \"{}\"", plain(word)),
                                          "the outputs of allreduce, allgather, reducescatter and alltoall are known"));
    else
      file_.kind = *known;
    const auto protocol = std::ranges::find(kProtocolRules, root_.text("proto"), &ProtocolRule::name);
    if (protocol == kProtocolRules.end())
      refuse(root_.place, fmt::format("proto is \"{}\"", plain(root_.text("proto"))), "it is Simple, LL or LL128");
    else
      file_.protocol = &*protocol;
    gpus_ = number(root_, "ngpus", 2, kMostXmlGpus);
    file_.chunks = number(root_, "nchunksperloop", 1, kMostXmlChunks);
    (void)number(root_, "nchannels", 1, kMostNumber);
    if (file_.kind != CollectiveKind::all_reduce && file_.chunks % gpus_ != 0)
      refuse(root_.place, fmt::format("nchunksperloop is {}", file_.chunks),
             fmt::format("the {} GPUs have equal shares", gpus_));
    file_.in_place = optional_number(root_, "inplace", 0) != 0;
    file_.out_of_place =
        root_.find("outofplace") == nullptr ? !file_.in_place : optional_number(root_, "outofplace", 0) != 0;
    file_.least_bytes = optional_number(root_, "minBytes", 0);
    if (const auto most = optional_number(root_, "maxBytes", 0); most > 0) file_.most_bytes = most;
  }

  void read_gpu(const XmlElement& element) {
    if (element.name != "gpu") {
      refuse(element.place, fmt::format("<{}> in <algo>", plain(element.name)), "its elements are <gpu>");
      return;
    }
    MscclangGpu gpu;
    gpu.place = element.place;
    const auto id = number(element, "id", 0, gpus_ - 1);
    if (errors_.empty() && id != static_cast<std::int64_t>(file_.gpus.size()))
      refuse(element.place, fmt::format("gpu {} where gpu {} is next", id, file_.gpus.size()), "ids are in order");
    gpu.scratch = number(element, "s_chunks", 0, kMostXmlChunks);
    (void)number(element, "i_chunks", 0);
    (void)number(element, "o_chunks", 0);
    for (const auto& child : element.children) {
      if (!errors_.empty()) return;
      if (child.name == "tb")
        read_block(child, gpu);
      else
        refuse(child.place, fmt::format("<{}> in <gpu>", plain(child.name)), "its elements are <tb>");
    }
    file_.gpus.push_back(std::move(gpu));
  }

  void read_block(const XmlElement& element, MscclangGpu& gpu) {
    MscclangBlock block;
    block.place = element.place;
    const auto id = number(element, "id", 0);
    if (errors_.empty() && id != static_cast<std::int64_t>(gpu.blocks.size()))
      refuse(element.place, fmt::format("tb {} where tb {} is next", id, gpu.blocks.size()), "ids are in order");
    block.send_to = number(element, "send", -1, gpus_ - 1);
    block.receive_from = number(element, "recv", -1, gpus_ - 1);
    block.channel = number(element, "chan", 0);
    for (const auto& child : element.children) {
      if (!errors_.empty()) return;
      if (child.name == "step")
        read_step(child, block);
      else
        refuse(child.place, fmt::format("<{}> in <tb>", plain(child.name)), "its elements are <step>");
    }
    gpu.blocks.push_back(std::move(block));
  }

  Buffer buffer(const XmlElement& element, std::string_view name) {
    const auto text = element.text(name);
    constexpr std::string_view kWords = "ios";
    const auto at = text.size() == 1 ? kWords.find(text.front()) : std::string_view::npos;
    if (at == std::string_view::npos)
      refuse(element.place, fmt::format("{} is \"{}\"", name, plain(text)), "buffers are i, o and s");
    return static_cast<Buffer>(at == std::string_view::npos ? 0 : at);
  }

  void read_step(const XmlElement& element, MscclangBlock& block) {
    MscclangStep step;
    step.place = element.place;
    const auto rule = std::ranges::find(kStepRules, element.text("type"), &StepRule::name);
    if (rule == kStepRules.end())
      refuse(element.place, fmt::format("the step's type is \"{}\"", plain(element.text("type"))),
             "steps are s, r, cpy, re, rcs, rrc, rrs, rrcs and nop");
    else
      step.type = static_cast<StepType>(rule - kStepRules.begin());
    const auto order = number(element, "s", 0);
    if (errors_.empty() && order != static_cast<std::int64_t>(block.steps.size()))
      refuse(element.place, fmt::format("step {} where step {} is next", order, block.steps.size()),
             "steps are in order");
    step.source = buffer(element, "srcbuf");
    step.target = buffer(element, "dstbuf");
    step.source_offset = number(element, "srcoff", -1);
    step.target_offset = number(element, "dstoff", -1);
    step.count = number(element, "cnt", 0);
    step.depends_on = number(element, "depid", -1);
    step.depends_step = number(element, "deps", -1);
    step.publishes = number(element, "hasdep", 0, 1) == 1;
    block.steps.push_back(step);
  }

  void tell_refusals() {
    std::string missing;
    for (const std::string_view name : {"minBytes", "maxBytes", "outofplace"})
      if (root_.find(name) == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    std::size_t blocks = 0;
    std::size_t steps = 0;
    for (const auto& gpu : file_.gpus) {
      blocks = std::max(blocks, gpu.blocks.size());
      for (const auto& block : gpu.blocks) steps = std::max(steps, block.steps.size());
    }
    for (const auto& [name, needs_all_sizes, most_steps, most_blocks] : kExecutors) {
      std::string why;
      if (needs_all_sizes && !missing.empty()) why += fmt::format("; it lacks {}", missing);
      if (steps > most_steps) why += fmt::format("; a tb has {} steps, at most {} are run", steps, most_steps);
      if (blocks > most_blocks) why += fmt::format("; a gpu has {} tbs, at most {} are run", blocks, most_blocks);
      if (!why.empty()) file_.refusals.push_back(fmt::format("{} refuses the file ({})", name, why.substr(2)));
    }
  }

  const XmlElement& root_;
  MscclangFile file_;
  std::int64_t gpus_ = 0;
  Diagnostics errors_;
};

}  // namespace

Result<MscclangFile> read_mscclang(const XmlDocument& document) { return MscclangReader(document).read(); }

}  // namespace tenex::exchange
