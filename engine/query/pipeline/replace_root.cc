// The stages $replaceRoot and $replaceWith.

#include "engine/query/pipeline/document_transform.h"
#include "engine/query/pipeline/given_once.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class ReplaceRoot : public DocumentTransform {
 public:
  ReplaceRoot(std::unique_ptr<Expression> expression, std::string_view what)
      : expression_(std::move(expression)), what_(what) {}

  Result<bson::View> apply(bson::View document, TransformState& state) const override {
    state.evaluator.begin(document, state.text_score);
    GM_ASSIGN(const std::optional<ValueView> root, state.evaluator.evaluate(*expression_));
    if (root && root->type() == Type::kDocument) {
      GM_TRY(check_depth(root->as_document()));
      return root->as_document();
    }
    return fail(ErrorCode{40228},
                std::string(what_) + " must evaluate to an object, but resulting value was: " +
                    (root ? shown(*root) : "MISSING") + ". Type of resulting value: '" +
                    (root ? type_name(*root) : "missing") + "'. Input document: " +
                    shown(ValueView(Type::kDocument, document.data(), document.size())));
  }

  void plan(FieldDependencies& needs) override {
    needs.clear();
    needs.add(*expression_);
  }

 private:
  std::unique_ptr<Expression> expression_;
  std::string_view what_;
};

}  // namespace

Result<std::unique_ptr<DocumentTransform>> parse_replace_root(const StageCall& call) {
  if (call.value.type() != Type::kDocument) {
    return fail(
        ErrorCode{40229},
        "expected an object as specification for $replaceRoot stage, got " + type_name(call.value));
  }
  GM_TRY(check_given_once("$replaceRoot", call.value.as_document()));
  std::optional<ValueView> new_root;
  for (const bson::Element element : call.value.as_document()) {
    if (element.key != "newRoot") {
      return fail(ErrorCode::kUnknownField, "BSON field '$replaceRoot." + std::string(element.key) +
                                                "' is an unknown field.");
    }
    new_root = element.value;
  }
  if (!new_root) {
    return fail(ErrorCode{40414},
                "BSON field '$replaceRoot.newRoot' is missing but a required field");
  }
  GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(*new_root, call.scope));
  return std::make_unique<ReplaceRoot>(std::move(expression), "'newRoot' expression");
}

Result<std::unique_ptr<DocumentTransform>> parse_replace_with(const StageCall& call) {
  GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(call.value, call.scope));
  return std::make_unique<ReplaceRoot>(std::move(expression), "'replacement document'");
}

}  // namespace gridmount::query
