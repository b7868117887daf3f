// What $group, $bucket and $bucketAuto make of the documents of a group: {total: {$sum: "$x"}}.
// Source: MongoDB manual, "Accumulators". Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// One field's state for one group.
class Accumulator {
 public:
  virtual ~Accumulator() = default;

  // `value` is the argument's for `document`.
  virtual Status add(const std::optional<bson::ValueView>& value, bson::View document) = 0;
  // Appends the result; missing results are null.
  virtual void write(std::string_view field, Output& output) const = 0;
  // Memory held beside the object itself.
  uint64_t bytes() const { return bytes_; }

 protected:
  uint64_t bytes_ = 0;
};

struct AccumulatorSettings {
  int64_t n = 1;                                // of $firstN and its like
  const Sort* sort = nullptr;                   // of $top and its like
  const std::vector<double>* shares = nullptr;  // of $percentile and $median
  uint64_t bytes_max = 0;
};

using MakeAccumulator = std::unique_ptr<Accumulator> (*)(const AccumulatorSettings& settings);

// A field of the result as it was written.
struct AccumulatedField {
  std::string field;
  MakeAccumulator make = nullptr;
  std::unique_ptr<Expression> argument;
  std::unique_ptr<Expression> n;  // null unless the accumulator has one
  std::optional<Sort> sort;
  std::vector<double> shares;

  void add_needs(Needs& needs) const;
};

// {$sum: "$x"} as a field of `stage` ("$group"). Code 15952 for an accumulator that is not known.
Result<AccumulatedField> parse_accumulated_field(std::string_view field, bson::ValueView value,
                                                 VariableScope& scope);

// `n` may look at the group's _id, which is what the evaluator has begun with.
Result<std::unique_ptr<Accumulator>> make_accumulator(const AccumulatedField& field,
                                                      Evaluator& evaluator, uint64_t bytes_max);

// ExceededMemoryLimit (146), of one that cannot do with less.
tl::unexpected<Error> used_too_much(std::string_view name, uint64_t bytes_max);

// --- The kinds, by family.
std::unique_ptr<Accumulator> make_sum(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_average(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_deviation_population(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_deviation_sample(const AccumulatorSettings& settings);

std::unique_ptr<Accumulator> make_first(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_last(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_min(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_max(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_merge_objects(const AccumulatorSettings& settings);

std::unique_ptr<Accumulator> make_push(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_add_to_set(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_first_n(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_last_n(const AccumulatorSettings& settings);

std::unique_ptr<Accumulator> make_percentile(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_median(const AccumulatorSettings& settings);

std::unique_ptr<Accumulator> make_min_n(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_max_n(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_top(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_top_n(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_bottom(const AccumulatorSettings& settings);
std::unique_ptr<Accumulator> make_bottom_n(const AccumulatorSettings& settings);

}  // namespace gridmount::query
