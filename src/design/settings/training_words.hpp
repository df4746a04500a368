// Parsers of the keys that only points that train read. Vocabulary::training_word gives each text its canonical form.
#pragma once

#include "design/settings/entry.hpp"

namespace tenex::entry {

/// A text in its canonical form.
[[nodiscard]] Result<SettingValue> parse_training_word(const Setting&, std::string_view, const Node&, ValueContext&);
/// A workload or a cost model: a built-in one, or a file.
[[nodiscard]] Result<SettingValue> parse_named_file(const Setting&, std::string_view, const Node&, ValueContext&);
/// "gpt3 HP-(16,256); msft_1t HP-(128,32) x2": every entry's first word is a workload.
[[nodiscard]] Result<SettingValue> parse_workload_set(const Setting&, std::string_view, const Node&, ValueContext&);
/// A text, or an array of texts, which are joined by "; "; where each was written is kept for messages.
[[nodiscard]] Result<SettingValue> parse_constraints(const Setting&, std::string_view, const Node&, ValueContext&);
/// A bandwidth.
[[nodiscard]] Result<SettingValue> parse_total(const Setting&, std::string_view, const Node&, ValueContext&);

}  // namespace tenex::entry
