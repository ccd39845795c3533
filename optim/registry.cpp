#include "optim/registry.h"

#include "optim/adam.h"
#include "optim/asgd.h"
#include "optim/compress/error_feedback.h"
#include "optim/compress/onebit.h"
#include "optim/compress/qsgd.h"
#include "optim/compress/terngrad.h"
#include "optim/compress/warm_start.h"
#include "optim/dana_dc.h"
#include "optim/dana_slim.h"
#include "optim/dana_zero.h"
#include "optim/dc_asgd.h"
#include "optim/dc_ssgd.h"
#include "optim/eamsgd.h"
#include "optim/easgd.h"
#include "optim/gap_aware.h"
#include "optim/gates.h"
#include "optim/local_sgd.h"
#include "optim/lwp.h"
#include "optim/multi_asgd.h"
#include "optim/nag_asgd.h"
#include "optim/sa_asgd.h"
#include "optim/sgd.h"
#include "optim/ssgd.h"
#include "optim/yellowfin.h"

namespace tg {

namespace {

struct RuleEntry {
  SpecInfo info;
  std::unique_ptr<Rule> (*make)(const Spec&);
};

template <class R>
RuleEntry rule() {
  return {R::info(),
          [](const Spec& spec) -> std::unique_ptr<Rule> { return std::make_unique<R>(R::Options::from(spec)); }};
}

const std::vector<RuleEntry>& rules() {
  static const std::vector<RuleEntry> entries = {
      rule<Sgd>(),       rule<Ssgd>(),     rule<DcSsgd>(),    rule<Asgd>(),     rule<SaAsgd>(),
      rule<GapAware>(),  rule<DcAsgdC>(),  rule<DcAsgdA>(),   rule<NagAsgd>(),  rule<Lwp>(),
      rule<MultiAsgd>(), rule<DanaZero>(), rule<DanaDc>(),    rule<DanaSlim>(), rule<Easgd>(),
      rule<Eamsgd>(),    rule<LocalSgd>(), rule<YellowFin>(), rule<Adam>(),
  };
  return entries;
}

struct GateEntry {
  SpecInfo info;
  std::unique_ptr<Gate> (*make)(const Spec&);
};

constexpr int64_t kMostBackup = 1'000'000;
constexpr int64_t kHighestBound = 1'000'000'000;

const std::vector<GateEntry>& gates() {
  static const std::vector<GateEntry> entries = {
      {{"async", "nobody waits", {}}, [](const Spec&) -> std::unique_ptr<Gate> { return std::make_unique<Async>(); }},
      {{"bsp",
        "rounds: each worker waits for the others",
        {{"backup", "0", "so many workers of a round are not waited for, 0 to 1000000"}}},
       [](const Spec& spec) -> std::unique_ptr<Gate> {
         return std::make_unique<Bsp>(static_cast<int>(spec.integer("backup", 0, kMostBackup)));
       }},
      {{"ssp",
        "stale synchronous: who is too far ahead of the slowest waits",
        {{"bound", "3", "so many gradients ahead at most, 0 to 1000000000"}}},
       [](const Spec& spec) -> std::unique_ptr<Gate> {
         return std::make_unique<Ssp>(spec.integer("bound", 0, kHighestBound));
       }},
  };
  return entries;
}

struct CodecEntry {
  SpecInfo info;
  std::unique_ptr<Codec> (*make)(const Spec&, const Layout&);
};

constexpr int64_t kSmallTensor = 1024, kSmallTensorOfPaper = 10'000;  // elements

std::unique_ptr<Codec> with_feedback(const Spec& spec, const Layout& layout, std::unique_ptr<Codec> codec) {
  return error_feedback(spec) ? make_error_feedback(layout, std::move(codec)) : std::move(codec);
}

CodecEntry qsgd(const char* name, const char* summary, int bits, int64_t bucket, int64_t min_elements = kSmallTensor) {
  return {QsgdOptions::info(name, summary, bits, bucket, min_elements), [](const Spec& spec, const Layout& layout) {
            return with_feedback(spec, layout, make_qsgd_codec(layout, QsgdOptions::from(spec)));
          }};
}

const std::vector<CodecEntry>& codecs() {
  static const std::vector<CodecEntry> entries = {
      {{"none", "float32 as it is", {}}, [](const Spec&, const Layout& layout) { return make_none_codec(layout); }},
      qsgd("qsgd", "rounded at random to levels of a bucket's norm (Alistarh et al. 2017)", 4, 512),
      qsgd("qsgd-2bit", "qsgd with 2.25 bits a value", 2, 128),
      qsgd("qsgd-4bit", "qsgd with 4.0625 bits a value", 4, 512),
      qsgd("qsgd-8bit", "qsgd with 8.0625 bits a value", 8, 512),
      qsgd("qsgd-paper", "qsgd with the limit of the paper's experiments", 4, 512, kSmallTensorOfPaper),
      {terngrad_info(kSmallTensor),
       [](const Spec& spec, const Layout& layout) {
         return with_feedback(spec, layout, make_qsgd_codec(layout, terngrad_options(spec)));
       }},
      {onebit_info(kSmallTensor),
       [](const Spec& spec, const Layout& layout) {
         auto codec = with_feedback(spec, layout, make_onebit_codec(layout, KeepFloat32::from(spec)));
         const int64_t float32 = warm_start(spec);
         return float32 > 0 ? make_warm_start(layout, float32, std::move(codec)) : std::move(codec);
       }},
  };
  return entries;
}

template <class Entry>
std::vector<SpecInfo> infos_of(const std::vector<Entry>& entries) {
  std::vector<SpecInfo> infos;
  for (const Entry& entry : entries) infos.push_back(entry.info);
  return infos;
}

template <class Entry>
const Entry& find(const std::vector<Entry>& entries, const Spec& spec, const char* kind) {
  for (const Entry& entry : entries)
    if (entry.info.name == spec.name()) return entry;
  fail("{}: there is no '{}'; the spec was parsed with another list of names", kind, spec.name());
}

}  // namespace

const std::vector<SpecInfo>& rule_infos() {
  static const std::vector<SpecInfo> infos = infos_of(rules());
  return infos;
}

std::unique_ptr<Rule> make_rule(const Spec& spec) { return find(rules(), spec, "rule").make(spec); }

const std::vector<SpecInfo>& gate_infos() {
  static const std::vector<SpecInfo> infos = infos_of(gates());
  return infos;
}

std::unique_ptr<Gate> make_gate(const Spec& spec) { return find(gates(), spec, "gate").make(spec); }

const std::vector<SpecInfo>& codec_infos() {
  static const std::vector<SpecInfo> infos = infos_of(codecs());
  return infos;
}

std::unique_ptr<Codec> make_codec(const Spec& spec, const Layout& layout) {
  return find(codecs(), spec, "codec").make(spec, layout);
}

}  // namespace tg
