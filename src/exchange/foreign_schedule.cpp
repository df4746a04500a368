// Which format a schedule has, and its transfers as a program.
#include "tenex/exchange/foreign_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "exchange/foreign_formats.hpp"
#include "exchange/formats.hpp"

namespace tenex {
namespace {

/// A key that tells a format of JSON.
struct JsonFormat {
  std::string_view key;
  Result<ForeignSchedule> (*interpret)(const exchange::TreeValue& file, std::size_t npus);
};
constexpr std::array kJsonFormats{
    JsonFormat{"gpus", exchange::interpret_mscclpp},
    JsonFormat{"1-Epoch_Duration", exchange::interpret_te_ccl},
};

/// Transfers as messages. A message of several chunks is named by its transfer; one of a single chunk is found by what
/// it says, which make_distinct() keeps apart.
class TransferProgram final : public Program {
 public:
  explicit TransferProgram(const ForeignSchedule& schedule)
      : schedule_(schedule), by_source_(schedule.npus), followers_(schedule.transfers.size()) {
    for (std::uint32_t t = 0; t < schedule.transfers.size(); ++t) {
      const ForeignTransfer& transfer = schedule.transfers[t];
      by_source_[transfer.source.index()].push_back(t);
      for (const auto before : transfer.after) followers_[before].push_back(t);
      sizes_.push_back(static_cast<std::uint32_t>(transfer.chunks.size()));
      sums_ = sums_ || transfer.stage == Stage::reduce;
      if (transfer.chunks.size() == 1) singles_.emplace_back(message_at(t), t);
    }
    std::ranges::sort(sizes_);
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    if (sizes_.empty()) sizes_.push_back(1);
    std::ranges::sort(singles_, before);
  }

  [[nodiscard]] Message message_at(std::uint32_t number) const {
    const ForeignTransfer& transfer = schedule_.transfers[number];
    const bool single = transfer.chunks.size() == 1;
    return {transfer.source, transfer.destination, single ? transfer.chunks.front() : ChunkId(number), transfer.stage,
            static_cast<std::uint32_t>(transfer.chunks.size())};
  }
  [[nodiscard]] std::uint32_t number_of(const Message& message) const {
    if (message.chunks != 1) return message.chunk.value();
    const auto found = std::ranges::lower_bound(singles_, std::pair(message, 0U), before);
    ensure(found != singles_.end() && found->first == message, "a message that is no transfer of the schedule");
    return found->second;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& from(NpuId npu) const { return by_source_[npu.index()]; }
  [[nodiscard]] const std::vector<std::uint32_t>& followers(std::uint32_t number) const { return followers_[number]; }
  [[nodiscard]] const ForeignSchedule& schedule() const { return schedule_; }

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override;
  [[nodiscard]] std::uint64_t messages() const override { return schedule_.transfers.size(); }
  [[nodiscard]] std::string_view destination_order() const override { return "absolute"; }
  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto& chunks = schedule_.transfers[number_of(message)].chunks;
    out.insert(out.end(), chunks.begin(), chunks.end());
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override { return sizes_; }
  [[nodiscard]] bool states_contributors() const override { return sums_; }
  void contributors_of(const Message& message, std::vector<std::uint32_t>& out) const override {
    const auto& set = schedule_.contributors[schedule_.transfers[number_of(message)].contributors];
    out.insert(out.end(), set.begin(), set.end());
  }

 private:
  using Single = std::pair<Message, std::uint32_t>;
  static bool before(const Single& a, const Single& b) {
    const auto key = [](const Message& m) { return std::tuple(m.source, m.destination, m.chunk, m.stage); };
    return key(a.first) < key(b.first);
  }

  const ForeignSchedule& schedule_;
  std::vector<std::vector<std::uint32_t>> by_source_;
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<std::uint32_t> sizes_;
  std::vector<Single> singles_;
  bool sums_ = false;
};

class TransferState final : public ProgramState {
 public:
  explicit TransferState(const TransferProgram& program) : program_(program) {
    for (const auto& transfer : program.schedule().transfers)
      open_.push_back(static_cast<std::uint32_t>(transfer.after.size()));
  }
  void start(NpuId npu, std::vector<Message>& out) override {
    for (const auto number : program_.from(npu))
      if (open_[number] == 0) out.push_back(program_.message_at(number));
  }
  void arrive(const Message& message, std::vector<Message>& out) override {
    for (const auto follower : program_.followers(program_.number_of(message)))
      if (--open_[follower] == 0) out.push_back(program_.message_at(follower));
  }

 private:
  const TransferProgram& program_;
  std::vector<std::uint32_t> open_;  ///< by transfer: arrivals that it still waits for
};

std::unique_ptr<ProgramState> TransferProgram::begin() const { return std::make_unique<TransferState>(*this); }

}  // namespace

std::string_view to_string(Wrong wrong) {
  constexpr std::array<std::string_view, 9> names = {
      "malformed", "deadlock", "race", "read_before_written", "twice", "missing", "wrong_value", "hang", "no_link"};
  return names[static_cast<std::size_t>(wrong)];
}

bool is_foreign_schedule(std::string_view text) {
  const auto content = exchange::content_of(text);
  if (content.starts_with("<algo") || content.starts_with("<Algo") || content.starts_with("<?xml")) return true;
  if (!content.starts_with('{') || content.find("\"tenex schedule\"") != std::string_view::npos) return false;
  return std::ranges::any_of(kJsonFormats, [&](const JsonFormat& format) {
    return content.find(fmt::format("\"{}\"", format.key)) != std::string_view::npos;
  });
}

Result<ForeignSchedule> interpret_schedule(const SourceText& source, std::size_t npus) {
  const auto content = exchange::content_of(source.text);
  const auto unknown = [&](std::string why) {
    return input_error({source.file, 1, 1}, "the format of the schedule is not known", std::move(why),
                       "schedules are read from MSCCLang XML, mscclpp execution plans, ForestColl trees and TE-CCL "
                       "outputs");
  };
  if (content.starts_with('<')) {
    const auto document = exchange::parse_xml(source.file, source.text);
    if (!document) return document.errors();
    if (document->root.name == "algo") return exchange::interpret_mscclang(*document);
    if (document->root.name == "Algo") return exchange::interpret_forestcoll(*document);
    return unknown("the root element is neither <algo> nor <Algo>");
  }
  if (!content.starts_with('{')) return unknown("it begins neither with < nor with {");
  const auto file = exchange::parse_values(source.file, source.text);
  if (!file) return file.errors();
  for (const auto& [key, interpret] : kJsonFormats)
    if (file->find(key) != nullptr) return interpret(*file, npus);
  return unknown("it has neither the key gpus nor 1-Epoch_Duration");
}

std::unique_ptr<Program> make_transfer_program(const ForeignSchedule& schedule) {
  return std::make_unique<TransferProgram>(schedule);
}

Result<Collective> collective_of(const ForeignSchedule& schedule, Bytes size) {
  CollectiveRequest request;
  request.kind = schedule.kind;
  request.npus = schedule.npus;
  request.chunks = schedule.chunks_per_npu;
  request.size = size;
  request.root = schedule.root;
  if (!schedule.pieces.empty()) {
    request.kind = CollectiveKind::conditions;
    request.chunks = 1;
    const auto chunks = static_cast<std::int64_t>(schedule.npus) * schedule.chunks_per_npu;
    const double whole = static_cast<double>(size.count()) / static_cast<double>(chunks);
    auto conditions = std::make_shared<std::vector<Condition>>();
    for (const ForeignPiece& piece : schedule.pieces) {
      const auto bytes = std::llround(whole * static_cast<double>(piece.share) / static_cast<double>(kWholeChunk));
      if (bytes < 1)
        return input_error({"--size", 0, 0}, "a piece of a chunk has less than a byte",
                           fmt::format("it is {} millionths of {:.0f} bytes", piece.share, whole),
                           "give a larger size");
      conditions->push_back({piece.source, {piece.destination}, Bytes::of(bytes)});
    }
    ProcessGroup all;
    for (std::size_t npu = 0; npu < schedule.npus; ++npu) all.members.push_back(NpuId::at(npu));
    all.conditions = std::move(conditions);
    request.groups = {std::move(all)};
  }
  return Collective::make(std::move(request));
}

}  // namespace tenex
