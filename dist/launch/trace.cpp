// `tardygrad trace`: a picture and a page of who worked on what when.

#include <algorithm>

#include "dist/launch/commands.h"
#include "dist/launch/pictures.h"
#include "dist/launch/recorded_run.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "dist/replay/replay.h"
#include "framework/core/error.h"
#include "framework/io/file.h"

namespace tg {
namespace {

// Stops the replay after the last update of the range.
class Until final : public Listener {
 public:
  Until(int64_t last, Progress& progress, const Interrupt& interrupt) : Listener(progress, interrupt), last_(last) {}
  void on_update(const UpdateRecord& update) override {
    Listener::on_update(update);
    reached_ = update.update;
  }
  bool stop() override { return reached_ >= last_ || Listener::stop(); }

 private:
  const int64_t last_;
  int64_t reached_ = -1;
};

int64_t updates_in(const std::vector<Event>& events) {
  return std::count_if(events.begin(), events.end(),
                       [](const Event& event) { return event.kind == Event::Kind::arrive && event.taken; });
}

}  // namespace

int trace(const TraceOptions& options) {
  const Interrupt interrupt;  // before the first thread
  const RecordedRun run = read_run(options.run, options.data_dir);
  const std::vector<Event>& events = run.logs.front().events;
  const int64_t updates = updates_in(events), last = std::min(options.last, updates - 1);
  require(options.first < updates, "--updates {}..{}: the run has {} updates, counted from 0", options.first,
          options.last, updates);
  LoadedData data;
  const ClassificationTask task = make_task(run.plan, data.get(run.plan.options));
  const Job job = make_job(run.plan, task);
  check_logs(run, task.layout());

  Replayed replayed;
  {
    Progress progress("replaying: ", job.gradients_of(last + 1), task.batches_per_epoch());
    Until listener(last, progress, interrupt);
    replayed = replay(job, run.logs, {.evaluate = false, .pool_threads = run.plan.options.pool_threads}, listener);
  }
  require(replayed.difference.empty(), "trace: this is not what the run did: {}", replayed.difference);
  if (interrupt.signal() != 0) return interrupt.exit_code();
  const char* unit = run.plan.options.engine == "simulate" ? "time units" : "s";
  const Trace made =
      make_trace(describe(run.plan), unit, events, replayed.history.updates, options.first, last - options.first + 1);
  const std::filesystem::path page = run.folder / "trace.html";
  write_file(page, trace_page(made));
  say(fmt::format("updates {} to {}, step by step: {}\n", options.first, last, page.string()));
  const std::string trouble = draw_trace_of_run(run.folder, made);
  say(trouble.empty() ? fmt::format("as a picture: {}\n", (run.folder / "trace.svg").string()) : trouble + "\n");
  return 0;
}

}  // namespace tg
