// Tries changes of a point's keys, one or two at a time, and takes the fastest that fits.
#include "tenex/training/memory_remedy.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tenex/base/units.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

/// A change of one key, as a study writes it.
struct Change {
  Key key;
  std::string text;
  void (*apply)(TrainingPoint&, std::int64_t value);
  std::int64_t value = 0;
};

std::string rounded(std::int64_t amount) { return to_rounded_bytes(static_cast<double>(amount)); }

class RemedySearch {
 public:
  RemedySearch(const DesignPoint& point, const PreparedTraining& prepared, TrainingCache& cache)
      : point_(point), prepared_(prepared), cache_(cache), limit_(point.training().npu_memory.memory.count()) {
    list_degrees();
    list_choices();
  }

  /// The best change, or pair of changes, in words; empty if none fits.
  std::string find() {
    for (std::size_t i = 0; i < changes_.size(); ++i) consider(std::vector{changes_[i]});
    if (!best_.empty()) return best_;
    for (std::size_t i = 0; i < changes_.size(); ++i)
      for (std::size_t j = i + 1; j < changes_.size(); ++j)
        if (changes_[i].key != changes_[j].key) consider(std::vector{changes_[i], changes_[j]});
    return best_;
  }

  [[nodiscard]] std::int64_t least_bytes() const { return least_; }

 private:
  void list_degrees() {
    const auto& hp = point_.training().hp;
    for (std::int64_t factor = 2; factor <= hp.data; factor *= 2) {
      if (hp.data % factor != 0) break;
      const auto data = hp.data / factor;
      if (data % hp.expert != 0) break;
      const auto add = [&](const Parallelization& degrees, void (*apply)(TrainingPoint&, std::int64_t)) {
        changes_.push_back({Key::hp, fmt::format("hp = \"{}\"", to_string(degrees)), apply, factor});
      };
      add({hp.tensor * factor, data, hp.pipeline, hp.expert}, [](TrainingPoint& training, std::int64_t more) {
        training.hp.tensor *= more;
        training.hp.data /= more;
      });
      add({hp.tensor, data, hp.pipeline * factor, hp.expert}, [](TrainingPoint& training, std::int64_t more) {
        training.hp.pipeline *= more;
        training.hp.data /= more;
      });
    }
  }

  void list_choices() {
    const auto add = [&](Key key, std::string text, void (*apply)(TrainingPoint&, std::int64_t), std::int64_t value) {
      changes_.push_back({key, std::move(text), apply, value});
    };
    for (std::int64_t stage = 1; stage <= 3; ++stage)
      add(
          Key::zero_stage, fmt::format("zero_stage = {}", stage),
          [](TrainingPoint& training, std::int64_t value) { training.zero_stage = value; }, stage);
    const auto& training = point_.training();
    for (auto next = static_cast<std::int64_t>(training.recomputation) + 1; next <= 2; ++next)
      add(
          Key::recomputation, fmt::format("recomputation = \"{}\"", to_string(static_cast<Recomputation>(next))),
          [](TrainingPoint& changed, std::int64_t value) { changed.recomputation = static_cast<Recomputation>(value); },
          next);
    if (!training.sequence_parallelism)
      add(
          Key::sequence_parallelism, "sequence_parallelism = true",
          [](TrainingPoint& changed, std::int64_t) { changed.sequence_parallelism = true; }, 1);
    if (!training.flash_attention)
      add(
          Key::flash_attention, "flash_attention = true",
          [](TrainingPoint& changed, std::int64_t) { changed.flash_attention = true; }, 1);
    for (auto more = prepared_.microbatches * 2; more <= prepared_.microbatches * 64; more *= 2)
      add(
          Key::microbatches, fmt::format("microbatches = {}", more),
          [](TrainingPoint& changed, std::int64_t value) { changed.microbatches = value; }, more);
  }

  void consider(const std::vector<Change>& changes) {
    auto changed = point_;
    for (const auto& [key, text, apply, value] : changes) apply(changed.training(), value);
    const auto iteration = make_iteration(changed, cache_);
    if (!iteration) return;
    const auto bytes = (*iteration)->memory.total();
    if (bytes >= 0 && (least_ < 0 || bytes < least_)) least_ = bytes;
    if (bytes < 0 || bytes > limit_) return;
    const auto time = time_of(*iteration);
    if (!time || (!best_.empty() && *time >= best_time_)) return;
    best_time_ = *time;
    best_.clear();
    for (const auto& change : changes) best_ += (best_.empty() ? "" : " and ") + change.text;
    best_ += fmt::format(" ({}; {} per iteration)", rounded(bytes), to_rounded(*time));
  }

  [[nodiscard]] std::optional<SimTime> time_of(const std::shared_ptr<const Iteration>& iteration) const {
    const IterationTraffic traffic(iteration, (*prepared_.setup)->libra);
    const auto time = traffic.time_of(point_.training().training_loop, traffic.libra_times(prepared_.bandwidth));
    if (!time) return std::nullopt;
    return time->total();
  }

  const DesignPoint& point_;
  const PreparedTraining& prepared_;
  TrainingCache& cache_;
  std::int64_t limit_;
  std::vector<Change> changes_;
  std::string best_;
  SimTime best_time_;
  std::int64_t least_ = -1;
};

}  // namespace

std::optional<Diagnostic> over_npu_memory(const DesignPoint& point, const PreparedTraining& prepared,
                                          TrainingCache& cache) {
  const auto& npu = point.training().npu_memory;
  const auto bytes = prepared.memory.total();
  if (!npu.limits() || bytes <= npu.memory.count()) return std::nullopt;
  RemedySearch search(point, prepared, cache);
  const auto found = search.find();
  const auto problem = fmt::format("{} takes {} of an NPU, which has {}", to_string(point.training().hp),
                                   rounded(bytes), to_string(npu.memory));
  const auto why = list_parts(prepared.memory);
  if (!found.empty()) return resource_error(problem, why + "; the fastest change that fits is " + found);
  const auto least = search.least_bytes();
  return resource_error(
      problem, why,
      least < 0 ? std::string("use more NPUs, or NPUs with more memory")
                : fmt::format("no change of one or two keys fits, the least takes {}: use more of them, or more NPUs",
                              rounded(least)));
}

}  // namespace tenex
