// Describes the machine and the process that evaluate.
#pragma once

#include <string>

namespace tenex::store {

[[nodiscard]] std::string host_name();
/// "Linux 6.1.0 x86_64, AMD EPYC 7B13, 2 cores"
[[nodiscard]] std::string host_facts();

/// Distinguishes this process from every other one: the host with its boot and process namespace, and the process with
/// its start time.
struct ProcessIdentity {
  std::string host;  ///< host name, boot id and process namespace; pids mean the same only where it is equal
  long pid = 0;
  std::string started;  ///< clock ticks since boot; tells a reused pid apart
};
[[nodiscard]] ProcessIdentity this_process();
/// Whether the identified process, which must be of this host, still runs.
[[nodiscard]] bool is_alive(const ProcessIdentity& process);

}  // namespace tenex::store
