#include "tests/bench/engine/run.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "tests/bench/engine/cpu_time.h"
#include "tests/bench/engine/memory_load.h"

namespace gridmount::bench {
namespace {

constexpr uint64_t kSampled = 500;
constexpr uint64_t kCheckedAtOnce = 100;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Keeps the documents that are read. JSON is kept as the equivalent BSON.
class Keep : public Reader {
 public:
  void take(bson::View document) override { documents_.emplace_back(document); }
  void take(std::string_view json) override {
    Result<bson::Document> document = bson::document_from_json(json);
    if (!document) throw std::runtime_error("not JSON: " + std::string(json));
    documents_.push_back(std::move(*document));
  }

  bool same_as(const Keep& other) const {
    bool same = documents_.size() == other.documents_.size();
    for (size_t i = 0; same && i < documents_.size(); ++i) {
      same = bson::compare(documents_[i].view(), other.documents_[i].view()) == 0;
    }
    return same;
  }
  std::string text() const {
    std::string text;
    for (const bson::Document& document : documents_) {
      text += "\n  " + bson::to_json(document, bson::JsonForm::kRelaxed);
    }
    return text;
  }

 private:
  std::vector<bson::Document> documents_;
};

class Run {
 public:
  Run(const RunOptions& options, const std::filesystem::path& temp)
      : options_(options),
        documents_(options.sizes.total()),
        systems_{make_gridmount(temp / "gridmount", documents_, options.systems),
                 make_sqlite(temp / "sqlite", documents_, options.systems)} {}

  std::vector<Measured> all() {
    std::vector<Measured> result;
    uint64_t inserted = 0;
    for (Row& row : make_rows(documents_, options_.sizes)) {
      std::fprintf(stderr, "%u documents: %s\n", documents_.count(), row.label.c_str());
      if (row.prepare) inserted += row.operations;
      result.push_back(measure(std::move(row)));
      compare(result.back().row.label, inserted);
    }
    return result;
  }

 private:
  Measured measure(Row row) {
    std::array<std::vector<Taken>, 2> taken;
    if (row.warm_up.count > 0) {
      for (const auto& system : systems_) (void)row.run(*system, row.warm_up);
    }
    for (uint64_t i = 0; i < row.slices; ++i) {
      const uint64_t first = row.operations * i / row.slices;
      const Slice slice{first, row.operations * (i + 1) / row.slices - first};
      std::array<uint64_t, 2> results{};
      // The systems take turns at being first.
      for (const size_t which : {i % 2, 1 - i % 2}) {
        System& system = *systems_[which];
        if (row.prepare) row.prepare(system, slice);
        Taken time;
        const double cpu_before = process_cpu_seconds();
        auto start = Clock::now();
        results[which] = row.run(system, slice);
        time.work_seconds = seconds_since(start);
        time.cpu_seconds = process_cpu_seconds() - cpu_before;
        if (row.writes) {
          start = Clock::now();
          system.settle();
          time.settle_seconds = seconds_since(start);
        }
        taken[which].push_back(time);
      }
      if (results[0] != results[1]) {
        differ(row.label, "gridmount found " + std::to_string(results[0]) + ", SQLite " +
                              std::to_string(results[1]));
      }
    }
    const Footprint gridmount = systems_[0]->footprint();
    const Footprint sqlite = systems_[1]->footprint();
    if (gridmount.documents != sqlite.documents) {
      differ(row.label, "gridmount has " + std::to_string(gridmount.documents) +
                            " documents, SQLite " + std::to_string(sqlite.documents));
    }
    return {std::move(row), std::move(taken[0]), std::move(taken[1]), gridmount, sqlite};
  }

  void compare(const std::string& label, uint64_t inserted) {
    const uint64_t step = options_.compare_all ? 1 : std::max<uint64_t>(1, inserted / kSampled);
    for (uint64_t i = 0; i < inserted; i += step) {
      const auto n = static_cast<Number>(i);
      compare(label, [&](System& system, Reader& reader) { system.read_by_id(n, reader); });
      compare(label, [&](System& system, Reader& reader) { system.read_by_email(n, reader); });
    }
    for (uint64_t i = 0; i < documents_.count(); i += kCheckedAtOnce * step) {
      compare(label, [&](System& system, Reader& reader) {
        system.scan_numbers({i, kCheckedAtOnce}, reader);
      });
    }
  }

  template <typename Read>
  void compare(const std::string& label, const Read& read) {
    std::array<Keep, 2> kept;
    for (size_t which = 0; which < 2; ++which) read(*systems_[which], kept[which]);
    if (!kept[0].same_as(kept[1])) {
      differ(label, "gridmount has" + kept[0].text() + "\nand SQLite" + kept[1].text());
    }
  }

  [[noreturn]] static void differ(const std::string& label, const std::string& how) {
    throw std::runtime_error("the systems differ after '" + label + "': " + how);
  }

  const RunOptions& options_;
  const Documents documents_;
  const std::array<std::unique_ptr<System>, 2> systems_;
};

}  // namespace

Figures run(const RunOptions& options, const std::filesystem::path& temp) {
  Figures result;
  result.rows = Run(options, temp).all();
  result.load_seconds = seconds_for_a_random_load(temp / "gridmount" / "data.mdb");
  std::filesystem::remove_all(temp / "gridmount");
  std::filesystem::remove_all(temp / "sqlite");
  return result;
}

}  // namespace gridmount::bench
