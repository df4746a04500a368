// Fuzz target: the journal reader.
#include "targets.hpp"

#include "store/journal.hpp"

void tenex::fuzz::journal(std::string_view input) {
  const auto journal = tenex::store::parse_journal(input, "fuzz.log");
  if (!journal.ok() && journal.errors().empty()) __builtin_trap();
}
