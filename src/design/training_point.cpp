// Words for the choices of a training point.
#include "tenex/design/training_point.hpp"

namespace tenex {

std::string_view to_string(TimingModel model) {
  switch (model) {
    case TimingModel::libra:
      return "libra";
    case TimingModel::libra_derated:
      return "libra_derated";
    case TimingModel::pipeline:
      return "pipeline";
    case TimingModel::themis:
      return "themis";
    case TimingModel::synthesized:
      return "synthesized";
  }
  return "libra";
}

std::string_view to_string(const BandwidthScheme& scheme) { return scheme ? to_string(*scheme) : "given"; }

std::string_view to_string(Contention contention) { return contention == Contention::none ? "none" : "links"; }

}  // namespace tenex
