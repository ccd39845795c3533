// `tardygrad compare --paired`: several rules on the very same arrivals, and how much they differ there.

#include <algorithm>
#include <cmath>
#include <set>

#include "dist/launch/commands.h"
#include "dist/launch/comparison.h"
#include "dist/launch/counterfactual.h"
#include "dist/launch/interval.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"

namespace tg {
namespace {

// One rule on one recording.
struct Replica {
  SummaryRow row;
  std::vector<double> losses;  // of the batches whose mean is row.train_loss
};

// The rules, of which the first is the recorded one; replicas[rule][recording].
struct Paired {
  std::vector<std::string> rules;
  std::vector<std::vector<Replica>> replicas;
};

// What is measured of a rule.
struct Measure {
  const char* name;
  double SummaryRow::*field;
  int digits;
  bool by_batch;  // a mean over Replica::losses, so that one recording gives an interval, too
};
constexpr Measure kMeasures[] = {{"test_error_percent", &SummaryRow::test_error_percent, 2, false},
                                 {"train_loss", &SummaryRow::train_loss, 4, true}};

// "asgd,dc-asgd-a:lambda=1,m=0" are two rules: option=value belongs to the rule before it.
std::vector<std::string> split_rules(const std::vector<std::string>& words) {
  std::vector<std::string> rules;
  for (const std::string& word : words) {
    for (std::size_t begin = 0; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      const std::string part = word.substr(begin, end - begin);
      const bool is_option = part.find('=') < part.find(':');
      if (is_option && begin > 0) {
        rules.back() += "," + part;
      } else {
        rules.push_back(part);
      }
      begin = end + 1;
    }
  }
  return rules;
}

std::vector<RecordedRun> read_runs(const PairedOptions& options) {
  std::vector<RecordedRun> runs;
  std::set<std::filesystem::path> seen;
  for (const std::string& folder : options.runs) {
    RecordedRun run = read_run(folder, options.data_dir);
    require(seen.insert(std::filesystem::weakly_canonical(folder)).second, "--paired {}: this run is given twice",
            folder);
    for (const EventLog& log : run.logs)
      require(!log.events.empty() && log.events.back().kind == Event::Kind::finish,
              "--paired {}: this run did not come to its end, or still lives; its rules have no result to compare",
              folder);
    if (!runs.empty()) {
      const auto first = options_of_job(runs.front().plan), here = options_of_job(run.plan);
      for (std::size_t i = 0; i < here.size(); ++i)
        require(here[i] == first[i] || here[i].first == "seed",
                "--paired {}: its {} is '{}', that of {} is '{}'; recordings that are compared together differ in "
                "their seeds alone",
                folder, here[i].first, here[i].second, options.runs.front(), first[i].second);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// The plans of a recording: its own, then each rule's. A rule that is there already is left out.
std::vector<Plan> plans_for(const RecordedRun& run, const std::vector<std::string>& rules) {
  std::vector<Plan> plans{run.plan};
  std::set<std::string> seen{run.plan.rule_spec.str()};
  for (const std::string& rule : rules) {
    Plan plan = with(run.plan, {.rule = rule});
    if (seen.insert(plan.rule_spec.str()).second) plans.push_back(std::move(plan));
  }
  return plans;
}

// The losses since the evaluation before the last.
std::vector<double> last_losses(const History& history) {
  const std::vector<EvaluationRecord>& evaluations = history.evaluations;
  const std::size_t n = evaluations.size();
  std::vector<double> losses;
  for (const UpdateRecord& update : history.updates)
    if (n < 2 || update.update >= evaluations[n - 2].gradients) losses.push_back(update.loss);
  return losses;
}

// Rule r less the recorded rule, on the same recordings: its mean over these and how well that is known. NaN where the
// rule diverged on one of them: a mean over the others would flatter it.
Interval difference(const Paired& paired, std::size_t r, const Measure& measure) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < paired.replicas[r].size(); ++i)
    differences.push_back(paired.replicas[r][i].row.*measure.field - paired.replicas[0][i].row.*measure.field);
  if (differences.size() > 1 || !measure.by_batch || !std::isfinite(differences[0])) return interval_of(differences);
  const std::vector<double>&of_rule = paired.replicas[r][0].losses, &recorded = paired.replicas[0][0].losses;
  std::vector<double> by_batch(recorded.size());
  for (std::size_t b = 0; b < by_batch.size(); ++b) by_batch[b] = of_rule[b] - recorded[b];
  return interval_of_series(by_batch);
}

std::vector<const SummaryRow*> rows_of(const std::vector<Replica>& replicas) {
  std::vector<const SummaryRow*> rows;
  for (const Replica& replica : replicas) rows.push_back(&replica.row);
  return rows;
}

std::vector<double> values_of(const std::vector<Replica>& replicas, double SummaryRow::*field) {
  std::vector<double> values;
  for (const Replica& replica : replicas) values.push_back(replica.row.*field);
  return values;
}

std::string paired_table(const Paired& paired) {
  std::vector<std::vector<std::string>> lines;
  for (std::size_t r = 0; r < paired.rules.size(); ++r) {
    std::vector<std::string> line{paired.rules[r] + (r == 0 ? ", recorded" : "")};
    for (const Measure& measure : kMeasures) {
      line.push_back(mean_and_deviation(values_of(paired.replicas[r], measure.field), measure.digits));
      const Interval d = r == 0 ? Interval{} : difference(paired, r, measure);
      line.push_back(r == 0 ? "" : std::isfinite(d.mean) ? fmt::format("{:+.{}f}", d.mean, measure.digits) : "-");
      line.push_back(r == 0                  ? ""
                     : std::isfinite(d.half) ? fmt::format("[{:+.{}f}, {:+.{}f}]", d.mean - d.half, measure.digits,
                                                           d.mean + d.half, measure.digits)
                                             : "-");
    }
    line.push_back(mean_and_deviation(values_of(paired.replicas[r], &SummaryRow::mean_gap), 6));
    line.push_back(status_of(rows_of(paired.replicas[r])));
    lines.push_back(line);
  }
  return table({"rule", "test error %", "difference", "95 %", "train loss", "difference", "95 %", "mean gap", "status"},
               lines, 1);
}

// Says below the table what its differences and intervals mean.
std::string explanation(const Paired& paired) {
  const std::string differences =
      fmt::format("difference: to {} on the same arrivals, batches, rates and initial parameters. ", paired.rules[0]);
  const std::size_t recordings = paired.replicas[0].size();
  if (recordings > 1)
    return differences + fmt::format("95 %: of its mean, Student's t over {} recordings.\n", recordings);
  const std::size_t batches = paired.replicas[0][0].losses.size();
  if (batches < kBlocks * kLeastBlock)
    return differences +
           fmt::format(
               "95 %: one recording, and {} batches since the evaluation before the last, are too few. Give "
               "several recordings, with other seeds, or one with {} batches there (--evaluate-every).\n",
               batches, kBlocks * kLeastBlock);
  return differences +
         fmt::format(
             "95 %: of the mean loss on the last {} batches, Student's t over {} blocks of them, in this one "
             "recording; it says nothing of other seeds and arrivals, and there is none for the test error. Give "
             "several recordings, with other seeds, for both.\n",
             batches, kBlocks);
}

// paired.csv: a line for each rule and measure.
std::string paired_csv(const Paired& paired) {
  std::string text = "rule,measure,recordings,mean,difference,low,high\n";
  const std::size_t recordings = paired.replicas[0].size();
  for (std::size_t r = 0; r < paired.rules.size(); ++r)
    for (const Measure& measure : kMeasures) {
      double mean = 0;
      for (const double value : values_of(paired.replicas[r], measure.field))
        mean += value / static_cast<double>(recordings);
      const Interval d = r == 0 ? Interval{0, 0} : difference(paired, r, measure);
      text += csv_line({paired.rules[r], measure.name, std::to_string(recordings), csv_number(mean), csv_number(d.mean),
                        csv_number(d.mean - d.half), csv_number(d.mean + d.half)});
    }
  return text;
}

}  // namespace

int compare_paired(const PairedOptions& options, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  const std::vector<std::string> rules = split_rules(options.rules);
  const std::vector<RecordedRun> runs = read_runs(options);
  if (!options.out.empty()) RunFolder::check(options.out);
  // All that can be wrong is found before the first replay.
  LoadedData data;
  const ClassificationTask task = make_task(runs.front().plan, data.get(runs.front().plan.options));  // of all
  std::vector<Plan> plans;  // by recording, then by rule
  std::vector<Job> jobs;
  for (const RecordedRun& run : runs) {
    check_logs(run, task.layout());
    check_threads("--pool-threads", options.pool_threads, run.plan.options.threads_per_worker);
    for (Plan& plan : plans_for(run, rules)) {
      jobs.push_back(replay_job(run, plan, task));
      plans.push_back(std::move(plan));
    }
  }
  const std::size_t per_run = plans.size() / runs.size();
  require(per_run > 1, "compare: --rules names no rule but the recorded one, {}", runs.front().plan.options.rule);
  if (interrupt.signal() != 0) return interrupt.exit_code();

  const RunFolder folder(options.out.empty() ? fresh_run_path("runs", "paired") : options.out);
  say(fmt::format("{} rules on the arrivals of {} run{} of {}, results in {}\n", per_run, runs.size(),
                  runs.size() == 1 ? "" : "s", describe(runs.front().plan), folder.path().string()));
  std::set<uint64_t> seeds;
  for (const RecordedRun& run : runs) seeds.insert(run.plan.options.seed);
  if (seeds.size() < runs.size())
    say("note: runs of one seed have the same initial parameters and batches: what tells them apart is arrivals "
        "alone\n");
  Paired paired{{}, std::vector<std::vector<Replica>>(per_run)};
  for (std::size_t r = 0; r < per_run; ++r) paired.rules.push_back(plans[r].rule_spec.str());
  std::vector<RunResult> results;
  std::vector<SummaryRow> rows;
  for (std::size_t i = 0; i < plans.size() && interrupt.signal() == 0; ++i) {
    const RecordedRun& run = runs[i / per_run];
    const std::string label = fmt::format("[{}/{}] ", i + 1, plans.size());
    say(fmt::format("{}{} on {}\n", label, describe(plans[i]), run.folder.string()));
    Replayed replayed;
    const auto engine = [&](Observer& observer) {
      replayed = replay_recorded(run, plans[i], jobs[i], options.pool_threads, observer);
      return replayed.history;
    };
    results.push_back(record_run(plans[i], jobs[i], RunFolder(folder.file(folder_of_run(i + 1, plans[i]))),
                                 {.command_line = command_line, .config = origin_of(run), .engine = "replay"}, engine,
                                 label, interrupt));
    require(replayed.difference.empty(), "{} cannot be repeated, so nothing is paired with it: {}", run.folder.string(),
            replayed.difference);
    rows.push_back(results.back().row);
    write_summary(folder.file("summary.csv"), rows);
    if (!results.back().message.empty()) say(fmt::format("{}diverged {}\n", label, results.back().message));
    paired.replicas[i % per_run].push_back({rows.back(), last_losses(replayed.history)});
  }
  if (interrupt.signal() != 0) {
    say(fmt::format("stopped, with nothing to compare yet: {}\n", folder.path().string()));
    return interrupt.exit_code();
  }
  const std::string trouble = draw_all_runs(folder, plans, results);
  if (!trouble.empty()) say(trouble + "\n");
  write_file(folder.file("paired.csv"), paired_csv(paired));
  say("\n" + paired_table(paired) + explanation(paired));
  say(fmt::format("results: {}\n", folder.path().string()));
  return 0;
}

}  // namespace tg
