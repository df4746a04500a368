// Compiled only to hold the precompiled GoogleTest header.
