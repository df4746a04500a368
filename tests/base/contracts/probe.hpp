// Functions with contracts, compiled twice (probe.cpp): once as where contracts are checked, once as where they are
// not.
#pragma once

namespace tenex::test {

/// Counts how often a condition of theirs is evaluated.
struct Evaluations {
  int count = 0;
  /// Always `holds`.
  bool state(bool holds) { return ++count, holds; }
};

/// Functions whose contracts hold if `expected` and `ensured` do. They return what they counted.
struct Probe {
  const char* name;
  bool checks;  ///< kContracts
  void (*take)(Evaluations& evaluations, bool expected);
  void (*give)(Evaluations& evaluations, bool ensured);
};

extern const Probe kProbeWithContracts;
extern const Probe kProbeWithoutContracts;

}  // namespace tenex::test
