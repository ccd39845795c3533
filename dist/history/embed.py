"""embed.py IN OUT NAME: a text file as a C++ header with one constant, so that the program needs no file beside it."""
import sys

text = open(sys.argv[1], encoding="utf-8").read()
assert ')text"' not in text
with open(sys.argv[2], "w", encoding="utf-8") as header:
    header.write(f'#pragma once\ninline constexpr char {sys.argv[3]}[] = R"text({text})text";\n')
