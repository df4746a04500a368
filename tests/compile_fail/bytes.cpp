// A Bytes is no other quantity and no bare number.
#include <cstdint>

#include "tenex/base/quantity.hpp"

using namespace tenex;

Bytes twice(Bytes value) { return value + value; }

#ifdef CONTROL
const Bytes kept = bytes(1);
const Bytes sum = bytes(1) + bytes(2);
const bool order = bytes(1) < bytes(2);
const Bytes argument = twice(bytes(1));
const std::int64_t number = bytes(1).count();
const Bytes scaled = bytes(1) * 2;
#else
// expect: conversion from|no viable conversion
const Bytes kept1 = picoseconds(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum2 = bytes(1) + picoseconds(2);
// expect: no match for 'operator<'|invalid operands
const bool order3 = bytes(1) < picoseconds(2);
// expect: could not convert|no viable conversion|no matching function
const Bytes argument4 = twice(picoseconds(1));
// expect: conversion from|no viable conversion
const Bytes kept5 = bytes_per_second(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum6 = bytes(1) + bytes_per_second(2);
// expect: no match for 'operator<'|invalid operands
const bool order7 = bytes(1) < bytes_per_second(2);
// expect: could not convert|no viable conversion|no matching function
const Bytes argument8 = twice(bytes_per_second(1));
// expect: conversion from|no viable conversion
const Bytes kept9 = 1;
// expect: is private within this context|calling a private constructor
const Bytes kept10(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum11 = bytes(1) + 1;
// expect: could not convert|no viable conversion|no matching function
const Bytes argument12 = twice(1);
// expect: cannot convert|no viable conversion
const std::int64_t number13 = bytes(1);
// expect: no match for 'operator\*'|invalid operands
const auto square14 = bytes(1) * bytes(1);
#endif
