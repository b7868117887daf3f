// The stage $unwind.

#include "engine/query/pipeline/unwind_stage.h"

#include <string>

#include "engine/query/pipeline/path_writer.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

class UnwindStream : public DocumentStream {
 public:
  UnwindStream(const UnwindStage& stage, Stream input, PipelineStorage& storage)
      : stage_(stage), input_(std::move(input)), check_(storage) {}

  Result<std::optional<bson::View>> next() override {
    while (at_ == bson::View::Iterator()) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) return std::nullopt;
      document_ = *document;
      const std::optional<ValueView> value = operand();
      if (value && value->type() == Type::kArray) {
        at_ = value->as_document().begin();
        index_ = 0;
        if (at_ != bson::View::Iterator()) break;
        if (stage_.options().preserve) return result(std::nullopt, null_index());
      } else if (stage_.options().preserve || !is_nullish(value)) {
        // A value that is not an array counts as an array with this one element.
        return result(value, null_index());
      }
    }
    GM_TRY(check_());
    const Value index(index_++);
    Result<std::optional<bson::View>> element = result((*at_).value, index);
    ++at_;
    return element;
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  // Follows the path through documents only. It ends at an array.
  std::optional<ValueView> operand() const {
    bson::View container = document_;
    const auto& parts = stage_.path().parts();
    for (size_t i = 0;; ++i) {
      const std::optional<ValueView> value = container.find(parts[i]);
      if (!value || i + 1 == parts.size()) return value;
      if (value->type() != Type::kDocument) return std::nullopt;
      container = value->as_document();
    }
  }

  static const Value& null_index() {
    static const Value kNull;
    return kNull;
  }

  Result<std::optional<bson::View>> result(const std::optional<ValueView>& value,
                                           const Value& index) {
    output_.begin();
    append_with_field(document_, stage_.path().parts(), value, stage_.wanted(), output_);
    GM_ASSIGN(const bson::View unwound, output_.finish_flat());
    if (!stage_.options().index_path) return unwound;
    indexed_.begin();
    append_with_field(unwound, stage_.options().index_path->parts(), index.view(), nullptr,
                      indexed_);
    GM_ASSIGN(const bson::View with_index, indexed_.finish());
    return with_index;
  }

  const UnwindStage& stage_;
  Stream input_;
  InterruptCheck check_;
  bson::View document_;
  bson::View::Iterator at_;  // the next element of the array
  int64_t index_ = 0;
  DocumentOutput output_;
  DocumentOutput indexed_;
};

Status parse_path(ValueView value, UnwindOptions& options) {
  if (value.type() != Type::kString) {
    return fail(ErrorCode{28808},
                "expected a string as the path for $unwind stage, got " + type_name(value));
  }
  const std::string_view path = value.as_string();
  if (path.empty()) return fail(ErrorCode{28812}, "no path specified to $unwind stage");
  if (path[0] != '$') {
    return fail(ErrorCode{28818},
                "path option to $unwind stage should be prefixed with a '$': " + std::string(path));
  }
  GM_ASSIGN(options.path, split_field_path(path.substr(1)));
  return {};
}

Status parse_option(const bson::Element& option, UnwindOptions& options) {
  if (option.key == "path") return parse_path(option.value, options);
  if (option.key == "preserveNullAndEmptyArrays") {
    if (option.value.type() != Type::kBool) {
      return fail(ErrorCode{28809},
                  "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, "
                  "got " +
                      type_name(option.value));
    }
    options.preserve = option.value.as_bool();
    return {};
  }
  if (option.key != "includeArrayIndex") {
    return fail(ErrorCode{28811},
                "unrecognized option to $unwind stage: " + std::string(option.key));
  }
  if (option.value.type() != Type::kString || option.value.as_string().empty()) {
    return fail(ErrorCode{28810},
                "expected a non-empty string for the includeArrayIndex option to $unwind stage, "
                "got " +
                    type_name(option.value));
  }
  const std::string_view path = option.value.as_string();
  if (path[0] == '$') {
    return fail(ErrorCode{28822},
                "includeArrayIndex option to $unwind stage should not be prefixed with a '$': " +
                    std::string(path));
  }
  GM_ASSIGN(options.index_path, split_field_path(path));
  return {};
}

}  // namespace

Result<Stream> UnwindStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<UnwindStream>(*this, std::move(input), context.storage);
}

void UnwindStage::plan(FieldDependencies& needs) {
  wanted_ = needs;
  if (options_.index_path) needs.replace(options_.index_path->dotted());
  needs.add(options_.path->dotted());
}

Status parse_unwind(const StageCall& call, ParsedStages& stages) {
  UnwindOptions options;
  if (call.value.type() == Type::kDocument) {
    for (const bson::Element option : call.value.as_document()) {
      GM_TRY(parse_option(option, options));
    }
    if (!options.path) return fail(ErrorCode{28812}, "no path specified to $unwind stage");
  } else if (call.value.type() == Type::kString) {
    GM_TRY(parse_path(call.value, options));
  } else {
    return fail(ErrorCode{15981},
                "expected either a string or an object as specification for $unwind stage, got " +
                    type_name(call.value));
  }
  stages.push_back(std::make_unique<UnwindStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
