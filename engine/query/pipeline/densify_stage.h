// The stage $densify fills the gaps in the values of one field, separately for each partition. A
// range consists of values in fixed steps. For each of these values that no document of a partition
// has in the field, the stage adds a document with the value. The input must be sorted by the
// fields in `partition_by` and then by the field; with DensifyRange::Kind::kFull, only by the
// field. The parser puts such a $sort before this stage. Reading the results fails with 5897900 if
// the stage adds more than 500,000 documents, with 6007200 if the partitions need more than
// PipelineContext::memory_bytes_max, with 5733201 if the field has a value that is neither a number
// nor a date, with 6053600 if the value is a number but the steps are of dates, or the reverse,
// with 5733306 if the values of a partition's fields already contain the field (a field `a` = {b:
// 1}, and the field `a.b`), and as expressions::add_to_date() does. Internal to engine/query.
// Immutable after plan(), so several threads may run it.
//
// Source: MongoDB manual, "$densify"; errors and details are those of mongod 6.0.5.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"
#include "engine/query/expression/date_arithmetic.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

struct DensifyRange {
  enum class Kind {
    kFull,       // from the least to the greatest value of all documents, both included
    kPartition,  // as kFull, but with the least and the greatest value of each partition
    kExplicit,   // from `lower` (included) to `upper` (excluded); only `lower` if both are equal
  };
  Kind kind = Kind::kFull;
  bson::Value step;                           // a number above 0, integral if there is a `unit`
  std::optional<expressions::TimeUnit> unit;  // set if the values are dates
  bson::Value lower;                          // `lower` and `upper` are used only for kExplicit
  bson::Value upper;
};

struct DensifyOptions {
  std::optional<bson::Path> field;  // always set once the stage is parsed
  std::vector<bson::Path> partition_by;
  DensifyRange range;
};

class DensifyStage : public Stage {
 public:
  explicit DensifyStage(DensifyOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$densify"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;

 private:
  DensifyOptions options_;
};

}  // namespace gridmount::query
