#include "tests/bench/engine/rows.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gridmount::bench {
namespace {

constexpr uint64_t kBatch = 1000;
constexpr uint64_t kScanned = 100;           // documents per range scan
constexpr uint64_t kOperationsPerScan = 20;  // scans are fewer than other operations by this factor
constexpr std::array kIndexed = {"amount", "category", "count"};  // one index per slice

// Touches every document once, as a caller would.
class Touch : public Reader {
 public:
  void take(bson::View document) override { byte_ = document.data()[document.size() / 2]; }
  void take(std::string_view json) override { byte_ = static_cast<uint8_t>(json[json.size() / 2]); }

 private:
  volatile uint8_t byte_ = 0;
};

using Operation = std::function<uint64_t(System&, uint64_t i)>;

std::function<uint64_t(System&, Slice)> each(Operation operation) {
  return [operation = std::move(operation)](System& system, Slice slice) {
    uint64_t result = 0;
    for (uint64_t i = 0; i < slice.count; ++i) result += operation(system, slice.first + i);
    return result;
  };
}

}  // namespace

std::vector<Row> make_rows(const Documents& documents, const Sizes& sizes) {
  std::vector<Row> rows;
  uint64_t next_number = 0;
  const auto add_insert = [&](const char* key, const char* label, uint64_t count,
                              uint64_t per_transaction, bool durable) {
    const uint64_t first = next_number;
    next_number += count;
    Row row{key, label, "documents", count, sizes.slices};
    row.writes = true;
    row.prepare = [first](System& system, Slice slice) {
      system.prepare_insert({first + slice.first, slice.count});
    };
    row.run = [per_transaction, durable](System& system, Slice slice) {
      system.insert(per_transaction, durable);
      return slice.count;
    };
    rows.push_back(std::move(row));
  };
  const auto add = [&](const char* key, const char* label, const char* unit, uint64_t operations,
                       bool writes, Operation operation) {
    Row row{key, label, unit, operations, sizes.slices};
    row.writes = writes;
    row.run = each(std::move(operation));
    rows.push_back(std::move(row));
  };

  const auto warm_up = [&](uint64_t operations) {
    rows.back().warm_up = {rows.back().operations, operations};
  };

  add_insert("load", "insert, batches of 1000, from empty", sizes.documents, kBatch, false);
  add_insert("insert_batch", "insert, batches of 1000", sizes.operations, kBatch, false);
  add_insert("insert_single", "insert, single", sizes.operations, 1, false);
  add_insert("insert_durable", "insert, single, durable", sizes.durable, 1, true);

  add("read_id", "read by _id", "reads", sizes.operations, false,
      [&documents](System& system, uint64_t i) {
        Touch touch;
        return uint64_t{system.read_by_id(documents.pick(i), touch)};
      });
  warm_up(sizes.warm_up);
  add("read_secondary", "read by secondary index", "reads", sizes.operations, false,
      [&documents](System& system, uint64_t i) {
        Touch touch;
        return uint64_t{system.read_by_email(documents.pick(i), touch)};
      });
  warm_up(sizes.warm_up);
  add("scan", "range of 100 by secondary index", "scans",
      std::max<uint64_t>(sizes.slices, sizes.operations / kOperationsPerScan), false,
      [&documents](System& system, uint64_t i) {
        Touch touch;
        return system.scan_numbers({documents.pick(i), kScanned}, touch);
      });
  warm_up(sizes.warm_up / kOperationsPerScan);
  add("match_all", "match without index, all documents", "documents", sizes.slices, false,
      [](System& system, uint64_t i) {
        return system.count_amount_below(100 * (1 + static_cast<double>(i % 8)));
      });
  rows.back().units_per_operation = sizes.total();

  add("aggregate", "match and group, all documents", "documents", sizes.slices, false,
      [](System& system, uint64_t i) {
        return system.group_by_category(500 + static_cast<double>(i % 8));
      });
  rows.back().units_per_operation = sizes.total();

  add("update_same", "update in place, single", "updates", sizes.operations, true,
      [&documents](System& system, uint64_t i) {
        return uint64_t{system.increment_count(documents.pick(i))};
      });
  add("update_grow", "update that grows, single", "updates", sizes.operations, true,
      [&documents](System& system, uint64_t i) {
        return uint64_t{system.set_text(documents.pick(i), Documents::long_text())};
      });
  add("delete", "delete, single", "deletes", sizes.operations, true,
      [&documents](System& system, uint64_t i) {
        return uint64_t{system.remove(documents.pick(i))};
      });
  add("index_build", "index build", "documents", kIndexed.size(), true,
      [](System& system, uint64_t i) {
        system.create_index(kIndexed.at(i));
        return uint64_t{1};
      });
  rows.back().slices = kIndexed.size();
  rows.back().units_per_operation = sizes.total() - sizes.operations;

  std::erase_if(rows, [](const Row& row) { return row.operations == 0; });
  for (Row& row : rows) row.slices = std::min(row.slices, row.operations);
  return rows;
}

}  // namespace gridmount::bench
