// The writer of one rank collects rows, commits them as shards, and keeps the number of files small.
//
// A commit builds the shard's image in memory, writes it whole, syncs and renames it, then appends the journal line and
// syncs that. A failure before the line is durable leaves the rows pending and removes the shard, so that a retry
// begins from a clean state.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
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
/// After a failed flush, add() waits this long before it tries again by itself.
constexpr std::chrono::seconds kRetryTime{5};
constexpr std::size_t kMostShardBytes = std::size_t{16} << 20;
/// Compaction joins shards that are smaller than the first size, up to a sum of the second, once there are this many of
/// them. Their rows are in memory meanwhile, where a row takes a kilobyte and more, however small it is when
/// compressed.
struct ShardSize {
  std::size_t bytes = 0;
  std::size_t rows = 0;
};
/// Shards that were committed because the writer was full are never joined: joining a million rows takes longer than
/// merging them.
constexpr ShardSize kSmallShard{std::size_t{4} << 20, kFlushRows / 2};
constexpr ShardSize kCompacted{std::size_t{8} << 20, 16'384};
constexpr std::size_t kManyShards = 64;

/// The value of an environment variable where the crash tests may set one, so that a short run commits and joins often.
std::size_t unless_set([[maybe_unused]] const char* variable, std::size_t usual) {
#ifdef TENEX_FAULT_POINTS
  if (const char* const asked = std::getenv(variable); asked != nullptr) return std::strtoul(asked, nullptr, 10);
#endif
  return usual;
}
std::size_t flush_rows() {
  static const std::size_t rows = unless_set("TENEX_FLUSH_ROWS", kFlushRows);
  return rows;
}
std::size_t many_shards() {
  static const std::size_t shards = unless_set("TENEX_MANY_SHARDS", kManyShards);
  return shards;
}

bool is_small(const Commit& shard) { return shard.bytes < kSmallShard.bytes && shard.rows < kSmallShard.rows; }

}  // namespace

class ShardWriter::Impl {
 public:
  Impl(Layout layout, const Study& study, store::ShardOrigin origin, store::Journal journal)
      : layout_(std::move(layout)), study_(study), origin_(std::move(origin)), journal_(std::move(journal)) {}

  Status add(Row row) {
    ensure(row.point < study_.points.size(), "a row of a point that the study does not have");
    pending_bytes_ += store::row_bytes(row.evaluation);
    pending_.push_back({study_.points.key(row.point), std::move(row.evaluation), row.finished_unix_ms,
                        store::asked_outputs(study_, row.point)});
    return is_flush_due() ? flush() : success();
  }

  Status start(std::uint64_t point) {
    ensure(point < study_.points.size(), "a start of a point that the study does not have");
    return journal_.start(to_string(study_.points.key(point)));
  }

  Status note_crash(std::uint64_t point, const std::string& reason) {
    ensure(point < study_.points.size(), "a crash of a point that the study does not have");
    return journal_.crash(reason, to_string(study_.points.key(point)));
  }
  [[nodiscard]] int journal_descriptor() const { return journal_.descriptor(); }
  void log_to(std::shared_ptr<const RankLog> log) { log_ = std::move(log); }

  Status flush() {
    last_flush_ = Clock::now();
    while (!pending_.empty()) {
      auto status = commit_some(pending_.size());
      if (!status) {
        retry_at_ = Clock::now() + kRetryTime;
        log_->note(LogLevel::warning,
                   fmt::format("{} rows are not committed: {}", pending_.size(), to_string(status.errors())));
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
    return pending_.size() >= flush_rows() || pending_bytes_ >= kFlushBytes || now - last_flush_ >= wait;
  }

  /// Commits the first `count` pending rows, or fewer where their image would be too large.
  Status commit_some(std::size_t count) {
    auto image = store::encode_shard(origin_, pending_, 0, count, study_.trains);
    if (!image) return image.errors();
    if (image->size() > kMostShardBytes && count > 1) return commit_some(count / 2);
    const auto shard = write_shard(*image, count);
    if (!shard) return shard.errors();
    if (auto status = journal_.commit(*shard); !status) {
      ::unlink(layout_.shard(shard->shard).c_str());
      return status;
    }
    live_.push_back(*shard);
    log_->note(LogLevel::info, fmt::format("committed {} rows as {} ({} bytes)", count, shard->shard, shard->bytes));
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
    return static_cast<std::size_t>(std::count_if(live_.begin(), live_.end(), is_small));
  }

  /// Joins small shards. A failure loses nothing, so it is not reported; the next attempt is much later.
  void compact() {
    std::vector<Commit> small;
    std::copy_if(live_.begin(), live_.end(), std::back_inserter(small), is_small);
    for (std::size_t first = 0; first < small.size();) {
      std::size_t last = first;
      for (ShardSize sum; last < small.size(); ++last) {
        sum.bytes += small[last].bytes;
        sum.rows += small[last].rows;
        if (sum.bytes > kCompacted.bytes || sum.rows > kCompacted.rows) break;
      }
      const std::vector<Commit> group(small.begin() + static_cast<std::ptrdiff_t>(first),
                                      small.begin() + static_cast<std::ptrdiff_t>(last));
      first = last;
      if (group.size() > 1 && !join(group)) break;
    }
    next_compaction_ = std::max(many_shards(), small_shards() + many_shards() / 2);
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
    const auto image = store::encode_shard(origin_, rows, 0, rows.size(), study_.trains);
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
    log_->note(LogLevel::info, fmt::format("joined {} shards into {} ({} rows, {} bytes)", group.size(), joined->shard,
                                           joined->rows, joined->bytes));
    return success();
  }

  Layout layout_;
  const Study& study_;
  store::ShardOrigin origin_;
  store::Journal journal_;
  std::shared_ptr<const RankLog> log_ = std::make_shared<RankLog>();
  std::vector<store::StoredRow> pending_;
  std::size_t pending_bytes_ = 0;
  std::size_t committed_ = 0;
  std::vector<Commit> live_;
  std::uint32_t number_ = 0;
  std::size_t next_compaction_ = many_shards();
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
  return ShardWriter(std::make_unique<Impl>(std::move(layout), study,
                                            store::this_origin(to_string(study.digest), incarnation, rank),
                                            std::move(journal).value()));
}

Status ShardWriter::add(Row row) { return impl_->add(std::move(row)); }
Status ShardWriter::start(std::uint64_t point) { return impl_->start(point); }
Status ShardWriter::note_crash(std::uint64_t point, const std::string& reason) {
  return impl_->note_crash(point, reason);
}
int ShardWriter::journal_descriptor() const { return impl_->journal_descriptor(); }
void ShardWriter::log_to(std::shared_ptr<const RankLog> log) { impl_->log_to(std::move(log)); }
Status ShardWriter::flush() { return impl_->flush(); }
Status ShardWriter::flush_if_due() { return impl_->flush_if_due(); }
std::size_t ShardWriter::committed() const { return impl_->committed(); }
std::size_t ShardWriter::pending() const { return impl_->pending(); }

}  // namespace tenex
