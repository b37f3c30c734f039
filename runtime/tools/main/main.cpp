#include "shoal/runtime/tools/program.h"

int main(int argc, char** argv) { return shoal::tools::run_program(argc, argv); }
