// The case fails for another reason than the one it names: check.cmake must refuse this file.
#ifdef CONTROL
const int kept = 1;
#else
// expect: conversion from
const int kept1 = undeclared;
#endif
