// Internal to exchange: what the options say of bandwidths and alphas, and what nobody says.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/machine_draft.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex::exchange {

/// Chooses numbers in this order: the option for the kind, the file or a constant, the option for all kinds. What none
/// of them says is kept, so that all of it is asked for at once.
class RateChoice {
 public:
  RateChoice(const ImportOptions& options, std::string file);

  /// `why` says in a message why the file cannot tell. Returns something also where the number is missing.
  Sourced<Bandwidth> bandwidth(std::string_view kind, std::optional<Sourced<Bandwidth>> known, std::string_view why);
  Sourced<SimTime> alpha(std::string_view kind, std::optional<Sourced<SimTime>> known, std::string_view why);
  /// Asks for another option.
  void ask(std::string problem, std::string why, std::string suggestion);
  /// Whether an option is given for this kind or for all.
  [[nodiscard]] bool has_bandwidth(std::string_view kind) const;

  /// Everything that is wrong with the options and all that is missing. An option for a kind that the machine does not
  /// have is wrong, too: it would have no effect.
  [[nodiscard]] Diagnostics errors() const;

 private:
  template <class Number>
  struct Given {
    std::string kind;  ///< empty: for all
    Number value;
    std::string words;
  };
  template <class Number>
  Sourced<Number> choose(const std::vector<Given<Number>>& given, std::string_view option, std::string_view kind,
                         std::optional<Sourced<Number>> known, std::string_view why, std::string_view example);

  std::string file_;
  std::vector<Given<Bandwidth>> bandwidths_;
  std::vector<Given<SimTime>> alphas_;
  std::set<std::string, std::less<>> kinds_;  ///< that were asked about
  std::set<std::string> asked_;
  Diagnostics errors_;
};

}  // namespace tenex::exchange
