// The stages that a PipelineStorage can run as part of a find: $match, $sort, $skip and $limit. In
// this header, the source is the PipelineStorage that runs such a find. The rewriting of pipelines
// (pipeline_rewrite.h) needs the classes, so they are in a header. Internal to engine/query.
//
// Thread-safety: a stage is immutable after plan(), so several threads may open streams of it. Only
// one thread at a time may use a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// $match with a filter. `for_source` must be false if the filter has expressions ($expr), and true
// otherwise.
class MatchStage : public Stage {
 public:
  MatchStage(bson::Document specification, Filter filter, bool for_source)
      : specification_(std::move(specification)),
        filter_(std::move(filter)),
        for_source_(for_source) {}

  std::string_view name() const override { return "$match"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;
  bool is_filter() const override { return true; }
  void add_source_filters(const std::vector<std::optional<bson::ValueView>>& variables,
                          bson::Date now, const bson::StringOrder* strings,
                          bson::Builder& filters) const override;

  const bson::Document& specification() const { return specification_; }
  // Returns whether the source can apply the filter. The source cannot apply a filter with
  // expressions, because expressions may use variables, and the source does not know their values.
  bool is_for_source() const { return for_source_; }

 private:
  bson::Document specification_;
  Filter filter_;
  bool for_source_;
};

// $sort. A stream of this stage keeps the documents in memory, and never writes to the disk. It
// fails with QueryExceededMemoryLimitNoDiskUseAllowed (292) if the documents need more than
// PipelineContext::memory_bytes_max.
class SortStage : public Stage {
 public:
  SortStage(bson::Document specification, Sort sort)
      : specification_(std::move(specification)), sort_(std::move(sort)) {}

  std::string_view name() const override { return "$sort"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;

  const bson::Document& specification() const { return specification_; }
  // Must be called before open(), and only if nothing reads more than the first `limit` results.
  // The stage then keeps only these results.
  void set_limit(uint64_t limit) { limit_ = limit; }

 private:
  bson::Document specification_;
  Sort sort_;
  std::optional<uint64_t> limit_;
  FieldDependencies wanted_ = FieldDependencies::all();
};

// $skip. `count` must not be negative.
class SkipStage : public Stage {
 public:
  explicit SkipStage(int64_t count) : count_(count) {}

  std::string_view name() const override { return "$skip"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies&) override {}

  int64_t count() const { return count_; }

 private:
  int64_t count_;
};

// $limit. `count` must be greater than 0.
class LimitStage : public Stage {
 public:
  explicit LimitStage(int64_t count) : count_(count) {}

  std::string_view name() const override { return "$limit"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies&) override {}

  int64_t count() const { return count_; }

 private:
  int64_t count_;
};

// Parse one stage, and append it to `stages`. parse_match() may append several stages. Each
// function fails with the error codes that servers have for its stage.
Status parse_match(const StageCall& call, ParsedStages& stages);
Status parse_sort(const StageCall& call, ParsedStages& stages);
Status parse_skip(const StageCall& call, ParsedStages& stages);
Status parse_limit(const StageCall& call, ParsedStages& stages);

// Returns a stream of those documents of `input` that match the filter. `filter` need not outlive
// the call. Fails as Filter::parse() does.
Result<Stream> filtered(Stream input, bson::View filter, const SharedCollator& collator);

// Adds to `needs` the fields that the filter reads. Adds all fields if the filter has an operator,
// such as $expr, whose fields are not known. The filter must be valid.
void add_filter_needs(bson::View filter, FieldDependencies& needs);

// Parses the specification of a $sort: {a: 1, b: -1}. `metadata` says whether {$meta: "textScore"}
// is permitted. Fails with 15973 if `value` is not a document, with 15976 if it has no field, with
// 7472500 if it has a field twice, with 13103 if it has more than 32 fields, and as
// parse_sort_part() does.
Result<Sort> parse_sort_pattern(bson::ValueView value, const SharedCollator& collator,
                                SortMetadata metadata = SortMetadata::kRefused);

}  // namespace gridmount::query
