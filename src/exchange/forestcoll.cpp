// ForestColl's trees: an All-Gather whose shares travel in out-trees.
//
// <Algo nchunkspernode="K"> has <tree root nchunks> elements of <send src dst path>. The trees of a root carry its K
// chunks among them; a send follows the one that brings the chunk to its src. Names of vertices are Python's tuples,
// (0, 'GPU', 3); NPUs are the ends of sends, in the order of (first number, last number). Source:
// liangyuRain/ForestColl, pipeline_allgather.py.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "exchange/foreign_formats.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kMostTreeChunks = 4096;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The numbers in a name, in order: "(1, 'GPU', 3)" has 1 and 3. Names sort by them, then by their text.
std::pair<std::vector<std::int64_t>, std::string> key_of(const std::string& name) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < name.size();) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    if (!digit) {
      ++i;
      continue;
    }
    auto end = i;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    numbers.push_back(number_in(std::string_view(name).substr(i, end - i)).value_or(0));
    i = end;
  }
  return {std::move(numbers), name};
}

class Trees {
 public:
  explicit Trees(const XmlElement& root) : root_(root) {}

  Result<ForeignSchedule> read() {
    const auto chunks = number_in(root_.text("nchunkspernode")).value_or(0);
    if (chunks < 1 || chunks > kMostTreeChunks)
      return input_error(root_.place, fmt::format("nchunkspernode is \"{}\"", plain(root_.text("nchunkspernode"))),
                         fmt::format("it is a number from 1 to {}", kMostTreeChunks));
    for (const auto& tree : root_.children)
      for (const auto& send : tree.children)
        for (const auto* const end : {"src", "dst"}) names_.emplace(key_of(std::string(send.text(end))), 0);
    if (names_.size() < 2) return input_error(root_.place, "the trees have no sends between two NPUs");
    std::uint32_t next = 0;
    for (auto& [key, number] : names_) number = next++;
    schedule_.format = "ForestColl trees";
    schedule_.kind = CollectiveKind::all_gather;
    schedule_.npus = names_.size();
    schedule_.chunks_per_npu = chunks;
    if (schedule_.npus * static_cast<std::size_t>(chunks) * root_.children.size() > (std::size_t{1} << 24))
      return resource_error(
          "the trees are too large to follow",
          fmt::format("{} trees of {} NPUs, {} chunks each", root_.children.size(), names_.size(), chunks));
    given_.assign(schedule_.npus, 0);
    for (const auto& tree : root_.children)
      if (auto status = read_tree(tree); !status) return status.errors();
    for (const auto& [key, number] : names_)
      if (given_[number] != chunks)
        add_wrong(schedule_, Wrong::missing, root_.place,
                  fmt::format("the trees of root {} carry {} of its {} chunks", key.second, given_[number], chunks));
    make_distinct(schedule_);
    return std::move(schedule_);
  }

 private:
  Status read_tree(const XmlElement& tree) {
    const auto found = names_.find(key_of(std::string(tree.text("root"))));
    const auto count = number_in(tree.text("nchunks")).value_or(0);
    if (found == names_.end() || count < 1 || count > schedule_.chunks_per_npu)
      return input_error(tree.place,
                         fmt::format("a tree with root \"{}\" and nchunks \"{}\"", plain(tree.text("root")),
                                     plain(tree.text("nchunks"))),
                         "the root sends, and nchunks is a number from 1 to nchunkspernode");
    const auto root = found->second;
    std::vector<ChunkId> chunks;
    for (std::int64_t i = 0; i < count && given_[root] + i < schedule_.chunks_per_npu; ++i)
      chunks.push_back(ChunkId::at(root * static_cast<std::size_t>(schedule_.chunks_per_npu) +
                                   static_cast<std::size_t>(given_[root] + i)));
    given_[root] += count;
    std::map<std::uint32_t, std::optional<std::uint32_t>> brought{{root, std::nullopt}};  // by which transfer
    for (const auto& send : tree.children) {
      const auto source = names_.at(key_of(std::string(send.text("src"))));
      const auto target = names_.at(key_of(std::string(send.text("dst"))));
      const auto label = fmt::format("the send from {} to {} in tree {} of root {}", plain(send.text("src")),
                                     plain(send.text("dst")), plain(tree.text("index")), plain(tree.text("root")));
      const auto from = brought.find(source);
      if (from == brought.end()) {
        add_wrong(schedule_, Wrong::read_before_written, send.place,
                  label + " leaves an NPU that the tree has not reached");
        continue;
      }
      if (!brought.try_emplace(target, static_cast<std::uint32_t>(schedule_.transfers.size())).second) {
        add_wrong(schedule_, Wrong::twice, send.place, label + " reaches an NPU that the tree has reached before");
        continue;
      }
      ForeignTransfer transfer;
      transfer.source = NpuId(source);
      transfer.destination = NpuId(target);
      transfer.chunks = chunks;
      if (from->second) transfer.after.push_back(*from->second);
      transfer.place = send.place;
      transfer.name = label;
      if (!chunks.empty()) schedule_.transfers.push_back(std::move(transfer));
    }
    if (brought.size() < names_.size())
      for (const auto& [key, number] : names_)
        if (!brought.contains(number)) {
          add_wrong(schedule_, Wrong::missing, tree.place,
                    fmt::format("tree {} of root {} does not reach {}", plain(tree.text("index")),
                                plain(tree.text("root")), plain(key.second)));
          break;
        }
    return success();
  }

  const XmlElement& root_;
  ForeignSchedule schedule_;
  std::map<std::pair<std::vector<std::int64_t>, std::string>, std::uint32_t> names_;  ///< NPUs
  std::vector<std::int64_t> given_;  ///< chunks that a root's trees have carried so far
};

}  // namespace

Result<ForeignSchedule> interpret_forestcoll(const XmlDocument& document) { return Trees(document.root).read(); }

}  // namespace tenex::exchange
