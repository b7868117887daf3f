// $bucket: groups documents by the interval that a value lies in. The results are in the order of
// the intervals.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/pipeline/group_table.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

struct BucketStageOptions {
  std::unique_ptr<Expression> group_by;
  std::vector<Value> boundaries;
  std::optional<Value> otherwise;
  std::vector<AccumulatedField> fields;
  bool has_output = false;
};

class BucketStage : public Stage {
 public:
  explicit BucketStage(BucketStageOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$bucket"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override {
    needs.clear();
    needs.add(*options_.group_by);
    for (const AccumulatedField& field : options_.fields) field.add_needs(needs);
  }

 private:
  BucketStageOptions options_;
};

class BucketStream : public DocumentStream {
 public:
  BucketStream(const BucketStageOptions& options, Stream input, const PipelineContext& context)
      : options_(options),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        groups_(options.fields, "$group", evaluator_, context) {}

  Result<std::optional<bson::View>> next() override {
    if (input_ != nullptr) GM_TRY(gather());
    if (at_ == order_.size()) return std::nullopt;
    const size_t group = order_[at_++];
    output_.begin();
    output_.append("_id", groups_.id(group));
    groups_.write(group, output_);
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }

 private:
  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      evaluator_.begin(*document, input_->text_score());
      GM_ASSIGN(const std::optional<ValueView> value, evaluator_.evaluate(*options_.group_by));
      GM_ASSIGN(const ValueView bucket, bucket_of(value));
      GM_TRY(groups_.add(bucket, *document));
    }
    input_.reset();
    order_.resize(groups_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    return sort_interruptibly(order_, [this](size_t a, size_t b) {
      return bson::compare(groups_.id(a), groups_.id(b), evaluator_.context().strings) < 0;
    });
  }

  // Returns the greatest boundary that is not above the value. The last boundary is exclusive, so
  // it is never returned. Values outside the boundaries belong to the default bucket, or fail if
  // there is none.
  Result<ValueView> bucket_of(const std::optional<ValueView>& value) {
    const ValueView compared = value.value_or(ValueView(Type::kUndefined, nullptr, 0));
    const auto above =
        std::upper_bound(options_.boundaries.begin(), options_.boundaries.end(), compared,
                         [this](ValueView a, const Value& b) {
                           return bson::compare(a, b.view(), evaluator_.context().strings) < 0;
                         });
    if (above != options_.boundaries.begin() && above != options_.boundaries.end()) {
      return (above - 1)->view();
    }
    if (options_.otherwise) return options_.otherwise->view();
    return fail(ErrorCode{40066},
                "$switch could not find a matching branch for an input, and no default was "
                "specified.");
  }

  const BucketStageOptions& options_;
  Stream input_;  // null once it has been read
  Evaluator evaluator_;
  GroupTable groups_;
  std::vector<size_t> order_;
  size_t at_ = 0;
  DocumentOutput output_;
};

Result<Stream> BucketStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<BucketStream>(options_, std::move(input), context);
}

class BucketParser {
 public:
  explicit BucketParser(VariableScope& scope) : scope_(scope) {}

  Result<BucketStageOptions> parse(bson::View specification) {
    for (const bson::Element option : specification) GM_TRY(parse_option(option));
    if (options_.group_by == nullptr || options_.boundaries.empty()) {
      return fail(ErrorCode{40198}, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
    }
    GM_TRY(check_default());
    if (!options_.has_output) {
      bson::Builder count;
      count.append("$sum", int32_t{1});
      const Value value(std::move(count).finish().view());
      GM_ASSIGN(AccumulatedField field, parse_accumulated_field("count", value.view(), scope_));
      options_.fields.push_back(std::move(field));
    }
    return std::move(options_);
  }

 private:
  Status parse_option(const bson::Element& option) {
    if (option.key == "groupBy") return parse_group_by(option.value);
    if (option.key == "boundaries") return parse_boundaries(option.value);
    if (option.key == "default") return parse_default(option.value);
    if (option.key != "output") {
      return fail(ErrorCode{40197},
                  "Unrecognized option to $bucket: " + std::string(option.key) + ".");
    }
    if (option.value.type() != Type::kDocument) {
      return fail(ErrorCode{40196},
                  "The $bucket 'output' field must be an object, but found type: " +
                      type_name(option.value) + ".");
    }
    options_.has_output = true;
    for (const bson::Element field : option.value.as_document()) {
      GM_ASSIGN(AccumulatedField parsed, parse_accumulated_field(field.key, field.value, scope_));
      options_.fields.push_back(std::move(parsed));
    }
    return {};
  }

  Status parse_group_by(ValueView value) {
    const bool is_expression = value.type() == Type::kDocument && !value.as_document().empty() &&
                               (*value.as_document().begin()).key.starts_with('$');
    const bool is_path = value.type() == Type::kString && value.as_string().starts_with('$');
    if (!is_expression && !is_path) {
      return fail(ErrorCode{40202},
                  "The $bucket 'groupBy' field must be defined as a $-prefixed path or an "
                  "expression, but found: " +
                      shown(value) + ".");
    }
    GM_ASSIGN(options_.group_by, parse_expression(value, scope_));
    return {};
  }

  Status parse_boundaries(ValueView value) {
    if (value.type() != Type::kArray) {
      return fail(ErrorCode{40200},
                  "The $bucket 'boundaries' field must be an array, but found type: " +
                      type_name(value) + ".");
    }
    std::vector<Value>& boundaries = options_.boundaries;
    for (const bson::Element element : value.as_document()) {
      GM_ASSIGN(const std::unique_ptr<Expression> expression,
                parse_expression(element.value, scope_));
      const std::optional<ValueView> constant = expression->constant();
      if (!constant) {
        return fail(ErrorCode{40191},
                    "The $bucket 'boundaries' field must be an array of constant values, but found "
                    "value: " +
                        shown(element.value) + ".");
      }
      boundaries.emplace_back(*constant);
    }
    if (boundaries.size() < 2) {
      return fail(ErrorCode{40192},
                  "The $bucket 'boundaries' field must have at least 2 values, but found " +
                      std::to_string(boundaries.size()) + " value(s).");
    }
    for (size_t i = 1; i < boundaries.size(); ++i) {
      const ValueView lower = boundaries[i - 1].view();
      const ValueView upper = boundaries[i].view();
      if (bson::canonical_order(lower.type()) != bson::canonical_order(upper.type())) {
        return fail(ErrorCode{40193},
                    "All values in the the 'boundaries' option to $bucket must have the same type. "
                    "Found conflicting types " +
                        type_name(lower) + " and " + type_name(upper) + ".");
      }
      if (bson::compare(lower, upper, scope_.collator().get()) >= 0) {
        return fail(ErrorCode{40194},
                    "The 'boundaries' option to $bucket must be sorted, but elements " +
                        std::to_string(i - 1) + " and " + std::to_string(i) +
                        " are not in ascending order (" + shown(lower) + " is not less than " +
                        shown(upper) + ").");
      }
    }
    return {};
  }

  Status parse_default(ValueView value) {
    GM_ASSIGN(const std::unique_ptr<Expression> expression, parse_expression(value, scope_));
    const std::optional<ValueView> constant = expression->constant();
    if (!constant) {
      return fail(
          ErrorCode{40195},
          "The $bucket 'default' field must be a constant expression, but found: default: " +
              shown(value) + ".");
    }
    options_.otherwise.emplace(*constant);
    return {};
  }

  Status check_default() const {
    if (!options_.otherwise) return {};
    const ValueView otherwise = options_.otherwise->view();
    const ValueView lowest = options_.boundaries.front().view();
    const ValueView highest = options_.boundaries.back().view();
    if (bson::canonical_order(otherwise.type()) != bson::canonical_order(lowest.type()) ||
        bson::compare(otherwise, lowest, scope_.collator().get()) < 0 ||
        bson::compare(otherwise, highest, scope_.collator().get()) >= 0) {
      return {};
    }
    return fail(ErrorCode{40199},
                "The $bucket 'default' field must be less than the lowest boundary or greater than "
                "or equal to the highest boundary.");
  }

  VariableScope& scope_;
  BucketStageOptions options_;
};

}  // namespace

Status parse_bucket(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{40201}, "Argument to $bucket stage must be an object, but found type: " +
                                      type_name(call.value) + ".");
  }
  GM_ASSIGN(BucketStageOptions options, BucketParser(call.scope).parse(call.value.as_document()));
  stages.push_back(std::make_unique<BucketStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
