// Stages that count documents: $skip, $limit and $count.

#include <string>

#include "engine/query/output.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;

class SkipStream : public DocumentStream {
 public:
  SkipStream(int64_t count, Stream input) : left_(count), input_(std::move(input)) {}

  Result<std::optional<bson::View>> next() override {
    for (; left_ > 0; --left_) {
      Result<std::optional<bson::View>> document = input_->next();
      if (!document || !*document) return document;
    }
    return input_->next();
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  int64_t left_;
  Stream input_;
};

class LimitStream : public DocumentStream {
 public:
  LimitStream(int64_t count, Stream input) : left_(count), input_(std::move(input)) {}

  Result<std::optional<bson::View>> next() override {
    if (left_ == 0) return std::nullopt;
    Result<std::optional<bson::View>> document = input_->next();
    if (document && *document) --left_;
    return document;
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  int64_t left_;
  Stream input_;
};

class CountStage : public Stage {
 public:
  explicit CountStage(std::string_view field) : field_(field) {}

  std::string_view name() const override { return "$count"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override { needs.clear(); }

 private:
  std::string field_;
};

// Returns no document, instead of a count of zero, if there are no documents.
class CountStream : public DocumentStream {
 public:
  CountStream(const std::string& field, Stream input) : field_(field), input_(std::move(input)) {}

  Result<std::optional<bson::View>> next() override {
    while (input_ != nullptr) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (document) {
        ++count_;
      } else {
        input_.reset();
      }
    }
    if (count_ == 0) return std::nullopt;
    output_.begin();
    if (count_ <= INT32_MAX) {
      output_.append(field_, static_cast<int32_t>(count_));
    } else {
      output_.append(field_, count_);
    }
    count_ = 0;
    GM_ASSIGN(const bson::View result, output_.finish_flat());
    return result;
  }

 private:
  const std::string& field_;
  Stream input_;
  int64_t count_ = 0;
  DocumentOutput output_;
};

Result<Stream> CountStage::open(Stream input, const PipelineContext&) const {
  return std::make_unique<CountStream>(field_, std::move(input));
}

Result<int64_t> parse_number_of_documents(const StageCall& call, ErrorCode code) {
  const std::string named = std::string(call.name) + ": " + shown(call.value);
  std::string reason;
  const std::optional<int64_t> count = call.value.integral();
  if (!call.value.is_number()) {
    reason = "Expected a number in: " + named;
  } else if (!count) {
    const double number = call.value.number().value_or(0);
    reason = number > -0x1p63 && number < 0x1p63 ? "Expected an integer: " + named
                                                 : "Cannot represent as a 64-bit integer: " + named;
  } else if (*count < 0) {
    reason = "Expected a non-negative number in: " + named;
  } else {
    return *count;
  }
  return fail(code, "invalid argument to " + std::string(call.name) + " stage: " + reason);
}

}  // namespace

Result<Stream> SkipStage::open(Stream input, const PipelineContext&) const {
  return std::make_unique<SkipStream>(count_, std::move(input));
}

Result<Stream> LimitStage::open(Stream input, const PipelineContext&) const {
  return std::make_unique<LimitStream>(count_, std::move(input));
}

Status parse_skip(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(const int64_t count, parse_number_of_documents(call, ErrorCode{5107200}));
  stages.push_back(std::make_unique<SkipStage>(count));
  return {};
}

Status parse_limit(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(const int64_t count, parse_number_of_documents(call, ErrorCode{5107201}));
  if (count == 0) return fail(ErrorCode{15958}, "the limit must be positive");
  stages.push_back(std::make_unique<LimitStage>(count));
  return {};
}

Status parse_count(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kString) {
    return fail(ErrorCode{40156}, "the count field must be a non-empty string");
  }
  const std::string_view field = call.value.as_string();
  if (field.empty()) return fail(ErrorCode{40157}, "the count field must be a non-empty string");
  if (field[0] == '$') return fail(ErrorCode{40158}, "the count field cannot be a $-prefixed path");
  if (field.find('\0') != std::string_view::npos) {
    return fail(ErrorCode{40159}, "the count field cannot contain a null byte");
  }
  if (field.find('.') != std::string_view::npos) {
    return fail(ErrorCode{40160}, "the count field cannot contain '.'");
  }
  if (field == "_id") return fail(ErrorCode{9039800}, "the count field cannot be '_id'");
  stages.push_back(std::make_unique<CountStage>(field));
  return {};
}

}  // namespace gridmount::query
