#include "framework/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "framework/core/for_each.h"
#include "framework/core/meta.h"
#include "framework/core/pool.h"
#include "framework/core/strided.h"

namespace tg {

Storage::Storage(int64_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (!device.has_memory()) {
    meta::take(bytes);
    return;
  }
  require(device.on_host(), "tensor: device {} is not available", name_of(device));
  data_ = pool::allocate(static_cast<std::size_t>(bytes));
}

Storage::Storage(void* data, int64_t bytes, Device device)
    : data_(data), bytes_(bytes), device_(device), owned_(false) {}

Storage::~Storage() {
  if (!owned_) return;
  if (device_.has_memory()) {
    pool::release(data_);
  } else {
    meta::give_back(bytes_);
  }
}

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  auto impl = std::make_shared<Impl>();
  impl->storage = std::make_shared<Storage>(shape.count() * size_of(dtype), device);
  impl->shape = shape;
  impl->strides = row_major(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  Tensor t = empty(shape, dtype, device);
  if (t.count() != 0 && device.has_memory())
    std::memset(t.raw_mutable(), 0, static_cast<size_t>(t.count() * size_of(dtype)));
  return t;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor t = empty(shape, dtype, device);
  t.fill(value);
  return t;
}

template <class T>
Tensor Tensor::from(const std::vector<T>& values, const Shape& shape, Device device) {
  require(static_cast<int64_t>(values.size()) == shape.count(), "tensor: {} values for shape {}", values.size(),
          shape.str());
  Tensor t = empty(shape, dtype_of<T>, device);
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}
template Tensor Tensor::from<float>(const std::vector<float>&, const Shape&, Device);
template Tensor Tensor::from<double>(const std::vector<double>&, const Shape&, Device);
template Tensor Tensor::from<int32_t>(const std::vector<int32_t>&, const Shape&, Device);
template Tensor Tensor::from<uint8_t>(const std::vector<uint8_t>&, const Shape&, Device);

Tensor Tensor::borrow(float* data, const Shape& shape, Device device) {
  auto impl = std::make_shared<Impl>();
  impl->storage = std::make_shared<Storage>(data, shape.count() * size_of(DType::f32), device);
  impl->shape = shape;
  impl->strides = row_major(shape);
  return Tensor(std::move(impl));
}

bool Tensor::contiguous() const {
  const Strides expected = row_major(shape());
  for (int i = 0; i < rank(); ++i)
    if (shape()[i] != 1 && strides()[static_cast<size_t>(i)] != expected[static_cast<size_t>(i)]) return count() == 0;
  return true;
}

Tensor Tensor::as_strided(const Shape& shape, const Strides& strides, int64_t offset) const {
  auto impl = std::make_shared<Impl>(get());
  impl->shape = shape;
  impl->strides = strides;
  impl->offset = offset;
  impl->node = nullptr;
  return Tensor(std::move(impl));
}

Tensor Tensor::with_shape(const Shape& to) const {
  require(to.count() == count(), "reshape: {} has {} elements, {} has {}", shape().str(), count(), to.str(),
          to.count());
  const Tensor source = as_contiguous();
  return source.as_strided(to, row_major(to), source.offset());
}

Tensor Tensor::detach() const { return as_strided(shape(), strides(), offset()); }

Tensor Tensor::copy() const {
  Tensor t = empty(shape(), dtype(), device());
  t.copy_from(*this);
  return t;
}

Tensor Tensor::to(DType to_dtype) const {
  if (to_dtype == dtype()) return *this;
  Tensor t = empty(shape(), to_dtype, device());
  t.copy_from(*this);
  return t;
}

Tensor Tensor::to(Device to_device) const {
  if (to_device == device()) return *this;
  Tensor t = empty(shape(), dtype(), to_device);
  t.copy_from(*this);
  return t;
}

Tensor Tensor::as_contiguous() const { return contiguous() ? *this : copy(); }

namespace {

// Saturates where an integer type cannot hold the value: a cast would be undefined.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_integral_v<To> && !std::is_same_v<To, From>) {
    const double v = static_cast<double>(value);
    if (v != v) return To{0};
    constexpr double kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();
    return static_cast<To>(std::clamp(v, kLeast, kMost));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void copy_row(To* to, int64_t to_step, const From* from, int64_t from_step, int64_t begin, int64_t end) {
  if (to_step == 1 && from_step == 1) {
    To* __restrict t = to;
    const From* __restrict f = from;
    for (int64_t i = begin; i < end; ++i) t[i] = converted<To>(f[i]);
  } else {
    for (int64_t i = begin; i < end; ++i) to[i * to_step] = converted<To>(from[i * from_step]);
  }
}

template <class To, class From>
void copy_strided(To* to, const Strides& to_strides, const From* from, const Strides& from_strides,
                  const Shape& shape) {
  const StridedLoop<2> loop(shape, {to_strides, from_strides});
  const int64_t n = loop.inner(), to_step = loop.inner_stride(0), from_step = loop.inner_stride(1);
  if (loop.rows() == 1) {  // one long row is split inside
    detail::split_range(n, 16, [&](int64_t begin, int64_t end) { copy_row(to, to_step, from, from_step, begin, end); });
    return;
  }
  detail::split_range(loop.rows() * n, n, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / n; row < end / n; ++row) {
      const auto at = loop.offsets(row);
      copy_row(to + at[0], to_step, from + at[1], from_step, 0, n);
    }
  });
}

}  // namespace

void Tensor::fill(double value) {
  require(contiguous(), "fill: needs a contiguous tensor");
  if (!device().has_memory()) return;
  visit_dtype(dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* p = data<T>();
    std::fill(p, p + count(), converted<T>(value));
  });
}

void Tensor::copy_from(const Tensor& other) {
  require(shape() == other.shape(), "copy: {} into {}", other.shape().str(), shape().str());
  if (!device().has_memory() && !other.device().has_memory()) return;
  require_numbers("copy", device());
  require_numbers("copy", other.device());
  require(device().on_host() && other.device().on_host(), "copy: from {} to {} is not available",
          name_of(other.device()), name_of(device()));
  if (count() == 0) return;
  visit_dtype(dtype(), [&](auto to_zero) {
    visit_dtype(other.dtype(), [&](auto from_zero) {
      using To = decltype(to_zero);
      using From = decltype(from_zero);
      copy_strided(data<To>(), strides(), other.data<From>(), other.strides(), shape());
    });
  });
}

double Tensor::item() const {
  require(count() == 1, "item: the tensor has shape {}, not one element", shape().str());
  return values().front();
}

std::vector<double> Tensor::values() const {
  const Tensor t = to(kPlain).as_contiguous();
  std::vector<double> out(static_cast<size_t>(t.count()));
  visit_dtype(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* p = t.data<T>();
    std::transform(p, p + t.count(), out.begin(), [](T v) { return static_cast<double>(v); });
  });
  return out;
}

namespace {

constexpr int64_t kPrintedEdge = 3;      // how many entries stand at each end of a long axis
constexpr int64_t kPrintedWhole = 1000;  // tensors up to this size are printed whole

void print_axis(const std::vector<double>& values, const Shape& shape, int axis, int64_t offset, bool whole,
                bool floating, std::string& out) {
  if (axis == shape.rank()) {
    const double v = values[static_cast<size_t>(offset)];
    out += floating ? fmt::format("{:.6g}", v) : fmt::format("{}", static_cast<int64_t>(v));
    return;
  }
  int64_t step = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) step *= shape[i];
  out += '[';
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i != 0) out += axis + 1 == shape.rank() ? ", " : ",\n" + std::string(static_cast<size_t>(axis) + 1, ' ');
    if (!whole && shape[axis] > 2 * kPrintedEdge && i == kPrintedEdge) {
      out += "...";
      i = shape[axis] - kPrintedEdge - 1;
      continue;
    }
    print_axis(values, shape, axis + 1, offset + i * step, whole, floating, out);
  }
  out += ']';
}

}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "tensor (undefined)";
  std::string out = fmt::format("{} {} {}\n", name_of(dtype()), shape().str(), name_of(device()));
  if (!device().has_memory()) return out;
  print_axis(values(), shape(), 0, 0, count() <= kPrintedWhole, is_floating(dtype()), out);
  return out;
}

bool Tensor::unique() const { return impl_.use_count() == 1 && impl_->storage.use_count() == 1; }

}  // namespace tg
