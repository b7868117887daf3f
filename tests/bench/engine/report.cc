#include "tests/bench/engine/report.h"

#include <algorithm>
#include <utility>

#include "engine/bson/builder.h"
#include "tests/bench/text_table.h"

namespace gridmount::bench {
namespace {

struct Sum {
  double work_seconds = 0;
  double cpu_seconds = 0;
  double settle_seconds = 0;
  uint64_t units = 0;
  double rate() const { return static_cast<double>(units) / (work_seconds + settle_seconds); }
  double cpu_microseconds() const { return cpu_seconds * 1e6 / static_cast<double>(units); }
};

Sum sum_of(const Row& row, const std::vector<Taken>& slices) {
  Sum sum;
  sum.units = row.operations * row.units_per_operation;
  for (const Taken& taken : slices) {
    sum.work_seconds += taken.work_seconds;
    sum.cpu_seconds += taken.cpu_seconds;
    sum.settle_seconds += taken.settle_seconds;
  }
  return sum;
}

double ratio(const Measured& measured) {
  return sum_of(measured.row, measured.gridmount).rate() /
         sum_of(measured.row, measured.sqlite).rate();
}

// Returns the difference between the greatest and the least ratio of the slices, relative to the
// row's ratio.
double spread(const Measured& measured) {
  double least = 0;
  double greatest = 0;
  for (size_t i = 0; i < measured.gridmount.size(); ++i) {
    const double of_slice = measured.sqlite[i].seconds() / measured.gridmount[i].seconds();
    least = i == 0 ? of_slice : std::min(least, of_slice);
    greatest = std::max(greatest, of_slice);
  }
  return (greatest - least) / ratio(measured);
}

bson::Document as_document(const Sum& sum) {
  bson::Builder builder;
  builder.append("rate", sum.rate())
      .append("units", static_cast<int64_t>(sum.units))
      .append("work_seconds", sum.work_seconds)
      .append("cpu_seconds", sum.cpu_seconds)
      .append("settle_seconds", sum.settle_seconds);
  return std::move(builder).finish();
}

bson::Document as_document(const Footprint& footprint) {
  bson::Builder builder;
  builder.append("documents", static_cast<int64_t>(footprint.documents))
      .append("disk_bytes", static_cast<int64_t>(footprint.disk_bytes));
  return std::move(builder).finish();
}

}  // namespace

std::string table(const std::vector<Measured>& rows) {
  Lines lines = {{"", "a second", "gridmount", "SQLite", "ratio", "spread", "MiB", "SQLite MiB"}};
  constexpr double kMebibyte = 1024.0 * 1024.0;
  for (const Measured& measured : rows) {
    lines.push_back(
        {measured.row.label, measured.row.unit,
         number(sum_of(measured.row, measured.gridmount).rate()),
         number(sum_of(measured.row, measured.sqlite).rate()), format("%.2fx", ratio(measured)),
         format("%.0f %%", spread(measured) * 100),
         number(static_cast<double>(measured.gridmount_footprint.disk_bytes) / kMebibyte),
         number(static_cast<double>(measured.sqlite_footprint.disk_bytes) / kMebibyte)});
  }
  return aligned(lines, 2);
}

std::string growth_table(const std::vector<Grown>& runs) {
  Lines lines = {{"CPU microseconds for one, at", ""}};
  for (const Grown& run : runs) {
    lines.front().push_back(number(static_cast<double>(run.documents)));
  }
  lines.front().emplace_back("growth");
  for (size_t i = 0; i < runs.front().figures.rows.size(); ++i) {
    for (const bool ours : {true, false}) {
      const Row& row = runs.front().figures.rows[i].row;
      std::vector<std::string> line = {ours ? row.label : "", ours ? "gridmount" : "SQLite"};
      double first = 0;
      double last = 0;
      for (const Grown& run : runs) {
        const Measured& measured = run.figures.rows[i];
        last = sum_of(measured.row, ours ? measured.gridmount : measured.sqlite).cpu_microseconds();
        if (first == 0) first = last;
        line.push_back(format("%.2f", last));
      }
      line.push_back(format("%.2fx", last / first));
      lines.push_back(std::move(line));
    }
  }
  std::vector<std::string> line = {"load from a random place of the file", "memory"};
  for (const Grown& run : runs) line.push_back(format("%.3f", run.figures.load_seconds * 1e6));
  line.push_back(
      format("%.2fx", runs.back().figures.load_seconds / runs.front().figures.load_seconds));
  lines.push_back(std::move(line));
  return aligned(lines, 2);
}

bson::Document as_document(const Grown& run) {
  bson::Builder builder;
  builder.append("documents", static_cast<int64_t>(run.documents));
  builder.open_array("rows");
  for (const Measured& measured : run.figures.rows) {
    bson::Builder row;
    row.append("key", measured.row.key)
        .append("label", measured.row.label)
        .append("unit", measured.row.unit)
        .append("gridmount", as_document(sum_of(measured.row, measured.gridmount)))
        .append("sqlite", as_document(sum_of(measured.row, measured.sqlite)))
        .append("ratio", ratio(measured))
        .append("spread", spread(measured))
        .append("gridmount_after", as_document(measured.gridmount_footprint))
        .append("sqlite_after", as_document(measured.sqlite_footprint));
    builder.push(std::move(row).finish());
  }
  builder.close();
  builder.append("load_seconds", run.figures.load_seconds);
  return std::move(builder).finish();
}

}  // namespace gridmount::bench
