// The stages that a source can do itself, as the rewriting of pipelines knows them. Internal to
// this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// $match by a filter.
class MatchStage : public Stage {
 public:
  MatchStage(bson::Document specification, Filter filter, bool for_source)
      : specification_(std::move(specification)),
        filter_(std::move(filter)),
        for_source_(for_source) {}

  std::string_view name() const override { return "$match"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(Needs& needs) override;

  const bson::Document& specification() const { return specification_; }
  // Whether a source can do it: there are no expressions in it, which may name variables.
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
  void plan(Needs& needs) override;

  const bson::Document& specification() const { return specification_; }
  // No more than that many of its results are read.
  void set_limit(uint64_t limit) { limit_ = limit; }

 private:
  bson::Document specification_;
  Sort sort_;
  std::optional<uint64_t> limit_;
  Needs wanted_ = Needs::all();
};

class SkipStage : public Stage {
 public:
  explicit SkipStage(int64_t count) : count_(count) {}

  std::string_view name() const override { return "$skip"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(Needs&) override {}

  int64_t count() const { return count_; }

 private:
  int64_t count_;
};

class LimitStage : public Stage {
 public:
  explicit LimitStage(int64_t count) : count_(count) {}

  std::string_view name() const override { return "$limit"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(Needs&) override {}

  int64_t count() const { return count_; }

 private:
  int64_t count_;
};

Status parse_match(const StageCall& call, ParsedStages& stages);
Status parse_sort(const StageCall& call, ParsedStages& stages);
Status parse_skip(const StageCall& call, ParsedStages& stages);
Status parse_limit(const StageCall& call, ParsedStages& stages);

// The documents of `input` that match.
Result<Stream> filtered(Stream input, bson::View filter);

// The fields a filter looks at.
void add_filter_needs(bson::View filter, Needs& needs);

// A $sort's specification; the codes are the stage's.
Result<Sort> parse_sort_pattern(bson::ValueView value);

}  // namespace gridmount::query
