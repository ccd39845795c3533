#include "framework/io/gnuplot.h"

#include <gnuplot-iostream.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "framework/core/error.h"
#include "framework/io/file.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

// In single quotes, within which only the quote itself is special: `quote` is how it is written there.
std::string quoted(const std::string& text, const char* quote) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result += quote : result += c;
  return result + "'";
}
std::string shell_quoted(const std::string& text) { return quoted(text, "'\\''"); }

// A folder for gnuplot's picture and its words, gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    require(!error, "plot: no folder for temporary files ({}); set TMPDIR to one", error.message());
    std::string name = (parent / "tardygrad-plot-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "plot: cannot make a folder in {}", parent.string());
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

bool gnuplot_found() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / "gnuplot").c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string gnuplot_text(const std::string& text) { return quoted(text, "''"); }

std::string gnuplot_head(const std::string& title, const std::string& x_label, const std::string& y_label) {
  return fmt::format(
      "set title {}\nset xlabel {}\nset ylabel {}\nset tics nomirror\nset border 3\nset key outside below\n",
      gnuplot_text(title), gnuplot_text(x_label), gnuplot_text(y_label));
}

void draw_svg(const std::string& commands, const fs::path& path) {
  const ScratchFolder scratch;
  const fs::path picture = scratch.file("picture.svg"), words = scratch.file("words.txt");
  {
    Gnuplot gnuplot("gnuplot 2> " + shell_quoted(words.string()));
    gnuplot << "set terminal svg size 860,520 font 'sans-serif,14' noenhanced background '#ffffff'\n"
            << "set output " << gnuplot_text(picture.string()) << "\n"
            << commands << "unset output\n"
            << std::flush;
  }  // the destructor waits for gnuplot to end
  const std::string drawn = contents(picture);
  if (drawn.find("</svg>") == std::string::npos)
    fail("plot: gnuplot drew no picture for {}: {}", path.string(), contents(words));
  write_file(path, drawn);
}

}  // namespace tg
