// The stepwise gather, and the order of a block's chunks.
#include "synthesis/tacos/coarse/block_gather.hpp"

#include <algorithm>
#include <numeric>

#include "tenex/base/bitset.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

struct BlockArrival {
  std::uint32_t row;  ///< the first row in which it can be forwarded
  std::uint32_t chunk;
};

class Stepper {
 public:
  Stepper(const BlockShape& shape, std::uint32_t hop_rows)
      : shape_(shape),
        hop_rows_(hop_rows),
        chunks_(shape.npus * shape.chunks_per_npu),
        has_(shape.npus, chunks_),
        arrivals_(shape.npus),
        sends_(shape.npus),
        cursor_(shape.source.size(), 0),
        free_(shape.source.size(), 0) {
    for (std::uint32_t npu = 0; npu < shape.npus; ++npu) {
      arrivals_[npu].reserve(chunks_);
      sends_[npu].reserve(chunks_);
      for (std::uint32_t k = 0; k < shape.chunks_per_npu; ++k) {
        const std::uint32_t chunk = npu * shape.chunks_per_npu + k;
        has_.set(npu, chunk);
        arrivals_[npu].push_back({0, chunk});
      }
    }
  }

  void run() {
    std::uint32_t missing = shape_.npus * (chunks_ - shape_.chunks_per_npu);
    std::uint32_t quiet = 0;
    for (std::uint32_t row = 0; missing > 0; ++row) {
      const std::uint32_t before = missing;
      for (std::uint32_t npu = 0; npu < shape_.npus; ++npu) {
        if (arrivals_[npu].size() == chunks_) continue;
        for (auto link = shape_.link_begin[npu]; link < shape_.link_begin[npu + 1]; ++link)
          missing -= send(npu, link, row) ? 1U : 0U;
      }
      quiet = missing == before ? quiet + 1 : 0;
      ensure(quiet <= hop_rows_, "gather_in_block: a block that is not connected");
    }
  }

  BlockGather result() {
    BlockGather gather;
    order_chunks(gather);
    std::vector<std::uint32_t> place(chunks_);
    for (std::uint32_t i = 0; i < chunks_; ++i) place[gather.order[i]] = i;
    gather.send_begin.push_back(0);
    for (std::uint32_t npu = 0; npu < shape_.npus; ++npu) {
      std::int64_t stream = 0;
      for (const auto& arrival : arrivals_[npu])
        stream = std::max(stream, std::int64_t{arrival.row} - place[arrival.chunk]);
      gather.stream_row.push_back(static_cast<std::uint32_t>(stream));
      for (auto send : sends_[npu]) {
        send.place = place[send.place];  // until here `place` is the chunk
        gather.sends.push_back(send);
      }
      gather.send_begin.push_back(static_cast<std::uint32_t>(gather.sends.size()));
    }
    gather.free_row = std::move(free_);
    return gather;
  }

 private:
  bool send(std::uint32_t npu, std::uint32_t link, std::uint32_t row) {
    const auto& held = arrivals_[shape_.source[link]];
    auto& cursor = cursor_[link];
    while (cursor < held.size() && has_.test(npu, held[cursor].chunk)) ++cursor;
    if (cursor == held.size() || held[cursor].row > row) return false;
    const std::uint32_t chunk = held[cursor++].chunk;
    has_.set(npu, chunk);
    arrivals_[npu].push_back({row + hop_rows_, chunk});
    sends_[npu].push_back({row, chunk, link - shape_.link_begin[npu]});
    free_[link] = row + 1;
    return true;
  }

  /// Puts chunks first that all NPUs get early.
  void order_chunks(BlockGather& gather) const {
    std::vector<std::uint64_t> sum(chunks_, 0);
    for (const auto& held : arrivals_)
      for (const auto& arrival : held) sum[arrival.chunk] += arrival.row;
    gather.order.resize(chunks_);
    std::iota(gather.order.begin(), gather.order.end(), 0U);
    std::stable_sort(gather.order.begin(), gather.order.end(), [&](auto a, auto b) { return sum[a] < sum[b]; });
  }

  const BlockShape& shape_;
  std::uint32_t hop_rows_;
  std::uint32_t chunks_;
  BitMatrix has_;
  std::vector<std::vector<BlockArrival>> arrivals_;
  std::vector<std::vector<RampSend>> sends_;
  std::vector<std::uint32_t> cursor_;
  std::vector<std::uint32_t> free_;
};

}  // namespace

BlockGather gather_in_block(const BlockShape& shape, std::uint32_t hop_rows) {
  Stepper stepper(shape, hop_rows);
  stepper.run();
  return stepper.result();
}

}  // namespace tenex
