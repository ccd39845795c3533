#pragma once
// A worker that goes on by itself: some steps of plain SGD from what it was sent, then the difference. What easgd and
// local-sgd have in common; they differ in what the server makes of the difference.

#include "optim/sgd.h"

namespace tg {

// What a local loop has done, as a message: where it began less where it ended, so that subtracting it does the same.
struct Difference {
  TG_HD void operator()(float& message, float received, float x) const { message = received - x; }
};

//   x       <- received
//   x       <- x - eta (g(x) + weight_decay x)      for each of the message's batches, at the rate told with `received`
//   message =  received - x
class LocalWorker : public Worker {
 public:
  LocalWorker(const Layout& layout, float weight_decay) : weight_decay_(weight_decay), x_(layout.size(), kCpu) {}

  void work(View received, const StepInfo& info, Oracle& oracle, Span message) override {
    for_each(Copy{}, x_.span(), received);
    const Span gradient = message;  // until the loop is done
    do {
      oracle.gradient(x_.view(), gradient);
      for_each(PlainStep{info.learning_rate, weight_decay_}, x_.span(), View(gradient));
    } while (oracle.next_batch());
    for_each(Difference{}, message, received, x_.view());
  }
  void explain(View received, const StepInfo& info, Oracle& oracle, Terms& terms) const override {
    Vector<float> gradient(received.size, received.device);
    oracle.gradient(received, gradient.span());
    terms.term("g", gradient.view());
    tg::explain(PlainStep{info.learning_rate, weight_decay_}, received, gradient.view(), terms);
  }

 private:
  float weight_decay_;
  Vector<float> x_;  // nothing of it is kept from one message to the next
};

}  // namespace tg
