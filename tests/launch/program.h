#pragma once
// Runs the real `tardygrad` and reads what it wrote.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

// What a call of `tardygrad` came to.
struct Outcome {
  int status = 0;  // as a shell sees it
  std::string out, err;
};

// The program's file, ready for a shell.
std::string program();

// Runs `tardygrad <arguments>`, as a shell splits them, in `folder`.
Outcome run_in(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = "");

// Starts it, and does not wait.
pid_t start_in(const TemporaryFolder& folder, const std::string& arguments);
// Waits for what start_in() started; the status as a shell sees it.
int wait_for(pid_t process);

// The rows of a CSV file by the header's names. Fails the test if a row has another number of fields.
std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& file);

// The single row of the summary.csv in a run's folder.
std::map<std::string, std::string> summary(const std::filesystem::path& folder);

// The numbers in a run's folder that are a function of its configuration, as one text: metrics.csv, workers.csv and
// summary.csv without the seconds. Not events.bin, whose header changes with every option.
std::string results(const std::filesystem::path& folder);

// Quick to train, on data that is always there.
inline const std::string kQuick = " --data synthetic --model mlp:hidden=16 ";
