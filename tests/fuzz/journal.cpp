// Fuzz target: the journal reader. Its header is private to the module store, so it is included by path.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../src/store/journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto journal = tenex::store::parse_journal({reinterpret_cast<const char*>(data), size}, "fuzz.log");
  if (!journal.ok() && journal.errors().empty()) __builtin_trap();
  return 0;
}
