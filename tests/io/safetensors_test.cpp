#include "framework/io/safetensors.h"

#include <boost/test/unit_test.hpp>
#include <sstream>

#include "framework/io/little_endian.h"
#include "tests/temporary_folder.h"

namespace fs = std::filesystem;
using namespace tg;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  append_little_endian(bytes, static_cast<uint64_t>(header.size()));
  return bytes + header + data;
}

std::vector<StoredArray> arrays_of(const std::string& bytes) {
  std::istringstream stream(bytes);
  return SafetensorsReader(stream, "f").arrays();
}

std::string refusal_of(const std::string& bytes) {
  try {
    arrays_of(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

void write_two(const fs::path& path, bool checksum) {
  const float weight[] = {1, -2, 0.5f, 4, 5, 6};
  const int64_t count = -7;
  write_safetensors(path, {{"weight", "F32", {2, 3}, weight}, {"count", "I64", {}, &count}}, {{"rule", "asgd"}},
                    checksum);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safetensors)

BOOST_AUTO_TEST_CASE(what_was_written_is_read) {
  const TemporaryFolder folder;
  write_two(folder / "a", true);
  SafetensorsReader reader(folder / "a");
  BOOST_TEST(reader.metadata().at("rule") == "asgd");
  BOOST_TEST(reader.has("weight"));
  BOOST_TEST(!reader.has("bias"));
  const Tensor weight = reader.tensor("weight");
  BOOST_TEST((weight.shape() == Shape{2, 3}));
  BOOST_TEST((weight.values() == std::vector<double>{1, -2, 0.5, 4, 5, 6}));
  int64_t count = 0;
  reader.read(reader.array("count"), std::as_writable_bytes(std::span(&count, 1)));
  BOOST_TEST(count == -7);
  reader.require_checksum();
  BOOST_CHECK_THROW(reader.array("bias"), Error);
  BOOST_CHECK_THROW(reader.tensor("count"), Error);
}

BOOST_AUTO_TEST_CASE(bytes_are_those_of_the_format) {
  const TemporaryFolder folder;
  write_two(folder / "a", false);
  const std::string header =
      R"({"__metadata__":{"rule":"asgd"},"count":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}})";
  const std::string text = text_of(folder / "a");
  BOOST_TEST(text.substr(8, header.size()) == header);
  const size_t padded = (header.size() + 7) / 8 * 8;
  BOOST_TEST(static_cast<unsigned char>(text[0]) == padded);
  BOOST_TEST(text.substr(8 + padded, 8) == "\xf9\xff\xff\xff\xff\xff\xff\xff");
  BOOST_TEST(text.substr(16 + padded, 4) == std::string("\0\0\x80\x3f", 4));
  BOOST_TEST(text.size() == 8 + padded + 8 + 24);
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_refused) {
  const TemporaryFolder folder;
  write_two(folder / "a", false);
  const std::string text = text_of(folder / "a");
  for (size_t size = 0; size < text.size(); ++size)
    BOOST_TEST(refusal_of(text.substr(0, size)) != "none", "cut after " << size << " bytes");
  BOOST_TEST(refusal_of(text) == "none");
  BOOST_TEST(refusal_of(text + "x") != "none");
}

BOOST_AUTO_TEST_CASE(with_a_checksum_any_changed_byte_is_refused) {
  const TemporaryFolder folder;
  write_two(folder / "a", true);
  const std::string text = text_of(folder / "a");
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    std::istringstream stream(changed);
    BOOST_CHECK_THROW(SafetensorsReader(stream, "f").require_checksum(), Error);
  }
  write_two(folder / "b", false);
  BOOST_CHECK_THROW(SafetensorsReader(folder / "b").require_checksum(), Error);
}

BOOST_AUTO_TEST_CASE(headers_that_do_not_fit_together) {
  const std::string ok = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  BOOST_TEST(refusal_of(file_of(ok, "1234")) == "none");
  struct Case {
    std::string header, data, says;
  };
  const std::vector<Case> cases = {
      {ok, "123", "it was cut"},
      {ok, "12345", "the file has 5"},
      {"[1, 2]", "", "no object"},
      {"{\"a\":", "", "not JSON"},
      {std::string(100000, '['), "", "not JSON"},
      {R"({"a":3})", "", "\"a\" has not dtype"},
      {R"({"a":{"dtype":"U8","shape":[4]}})", "1234", "\"a\" has not dtype"},
      {R"({"a":{"dtype":"F128","shape":[1],"data_offsets":[0,16]}})", "", "unknown type \"F128\""},
      {R"({"a":{"dtype":7,"shape":[4],"data_offsets":[0,4]}})", "1234", "unknown type 7"},
      {R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", "1234", "impossible shape"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}})", "1234", "impossible shape"},
      {R"({"a":{"dtype":"F64","shape":[72057594037927936],"data_offsets":[0,0]}})", "", "in 0 bytes"},
      {R"({"a":{"dtype":"U8","shape":[4.5],"data_offsets":[0,4]}})", "1234", "whole numbers"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,4]}})", "1234", "whole numbers"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "1234", "lies at 4 to 0"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[-4,0]}})", "1234", "lies at -4"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", "1234", "whole numbers"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}})", "1234", "5 elements of U8 in 4 bytes"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}})",
       "1234", "listed twice"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "1234", "\"b\" starts at 2"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "1234", "\"b\" starts at 2"},
      {R"({"__metadata__":7})", "", "no object of texts"},
      {R"({"__metadata__":{"a":7}})", "", "no text"},
  };
  for (const Case& c : cases) {
    const std::string error = refusal_of(file_of(c.header, c.data));
    BOOST_TEST(error.find(c.says) != std::string::npos, c.header.substr(0, 80) << ": " << error);
  }
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string bytes;
    append_little_endian(bytes, length);
    BOOST_TEST(refusal_of(bytes + ok + "1234").find("no safetensors file") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(types_of_others_are_listed_and_not_made_tensors) {
  const std::string bytes = file_of(R"({"h":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", "1234");
  std::istringstream stream(bytes);
  SafetensorsReader reader(stream, "f");
  BOOST_TEST(reader.array("h").bytes == 4);
  BOOST_CHECK_THROW(reader.tensor("h"), Error);
}

BOOST_AUTO_TEST_CASE(empty_arrays_and_many_axes) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"none", "F32", {0, 3}, nullptr}, {"one", "F32", {}, std::vector<float>{2}.data()}});
  SafetensorsReader reader(folder / "a");
  BOOST_TEST((reader.tensor("none").shape() == Shape{0, 3}));
  BOOST_TEST((reader.tensor("one").shape() == Shape{}));
  const float value = 1;
  write_safetensors(folder / "b", {{"axes", "F32", std::vector<int64_t>(20, 1), &value}});
  BOOST_CHECK_THROW(SafetensorsReader(folder / "b").tensor("axes"), Error);
}

BOOST_AUTO_TEST_CASE(mistakes_of_the_writer) {
  const TemporaryFolder folder;
  const float value = 1;
  BOOST_CHECK_THROW(write_safetensors(folder / "a", {{"x", "F32", {}, &value}, {"x", "F32", {}, &value}}), Error);
  BOOST_CHECK_THROW(write_safetensors(folder / "a", {{"x", "G32", {}, &value}}), Error);
  BOOST_CHECK_THROW(write_safetensors(folder / "none" / "a", {}), Error);
  BOOST_TEST(!fs::exists(folder / "a"));
}

BOOST_AUTO_TEST_SUITE_END()
