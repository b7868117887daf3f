#include "tests/mount/differential/worker.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace gridmount::differential {

namespace {

constexpr size_t kHistory = 25;

std::string text(const Outcome& outcome) {
  if (outcome.error != 0) return strerrorname_np(outcome.error);
  constexpr size_t kShown = 100;
  std::string text = std::to_string(outcome.value);
  if (outcome.seen.empty()) return text;
  text += " \"";
  for (const char each : outcome.seen.substr(0, kShown)) {
    text += each >= ' ' && each <= '~' ? each : '?';
  }
  return text + (outcome.seen.size() > kShown ? "\"..." : "\"");
}

std::string difference(const Outcome& mount, const Outcome& plain) {
  if (mount == plain) return {};
  std::string differs = text(mount) + "; plain: " + text(plain);
  if (mount.error == 0 && plain.error == 0 && mount.value == plain.value) {
    const auto [ours, theirs] =
        std::mismatch(mount.seen.begin(), mount.seen.end(), plain.seen.begin(), plain.seen.end());
    differs += " (from byte " + std::to_string(ours - mount.seen.begin()) + " on)";
  }
  return differs;
}

Outcome run_on(Side& side, const Step& step) {
  side.enter();
  const ActingAs acting(step.actor);
  return step.run(side);
}

// Errors of a file system that is in serious trouble.
bool is_never_right(int error) {
  return error == EIO || error == ESTALE || error == ENOSYS || error == EFAULT || error == ENOTCONN;
}

}  // namespace

Worker::Worker(std::string name, uint64_t seed, const Choice& choice, const std::string& mount,
               const std::string* plain)
    : name_(std::move(name)),
      chance_(seed, choice.odd_names, choice.other_users),
      kinds_(choice.kinds),
      mount_(mount) {
  ::unshare(CLONE_FS);
  if (plain != nullptr) plain_.emplace(*plain);
  for (const CallKind& kind : kinds_) weights_ += static_cast<uint64_t>(kind.weight);
}

Step Worker::choose() {
  auto at = static_cast<int64_t>(chance_.below(weights_));
  for (const CallKind& kind : kinds_) {
    at -= kind.weight;
    if (at < 0) return kind.choose(chance_, plain_ ? *plain_ : mount_);
  }
  return {};
}

bool Worker::run(uint64_t count, std::vector<Step>* steps) {
  for (uint64_t i = 0; i < count && report_.empty(); ++i) {
    Step step = choose();
    step.looks_before = chance_.one_in(2);
    run_one(step);
    if (steps != nullptr) steps->push_back(std::move(step));
  }
  mount_.release_all();
  if (plain_) plain_->release_all();
  return report_.empty();
}

bool Worker::run(const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size() && report_.empty(); ++i) run_one(steps[i]);
  mount_.release_all();
  if (plain_) plain_->release_all();
  return report_.empty();
}

void Worker::run_one(const Step& step) {
  std::string as;
  if (step.actor.uid != 0) {
    as = " as " + std::to_string(step.actor.uid) + ":" + std::to_string(step.actor.gid);
  }
  if (step.actor.umask != Actor{}.umask) as += ", umask " + octal(step.actor.umask);
  history_.push_back(std::to_string(++number_) + "  " + step.text + as);
  if (history_.size() > kHistory) history_.pop_front();
  if (plain_) {
    run_compared(step);
  } else {
    run_alone(step);
  }
}

void Worker::run_compared(const Step& step) {
  timespec moment{};
  ::clock_gettime(CLOCK_REALTIME, &moment);
  BeforeAndAfter ours;
  BeforeAndAfter theirs;
  if (step.looks_before) {
    mount_.enter();
    ours.before = look_around(step, mount_);
    plain_->enter();
    theirs.before = look_around(step, *plain_);
  }
  const Outcome mount = run_on(mount_, step);
  const Outcome plain = run_on(*plain_, step);
  count(step, mount);
  if (const std::string differs = difference(mount, plain); !differs.empty()) return find(differs);
  mount_.enter();
  ours.after = look_around(step, mount_);
  plain_->enter();
  theirs.after = look_around(step, *plain_);
  const std::string differs =
      difference(ours, theirs, moment, step.looks_before && step.times_are_settled);
  if (!differs.empty()) find(differs);
}

void Worker::run_alone(const Step& step) {
  const Outcome outcome = run_on(mount_, step);
  count(step, outcome);
  if (is_never_right(outcome.error)) find(text(outcome));
}

void Worker::count(const Step& step, const Outcome& outcome) {
  history_.back() += " = " + text(outcome);
  Count& of_call = tally_[step.text.substr(0, step.text.find('('))];
  ++of_call.steps;
  if (outcome.error == 0) ++of_call.succeeded;
}

void Worker::find(const std::string& what) {
  report_ = name_ + ": step " + std::to_string(number_) + " differs: " + what + "\n";
  for (const std::string& line : history_) report_ += "  " + line + "\n";
}

}  // namespace gridmount::differential
