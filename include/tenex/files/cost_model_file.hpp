// Cost model files: what links, switches and NICs cost per GB/s, in TOML, `schema = 1`.
//
//   schema = 1
//   kind = "cost_model"
//   name = "LIBRA"
//   source = "where the prices come from"
//   nic_without_switch = false            # optional
//   [pod]                                 # also chiplet, package, node; dollars per GB/s (1e9 bytes per second)
//   link = 7.8                            # one number, [low, high] or [low, mid, high]; without mid their mean
//   switch = [18.0, 69.6]
//   nic = [31.6, 87.8, 144]
//
// Prices are exact to a millionth of a dollar. A part that is not named does not exist in that kind of dimension.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/codesign/network_cost.hpp"

namespace tenex {

/// A cost model and the digest of its file's bytes, which stands for the file in canonical keys.
struct CostModelFile {
  CostModel model;
  Digest content;
};

/// Reads and checks a cost model file. Errors: unreadable (environment), everything that the schema forbids (input,
/// with places).
[[nodiscard]] Result<CostModelFile> read_cost_model_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<CostModelFile> parse_cost_model(std::string_view text, const std::string& file);

}  // namespace tenex
