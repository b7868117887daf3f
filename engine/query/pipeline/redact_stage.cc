// $redact: an expression decides whether the stage keeps, leaves out or descends into the document,
// and then the same for each document inside.

#include <string>

#include "engine/bson/builder.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// Field paths refer to the document that the stage has descended into, but $$ROOT is the whole
// document. So the stage keeps the whole document in a variable of its own, with a name that users
// are unlikely to use.
constexpr std::string_view kRootVariable = "redactedDocument__";
constexpr int kDepthMax = static_cast<int>(bson::kMaxDepth);

// The variables $$KEEP, $$PRUNE and $$DESCEND exist only in {$redact: ...}. The parser replaces
// them with strings that stand for these verdicts.
enum class Verdict { kKeep, kPrune, kDescend };

std::optional<Verdict> verdict_of(const std::optional<ValueView>& value) {
  if (!value || value->type() != Type::kString) return std::nullopt;
  const std::string_view text = value->as_string();
  if (text == "keep") return Verdict::kKeep;
  if (text == "prune") return Verdict::kPrune;
  if (text == "descend") return Verdict::kDescend;
  return std::nullopt;
}

// Copies the expression and replaces $$KEEP, $$PRUNE, $$DESCEND and $$ROOT.
class VariableRewriter {
 public:
  Status rewrite(ValueView value, bson::Builder& to, std::string_view key, bool in_array,
                 int depth) {
    if (depth > kDepthMax) return fail(ErrorCode::kOverflow, "the expression is nested too deeply");
    switch (value.type()) {
      case Type::kString: {
        const Value replaced(replacement(value.as_string()));
        in_array ? to.push(replaced.view()) : to.append(key, replaced.view());
        return {};
      }
      case Type::kDocument:
        in_array ? to.push_open_document() : to.open_document(key);
        for (const bson::Element element : value.as_document()) {
          if (element.key == "$literal") {
            to.append(element.key, element.value);
          } else {
            GM_TRY(rewrite(element.value, to, element.key, false, depth + 1));
          }
        }
        to.close();
        return {};
      case Type::kArray:
        in_array ? to.push_open_array() : to.open_array(key);
        for (const bson::Element element : value.as_document()) {
          GM_TRY(rewrite(element.value, to, {}, true, depth + 1));
        }
        to.close();
        return {};
      default:
        in_array ? to.push(value) : to.append(key, value);
        return {};
    }
  }

 private:
  static std::string replacement(std::string_view text) {
    if (text == "$$KEEP") return "keep";
    if (text == "$$PRUNE") return "prune";
    if (text == "$$DESCEND") return "descend";
    if (text == "$$ROOT" || text.starts_with("$$ROOT.")) {
      return "$$" + std::string(kRootVariable) + std::string(text.substr(6));
    }
    return std::string(text);
  }
};

class RedactStage : public Stage {
 public:
  RedactStage(std::unique_ptr<Expression> expression, size_t root_slot)
      : expression_(std::move(expression)), root_slot_(root_slot) {}

  std::string_view name() const override { return "$redact"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  // The stage needs all fields, because each may have documents that the expression decides about.
  void plan(FieldDependencies& needs) override { needs.add_all(); }

  const Expression& expression() const { return *expression_; }
  size_t root_slot() const { return root_slot_; }

 private:
  std::unique_ptr<Expression> expression_;
  size_t root_slot_;
};

class RedactStream : public DocumentStream {
 public:
  RedactStream(const RedactStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()) {}

  Result<std::optional<bson::View>> next() override {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) return std::nullopt;
      root_ = *document;
      GM_ASSIGN(const Verdict verdict, judge(*document));
      if (verdict == Verdict::kKeep) return *document;
      if (verdict == Verdict::kPrune) continue;
      output_.begin();
      GM_TRY(descend(*document));
      GM_ASSIGN(const bson::View result, output_.finish_flat());
      return result;
    }
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  Result<Verdict> judge(bson::View document) {
    evaluator_.begin(document, input_->text_score());
    evaluator_.context().variables[stage_.root_slot()] =
        ValueView(Type::kDocument, root_.data(), root_.size());
    GM_ASSIGN(const std::optional<ValueView> value, evaluator_.evaluate(stage_.expression()));
    if (const std::optional<Verdict> verdict = verdict_of(value)) return *verdict;
    return fail(ErrorCode{17053},
                "$redact's expression should not return anything aside from the variables $$KEEP, "
                "$$DESCEND, and $$PRUNE, but returned " +
                    (value ? shown(*value) : "MISSING"));
  }

  Status descend(bson::View document) {
    for (const bson::Element element : document) {
      GM_TRY(element_of(element.value, &element.key));
    }
    return {};
  }

  Status array(bson::View elements) {
    for (const bson::Element element : elements) GM_TRY(element_of(element.value, nullptr));
    return {};
  }

  // `key` is null for an element of an array.
  Status element_of(ValueView value, const std::string_view* key) {
    if (value.type() == Type::kDocument) {
      GM_ASSIGN(const Verdict verdict, judge(value.as_document()));
      if (verdict == Verdict::kPrune) return {};
      if (verdict == Verdict::kDescend) {
        key != nullptr ? output_.open_document(*key) : output_.push_open_document();
        GM_TRY(descend(value.as_document()));
        output_.close();
        return {};
      }
    } else if (value.type() == Type::kArray) {
      key != nullptr ? output_.open_array(*key) : output_.push_open_array();
      GM_TRY(array(value.as_document()));
      output_.close();
      return {};
    }
    key != nullptr ? output_.append(*key, value) : output_.push(value);
    return {};
  }

  const RedactStage& stage_;
  Stream input_;
  Evaluator evaluator_;
  bson::View root_;
  DocumentOutput output_;
};

Result<Stream> RedactStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<RedactStream>(*this, std::move(input), context);
}

}  // namespace

Status parse_redact(const StageCall& call, ParsedStages& stages) {
  bson::Builder rewritten;
  GM_TRY(VariableRewriter().rewrite(call.value, rewritten, "redact", false, 0));
  const bson::Document holder = std::move(rewritten).finish();
  GM_ASSIGN(const size_t slot, call.scope.declare(kRootVariable));
  Result<std::unique_ptr<Expression>> expression =
      parse_expression(holder.view()["redact"], call.scope);
  call.scope.undeclare();
  if (!expression) return fail(std::move(expression).error());
  stages.push_back(std::make_unique<RedactStage>(*std::move(expression), slot));
  return {};
}

}  // namespace gridmount::query
