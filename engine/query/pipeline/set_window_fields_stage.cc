// The stage $setWindowFields. It gathers its input and sorts it by partition and sortBy. Then it
// goes through each partition with all functions at once, each with its own window.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/compare.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/projection_transform.h"
#include "engine/query/pipeline/sort_buffer.h"
#include "engine/query/pipeline/stage_table.h"
#include "engine/query/pipeline/window_evaluation.h"
#include "engine/query/pipeline/window_function.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

struct WindowOutput {
  WindowFunction function;
  // The slot of the variable through which the transform gets the result.
  size_t slot;
};

struct WindowFieldsOptions {
  std::unique_ptr<Expression> partition_by;  // null if there is one partition
  std::optional<Sort> sort;
  std::vector<WindowOutput> outputs;
  // Sets the output fields, as $addFields does: {path: "$$result"}.
  std::unique_ptr<ProjectionTransform> transform;
};

class WindowFieldsStage : public Stage {
 public:
  explicit WindowFieldsStage(WindowFieldsOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$setWindowFields"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override {
    options_.transform->plan(needs);
    for (const WindowOutput& output : options_.outputs) output.function.add_needs(needs);
    kept_ = needs;
    if (options_.partition_by != nullptr) needs.add(*options_.partition_by);
    if (!options_.sort) return;
    for (const Sort::Part& part : options_.sort->parts()) needs.add(part.path.dotted());
  }

  const WindowFieldsOptions& options() const { return options_; }
  // Returns the fields that the stage keeps of each document.
  const FieldDependencies& kept() const { return kept_; }

 private:
  WindowFieldsOptions options_;
  FieldDependencies kept_ = FieldDependencies::all();
};

std::vector<bool> window_directions(const WindowFieldsOptions& options) {
  std::vector<bool> descending;
  if (options.partition_by != nullptr) descending.push_back(false);
  if (options.sort) {
    for (const bool direction : directions_of(*options.sort)) descending.push_back(direction);
  }
  return descending;
}

class WindowFieldsStream : public DocumentStream {
 public:
  WindowFieldsStream(const WindowFieldsStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        options_(stage.options()),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        transform_state_(context.variables, context.now, context.collator.get()),
        score_part_(window_directions(options_).size()),
        buffer_(window_directions(options_), context.collator.get()),
        bytes_max_(context.memory_bytes_max) {
    if (options_.sort) sort_keys_.emplace(*options_.sort);
    results_.resize(options_.outputs.size());
  }

  Result<std::optional<bson::View>> next() override {
    if (input_ != nullptr) GM_TRY(gather());
    if (at_ == partition_.end && !begin_partition()) return std::nullopt;
    auto& variables = transform_state_.evaluator.context().variables;
    uint64_t window_bytes = 0;
    for (size_t i = 0; i < evaluations_.size(); ++i) {
      GM_ASSIGN(results_[i], evaluations_[i]->next(at_ - partition_.begin));
      window_bytes += evaluations_[i]->bytes();
      GM_TRY(check_memory(window_bytes));
      const size_t slot = options_.outputs[i].slot;
      if (slot >= variables.size()) variables.resize(slot + 1);
      variables[slot] = results_[i] ? std::optional(results_[i]->view()) : std::nullopt;
    }
    const bson::View document = buffer_.payload(at_++).as_document();
    transform_state_.text_score = text_score();
    GM_ASSIGN(const bson::View result, options_.transform->apply(document, transform_state_));
    return result;
  }
  std::optional<double> text_score() const override {
    if (at_ == partition_.begin) return std::nullopt;
    return buffer_.key(at_ - 1, score_part_).number();
  }

 private:
  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      GM_TRY(read_key(*document, input_->text_score()));
      // The key also has the text score, which is not compared.
      const bson::Value score =
          input_->text_score() ? bson::Value(*input_->text_score()) : bson::Value();
      key_.push_back(score.view());
      GM_ASSIGN(const bson::View kept, part_kept(*document));
      buffer_.add(key_, ValueView(Type::kDocument, kept.data(), kept.size()));
      if (buffer_.bytes() > bytes_max_) return sort_memory_exceeded(bytes_max_);
    }
    input_.reset();
    GM_TRY(buffer_.sort());
    if (buffer_.size() == 0) return {};
    for (const WindowOutput& output : options_.outputs) {
      GM_ASSIGN(std::unique_ptr<WindowEvaluation> made,
                make_window_evaluation(output.function, evaluator_, bytes_max_));
      evaluations_.push_back(std::move(made));
    }
    return {};
  }

  Status read_key(bson::View document, std::optional<double> text_score) {
    key_.clear();
    if (options_.partition_by != nullptr) {
      evaluator_.begin(document, text_score);
      GM_ASSIGN(const std::optional<ValueView> value, evaluator_.evaluate(*options_.partition_by));
      if (value && value->type() == Type::kArray) {
        return fail(ErrorCode::kTypeMismatch,
                    "An expression used to partition cannot evaluate to value of type array");
      }
      // Documents without the value and documents with null are in one partition.
      key_.push_back(value.value_or(ValueView(Type::kNull, nullptr, 0)));
    }
    if (!sort_keys_) return {};
    GM_ASSIGN(const std::span<const ValueView> parts, sort_keys_->read(document));
    key_.insert(key_.end(), parts.begin(), parts.end());
    return {};
  }

  // Keeps only the needed fields of a document, to save memory.
  Result<bson::View> part_kept(bson::View document) {
    if (stage_.kept().is_all()) return document;
    part_.begin();
    for (const bson::Element element : document) {
      if (stage_.kept().has_field(element.key)) part_.append(element);
    }
    return part_.finish_flat();
  }

  // Returns false if there is no further partition.
  bool begin_partition() {
    for (size_t i = partition_.begin; i < partition_.end; ++i) buffer_.release(i);
    partition_ = {&buffer_, score_part_, at_, at_};
    if (at_ == buffer_.size()) return false;
    ++partition_.end;
    while (partition_.end < buffer_.size() && is_in_partition(partition_.end)) ++partition_.end;
    for (const auto& evaluation : evaluations_) evaluation->begin(partition_);
    return true;
  }

  bool is_in_partition(size_t at) {
    if (options_.partition_by == nullptr) return true;
    return bson::compare(buffer_.key(at, 0), buffer_.key(partition_.begin, 0),
                         evaluator_.context().strings) == 0;
  }

  Status check_memory(uint64_t window_bytes) const {
    const uint64_t bytes = buffer_.bytes() + window_bytes;
    return bytes <= bytes_max_ ? Status() : window_memory_exceeded(bytes, bytes_max_);
  }

  const WindowFieldsStage& stage_;
  const WindowFieldsOptions& options_;
  Stream input_;  // null once it has been read
  Evaluator evaluator_;
  TransformState transform_state_;
  std::optional<SortKeyReader> sort_keys_;
  std::vector<ValueView> key_;
  const size_t score_part_;  // the position of the text score in the key
  SortBuffer buffer_;
  const uint64_t bytes_max_;
  DocumentOutput part_;
  std::vector<std::unique_ptr<WindowEvaluation>> evaluations_;
  std::vector<std::optional<bson::Value>> results_;  // for the current document
  WindowPartition partition_;
  size_t at_ = 0;
};

Result<Stream> WindowFieldsStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<WindowFieldsStream>(*this, std::move(input), context);
}

class WindowFieldsParser {
 public:
  explicit WindowFieldsParser(VariableScope& scope) : scope_(scope) {}

  Result<WindowFieldsOptions> parse(bson::View specification) {
    GM_TRY(check_given_once("$setWindowFields", specification));
    for (const bson::Element option : specification) GM_TRY(read_option(option));
    if (!output_) {
      return fail(ErrorCode{40414},
                  "BSON field '$setWindowFields.output' is missing but a required field");
    }
    if (partition_by_) GM_TRY(parse_partition(*partition_by_));
    if (sort_by_) GM_TRY(parse_sort_by(*sort_by_));
    GM_TRY(parse_outputs(*output_));
    return std::move(options_);
  }

 private:
  // A null option counts as not given.
  Status read_option(const bson::Element& option) {
    if (option.key != "partitionBy" && option.key != "sortBy" && option.key != "output") {
      return fail(ErrorCode::kUnknownField, "BSON field '$setWindowFields." +
                                                std::string(option.key) + "' is an unknown field.");
    }
    if (bson::is_nullish(option.value.type())) return {};
    if (option.key == "partitionBy") {
      partition_by_ = option.value;
      return {};
    }
    if (option.value.type() != Type::kDocument) {
      return fail(ErrorCode::kTypeMismatch, "BSON field '$setWindowFields." +
                                                std::string(option.key) + "' is the wrong type '" +
                                                type_name(option.value) +
                                                "', expected type 'object'");
    }
    (option.key == "sortBy" ? sort_by_ : output_) = option.value;
    return {};
  }

  Status parse_partition(ValueView value) {
    GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(value, scope_));
    const std::optional<ValueView> constant = expression->constant();
    if (!constant) {
      options_.partition_by = std::move(expression);
      return {};
    }
    if (constant->type() != Type::kArray) return {};
    return fail(ErrorCode::kTypeMismatch,
                "An expression used to partition cannot evaluate to value of type array");
  }

  // An empty sortBy does not sort, but functions that require a sortBy accept it.
  Status parse_sort_by(ValueView value) {
    if (value.as_document().empty()) {
      GM_ASSIGN(options_.sort, Sort::parse(value.as_document(), scope_.collator()));
    } else {
      GM_ASSIGN(options_.sort, parse_sort_pattern(value, scope_.collator()));
    }
    return {};
  }

  Status parse_outputs(ValueView value) {
    ProjectionTree tree;
    for (const bson::Element element : value.as_document()) {
      const std::string path(element.key);
      GM_TRY(check_conflicts(path));
      const Sort* const sort = options_.sort ? &*options_.sort : nullptr;
      GM_ASSIGN(WindowFunction function, parse_window_function(path, element.value, sort, scope_));
      GM_TRY(check_field_path(path));
      GM_TRY(add_output(tree, path, std::move(function)));
    }
    tree.kind = ProjectionTree::Kind::kAdd;
    tree.complete();
    options_.transform = std::make_unique<ProjectionTransform>(std::move(tree));
    return {};
  }

  Status add_output(ProjectionTree& tree, const std::string& path, WindowFunction function) {
    GM_ASSIGN(const size_t slot, scope_.declare("result"));
    const bson::Value variable("$$result");
    Result<std::unique_ptr<Expression>> result = parse_expression(variable.view(), scope_);
    scope_.undeclare();
    if (!result) return fail(std::move(result).error());
    GM_ASSIGN(ProjectionNode* const node, make_node(tree.root, bson::Path(path), false));
    node->kind = ProjectionNode::Kind::kComputed;
    node->expression = *std::move(result);
    options_.outputs.push_back({std::move(function), slot});
    return {};
  }

  Status check_conflicts(const std::string& path) {
    bool conflicts = !paths_.insert(path).second;
    const auto below = paths_.lower_bound(path + ".");
    conflicts = conflicts || (below != paths_.end() && below->starts_with(path + "."));
    for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      conflicts = conflicts || paths_.contains(path.substr(0, dot));
    }
    if (!conflicts) return {};
    return fail(ErrorCode{6307900},
                "$setWindowFields 'output' specification contains two conflicting paths");
  }

  VariableScope& scope_;
  std::optional<ValueView> partition_by_;
  std::optional<ValueView> sort_by_;
  std::optional<ValueView> output_;
  std::set<std::string> paths_;
  WindowFieldsOptions options_;
};

}  // namespace

Status parse_set_window_fields(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode::kFailedToParse,
                "the $setWindowFields stage specification must be an object, found " +
                    type_name(call.value));
  }
  GM_ASSIGN(WindowFieldsOptions options,
            WindowFieldsParser(call.scope).parse(call.value.as_document()));
  stages.push_back(std::make_unique<WindowFieldsStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
