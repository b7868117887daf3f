// The same random system calls on a mount and on a plain directory must give the same results.
//
//   differential run MOUNT PLAIN SEED STEPS THREADS [GROUP,...]
//       Each thread works in its own directory, t0, t1, ...; a single thread works in the root.
//       Continues from what is there. Then compares the whole trees.
//   differential reduce MOUNT PLAIN SEED STEPS [GROUP,...]
//       Runs, and after a difference looks for the smallest set of calls that still causes one,
//       each time in a new directory.
//   differential race MOUNT SEED STEPS THREADS [GROUP,...]
//       All threads work in one directory of the mount, so the results of calls cannot be
//       predicted. No call may fail in a way that is never right, and the resulting tree must be
//       sound.
//   differential compare MOUNT PLAIN
//   differential describe MOUNT
//       Prints the tree as text. The text is the same as long as the tree is.
//
// STEPS is the number of calls on each side, of all threads together. Exit status 1 means a
// difference, which is printed with the calls that led to it. The same seed, steps, threads and
// groups make the same calls.
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/mount/differential/tree.h"
#include "tests/mount/differential/worker.h"

namespace gridmount::differential {

namespace {

constexpr std::string_view kUsage =
    "usage: differential run MOUNT PLAIN SEED STEPS THREADS [GROUP,...]\n"
    "       differential reduce MOUNT PLAIN SEED STEPS [GROUP,...]\n"
    "       differential race MOUNT SEED STEPS THREADS [GROUP,...]\n"
    "       differential compare MOUNT PLAIN\n"
    "       differential describe MOUNT\n"
    "groups: all, or of these: odd (names and paths at the limits), user (calls of other users)";

std::vector<CallKind> all_kinds() {
  std::vector<CallKind> kinds;
  add_name_calls(kinds);
  add_file_calls(kinds);
  add_space_calls(kinds);
  add_map_calls(kinds);
  add_attribute_calls(kinds);
  add_xattr_calls(kinds);
  add_listing_calls(kinds);
  add_lock_calls(kinds);
  return kinds;
}

// Returns nothing if a group is unknown.
std::optional<Choice> choice_of(const std::string& groups) {
  const std::vector<CallKind> known = all_kinds();
  if (groups == "all") return Choice{.kinds = known};
  Choice choice{.odd_names = false, .other_users = false};
  for (size_t at = 0; at <= groups.size();) {
    const size_t end = std::min(groups.find(',', at), groups.size());
    const std::string group = groups.substr(at, end - at);
    at = end + 1;
    bool found = group == "odd" || group == "user";
    choice.odd_names |= group == "odd";
    choice.other_users |= group == "user";
    for (const CallKind& kind : known) {
      if (kind.group != group) continue;
      choice.kinds.push_back(kind);
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return choice.kinds.empty() ? std::nullopt : std::optional(choice);
}

int usage() {
  std::cerr << kUsage;
  std::string_view last;
  for (const CallKind& kind : all_kinds()) {
    if (kind.group != last) std::cerr << ", " << kind.group;
    last = kind.group;
  }
  std::cerr << "\n";
  return 2;
}

struct Work {
  std::string mount;
  std::optional<std::string> plain;
  uint64_t seed = 0;
  uint64_t steps = 0;
  unsigned threads = 1;
  Choice choice;
};

// Prints how many of the calls had an effect, in all threads together.
void tell(const std::vector<Tally>& tallies) {
  Tally sum;
  for (const Tally& tally : tallies) {
    for (const auto& [name, count] : tally) {
      sum[name].steps += count.steps;
      sum[name].succeeded += count.succeeded;
    }
  }
  std::cout << "succeeded:";
  for (const auto& [name, count] : sum) {
    std::cout << " " << name << " " << count.succeeded << "/" << count.steps;
  }
  std::cout << "\n";
}

int run(const Work& work) {
  const bool apart = work.plain && work.threads > 1;
  std::vector<std::string> reports(work.threads);
  std::vector<Tally> tallies(work.threads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < work.threads; ++i) {
    threads.emplace_back([&, i] {
      const std::string folder = apart ? "/t" + std::to_string(i) : "";
      const std::string mount = work.mount + folder;
      const std::string plain = work.plain.value_or("") + folder;
      ::mkdir(mount.c_str(), 0777);
      if (work.plain) ::mkdir(plain.c_str(), 0777);
      Worker worker("seed " + std::to_string(work.seed) + ", thread " + std::to_string(i),
                    work.seed * 1'000'003 + i, work.choice, mount, work.plain ? &plain : nullptr);
      worker.run(work.steps / work.threads);
      reports[i] = worker.report();
      tallies[i] = worker.tally();
    });
  }
  for (std::thread& thread : threads) thread.join();
  tell(tallies);
  bool found = false;
  for (const std::string& report : reports) {
    std::cout << report;
    found |= !report.empty();
  }
  return found ? 1 : 0;
}

int tell(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cout << line << "\n";
  return lines.empty() ? 0 : 1;
}

// Runs these steps in a new folder. Returns the report, or an empty string if nothing differs.
std::string rerun(const Work& work, const std::vector<Step>& steps, size_t number) {
  const std::string folder = "/try" + std::to_string(number);
  const std::string mount = work.mount + folder;
  const std::string plain = *work.plain + folder;
  ::mkdir(mount.c_str(), 0755);
  ::mkdir(plain.c_str(), 0755);
  Worker worker("reduced", 0, work.choice, mount, &plain);
  worker.run(steps);
  return worker.report();
}

int reduce(const Work& work) {
  std::vector<Step> steps;
  size_t tries = 0;
  {
    const std::string mount = work.mount + "/all";
    const std::string plain = *work.plain + "/all";
    ::mkdir(mount.c_str(), 0755);
    ::mkdir(plain.c_str(), 0755);
    Worker worker("all", work.seed * 1'000'003, work.choice, mount, &plain);
    if (worker.run(work.steps, &steps)) return 0;
    std::cout << worker.report();
  }
  std::string report = rerun(work, steps, tries++);
  // Leaves out ever shorter sequences, as long as a difference remains.
  for (size_t stretch = steps.size() / 2; stretch > 0 && !report.empty();) {
    bool shorter = false;
    for (size_t at = 0; at < steps.size();) {
      std::vector<Step> fewer(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(at));
      const size_t rest = std::min(at + stretch, steps.size());
      fewer.insert(fewer.end(), steps.begin() + static_cast<std::ptrdiff_t>(rest), steps.end());
      const std::string found = rerun(work, fewer, tries++);
      if (found.empty()) {
        at += stretch;
      } else {
        report = found;
        steps = std::move(fewer);
        shorter = true;
      }
    }
    if (!shorter || stretch > 1) stretch /= 2;
  }
  std::cout << (report.empty() ? "not reproduced in another folder\n" : report);
  return 1;
}

int compare(const std::string& mount, const std::string& plain) {
  return tell(differences(read_tree(mount), read_tree(plain)));
}

int main(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "compare") return compare(words[1], words[2]);
  if (words.size() == 2 && words[0] == "describe") {
    const Tree tree = read_tree(words[1]);
    std::cout << description(tree);
    return tree.faults.empty() ? 0 : 1;
  }
  if (words.empty()) return usage();
  const bool alone = words[0] == "race";
  const bool reduces = words[0] == "reduce";
  if (!alone && !reduces && words[0] != "run") return usage();
  const size_t seed = alone ? 2 : 3;
  const size_t fixed = seed + (reduces ? 2 : 3);
  if (words.size() < fixed || words.size() > fixed + 1) return usage();
  const auto choice = choice_of(words.size() > fixed ? words.back() : "all");
  if (!choice) return usage();
  Work work{.mount = words[1],
            .plain = alone ? std::nullopt : std::optional(words[2]),
            .seed = std::strtoull(words[seed].c_str(), nullptr, 10),
            .steps = std::strtoull(words[seed + 1].c_str(), nullptr, 10),
            .threads = reduces ? 1 : static_cast<unsigned>(std::atoi(words[seed + 2].c_str())),
            .choice = *choice};
  if (work.threads == 0) return usage();
  // If another thread shortens a mapped file, access to the mapping raises a signal.
  if (alone) std::erase_if(work.choice.kinds, [](auto& kind) { return kind.group == "map"; });
  if (reduces) return reduce(work);
  if (const int found = run(work); found != 0) return found;
  return alone ? tell(read_tree(work.mount).faults) : compare(work.mount, *work.plain);
}

}  // namespace

}  // namespace gridmount::differential

int main(int argc, char** argv) {
  // A write to a pipe without a reader is a result like any other, and so is a file that is too
  // large.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return gridmount::differential::main(std::vector<std::string>(argv + 1, argv + argc));
}
