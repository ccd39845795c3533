#include "dist/launch/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dist/launch/table.h"

namespace tg {
namespace {

constexpr auto kBetweenDrawings = std::chrono::milliseconds(100);
constexpr int kBarWidth = 24;
constexpr const char* kClearToEnd = "\x1b[K";

// A terminal that knows how to go back to the line's start.
bool on_terminal() {
  const char* type = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && type != nullptr && std::strcmp(type, "dumb") != 0;
}

std::size_t terminal_width() {
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::string label, int64_t gradients, int64_t batches_per_epoch, int64_t done)
    : label_(std::move(label)),
      gradients_(gradients),
      batches_per_epoch_(batches_per_epoch),
      terminal_(on_terminal()),
      done_before_(done),
      done_(done) {}

Progress::~Progress() {
  if (!terminal_ || done_ == done_before_) return;
  draw_bar();
  say("\n");
}

void Progress::on_update(const UpdateRecord& update) {
  done_ += update.gradients;
  if (terminal_ && Clock::now() - drawn_ >= kBetweenDrawings) draw_bar();
}

void Progress::on_evaluation(const EvaluationRecord& evaluation) {
  last_result_ = fmt::format("test error {:.2f} %, test loss {:.4f}, train loss {:.4f}", evaluation.test_error_percent,
                             evaluation.test_loss, evaluation.train_loss);
  if (terminal_) return draw_bar();
  say(fmt::format("{}epoch {:.2f}: {}; {}\n", label_, evaluation.epoch, last_result_, time_left()));
}

void Progress::on_note(const std::string& note) {
  say(fmt::format("{}{}note: {}\n", terminal_ ? std::string("\r") + kClearToEnd : "", label_, note));
  if (terminal_) draw_bar();
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

std::string Progress::time_left() const {
  const double so_far = seconds();
  if (done_ >= gradients_ || done_ == done_before_) return duration_text(so_far);
  const double left = so_far * static_cast<double>(gradients_ - done_) / static_cast<double>(done_ - done_before_);
  return fmt::format("{}, about {} left", duration_text(so_far), duration_text(left));
}

void Progress::draw_bar() {
  drawn_ = Clock::now();
  const double share = static_cast<double>(done_) / static_cast<double>(gradients_);
  std::string line =
      fmt::format("{}{} {:3.0f} %  epoch {:.2f}  {}", label_, progress_bar(share, kBarWidth), std::floor(100 * share),
                  static_cast<double>(done_) / static_cast<double>(batches_per_epoch_), time_left());
  if (!last_result_.empty()) line += "  " + last_result_;
  const std::size_t width = terminal_width();
  if (line.size() >= width) line.resize(width - 1);  // a line that wraps cannot be drawn over
  say("\r" + line + kClearToEnd);
}

std::string progress_bar(double share, int width) {
  const int filled = std::clamp(static_cast<int>(share * width), 0, width);
  return '[' + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(width - filled), '.') + ']';
}

}  // namespace tg
