// A SimTime is no other quantity and no bare number.
#include <cstdint>

#include "tenex/base/quantity.hpp"

using namespace tenex;

SimTime twice(SimTime value) { return value + value; }

#ifdef CONTROL
const SimTime kept = picoseconds(1);
const SimTime sum = picoseconds(1) + picoseconds(2);
const bool order = picoseconds(1) < picoseconds(2);
const SimTime argument = twice(picoseconds(1));
const std::int64_t number = picoseconds(1).count();
const SimTime scaled = picoseconds(1) * 2;
#else
// expect: conversion from|no viable conversion
const SimTime kept1 = bytes(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum2 = picoseconds(1) + bytes(2);
// expect: no match for 'operator<'|invalid operands
const bool order3 = picoseconds(1) < bytes(2);
// expect: could not convert|no viable conversion|no matching function
const SimTime argument4 = twice(bytes(1));
// expect: conversion from|no viable conversion
const SimTime kept5 = bytes_per_second(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum6 = picoseconds(1) + bytes_per_second(2);
// expect: no match for 'operator<'|invalid operands
const bool order7 = picoseconds(1) < bytes_per_second(2);
// expect: could not convert|no viable conversion|no matching function
const SimTime argument8 = twice(bytes_per_second(1));
// expect: conversion from|no viable conversion
const SimTime kept9 = 1;
// expect: is private within this context|calling a private constructor
const SimTime kept10(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum11 = picoseconds(1) + 1;
// expect: could not convert|no viable conversion|no matching function
const SimTime argument12 = twice(1);
// expect: cannot convert|no viable conversion
const std::int64_t number13 = picoseconds(1);
// expect: no match for 'operator\*'|invalid operands
const auto square14 = picoseconds(1) * picoseconds(1);
#endif
