#include "dist/worker_side.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "dist/history/measure.h"
#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"
#include "framework/core/reduce.h"
#include "optim/vector.h"

namespace tg {
namespace {

struct Square {
  TG_HD double operator()(float g) const { return static_cast<double>(g) * static_cast<double>(g); }
};
struct TakeAway {
  TG_HD void operator()(float& reply, float sent) const { reply -= sent; }
};
struct AddTo {
  TG_HD void operator()(float& sent, float difference) const { sent += difference; }
};
struct Scale {
  float factor;
  TG_HD void operator()(float& g) const { g *= factor; }
};

// Shortens the gradient to a 2-norm of `longest` if it is longer (Pascanu, Mikolov and Bengio 2013). The gaps of a
// layout are zero and count for nothing.
void clip(Span gradient, double longest) {
  const double norm = std::sqrt(reduce_sum(Square{}, gradient));
  if (norm > longest) for_each(Scale{static_cast<float>(longest / norm)}, gradient);
}

class BatchOracle : public Oracle {
 public:
  // Of the batches from `first` on; `stream(i)` is for what the model draws for the i-th of them.
  BatchOracle(const Job& job, int64_t first, std::function<Stream(int64_t)> stream)
      : job_(job), first_(first), count_(job.batches_of(first)), stream_(std::move(stream)) {}

  void gradient(View at, Span out) override {
    const int64_t batch = first_ + place_;
    const double loss = job_.task->gradient(at, job_.seed, batch, stream_(place_), out);
    if (job_.clip_norm > 0) clip(out, job_.clip_norm);
    if (asked_ == place_ || !std::isfinite(loss)) losses_ += loss;
    asked_ = place_ + 1;
    if (!std::isfinite(loss) && where_.empty())
      where_ = job_.task->where_not_finite(at, job_.seed, batch, stream_(place_));
  }
  bool next_batch() override {
    require(asked_ == place_ + 1, "the rule's worker goes on from a batch without asking for a gradient");
    if (place_ + 1 == count_) return false;
    ++place_;
    return true;
  }
  void require_all_asked() const {
    require(asked_ == count_,
            "the rule's worker sends a message without asking for a gradient of each of its batches: of {} of {}",
            asked_, count_);
  }
  // Mean over the batches: of the first call for each, or one that is not finite.
  double loss() const { return losses_ / static_cast<double>(count_); }
  const std::string& where() const { return where_; }

 private:
  const Job& job_;
  const int64_t first_, count_;
  const std::function<Stream(int64_t)> stream_;
  int64_t place_ = 0;  // of the present batch
  int64_t asked_ = 0;  // batches, in their order, of which a gradient was asked for
  double losses_ = 0;  // their sum
  std::string where_;
};

int64_t float32_bytes(const Layout& layout) { return 4 * layout.count(); }

// Turns `values` into what the other end decodes and returns the bytes in between.
int64_t transmit(Codec& codec, const Stream& stream, Span values) {
  const int64_t most = codec.max_encoded_bytes(0, values.size);
  if (codec.exact()) return most;
  Tensor encoded = Tensor::empty({most}, DType::u8);
  const std::span<std::byte> bytes(static_cast<std::byte*>(encoded.raw_mutable()), static_cast<size_t>(most));
  const int64_t used = codec.encode(values, 0, stream, bytes);
  codec.decode(bytes.first(static_cast<size_t>(used)), 0, values);
  return used;
}

}  // namespace

Stream worker_stream(const Job& job, WorkerId worker, int64_t step) {
  return Stream(job.seed).split("worker", static_cast<uint64_t>(worker)).split("step", static_cast<uint64_t>(step));
}

WorkerSide::WorkerSide(WorkerId id, const Job& job)
    : id_(id),
      job_(job),
      worker_(job.rule->worker(id, job.task->layout())),
      up_(job.codec_up(job.task->layout())),
      down_(job.codec_down(job.task->layout())),
      sent_(Tensor::zeros({job.task->layout().size()})),
      message_(Tensor::zeros({job.task->layout().size()})) {
  if (!down_->exact()) reply_ = Tensor::zeros({job.task->layout().size()});
}

int64_t WorkerSide::receive(int64_t task) {
  if (down_->exact()) return down_->max_encoded_bytes(0, sent_.count());
  if (task == 0) {
    for_each(Copy{}, sent_.span(), reply_.view());
    return float32_bytes(job_.task->layout());
  }
  for_each(TakeAway{}, reply_.span(), sent_.view());
  if (!all_finite(reply_.view())) {  // a run that diverges: its next loss says so
    for_each(AddTo{}, sent_.span(), reply_.view());
    return float32_bytes(job_.task->layout());
  }
  const int64_t bytes = transmit(*down_, stream(first_step(task)).split("codec_down"), reply_.span());
  for_each(AddTo{}, sent_.span(), reply_.view());
  return bytes;
}

std::optional<int64_t> WorkerSide::fixed_bytes() const {
  if (!up_->exact()) return std::nullopt;
  return up_->max_encoded_bytes(0, message().size);
}

void WorkerSide::explain(int64_t task, int64_t batch, const StepInfo& info, Terms& terms) const {
  BatchOracle oracle(job_, batch, [this, step = first_step(task)](int64_t i) { return stream(step + i); });
  worker_->explain(sent(), info, oracle, terms);
}

void WorkerSide::work(int64_t task, int64_t batch, const StepInfo& info) {
  BatchOracle oracle(job_, batch, [this, step = first_step(task)](int64_t i) { return stream(step + i); });
  const Span message = message_.span();
  const auto start = std::chrono::steady_clock::now();
  worker_->work(sent(), info, oracle, message);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  oracle.require_all_asked();
  outcome_ = {.loss = oracle.loss(), .bytes = 0, .where = oracle.where()};
  if (std::isfinite(outcome_.loss) && !up_->exact() && !all_finite(message_.view())) {
    outcome_.loss = std::numeric_limits<double>::quiet_NaN();
    outcome_.where = "the message";
  }
  // A loss that is not finite ends the run. Its message is not sent: codecs need not know what to do with NaN.
  if (std::isfinite(outcome_.loss))
    outcome_.bytes = transmit(*up_, stream(first_step(task)).split("codec_up"), message);
}

std::string WorkerSide::trouble(int64_t batch) const {
  const int64_t last = batch + job_.batches_of(batch) - 1;
  return fmt::format("worker {}'s loss is {} ({}){}{}", id_, number_of(outcome_.loss),
                     last == batch ? fmt::format("batch {}", batch) : fmt::format("batches {} to {}", batch, last),
                     outcome_.where.empty() ? "" : "; first not finite: ", outcome_.where);
}

void WorkerSide::not_taken() {
  worker_->not_taken();
  up_->not_taken();
}

void WorkerSide::save(SnapshotWriter to, bool has_message) const {
  SnapshotWriter rule = to.part("rule"), up = to.part("codec_up"), down = to.part("codec_down");
  worker_->save(rule);
  up_->save(up);
  down_->save(down);
  to.write("sent", sent());
  if (reply_.defined()) to.write("reply", reply_.view());  // it may not be received yet
  to.write_real("seconds", seconds_);
  if (!has_message) return;
  to.write("message", message());
  to.write_real("loss", outcome_.loss);
  to.write("bytes", outcome_.bytes);
  to.write_text("where", outcome_.where);
}

void WorkerSide::load(const SnapshotReader& from, bool has_message) {
  worker_->load(from.part("rule"));
  up_->load(from.part("codec_up"));
  down_->load(from.part("codec_down"));
  from.read("sent", sent_.span());
  if (reply_.defined()) from.read("reply", reply_.span());
  seconds_ = from.read_real("seconds");
  if (!has_message) return;
  from.read("message", message_.span());
  outcome_ = {.loss = from.read_real("loss"), .bytes = from.read("bytes"), .where = from.read_text("where")};
}

Stream WorkerSide::stream(int64_t step) const { return worker_stream(job_, id_, step); }

}  // namespace tg
