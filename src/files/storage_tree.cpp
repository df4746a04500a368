// A schedule as its storages: views refer to their bases, and each storage is written once.
#include <unistd.h>

#include <map>
#include <optional>
#include <variant>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/storage/step_table.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

/// An All-Reduce of relabelled gathers has five.
constexpr std::int64_t kMostStorages = 16;

std::string group_of(std::size_t storage) { return fmt::format("/storage/{}", storage); }

/// Writes storages in an order in which each refers only to earlier ones.
class TreeWriter {
 public:
  explicit TreeWriter(const StorageTarget& target) : target_(target) {}

  std::size_t write(const Schedule& schedule) {
    if (const auto found = numbers_.find(schedule.storage().get()); found != numbers_.end()) return found->second;
    const auto parts = parts_of(schedule);
    const auto number = std::visit([&](const auto& own) { return write(schedule, own); }, parts.kind);
    numbers_[schedule.storage().get()] = number;
    return number;
  }
  [[nodiscard]] std::size_t count() const { return next_; }

 private:
  std::size_t write(const Schedule&, const ReversedParts& reversed) {
    const auto base = write(reversed.base);
    const auto number = begin("reversed");
    refer(number, "base", base);
    target_.file.set_attribute(group_of(number), "last_start_ps", reversed.last_start.count());
    return number;
  }
  std::size_t write(const Schedule&, const SequenceParts& sequence) {
    const auto first = write(sequence.first);
    const auto second = write(sequence.second);
    const auto number = begin("sequence");
    refer(number, "first", first);
    refer(number, "second", second);
    target_.file.set_attribute(group_of(number), "shift_ps", sequence.shift.count());
    target_.file.set_attribute(group_of(number), "message_shift", std::int64_t{sequence.message_shift});
    return number;
  }
  std::size_t write(const Schedule&, const RelabelledParts& renamed) {
    const auto base = write(renamed.base);
    const auto number = begin("relabelled");
    refer(number, "base", base);
    write_names(number, renamed);
    return number;
  }
  template <class Slot>
  std::size_t write(const Schedule& schedule, const StepTable<Slot>* table) {
    return write_data(schedule, "step_table", [&](const std::string& group) {
      write_step_table(target_, group, *table);
      return true;
    });
  }
  std::size_t write(const Schedule& schedule, const BlockSchedule* data) {
    return write_data(schedule, "block",
                      [&](const std::string& group) { return write_blocks(target_, group, schedule, *data); });
  }
  std::size_t write(const Schedule& schedule, const SymmetricStorage* storage) {
    return write_data(schedule, "symmetric",
                      [&](const std::string& group) { return write_orbits(target_, group, *storage); });
  }
  std::size_t write(const Schedule& schedule, const GridSchedule* data) {
    return write_data(schedule, "grid", [&](const std::string& group) { return write_grid(target_, group, *data); });
  }
  std::size_t write(const Schedule& schedule, const CombSchedule* data) {
    return write_data(schedule, "comb", [&](const std::string& group) { return write_combs(target_, group, *data); });
  }
  std::size_t write(const Schedule& schedule, const PeriodicSchedule* data) {
    return write_data(schedule, "periodic", [&](const std::string& group) {
      write_periods(target_, group, *data);
      return true;
    });
  }
  std::size_t write(const Schedule& schedule, const PlainParts&) {
    return write_data(schedule, "list", [](const std::string&) { return false; });
  }

  std::size_t begin(std::string_view kind) {
    target_.file.add_group(group_of(next_));
    target_.file.set_attribute(group_of(next_), "kind", kind);
    return next_++;
  }
  void refer(std::size_t number, const char* role, std::size_t to) {
    target_.file.set_attribute(group_of(number), role, static_cast<std::int64_t>(to));
  }
  void write_names(std::size_t number, const RelabelledParts& renamed) {
    ColumnPen<std::uint32_t> links(target_.file, group_of(number) + "/links");
    for (const LinkId link : renamed.links) links.put(link.value());
    links.finish();
    ColumnPen<std::uint32_t> chunks(target_.file, group_of(number) + "/chunks");
    for (const ChunkId chunk : renamed.chunks) chunks.put(chunk.value());
    chunks.finish();
  }
  /// Writes a storage that is not a view: as a list where `write_parts` cannot. The kind is set after the columns, when
  /// it is known.
  template <class WriteParts>
  std::size_t write_data(const Schedule& schedule, const char* kind, const WriteParts& write_parts) {
    const auto group = group_of(next_);
    target_.file.add_group(group);
    const bool written = write_parts(group);
    if (!written) write_sends(target_, group, schedule);
    target_.file.set_attribute(group, "kind", written ? kind : "list");
    return next_++;
  }

  const StorageTarget& target_;
  std::map<const ScheduleStorage*, std::size_t> numbers_;
  std::size_t next_ = 0;
};

/// True where `names` lists each of 0 .. count-1 once.
bool is_permutation_of(const std::vector<std::uint32_t>& names, std::size_t count) {
  std::vector<bool> seen(count, false);
  for (const auto name : names) {
    if (name >= count || seen[name]) return false;
    seen[name] = true;
  }
  return names.size() == count;
}

class TreeReader {
 public:
  explicit TreeReader(const StorageSource& source) : source_(source) {}

  Result<StoredSchedule> read() {
    const auto count = source_.file.integer_attribute("/storage", "count");
    if (!count) return count.errors();
    if (*count < 1 || *count > kMostStorages) return source_.damaged("/storage", fmt::format("{} storages", *count));
    for (std::size_t number = 0; number < static_cast<std::size_t>(*count); ++number) {
      auto storage = read(number);
      if (!storage) return storage.errors();
      const auto longest = kLongestTime;
      if (storage->first_start < SimTime::zero() - longest || storage->last_start > longest)
        return source_.damaged(group_of(number), "it has times beyond 26 days (2^61 ps)");
      storages_.push_back(std::move(storage).value());
    }
    return std::move(storages_.back());
  }

 private:
  Result<StoredSchedule> read(std::size_t number) {
    const auto group = group_of(number);
    const auto kind = source_.file.text_attribute(group, "kind");
    if (!kind) return kind.errors();
    if (*kind == "list") return read_sends(source_, group);
    if (*kind == "step_table") return read_step_table(source_, group);
    if (*kind == "block") return read_blocks(source_, group);
    if (*kind == "symmetric") return read_orbits(source_, group);
    if (*kind == "grid") return read_grid(source_, group);
    if (*kind == "comb") return read_combs(source_, group);
    if (*kind == "periodic") return read_periods(source_, group);
    if (*kind == "reversed") return read_reversed(group);
    if (*kind == "sequence") return read_sequence(group);
    if (*kind == "relabelled") return read_relabelled(group);
    return source_.damaged(group, fmt::format("\"{}\" is no storage", *kind));
  }

  /// The storage that another one refers to.
  Result<StoredSchedule> part(const std::string& group, const char* role) const {
    const auto number = source_.file.integer_attribute(group, role);
    if (!number) return number.errors();
    if (*number < 0 || *number >= static_cast<std::int64_t>(storages_.size()))
      return source_.damaged(group, fmt::format("storage {} does not come before it", *number));
    return storages_[static_cast<std::size_t>(*number)];
  }
  /// A time small enough to be added to others.
  Result<SimTime> time(const std::string& group, const char* name) const {
    const auto value = source_.file.integer_attribute(group, name);
    if (!value) return value.errors();
    if (*value < 0 || *value > kLongestTime.count())
      return source_.damaged(group, fmt::format("{} = {}", name, *value));
    return SimTime::of(*value);
  }

  Result<StoredSchedule> read_reversed(const std::string& group) const {
    auto base = part(group, "base");
    if (!base) return base;
    const auto last = time(group, "last_start_ps");
    if (!last) return last.errors();
    if (base->schedule.may_carry_messages()) return source_.damaged(group, "messages cannot be reversed");
    const auto schedule = make_reversed_view({base->schedule, *last});
    return StoredSchedule{schedule, *last - base->last_start, *last - base->first_start, base->sends_of_busiest};
  }

  Result<StoredSchedule> read_sequence(const std::string& group) const {
    auto first = part(group, "first");
    if (!first) return first;
    auto second = part(group, "second");
    if (!second) return second;
    const auto shift = time(group, "shift_ps");
    if (!shift) return shift.errors();
    const auto messages = source_.file.integer_attribute(group, "message_shift");
    if (!messages) return messages.errors();
    if (*messages < 0 || *messages >= MessageId::none().value())
      return source_.damaged(group, fmt::format("message_shift = {}", *messages));
    if (first->schedule.sends() > 0 && second->schedule.sends() > 0 && first->last_start > second->first_start + *shift)
      return source_.damaged(group, "its second part begins before the first has begun all its sends");
    const auto schedule =
        make_sequence_view({first->schedule, second->schedule, *shift, static_cast<MessageId::Rep>(*messages)});
    return StoredSchedule{schedule, std::min(first->first_start, second->first_start + *shift),
                          std::max(first->last_start, second->last_start + *shift),
                          first->sends_of_busiest + second->sends_of_busiest};
  }

  Result<StoredSchedule> read_relabelled(const std::string& group) const {
    auto base = part(group, "base");
    if (!base) return base;
    ColumnFacts facts(source_.file, group);
    std::vector<std::uint32_t> links, chunks;
    facts.column("links", links);
    facts.column("chunks", chunks);
    if (!facts.errors().empty()) return facts.errors();
    if (!is_permutation_of(links, source_.topology.links()) ||
        (!chunks.empty() && !is_permutation_of(chunks, source_.collective.chunks())))
      return source_.damaged(group, "its names are not a permutation");
    if (base->schedule.may_carry_messages()) return source_.damaged(group, "messages cannot be renamed");
    base->schedule = relabelled(base->schedule, {links.begin(), links.end()}, {chunks.begin(), chunks.end()});
    return base;
  }

  const StorageSource& source_;
  std::vector<StoredSchedule> storages_;
};

}  // namespace

Diagnostic StorageSource::damaged(const std::string& group, std::string why) const {
  return environment_error(fmt::format("{}: \"{}\" is damaged", name, group), std::move(why));
}

Status check_machine_memory(const std::string& file, std::uint64_t bytes) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return success();
  const auto memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  if (bytes <= memory) return success();
  return resource_error(fmt::format("\"{}\" does not fit in memory", file),
                        fmt::format("it takes {} bytes, and this machine has {}", bytes, memory));
}

namespace {

/// Whether a schedule of these parts has a compact form.
bool is_compact(const PlainParts&) { return false; }
template <class Slot>
bool is_compact(const StepTable<Slot>*) {
  return true;
}
bool is_compact(const BlockSchedule*) { return true; }
bool is_compact(const SymmetricStorage*) { return true; }
bool is_compact(const GridSchedule*) { return true; }
bool is_compact(const CombSchedule*) { return true; }
bool is_compact(const PeriodicSchedule*) { return true; }
bool is_compact(const ReversedParts& reversed) { return has_compact_form(reversed.base); }
bool is_compact(const SequenceParts& sequence) {
  return has_compact_form(sequence.first) || has_compact_form(sequence.second);
}
bool is_compact(const RelabelledParts& renamed) { return has_compact_form(renamed.base); }

}  // namespace

bool has_compact_form(const Schedule& schedule) {
  return std::visit([](const auto& parts) { return is_compact(parts); }, parts_of(schedule).kind);
}

void write_storages(const StorageTarget& target, const Schedule& schedule) {
  target.file.add_group("/storage");
  TreeWriter tree(target);
  tree.write(schedule);
  target.file.set_attribute("/storage", "count", static_cast<std::int64_t>(tree.count()));
}

Result<StoredSchedule> read_storages(const StorageSource& source) { return TreeReader(source).read(); }

}  // namespace tenex
