// Errors of a study that show only when topologies are built. Each distinct topology is checked once, before any work.
// A topology is not built if its text alone decides, or if it is too large.
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"

namespace tenex {
namespace {

constexpr std::size_t most_diagnostics = 20;
constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// Whether the topology follows from its text: a shape with all its links is connected by construction.
bool follows_from_text(const DesignPoint& point) {
  return point.topology.machine_file.empty() && point.topology.without.empty();
}

/// The errors of a shape with all its links. Too many vertices to address is a matter of size, like too little memory:
/// the row reports it.
Diagnostics check_text(const DesignPoint& point) {
  auto errors = check_shape(point.topology.shape, point.topology.links, unwinding_degree(point));
  std::erase_if(errors, [](const Diagnostic& error) { return error.fault == Fault::resource; });
  return errors;
}

/// The faults of a machine file that its network does not have; those of shapes were checked with their text. Each
/// network and value is checked once.
Diagnostics check_named_faults(const DesignPoint& point, std::set<std::string>& checked) {
  if (point.topology.machine_file.empty() || point.topology.faults.empty()) return {};
  if (!checked.insert(cache_key(point, Changes::network)).second || planned_topology_bytes(point) > most_bytes)
    return {};
  return check_faults(point).errors();
}

// Gives errors without a place the topology's text as their place.
Diagnostics with_topology(Diagnostics errors, const DesignPoint& point) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place.file = text_setting(point, "topology");
  return errors;
}

/// Checks points one after another.
class PointChecker {
 public:
  void add(const DesignPoint& point) {
    if (point.topology.faults.empty()) return add_whole(point);
    auto errors = check_named_faults(point, faults_checked_);
    if (!errors.empty()) return append(all_, with_topology(std::move(errors), point));
    auto whole = point;  // what faults do to a network is a result
    whole.topology.faults.clear();
    add_whole(whole);
  }
  [[nodiscard]] Diagnostics& errors() { return all_; }

 private:
  /// Checks a point without faults. The text gives a shape's number of NPUs, so its groups and sizes were checked then.
  /// A machine file gives it only now.
  void add_whole(const DesignPoint& point) {
    const bool from_file = !point.topology.machine_file.empty();
    const bool fresh = networks_checked_.insert(cache_key(point, kOfNetwork)).second;
    if (!fresh && !from_file) return;
    if (follows_from_text(point)) return append(all_, with_topology(check_text(point), point));
    const auto built = find_network(point);
    if (!built) return;
    if (!*built && fresh) append(all_, with_topology(built->errors(), point));
    if (!*built || !from_file) return;
    if (const auto collective = build_point_collective(with_any_chunks(point), (*built)->topology.npus()); !collective)
      append(all_, with_topology(collective.errors(), point));
  }
  /// The network, or its errors; null if it is too large to be built here, so that its row reports the error.
  std::shared_ptr<const Result<PointTopology>> find_network(const DesignPoint& point) {
    if (planned_topology_bytes(point) > most_bytes) return nullptr;
    try {
      return find_topology(point, cache_key(point, kOfNetwork), networks_.impl().execution);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  Diagnostics all_;
  Cache networks_;
  std::set<std::string> networks_checked_;
  std::set<std::string> faults_checked_;
};

}  // namespace

Diagnostics check_study(const Study& study) {
  PointChecker checker;
  for (const auto& point : study.points) {
    if (checker.errors().size() >= most_diagnostics) break;
    // Training points were checked with their text (Vocabulary::check_training), as they are mapped to shapes only.
    if (!point.trains()) checker.add(point);
  }
  return std::move(checker.errors());
}

}  // namespace tenex
