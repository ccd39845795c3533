#include "tests/optim/identities.h"

#include "optim/registry.h"
#include "tests/optim/bits.h"

namespace tg::test {

namespace {

void check_same(const Run& run, const std::string& a, const std::string& b, int workers,
                const std::vector<Schedule>& schedules) {
  for (const Schedule& schedule : schedules) {
    BOOST_TEST_CONTEXT(a << " and " << b << " with " << workers << " workers, peak rate " << schedule.peak()) {
      BOOST_TEST(same_bits(run(a, workers, schedule), run(b, workers, schedule)));
    }
  }
}

}  // namespace

void one_worker_is_sgd(const Run& run, const std::vector<Schedule>& schedules) {
  for (const char* rule : {"asgd", "ssgd", "dc-asgd-c", "dc-asgd-a", "dc-asgd-a:mean-square=worker", "sa-asgd",
                           "dc-ssgd", "dc-ssgd:adaptive=true"})
    check_same(run, rule, "sgd", 1, schedules);
  for (const char* rule : {"asgd", "dc-asgd-c", "dc-asgd-a", "sa-asgd", "dc-ssgd"})
    check_same(run, std::string(rule) + ":weight-decay=0.01", "sgd:weight-decay=0.01", 1, schedules);
  for (const char* rule : {"multi-asgd:", "lwp:", "lwp:lag=measured,",
                           "sa-asgd:", "gap-aware:", "dc-asgd-c:", "dc-asgd-a:", "dc-asgd-c:velocity=worker,"})
    check_same(run, std::string(rule) + "momentum=0.8,weight-decay=0.01", "sgd:momentum=0.8,weight-decay=0.01", 1,
               schedules);
  for (const char* options : {":momentum=0.9", ":momentum=0.9,nesterov=true,weight-decay=0.01", ":weight-decay=0.01"})
    check_same(run, std::string("ssgd") + options, std::string("sgd") + options, 1, schedules);
  check_same(run, "ssgd:scale=true", "sgd", 1, schedules);
}

void lambda_zero_is_without_compensation(const Run& run, const std::vector<Schedule>& schedules) {
  for (const int workers : {1, 4, 8}) {
    check_same(run, "dc-asgd-c:lambda=0", "asgd", workers, schedules);
    check_same(run, "dc-asgd-a:lambda=0", "asgd", workers, schedules);
    check_same(run, "dc-asgd-a:lambda=0,mean-square=worker", "asgd", workers, schedules);
    check_same(run, "dc-asgd-c:lambda=0,weight-decay=0.01", "asgd:weight-decay=0.01", workers, schedules);
    for (const char* rule : {"dc-asgd-c:", "dc-asgd-a:"})
      check_same(run, std::string(rule) + "lambda=0,momentum=0.8,velocity=worker", "multi-asgd:momentum=0.8", workers,
                 schedules);
    check_same(run, "dana-dc:lambda=0", "dana-zero", workers, schedules);
    check_same(run, "dana-dc:lambda=0,adaptive=true,momentum=0.5,weight-decay=0.01",
               "dana-zero:momentum=0.5,weight-decay=0.01", workers, schedules);
  }
}

void one_worker_ahead_is_nesterov(const Run& run, const std::vector<Schedule>& schedules) {
  for (const char* rule : {"dana-zero:", "nag-asgd:", "dana-dc:lambda=0,"})
    for (const char* options : {"momentum=0.9", "momentum=0.5", "momentum=0.9,weight-decay=0.01"})
      check_same(run, std::string(rule) + options, std::string("sgd:nesterov=true,") + options, 1, schedules);
}

void momentum_zero_is_without_velocity(const Run& run, const std::vector<Schedule>& schedules) {
  for (const int workers : {1, 4, 8}) {
    for (const char* rule : {"multi-asgd", "dana-zero", "nag-asgd"}) {
      check_same(run, std::string(rule) + ":momentum=0", "asgd", workers, schedules);
      check_same(run, std::string(rule) + ":momentum=0,weight-decay=0.01", "asgd:weight-decay=0.01", workers,
                 schedules);
    }
    check_same(run, "dana-slim:momentum=0", "asgd", workers, schedules);  // its weight decay is another
    check_same(run, "dana-dc:momentum=0,lambda=1.5,weight-decay=0.01", "dc-asgd-c:lambda=1.5,weight-decay=0.01",
               workers, schedules);
    check_same(run, "dana-dc:momentum=0,adaptive=true,mean-square=worker", "dc-asgd-a:mean-square=worker", workers,
               schedules);
  }
}

void rate_zero_changes_nothing(const Run& run, const std::vector<float>& initial) {
  for (const SpecInfo& info : rule_infos()) {
    const std::string decay = info.name + ":weight-decay=0.01";
    const int workers = make_rule(Spec::parse(info.name, rule_infos(), "rule"))->sequential() ? 1 : 4;
    BOOST_TEST_CONTEXT(info.name) { BOOST_TEST(same_bits(run(decay, workers, Schedule({.peak = 0})), initial)); }
  }
}

void rules_differ(const Run& run, const std::vector<Schedule>& schedules) {
  // dana-dc with its usual lambda diverges on some orders of arrival.
  for (const Schedule& schedule : schedules) {
    const std::vector<float> asgd = run("asgd", 4, schedule), sgd = run("sgd", 1, schedule);
    for (const char* rule :
         {"ssgd", "dc-ssgd", "sa-asgd", "gap-aware:momentum=0", "dc-asgd-c", "dc-asgd-a", "nag-asgd", "lwp:momentum=0",
          "multi-asgd", "dana-zero", "dana-dc:lambda=0.1", "dana-slim", "easgd", "eamsgd", "local-sgd", "yellowfin"})
      BOOST_TEST_CONTEXT(rule) { BOOST_TEST(!same_bits(run(rule, 4, schedule), asgd)); }
    // Rules with a velocity that are equal under some condition.
    const std::vector<std::string> with_velocity = {"multi-asgd", "dana-zero", "dana-dc:lambda=0.1",     "nag-asgd",
                                                    "lwp",        "gap-aware", "dc-asgd-c:momentum=0.9", "dana-slim"};
    std::vector<std::vector<float>> results;
    for (const std::string& rule : with_velocity) results.push_back(run(rule, 4, schedule));
    for (size_t i = 0; i < results.size(); ++i)
      for (size_t j = 0; j < i; ++j) BOOST_TEST_CONTEXT(with_velocity[i] << " and " << with_velocity[j]) {
          BOOST_TEST(!same_bits(results[i], results[j]));
        }
    for (const char* rule : {"sgd:momentum=0.9", "sgd:momentum=0.9,nesterov=true", "sgd:weight-decay=0.01"})
      BOOST_TEST_CONTEXT(rule) { BOOST_TEST(!same_bits(run(rule, 1, schedule), sgd)); }
    BOOST_TEST(!same_bits(run("sgd:momentum=0.9", 1, schedule), run("sgd:momentum=0.9,nesterov=true", 1, schedule)));
  }
}

}  // namespace tg::test
