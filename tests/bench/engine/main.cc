// engine_bench: compares the embedded document store with SQLite in one run. See ../README.md.

#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/system/memory.h"
#include "tests/bench/engine/collections.h"
#include "tests/bench/engine/report.h"
#include "tests/bench/engine/run.h"

namespace gridmount::bench {
namespace {

// At the largest sizes, the first operations meet pages that are not in the page tables yet.
constexpr uint64_t kGrowthWarmUp = 100'000;
constexpr uint64_t kDocumentsMax = 16'000'000;  // the most that the ids can count

struct Arguments {
  RunOptions run;
  bool growth = false;
  std::vector<uint64_t> collections;
  uint64_t smallest = 10'000;
  std::filesystem::path temp;
  std::string json;
};

// A temporary folder that is removed with all its contents.
class TempFolder {
 public:
  explicit TempFolder(const std::filesystem::path& parent) {
    std::string pattern = (parent / "gridmount-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("no folder can be made in " + parent.string());
    }
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string describe(const Arguments& arguments) {
  utsname system{};
  ::uname(&system);
  const Sizes& sizes = arguments.run.sizes;
  return sqlite_version() + "; Linux " + system.release + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " CPUs\n" +
         std::to_string(sizes.operations) + " operations a row in " + std::to_string(sizes.slices) +
         " slices, " + std::to_string(sizes.warm_up) +
         " reads before those of reads; checkpoints: ours each " +
         std::to_string(arguments.run.systems.checkpoint_ms) + " ms, SQLite's each " +
         std::to_string(arguments.run.systems.checkpoint_pages) + " pages\n";
}

void write_json(const Arguments& arguments, const std::vector<Grown>& runs) {
  if (arguments.json.empty()) return;
  const Sizes& sizes = arguments.run.sizes;
  bson::Builder builder;
  builder.append("sqlite", sqlite_version())
      .append("operations", static_cast<int64_t>(sizes.operations))
      .append("durable_operations", static_cast<int64_t>(sizes.durable))
      .append("slices", static_cast<int64_t>(sizes.slices));
  builder.open_array("runs");
  for (const Grown& run : runs) builder.push(as_document(run));
  builder.close();
  std::ofstream out(arguments.json);
  out << bson::to_json(std::move(builder).finish(), bson::JsonForm::kRelaxed) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + arguments.json);
}

void execute(const Arguments& arguments) {
  const TempFolder temp(arguments.temp);
  if (!arguments.collections.empty()) {
    std::cout << table(
        measure_collections(temp.path(), arguments.collections, arguments.run.sizes.operations));
    return;
  }
  std::vector<Grown> runs;
  RunOptions options = arguments.run;
  const uint64_t largest = options.sizes.documents;
  for (uint64_t documents = arguments.growth ? arguments.smallest : largest; documents <= largest;
       documents *= 10) {
    options.sizes.documents = documents;
    runs.push_back({documents, run(options, temp.path())});
  }
  std::cout << describe(arguments) << "\n"
            << (arguments.growth ? growth_table(runs) : table(runs.front().figures.rows));
  write_json(arguments, runs);
}

int main(int argc, char** argv) {
  Arguments arguments;
  Sizes& sizes = arguments.run.sizes;
  sizes = {.documents = 1'000'000, .operations = 0, .durable = 1000, .slices = 5};
  SystemOptions& systems = arguments.run.systems;
  const char* const tmpdir = std::getenv("TMPDIR");
  arguments.temp = tmpdir == nullptr ? "/tmp" : tmpdir;

  CLI::App app("Measures the embedded document store beside SQLite, in one run.", "engine_bench");
  app.option_defaults()->always_capture_default();
  app.add_option("--documents", sizes.documents, "in the store when operations are measured")
      ->check(CLI::Range(uint64_t{100}, kDocumentsMax));
  app.add_option("--operations", sizes.operations,
                 "a row; default: a tenth of the documents, with --growth of the fewest")
      ->capture_default_str();
  app.add_option("--durable-operations", sizes.durable, "single durable inserts");
  app.add_option("--slices", sizes.slices, "a row's operations are measured in, by turns")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--growth", arguments.growth,
               "cost of an operation at --smallest documents, ten times as many, ..., --documents");
  app.add_option("--collections", arguments.collections,
                 "instead: what opening and operations cost with so many collections, each with "
                 "three indexes (10,10000)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--warm-up", sizes.warm_up,
                 "reads before each row of reads is measured; default: none, with --growth 100,000")
      ->capture_default_str();
  app.add_option("--smallest", arguments.smallest)->check(CLI::Range(uint64_t{100}, kDocumentsMax));
  app.add_option("--checkpoint-ms", systems.checkpoint_ms, "between our checkpoints");
  app.add_option("--checkpoint-pages", systems.checkpoint_pages, "of log between SQLite's");
  app.add_option("--sqlite-cache-mib", systems.sqlite_cache_mib, "SQLite's page cache");
  app.add_option("--temp", arguments.temp, "folder on the disk to measure")
      ->check(CLI::ExistingDirectory);
  app.add_option("--json", arguments.json, "write all figures to this file");
  app.add_flag("--compare-all", arguments.run.compare_all,
               "compare every document of both after every row, instead of a sample");
  CLI11_PARSE(app, argc, argv);

  const uint64_t fewest = arguments.growth ? arguments.smallest : sizes.documents;
  if (sizes.operations == 0) sizes.operations = std::max<uint64_t>(sizes.slices, fewest / 10);
  if (arguments.growth && app.count("--warm-up") == 0) sizes.warm_up = kGrowthWarmUp;
  if (sizes.operations > fewest || fewest > sizes.documents) {
    std::cerr << "engine_bench: there are more operations than documents\n";
    return 2;
  }
  system::tune_allocator();
  try {
    execute(arguments);
  } catch (const std::exception& error) {
    std::cerr << "engine_bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gridmount::bench

int main(int argc, char** argv) {
  return gridmount::bench::main(argc, argv);
}
