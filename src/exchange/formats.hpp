// Internal to exchange: the formats that hold machines. Each is one file; formats.cpp tells them apart.
#pragma once

#include <string_view>

#include "exchange/value_tree.hpp"
#include "exchange/xml_tree.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex::exchange {

/// NCCL's and RCCL's topology: <system>.
[[nodiscard]] Result<ImportedMachine> import_nccl(const XmlDocument& document, const SourceText& source,
                                                  const ImportOptions& options);
/// ASTRA-sim's analytical network: topology, npus_count, bandwidth, latency.
[[nodiscard]] Result<ImportedMachine> import_astra_network(const TreeValue& network, const SourceText& source,
                                                           const ImportOptions& options);
/// InfraGraph: an infrastructure, or a device alone.
[[nodiscard]] Result<ImportedMachine> import_infragraph(const TreeValue& file, const SourceText& source,
                                                        const ImportOptions& options);
/// TE-CCL's input: its TopologyParams name a machine that is built in.
[[nodiscard]] Result<ImportedMachine> import_te_ccl_input(const TreeValue& file, const SourceText& source,
                                                          const ImportOptions& options);

/// The text behind blanks, byte order mark, and comments of XML, YAML and TOML: what tells the format.
[[nodiscard]] std::string_view content_of(std::string_view text);

/// What a machine file's `source` says: the file, its format and its digest.
[[nodiscard]] std::string source_of(const SourceText& source, std::string_view format);
/// The machine's name: the option, or the file's name without folder and ending.
[[nodiscard]] std::string name_of(const SourceText& source, const ImportOptions& options);
/// Refuses options that a format does not take. `taken` are the names of those that it does.
[[nodiscard]] Diagnostics refuse_options(const ImportOptions& options, std::initializer_list<std::string_view> taken,
                                         std::string_view format);

}  // namespace tenex::exchange
