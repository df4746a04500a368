// Machines that other tools describe, as machine files of tenex.
//
// The format is recognised from the content. Each number of the output has its origin as a comment: the line of the
// file, the option, or the constant with its source. What the file does not say and no constant holds is asked for, all
// at once. What is read of each format: include/tenex/exchange/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// A file as it was read.
struct SourceText {
  std::string file;  ///< its name, for places
  std::string text;
};

/// What the user says beside the file. Words of options stand in place of a file in diagnostics.
struct ImportOptions {
  std::string name = {};                     ///< of the machine; empty: from the file
  std::vector<std::string> bandwidths = {};  ///< "KIND=50GB/s" for links of a kind, "50GB/s" for all without a number
  std::vector<std::string> alphas = {};      ///< "KIND=1us", or "1us"
  std::vector<std::string> gpus = {};        ///< bus ids of GPUs that the file does not mark
  std::string gpu_links = {};                ///< switch, all or pcie; empty: as the file says
  bool pcie = false;                         ///< keep the PCI tree also where NVLinks reach every GPU
  std::uint32_t nodes = 1;                   ///< boxes like that of the file
  std::string fabric = {};                   ///< what joins them: switch, rails or a shape over all NICs
  std::vector<SourceText> system = {};       ///< ASTRA-sim's system file: one or none
};

/// A machine file made from another tool's.
struct ImportedMachine {
  std::string format;                 ///< "NCCL topology", ...
  std::string text;                   ///< the machine file; parse_machine() accepts it
  std::vector<std::string> warnings;  ///< numbers that look wrong, and parts that were left out
};

/// Whether the text is a file for import_machine() and not a machine file of tenex. Looks at its beginning only. O(1)
/// but for leading blanks and comments.
[[nodiscard]] bool is_foreign_machine(std::string_view text);

/// Reads another tool's machine. Memory is bounded by the size limits of the formats (1 MiB of YAML and JSON, 8 MiB of
/// XML), which stand before the parsers. Errors: (input) not well formed or out of range, with line and column; what is
/// missing, one for each option that says it; (unsupported) a format that holds no machine or an older schema, by name.
/// O(file + links of the machine).
[[nodiscard]] Result<ImportedMachine> import_machine(const SourceText& source, const ImportOptions& options);

}  // namespace tenex
