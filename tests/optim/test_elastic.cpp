// Elastic averaging and local SGD: what the worker's loop does, what the exchange does, and who begins where.
#include <cmath>

#include "optim/eamsgd.h"
#include "optim/gates.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

using Values = std::vector<float>;

constexpr double kRounding = 2e-6;  // of float32 values near 1, over some hundred updates

const Logistic kTask(37);

Driver started(const Rule& rule, int workers, const Schedule& schedule = constant_rate(0.05)) {
  Driver driver(rule, kTask.layout(), kTask.initial(), kTask.gradient(), schedule);
  for (WorkerId worker = 0; worker < workers; ++worker) driver.join(worker);
  return driver;
}

double distance(View a, View b) {
  double most = 0;
  for (int64_t i = 0; i < a.size; ++i) most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  return most;
}

// The server's copy of a worker's model.
Values x_of(const Update& update, WorkerId worker) {
  StateMap state;
  update.save(state);
  return std::get<Values>(state.values().at("x/" + std::to_string(worker)));
}

BOOST_AUTO_TEST_SUITE(elastic)

// Without the force a worker's model is sequential SGD's, and the center stays where it was.
BOOST_AUTO_TEST_CASE(without_force_a_worker_trains_by_itself) {
  const std::pair<const char*, const char*> pairs[] = {
      {"easgd:beta=0,period=4,weight-decay=0.01", "sgd:weight-decay=0.01"},
      {"eamsgd:beta=0,period=4,momentum=0.9,weight-decay=0.01", "sgd:momentum=0.9,nesterov=true,weight-decay=0.01"}};
  for (const auto& [elastic, sequential] : pairs) {
    const auto rule = test::rule(elastic), sgd = test::rule(sequential);
    Driver one = started(*rule, 1), other = started(*sgd, 1);
    arrive_at_random(one, 200, 1);
    arrive_at_random(other, 200, 1);
    BOOST_TEST_CONTEXT(elastic) {
      BOOST_TEST(one.log().size() == 1u + 2 * 50);
      BOOST_TEST(distance(one.sent(0), other.theta()) < kRounding);
      BOOST_TEST(distance(one.sent(0), view_of(kTask.initial())) > 0.1);
      BOOST_TEST(same_bits(values_of(one.theta()), kTask.initial()));
    }
  }
}

// One worker and alpha = 1/2: at each exchange the center and the worker's model meet half-way, so that the center
// makes half of each of the worker's steps.
BOOST_AUTO_TEST_CASE(one_worker_that_is_met_half_way_is_sgd_at_half_the_rate) {
  const auto rule = test::rule("easgd:beta=0.5,period=1"), sgd = test::rule("sgd");
  Driver one = started(*rule, 1, constant_rate(0.1)), other = started(*sgd, 1, constant_rate(0.05));
  arrive_at_random(one, 200, 1);
  arrive_at_random(other, 200, 1);
  BOOST_TEST(distance(one.theta(), other.theta()) < kRounding);
  BOOST_TEST(distance(one.theta(), one.sent(0)) < kRounding);
}

BOOST_AUTO_TEST_CASE(a_rate_is_that_of_the_reply_for_the_whole_loop) {
  const Schedule schedule({.peak = 0.5, .drops = {4, 8}, .factor = 0.5});
  const Gradient ones = [](View, int64_t, Span out) { std::fill(out.begin(), out.end(), 1.0f); };
  const auto rule = test::rule("easgd:beta=0,period=6");
  Driver driver(*rule, flat_layout(16), Values(16), ones, schedule);
  driver.join(0);
  driver.arrive(0);
  BOOST_TEST(driver.sent(0)[0] == -3.0f);  // six steps of 0.5, though the rate drops after the fourth
  driver.arrive(0);
  BOOST_TEST(driver.sent(0)[0] == -4.5f);  // six of 0.25
}

// What one end gives the other gets, and alpha is beta / N with the workers there are.
BOOST_AUTO_TEST_CASE(the_exchange_moves_both_ends) {
  const Easgd rule({.beta = 0.5f, .period = 1, .weight_decay = 0});
  const auto update = rule.update(flat_layout(16), view_of(Values(16, 8)));
  update->join(3);
  update->apply(3, view_of(Values(16, 4)), {.workers = 2});  // x = 4, alpha = 0.25, e = -1
  BOOST_TEST(x_of(*update, 3)[0] == 5.0f);
  BOOST_TEST(update->theta()[0] == 7.0f);
  update->apply(3, view_of(Values(16, 0)), {.workers = 1});  // alpha = 0.5, e = -1
  BOOST_TEST(x_of(*update, 3)[0] == 6.0f);
  BOOST_TEST(update->theta()[0] == 6.0f);
}

BOOST_AUTO_TEST_CASE(without_momentum_eamsgd_is_easgd) {
  const auto with = test::rule("eamsgd:momentum=0,period=3,weight-decay=0.01"),
             without = test::rule("easgd:period=3,weight-decay=0.01");
  Driver a = started(*with, 4, changing_rate(0.05)), b = started(*without, 4, changing_rate(0.05));
  arrive_at_random(a, 200, 2);
  arrive_at_random(b, 200, 2);
  BOOST_TEST(same_bits(values_of(a.theta()), values_of(b.theta())));
  for (WorkerId worker = 0; worker < 4; ++worker)
    BOOST_TEST(same_bits(values_of(a.sent(worker)), values_of(b.sent(worker))));
}

BOOST_AUTO_TEST_CASE(who_joins_begins_at_the_center) {
  for (const char* spec : {"easgd", "eamsgd"}) BOOST_TEST_CONTEXT(spec) {
      const auto rule = test::rule(spec);
      Driver driver = started(*rule, 3);
      arrive_at_random(driver, 120, 2);
      const Values center = values_of(driver.theta());
      BOOST_TEST(!same_bits(x_of(driver.update(), 1), center));
      driver.leave(1);
      driver.join(1);
      BOOST_TEST(same_bits(values_of(driver.sent(1)), center));
      driver.join(7);
      BOOST_TEST(same_bits(values_of(driver.sent(7)), center));
      driver.leave(7);
      BOOST_TEST(same_bits(values_of(driver.theta()), center));
      StateMap state;
      driver.update().save(state);
      BOOST_TEST(state.values().count("x/7") == 0u);
    }
}

// Why there is no DANA with EASGD (docs/dana_easgd.md): with eight workers in any order, each message's gradients were
// taken at the very model that they are applied to.
BOOST_AUTO_TEST_CASE(no_gradient_is_late) {
  const auto moved_before_arrival = [](const std::string& spec, bool elastic) {
    const auto rule = test::rule(spec);
    Driver driver(*rule, kTask.layout(), kTask.initial(), kTask.gradient(), changing_rate(0.05));
    double most = 0;
    driver.before_apply = [&](WorkerId worker, View, const StepInfo&) {
      const Values at = elastic ? x_of(driver.update(), worker) : values_of(driver.theta());
      most = std::max(most, distance(view_of(at), driver.sent(worker)));
    };
    for (WorkerId worker = 0; worker < 8; ++worker) driver.join(worker);
    arrive_at_random(driver, 200, 3);
    return most;
  };
  BOOST_TEST(moved_before_arrival("easgd:period=1", true) == 0.0);
  BOOST_TEST(moved_before_arrival("eamsgd:period=3,momentum=0.9", true) == 0.0);
  BOOST_TEST(moved_before_arrival("asgd", false) > 0.01);
}

// And each worker's velocity is looked ahead along already: without force it is dana-zero with that worker alone.
BOOST_AUTO_TEST_CASE(an_eamsgd_worker_is_dana_zero_with_one_worker) {
  const auto elastic = test::rule("eamsgd:beta=0,period=1,momentum=0.9"), dana = test::rule("dana-zero:momentum=0.9");
  Driver many = started(*elastic, 4);
  arrive_in_turn(many, 4, 50);
  for (WorkerId worker = 0; worker < 4; ++worker) {
    const Gradient all = kTask.gradient();
    const Gradient own = [&](View at, int64_t batch, Span out) { all(at, 4 * batch + worker, out); };
    Driver alone(*dana, kTask.layout(), kTask.initial(), own, constant_rate(0.05));
    alone.join(0);
    arrive_in_turn(alone, 1, 50);
    BOOST_TEST(distance(many.sent(worker), alone.theta()) < kRounding);
    BOOST_TEST(distance(alone.theta(), alone.sent(0)) > 1e-3);
  }
}

// A worker by itself, whose gradients are given.
struct Alone : Oracle {
  Alone() : worker(flat_layout(16), {EasgdOptions(), 0.9f}) {}
  Values send(float g, float eta) {
    next = g;
    left = 3;
    Values message(16);
    const Values received(16);
    worker.work(view_of(received), {.learning_rate = eta}, *this, {message.data(), 16});
    return message;
  }
  void gradient(View at, Span out) override {
    for (int64_t k = 0; k < out.size; ++k) out[k] = next + 0.1f * at[k];
  }
  bool next_batch() override { return --left > 0; }
  EamsgdWorker worker;
  float next = 0;
  int left = 0;
};

BOOST_AUTO_TEST_CASE(a_refused_message_is_as_if_never_sent) {
  Alone refused, other;
  for (Alone* each : {&refused, &other}) each->send(0.3f, 0.1f);
  refused.send(-2, 0.07f);
  refused.worker.not_taken();
  for (const float g : {0.5f, -0.1f}) BOOST_TEST(same_bits(refused.send(g, 0.05f), other.send(g, 0.05f)));
}

BOOST_AUTO_TEST_CASE(local_sgd_with_one_step_is_ssgd) {
  const std::pair<const char*, const char*> pairs[] = {
      {"local-sgd:period=1", "ssgd"}, {"local-sgd:period=1,weight-decay=0.01", "ssgd:weight-decay=0.01"}};
  for (const auto& [local, synchronous] : pairs) {
    const auto a = test::rule(local), b = test::rule(synchronous);
    Driver one = started(*a, 4, changing_rate(0.1)), other = started(*b, 4, changing_rate(0.1));
    arrive_at_random(one, 400, 1);
    arrive_at_random(other, 400, 1);
    BOOST_TEST(distance(one.theta(), other.theta()) < kRounding);
    BOOST_TEST(distance(one.theta(), view_of(kTask.initial())) > 0.1);
  }
}

// Four workers, two steps each: the mean of where four sequential runs come to.
BOOST_AUTO_TEST_CASE(a_round_of_local_sgd_is_the_mean_of_sequential_runs) {
  const auto local = test::rule("local-sgd:period=2"), sgd = test::rule("sgd");
  Driver driver = started(*local, 4);
  std::vector<double> mean(48);
  for (WorkerId worker = 0; worker < 4; ++worker) {
    const Gradient all = kTask.gradient();
    const Gradient own = [&](View at, int64_t batch, Span out) { all(at, 2 * worker + batch, out); };
    Driver alone(*sgd, kTask.layout(), kTask.initial(), own, constant_rate(0.05));
    alone.join(0);
    arrive_in_turn(alone, 1, 2);
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += double{alone.theta()[static_cast<int64_t>(k)]} / 4;
  }
  for (const WorkerId worker : {2, 0, 3}) {
    driver.arrive(worker);
    BOOST_TEST(same_bits(values_of(driver.theta()), kTask.initial()));
  }
  driver.arrive(1);
  for (size_t k = 0; k < mean.size(); ++k)
    BOOST_TEST(std::abs(double{driver.theta()[static_cast<int64_t>(k)]} - mean[k]) < kRounding);
  BOOST_TEST(distance(driver.theta(), view_of(kTask.initial())) > 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
