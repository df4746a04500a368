// The writer of one rank: collects rows, commits them as shards, keeps the number of files small.
//
// A commit is: shard image in memory, written whole, synced, renamed; then the journal line, synced. Whatever fails
// before the line is durable leaves the rows pending and removes the shard, so that a retry begins from a clean state.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "store/journal.hpp"
#include "store/shard.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

using store::Commit;
using store::Layout;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFlushRows = 4'096;
constexpr std::size_t kFlushBytes = std::size_t{8} << 20;
constexpr std::chrono::seconds kFlushTime{30};
/// After a failed flush add() waits this long before it tries again by itself.
constexpr std::chrono::seconds kRetryTime{5};
constexpr std::size_t kMostShardBytes = std::size_t{16} << 20;
/// Compaction joins shards below the first size, as long as their sum is below the second, when there are so many of
/// them.
constexpr std::size_t kSmallShard = std::size_t{4} << 20;
constexpr std::size_t kCompactedBytes = std::size_t{8} << 20;
constexpr std::size_t kManyShards = 64;

}  // namespace

class ShardWriter::Impl {
 public:
  /// What is known of a point of the study.
  struct Point {
    Digest key;
    store::OutputBits outputs = 0;
  };

  Impl(Layout layout, std::vector<Point> points, store::ShardOrigin origin, store::Journal journal)
      : layout_(std::move(layout)),
        points_(std::move(points)),
        origin_(std::move(origin)),
        journal_(std::move(journal)) {}

  Status add(Row row) {
    ensure(row.point < points_.size(), "a row of a point that the study does not have");
    pending_bytes_ += store::row_bytes(row.evaluation);
    const auto& point = points_[row.point];
    pending_.push_back({point.key, std::move(row.evaluation), row.finished_unix_ms, point.outputs});
    return is_flush_due() ? flush() : success();
  }

  Status start(std::uint64_t point) {
    ensure(point < points_.size(), "a start of a point that the study does not have");
    return journal_.start(to_string(points_[point].key));
  }

  Status flush() {
    last_flush_ = Clock::now();
    while (!pending_.empty()) {
      auto status = commit_some(pending_.size());
      if (!status) {
        retry_at_ = Clock::now() + kRetryTime;
        return status;
      }
    }
    retry_at_ = {};
    if (small_shards() >= next_compaction_) compact();
    return success();
  }

  Status flush_if_due() { return !pending_.empty() && is_flush_due() ? flush() : success(); }

  [[nodiscard]] std::size_t committed() const { return committed_; }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

 private:
  [[nodiscard]] bool is_flush_due() const {
    const auto now = Clock::now();
    if (now < retry_at_) return false;
    const auto wait = std::max<Clock::duration>(kFlushTime, (now - opened_) / 100);
    return pending_.size() >= kFlushRows || pending_bytes_ >= kFlushBytes || now - last_flush_ >= wait;
  }

  /// Commits the first `count` pending rows, or fewer where their image would be too large.
  Status commit_some(std::size_t count) {
    auto image = store::encode_shard(origin_, pending_, 0, count);
    if (!image) return image.errors();
    if (image->size() > kMostShardBytes && count > 1) return commit_some(count / 2);
    const auto shard = write_shard(*image, count);
    if (!shard) return shard.errors();
    if (auto status = journal_.commit(*shard); !status) {
      ::unlink(layout_.shard(shard->shard).c_str());
      return status;
    }
    live_.push_back(*shard);
    committed_ += count;
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    pending_bytes_ = 0;
    for (const auto& row : pending_) pending_bytes_ += store::row_bytes(row.evaluation);
    return success();
  }

  /// Writes the next shard of this writer; it counts only when a journal line names it.
  Result<Commit> write_shard(const std::vector<std::byte>& image, std::size_t rows) {
    const auto name = store::shard_name({origin_.incarnation, origin_.rank, number_++});
    if (auto status = write_file_atomically(layout_.shard(name), image); !status) {
      ::unlink(layout_.shard(name).c_str());  // renamed, but the folder could not be synced
      return status.errors();
    }
    return Commit{name, rows, image.size(), digest64(text_of(image))};
  }

  [[nodiscard]] std::size_t small_shards() const {
    return static_cast<std::size_t>(
        std::count_if(live_.begin(), live_.end(), [](const Commit& shard) { return shard.bytes < kSmallShard; }));
  }

  /// Joins small shards. Only tidies: a failure loses nothing, so it is not reported but tried again much later.
  void compact() {
    std::vector<Commit> small;
    for (const auto& shard : live_)
      if (shard.bytes < kSmallShard) small.push_back(shard);
    for (std::size_t first = 0; first < small.size();) {
      std::size_t last = first;
      for (std::size_t bytes = 0; last < small.size() && bytes + small[last].bytes <= kCompactedBytes; ++last)
        bytes += small[last].bytes;
      const std::vector<Commit> group(small.begin() + static_cast<std::ptrdiff_t>(first),
                                      small.begin() + static_cast<std::ptrdiff_t>(last));
      first = last;
      if (group.size() > 1 && !join(group)) break;
    }
    next_compaction_ = std::max(kManyShards, small_shards() + kManyShards / 2);
  }

  Status join(const std::vector<Commit>& group) {
    std::vector<store::StoredRow> rows;
    for (const auto& old : group) {
      const auto shard = store::open_shard(layout_, old);
      if (!shard) return shard.errors();
      auto part = store::decode_shard(*shard, old.shard);
      if (!part) return part.errors();
      std::move(part->begin(), part->end(), std::back_inserter(rows));
    }
    const auto image = store::encode_shard(origin_, rows, 0, rows.size());
    if (!image) return image.errors();
    const auto joined = write_shard(*image, rows.size());
    if (!joined) return joined.errors();
    if (auto status = journal_.replace(*joined, group); !status) {
      ::unlink(layout_.shard(joined->shard).c_str());
      return status;
    }
    for (const auto& old : group) {
      ::unlink(layout_.shard(old.shard).c_str());
      std::erase(live_, old);
    }
    live_.push_back(*joined);
    return success();
  }

  Layout layout_;
  std::vector<Point> points_;
  store::ShardOrigin origin_;
  store::Journal journal_;
  std::vector<store::StoredRow> pending_;
  std::size_t pending_bytes_ = 0;
  std::size_t committed_ = 0;
  std::vector<Commit> live_;
  std::uint32_t number_ = 0;
  std::size_t next_compaction_ = kManyShards;
  Clock::time_point opened_ = Clock::now();
  Clock::time_point last_flush_ = opened_;
  Clock::time_point retry_at_{};
};

ShardWriter::ShardWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardWriter::~ShardWriter() = default;
ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;
ShardWriter& ShardWriter::operator=(ShardWriter&&) noexcept = default;

Result<ShardWriter> ShardWriter::open(const std::filesystem::path& dir, const Study& study, std::uint32_t incarnation,
                                      std::uint32_t rank) {
  Layout layout{dir};
  // Rank 0 made the folders, but another host's view of them may lag behind.
  for (const auto& folder : {layout.shards(), layout.journals()})
    if (auto status = store::make_folder(folder); !status) return status.errors();
  auto journal = store::Journal::create(layout.journals() / store::journal_name({incarnation, rank, 0}));
  if (!journal) return journal.errors();
  std::vector<Impl::Point> points;
  points.reserve(study.points.size());
  for (std::size_t i = 0; i < study.points.size(); ++i)
    points.push_back({study.points[i].key, store::asked_outputs(study, i)});
  return ShardWriter(std::make_unique<Impl>(std::move(layout), std::move(points),
                                            store::this_origin(to_string(study.digest), incarnation, rank),
                                            std::move(journal).value()));
}

Status ShardWriter::add(Row row) { return impl_->add(std::move(row)); }
Status ShardWriter::start(std::uint64_t point) { return impl_->start(point); }
Status ShardWriter::flush() { return impl_->flush(); }
Status ShardWriter::flush_if_due() { return impl_->flush_if_due(); }
std::size_t ShardWriter::committed() const { return impl_->committed(); }
std::size_t ShardWriter::pending() const { return impl_->pending(); }

}  // namespace tenex
