#include "optim/rule.h"

#include "optim/gates.h"
#include "optim/vector.h"

namespace tg {

void Update::explain(WorkerId, View message, const StepInfo&, Terms& terms) const { terms.term("message", message); }

void Update::reply(WorkerId, Span out, const StepInfo&) { for_each(Copy{}, out, theta()); }

void Worker::work(View reply, const StepInfo&, Oracle& oracle, Span message) { oracle.gradient(reply, message); }

bool Worker::farewell(Span) { return false; }

std::unique_ptr<Gate> Rule::gate() const { return std::make_unique<Async>(); }

std::unique_ptr<Worker> Rule::worker(WorkerId, const Layout&) const { return std::make_unique<Worker>(); }

}  // namespace tg
