#include <sys/resource.h>
#include <sys/stat.h>

#include <set>
#include <sstream>

#include "datasets/idx.h"
#include "datasets/mnist.h"
#include "tests/datasets/files.h"

BOOST_AUTO_TEST_SUITE(idx)

namespace {

tg::Idx parse(const Bytes& bytes, int rank) {
  std::istringstream in(std::string(bytes.begin(), bytes.end()));
  return tg::read_idx(in, "some-file", rank);
}

std::string error_in(const Bytes& bytes, int rank) {
  const std::string error = error_of([&] { parse(bytes, rank); });
  BOOST_CHECK_MESSAGE(error.empty() || error.rfind("some-file: ", 0) == 0, "names no file: " << error);
  return error;
}

// One row of tests/data/odd/README.md: pictures or labels, and how many, or what the error says.
struct Row {
  const char* file;
  int rank;
  int64_t count;
  std::vector<const char*> error;
};

const std::vector<Row> kRows{
    {"zero_bytes.idx", 3, 0, {"ends inside its header", "16 bytes"}},
    {"idx/ref-images-idx3-ubyte", 3, 20, {}},
    {"idx/ref-labels-idx1-ubyte", 1, 20, {}},
    {"idx/ref-images-idx3-ubyte.gz", 3, 20, {}},
    {"idx/wrong_magic_first_byte-images-idx3-ubyte", 3, 0, {"not an idx file", "00 00 08 03", "01 00 08 03"}},
    {"idx/wrong_magic_labels_as_images-images-idx3-ubyte", 3, 0, {"expected 3 dimensions", "found 1"}},
    {"idx/truncated_mid_image-images-idx3-ubyte", 3, 0, {"truncated", "20 x 28 x 28 = 15680", "found 10492"}},
    {"idx/extra_one_byte-images-idx3-ubyte", 3, 0, {"too long", "20 x 28 x 28 = 15680"}},
    {"idx/wrong_count_too_many-images-idx3-ubyte", 3, 0, {"truncated", "25 x 28 x 28 = 19600", "found 15680"}},
    {"idx/huge_count-images-idx3-ubyte", 3, 0, {"4294967295 x 28 x 28", "4 GiB"}},
    {"idx/float32_type-images-idx3-float", 3, 0, {"expected elements of type 08", "0d (float32)", "not supported"}},
    {"idx/truncated_70pct-images-idx3-ubyte.gz", 3, 0, {"gzip stream is cut"}},
    {"idx/corrupt_middle-images-idx3-ubyte.gz", 3, 0, {"gzip data is damaged"}},
    {"idx/plain_named_gz-images-idx3-ubyte.gz", 3, 20, {}},
    // In order by themselves: wrong only beside the pictures and the classes.
    {"idx/wrong_count_labels19-labels-idx1-ubyte", 1, 19, {}},
    {"idx/label_10-labels-idx1-ubyte", 1, 20, {}},
};

}  // namespace

BOOST_AUTO_TEST_CASE(odd_files) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.file) {
      tg::Idx idx;
      const std::string file = odd_file(row.file).string();
      const std::string error = error_of([&] { idx = tg::read_idx(file, row.rank); });
      if (row.error.empty()) {
        BOOST_REQUIRE_EQUAL(error, "");
        BOOST_TEST(idx.dims[0] == row.count);
        BOOST_TEST(std::ssize(idx.values) == row.count * (row.rank == 3 ? 28 * 28 : 1));
      } else {
        BOOST_TEST(error.rfind(file + ": ", 0) == 0, "names no file: " << error);
        for (const char* part : row.error) BOOST_TEST(contains(error, part), part << " is not in: " << error);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_odd_idx_file_has_a_row) {
  std::set<std::string> listed, expected;
  std::ifstream table(odd_file("README.md"));
  for (std::string line; std::getline(table, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    if (name.rfind("idx/", 0) == 0 || name.ends_with(".idx")) listed.insert(name);
  }
  for (const Row& row : kRows) expected.insert(row.file);
  BOOST_TEST(listed == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(reference_files_hold_the_same_pictures) {
  const Bytes file = read_file(odd_file("idx/ref-images-idx3-ubyte"));
  const Bytes pixels(file.begin() + 16, file.end());
  for (const char* name :
       {"idx/ref-images-idx3-ubyte", "idx/ref-images-idx3-ubyte.gz", "idx/plain_named_gz-images-idx3-ubyte.gz"})
    BOOST_TEST(tg::read_idx(odd_file(name), 3).values == pixels, name);
  const Bytes labels{9, 2, 1, 1, 6, 1, 4, 6, 5, 7, 4, 5, 7, 3, 4, 1, 2, 4, 8, 0};
  BOOST_TEST(tg::read_idx(odd_file("idx/ref-labels-idx1-ubyte"), 1).values == labels);
}

BOOST_AUTO_TEST_CASE(odd_files_as_a_data_set) {
  const auto pictures = odd_file("idx/ref-images-idx3-ubyte"), labels = odd_file("idx/ref-labels-idx1-ubyte");
  const std::vector<std::string> classes(10, "class");
  const auto error_with = [&](const std::filesystem::path& wrong) {
    return error_of([&] { tg::load_mnist({pictures, labels, pictures, wrong}, "odd", classes); });
  };
  BOOST_TEST(error_with(labels) == "");

  const auto few = odd_file("idx/wrong_count_labels19-labels-idx1-ubyte");
  for (const std::string& part : {pictures.string() + ": 20 pictures", few.string() + " has 19 labels"})
    BOOST_TEST(contains(error_with(few), part), part << " is not in: " << error_with(few));

  const auto ten = odd_file("idx/label_10-labels-idx1-ubyte");
  for (const std::string& part : {ten.string() + ": the label at index 1 is 10", std::string("10 classes, so 0 to 9")})
    BOOST_TEST(contains(error_with(ten), part), part << " is not in: " << error_with(ten));
}

BOOST_AUTO_TEST_CASE(any_number_of_dimensions) {
  for (const std::vector<uint32_t>& dims : {std::vector<uint32_t>{7}, {2, 3}, {2, 3, 4}, {2, 1, 3, 2}}) {
    size_t count = 1;
    for (const uint32_t dim : dims) count *= dim;
    const Bytes values = counting(count);
    const tg::Idx idx = parse(idx_bytes(dims, values), static_cast<int>(dims.size()));
    BOOST_TEST(idx.dims == std::vector<int64_t>(dims.begin(), dims.end()), boost::test_tools::per_element());
    BOOST_TEST(idx.values == values);
  }
}

BOOST_AUTO_TEST_CASE(every_element_type_but_uint8_is_refused) {
  for (int type = 0; type < 256; ++type) {
    Bytes bytes = idx_bytes({2}, {1, 2});
    bytes[2] = static_cast<uint8_t>(type);
    BOOST_TEST(error_in(bytes, 1).empty() == (type == 8), "type " << type);
  }
}

// Longer than the pieces in which files are read and decompressed.
BOOST_AUTO_TEST_CASE(a_file_of_many_pieces) {
  const Bytes values = counting(300 * 28 * 28);
  const Bytes plain = idx_bytes({300, 28, 28}, values);
  BOOST_TEST(parse(plain, 3).values == values);
  BOOST_TEST(parse(gzip(plain), 3).values == values);
}

BOOST_AUTO_TEST_CASE(cut_at_every_byte) {
  const Bytes plain = idx_bytes({2, 3, 3}, counting(18));
  const Bytes compressed = gzip(plain);
  for (const Bytes& whole : {plain, compressed}) {
    BOOST_TEST(error_in(whole, 3) == "");
    for (size_t n = 0; n < whole.size(); ++n)
      BOOST_TEST(error_in(Bytes(whole.begin(), whole.begin() + static_cast<int64_t>(n)), 3) != "", n << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(one_bit_wrong_in_a_header) {
  const Bytes whole = idx_bytes({2, 3, 3}, counting(18));
  for (size_t bit = 0; bit < 16 * 8; ++bit) {
    Bytes wrong = whole;
    wrong[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    BOOST_TEST(error_in(wrong, 3) != "", "bit " << bit);
  }
}

// A few bits of gzip's own header, such as its time stamp, mean nothing to us; no bit may change what is read.
BOOST_AUTO_TEST_CASE(one_bit_wrong_in_a_gzip_file) {
  const Bytes values = counting(200);
  const Bytes whole = gzip(idx_bytes({8, 5, 5}, values));
  int refused = 0, bits = static_cast<int>(whole.size()) * 8;
  for (int bit = 0; bit < bits; ++bit) {
    Bytes wrong = whole;
    wrong[static_cast<size_t>(bit / 8)] ^= static_cast<uint8_t>(1 << bit % 8);
    if (error_in(wrong, 3) != "")
      ++refused;
    else
      BOOST_TEST(parse(wrong, 3).values == values, "bit " << bit);
  }
  BOOST_TEST(refused >= bits - 8 * 8);
}

BOOST_AUTO_TEST_CASE(what_follows_the_data) {
  const Bytes values = counting(18), plain = idx_bytes({2, 3, 3}, values);
  BOOST_TEST(contains(error_in(gzip(plain + Bytes{0}), 3), "too long"));
  BOOST_TEST(contains(error_in(gzip(plain) + Bytes{0}, 3), "not gzip follow"));
  BOOST_TEST(contains(error_in(gzip(plain) + gzip({1}), 3), "too long"));
  BOOST_TEST(contains(error_in(gzip(plain) + Bytes{0x1f}, 3), "cut"));
  // Streams in a row are one gzip file.
  const Bytes head(plain.begin(), plain.begin() + 20), tail(plain.begin() + 20, plain.end());
  BOOST_TEST(parse(gzip(head) + gzip({}) + gzip(tail), 3).values == values);
}

BOOST_AUTO_TEST_CASE(sizes_that_overflow) {
  const uint32_t most = 0xffffffff;
  for (const std::vector<uint32_t>& dims : {std::vector<uint32_t>{most, most, most},
                                            {1u << 16, 1u << 16, 1u << 16},
                                            {1u << 31, 2, 2},
                                            {1u << 22, 1u << 21, 1u << 21},
                                            {most, 28, 28}})
    BOOST_TEST(contains(error_in(idx_bytes(dims, counting(64)), 3), "4 GiB"));
  BOOST_TEST(parse(idx_bytes({most, most, 0}, {}), 3).values.empty());
}

BOOST_AUTO_TEST_CASE(memory_grows_with_the_data_not_with_the_header) {
  const auto peak_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  // 512 MiB of zeros behind a header that asks for 8 bytes.
  Bytes bomb = gzip(idx_bytes({2, 2, 2}, {}));
  const Bytes zeros = gzip(Bytes(1 << 20));
  for (int i = 0; i < 512; ++i) bomb.insert(bomb.end(), zeros.begin(), zeros.end());

  const auto before = peak_kib();
  BOOST_TEST(contains(error_in(idx_bytes({4096, 1024, 1024}, counting(64)), 3), "truncated"));
  BOOST_TEST(contains(error_in(bomb, 3), "too long"));
  BOOST_TEST(peak_kib() - before < 32 * 1024);
}

BOOST_AUTO_TEST_CASE(what_is_no_file) {
  const TemporaryFolder folder;
  const auto error_at = [](const std::string& path) { return error_of([&] { tg::read_idx(path, 1); }); };
  BOOST_TEST(error_at(folder / "absent") == (folder / "absent").string() + ": no such file");
  BOOST_TEST(error_at(folder.str()) == folder.str() + ": not a file");
  const std::string pipe = (folder / "pipe").string();
  BOOST_REQUIRE_EQUAL(mkfifo(pipe.c_str(), 0600), 0);
  BOOST_TEST(error_at(pipe) == pipe + ": not a file");
}

BOOST_AUTO_TEST_SUITE_END()
