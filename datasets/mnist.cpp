#include "datasets/mnist.h"

#include <system_error>

#include "datasets/idx.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

Dataset load_part(const fs::path& pictures_file, const fs::path& labels_file, const std::string& name,
                  const std::vector<std::string>& class_names) {
  const Idx labels = read_idx(labels_file, 1);
  const auto classes = static_cast<int64_t>(class_names.size());
  for (size_t i = 0; i < labels.values.size(); ++i)
    require(labels.values[i] < classes, "{}: the label at index {} is {}; {} has {} classes, so 0 to {} were expected",
            labels_file.string(), i, labels.values[i], name, classes, classes - 1);

  Idx pictures = read_idx(pictures_file, 3);
  const int64_t count = pictures.dims[0], height = pictures.dims[1], width = pictures.dims[2];
  require(count > 0 && height > 0 && width > 0, "{}: expected at least one picture with pixels, found {} x {} x {}",
          pictures_file.string(), count, height, width);
  require(count == labels.dims[0], "{}: {} pictures, but {} has {} labels; expected one for each",
          pictures_file.string(), count, labels_file.string(), labels.dims[0]);

  Dataset data;
  data.name = name;
  data.height = height;
  data.width = width;
  data.channels = 1;
  data.pixels = std::move(pictures.values);
  data.labels.assign(labels.values.begin(), labels.values.end());
  data.class_names = class_names;
  return data;
}

}  // namespace

MnistPaths find_mnist(const fs::path& folder) {
  MnistPaths found;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string dashed = kMnistFiles[i];
    std::string dotted = dashed;
    dotted[dotted.rfind("-idx")] = '.';
    for (const std::string& name : {dashed, dotted, dashed + ".gz", dotted + ".gz"}) {
      std::error_code unreadable;
      if (!fs::is_regular_file(folder / name, unreadable)) continue;
      found[i] = folder / name;
      break;
    }
  }
  return found;
}

Splits load_mnist(const MnistPaths& files, const std::string& name, const std::vector<std::string>& class_names) {
  Splits splits{load_part(files[0], files[1], name + " train", class_names),
                load_part(files[2], files[3], name + " test", class_names)};
  const Dataset &train = splits.train, &test = splits.test;
  require(train.height == test.height && train.width == test.width,
          "{}: pictures of {} x {}, but those of {} are {} x {}", files[2].string(), test.height, test.width,
          files[0].string(), train.height, train.width);
  measure_channels(splits);
  return splits;
}

}  // namespace tg
