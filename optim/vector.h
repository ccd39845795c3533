#pragma once
// What a server keeps between steps: vectors on the parameters' device, one for all or one per worker.

#include <map>
#include <memory>
#include <string>

#include "framework/core/for_each.h"
#include "framework/core/tensor.h"
#include "optim/rule.h"  // WorkerId

namespace tg {

// Formulas that most rules need.
struct Copy {
  template <class T>
  TG_HD void operator()(T& to, T from) const {
    to = from;
  }
};
struct Subtract {
  template <class T>
  TG_HD void operator()(T& from, T value) const {
    from -= value;
  }
};
struct SetZero {
  template <class T>
  TG_HD void operator()(T& value) const {
    value = 0;
  }
};

// One member of a formula's parts() as a formula of its own: a rule tells its terms by the code that makes its step.
template <class Formula, class Part>
struct PartOf {
  Formula formula;
  Part part;
  template <class... T>
  TG_HD void operator()(float& value, T... at) const {
    value = static_cast<float>(formula.parts(at...).*part);
  }
};

// An owned vector of float or double.
template <class T>
class Vector {
 public:
  // n zeros.
  Vector(int64_t n, Device device)
      : size_(n), storage_(std::make_unique<Storage>(n * static_cast<int64_t>(sizeof(T)), device)) {
    for_each(SetZero{}, span());
  }
  // A copy of `values`.
  explicit Vector(BasicSpan<const T> values) : Vector(values.size, values.device) { for_each(Copy{}, span(), values); }

  BasicSpan<T> span() { return {static_cast<T*>(storage_->data()), size_, storage_->device()}; }
  BasicSpan<const T> view() const { return {static_cast<const T*>(storage_->data()), size_, storage_->device()}; }

 private:
  int64_t size_;
  std::unique_ptr<Storage> storage_;
};

// Tells one term: the vector whose element i is formula.parts(first[i], rest[i]...).*part.
template <class Formula, class Part, class... T>
void tell(Terms& terms, const std::string& name, const Formula& formula, Part part, View first,
          BasicSpan<const T>... rest) {
  Vector<float> values(first.size, first.device);
  for_each(PartOf<Formula, Part>{formula, part}, values.span(), first, rest...);
  terms.term(name, values.view());
}

enum class Per { worker, server };

// A vector per worker: zeros when the worker joins, dropped when it leaves. Or one per server, zeros at first, that all
// workers share.
class WorkerVectors {
 public:
  WorkerVectors(int64_t n, Device device, Per per = Per::worker) : size_(n), device_(device), per_(per) {
    if (per == Per::server) vectors_.try_emplace(kServer, n, device);
  }
  // A worker that has a vector already (it was loaded from a snapshot) keeps it.
  void join(WorkerId worker) { vectors_.try_emplace(slot(worker), size_, device_); }
  void leave(WorkerId worker) {
    if (per_ == Per::worker) vectors_.erase(worker);
  }
  // Throws Error for a worker that has not joined.
  Span of(WorkerId worker);
  View of(WorkerId worker) const;
  bool has(WorkerId worker) const { return vectors_.count(slot(worker)) != 0; }
  std::vector<WorkerId> workers() const;

  // Under "<name>/<worker>", with the list of workers under "<name>/count" and "<name>/worker/<i>".
  void save(StateWriter& state, const std::string& name) const;
  void load(const StateReader& state, const std::string& name);

 private:
  static constexpr WorkerId kServer = 0;  // whose place the vector has that all share
  WorkerId slot(WorkerId worker) const { return per_ == Per::server ? kServer : worker; }

  int64_t size_;
  Device device_;
  Per per_;
  std::map<WorkerId, Vector<float>> vectors_;
};

}  // namespace tg
