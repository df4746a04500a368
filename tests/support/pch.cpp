// Compiled only to hold the precompiled headers of the test libraries.
