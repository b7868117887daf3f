// The stages that the store can run as part of a find: $match, $sort, $skip and $limit. In this
// header, the source is the PipelineStorage that runs such a find. The rewriting of pipelines needs
// the classes of these stages. Internal to engine/query.
//
// Thread-safety: a stage is immutable after plan(), so several threads may run it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// $match with a filter.
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
  // Returns whether the source can apply the filter. It cannot apply a filter with expressions,
  // because expressions may use variables, which the source does not have.
  bool is_for_source() const { return for_source_; }

 private:
  bson::Document specification_;
  Filter filter_;
  bool for_source_;
};

class SortStage : public Stage {
 public:
  SortStage(bson::Document specification, Sort sort)
      : specification_(std::move(specification)), sort_(std::move(sort)) {}

  std::string_view name() const override { return "$sort"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;

  const bson::Document& specification() const { return specification_; }
  // Only the first `limit` results will be read.
  void set_limit(uint64_t limit) { limit_ = limit; }

 private:
  bson::Document specification_;
  Sort sort_;
  std::optional<uint64_t> limit_;
  FieldDependencies wanted_ = FieldDependencies::all();
};

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

Status parse_match(const StageCall& call, ParsedStages& stages);
Status parse_sort(const StageCall& call, ParsedStages& stages);
Status parse_skip(const StageCall& call, ParsedStages& stages);
Status parse_limit(const StageCall& call, ParsedStages& stages);

// Returns the documents of `input` that match. `filter` need not outlive the call. Fails as
// Filter::parse() does.
Result<Stream> filtered(Stream input, bson::View filter, const SharedCollator& collator);

// Adds the fields that the filter reads.
void add_filter_needs(bson::View filter, FieldDependencies& needs);

// Parses the specification of a $sort. Fails with the error codes of the stage.
Result<Sort> parse_sort_pattern(bson::ValueView value, const SharedCollator& collator,
                                SortMetadata metadata = SortMetadata::kRefused);

}  // namespace gridmount::query
