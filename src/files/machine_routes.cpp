// A route is a table of NPUs and the vertices between them; a forwarding table has a row for each range of NPUs.
#include "files/machine_routes.hpp"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"

namespace tenex {
namespace {

class RouteReader {
 public:
  RouteReader(TableReader& machine, std::int64_t npus) : machine_(machine), npus_(npus) {}

  GivenRoutes read() {
    for (const Node& node : machine_.array("route")) read_route(node);
    for (const Node& node : machine_.array("next_hops")) read_hops(node);
    return std::move(given_);
  }

 private:
  std::nullopt_t refuse(const Node& node, std::string problem, std::string why) {
    machine_.fail(input_error(node.place(), std::move(problem), std::move(why)));
    return std::nullopt;
  }

  void read_route(const Node& node) {
    TableReader reader(node, "a [[route]]", {"from", "to", "through", "links"});
    const Node* from = reader.require("from");
    const Node* to = reader.require("to");
    const Node* through = reader.require("through");
    const auto vertices = reader.array("through");
    const auto links = reader.array("links");
    machine_.fail(reader.take_errors());
    const auto sources = from == nullptr ? std::nullopt : read_npus(*from);
    const auto destinations = to == nullptr ? std::nullopt : read_npus(*to);
    if (through == nullptr || !sources || !destinations) return;
    GivenRoute route{through->place(), *sources, *destinations, {}, {}};
    for (const Node& item : vertices)
      if (const auto vertex = read_number_of(item, "a vertex")) route.through.emplace_back(*vertex);
    for (const Node& item : links)
      if (const auto link = read_number_of(item, "one of parallel links")) route.links.push_back(*link);
    if (!machine_.failed()) given_.routes.push_back(std::move(route));
  }

  void read_hops(const Node& node) {
    TableReader reader(node, "a [[next_hops]]", {"at", "to"});
    const Node* at = reader.require("at");
    (void)reader.require("to");
    const auto rows = reader.array("to");
    machine_.fail(reader.take_errors());
    const auto vertex = at == nullptr ? std::nullopt : read_number_of(*at, "a vertex");
    if (!vertex) return;
    for (const Node& row : rows) read_hop(VertexId(*vertex), row);
  }

  void read_hop(VertexId at, const Node& row) {
    if (!row.is(NodeKind::array) || row.items().size() < 2 || row.items().size() > 3) {
      refuse(row, "a next hop is not [NPUs, vertex]", "behind the vertex it may have one of parallel links");
      return;
    }
    const auto to = read_npus(row.items()[0]);
    const auto next = read_number_of(row.items()[1], "a vertex");
    std::optional<std::uint32_t> link;
    if (row.items().size() == 3) link = read_number_of(row.items()[2], "one of parallel links");
    if (to && next && !machine_.failed()) given_.hops.push_back({row.place(), at, *to, VertexId(*next), link});
  }

  /// An NPU, or a range "first..last".
  std::optional<NpuRange> read_npus(const Node& node) {
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> last;
    if (node.is(NodeKind::integer)) {
      first = last = node.integer();
    } else if (node.is(NodeKind::string)) {
      const std::string_view text = node.text();
      const auto dots = text.find("..");
      first = tenex::read_number<std::int64_t>(text.substr(0, dots));
      last = dots == std::string_view::npos ? first : tenex::read_number<std::int64_t>(text.substr(dots + 2));
    }
    if (!first || !last || *first > *last)
      return refuse(node, "these are no NPUs", "an NPU is a number, and a range is written \"first..last\"");
    if (*first < 0 || *last >= npus_)
      return refuse(node, fmt::format("NPU {} does not exist", *first < 0 ? *first : *last),
                    fmt::format("NPUs are 0 to {}", npus_ - 1));
    return NpuRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
  }

  std::optional<std::uint32_t> read_number_of(const Node& node, const char* what) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (node.is(NodeKind::integer) && node.integer() >= 0 && node.integer() <= most)
      return static_cast<std::uint32_t>(node.integer());
    return refuse(node, fmt::format("this is not {}", what), "it is a number from 0");
  }

  TableReader& machine_;
  std::int64_t npus_;
  GivenRoutes given_;
};

}  // namespace

GivenRoutes read_given_routes(TableReader& machine, std::int64_t npus) { return RouteReader(machine, npus).read(); }

}  // namespace tenex
