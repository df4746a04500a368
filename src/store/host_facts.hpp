// What is worth knowing of the machine that evaluates.
#pragma once

#include <string>

namespace tenex::store {

[[nodiscard]] std::string host_name();
/// "Linux 6.1.0 x86_64, AMD EPYC 7B13, 2 cores"
[[nodiscard]] std::string host_facts();

/// This process, distinguishable from every other: the host with its boot and process namespace, and the process with
/// its start time.
struct ProcessIdentity {
  std::string host;  ///< host name, boot id and process namespace: equal only where pids mean the same
  long pid = 0;
  std::string started;  ///< clock ticks since boot; tells a reused pid apart
};
[[nodiscard]] ProcessIdentity this_process();
/// Whether the process of that identity, which must be of this host, still runs.
[[nodiscard]] bool is_alive(const ProcessIdentity& process);

}  // namespace tenex::store
