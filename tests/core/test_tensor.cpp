// The tensor as a container: shapes, views, versions, copies, printing, and what it refuses.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "framework/core/tensor.h"

namespace {

using namespace tg;
using Numbers = std::vector<double>;

Tensor count_up(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from(values, shape);
}

auto says(const std::string& part) {
  return [part](const Error& e) { return std::string(e.what()).find(part) != std::string::npos; };
}

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(counts_and_strings) {
  BOOST_TEST(Shape{}.count() == 1);
  BOOST_TEST((Shape{2, 3, 4}.count()) == 24);
  BOOST_TEST((Shape{2, 0, 4}.count()) == 0);
  BOOST_TEST((Shape{2, 3}.str()) == "[2, 3]");
  BOOST_TEST(Shape{}.str() == "[]");
  BOOST_CHECK((Shape{2, 3} == Shape{2, 3}));
  BOOST_CHECK(!(Shape{2, 3} == Shape{3, 2}));
  BOOST_CHECK(!(Shape{2} == Shape{2, 1}));
  BOOST_CHECK((Shape{2, 3, 4}.without(1) == Shape{2, 4}));
  BOOST_CHECK((Shape{2, 3, 4}.with(2, 7) == Shape{2, 3, 7}));
  BOOST_TEST((Shape{2, 3}.axis(-1, "x")) == 1);
}

BOOST_AUTO_TEST_CASE(too_large_or_odd_is_refused) {
  const int64_t huge = int64_t{1} << 40;
  BOOST_CHECK_EXCEPTION((Shape{huge, huge}.count()), Error, says("too many elements"));
  BOOST_TEST((Shape{huge, huge, 0}.count()) == 0);
  BOOST_CHECK_THROW((Shape{2, -1}), Error);
  BOOST_CHECK_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  BOOST_CHECK_EXCEPTION((Shape{2, 3}.axis(2, "sum")), Error, says("sum: axis 2 of a tensor of shape [2, 3]"));
  BOOST_CHECK_THROW((Shape{2, 3}.axis(-3, "sum")), Error);
}

BOOST_AUTO_TEST_CASE(broadcasting) {
  BOOST_CHECK((broadcast({2, 1, 3}, {4, 1}, "x") == Shape{2, 4, 3}));
  BOOST_CHECK((broadcast({}, {4, 1}, "x") == Shape{4, 1}));
  BOOST_CHECK((broadcast({0, 3}, {1, 3}, "x") == Shape{0, 3}));
  BOOST_CHECK_EXCEPTION(broadcast({2, 3}, {2, 2}, "add"), Error, says("add: shapes [2, 3] and [2, 2]"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(tensors)

BOOST_AUTO_TEST_CASE(made_from_values) {
  const Tensor t = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  BOOST_TEST(t.values() == (Numbers{1, 2, 3, 4, 5, 6}));
  BOOST_CHECK(t.dtype() == DType::f32 && t.device() == kCpu && t.contiguous());
  BOOST_TEST(t.rank() == 2);
  BOOST_TEST(t.dim(-1) == 3);
  BOOST_TEST(Tensor::full({2}, 1.5, DType::f64).values() == (Numbers{1.5, 1.5}));
  BOOST_TEST(Tensor::zeros({2}, DType::i32).values() == (Numbers{0, 0}));
  BOOST_TEST(Tensor::from<uint8_t>({255}, {}).item() == 255);
  BOOST_CHECK_EXCEPTION(Tensor::from<float>({1, 2}, {3}), Error, says("2 values for shape [3]"));
}

BOOST_AUTO_TEST_CASE(a_copy_is_a_handle) {
  Tensor a = count_up({4});
  const Tensor b = a, c = a.copy();
  a.data<float>()[0] = 9;
  BOOST_TEST(b.values()[0] == 9);
  BOOST_TEST(c.values()[0] == 0);
}

BOOST_AUTO_TEST_CASE(memory_is_aligned) {
  for (const int64_t n : {1, 3, 17, 1000}) BOOST_TEST(reinterpret_cast<uintptr_t>(Tensor::empty({n}).raw()) % 64 == 0u);
}

BOOST_AUTO_TEST_CASE(borrowed_memory_stays_with_its_owner) {
  std::vector<float> memory{1, 2, 3, 4};
  {
    Tensor t = Tensor::borrow(memory.data(), {2, 2});
    t.data<float>()[3] = 7;
  }
  BOOST_TEST(memory[3] == 7);
}

BOOST_AUTO_TEST_CASE(views) {
  const Tensor t = count_up({2, 3});
  const Tensor turned = t.as_strided({3, 2}, {1, 3}, 0);
  BOOST_TEST(turned.values() == (Numbers{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(!turned.contiguous());
  BOOST_TEST(turned.copy().contiguous());
  BOOST_TEST(turned.as_contiguous().values() == turned.values());
  BOOST_TEST(t.as_contiguous().storage() == t.storage());
  BOOST_TEST(turned.with_shape({6}).values() == (Numbers{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(t.with_shape({3, 2}).storage() == t.storage());
  BOOST_CHECK_THROW(t.with_shape({4}), Error);
  // An axis of one element may have any stride; a tensor without elements is contiguous.
  BOOST_TEST(t.as_strided({1, 3}, {77, 1}, 3).contiguous());
  BOOST_TEST(t.as_strided({0, 3}, {5, 9}, 0).contiguous());
}

BOOST_AUTO_TEST_CASE(writes_are_counted_across_views) {
  Tensor t = count_up({4});
  const Tensor view = t.as_strided({2}, {1}, 2);
  const uint64_t before = view.version();
  BOOST_TEST(std::as_const(t).data<float>()[0] == 0);
  static_cast<void>(t.view());
  BOOST_TEST(view.version() == before);
  t.data<float>()[0] = 1;
  BOOST_TEST(view.version() > before);
  const uint64_t after = view.version();
  t.span();
  BOOST_TEST(view.version() > after);
  const uint64_t last = view.version();
  t.fill(0);
  BOOST_TEST(view.version() > last);
}

BOOST_AUTO_TEST_CASE(conversions) {
  const Tensor t = Tensor::from<float>({0.5f, -1.75f, 3}, {3});
  BOOST_TEST(t.to(DType::f64).values() == (Numbers{0.5, -1.75, 3}));
  BOOST_TEST(t.to(DType::i32).values() == (Numbers{0, -1, 3}));
  BOOST_CHECK(t.to(kPlain).device() == kPlain);
  BOOST_TEST(t.to(kPlain).values() == t.values());
  BOOST_TEST(t.to(DType::f32).storage() == t.storage());
  BOOST_CHECK_THROW(t.to(Device{Device::Kind::cuda, 0}), Error);
}

BOOST_AUTO_TEST_CASE(copies_into_views) {
  Tensor t = Tensor::zeros({2, 3});
  t.as_strided({2, 2}, {3, 1}, 1).copy_from(Tensor::from<int32_t>({1, 2, 3, 4}, {2, 2}));
  BOOST_TEST(t.values() == (Numbers{0, 1, 2, 0, 3, 4}));
  BOOST_CHECK_EXCEPTION(t.copy_from(Tensor::zeros({3, 2})), Error, says("[3, 2] into [2, 3]"));
}

BOOST_AUTO_TEST_CASE(bytes_of_large_copies) {
  // Large enough to be split among threads.
  const Tensor t = count_up({300, 500});
  const Tensor turned = t.as_strided({500, 300}, {1, 500}, 0).copy();
  bool right = true;
  for (int64_t i = 0; i < 500; ++i)
    for (int64_t j = 0; j < 300; ++j) right &= turned.data<float>()[i * 300 + j] == static_cast<float>(j * 500 + i);
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(uniqueness) {
  Tensor t = count_up({4});
  BOOST_TEST(t.unique());
  {
    const Tensor handle = t;
    BOOST_TEST(!t.unique());
  }
  const Tensor view = t.detach();
  BOOST_TEST(!t.unique());
}

BOOST_AUTO_TEST_CASE(wrong_use_is_refused) {
  Tensor none;
  BOOST_TEST(!none.defined());
  BOOST_CHECK_EXCEPTION(none.shape(), Error, says("before it was given a value"));
  Tensor t = count_up({2, 3});
  BOOST_CHECK_EXCEPTION(t.data<double>(), Error, says("holds float32, read as float64"));
  BOOST_CHECK_EXCEPTION(t.item(), Error, says("[2, 3]"));
  Tensor turned = t.as_strided({3, 2}, {1, 3}, 0);
  BOOST_CHECK_THROW(turned.span(), Error);
  BOOST_CHECK_THROW(turned.view(), Error);
  BOOST_CHECK_THROW(turned.fill(0), Error);
  BOOST_CHECK_THROW(Tensor::zeros({2}, DType::i32).span(), Error);
  BOOST_CHECK_THROW(Tensor::empty({int64_t{1} << 30, int64_t{1} << 30}), Error);
  BOOST_CHECK_THROW(Tensor::empty({2}, DType::f32, Device{Device::Kind::cuda, 1}), Error);
}

BOOST_AUTO_TEST_CASE(printing) {
  BOOST_TEST(Tensor::from<float>({1, 2.5f, -3, 4, 5, 6}, {2, 3}).str() ==
             "float32 [2, 3] cpu\n[[1, 2.5, -3],\n [4, 5, 6]]");
  BOOST_TEST(Tensor::from<int32_t>({7, -8}, {2}, kPlain).str() == "int32 [2] plain\n[7, -8]");
  BOOST_TEST(Tensor::from<double>({0.1}, {}).str() == "float64 [] cpu\n0.1");
  BOOST_TEST(Tensor::from<uint8_t>({200}, {1}).str() == "uint8 [1] cpu\n[200]");
  BOOST_TEST(Tensor::zeros({0, 3}).str() == "float32 [0, 3] cpu\n[]");
  BOOST_TEST(Tensor().str() == "tensor (undefined)");
  // Views print what they show.
  BOOST_TEST(count_up({2, 2}).as_strided({2, 2}, {1, 2}, 0).str() == "float32 [2, 2] cpu\n[[0, 2],\n [1, 3]]");
  BOOST_TEST(Tensor::from<float>({NAN, INFINITY}, {2}).str() == "float32 [2] cpu\n[nan, inf]");
}

BOOST_AUTO_TEST_CASE(long_tensors_are_printed_short) {
  const std::string text = count_up({2000}).str();
  BOOST_TEST(text == "float32 [2000] cpu\n[0, 1, 2, ..., 1997, 1998, 1999]");
  BOOST_TEST(count_up({100, 100}).str().size() < 300u);
}

BOOST_AUTO_TEST_CASE(sizes_whose_bytes_overflow_are_refused) {
  for (const int64_t n : {int64_t{1} << 62, (int64_t{1} << 56) + 1, int64_t{1} << 57})
    for (const DType t : {DType::u8, DType::f64}) BOOST_CHECK_THROW(Tensor::empty({n}, t), Error);
  BOOST_TEST(Tensor::zeros({0, int64_t{1} << 40, int64_t{1} << 40}).count() == 0);
}

BOOST_AUTO_TEST_CASE(what_an_integer_cannot_hold_becomes_its_nearest) {
  const Tensor x = Tensor::from<float>({-5, 300, 7.9f, NAN}, {4});
  BOOST_TEST((x.to(DType::u8).values() == std::vector<double>{0, 255, 7, 0}));
  BOOST_TEST(Tensor::full({1}, 1e30, DType::i32).item() == 2147483647);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
