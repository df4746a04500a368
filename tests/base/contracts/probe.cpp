// The build compiles this file with and without TENEX_CONTRACTS, whatever the other files are compiled with.
#include "base/contracts/probe.hpp"

#include "tenex/base/contract.hpp"

namespace tenex::test {
namespace {

void take(Evaluations& evaluations, bool expected) { TENEX_EXPECTS(evaluations.state(expected), "a true argument"); }

void give(Evaluations& evaluations, bool ensured) { TENEX_ENSURES(evaluations.state(ensured), "a true result"); }

}  // namespace

#ifdef TENEX_CONTRACTS
const Probe kProbeWithContracts{"with", kContracts, take, give};
#else
const Probe kProbeWithoutContracts{"without", kContracts, take, give};
#endif

}  // namespace tenex::test
