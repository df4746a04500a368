// no_code.cmake compiles this file three times and compares the code: with contracts that are not checked, without any
// (NO_CONTRACT), and with contracts that are checked.
#ifdef NO_CONTRACT
#define TENEX_EXPECTS(condition, meaning) static_cast<void>(0)
#define TENEX_ENSURES(condition, meaning) static_cast<void>(0)
#else
#include "tenex/base/contract.hpp"
#endif

int look_up(int where);  // elsewhere: the compiler cannot know that it changes nothing

int find(const int* values, int count) {
  TENEX_EXPECTS(count > 0 && look_up(values[0]) == 0, "a value that is known");
  int most = values[0];
  for (int i = 1; i < count; ++i) most = values[i] > most ? values[i] : most;
  TENEX_ENSURES(look_up(most) >= 0, "a value that is known");
  return most;
}
