// $bucketAuto: puts about the same number of documents into each bucket.

#include <cmath>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/pipeline/accumulator.h"
#include "engine/query/pipeline/granularity.h"
#include "engine/query/pipeline/sort_buffer.h"
#include "engine/query/pipeline/stage_table.h"
#include "engine/query/sort.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

struct BucketAutoOptions {
  std::unique_ptr<Expression> group_by;
  std::optional<int32_t> buckets;
  std::vector<AccumulatedField> fields;
  std::optional<Granularity> granularity;
};

class BucketAutoStage : public Stage {
 public:
  explicit BucketAutoStage(BucketAutoOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$bucketAuto"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override {
    needs.clear();
    for (const AccumulatedField& field : options_.fields) field.add_needs(needs);
    kept_ = needs;
    needs.add(*options_.group_by);
  }

  const BucketAutoOptions& options() const { return options_; }
  // Returns the fields that the stage keeps of each document until the document's bucket is known.
  const FieldDependencies& kept() const { return kept_; }

 private:
  BucketAutoOptions options_;
  FieldDependencies kept_;
};

class BucketAutoStream : public DocumentStream {
 public:
  BucketAutoStream(const BucketAutoStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        options_(stage.options()),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        buffer_({false}, context.collator.get()),
        bytes_max_(context.memory_bytes_max) {}

  Result<std::optional<bson::View>> next() override {
    if (input_ != nullptr) GM_TRY(gather());
    if (at_ == buffer_.size() || bucket_ == *options_.buckets) return std::nullopt;
    ++bucket_;
    return fill();
  }

 private:
  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      evaluator_.begin(*document, input_->text_score());
      GM_ASSIGN(const std::optional<ValueView> value, evaluator_.evaluate(*options_.group_by));
      GM_TRY(check_key(value));
      // The buffer sorts by the first part of the key only.
      const Value score = input_->text_score() ? Value(*input_->text_score()) : Value();
      const ValueView key[] = {value.value_or(ValueView(Type::kNull, nullptr, 0)), score.view()};
      part_.begin();
      for (const bson::Element element : *document) {
        if (stage_.kept().has_field(element.key)) part_.append(element);
      }
      GM_ASSIGN(const bson::View kept, part_.finish_flat());
      buffer_.add(key, ValueView(Type::kDocument, kept.data(), kept.size()));
      if (buffer_.bytes() > bytes_max_) return sort_memory_exceeded(bytes_max_);
    }
    input_.reset();
    GM_TRY(buffer_.sort());
    size_ =
        std::max<int64_t>(1, std::llround(static_cast<double>(buffer_.size()) / *options_.buckets));
    return {};
  }

  Status check_key(const std::optional<ValueView>& value) const {
    if (!options_.granularity) return {};
    if (!value || !value->is_number()) {
      return fail(ErrorCode{40258},
                  "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found "
                  "a value with type: " +
                      (value ? type_name(*value) : "missing"));
    }
    const double number = value->number().value_or(0);
    if (std::isnan(number)) {
      return fail(ErrorCode{40259},
                  "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found "
                  "a NaN");
    }
    if (number < 0) {
      return fail(ErrorCode{40260},
                  "$bucketAuto can specify a 'granularity' with non-negative numbers only, but "
                  "found a negative number");
    }
    return {};
  }

  bool more() const { return at_ < buffer_.size(); }
  ValueView key() const { return buffer_.key(at_, 0); }

  // Adds the next document to the bucket.
  Status take(std::vector<std::unique_ptr<Accumulator>>& accumulators) {
    const bson::View document = buffer_.payload(at_).as_document();
    evaluator_.begin(document, buffer_.key(at_, 1).number());
    for (size_t i = 0; i < accumulators.size(); ++i) {
      GM_ASSIGN(const std::optional<ValueView> value,
                evaluator_.evaluate(*options_.fields[i].argument));
      GM_TRY(accumulators[i]->add(value, document));
    }
    ++at_;
    return {};
  }

  Result<std::optional<bson::View>> fill() {
    std::vector<std::unique_ptr<Accumulator>> accumulators;
    evaluator_.begin(bson::View());
    for (const AccumulatedField& field : options_.fields) {
      GM_ASSIGN(std::unique_ptr<Accumulator> made, make_accumulator(field, evaluator_, bytes_max_));
      accumulators.push_back(std::move(made));
    }
    const Value first(key());
    const bool last_bucket = bucket_ == *options_.buckets;
    size_t last = at_;
    for (int64_t count = 0; more() && (count < size_ || last_bucket); ++count) {
      last = at_;
      GM_TRY(take(accumulators));
    }
    GM_ASSIGN(const Value high, absorb_and_round(accumulators, last));
    const Value low = !options_.granularity ? first
                      : previous_           ? *previous_
                                            : options_.granularity->round_down(first.view());
    previous_ = high;
    output_.begin();
    output_.open_document("_id");
    output_.append("min", low.view());
    output_.append("max", high.view());
    output_.close();
    for (size_t i = 0; i < accumulators.size(); ++i) {
      accumulators[i]->write(options_.fields[i].field, output_);
    }
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }

  // Adds further documents that belong below the bucket's upper boundary, and returns that
  // boundary. `last` is the position of the last document added.
  Result<Value> absorb_and_round(std::vector<std::unique_ptr<Accumulator>>& accumulators,
                                 size_t last) {
    const auto equals_last = [&] {
      return bson::compare(buffer_.key(last, 0), key(), evaluator_.context().strings) == 0;
    };
    if (!options_.granularity) {
      while (more() && equals_last()) {
        last = at_;
        GM_TRY(take(accumulators));
      }
      return Value(more() ? key() : buffer_.key(last, 0));
    }
    const Value boundary = options_.granularity->round_up(buffer_.key(last, 0));
    while (more() && (bson::compare(boundary.view(), key()) > 0 || equals_last())) {
      last = at_;
      GM_TRY(take(accumulators));
    }
    // Zero cannot be rounded up. So the boundary between zero and the numbers above it is the next
    // number rounded down.
    if (boundary.view().number() == 0.0 && more()) return options_.granularity->round_down(key());
    return boundary;
  }

  const BucketAutoStage& stage_;
  const BucketAutoOptions& options_;
  Stream input_;  // null once it has been read
  Evaluator evaluator_;
  SortBuffer buffer_;
  const uint64_t bytes_max_;
  DocumentOutput part_;
  size_t at_ = 0;
  int32_t bucket_ = 0;
  int64_t size_ = 0;
  std::optional<Value> previous_;  // upper boundary of the previous bucket
  DocumentOutput output_;
};

Result<Stream> BucketAutoStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<BucketAutoStream>(*this, std::move(input), context);
}

class BucketAutoParser {
 public:
  explicit BucketAutoParser(VariableScope& scope) : scope_(scope) {}

  Result<BucketAutoOptions> parse(bson::View specification) {
    for (const bson::Element option : specification) GM_TRY(parse_option(option));
    if (options_.group_by == nullptr || !options_.buckets) {
      return fail(ErrorCode{40246}, "$bucketAuto requires 'groupBy' and 'buckets' to be specified");
    }
    if (*options_.buckets <= 0) {
      return fail(ErrorCode{40243},
                  "The $bucketAuto 'buckets' field must be greater than 0, but found: " +
                      std::to_string(*options_.buckets));
    }
    if (options_.fields.empty()) {
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
    if (option.key == "buckets") return parse_buckets(option.value);
    if (option.key == "output") return parse_output(option.value);
    if (option.key != "granularity") {
      return fail(ErrorCode{40245},
                  "Unrecognized option to $bucketAuto: " + std::string(option.key));
    }
    if (option.value.type() != Type::kString) {
      return fail(ErrorCode{40261},
                  "The $bucketAuto 'granularity' field must be a string, but found type: " +
                      type_name(option.value));
    }
    GM_ASSIGN(options_.granularity, Granularity::find(option.value.as_string()));
    return {};
  }

  Status parse_group_by(ValueView value) {
    const bool is_expression = value.type() == Type::kDocument && !value.as_document().empty() &&
                               (*value.as_document().begin()).key.starts_with('$');
    const bool is_path = value.type() == Type::kString && value.as_string().starts_with('$') &&
                         value.as_string().size() > 1;
    if (!is_expression && !is_path) {
      return fail(ErrorCode{40239},
                  "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an "
                  "expression object, but found: " +
                      shown(value));
    }
    GM_ASSIGN(options_.group_by, parse_expression(value, scope_));
    return {};
  }

  Status parse_buckets(ValueView value) {
    if (!value.is_number()) {
      return fail(ErrorCode{40241},
                  "The $bucketAuto 'buckets' field must be a numeric value, but found type: " +
                      type_name(value));
    }
    const std::optional<int64_t> buckets = value.integral();
    if (!buckets || *buckets < INT32_MIN || *buckets > INT32_MAX) {
      return fail(ErrorCode{40242},
                  "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but "
                  "found " +
                      shown(value));
    }
    options_.buckets = static_cast<int32_t>(*buckets);
    return {};
  }

  Status parse_output(ValueView value) {
    if (value.type() != Type::kDocument) {
      return fail(
          ErrorCode{40244},
          "The $bucketAuto 'output' field must be an object, but found type: " + type_name(value));
    }
    for (const bson::Element field : value.as_document()) {
      GM_ASSIGN(AccumulatedField parsed, parse_accumulated_field(field.key, field.value, scope_));
      if (parsed.n != nullptr && !parsed.n->constant()) {
        return fail(ErrorCode{4544714}, "Can't refer to the group key in $bucketAuto");
      }
      options_.fields.push_back(std::move(parsed));
    }
    return {};
  }

  VariableScope& scope_;
  BucketAutoOptions options_;
};

}  // namespace

Status parse_bucket_auto(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(
        ErrorCode{40240},
        "The argument to $bucketAuto must be an object, but found type: " + type_name(call.value));
  }
  GM_ASSIGN(BucketAutoOptions options,
            BucketAutoParser(call.scope).parse(call.value.as_document()));
  stages.push_back(std::make_unique<BucketAutoStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
