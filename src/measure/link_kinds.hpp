// Internal to measure: a machine whose links have other bandwidths: by dimension of its shape, or by kinds of equal
// links.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::measure {

class LinkKinds {
 public:
  explicit LinkKinds(const Machine& machine);
  [[nodiscard]] std::size_t size() const { return bandwidths_.size(); }
  [[nodiscard]] const std::vector<Bandwidth>& bandwidths() const { return bandwidths_; }
  /// "dimension 2", "links of 450GB/s and 350ns".
  [[nodiscard]] std::string name(std::size_t kind) const;
  /// Whether the machine states routes itself, which with() keeps and text() leaves out.
  [[nodiscard]] bool has_given_routes() const;
  /// The topology with these bandwidths. O(links).
  [[nodiscard]] Topology with(const std::vector<Bandwidth>& bandwidths) const;
  /// The machine file with these bandwidths, each with its origin, behind `head`. O(links).
  [[nodiscard]] std::string text(const std::string& head, const std::vector<Bandwidth>& bandwidths,
                                 const std::vector<std::string>& origins) const;

 private:
  const Machine& machine_;
  std::vector<Bandwidth> bandwidths_;
  std::vector<SimTime> alphas_;
};

}  // namespace tenex::measure
