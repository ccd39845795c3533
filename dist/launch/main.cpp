#include "dist/launch/command_line.h"

int main(int argc, char** argv) { return tg::run_command_line(argc, argv); }
