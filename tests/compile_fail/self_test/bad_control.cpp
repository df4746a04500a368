// The control lacks a name that the case needs too: check.cmake must refuse this file.
#ifdef CONTROL
const Missing kept = 1;
#else
// expect: does not name a type
const Missing kept1 = 2;
#endif
