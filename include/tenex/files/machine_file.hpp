// Machine files: topologies as edge lists in TOML, `schema = 1`. docs: experiments/machines/README.md
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A machine with the facts in its file.
struct Machine {
  std::string name;
  std::string source;                ///< the source of the facts, as the file states it
  std::vector<std::string> remarks;  ///< remarks on the facts
  Topology topology;
  Digest content;  ///< of the file's bytes: stands for the file in canonical keys
};

/// Reads and checks a machine file. Errors: unreadable (environment), everything that the schema forbids (input, with
/// places).
[[nodiscard]] Result<Machine> read_machine_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<Machine> parse_machine(std::string_view text, const std::string& file);

}  // namespace tenex
