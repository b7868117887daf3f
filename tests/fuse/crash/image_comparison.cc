#include "tests/fuse/crash/image_comparison.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace gridmount::fuse::testing {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr size_t kCallsShown = 60;  // before the first state

// The time in which a commit of a user may be the user's newest one: from the beginning of the call
// that made it to the end of the call that made the next one.
struct Moment {
  uint64_t from = 0;
  uint64_t to = kNever;
};

// The comparison of one user's part of an image.
class Comparison {
 public:
  Comparison(const Program& program, size_t user, CrashClock& clock, uint64_t stamp, bool killed,
             size_t chunk_bytes, FoundTree found)
      : program_(program),
        user_(user),
        clock_(clock),
        stamp_(stamp),
        killed_(killed),
        chunk_bytes_(chunk_bytes),
        found_(std::move(found)) {}

  // Returns when the states that match the image may have existed. If no state matches, returns no
  // moments, and problem() returns the reason.
  std::vector<Moment> moments();
  const std::string& problem() const { return problem_; }

 private:
  bool has_begun(size_t call) const {
    const uint64_t begun = clock_.call(user_, call).begun;
    return begun != 0 && begun <= stamp_;
  }
  bool has_returned(size_t call) const {
    const uint64_t returned = clock_.call(user_, call).returned;
    return returned != 0 && returned <= stamp_;
  }
  std::optional<int64_t> time_of(size_t call) const {
    const int64_t modified_ns = clock_.call(user_, call).modified_ns;
    return modified_ns == 0 ? std::nullopt : std::optional(modified_ns);
  }
  // Finds the least and the greatest number of calls whose effects the image may have.
  void find_bounds();
  std::string explain(const std::map<size_t, std::string>& problems) const;

  const Program& program_;
  const size_t user_;
  CrashClock& clock_;
  const uint64_t stamp_;
  const bool killed_;
  const size_t chunk_bytes_;
  const FoundTree found_;
  size_t oldest_ = 0;
  size_t newest_ = 0;
  std::string problem_;
};

void Comparison::find_bounds() {
  for (size_t session = 0; session < program_.session_ends.size(); ++session) {
    const uint64_t closed = clock_.closed(session);
    if (closed != 0 && closed <= stamp_) oldest_ = program_.session_ends[session];
  }
  Model model;
  while (newest_ < program_.calls.size() && has_begun(newest_)) {
    const Call& call = program_.calls[newest_];
    const bool is_there = model.is_durable(call) || (killed_ && model.commits(call));
    if (is_there && has_returned(newest_)) oldest_ = std::max(oldest_, newest_ + 1);
    model.apply(call, {});
    ++newest_;
  }
}

std::vector<Moment> Comparison::moments() {
  find_bounds();
  std::vector<Moment> moments;
  std::map<size_t, std::string> problems;  // by the number of calls
  Model model;
  Moment moment;
  for (size_t count = 0;; ++count) {
    const bool is_last = count == newest_;
    const bool ends_here = is_last || model.commits(program_.calls[count]);
    if (count >= oldest_ && ends_here) {
      Model state = model;
      if (!is_last) state.apply_partly(program_.calls[count]);
      std::string problem = state.problem_with(found_, chunk_bytes_);
      moment.to =
          !is_last && has_returned(count) ? clock_.call(user_, count).returned.load() : kNever;
      if (problem.empty()) moments.push_back(moment);
      problems[count] = std::move(problem);
    }
    if (is_last) break;
    if (ends_here) moment.from = clock_.call(user_, count).begun;
    model.apply(program_.calls[count], time_of(count));
  }
  if (moments.empty()) problem_ = explain(problems);
  return moments;
}

// Returns the calls, and for each state its difference from the image.
std::string Comparison::explain(const std::map<size_t, std::string>& problems) const {
  std::string text = "user " + std::to_string(user_) + " finds the state after none of its calls " +
                     std::to_string(oldest_) + " to " + std::to_string(newest_) + ":";
  // The first line has everything, because a log may keep only one line.
  for (const auto& [count, problem] : problems)
    text += " [" + std::to_string(count) + ": " + problem + "]";
  text += killed_ ? ", after a kill" : ", after a power loss";
  for (size_t i = oldest_ - std::min(oldest_, kCallsShown); i <= newest_; ++i) {
    if (problems.contains(i)) text += "\n      [" + problems.at(i) + "]";
    if (i < newest_) text += "\n    " + std::to_string(i) + " " + text_of(program_.calls[i]);
  }
  return text;
}

FoundTree part_of(const FoundTree& found, const std::string& folder) {
  FoundTree part;
  for (const auto& [path, name] : found) {
    if (path == folder) {
      part[""] = name;
    } else if (path.starts_with(folder + "/")) {
      part[path.substr(folder.size() + 1)] = name;
    }
  }
  return part;
}

bool has(const std::vector<Moment>& moments, uint64_t time) {
  return std::any_of(moments.begin(), moments.end(), [&](const Moment& moment) {
    return moment.from <= time && time <= moment.to;
  });
}

}  // namespace

std::string problem_with_image(const std::vector<Program>& programs, CrashClock& clock,
                               uint64_t stamp, bool killed, size_t chunk_bytes,
                               const FoundTree& found) {
  std::vector<std::vector<Moment>> users;
  size_t names = 0;
  for (size_t user = 0; user < programs.size(); ++user) {
    FoundTree part = part_of(found, folder_of_user(user));
    names += part.size();
    Comparison comparison(programs[user], user, clock, stamp, killed, chunk_bytes, std::move(part));
    users.push_back(comparison.moments());
    if (users.back().empty()) return comparison.problem();
  }
  if (names != found.size()) return "there is more than the users' folders";
  for (const std::vector<Moment>& candidates : users) {
    for (const Moment& candidate : candidates) {
      const auto is_common = [&](const std::vector<Moment>& moments) {
        return has(moments, candidate.from);
      };
      if (std::all_of(users.begin(), users.end(), is_common)) return "";
    }
  }
  return "the users' states are not those of one moment";
}

}  // namespace gridmount::fuse::testing
