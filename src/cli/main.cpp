#include "tenex/cli/cli.hpp"

int main(int argc, char** argv) { return tenex::run_command_line(argc, argv); }
