#include "tests/bench/engine/collections.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>

#include "engine/bson/builder.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "tests/bench/engine/result_value.h"

namespace gridmount::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kPerTransaction = 50;
constexpr int kSlices = 5;

double microseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

std::string name_of(uint64_t i) {
  return "collection" + std::to_string(i);
}

bson::Document document(int64_t a, int64_t b) {
  bson::Builder builder;
  builder.append("a", a).append("b", b).append("c", "text").append("n", int64_t{0});
  return std::move(builder).finish();
}

std::unique_ptr<engine::Store> open(const std::filesystem::path& folder, bool create) {
  local::OpenOptions options;
  options.create = create;
  return value_of(local::open(folder, options));
}

void create_collections(engine::Store& store, uint64_t count) {
  const auto database = store.database("bench");
  for (uint64_t first = 0; first < count; first += kPerTransaction) {
    const auto transaction = value_of(store.begin());
    for (uint64_t i = first; i < std::min(count, first + kPerTransaction); ++i) {
      const auto collection = database->collection(name_of(i));
      for (const char* const field : {"a", "b", "c"}) {
        bson::Builder specification;
        specification.open_document("key").append(field, int32_t{1}).close();
        check(collection->create_index(*transaction, value_of(engine::IndexDefinition::parse(
                                                         std::move(specification).finish()))));
      }
      value_of(collection->insert(*transaction, document(1, static_cast<int64_t>(i))));
    }
    check(transaction->commit());
  }
}

class Operations {
 public:
  Operations(engine::Store& store, uint64_t collections)
      : store_(store), database_(store.database("bench")), collections_(collections) {}

  void read(uint64_t i) {
    const auto snapshot = value_of(store_.snapshot());
    bson::Builder filter;
    filter.append("b", static_cast<int64_t>(place(i)));
    if (!value_of(at(i)->find_one(*snapshot, std::move(filter).finish()))) {
      throw std::runtime_error("gridmount: a document is missing");
    }
  }
  void insert(uint64_t i) {
    const auto transaction = value_of(store_.begin());
    value_of(at(i)->insert(*transaction, document(2, -1)));
    check(transaction->commit());
  }
  void update(uint64_t i) {
    const auto transaction = value_of(store_.begin());
    bson::Builder filter;
    filter.append("b", static_cast<int64_t>(place(i)));
    bson::Builder update;
    update.open_document("$inc").append("n", int64_t{1}).close();
    value_of(at(i)->update(*transaction, std::move(filter).finish(), std::move(update).finish()));
    check(transaction->commit());
  }

 private:
  // Visits each collection in turn, each far from the one before.
  uint64_t place(uint64_t i) const { return i * 7919 % collections_; }
  std::unique_ptr<engine::Collection> at(uint64_t i) const {
    return database_->collection(name_of(place(i)));
  }

  engine::Store& store_;
  const std::shared_ptr<engine::Database> database_;
  const uint64_t collections_;
};

double median_of_slices(uint64_t operations, const std::function<void(uint64_t)>& operation) {
  std::array<double, kSlices> slices{};
  uint64_t i = 0;
  for (double& slice : slices) {
    const auto begin = Clock::now();
    for (uint64_t n = 0; n < operations / kSlices; ++n) operation(i++);
    slice = microseconds(begin) / static_cast<double>(operations / kSlices);
  }
  std::sort(slices.begin(), slices.end());
  return slices[kSlices / 2];
}

CollectionCosts measure(const std::filesystem::path& folder, uint64_t collections,
                        uint64_t operations) {
  CollectionCosts costs;
  costs.collections = collections;
  {
    const auto store = open(folder, true);
    const auto begin = Clock::now();
    create_collections(*store, collections);
    costs.create = microseconds(begin) / static_cast<double>(collections);
  }
  auto begin = Clock::now();
  const auto store = open(folder, false);
  costs.open = microseconds(begin);
  Operations work(*store, collections);
  begin = Clock::now();
  for (uint64_t i = 0; i < collections; ++i) work.read(i);
  costs.first_read = microseconds(begin) / static_cast<double>(collections);
  costs.read = median_of_slices(operations, [&](uint64_t i) { work.read(i); });
  costs.insert = median_of_slices(operations, [&](uint64_t i) { work.insert(i); });
  costs.update = median_of_slices(operations, [&](uint64_t i) { work.update(i); });
  return costs;
}

}  // namespace

std::vector<CollectionCosts> measure_collections(const std::filesystem::path& temp,
                                                 const std::vector<uint64_t>& counts,
                                                 uint64_t operations) {
  std::vector<CollectionCosts> costs;
  for (const uint64_t count : counts) {
    const std::filesystem::path folder = temp / ("collections" + std::to_string(count));
    costs.push_back(measure(folder, count, operations));
    std::filesystem::remove_all(folder);
  }
  return costs;
}

std::string table(const std::vector<CollectionCosts>& costs) {
  const auto line = [](const std::string& name, const CollectionCosts& cost, const char* format) {
    std::string text(13 - std::min<size_t>(13, name.size()), ' ');
    text += name;
    for (const double figure :
         {cost.create, cost.open, cost.first_read, cost.read, cost.insert, cost.update}) {
      std::array<char, 32> shown{};
      std::snprintf(shown.data(), shown.size(), format, figure);
      text += shown.data();
    }
    return text + "\n";
  };
  std::string text =
      "Microseconds\n  collections      create        open  first read        read      insert"
      "      update\n";
  for (const CollectionCosts& cost : costs) {
    text += line(std::to_string(cost.collections), cost, "%12.1f");
  }
  const CollectionCosts& a = costs.front();
  const CollectionCosts& b = costs.back();
  text += line("last by first",
               {0, b.create / a.create, b.open / a.open, b.first_read / a.first_read,
                b.read / a.read, b.insert / a.insert, b.update / a.update},
               "%11.2fx");
  return text;
}

}  // namespace gridmount::bench
