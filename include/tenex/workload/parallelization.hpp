// HP-(m,n): TP-m times DP-n, with pipeline stages and experts beside them, laid over the dimensions of a shape.
//
// The slots are, fastest first: tensor, expert, the rest of data, pipeline; or in another order of the three degrees
// (HpOrder), experts always before the rest of data. Each slot takes its NPUs from the
// dimensions in order: from dimension i with r NPUs per line still free, a slot that still needs d takes gcd(d, r). For
// degrees that multiply to the NPU count this always ends, because each prime factor is handed out exactly as often as
// it is there. It keeps a group on consecutive NPUs wherever the sizes allow it, and splits a dimension where they
// require it: TP-16 on RI(4)_FC(8)_RI(4)_SW(32) takes dimension 1 and a half of dimension 2, as LIBRA (Won et al.,
// 2024, VI-A) lays GPT-3. A slot's members in a dimension are `stride` apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// Degrees of parallelism. The expert degree is inside the data degree: experts are spread over e of the n replicas.
struct Parallelization {
  std::int64_t tensor = 1;
  std::int64_t data = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;

  /// tensor * data * pipeline; saturates.
  [[nodiscard]] std::int64_t npus() const;
  bool operator==(const Parallelization&) const = default;
};

/// Which degree takes the first dimensions, which the next, which the rest.
enum class HpOrder : std::uint8_t {
  tensor_data_pipeline,
  tensor_pipeline_data,
  data_tensor_pipeline,
  data_pipeline_tensor,
  pipeline_tensor_data,
  pipeline_data_tensor,
};
inline constexpr std::size_t kHpOrders = 6;
/// "tensor,data,pipeline", ...
[[nodiscard]] std::string_view to_string(HpOrder order);

/// "HP-(16,256)"; with stages or experts "HP-(16,64,4)", "HP-(16,64,4,8)".
[[nodiscard]] std::string to_string(const Parallelization& degrees);

/// Parses "m,n", "m,n,p" or "m,n,p,e", bare or as "HP-(m,n)". Errors (input) at `place`: another form, a degree below 1
/// or above 2^31.
[[nodiscard]] Result<Parallelization> parse_parallelization(std::string_view text, const Place& place = {});

/// The part of one dimension that a group spans.
struct DimensionShare {
  std::size_t dimension = 0;  ///< counts from 0
  std::uint32_t extent = 1;   ///< NPUs on a line of the dimension
  std::uint32_t members = 1;  ///< of these in one group; at least 2
  std::uint32_t stride = 1;   ///< their distance along the line
  bool operator==(const DimensionShare&) const = default;
};

/// The part of the shape that every group of one scope spans, in ascending dimensions; empty for a group of one NPU.
struct GroupSpan {
  std::vector<DimensionShare> shares;
  [[nodiscard]] std::int64_t members() const;
  bool operator==(const GroupSpan&) const = default;
};

/// A parallelization laid over a shape.
class Mapping {
 public:
  /// Errors (input) at `place`: degrees that do not multiply to the NPU count (with nearby degrees that do), an expert
  /// degree that does not divide the data degree, a shape that is no product. O(dimensions).
  [[nodiscard]] static Result<Mapping> make(const Shape& shape, const Parallelization& degrees, const Place& place = {},
                                            HpOrder order = HpOrder::tensor_data_pipeline);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Parallelization& degrees() const { return degrees_; }
  /// The span of the groups of a scope. O(1).
  [[nodiscard]] const GroupSpan& span(Scope scope) const { return spans_[static_cast<std::size_t>(scope)]; }
  /// The groups of a scope, ordered by their first NPU; each NPU is in one group, and members ascend. Empty when groups
  /// have one member. O(npus * dimensions).
  [[nodiscard]] std::vector<ProcessGroup> groups(Scope scope) const;

  /// "tensor: 4 of 4 in dimension 1, 4 of 8 in dimension 2; data: ...": for people.
  [[nodiscard]] std::string describe() const;

 private:
  Mapping() = default;
  Shape shape_;
  Parallelization degrees_;
  std::array<GroupSpan, kScopes> spans_;
};

}  // namespace tenex
