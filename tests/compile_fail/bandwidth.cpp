// A Bandwidth is no other quantity and no bare number.
#include <cstdint>

#include "tenex/base/quantity.hpp"

using namespace tenex;

Bandwidth twice(Bandwidth value) { return value + value; }

#ifdef CONTROL
const Bandwidth kept = bytes_per_second(1);
const Bandwidth sum = bytes_per_second(1) + bytes_per_second(2);
const bool order = bytes_per_second(1) < bytes_per_second(2);
const Bandwidth argument = twice(bytes_per_second(1));
const std::int64_t number = bytes_per_second(1).count();
const Bandwidth scaled = bytes_per_second(1) * 2;
#else
// expect: conversion from|no viable conversion
const Bandwidth kept1 = picoseconds(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum2 = bytes_per_second(1) + picoseconds(2);
// expect: no match for 'operator<'|invalid operands
const bool order3 = bytes_per_second(1) < picoseconds(2);
// expect: could not convert|no viable conversion|no matching function
const Bandwidth argument4 = twice(picoseconds(1));
// expect: conversion from|no viable conversion
const Bandwidth kept5 = bytes(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum6 = bytes_per_second(1) + bytes(2);
// expect: no match for 'operator<'|invalid operands
const bool order7 = bytes_per_second(1) < bytes(2);
// expect: could not convert|no viable conversion|no matching function
const Bandwidth argument8 = twice(bytes(1));
// expect: conversion from|no viable conversion
const Bandwidth kept9 = 1;
// expect: is private within this context|calling a private constructor
const Bandwidth kept10(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum11 = bytes_per_second(1) + 1;
// expect: could not convert|no viable conversion|no matching function
const Bandwidth argument12 = twice(1);
// expect: cannot convert|no viable conversion
const std::int64_t number13 = bytes_per_second(1);
// expect: no match for 'operator\*'|invalid operands
const auto square14 = bytes_per_second(1) * bytes_per_second(1);
#endif
