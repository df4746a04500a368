// A Flops is no other quantity and no bare number.
#include <cstdint>

#include "tenex/workload/compute.hpp"

using namespace tenex;

Flops twice(Flops value) { return value + value; }

#ifdef CONTROL
const Flops kept = flops(1);
const Flops sum = flops(1) + flops(2);
const bool order = flops(1) < flops(2);
const Flops argument = twice(flops(1));
const std::int64_t number = flops(1).count();
const SimTime time = compute_time(flops(1), flops_per_second(1));
#else
// expect: conversion from|no viable conversion
const Flops kept1 = flops_per_second(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum2 = flops(1) + flops_per_second(2);
// expect: no match for 'operator<'|invalid operands
const bool order3 = flops(1) < flops_per_second(2);
// expect: could not convert|no viable conversion|no matching function
const Flops argument4 = twice(bytes(1));
// expect: conversion from|no viable conversion
const Flops kept5 = 1;
// expect: is private within this context|calling a private constructor
const Flops kept6(1);
// expect: cannot convert|no viable conversion
const std::int64_t number7 = flops(1);
// expect: could not convert|no viable conversion|no matching function
const SimTime time8 = compute_time(flops_per_second(1), flops(1));
#endif
