// The status of a row that an error ends.
#include "evaluate/evaluate_point.hpp"

#include <utility>

namespace tenex {
namespace {

PointStatus status_of(const Diagnostics& errors) {
  switch (errors.front().fault) {
    case Fault::input:
      return PointStatus::infeasible;
    case Fault::resource:
      return PointStatus::out_of_memory;
    case Fault::unsupported:
      return PointStatus::unsupported;
    case Fault::environment:
      return PointStatus::failed;
  }
  return PointStatus::failed;
}

}  // namespace

void end_point(Evaluation& row, PointStatus status, std::string reason) {
  row.status = status;
  row.reason = std::move(reason);
}

void end_point(Evaluation& row, const Diagnostics& errors) { end_point(row, status_of(errors), to_string(errors)); }

}  // namespace tenex
