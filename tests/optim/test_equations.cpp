// Each rule against its equations on one parameter, written again in double, with every option on and off, under a rate
// that changes, in a random order of arrivals: theta, what is sent, and all that the server keeps.
#include "tests/optim/bits.h"
#include "tests/optim/server_equations.h"

namespace {

using namespace tg;
using namespace tg::test;

CompensationEquations constant(double lambda) { return {.lambda0 = lambda}; }
CompensationEquations adaptive(double lambda, double m = 0.95, double epsilon = 1e-7, bool per_worker = false) {
  return {.lambda0 = lambda, .adaptive = true, .m = m, .epsilon = epsilon, .per_worker = per_worker};
}

BOOST_AUTO_TEST_SUITE(equations)

BOOST_AUTO_TEST_CASE(sgd) {
  check("sgd", SgdEquations(0, false, 0));
  check("sgd:weight-decay=0.1", SgdEquations(0, false, 0.1));
  check("sgd:momentum=0.9", SgdEquations(0.9, false, 0));
  check("sgd:momentum=0.9,weight-decay=0.1", SgdEquations(0.9, false, 0.1));
  check("sgd:momentum=0.9,nesterov=true", SgdEquations(0.9, true, 0));
  check("sgd:momentum=0.9,nesterov=true,weight-decay=0.1", SgdEquations(0.9, true, 0.1));
  check("sgd:nesterov=true", SgdEquations(0, false, 0));
}

BOOST_AUTO_TEST_CASE(ssgd) {
  check("ssgd", SsgdEquations(0, false, 0, 0, false));
  check("ssgd:weight-decay=0.1", SsgdEquations(0, false, 0.1, 0, false));
  check("ssgd:momentum=0.9", SsgdEquations(0.9, false, 0, 0, false));
  check("ssgd:momentum=0.9,nesterov=true", SsgdEquations(0.9, true, 0, 0, false));
  check("ssgd:scale=true", SsgdEquations(0, false, 0, 0, true));
  check("ssgd:backup=1", SsgdEquations(0, false, 0, 1, false));
  check("ssgd:backup=2,scale=true,momentum=0.8,nesterov=true,weight-decay=0.1", SsgdEquations(0.8, true, 0.1, 2, true));
}

BOOST_AUTO_TEST_CASE(dc_ssgd) {
  check("dc-ssgd", DcSsgdEquations(constant(2), 0, 0));
  check("dc-ssgd:lambda=0.5,weight-decay=0.1", DcSsgdEquations(constant(0.5), 0, 0.1));
  check("dc-ssgd:lambda=0", DcSsgdEquations(constant(0), 0, 0));
  check("dc-ssgd:backup=2", DcSsgdEquations(constant(2), 2, 0));
  check("dc-ssgd:adaptive=true", DcSsgdEquations(adaptive(2), 0, 0));
  check("dc-ssgd:adaptive=true,m=0.5,epsilon=0.01,mean-square=worker,backup=1,weight-decay=0.1",
        DcSsgdEquations(adaptive(2, 0.5, 0.01, true), 1, 0.1));
}

BOOST_AUTO_TEST_CASE(asgd) {
  check("asgd", AsgdEquations(0));
  check("asgd:weight-decay=0.1", AsgdEquations(0.1));
}

BOOST_AUTO_TEST_CASE(sa_asgd) {
  check("sa-asgd", SaAsgdEquations(0, 0));
  check("sa-asgd:weight-decay=0.1", SaAsgdEquations(0, 0.1));
  check("sa-asgd:momentum=0.9", SaAsgdEquations(0.9, 0));
  check("sa-asgd:momentum=0.5,weight-decay=0.1", SaAsgdEquations(0.5, 0.1));
}

BOOST_AUTO_TEST_CASE(gap_aware) {
  constexpr double kKeep = 0.999f;  // as the rule has it: 1 - keep is off by 5e-5
  check("gap-aware", GapAwareEquations(0.9, kKeep, 1e-8, 0));
  check("gap-aware:momentum=0", GapAwareEquations(0, kKeep, 1e-8, 0));
  check("gap-aware:keep=0.5", GapAwareEquations(0.9, 0.5, 1e-8, 0));
  check("gap-aware:keep=0", GapAwareEquations(0.9, 0, 1e-8, 0));
  check("gap-aware:epsilon=0.01", GapAwareEquations(0.9, kKeep, 0.01, 0));
  check("gap-aware:momentum=0.5,weight-decay=0.1", GapAwareEquations(0.5, kKeep, 1e-8, 0.1));
}

BOOST_AUTO_TEST_CASE(dc_asgd_c) {
  check("dc-asgd-c", DcAsgdEquations(constant(0.04), 0, false, 0));
  check("dc-asgd-c:lambda=2", DcAsgdEquations(constant(2), 0, false, 0));
  check("dc-asgd-c:lambda=2,weight-decay=0.1", DcAsgdEquations(constant(2), 0, false, 0.1));
  check("dc-asgd-c:lambda=2,momentum=0.9", DcAsgdEquations(constant(2), 0.9, false, 0));
  check("dc-asgd-c:lambda=2,momentum=0.9,velocity=worker", DcAsgdEquations(constant(2), 0.9, true, 0));
  check("dc-asgd-c:lambda=2,momentum=0.5,weight-decay=0.1", DcAsgdEquations(constant(2), 0.5, false, 0.1));
  check("dc-asgd-c:momentum=0.5,velocity=worker,weight-decay=0.1", DcAsgdEquations(constant(0.04), 0.5, true, 0.1));
}

BOOST_AUTO_TEST_CASE(dc_asgd_a) {
  check("dc-asgd-a", DcAsgdEquations(adaptive(2), 0, false, 0));
  check("dc-asgd-a:lambda=0.5", DcAsgdEquations(adaptive(0.5), 0, false, 0));
  check("dc-asgd-a:m=0", DcAsgdEquations(adaptive(2, 0), 0, false, 0));
  check("dc-asgd-a:epsilon=0.01", DcAsgdEquations(adaptive(2, 0.95, 0.01), 0, false, 0));
  check("dc-asgd-a:mean-square=worker", DcAsgdEquations(adaptive(2, 0.95, 1e-7, true), 0, false, 0));
  check("dc-asgd-a:mean-square=worker,m=0.5,weight-decay=0.1",
        DcAsgdEquations(adaptive(2, 0.5, 1e-7, true), 0, false, 0.1));
  check("dc-asgd-a:momentum=0.5", DcAsgdEquations(adaptive(2), 0.5, false, 0));
  check("dc-asgd-a:mean-square=worker,momentum=0.5,velocity=worker,weight-decay=0.1",
        DcAsgdEquations(adaptive(2, 0.95, 1e-7, true), 0.5, true, 0.1));
}

BOOST_AUTO_TEST_CASE(nag_asgd) {
  check("nag-asgd", NagAsgdEquations(0.9, 0));
  check("nag-asgd:momentum=0.5,weight-decay=0.1", NagAsgdEquations(0.5, 0.1));
  check("nag-asgd:momentum=0", NagAsgdEquations(0, 0));
}

BOOST_AUTO_TEST_CASE(lwp) {
  check("lwp:momentum=0.5", LwpEquations(0.5, false, 0));
  check("lwp:momentum=0.5,weight-decay=0.1", LwpEquations(0.5, false, 0.1));
  check("lwp:momentum=0.5,lag=measured", LwpEquations(0.5, true, 0));
  check("lwp:momentum=0", LwpEquations(0, false, 0));
  check("lwp:momentum=0,lag=measured,weight-decay=0.1", LwpEquations(0, true, 0.1));
}

BOOST_AUTO_TEST_CASE(multi_asgd) {
  check("multi-asgd", MultiAsgdEquations(0.9, 0));
  check("multi-asgd:momentum=0.5,weight-decay=0.1", MultiAsgdEquations(0.5, 0.1));
  check("multi-asgd:momentum=0", MultiAsgdEquations(0, 0));
}

BOOST_AUTO_TEST_CASE(dana_zero) {
  check("dana-zero", DanaZeroEquations(0.9, 0));
  check("dana-zero:momentum=0.5,weight-decay=0.1", DanaZeroEquations(0.5, 0.1));
  check("dana-zero:momentum=0", DanaZeroEquations(0, 0));
}

BOOST_AUTO_TEST_CASE(dana_dc) {
  check("dana-dc", DanaDcEquations(constant(2), 0.9, 0));
  check("dana-dc:lambda=0.5,momentum=0.5,weight-decay=0.1", DanaDcEquations(constant(0.5), 0.5, 0.1));
  check("dana-dc:momentum=0", DanaDcEquations(constant(2), 0, 0));
  check("dana-dc:adaptive=true", DanaDcEquations(adaptive(2), 0.9, 0));
  check("dana-dc:adaptive=true,m=0.5,epsilon=0.01,mean-square=worker,momentum=0.5,weight-decay=0.1",
        DanaDcEquations(adaptive(2, 0.5, 0.01, true), 0.5, 0.1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
