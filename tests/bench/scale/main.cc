// scale_bench: how many mounts a sharded cluster carries, by a simulation of measured costs. See
// ../README.md.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/scale/costs.h"
#include "tests/bench/scale/simulation.h"
#include "tests/bench/text_table.h"

namespace gridmount::bench {
namespace {

using Weights = std::map<std::string, double>;

// How often each operation is chosen in a hundred choices. Operations that commit only every few
// times are repeated until they commit.
const std::map<std::string, Weights>& mixes() {
  static const std::map<std::string, Weights> kMixes{
      {"names", {{"lookup", 60}, {"lookup-nothing", 15}, {"attributes", 20}, {"list", 5}}},
      {"small",
       {{"lookup", 30},
        {"lookup-nothing", 10},
        {"attributes", 15},
        {"list", 2},
        {"read-small", 20},
        {"create", 12},
        {"rename", 3},
        {"unlink", 7},
        {"mkdir", 1}}},
      {"streams", {{"lookup", 2}, {"attributes", 3}, {"read-mib", 70}, {"write-mib", 25}}},
  };
  return kMixes;
}

const std::map<std::string, Layout>& layouts() {
  static const std::map<std::string, Layout> kLayouts{{"primary", Layout::kPrimary},
                                                      {"databases", Layout::kDatabases},
                                                      {"by-id", Layout::kById},
                                                      {"by-name", Layout::kByName}};
  return kLayouts;
}

struct Arguments {
  std::string costs = COSTS;
  std::vector<std::string> layouts{"primary", "databases", "by-id", "by-name"};
  std::vector<std::string> mixes{"names", "small", "streams"};
  std::vector<int> shards{1, 2, 4, 8, 16};
  Cluster cluster;
  Load load;
  // A cluster carries the greatest number of mounts with which the mean time of an operation is at
  // most this multiple of the mean time with one mount.
  double slower_max = 2;
  int mounts_max = 8192;
  double memory_gib = 64;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("How many mounts a sharded cluster carries: a simulation.", "scale_bench");
  const auto names_of = [](const auto& table) {
    std::vector<std::string> names;
    for (const auto& [name, value] : table) names.push_back(name);
    return names;
  };
  app.add_option("--costs", arguments.costs, "the output of tests/bench/scale/measure");
  app.add_option("--layouts", arguments.layouts, "where documents are")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(layouts())));
  app.add_option("--mixes", arguments.mixes, "of operations")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(mixes())));
  app.add_option("--shards", arguments.shards)->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--cores", arguments.cluster.cores, "of a shard's primary")
      ->check(CLI::Range(1, 1024));
  app.add_option("--link-mib-s", arguments.cluster.link_mib_s, "of a shard's primary")
      ->check(CLI::PositiveNumber);
  app.add_option("--round-trip-ms", arguments.cluster.round_trip_ms, "mount, mongos, shard")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--majority-ms", arguments.cluster.majority_ms, "until a majority has a write")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--programs", arguments.load.programs, "of each mount")
      ->check(CLI::Range(1, 1024));
  app.add_option("--think-ms", arguments.load.think_ms, "of a program, between operations")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--directories", arguments.load.directories, "that a mount's changes spread over")
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--shared-directory", arguments.load.shared_directory, "all mounts change one");
  app.add_option("--operations", arguments.load.operations, "of one simulation, at least")
      ->check(CLI::Range(100, 100'000'000));
  app.add_option("--slower-max", arguments.slower_max, "than with one mount")
      ->check(CLI::Range(1.01, 1000.0));
  app.add_option("--mounts-max", arguments.mounts_max)->check(CLI::Range(1, 1'000'000));
  app.add_option("--memory-gib", arguments.memory_gib, "of a shard's cache")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", arguments.load.seed);
  app.option_defaults()->always_capture_default();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return arguments;
}

struct Carried {
  int mounts = 0;
  Outcome alone;    // with one mount
  Outcome outcome;  // with `mounts` mounts
};

// Returns the greatest number of mounts with which an operation does not take too long on average
// (Arguments::slower_max). The number is exact to an eighth.
Carried carried(const Costs& costs, const Cluster& cluster, Load load, const Arguments& arguments) {
  Carried best;
  const auto fits = [&](int mounts) {
    load.mounts = mounts;
    Outcome outcome = simulate(costs, cluster, load);
    if (mounts == 1) best.alone = outcome;
    if (outcome.mean_ms > best.alone.mean_ms * arguments.slower_max) return false;
    best.mounts = mounts;
    best.outcome = std::move(outcome);
    return true;
  };
  int fitting = 1;
  fits(1);
  while (fitting * 2 <= arguments.mounts_max && fits(fitting * 2)) fitting *= 2;
  for (int step = fitting / 2; step >= 1 && step >= fitting / 8; step /= 2) {
    if (best.mounts + step <= arguments.mounts_max) fits(best.mounts + step);
  }
  return best;
}

std::pair<std::string, double> busiest(const Outcome& outcome) {
  return *std::max_element(outcome.busy.begin(), outcome.busy.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

void print_mix(const std::string& mix, const Costs& costs, const Arguments& arguments) {
  Lines lines{{"mix", "layout", "busiest", "busy", "shards", "mounts", "operations/s", "ms alone",
               "ms", "99 %"}};
  for (const std::string& layout : arguments.layouts) {
    for (const int shards : arguments.shards) {
      Cluster cluster = arguments.cluster;
      cluster.layout = layouts().at(layout);
      cluster.shards = shards;
      Load load = arguments.load;
      load.weights = mixes().at(mix);
      const Carried found = carried(costs, cluster, load, arguments);
      const auto [name, busy] = busiest(found.outcome);
      lines.push_back({mix, layout, name, format("%.0f %%", 100 * busy), std::to_string(shards),
                       std::to_string(found.mounts), number(found.outcome.operations_s),
                       format("%.1f", found.alone.mean_ms), format("%.1f", found.outcome.mean_ms),
                       format("%.1f", found.outcome.late_ms)});
    }
  }
  std::cout << aligned(lines, 3) << '\n' << std::flush;
}

// Prints how many files have their names in memory. A shard finds such a name without its disk,
// because the document and its index entries are in the cache.
void print_files(const Costs& costs, const Arguments& arguments) {
  const auto files = costs.bytes.find("files");
  const auto indexes = costs.bytes.find("files-indexes");
  if (files == costs.bytes.end() || indexes == costs.bytes.end()) return;
  const double one = files->second + indexes->second;
  const double memory = arguments.memory_gib * 1024 * 1024 * 1024;
  Lines lines{
      {"files whose names are in memory, millions", "one shard has them", "all shards have"}};
  for (const int shards : arguments.shards) {
    lines.push_back({std::to_string(shards) + " shards", number(memory / one / 1e6),
                     number(shards * memory / one / 1e6)});
  }
  std::cout << aligned(lines, 1);
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const Costs costs = read_costs(arguments.costs);
  for (const std::string& mix : arguments.mixes) print_mix(mix, costs, arguments);
  print_files(costs, arguments);
  return 0;
}

}  // namespace
}  // namespace gridmount::bench

int main(int argc, char** argv) {
  try {
    return gridmount::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "scale_bench: " << error.what() << '\n';
    return 1;
  }
}
