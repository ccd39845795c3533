#pragma once
// Data sets by name, and the folders where they are looked for.

#include <string>
#include <vector>

#include "datasets/dataset.h"

namespace tg {

// The names that load_dataset takes.
std::vector<std::string> dataset_names();

// Loads both parts of a data set. `data_dir` is what --data-dir says, or empty. Searched in this order, each with its
// subfolder `name` first: data_dir, the environment variable TARDYGRAD_DATA, /usr/share/datasets (where Debian's
// packages put them). Throws Error: for an unknown name with the nearest right one; where nothing was found with all
// places, what lies there, and how to get the data set; where a folder holds only some of the files; for files that are
// not what they should be.
Splits load_dataset(const std::string& name, const std::string& data_dir);

struct SearchedPlace {
  std::string folder;
  std::string state;  // "found", "no such folder", "none of the files; it holds ...", "incomplete, without ..."
};

struct DatasetStatus {
  std::string name, summary;
  std::string found;                    // the folder or "built in"; empty if load_dataset would not find it
  std::vector<SearchedPlace> searched;  // up to the first that holds any of its files
};

// Where load_dataset finds a data set: its folder, or "built in"; empty if it would not.
std::string found_dataset(const std::string& name, const std::string& data_dir);

// What load_dataset would find, for every name. Reads no file and throws for no state of the disk.
std::vector<DatasetStatus> find_datasets(const std::string& data_dir);

}  // namespace tg
