// Reads the file of `tenex bound --check`. Numbers are compared with the point's network before anything is stored, so
// that a wrong file costs a message and no memory.
#include "bound_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "report.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kLongestReason = 160;  ///< a parser may quote all that it read

/// The value of a key if it is there and of this type.
template <class T>
const T* find(const Report& report, std::string_view key) {
  for (const auto& [name, value] : report.entries)
    if (name == key) return std::get_if<T>(&value);
  return nullptr;
}

/// Calls take(item) for every item between commas; false where it returns false for one.
template <class Take>
bool each_item(std::string_view text, Take&& take) {
  while (true) {
    const auto comma = text.find(',');
    if (!take(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

/// "0-3,8": ascending ids below `vertices`. nullopt where the text is something else.
std::optional<std::vector<VertexId>> read_vertices(std::string_view text, std::size_t vertices) {
  std::vector<VertexId> ids;
  const bool sound = each_item(text, [&](std::string_view run) {
    const auto dash = run.find('-');
    const auto first = read_number<std::uint32_t>(run.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : read_number<std::uint32_t>(run.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= vertices) return false;
    if (!ids.empty() && *first <= ids.back().value()) return false;
    for (std::size_t id = *first; id <= *last; ++id) ids.push_back(VertexId::at(id));
    return true;
  });
  if (!sound) return std::nullopt;
  return ids;
}

/// "5x2,0x3": weights of 32 bits, each with the number of links that have it, `links` in all. nullopt where the text is
/// something else.
std::optional<std::vector<std::uint32_t>> read_weights(std::string_view text, std::size_t links) {
  std::vector<std::uint32_t> weights;
  const bool sound = each_item(text, [&](std::string_view run) {
    const auto cross = run.find('x');
    if (cross == std::string_view::npos) return false;
    const auto weight = read_number<std::uint32_t>(run.substr(0, cross));
    const auto count = read_number<std::uint64_t>(run.substr(cross + 1));
    if (!weight || !count || *count == 0 || *count > links - weights.size()) return false;
    weights.insert(weights.end(), *count, *weight);
    return true;
  });
  if (!sound || weights.size() != links) return std::nullopt;
  return weights;
}

class BoundFile {
 public:
  BoundFile(std::string name, const Topology& topology) : name_(std::move(name)), topology_(topology) {}

  Result<std::vector<StatedBound>> read(const Report& report) const {
    if (auto network = check_network(report); !network) return network.errors();
    const auto* all = find<std::vector<Report>>(report, "bounds");
    if (all == nullptr || all->empty()) return unsound("it has no \"bounds\"");
    std::vector<StatedBound> stated;
    for (const auto& entry : *all) {
      auto bound = read_bound(entry);
      if (!bound) return bound.errors();
      const auto twice = [&](const StatedBound& other) { return other.method == bound->method; };
      if (std::ranges::any_of(stated, twice)) return unsound("it names a bound twice");
      stated.push_back(*std::move(bound));
    }
    const auto* best = find<std::int64_t>(report, "bound_ps");
    if (best == nullptr || std::ranges::max(stated, {}, &StatedBound::time).time.count() != *best)
      return unsound("its \"bound_ps\" is not the largest time of its bounds");
    return stated;
  }

  [[nodiscard]] Diagnostic unsound(std::string why) const {
    return input_error({name_, 0, 0}, "this is not what `tenex bound --json` prints", std::move(why),
                       "write it again with this version");
  }

 private:
  [[nodiscard]] Status check_network(const Report& report) const {
    const auto* schema = find<std::int64_t>(report, "schema");
    if (schema == nullptr) return unsound("it has no \"schema\"");
    if (*schema != kReportSchema)
      return input_error({name_, 0, 0}, fmt::format("its schema is {}", *schema),
                         fmt::format("this version reads schema {}", kReportSchema),
                         "write the file again with this version");
    const auto* npus = find<std::int64_t>(report, "npus");
    const auto* switches = find<std::int64_t>(report, "switches");
    const auto* links = find<std::int64_t>(report, "links");
    if (npus == nullptr || switches == nullptr || links == nullptr)
      return unsound("it lacks one of \"npus\", \"switches\" and \"links\"");
    const auto own_npus = static_cast<std::int64_t>(topology_.npus());
    const auto own_switches = static_cast<std::int64_t>(topology_.switches());
    const auto own_links = static_cast<std::int64_t>(topology_.links());
    if (*npus == own_npus && *switches == own_switches && *links == own_links) return success();
    return input_error({name_, 0, 0}, "these are bounds of another network",
                       fmt::format("its NPUs, switches and links are {}, {} and {}, and the point's {}, {} and {}",
                                   *npus, *switches, *links, own_npus, own_switches, own_links),
                       "give the options with which the file was written");
  }

  [[nodiscard]] Result<StatedBound> read_bound(const Report& entry) const {
    const auto* name = find<std::string>(entry, "name");
    const auto* time = find<std::int64_t>(entry, "time_ps");
    if (name == nullptr || time == nullptr || *time < 0) return unsound("a bound lacks its \"name\" or \"time_ps\"");
    StatedBound bound{nullptr, picoseconds(*time), {}};
    if (*name == "none") return bound;
    const auto method = std::ranges::find(bound_methods(), std::string_view(*name), &BoundMethod::name);
    if (method == bound_methods().end()) return unsound(fmt::format("\"{:.40}\" is no bound of this version", *name));
    bound.method = &*method;
    if (method->check == nullptr) return bound;
    const auto* certificate = find<Report::Object>(entry, "certificate");
    if (certificate == nullptr) return unsound(fmt::format("the bound {} has no certificate", *name));
    if (auto read = read_certificate(certificate->content.front(), bound.certificate); !read) return read.errors();
    return bound;
  }

  [[nodiscard]] Status read_certificate(const Report& report, CertifiedBound& certificate) const {
    certificate.weights.assign(topology_.links(), 0);
    for (const auto& [key, value] : report.entries) {
      const auto* text = std::get_if<std::string>(&value);
      if (key == "inside") {
        auto inside = text == nullptr ? std::nullopt : read_vertices(*text, topology_.vertices());
        if (!inside)
          return unsound(fmt::format("\"inside\" is not ascending ids of vertices below {}", topology_.vertices()));
        certificate.inside = *std::move(inside);
      }
      if (key == "link_weights") {
        auto weights = text == nullptr ? std::nullopt : read_weights(*text, topology_.links());
        if (!weights)
          return unsound(fmt::format("\"link_weights\" is not runs WEIGHTxLINKS of {} links, weights of at most {}",
                                     topology_.links(), std::numeric_limits<std::uint32_t>::max()));
        certificate.weights = *std::move(weights);
      }
    }
    return success();
  }

  std::string name_;
  const Topology& topology_;
};

}  // namespace

Result<std::vector<StatedBound>> read_bound_file(const std::filesystem::path& path, const Topology& topology) {
  const BoundFile file(path.string(), topology);
  // A run of weights takes at most 22 characters, a vertex 11, and few bounds have either.
  const auto most = (std::uintmax_t{1} << 16) + 128 * (topology.links() + topology.vertices());
  std::error_code error;
  if (const auto size = std::filesystem::file_size(path, error); !error && size > most)
    return file.unsound(fmt::format("it has {} bytes, and those of this network have at most {}", size, most));
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  const auto report = parse_report({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!report) return file.unsound(report.errors().front().problem.substr(0, kLongestReason));
  return file.read(*report);
}

}  // namespace tenex::cli
