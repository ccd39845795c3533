#pragma once
// The contract between a paper's algorithm and the engines that run it: Gate x Update x Worker.
//
// What a paper adds to asynchronous training goes into one or more of three small parts:
//   Gate    one per job:    who waits for whom           (sees only who and when)
//   Update  one per shard:  what the server does         (sees only vectors)
//   Worker  one per worker: what it computes and sends   (sees only vectors and an Oracle)
// None of them knows threads, sockets, locks or layers; an engine owns those.

#include <memory>
#include <string>
#include <vector>

#include "framework/core/layout.h"
#include "framework/core/span.h"
#include "optim/state.h"

namespace tg {

// What an engine tells a rule with each message and each reply.
struct StepInfo {
  // In apply() and work(): the rate that was told to this worker with the parameters it works from.
  // In reply(): the rate that is told now. A function of the gradients accepted so far (schedule.h).
  float learning_rate = 0;
  float peak_learning_rate = 0;  // the highest rate of the schedule
  int64_t accepted = 0;          // minibatch gradients accepted so far, before this one
  int workers = 1;               // live workers
  int64_t lag = 0;               // in apply(): updates of theta since the parameters were sent
  View sent = {};  // in apply(): what this worker was sent, as it was decoded there; empty unless the rule asks for it
};

// Who may go on when a message arrives, a worker joins or one leaves.
using Release = std::vector<WorkerId>;
struct Verdict {
  bool taken = true;  // false: the message is dropped (a late backup worker)
  Release release;    // who is sent parameters now, in this order
};

class Gate {
 public:
  virtual ~Gate() = default;
  virtual Release join(WorkerId worker) = 0;
  // `clock` is the number of messages this worker has sent before this one.
  virtual Verdict arrive(WorkerId worker, int64_t clock) = 0;
  // A death may be what the others waited for.
  virtual Release leave(WorkerId worker) = 0;
  // False: every message is taken and its worker goes on at once. An engine then need not ask, nor bring messages into
  // one order for all shards.
  virtual bool waits() const { return true; }
  // True: workers are released at the end of a round, and with them all whose messages were taken in it.
  virtual bool in_rounds() const { return false; }
  // Throws Error if it makes no sense with so many workers. An engine asks before a run.
  virtual void check(int /*workers*/) const {}
  // Who is where; for snapshots.
  virtual void save(StateWriter&) const {}
  virtual void load(const StateReader&) {}
};

// Takes down the terms of one step, for a reader: what `tardygrad explain` shows.
class Terms {
 public:
  virtual ~Terms() = default;
  // `name` is in the paper's symbols; `values` lie as theta does and are valid during the call.
  virtual void term(const std::string& name, View values) = 0;
};

// The server's side of a rule. One call at a time; the engine serialises.
// For each message that arrives: apply() if the gate takes it, then reply() for each worker that the gate releases.
// Only then does the engine look at theta(): a synchronous rule closes its round with the first of these replies.
// join() comes before a worker's first reply; leave() before the replies to those whom the gate then releases.
class Update {
 public:
  virtual ~Update() = default;
  // Takes in one worker's message. The message's bytes are never changed.
  virtual void apply(WorkerId worker, View message, const StepInfo& info) = 0;
  // Says, just before apply() of the same message, what that is going to be made of, term by term. One is called
  // "step": what is taken away from theta; of a rule that acts in rounds, if this message is the round's last. The name
  // of a delay compensation's term begins with "compensation". Changes nothing. Default: the message alone.
  virtual void explain(WorkerId worker, View message, const StepInfo& info, Terms& terms) const;
  // Writes what this worker works from next. Default: theta. Called after a run's last message too, though nothing is
  // sent then.
  virtual void reply(WorkerId worker, Span out, const StepInfo& info);
  // The model: what is evaluated and saved.
  virtual View theta() const = 0;
  // False if the last apply() only kept its message for later, as synchronous rules do. A lag counts the others.
  virtual bool theta_changed() const { return true; }
  virtual void join(WorkerId) {}
  virtual void leave(WorkerId) {}
  virtual void save(StateWriter& state) const = 0;
  virtual void load(const StateReader& state) = 0;
};

// Minibatch gradients at any point: a worker's access to the task. The batches, one or as many as the rule asks for
// (Rule::batches), were assigned when the reply was sent.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // Writes the mean gradient of the present batch's loss at `at`. May be called more than once per batch.
  virtual void gradient(View at, Span out) = 0;
  // Goes on to the next batch; false if there is none left. A local loop is do { ... } while (oracle.next_batch()).
  virtual bool next_batch() = 0;
};

// The worker's side of a rule.
class Worker {
 public:
  virtual ~Worker() = default;
  // Computes the message from the reply. Default: message = gradient(reply).
  virtual void work(View reply, const StepInfo& info, Oracle& oracle, Span message);
  // Says, just before work() on the same reply, what its message is going to be made of, term by term; of a local loop,
  // the first step. Changes nothing but the oracle. Default: nothing, where the message is the gradient.
  virtual void explain(View /*reply*/, const StepInfo&, Oracle&, Terms&) const {}
  // The last message was refused by the gate.
  virtual void not_taken() {}
  // Writes a last message at a clean leave and returns true, or returns false.
  virtual bool farewell(Span message);
  // What of the server's theta is not the model but a look-ahead by this worker's velocity: it was taken away with the
  // messages up to the last. Empty: nothing. A gap is measured with the other workers' share put back (papers differ
  // in what they call theta; Hakimi et al. 2019, DANA-Slim).
  virtual View ahead() const { return {}; }
  virtual void save(StateWriter&) const {}
  virtual void load(const StateReader&) {}
};

// A rule: makes the three parts, and says what it needs of an engine.
class Rule {
 public:
  virtual ~Rule() = default;
  // Default: asynchronous, nobody waits.
  virtual std::unique_ptr<Gate> gate() const;
  // `initial` holds this shard's parameters, laid out as `layout` says; copied.
  virtual std::unique_ptr<Update> update(const Layout& layout, View initial) const = 0;
  // Default: sends the gradient at what it was sent.
  virtual std::unique_ptr<Worker> worker(WorkerId id, const Layout& layout) const;
  // Minibatches to a message: those of a worker's local loop. The last message of a run may have fewer.
  virtual int64_t batches() const { return 1; }
  virtual bool needs_sent() const { return false; }  // StepInfo::sent must be filled in
  virtual bool sequential() const { return false; }  // runs with one worker only
  virtual bool shardable() const { return true; }    // false: one Update must see the whole vector
  // Its server takes for granted that the worker has what was sent, bit for bit: replies must not go through a codec
  // that loses something.
  virtual bool needs_exact_reply() const { return false; }
  // Its update closes the rounds of its gate: another gate must have rounds too.
  virtual bool needs_rounds() const { return false; }
};

}  // namespace tg
