// Nothing is checked: check.cmake must refuse this file.
#ifdef CONTROL
const int kept = 1;
#endif
