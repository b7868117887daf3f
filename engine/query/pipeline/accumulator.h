// Accumulators compute a field of a group from the group's documents: {total: {$sum: "$x"}}.
// $group, $bucket and $bucketAuto use accumulators, and so do some functions of $setWindowFields.
// Internal to engine/query. Source: MongoDB manual, "Accumulators".
//
// Thread-safety: a parsed AccumulatedField is immutable, so thread-safe. An Accumulator must be
// used by one thread at a time.
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

// The state of one field for one group.
class Accumulator {
 public:
  virtual ~Accumulator() = default;

  // Adds a document to the group. `value` is the value of the accumulator's argument for
  // `document`. Fails with ExceededMemoryLimit (146) if an accumulator that gathers values needs
  // more than AccumulatorSettings::bytes_max bytes, and with the errors of the accumulator.
  virtual Status add(const std::optional<bson::ValueView>& value, bson::View document) = 0;
  // Appends the result to `output`, as the field `field`. A missing result becomes null. Passes an
  // error to DocumentOutput::fail(). For $minN, $maxN, $topN and $bottomN, must be called only
  // once, after the last add(), because it sorts the values.
  virtual void write(std::string_view field, DocumentOutput& output) const = 0;
  // Returns how many bytes of memory the accumulator uses outside the object itself.
  uint64_t bytes() const { return bytes_; }

 protected:
  uint64_t bytes_ = 0;
};

struct AccumulatorSettings {
  int64_t n = 1;                                // for $firstN and similar accumulators
  const Sort* sort = nullptr;                   // for $top and similar accumulators
  const std::vector<double>* shares = nullptr;  // for $percentile and $median
  uint64_t bytes_max = 0;
  // Compares strings. If null, strings are compared as bytes.
  const bson::StringOrder* strings = nullptr;
};

using MakeAccumulator = std::unique_ptr<Accumulator> (*)(const AccumulatorSettings& settings);

// The parsed specification of a field of the result.
struct AccumulatedField {
  std::string field;
  MakeAccumulator make = nullptr;
  std::unique_ptr<Expression> argument;
  std::unique_ptr<Expression> n;  // null if the accumulator has no `n`
  std::optional<Sort> sort;
  std::vector<double> shares;

  void add_needs(FieldDependencies& needs) const;
};

// Parses an accumulator such as {$sum: "$x"}, which computes the field `field` of the result. Fails
// with code 40234 if `value` is not an object with an accumulator, with 40235 or 40236 for an
// invalid `field`, with 40238 for several accumulators, with 15952 for an unknown accumulator, and
// with the codes of the accumulators and of their expressions.
Result<AccumulatedField> parse_accumulated_field(std::string_view field, bson::ValueView value,
                                                 VariableScope& scope);

// Makes the accumulator of one group. The expression `n` may use the fields of the evaluator's
// current document, which must be the group's _id or an empty document. `field` and the evaluator's
// order of strings must outlive the accumulator. Fails as evaluate_n() does.
Result<std::unique_ptr<Accumulator>> make_accumulator(const AccumulatedField& field,
                                                      Evaluator& evaluator, uint64_t bytes_max);

// Evaluates the `n` of $firstN and similar accumulators. Fails with 5787902, 5787903 or 5787908
// unless the value is a positive integer, and with the errors of the expression.
Result<int64_t> evaluate_n(const Expression& expression, Evaluator& evaluator);

// Returns the error ExceededMemoryLimit (146) of an accumulator that needs more than `bytes_max`
// bytes.
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
