#pragma once
// Tensor: shape, dtype, device and a share in some storage. Row-major unless it is a view. A copy is a handle to the
// same numbers.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/device.h"
#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/span.h"

namespace tg {

class Node;  // autograd/graph.h

// Bytes on a device, shared by all views of them.
class Storage {
 public:
  Storage(int64_t bytes, Device device);              // from the device's pool, contents undefined
  Storage(void* data, int64_t bytes, Device device);  // borrowed: the caller keeps it alive and frees it
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  // Counts writes, so that autograd can tell whether what it saved is still what it was.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void touch() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_;
  bool owned_ = true;
  std::atomic<uint64_t> version_{0};
};

class Tensor {
 public:
  Tensor() = default;  // no tensor; defined() is false

  static Tensor empty(const Shape& shape, DType dtype = DType::f32, Device device = kCpu);  // contents undefined
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32, Device device = kCpu);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32, Device device = kCpu);
  // Row-major values; throws Error unless there are exactly shape.count() of them.
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape, Device device = kCpu);
  // A tensor over memory that the caller owns and keeps alive. Writes through other handles to that memory do not count
  // in its version.
  static Tensor borrow(float* data, const Shape& shape, Device device = kCpu);

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const { return get().shape; }
  int64_t dim(int axis) const { return shape()[shape().axis(axis, "dim")]; }
  int rank() const { return shape().rank(); }
  int64_t count() const { return shape().count(); }
  const Strides& strides() const { return get().strides; }
  DType dtype() const { return get().dtype; }
  Device device() const { return get().storage->device(); }
  bool contiguous() const;

  // The first element. The non-const form counts as a write of the whole storage.
  template <class T>
  T* data() {
    check_type(dtype_of<T>);
    get().storage->touch();
    return static_cast<T*>(address());
  }
  template <class T>
  const T* data() const {
    check_type(dtype_of<T>);
    return static_cast<const T*>(address());
  }
  // All elements of a contiguous tensor. Taking the writable form counts as a write. On meta they are counted and have
  // no place.
  template <class T>
  BasicSpan<T> elements() {
    check_contiguous();
    return {device().has_memory() ? data<T>() : nullptr, count(), device()};
  }
  template <class T>
  BasicSpan<const T> elements() const {
    check_contiguous();
    return {device().has_memory() ? data<T>() : nullptr, count(), device()};
  }
  // The same for float32.
  Span span() { return elements<float>(); }
  View view() const { return elements<float>(); }
  const void* raw() const { return address(); }
  void* raw_mutable() {
    get().storage->touch();
    return address();
  }

  // Views of the same storage; they carry no gradient (the differentiable forms are in ops/shape.h).
  // Element [i, j, ...] lies at offset + i strides[0] + j strides[1] + ...; the offset counts from the storage's start.
  // Not checked.
  Tensor as_strided(const Shape& shape, const Strides& strides, int64_t offset) const;
  // The same elements in another shape; copies if the tensor is not contiguous.
  Tensor with_shape(const Shape& shape) const;
  Tensor detach() const;  // the same numbers without their history

  Tensor copy() const;  // a new contiguous tensor
  // Itself if it is so already, else a copy without history; ops/shape.h has the differentiable forms. A value that an
  // integer type cannot hold becomes its nearest, a NaN 0.
  Tensor to(DType dtype) const;
  Tensor to(Device device) const;
  Tensor as_contiguous() const;  // itself, or a copy
  void fill(double value);       // throws Error unless contiguous
  // Same shape, any dtype, no overlap.
  void copy_from(const Tensor& other);

  // The one element of a tensor that has one; throws Error otherwise.
  double item() const;
  // All elements, row-major, converted to double: for printing and tests.
  std::vector<double> values() const;
  // "float32 [2, 3] cpu" and the numbers, shortened in the middle when there are many.
  std::string str() const;

  bool unique() const;  // nobody else sees this storage
  uint64_t version() const { return get().storage->version(); }
  const std::shared_ptr<Storage>& storage() const { return get().storage; }
  int64_t offset() const { return get().offset; }  // elements from the start of the storage

  // For autograd: the node that made this tensor or made it a leaf; null if it carries no gradient.
  const std::shared_ptr<Node>& node() const { return get().node; }
  void set_node(std::shared_ptr<Node> node) { get().node = std::move(node); }

 private:
  struct Impl {
    std::shared_ptr<Storage> storage;
    Shape shape;
    Strides strides{};
    int64_t offset = 0;
    DType dtype = DType::f32;
    std::shared_ptr<Node> node;
  };
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& get() const {
    require(defined(), "tensor: used before it was given a value");
    return *impl_;
  }
  void* address() const {
    require_numbers("tensor", device());
    return static_cast<char*>(impl_->storage->data()) + impl_->offset * size_of(impl_->dtype);
  }
  void check_contiguous() const {
    require(contiguous(), "tensor: its elements as a vector need a contiguous tensor, this is a view of shape {}",
            shape().str());
  }
  void check_type(DType t) const {
    require(dtype() == t, "tensor: holds {}, read as {}", name_of(dtype()), name_of(t));
  }
  std::shared_ptr<Impl> impl_;
};

}  // namespace tg
