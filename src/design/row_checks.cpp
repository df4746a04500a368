// The checks of a row. Each message has the place of the value that is easiest to change. If that value comes from an
// axis, the message says how `keep` would leave out such rows.
#include "design/row_checks.hpp"

#include <algorithm>
#include <limits>

#include <fmt/ranges.h>

#include "design/canonical.hpp"
#include "design/enumerate.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/message.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostChunks = std::int64_t{std::numeric_limits<std::uint32_t>::max()} - 1;

/// How a suggestion of a `keep` begins.
constexpr std::string_view kLeaveOut = "leave such rows out with keep";

/// The text without each use of a part of it.
std::string text_without(std::string text, std::string_view part) {
  for (auto at = text.find(part); !part.empty() && at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

/// A suggestion whose `keep` leaves out one topology, for all of them.
std::string for_all(std::string suggestion, std::string_view topology, const std::vector<std::string_view>& all) {
  constexpr std::size_t kMostNamed = 6;  // in a condition that somebody copies
  const auto unlike = [](std::string_view text) { return fmt::format("topology != '{}'", text); };
  std::string condition = unlike(topology);
  const auto at = suggestion.find(condition);
  if (at == std::string::npos) return suggestion;
  if (all.size() > kMostNamed)
    return suggestion.erase(suggestion.find(kLeaveOut)) + kLeaveOut.data() + ", which may name topology and npus";
  for (const std::string_view text : all)
    if (text != topology) condition += " and " + unlike(text);
  return suggestion.replace(at, unlike(topology).size(), condition);
}

std::int64_t integer_or(const SettingValue* value, std::int64_t fallback) {
  return value == nullptr ? fallback : value->as<std::int64_t>();
}

/// Which algorithms to take for a collective instead.
std::string remedy_for(const Vocabulary& vocabulary, CollectiveKind kind) {
  std::vector<std::string> able;
  for (const auto* traits : vocabulary.algorithms)
    if (traits->makes(kind) && !traits->is_reference) able.emplace_back(traits->name);
  return able.empty() ? "choose another one" : fmt::format("choose from {}", fmt::join(able, ", "));
}

}  // namespace

std::vector<std::string_view> names_of(const std::vector<CollectiveKind>& kinds) {
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : kinds) names.push_back(to_string(kind));
  return names;
}

void Contradictions::add(Diagnostic error, std::int64_t hardness) {
  ++additions_;
  // The topology's name and numbers that follow from it make it no other error.
  const std::string name = shortened(topology_);
  std::string why = text_without(error.why, name);
  std::erase_if(why, [](char letter) { return letter >= '0' && letter <= '9'; });
  const std::string key = to_string(input_error(error.place, text_without(error.problem, name), std::move(why)));
  const auto [found, is_new] = found_.try_emplace(digest64(key), shown_.size());
  if (is_new && shown_.size() < kMostErrorsShown) {
    shown_.push_back({std::move(error), hardness, topology_, {topology_}});
    return;
  }
  if (found->second >= kMostErrorsShown) return;
  Shown& shown = shown_[found->second];
  if (error == shown.error) return;
  if (std::ranges::find(shown.topologies, topology_) == shown.topologies.end()) shown.topologies.push_back(topology_);
  if (hardness > shown.hardness) shown.error = std::move(error), shown.hardness = hardness, shown.topology = topology_;
}

Diagnostics Contradictions::shown() const {
  Diagnostics errors;
  for (const Shown& each : shown_) {
    errors.push_back(each.error);
    const std::size_t others = each.topologies.size() - 1;
    if (others == 0) continue;
    auto& problem = errors.back().problem;
    const auto other = each.topologies[each.topologies[0] == each.topology ? 1 : 0];
    if (problem.find(shortened(each.topology)) == std::string::npos)
      problem += fmt::format(", for {} topologies", others + 1);
    else if (others == 1)
      problem += fmt::format(", and so for \"{}\"", shortened(other));
    else
      problem += fmt::format(", and so for {} other topologies", others);
    errors.back().suggestion = for_all(std::move(errors.back().suggestion), each.topology, each.topologies);
  }
  return errors;
}

void Contradictions::add(Diagnostics errors) {
  for (Diagnostic& error : errors) add(std::move(error));
}

void RowChecker::fail(const SettingValue& at, std::string problem, std::string why, std::string remedy,
                      const std::string& keep, std::int64_t hardness) {
  if (varies_ && !keep.empty()) {
    remedy += fmt::format("{}leave such rows out with keep = \"{}\"", remedy.empty() ? "" : ", or ", keep);
  }
  contradictions_.add(input_error(at.place, std::move(problem), std::move(why), std::move(remedy)), hardness);
}

std::optional<Groups> RowChecker::check(const Row& row, bool varies) {
  varies_ = varies;
  contradictions_.set_topology(row[index_of(Key::topology)]->text);
  const std::size_t before = contradictions_.additions();
  const auto& topology = row[index_of(Key::topology)]->as<TopologyValue>();
  if (row[index_of(Key::workload)] != nullptr) {
    check_training(row, topology);
    if (contradictions_.additions() != before || !asker_.ask(row, varies)) return std::nullopt;
    return Groups();
  }
  check_links(row, topology);
  check_unwinding(row, topology);
  check_removals(row, topology);
  check_stragglers(row, topology);
  check_faults(row, topology);
  check_engine(row);
  check_routes(row, topology);
  const GroupFacts& facts = group_facts(row, topology);
  check_collective(row, facts);
  check_overlap(row, facts);
  check_priorities(row, facts);
  if (!check_choices(row, facts)) return std::nullopt;
  if (!facts.errors.empty()) {
    fail_groups(row, facts.errors);
  } else if (const auto kind = row[index_of(Key::collective)]->as<CollectiveKind>();
             facts.own || stores_conditions(kind) || kind == CollectiveKind::mixed) {
    check_request(row, facts, topology.npus);
  } else {
    check_root(row, facts);
    check_size(row, facts, topology.npus);
  }
  check_failed_members(row, facts);
  if (contradictions_.additions() != before) return std::nullopt;
  return facts.groups;
}

void RowChecker::check_unwinding(const Row& row, const TopologyValue& topology) {
  const SettingValue* unwind = row[index_of(Key::unwind)];
  if (unwind == nullptr || unwind->as<std::int64_t>() == 0 || topology.switches != 0) return;
  fail(*unwind, fmt::format("unwind = {} without a switch", unwind->text),
       fmt::format("\"{}\" has none", shortened(topology.choice.text)), "write unwind = 0",
       fmt::format("unwind = 0 or topology != '{}'", topology.choice.text));
}

void RowChecker::check_removals(const Row& row, const TopologyValue& topology) {
  const SettingValue* without = row[index_of(Key::without)];
  if (without == nullptr || topology.is_machine()) return;
  for (const Diagnostic& error : removal_errors(*without, *row[index_of(Key::topology)])) {
    fail(*without, error.problem, error.why, error.suggestion,
         fmt::format("without = none or topology != '{}'", topology.choice.text));
  }
}

const Diagnostics& RowChecker::removal_errors(const SettingValue& without, const SettingValue& topology) {
  const auto [found, is_new] = removals_.try_emplace({&without, &topology});
  const auto& pairs = without.as<LinkPairs>();
  if (!is_new || pairs.empty()) return found->second;
  const auto& choice = topology.as<TopologyValue>().choice;
  // Only the connections matter here, so alpha and bandwidth are arbitrary.
  const auto built = build_topology(choice.shape, {{SimTime::zero()}, {gigabytes_per_second(1)}, false});
  if (!built) return found->second = built.errors();
  std::vector<std::pair<VertexId, VertexId>> vertices;
  for (const auto& [a, b] : pairs) vertices.emplace_back(VertexId(a), VertexId(b));
  const auto reduced = remove_links(*built, vertices);
  if (!reduced) {
    found->second = reduced.errors();
    for (Diagnostic& error : found->second) error.problem += fmt::format(" in \"{}\"", shortened(choice.text));
  } else if (const auto gap = find_disconnected_pair(*reduced)) {
    found->second = {input_error(
        {}, fmt::format("\"{}\" is disconnected without {}", shortened(choice.text), without.text),
        fmt::format("no path leads from {} to {}", gap->first.value(), gap->second.value()), "remove fewer links")};
  }
  return found->second;
}

/// What faults do to the network, cut it for instance, is a result: only what cannot fail is refused.
void RowChecker::check_faults(const Row& row, const TopologyValue& topology) {
  const SettingValue* faults = row[index_of(Key::faults)];
  if (faults == nullptr || topology.is_machine()) return;
  const SettingValue& shape = *row[index_of(Key::topology)];
  for (Diagnostic error : fault_errors(*faults, row[index_of(Key::without)], shape)) {
    if (varies_)
      error.suggestion += fmt::format("{}leave such rows out with keep = \"faults = none or topology != '{}'\"",
                                      error.suggestion.empty() ? "" : ", or ", topology.choice.text);
    contradictions_.add(std::move(error));
  }
}

const Diagnostics& RowChecker::fault_errors(const SettingValue& faults, const SettingValue* without,
                                            const SettingValue& topology) {
  const auto [found, is_new] = faulty_.try_emplace({&faults, without, &topology});
  const auto& parsed = faults.as<ParsedFaults>();
  const bool always_fit = std::ranges::all_of(parsed.faults, [](const NetworkFault& fault) {
    return fault.is_share && fault.kind != NetworkFault::Kind::drawn_switch_links;
  });
  if (!is_new || always_fit) return found->second;
  const auto& choice = topology.as<TopologyValue>().choice;
  // Only the connections matter here, so alpha and bandwidth are arbitrary.
  auto built = build_topology(choice.shape, {{SimTime::zero()}, {gigabytes_per_second(1)}, false});
  if (!built) return found->second = built.errors();
  const Topology whole = *built;  // elements are named in the network as it was built
  if (without != nullptr) {
    std::vector<std::pair<VertexId, VertexId>> vertices;
    for (const auto& [a, b] : without->as<LinkPairs>()) vertices.emplace_back(VertexId(a), VertexId(b));
    if (auto reduced = remove_links(*built, vertices)) built = *std::move(reduced);  // else `without` is refused
  }
  for (std::size_t i = 0; i < parsed.faults.size(); ++i) {
    std::optional<Diagnostic> error;
    const auto resolved = resolve_elements(whole, {parsed.faults[i]});
    if (!resolved) error = resolved.errors().front();
    for (std::size_t r = 0; resolved && r < resolved->size() && !error; ++r)
      error = refuse_fault(*built, (*resolved)[r]);
    if (!error) continue;
    error->place = parsed.places[i];
    error->problem += fmt::format(" in \"{}\"", shortened(choice.text));
    found->second.push_back(*std::move(error));
  }
  return found->second;
}

/// Drawn faults may hit a group, too: only its row tells.
void RowChecker::check_failed_members(const Row& row, const GroupFacts& facts) {
  const SettingValue* faults = row[index_of(Key::faults)];
  if (faults == nullptr) return;
  const auto& parsed = faults->as<ParsedFaults>();
  for (std::size_t i = 0; i < parsed.faults.size(); ++i) {
    if (parsed.faults[i].kind != NetworkFault::Kind::npu) continue;
    const auto npu = parsed.faults[i].first;
    for (const ProcessGroup& group : facts.groups.list()) {
      const bool hit = std::ranges::any_of(group.members, [&](NpuId member) { return member.value() == npu; });
      if (!hit || has_everyone(group, row[index_of(Key::topology)]->as<TopologyValue>().npus)) continue;
      std::string remedy = "leave it out of the group";
      if (varies_) remedy += ", or leave such rows out with keep = \"faults = none or groups = all\"";
      contradictions_.add(input_error(parsed.places[i], fmt::format("the failed NPU {} is in a process group", npu),
                                      "only `all` stands for the NPUs that are left", std::move(remedy)));
      break;
    }
  }
}

void RowChecker::check_engine(const Row& row) {
  const SettingValue* engine = row[index_of(Key::engine)];
  const SettingValue* algorithm = row[index_of(Key::algorithm)];
  if (engine == nullptr || algorithm == nullptr || engine->text == kAutomaticEngine) return;
  const auto* traits = find_traits(vocabulary_, algorithm->text);
  if (traits == nullptr || traits->engines.empty()) return;  // the algorithm does not read the key
  if (std::ranges::find(traits->engines, engine->text) != traits->engines.end()) return;
  fail(*engine, fmt::format("\"{}\" has no engine \"{}\"", algorithm->text, engine->text),
       fmt::format("its engines are {}", fmt::join(traits->engines, ", ")), "choose one of them, or auto",
       fmt::format("engine = auto or algorithm != {}", algorithm->text));
}

void RowChecker::check_collective(const Row& row, const GroupFacts& group_facts) {
  const SettingValue& algorithm = *row[index_of(Key::algorithm)];
  const SettingValue& collective = *row[index_of(Key::collective)];
  const auto* traits = find_traits(vocabulary_, algorithm.text);
  if (traits == nullptr) return;
  const auto names = names_of(traits->collectives);
  if (group_facts.own || group_facts.shared) {
    if (traits->makes(CollectiveKind::mixed)) return;
    const SettingValue& groups = *row[index_of(Key::groups)];
    return fail(groups,
                fmt::format("algorithm \"{}\" is not defined for groups that {}", algorithm.text,
                            group_facts.own ? "have collectives of their own" : "share NPUs"),
                fmt::format("all its groups run one of {}, side by side", join(names)),
                remedy_for(vocabulary_, CollectiveKind::mixed),
                fmt::format("algorithm != {} or groups = all", algorithm.text));
  }
  const auto kind = collective.as<CollectiveKind>();
  if (traits->makes(kind)) return;
  // At the place that was written later: the study is more likely about the earlier one.
  const bool collective_is_later = std::pair(collective.place.line, collective.place.column) >
                                   std::pair(algorithm.place.line, algorithm.place.column);
  fail(collective_is_later ? collective : algorithm,
       fmt::format("algorithm \"{}\" is not defined for {}", algorithm.text, to_string(kind)),
       fmt::format("it is for {}", join(names)), remedy_for(vocabulary_, kind),
       fmt::format("algorithm != {} or collective != {}", algorithm.text, to_string(kind)));
}

void RowChecker::fail_groups(const Row& row, const Diagnostics& errors) {
  const SettingValue& topology = *row[index_of(Key::topology)];
  const bool told = row[index_of(Key::groups)] != nullptr;
  for (Diagnostic error : errors) {
    if (varies_) {
      error.suggestion +=
          fmt::format("{}leave such rows out with keep = \"{}topology != '{}'\"",
                      error.suggestion.empty() ? "" : ", or ", told ? "groups = all or " : "", topology.text);
    }
    // On fewer NPUs the same groups lack more of them.
    contradictions_.add(std::move(error), -static_cast<std::int64_t>(topology.as<TopologyValue>().npus));
  }
}

const RowChecker::GroupFacts& RowChecker::group_facts(const Row& row, const TopologyValue& topology) {
  const SettingValue* groups = row[index_of(Key::groups)];
  const SettingValue* topology_value = row[index_of(Key::topology)];
  const auto [found, is_new] = groups_.try_emplace({groups, topology_value});
  if (is_new) found->second = read_groups(groups, *topology_value, topology.npus);
  return found->second;
}

RowChecker::GroupFacts RowChecker::read_groups(const SettingValue* value, const SettingValue& topology,
                                               std::size_t npus) {
  const bool all = value == nullptr || value->as<std::string>() == "all";
  if (npus == 1) {
    GroupFacts failed;
    failed.errors.push_back(input_error(topology.place,
                                        fmt::format("\"{}\" has a single NPU", shortened(topology.text)),
                                        "a collective has at least two", "make its sizes larger"));
    return failed;
  }
  if (all) return {{}, 1, npus, npus, npus, {}};
  auto groups = parse_groups(value->as<std::string>(), npus, value->text_place);
  if (!groups) {
    GroupFacts failed;
    failed.errors = groups.errors();
    for (Diagnostic& error : failed.errors) {
      error.problem += fmt::format(" over \"{}\"", shortened(topology.text));
    }
    return failed;
  }
  GroupFacts facts{{}, groups->size(), 0, 0, std::numeric_limits<std::size_t>::max(), {}};
  for (const ProcessGroup& group : *groups) {
    facts.members += group.members.size();
    facts.largest = std::max(facts.largest, group.members.size());
    facts.smallest = std::min(facts.smallest, group.members.size());
  }
  facts.own = have_own(*groups);
  facts.shared = share_npus(*groups);
  facts.groups = Groups(*std::move(groups), npus);
  return facts;
}

void RowChecker::check_overlap(const Row& row, const GroupFacts& facts) {
  const SettingValue* overlap = row[index_of(Key::overlap)];
  if (overlap == nullptr || overlap->as<bool>() || !(facts.own || facts.shared)) return;
  fail(*overlap, "overlap = false for groups that differ or share NPUs",
       "a reduction of one group may run beside a gather of another", "remove it, or make the groups alike",
       "overlap = true or groups = all");
}

/// What a row may leave to its evaluation. False if that is not possible, so that its groups are not known.
bool RowChecker::check_choices(const Row& row, const GroupFacts& facts) {
  const SettingValue* chunks = row[index_of(Key::chunks)];
  const SettingValue* piece = row[index_of(Key::piece)];
  if (chunks != nullptr && piece != nullptr && piece->as<Bytes>() != kNoPiece)
    fail(*piece, fmt::format("piece = \"{}\" and chunks = {}", piece->text, chunks->text),
         "the one is the size of the largest chunk, the other the number of chunks", "give one of them", "");
  if (chunks == nullptr || chunks->as<std::int64_t>() != kAutomaticChunks || !facts.own) return true;
  fail(*chunks, "chunks = \"auto\" for groups that have collectives, sizes, chunks or roots of their own",
       "one number of chunks is chosen for all groups", "write numbers of chunks", "chunks != auto or groups = all");
  return false;
}

/// Makes the collective, which says what is wrong with it.
void RowChecker::check_request(const Row& row, const GroupFacts& facts, std::size_t npus) {
  const auto common = row[index_of(Key::collective)]->as<CollectiveKind>();
  for (const ProcessGroup& group : facts.groups.list())
    if (const auto kind = group.kind.value_or(common); group.root && !has_root(kind) && kind != CollectiveKind::mixed)
      fail(*row[index_of(Key::groups)], fmt::format("root {} of a group that runs {}", *group.root, to_string(kind)),
           "it starts and ends at all members alike", "remove the root", "");
  DesignPoint point = with_any_chunks(build_point(row, facts.groups, vocabulary_));
  point.topology.faults.clear();  // what fails is known to the row only
  auto request = collective_request(point, npus);
  const auto errors = request ? Collective::make(*std::move(request)).errors() : request.errors();
  const SettingValue* at = row[index_of(Key::collective)];
  for (const Key key : {Key::groups, Key::conditions, Key::matrix})
    if (row[index_of(key)] != nullptr) at = row[index_of(key)];
  for (const Diagnostic& error : errors) fail(*at, error.problem, error.why, error.suggestion, "");
}

void RowChecker::check_root(const Row& row, const GroupFacts& facts) {
  const SettingValue* root = row[index_of(Key::root)];
  if (root == nullptr || !has_root(row[index_of(Key::collective)]->as<CollectiveKind>())) return;
  if (root->as<std::int64_t>() < static_cast<std::int64_t>(facts.smallest)) return;
  fail(*root, fmt::format("root = {} in a group of {} NPUs", root->text, facts.smallest),
       "the root is a rank inside each group, counted from 0", fmt::format("use at most {}", facts.smallest - 1),
       fmt::format("root < {}", facts.smallest));
}

void RowChecker::check_size(const Row& row, const GroupFacts& facts, std::size_t npus) {
  const SettingValue& size_value = *row[index_of(Key::size)];
  const SettingValue* chunks_value = row[index_of(Key::chunks)];
  const std::int64_t chunks = std::max<std::int64_t>(integer_or(chunks_value, 1), 1);  // automatic: 1 is among them
  const bool rooted = owned_by_root(row[index_of(Key::collective)]->as<CollectiveKind>());
  const auto owners = static_cast<std::int64_t>(rooted ? facts.count : facts.members);
  const auto owners_in_group = static_cast<std::int64_t>(rooted ? std::size_t{1} : facts.largest);
  if (chunks > kMostChunks / owners) {
    fail(chunks_value != nullptr ? *chunks_value : size_value, fmt::format("chunks = {} is too many", chunks),
         fmt::format("at most {} chunks are addressed, here by {} {}", kMostChunks, owners, rooted ? "groups" : "NPUs"),
         fmt::format("use at most {}", kMostChunks / owners), fmt::format("chunks <= {}", kMostChunks / owners));
    return;
  }
  const Bytes size = size_value.as<Bytes>();
  const Bytes least = bytes(owners_in_group * chunks);
  if (size >= least) return;
  const std::string rule = rooted
                               ? fmt::format("every chunk holds at least a byte: c = {}", chunks)
                               : fmt::format("every chunk holds at least a byte: n*c = {}*{}", facts.largest, chunks);
  // In terms of npus it serves all topologies at once.
  const bool of_all = npus != 0 && owners_in_group == static_cast<std::int64_t>(npus);
  std::string keep = of_all ? fmt::format("size >= npus * {}B", chunks) : fmt::format("size >= {}", to_string(least));
  if (chunks > 1) {
    keep += fmt::format(" or chunks < {}", chunks);
  } else if (npus != 0 && !of_all) {
    keep += fmt::format(" or npus < {}", npus);
  }
  fail(size_value, fmt::format("size {} is too small", to_string(size)), rule,
       fmt::format("use at least {}", to_string(least)), keep, least.count());
}

}  // namespace tenex
