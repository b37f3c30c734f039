#pragma once

namespace shoal::tools {

/// The `shoal` program: parses the command line, runs the subcommand, and returns the exit status: 0 success, 1 a
/// failure that a message on standard error explains, 2 wrong use.
int run_program(int argc, char** argv);

}  // namespace shoal::tools
