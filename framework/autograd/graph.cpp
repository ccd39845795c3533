#include "framework/autograd/graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <queue>
#include <unordered_map>
#include <utility>

#include "framework/core/for_each.h"

namespace tg {
namespace {

thread_local bool recording_enabled = true;
thread_local const WatchOps::Seen* watching = nullptr;
std::atomic<uint64_t> next_id{1};

std::vector<const Op*>& op_list() {
  static std::vector<const Op*> list;
  return list;
}

struct Accumulate {
  template <class T>
  TG_HD void operator()(T& sum, T g) const {
    sum += g;
  }
};

void accumulate(Tensor& sum, const Tensor& contribution) {
  visit_floating(sum.dtype(), "gradients", [&](auto zero) {
    using T = decltype(zero);
    for_each(Accumulate{}, sum.elements<T>(), contribution.elements<T>());
  });
}

std::shared_ptr<Node> make_node(const Tensor& output, const char* op) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->id = next_id.fetch_add(1, std::memory_order_relaxed);
  node->shape = output.shape();
  node->dtype = output.dtype();
  node->device = output.device();
  return node;
}

}  // namespace

Op::Op(const char* name, const char* value, const char* derivative, std::source_location where)
    : name_(name), value_(value), derivative_(derivative), where_(where) {
  op_list().push_back(this);
}

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops = op_list();
  std::sort(ops.begin(), ops.end(), [](const Op* a, const Op* b) { return std::strcmp(a->name(), b->name()) < 0; });
  return ops;
}

// Inputs whose last owner is this node would be destroyed recursively, through their own inputs, and a long chain would
// overflow the stack. They are moved to a list instead, which the outermost destructor empties.
Node::~Node() {
  thread_local std::vector<std::shared_ptr<Node>>* doomed = nullptr;
  if (doomed != nullptr) {
    std::move(inputs.begin(), inputs.end(), std::back_inserter(*doomed));
    return;
  }
  std::vector<std::shared_ptr<Node>> list = std::move(inputs);
  doomed = &list;
  while (!list.empty()) {
    const std::shared_ptr<Node> node = std::move(list.back());
    list.pop_back();
  }
  doomed = nullptr;
}

Tensor Saved::get(const char* op) const {
  require(
      tensor_.version() == version_,
      "{}: a tensor of shape {} that its derivative needs was changed after it was used. Change it before the forward "
      "pass or after gradients(), or change a copy",
      op, tensor_.shape().str());
  return tensor_;
}

NoGrad::NoGrad() : before_(recording_enabled) { recording_enabled = false; }
NoGrad::~NoGrad() { recording_enabled = before_; }

WatchOps::WatchOps(Seen seen) : seen_(std::move(seen)), before_(std::exchange(watching, &seen_)) {}
WatchOps::~WatchOps() { watching = before_; }

namespace {

bool carries(const Tensor& t) { return t.defined() && t.node() != nullptr; }

bool any_carries(std::span<const Tensor> inputs) {
  return recording_enabled && std::any_of(inputs.begin(), inputs.end(), carries);
}

}  // namespace

bool recording(std::initializer_list<Tensor> inputs) { return any_carries({inputs.begin(), inputs.size()}); }

void record(Tensor& output, const Op& op, std::span<const Tensor> inputs, Backward backward) {
  if (watching != nullptr) (*watching)(op, output, inputs);
  if (!any_carries(inputs)) return;
  auto node = make_node(output, op.name());
  node->inputs.reserve(inputs.size());
  for (const Tensor& input : inputs) node->inputs.push_back(carries(input) ? input.node() : nullptr);
  node->backward = std::move(backward);
  output.set_node(std::move(node));
}

void record(Tensor& output, const Op& op, std::initializer_list<Tensor> inputs, Backward backward) {
  record(output, op, std::span<const Tensor>(inputs.begin(), inputs.size()), std::move(backward));
}

Tensor leaf(const Tensor& values) {
  require(is_floating(values.dtype()), "leaf: a gradient needs float32 or float64, got {}", name_of(values.dtype()));
  Tensor t = values.detach();
  t.set_node(make_node(t, "leaf"));
  return t;
}

// One differentiation: the gradients that have arrived so far, and the nodes still to be visited.
class Walk {
 public:
  struct Slot {
    Tensor sum;    // undefined until the first contribution
    Tensor place;  // of a leaf that was asked for: where its gradient belongs
    bool wanted_leaf = false;
    bool place_given = false;  // to a kernel that will write to it
  };

  // The gradient of this leaf is wanted, in `place` if that is defined.
  void want(const Tensor& leaf_tensor, Tensor place) {
    Slot& slot = slots_[leaf_tensor.node().get()];
    slot.place = std::move(place);
    slot.wanted_leaf = true;
  }

  void run(const Tensor& output, const Tensor& cotangent) {
    GradientSink sink(*this);
    add(output.node(), "gradients", 0, cotangent.detach());  // what is done to it is not to be recorded
    while (!queue_.empty()) {
      const std::shared_ptr<Node> node = queue_.top();
      queue_.pop();
      if (node->inputs.empty()) continue;  // a leaf: its slot stays
      require(!node->used, "gradients: this graph was differentiated before (at {}); run the forward pass again",
              node->op);
      const auto slot = slots_.find(node.get());
      Tensor gradient = std::move(slot->second.sum);
      slots_.erase(slot);
      sink.node_ = node.get();
      Backward backward = std::move(node->backward);
      node->used = true;
      backward(std::move(gradient), sink);
    }
  }

  // The gradient of a leaf, or an undefined tensor if nothing reached it.
  Tensor result(const Tensor& leaf_tensor) { return slots_[leaf_tensor.node().get()].sum; }

  void add(const std::shared_ptr<Node>& node, const char* op, int input, Tensor contribution) {
    require(contribution.shape() == node->shape && contribution.dtype() == node->dtype,
            "{}: the derivative for input {} is {} {}, the input is {} {}", op, input, name_of(contribution.dtype()),
            contribution.shape().str(), name_of(node->dtype), node->shape.str());
    Slot& slot = slots_[node.get()];
    if (slot.sum.defined()) {
      // What is already there may be shared with another slot (an addition hands one tensor to both inputs).
      if (!slot.sum.unique() && !slot.place.defined()) slot.sum = slot.sum.copy();
      accumulate(slot.sum, contribution.as_contiguous());
      return;
    }
    if (node->inputs.empty() && !slot.wanted_leaf) return;
    if (!slot.place.defined()) {
      slot.sum = contribution.as_contiguous();
    } else {
      if (contribution.storage() != slot.place.storage() || contribution.offset() != slot.place.offset())
        slot.place.copy_from(contribution);
      slot.sum = slot.place;
    }
    queue_.push(node);
  }

  bool wants(const std::shared_ptr<Node>& node) {
    if (node == nullptr) return false;
    if (!node->inputs.empty()) return true;
    const auto slot = slots_.find(node.get());
    return slot != slots_.end() && slot->second.wanted_leaf;
  }

  Tensor place(const std::shared_ptr<Node>& node) {
    const auto slot = slots_.find(node.get());
    const bool first_of_leaf = slot != slots_.end() && slot->second.place.defined() && !slot->second.sum.defined() &&
                               !std::exchange(slot->second.place_given, true);
    return first_of_leaf ? slot->second.place : Tensor::empty(node->shape, node->dtype, node->device);
  }

 private:
  struct SmallerId {
    bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const { return a->id < b->id; }
  };
  std::unordered_map<const Node*, Slot> slots_;
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, SmallerId> queue_;
};

bool GradientSink::wants(int input) const { return walk_.wants(node_->inputs[static_cast<size_t>(input)]); }

void GradientSink::add(int input, Tensor contribution) {
  const auto& node = node_->inputs[static_cast<size_t>(input)];
  if (node != nullptr) walk_.add(node, node_->op, input, std::move(contribution));
}

Tensor GradientSink::place(int input) { return walk_.place(node_->inputs[static_cast<size_t>(input)]); }

namespace {

void check_differentiable(const Tensor& output) {
  require(output.defined() && output.node() != nullptr,
          "gradients: the result depends on no parameter (was it computed under NoGrad, or from detached tensors?)");
}

}  // namespace

void gradients(const Tensor& loss, const Parameters& parameters, Span out) {
  require(loss.count() == 1, "gradients: the loss must be one number, it has shape {}", loss.shape().str());
  check_differentiable(loss);
  const Layout& layout = parameters.layout;
  require(out.size == layout.size(), "gradients: room for {} elements, the parameters take {}", out.size,
          layout.size());
  Walk walk;
  Tensor flat = Tensor::borrow(out.data, {out.size}, out.device);
  for (size_t i = 0; i < parameters.leaves.size(); ++i) {
    const auto& entry = layout.entries()[i];
    walk.want(parameters.leaves[i], flat.as_strided(entry.shape, row_major(entry.shape), entry.offset));
  }
  walk.run(loss, Tensor::full(loss.shape(), 1, loss.dtype(), loss.device()));
  require(std::any_of(parameters.leaves.begin(), parameters.leaves.end(),
                      [&](const Tensor& t) { return walk.result(t).defined(); }),
          "gradients: the loss depends on none of these parameters (was bind() called after the forward pass?)");
  int64_t end = 0;  // of what has a value
  const auto clear_to = [&](int64_t begin) {
    if (begin > end) flat.as_strided({begin - end}, {1}, end).fill(0);
  };
  for (size_t i = 0; i < parameters.leaves.size(); ++i) {
    const auto& entry = layout.entries()[i];
    clear_to(entry.offset);
    end = entry.offset + (walk.result(parameters.leaves[i]).defined() ? entry.shape.count() : 0);
  }
  clear_to(out.size);
}

Tensor gradients(const Tensor& loss, const Parameters& parameters) {
  Tensor flat = Tensor::empty({parameters.layout.size()}, DType::f32, parameters.flat.device());
  gradients(loss, parameters, flat.span());
  return flat;
}

std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& leaves, const Tensor& cotangent) {
  check_differentiable(output);
  require(cotangent.shape() == output.shape(), "gradients: cotangent {} for an output of shape {}",
          cotangent.shape().str(), output.shape().str());
  Walk walk;
  for (const Tensor& t : leaves) {
    require(t.defined() && t.node() != nullptr && t.node()->inputs.empty(),
            "gradients: asked for something that is no leaf; make one by leaf()");
    walk.want(t, Tensor());
  }
  walk.run(output, cotangent);
  std::vector<Tensor> results;
  for (const Tensor& t : leaves) {
    const Tensor g = walk.result(t);
    // A copy, since an addition hands one tensor to both sides: no two results share memory, nor one with the
    // cotangent.
    results.push_back(g.defined() ? g.copy() : Tensor::zeros(t.shape(), t.dtype(), t.device()));
  }
  return results;
}

}  // namespace tg
