// What the server's side of a rule costs, beside loops with the same loads and stores and no arithmetic; what it costs
// to hand messages over between threads, beside memcpy; and what recording an event costs.

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "dist/history/event_log.h"
#include "dist/launch/commands.h"
#include "dist/launch/table.h"
#include "dist/launch/timing.h"
#include "dist/threads/threads.h"
#include "framework/core/reduce.h"
#include "optim/registry.h"
#include "optim/vector.h"

namespace tg {
namespace {

// Stands for a formula in the rulers: the result depends on every load, so the compiler cannot leave one out, and the
// arithmetic costs next to nothing.
float mix(float a, float b) { return std::bit_cast<float>(std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)); }
double mix(double a, float b) { return std::bit_cast<double>(std::bit_cast<uint64_t>(a) ^ std::bit_cast<uint32_t>(b)); }

// The vectors that rules read and write.
struct Vectors {
  explicit Vectors(int64_t n)
      : w(n, kCpu), v(n, kCpu), out(n, kCpu), g(n, kCpu), sent(n, kCpu), square(n, kCpu), sum(n, kCpu) {}
  Vector<float> w, v, out, g, sent, square;
  Vector<double> sum;
};

using Pass = std::function<void(Vectors&)>;

void copy_theta(Vectors& x) { for_each(Copy{}, x.out.span(), x.w.view()); }
void read_one(Vectors& x) {
  for_each([](float& w, float g) { w = mix(w, g); }, x.w.span(), x.g.view());
}
void write_two(Vectors& x) {
  for_each(
      [](float& w, float& v, float g) {
        v = mix(v, g);
        w = mix(w, v);
      },
      x.w.span(), x.v.span(), x.g.view());
}

// A round of one message: it is added to the sum; then mean, step and copy.
void add_to_sum(Vectors& x) {
  for_each([](double& sum, float g) { sum = mix(sum, g); }, x.sum.span(), x.g.view());
}
void close_round(Vectors& x) {
  for_each(
      [](float& mean, double& sum) {
        mean = static_cast<float>(sum);
        sum = 0;
      },
      x.v.span(), x.sum.span());
  for_each([](float& w, float mean) { w = mix(w, mean); }, x.w.span(), x.v.view());
  copy_theta(x);
}

void write_one_of_three(Vectors& x) {
  for_each([](float& w, float sent, float g) { w = mix(mix(w, sent), g); }, x.w.span(), x.sent.view(), x.g.view());
}
void look_ahead(Vectors& x) {
  for_each([](float& out, float w, float v) { out = mix(w, v); }, x.out.span(), x.w.view(), x.v.view());
}
void look_ahead_by_sum(Vectors& x) {
  for_each([](float& out, float w, double sum) { out = mix(w, static_cast<float>(sum)); }, x.out.span(), x.w.view(),
           x.sum.view());
}

struct Rulers {
  Pass apply, reply;
};

// The loads and stores of each rule with its default options: one pass to receive, one to send.
const std::map<std::string, Rulers>& rulers() {
  static const std::map<std::string, Rulers> list = {
      {"sgd", {read_one, copy_theta}},
      {"asgd", {read_one, copy_theta}},
      {"multi-asgd", {write_two, copy_theta}},
      {"sa-asgd", {read_one, copy_theta}},
      {"nag-asgd", {write_two, look_ahead}},
      {"lwp", {write_two, look_ahead}},
      {"dc-asgd-c", {write_one_of_three, copy_theta}},
      {"dc-asgd-a",
       {[](Vectors& x) {
          for_each(
              [](float& w, float& v, float sent, float g) {
                v = mix(v, g);
                w = mix(mix(w, sent), v);
              },
              x.w.span(), x.v.span(), x.sent.view(), x.g.view());
        },
        copy_theta}},
      {"dana-zero",
       {[](Vectors& x) {
          for_each(
              [](float& w, float& v, double& sum, float g) {
                v = mix(v, g);
                sum = mix(sum, v);
                w = mix(w, v);
              },
              x.w.span(), x.v.span(), x.sum.span(), x.g.view());
        },
        look_ahead_by_sum}},
      {"dana-dc",
       {[](Vectors& x) {
          for_each(
              [](float& w, float& v, double& sum, float sent, float g) {
                v = mix(v, g);
                sum = mix(sum, v);
                w = mix(mix(w, sent), v);
              },
              x.w.span(), x.v.span(), x.sum.span(), x.sent.view(), x.g.view());
        },
        look_ahead_by_sum}},
      {"gap-aware",
       {[](Vectors& x) {
          for_each(
              [](float& w, float& v, float& square, float sent, float g) {
                v = mix(v, g);
                square = mix(square, v);
                w = mix(mix(w, sent), v);
              },
              x.w.span(), x.v.span(), x.square.span(), x.sent.view(), x.g.view());
        },
        copy_theta}},
      // A round of one message: it is added to the sum of steps; then step and copy.
      {"dc-ssgd",
       {[](Vectors& x) {
          for_each([](float& v, float w, float sent, float g) { v = mix(mix(v, w), mix(sent, g)); }, x.v.span(),
                   x.w.view(), x.sent.view(), x.g.view());
        },
        [](Vectors& x) {
          for_each(
              [](float& w, float& v) {
                w = mix(w, v);
                v = 0;
              },
              x.w.span(), x.v.span());
          copy_theta(x);
        }}},
      {"dana-slim", {read_one, copy_theta}},
      {"easgd", {write_two, copy_theta}},
      {"eamsgd", {write_two, copy_theta}},
      {"ssgd", {add_to_sum, close_round}},
      {"local-sgd", {add_to_sum, close_round}},
      {"adam",
       {[](Vectors& x) {
          for_each(
              [](float& w, float& m, float& v, float g) {
                m = mix(m, g);
                v = mix(v, g);
                w = mix(m, v);
              },
              x.w.span(), x.v.span(), x.out.span(), x.g.view());
        },
        copy_theta}},
      // Norm, running mean, its norm, step.
      {"yellowfin",
       {[](Vectors& x) {
          reduce_sum([](float g) { return static_cast<double>(g); }, x.g.view());
          for_each([](float& mean, float g) { mean = mix(mean, g); }, x.out.span(), x.g.view());
          reduce_sum([](float mean) { return static_cast<double>(mean); }, x.out.view());
          write_two(x);
        },
        copy_theta}},
  };
  return list;
}

struct Row {
  std::string rule;
  double apply_ms, apply_ruler_ms, reply_ms, reply_ruler_ms;
};

// Medians over rounds in which each pass runs once, so that all of them see the same state of the machine.
Row measure(const std::string& name, const BenchServerOptions& options) {
  const auto rule = make_rule(Spec::parse(name, rule_infos(), "rule"));
  const auto found = rulers().find(name);
  require(found != rulers().end(),
          "bench server: {} is measured with its default options, and needs a line in rulers()", name);
  Layout layout;
  layout.add("vector", {options.parameters});
  Vectors x(layout.size());
  const auto update = rule->update(layout, x.w.view());
  update->join(0);
  for_each([](float& g) { g = 1e-3f; }, x.g.span());
  const StepInfo info{.learning_rate = 0.01f, .peak_learning_rate = 0.01f, .sent = x.sent.view()};
  const std::function<void()> timed[] = {
      [&] { update->apply(0, x.g.view(), info); },
      [&] { found->second.apply(x); },
      [&] { update->reply(0, x.out.span(), info); },
      [&] { found->second.reply(x); },
  };
  std::vector<double> ms[4];
  constexpr int kFewest = 5;
  for (const double end = wall_seconds() + options.seconds; std::ssize(ms[0]) < kFewest || wall_seconds() < end;)
    for (size_t i = 0; i < 4; ++i) {
      const double start = wall_seconds();
      timed[i]();
      ms[i].push_back(1e3 * (wall_seconds() - start));
    }
  return {name, quantile(ms[0], 0.5), quantile(ms[1], 0.5), quantile(ms[2], 0.5), quantile(ms[3], 0.5)};
}

// Its gradients cost nothing: what remains of a run's time is handing over messages and parameters.
class NoWork final : public Task {
 public:
  // As many vectors as there will be shards.
  NoWork(int64_t parameters, int shards) {
    for (int i = 0; i < shards; ++i) layout_.add(fmt::format("vector{}", i), {parameters / shards});
  }
  const Layout& layout() const override { return layout_; }
  void initial(uint64_t, Span) const override {}
  int64_t batches_per_epoch() const override { return 1; }
  int64_t batch_size() const override { return 1; }
  double gradient(View, uint64_t, int64_t, const Stream&, Span) const override { return 1; }
  Evaluation evaluate(View, uint64_t) const override { return {}; }

 private:
  Layout layout_;
};

struct Exchange {
  double gigabytes_per_second, memcpy_gigabytes_per_second;
};

// Messages pushed and parameters pulled through the threads engine, by a worker and a shard for each thread, beside
// memcpy by as many threads.
Exchange measure_exchange(const BenchServerOptions& options) {
  const NoWork task(options.parameters, options.threads);
  const auto rule = make_rule(Spec::parse("asgd", rule_infos(), "rule"));
  const auto codec = [](const Layout& layout) {
    return make_codec(Spec::parse("none", codec_infos(), "codec"), layout);
  };
  const auto seconds_for = [&](int64_t updates) {
    const Job job{.task = &task,
                  .rule = rule.get(),
                  .codec_up = codec,
                  .codec_down = codec,
                  .workers = options.threads,
                  .gradients = updates};
    Observer nobody;
    return run_threads(job, {.shards = options.threads}, nobody).seconds;
  };
  // The difference of two lengths: without the start and the end of a run.
  constexpr int64_t kShort = 20, kUpdates = 100;
  const double exchange_seconds = seconds_for(kShort + kUpdates) - seconds_for(kShort);
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(options.parameters) * kUpdates;  // up and down

  std::vector<std::thread> threads;
  std::vector<double> seconds(static_cast<size_t>(options.threads));
  for (int t = 0; t < options.threads; ++t)
    threads.emplace_back([&, t] {
      omp_set_num_threads(1);
      Vector<float> a(options.parameters, kCpu), b(options.parameters, kCpu);
      const double start = wall_seconds();
      for (int64_t i = 0; i < kUpdates; ++i)
        std::memcpy(b.span().data, a.view().data, sizeof(float) * static_cast<size_t>(options.parameters));
      seconds[static_cast<size_t>(t)] = wall_seconds() - start;
    });
  for (std::thread& thread : threads) thread.join();
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  return {1e-9 * bytes / exchange_seconds, 1e-9 * bytes / 2 * options.threads / slowest};
}

// The file is in the system's folder for temporary files.
double nanoseconds_an_event() {
  constexpr int64_t kEvents = 200'000;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("tardygrad-bench-{}.bin", ::getpid());
  double seconds = 0;
  {
    EventLogWriter log(path, {});
    const double start = wall_seconds();
    for (int64_t i = 0; i < kEvents; ++i) log.append({.kind = Event::Kind::arrive, .batch = i});
    seconds = wall_seconds() - start;
  }
  std::filesystem::remove(path);
  return 1e9 * seconds / kEvents;
}

}  // namespace

int bench_server(const BenchServerOptions& options) {
  omp_set_num_threads(options.threads);
  std::vector<Row> rows;
  if (!options.rule.empty()) {
    rows.push_back(measure(options.rule, options));
  } else {
    for (const SpecInfo& info : rule_infos()) rows.push_back(measure(info.name, options));
  }
  const Exchange exchange = measure_exchange(options);
  const double event = nanoseconds_an_event();

  if (options.json) {
    nlohmann::ordered_json json{{"parameters", options.parameters}, {"threads", options.threads}};
    for (const Row& row : rows)
      json["rules"].push_back({{"rule", row.rule},
                               {"apply_ms", row.apply_ms},
                               {"apply_ruler_ms", row.apply_ruler_ms},
                               {"apply_share_of_ruler", row.apply_ruler_ms / row.apply_ms},
                               {"reply_ms", row.reply_ms},
                               {"reply_ruler_ms", row.reply_ruler_ms},
                               {"reply_share_of_ruler", row.reply_ruler_ms / row.reply_ms}});
    json["exchange_gb_per_s"] = exchange.gigabytes_per_second;
    json["memcpy_gb_per_s"] = exchange.memcpy_gigabytes_per_second;
    json["nanoseconds_an_event"] = event;
    say(json.dump() + "\n");
    return 0;
  }
  std::string text = fmt::format("{} parameters, {} threads; ruler: the same loads and stores without arithmetic\n\n",
                                 options.parameters, options.threads);
  text += fmt::format("{:12} {:>9} {:>9} {:>6}  {:>9} {:>9} {:>6}\n", "rule", "apply ms", "ruler", "speed", "reply ms",
                      "ruler", "speed");
  for (const Row& row : rows)
    text += fmt::format("{:12} {:9.2f} {:9.2f} {:6.2f}  {:9.2f} {:9.2f} {:6.2f}\n", row.rule, row.apply_ms,
                        row.apply_ruler_ms, row.apply_ruler_ms / row.apply_ms, row.reply_ms, row.reply_ruler_ms,
                        row.reply_ruler_ms / row.reply_ms);
  text +=
      fmt::format("\npush and pull between threads {:.1f} GB/s, memcpy {:.1f}: {:.2f}\nan event recorded {:.0f} ns\n",
                  exchange.gigabytes_per_second, exchange.memcpy_gigabytes_per_second,
                  exchange.gigabytes_per_second / exchange.memcpy_gigabytes_per_second, event);
  say(text);
  return 0;
}

}  // namespace tg
