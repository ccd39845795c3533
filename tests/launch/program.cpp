#include "tests/launch/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

namespace {

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Quotes are around fields, and doubled inside.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool doubled = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

}  // namespace

std::string program() {
  const char* root = std::getenv("TARDYGRAD_BUILD_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "TARDYGRAD_BUILD_ROOT must name the build folder: run with meson test");
  return fmt::format("'{}/tardygrad'", root);
}

Outcome run_in(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment) {
  const TemporaryFolder words;
  const std::string command = fmt::format("cd '{}' && {} {} {} >'{}' 2>'{}'", folder.str(), environment, program(),
                                          arguments, (words / "out").string(), (words / "err").string());
  const int status = std::system(command.c_str());
  return {shell_status(status), text_of(words / "out"), text_of(words / "err")};
}

pid_t start_in(const TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = fmt::format("cd '{}' && exec {} {} >out 2>err", folder.str(), program(), arguments);
  const pid_t process = ::fork();
  BOOST_REQUIRE(process >= 0);
  if (process == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  BOOST_REQUIRE_EQUAL(::waitpid(process, &status, 0), process);
  return shell_status(status);
}

std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& file) {
  std::istringstream lines(text_of(file));
  std::string line;
  BOOST_REQUIRE(std::getline(lines, line));
  const std::vector<std::string> names = csv_fields(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    BOOST_REQUIRE_MESSAGE(fields.size() == names.size(), file << ": " << line);
    rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) rows.back()[names[i]] = fields[i];
  }
  return rows;
}

std::map<std::string, std::string> summary(const std::filesystem::path& folder) {
  const auto rows = read_csv(folder / "summary.csv");
  BOOST_REQUIRE_EQUAL(rows.size(), 1u);
  return rows.front();
}

std::string results(const std::filesystem::path& folder) {
  auto row = summary(folder);
  row.erase("seconds");
  std::string text = text_of(folder / "metrics.csv") + text_of(folder / "workers.csv");
  for (const auto& [name, value] : row) text += name + "=" + value + "\n";
  return text;
}
